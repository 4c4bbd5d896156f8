//! The page: one file that asks for nothing.
//!
//! ```text
//!   page.html ◄─ style.css, arithmetic.js, drawing.js
//!             ◄─ data: the table, the points with their errors, the ends of the sliders
//! ```

use serde::Serialize;

use crate::error::ModelError;
use crate::setup::{Setup, RANGES};
use crate::table::Table;
use crate::validate::{errors, Compared, Errors};

const TEMPLATE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
const ARITHMETIC: &str = include_str!("../page/arithmetic.js");
const DRAWING: &str = include_str!("../page/drawing.js");

#[derive(Serialize)]
struct Data<'a> {
    table: &'a Table,
    points: &'a [Compared],
    fit: Option<Errors>,
    held: Option<Errors>,
    others: Option<Errors>,
    ranges: Vec<(f64, f64)>,
    core: f64,
    memory: f64,
    round_trip: f64,
}

/// The page as one file; `core_factor` is where its slider begins.
///
/// # Errors
/// If the data is no JSON.
pub fn render(
    table: &Table,
    compared: &[Compared],
    core_factor: f64,
) -> Result<String, ModelError> {
    let usual = Setup::default();
    let half = |half: &str| -> Vec<&Compared> {
        compared.iter().filter(|point| point.half == half).collect()
    };
    let others: Vec<&Compared> =
        half("held").into_iter().filter(|point| point.source != "bench").collect();
    let data = Data {
        table,
        points: compared,
        fit: errors(&half("fit")),
        held: errors(&half("held")),
        others: errors(&others),
        ranges: RANGES.iter().map(|range| (range.least, range.most)).collect(),
        core: core_factor,
        memory: usual.memory_gbytes_per_s,
        round_trip: usual.round_trip_us,
    };
    let json = serde_json::to_string(&data).map_err(|error| ModelError::Table {
        table: "the page's data",
        message: error.to_string(),
    })?;
    // In a script element, `</` would end it.
    let json = json.replace("</", "<\\/");
    Ok(TEMPLATE
        .replace("/* style */", STYLE)
        .replace("/* arithmetic */", ARITHMETIC)
        .replace("/* drawing */", DRAWING)
        .replace("/* data */", &json))
}
