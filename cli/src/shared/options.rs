//! Values on the command line: sizes, probabilities, names.

use std::str::FromStr;

use thiserror::Error;

/// A value that cannot be used; exit status 2.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A failure with an exit status of its own.
#[derive(Debug, Error)]
#[error("{text}")]
pub struct StatusError {
    /// Exit status, above 2.
    pub status: u8,
    /// What is said.
    pub text: String,
}

/// A number of bytes: plain, or with KiB, MiB or GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match size(text)? {
            0 => Err(format!("'{text}' is zero")),
            bytes => Ok(Bytes(bytes)),
        }
    }
}

/// Reads a number of bytes, which may be none.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].trim() {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        unit => return Err(format!("unknown unit '{unit}'; use KiB, MiB or GiB")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("'{text}' is not a size"))?;
    let bytes = number.checked_mul(1 << shift);
    bytes.ok_or_else(|| format!("'{text}' is too large"))
}

/// Most bytes that the demo moves each way: more would take years.
const MOVED_BYTES_MAX: u64 = 1 << 40;

/// Reads how many bytes to move.
pub fn moved_bytes(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse()?;
    let most = MOVED_BYTES_MAX;
    if bytes.0 > most {
        return Err(format!("{text} is above {} GiB", most >> 30));
    }
    Ok(bytes)
}

/// Least and most time that is measured, in microseconds: in less, figures depend on where a packet
/// begins.
const TIME_US: std::ops::RangeInclusive<u64> = 10..=1_000_000_000;

/// Reads a simulated time.
pub fn time_us(text: &str) -> Result<u64, String> {
    let (low, high) = (TIME_US.start(), TIME_US.end());
    let time = text.parse().ok().filter(|time| TIME_US.contains(time));
    time.ok_or_else(|| format!("{text} is not in {low} to {high} microseconds"))
}

/// Reads one of a few numbers.
pub fn one_of<const N: usize>(
    known: [u32; N],
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| known.contains(number));
        number.ok_or_else(|| {
            let known = known.map(|number| number.to_string()).join(", ");
            format!("{text} is not one of {known}")
        })
    }
}

/// Reads a probability from 0 to 1, or in per cent with a `%` sign.
pub fn probability(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number.trim().parse().map_err(|_| format!("'{text}' is not a number"))?;
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
    fn sizes_may_be_zero_unless_amounts() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("0 KiB"), Ok(0));
        assert!(size("17179869184 GiB").is_err_and(|text| text.contains("too large")));
    }

    #[test]
    fn bytes_to_move_have_a_limit() {
        assert_eq!(moved_bytes("1024GiB"), Ok(Bytes(1 << 40)));
        assert!(moved_bytes("1099511627777").is_err_and(|text| text.contains("1024 GiB")));
        assert!(moved_bytes("0").is_err());
    }

    #[test]
    fn times_and_choices() {
        assert_eq!(time_us("10"), Ok(10));
        assert_eq!(time_us("1000000000"), Ok(1_000_000_000));
        for wrong in ["9", "0", "1000000001", "18446744073709552", "x"] {
            assert!(time_us(wrong).is_err_and(|text| text.contains(wrong)));
        }
        assert_eq!(one_of([64, 128])("128"), Ok(128));
        assert!(one_of([64, 128])("65").is_err_and(|text| text.contains("64, 128")));
    }

    #[test]
    fn probabilities_lie_between_0_and_1() {
        assert_eq!(probability("1%"), Ok(0.01));
        assert_eq!(probability("0.5"), Ok(0.5));
        assert!(probability("2").is_err());
        assert!(probability("x").is_err());
    }
}
