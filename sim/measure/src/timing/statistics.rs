//! Figures of repeated measurements: the median, and how far they spread.

use network::measure::statistics::quantile;

/// Greatest spread of a figure that counts.
pub const SPREAD_MAX: f64 = 0.05;

/// The median, and the middle half over it; figures that are not above 0 have no spread to trust.
pub fn median(values: Vec<f64>) -> (f64, f64) {
    let at = |share| quantile(&values, share);
    let (low, middle, high) = (at(0.25), at(0.5), at(0.75));
    match middle > 0.0 {
        true => (middle, (high - low) / middle),
        false => (middle, f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_the_middle_half() {
        let values = Vec::from_iter((0..=100).map(|value| f64::from(100 + value)));
        assert_eq!(median(values), (150.0, 50.0 / 150.0));
        assert_eq!(median(vec![3.0]), (3.0, 0.0));
        assert_eq!(median(vec![-1.0, -1.0, -1.0]), (-1.0, f64::INFINITY));
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
