//! How far the model is from published measurements.

use serde::Serialize;

use crate::cost::{evaluate, Cost};
use crate::error::ModelError;
use crate::published::{Given, Half, Metric, Point};
use crate::setup::Setup;
use crate::table::{Pays, Per, Table};

/// Median error of the half held back, at most.
pub const MEDIAN_MAX: f64 = 0.10;
/// Largest error of the half held back, at most.
pub const WORST_MAX: f64 = 0.25;
/// Points that are shown, at least.
pub const POINTS_LEAST: usize = 40;
/// Below this, Gb/s, a goodput is judged by its absolute error, as a share of this.
const ABSOLUTE_BELOW_GBPS: f64 = 1.0;

/// A point beside what the model says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Name of the point.
    pub name: String,
    /// Path of the table.
    pub path: String,
    /// Key of the source.
    pub source: String,
    /// Where in it.
    pub place: String,
    /// `fit`, `held` or `outside`.
    pub half: &'static str,
    /// Unit of both numbers.
    pub unit: &'static str,
    /// What was published.
    pub published: f64,
    /// What the model says.
    pub model: f64,
    /// Its relative error, with a sign; below 1 Gb/s the absolute one, in Gb/s.
    pub error: f64,
    /// What the model leaves out, of a point that does not count.
    pub outside: Option<String>,
}

/// Errors of one half.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Points.
    pub count: usize,
    /// Median of their sizes.
    pub median: f64,
    /// The largest.
    pub worst: f64,
    /// Whose it is.
    pub worst_name: String,
}

/// The setup of a point.
///
/// # Errors
/// If its host is unknown.
pub fn setup_of(table: &Table, given: &Given) -> Result<Setup, ModelError> {
    let usual = Setup::default();
    let host = table.host(given.host.as_deref().unwrap_or_default())?;
    Ok(Setup {
        rate_gbps: given.rate.unwrap_or(usual.rate_gbps),
        mtu_bytes: given.mtu.unwrap_or(usual.mtu_bytes),
        message_bytes: given.message.unwrap_or(usual.message_bytes),
        loss: given.loss.unwrap_or(usual.loss),
        // The testbed of the paper, and our simulated slot.
        generation: given.generation.unwrap_or(3),
        lanes: given.lanes.unwrap_or(usual.lanes),
        core_factor: host.value(Pays::Speed, Per::One),
        coalescing: given.coalescing,
        load: given.load.clone().unwrap_or(usual.load),
        header_bytes: given.header,
        endpoint_gbps: given.endpoint,
        has_one_core: given.one_core.unwrap_or(false),
        discards: given.discards.unwrap_or(false),
        memory_gbytes_per_s: usual.memory_gbytes_per_s,
        round_trip_us: usual.round_trip_us,
    })
}

/// What the model says of a point, in the unit of its metric.
///
/// # Errors
/// If a name of the point is unknown.
pub fn predict(table: &Table, point: &Point) -> Result<f64, ModelError> {
    let setup = setup_of(table, &point.given)?;
    let path = point.given.path.as_deref().unwrap_or_default();
    let cost = evaluate(table, path, &setup)?;
    let payload = setup.mtu_bytes - setup.header_bytes.unwrap_or(table.path(path)?.header_bytes);
    Ok(match point.given.metric {
        Some(Metric::Cpu) => cost.cpu_s_per_gb,
        Some(Metric::Packets) => cost.goodput_gbps * 1000.0 / 8.0 / payload,
        Some(Metric::Arriving) => 100.0 * arriving(&cost, setup.loss),
        Some(Metric::Goodput) | None => cost.goodput_gbps,
    })
}

/// Goodput over what can arrive.
fn arriving(cost: &Cost, loss: f64) -> f64 {
    let least = cost.limits_gbps.iter().copied().fold(f64::INFINITY, f64::min);
    cost.goodput_gbps / (least * (1.0 - loss))
}

/// The error of a prediction, with a sign.
pub fn error(metric: Option<Metric>, published: f64, model: f64) -> f64 {
    let floor = match metric {
        Some(Metric::Goodput) | None => ABSOLUTE_BELOW_GBPS,
        _ => f64::MIN_POSITIVE,
    };
    (model - published) / published.max(floor)
}

/// All points beside the model.
///
/// # Errors
/// If a name of a point is unknown.
pub fn compare(table: &Table, points: &[Point]) -> Result<Vec<Compared>, ModelError> {
    let compared = |point: &Point| {
        let model = predict(table, point)?;
        Ok(Compared {
            name: point.name.clone(),
            path: point.given.path.clone().unwrap_or_default(),
            source: point.source.clone(),
            place: point.place.clone(),
            half: match point.half {
                Half::Fit => "fit",
                Half::Held => "held",
                Half::Outside => "outside",
            },
            unit: match point.given.metric {
                Some(Metric::Cpu) => "s/GB",
                Some(Metric::Packets) => "Mpps",
                Some(Metric::Arriving) => "%",
                Some(Metric::Goodput) | None => "Gb/s",
            },
            published: point.value,
            model,
            error: error(point.given.metric, point.value, model),
            outside: point.outside.clone(),
        })
    };
    points.iter().map(compared).collect()
}

/// Errors of one half, or of the points of it that a filter takes; none without a point.
pub fn errors(compared: &[&Compared]) -> Option<Errors> {
    let mut sorted: Vec<&&Compared> = compared.iter().collect();
    sorted.sort_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
    let worst = sorted.last()?;
    let size = |place: usize| sorted.get(place).map_or(0.0, |point| point.error.abs());
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        1 => size(middle),
        _ => (size(middle - 1) + size(middle)) / 2.0,
    };
    Some(Errors {
        count: sorted.len(),
        median,
        worst: worst.error.abs(),
        worst_name: worst.name.clone(),
    })
}
