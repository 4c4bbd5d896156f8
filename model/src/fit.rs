//! Fits the free coefficients to the half of the points that may be seen.
//!
//! ```text
//!   a coefficient at a time: up, down by a step; kept if the squared errors fall
//!   nobody moves ──► half the step ──► ... ──► the table's values, and how sure each is
//! ```
//! Deterministic: it begins at the table's values, in the order of the file, and walks to the
//! nearest minimum.

use crate::error::ModelError;
use crate::published::{Half, Point};
use crate::table::Table;
use crate::validate::{error, predict};

/// First and last step, as a share of the value.
const STEPS: (f64, f64) = (0.1, 1e-4);
/// Passes over all coefficients at one step, at most.
const PASSES_MAX: usize = 400;
/// Weight of staying where the table was: a coefficient that no point speaks of does not wander.
const TIE: f64 = 1e-6;

/// A fitted coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its value.
    pub value: f64,
    /// How far it may move until the squared errors grow by those of one point on average.
    pub spread: f64,
}

/// Sum of squared errors over the points of the half that may be seen.
///
/// # Errors
/// If a name of a point is unknown.
pub fn squares(table: &Table, points: &[Point]) -> Result<f64, ModelError> {
    let seen = points.iter().filter(|point| point.half == Half::Fit);
    seen.map(|point| {
        let model = predict(table, point)?;
        Ok(error(point.given.metric, point.value, model).powi(2))
    })
    .sum()
}

struct Search<'a> {
    table: Table,
    points: &'a [Point],
    starts: Vec<f64>,
}

impl Search<'_> {
    fn set(&mut self, values: &[f64]) -> Result<(), ModelError> {
        for (cell, value) in self.table.fitted().into_iter().zip(values) {
            cell.value = *value;
        }
        self.table.resolve()
    }

    fn badness(&mut self, values: &[f64]) -> Result<f64, ModelError> {
        self.set(values)?;
        let away = values.iter().zip(&self.starts);
        let tie: f64 = away.map(|(value, start)| (value / start - 1.0).powi(2)).sum();
        Ok(squares(&self.table, self.points)? + TIE * tie)
    }

    fn descend(&mut self, values: &mut [f64]) -> Result<f64, ModelError> {
        let mut best = self.badness(values)?;
        let mut step = STEPS.0;
        while step > STEPS.1 {
            for _ in 0..PASSES_MAX {
                let before = best;
                for place in 0..values.len() {
                    best = self.improve(values, place, step, best)?;
                }
                if best > before * (1.0 - 1e-6) {
                    break;
                }
            }
            step /= 2.0;
        }
        Ok(best)
    }

    fn improve(
        &mut self,
        values: &mut [f64],
        place: usize,
        step: f64,
        best: f64,
    ) -> Result<f64, ModelError> {
        let from = values[place];
        for factor in [1.0 + step, 1.0 / (1.0 + step)] {
            values[place] = from * factor;
            let tried = self.badness(values)?;
            if tried < best {
                return Ok(tried);
            }
        }
        values[place] = from;
        Ok(best)
    }

    fn spread(&mut self, values: &mut [f64], place: usize, best: f64) -> Result<f64, ModelError> {
        let seen = self.points.iter().filter(|point| point.half == Half::Fit).count();
        let allowed = best * (1.0 + 1.0 / seen as f64);
        let from = values[place];
        let mut away = STEPS.1;
        while away < 1.0 {
            values[place] = from * (1.0 + away);
            if self.badness(values)? > allowed {
                break;
            }
            away *= 1.3;
        }
        values[place] = from;
        Ok(from * away.min(1.0))
    }
}

/// Values and spreads of all free coefficients, in the order of [`Table::fitted`].
///
/// # Errors
/// If a name of a point is unknown.
pub fn fit(table: &Table, points: &[Point]) -> Result<Vec<Fitted>, ModelError> {
    let mut table = table.clone();
    let starts: Vec<f64> = table.fitted().iter().map(|cell| cell.value).collect();
    let mut values = starts.clone();
    let mut search = Search { table, points, starts };
    let best = search.descend(&mut values)?;
    let mut fitted = Vec::new();
    for place in 0..values.len() {
        let spread = search.spread(&mut values, place, best)?;
        fitted.push(Fitted { value: values[place], spread });
    }
    Ok(fitted)
}
