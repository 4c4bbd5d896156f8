//! Values on the command line: sizes, probabilities, names.

use std::str::FromStr;

use thiserror::Error;

/// A value that cannot be used; exit status 2.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A number of bytes: plain, or with KiB, MiB or GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let shift = match text[digits.len()..].trim() {
            "" | "B" => 0,
            "K" | "KiB" => 10,
            "M" | "MiB" => 20,
            "G" | "GiB" => 30,
            unit => return Err(format!("unknown unit '{unit}'; use KiB, MiB or GiB")),
        };
        let number: u64 = digits
            .parse()
            .map_err(|_| format!("'{text}' is not a size"))?;
        let bytes = number
            .checked_shl(shift)
            .filter(|bytes| bytes >> shift == number);
        match bytes {
            Some(bytes) if bytes > 0 => Ok(Bytes(bytes)),
            _ => Err(format!("'{text}' is zero or too large")),
        }
    }
}

/// Reads a probability from 0 to 1, or in per cent with a `%` sign.
pub fn probability(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("'{text}' is not a number"))?;
    let value = value / scale;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{text} is not between 0 and 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!("16MiB".parse(), Ok(Bytes(16 << 20)));
        assert_eq!("1000".parse(), Ok(Bytes(1000)));
        assert!("0".parse::<Bytes>().is_err());
        assert!("12 parsecs".parse::<Bytes>().is_err());
        assert!("99999999999G".parse::<Bytes>().is_err());
    }

    #[test]
    fn probabilities_lie_between_0_and_1() {
        assert_eq!(probability("1%"), Ok(0.01));
        assert_eq!(probability("0.5"), Ok(0.5));
        assert!(probability("2").is_err());
        assert!(probability("x").is_err());
    }
}
