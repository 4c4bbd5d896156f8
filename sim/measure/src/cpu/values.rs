//! Values of repetitions, and their median.

use std::collections::BTreeMap;

use crate::timing::statistics::median;

/// Values of the parts of each repetition, by its number.
#[derive(Debug, Default)]
pub struct Values(BTreeMap<u32, Vec<f64>>);

impl Values {
    /// Adds the value of a part of a repetition.
    pub fn add(&mut self, repetition: u32, value: f64) {
        self.0.entry(repetition).or_default().push(value);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The median of the repetitions, each the mean of its parts, and their spread.
    pub fn median(&self) -> (f64, f64) {
        let mean = |parts: &Vec<f64>| parts.iter().sum::<f64>() / parts.len() as f64;
        median(self.0.values().map(mean).collect())
    }
}
