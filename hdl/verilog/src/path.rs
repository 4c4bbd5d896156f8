//! Names in kernels: `lanes[i + 1]$d$next` is the field path `lanes$3$d` when `i` is 2.

use crate::error::{Found, Reason};

/// Values of the loop indices in scope, innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loops(pub(crate) Vec<(String, u64)>);

impl Loops {
    /// The value of an index.
    pub(crate) fn value(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().rev().find(|(index, _)| index == name);
        found.map(|(_, value)| *value)
    }
}

/// The field path that `text` means.
pub(crate) fn resolve(text: &str, loops: &Loops) -> Found<String> {
    let text = text.trim_start_matches('.');
    let text = text.replace("::", "$").replace('.', "$");
    let mut rest = text.strip_suffix("$next").unwrap_or(&text);
    let mut path = String::new();
    while let Some((before, bracket)) = rest.split_once('[') {
        let Some((index, after)) = bracket.split_once(']') else {
            return Err((text.clone(), Reason::ArrayIndex));
        };
        let value = evaluate(index, loops).ok_or((text.clone(), Reason::ArrayIndex))?;
        path.push_str(before);
        path.push_str(&format!("${value}"));
        rest = after;
    }
    path.push_str(rest);
    Ok(path)
}

/// The value of a sum of products of numbers, indices and parentheses.
fn evaluate(text: &str, loops: &Loops) -> Option<u64> {
    let mut parser = Parser { text: text.as_bytes(), at: 0, loops };
    let value = parser.sum()?;
    (parser.at == parser.text.len()).then_some(value)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    loops: &'a Loops,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        while let Some(op @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            value = match op {
                b'+' => value.checked_add(right)?,
                _ => value.checked_sub(right)?,
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.factor()?;
        while let Some(op @ (b'*' | b'/' | b'%')) = self.peek() {
            self.at += 1;
            let right = self.factor()?;
            value = match op {
                b'*' => value.checked_mul(right)?,
                b'/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<u64> {
        if self.peek()? == b'(' {
            self.at += 1;
            let value = self.sum()?;
            (self.peek()? == b')').then_some(())?;
            self.at += 1;
            return Some(value);
        }
        let start = self.at;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        while self.text.get(self.at).is_some_and(is_word) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).ok()?;
        parse_number(word).or_else(|| self.loops.value(word))
    }
}

/// A Rust integer: any base, underscores, a suffix.
pub(crate) fn parse_number(word: &str) -> Option<u64> {
    let word = word.replace('_', "");
    let suffixes = ["usize", "u128", "u64", "u32", "u16", "u8", "i32"];
    let digits = suffixes.iter().find_map(|suffix| word.strip_suffix(suffix));
    let digits = digits.unwrap_or(&word);
    let of_base = |prefix, base| {
        let digits = digits.strip_prefix(prefix)?;
        u64::from_str_radix(digits, base).ok()
    };
    of_base("0x", 16)
        .or_else(|| of_base("0b", 2))
        .or_else(|| of_base("0o", 8))
        .or_else(|| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_computed_in_every_bracket() {
        let loops = Loops(vec![("i".into(), 2), ("j".into(), 5)]);
        let path = |text| resolve(text, &loops).unwrap();
        assert_eq!(path("lanes[i+1]$d$next"), "lanes$3$d");
        assert_eq!(path("grid[(i * 2)][j % 3]$q"), "grid$4$2$q");
        assert_eq!(path(".payload"), "payload");
        assert_eq!(path("State::Idle"), "State$Idle");
        assert!(resolve("lanes[LAST]", &loops).is_err());
        assert!(resolve("lanes[i - 3]", &loops).is_err());
    }

    #[test]
    fn numbers_in_all_spellings() {
        assert_eq!(parse_number("0xff_u64"), Some(255));
        assert_eq!(parse_number("1_000"), Some(1000));
        assert_eq!(parse_number("0b101u8"), Some(5));
        assert_eq!(parse_number("Idle"), None);
    }
}
