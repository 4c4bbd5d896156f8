//! A constant of any width, as bits.

use rust_hdl_core::ast::VerilogLiteral;

/// A natural number: bit 0 first, no leading zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Value(Vec<bool>);

impl Value {
    pub(crate) fn of(mut number: u64) -> Value {
        let mut bits = Vec::new();
        while number != 0 {
            bits.push(number & 1 == 1);
            number >>= 1;
        }
        Value(bits)
    }

    /// Of a literal as rust-hdl prints it: `8'hff`, `4'b1010`; None if it is negative.
    pub(crate) fn parse(text: &str) -> Option<Value> {
        let (_, digits) = text.split_once('\'')?;
        let mut characters = digits.chars();
        let digit_bits = match characters.next()? {
            'h' => 4,
            'b' => 1,
            _ => return None,
        };
        let mut bits = Vec::new();
        for digit in characters.rev() {
            let digit = digit.to_digit(1 << digit_bits)?;
            bits.extend((0..digit_bits).map(|bit| (digit >> bit) & 1 == 1));
        }
        Some(Value(bits).trimmed())
    }

    /// The value of a literal in a kernel or of a constant.
    pub(crate) fn of_literal(literal: &VerilogLiteral) -> Option<Value> {
        Value::parse(&format!("{literal:x}"))
    }

    fn trimmed(mut self) -> Value {
        while self.0.last() == Some(&false) {
            self.0.pop();
        }
        self
    }

    /// Bits needed; 0 for zero.
    pub(crate) fn bits(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn to_u64(&self) -> Option<u64> {
        (self.bits() <= 64).then(|| self.0.iter().rev().fold(0, |n, bit| n << 1 | *bit as u64))
    }

    /// Bits `low` to `low + width - 1`; zeros beyond the end.
    pub(crate) fn part(&self, low: usize, width: usize) -> Value {
        Value(self.0.iter().skip(low).take(width).copied().collect()).trimmed()
    }

    /// As Verilog: small numbers in decimal, others in hexadecimal.
    pub(crate) fn verilog(&self, width: usize) -> String {
        match self.to_u64() {
            Some(number) if number < 1000 => format!("{width}'d{number}"),
            _ => {
                let digits: String = (0..self.bits().div_ceil(4))
                    .rev()
                    .map(|digit| {
                        let nibble = self.part(digit * 4, 4).to_u64().unwrap_or(0);
                        char::from_digit(nibble as u32, 16).unwrap_or('0')
                    })
                    .collect();
                format!("{width}'h{digits}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_survive_the_round_trip() {
        for (text, printed) in [
            ("8'hff", "8'd255"),
            ("5'b00101", "5'd5"),
            ("64'hdeadbeef01234567", "64'hdeadbeef01234567"),
            ("1'h0", "1'd0"),
        ] {
            let width = text.split_once('\'').unwrap().0.parse().unwrap();
            assert_eq!(Value::parse(text).unwrap().verilog(width), printed);
        }
        assert_eq!(Value::parse("8'h-1"), None);
    }

    #[test]
    fn parts_are_cut_and_padded() {
        let value = Value::of(0b1011_0000);
        assert_eq!(value.part(4, 2), Value::of(3));
        assert_eq!(value.part(100, 8), Value::of(0));
        assert_eq!(Value::of(u64::MAX).to_u64(), Some(u64::MAX));
    }
}
