//! Plots as inline SVG: lines over a logarithmic or linear axis, bars beside their limits, upright
//! or lying.
//!
//! ```text
//!   title
//!   legend
//!   y │   ─ ─ ─ limits are dashed
//!     │ ──────                          every plot has names and units at both axes
//!     └──────────── x
//! ```
//! Without data a plot is empty. Drawing into a text cannot fail but by a mistake in the drawing.

use std::fmt::Display;
use std::ops::Range;

use plotters::chart::MeshStyle;
use plotters::coord::ranged1d::{
    AsRangedCoord, DefaultFormatting, KeyPointHint, Ranged, ValueFormatter,
};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 760;
const HEIGHT: u32 = 380;
/// Room for the names at the left axis, of numbers and of lying bars.
const NUMBERS: u32 = 56;
const NAMES: u32 = 220;
const ROW: u32 = 22;
/// Room for title and axis above and below lying bars.
const BESIDE_ROWS: u32 = 90;
/// A line of more points has no marks.
const MARKS_MAX: usize = 40;
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x09, 0x69, 0xda),
    RGBColor(0xcf, 0x22, 0x2e),
    RGBColor(0x1a, 0x7f, 0x37),
    RGBColor(0x9a, 0x67, 0x00),
    RGBColor(0x82, 0x50, 0xdf),
    RGBColor(0x57, 0x60, 0x6a),
];
const LIMIT: RGBColor = COLOURS[1];
const GRID: RGBColor = RGBColor(0xd8, 0xde, 0xe4);
const FONT: (&str, u32) = ("sans-serif", 12);

/// One line of a plot.
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Points, by rising x.
    pub points: Vec<(f64, f64)>,
    /// A limit is dashed and has no marks.
    pub is_limit: bool,
}

/// One bar and the limit beside it.
pub struct Bar {
    /// Label below the bar; commas separate its lines.
    pub name: String,
    /// Height.
    pub value: f64,
    /// The limit, drawn as a line across.
    pub limit: f64,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A drawing with its title, for readers of any kind.
fn figure(title: &str, height: u32, draw: impl FnOnce(&Area) -> Drawn) -> String {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present());
    drop(area);
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let body = match drawn {
        Ok(()) => svg,
        Err(error) => format!("<p>This plot cannot be drawn: {error}</p>"),
    };
    format!(
        "<figure role=\"img\" aria-label=\"{title}\"><figcaption class=\"title\">{title}\
         </figcaption>\n{body}</figure>\n"
    )
}

/// An axis that is logarithmic or not, marked at powers of two and its end, or at round steps.
#[derive(Clone)]
struct Axis {
    range: Range<f64>,
    is_log: bool,
}

impl Axis {
    fn scale(&self, value: f64) -> f64 {
        match self.is_log {
            true => value.ln(),
            false => value,
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (self.scale(self.range.start), self.scale(self.range.end));
        let share = (self.scale(*value) - from) / (to - from).max(1e-9);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if !self.is_log {
            let linear: plotters::coord::types::RangedCoordf64 = self.range.clone().into();
            return linear.key_points(hint);
        }
        let powers = (0..20).map(|n| f64::from(1 << n));
        // The last power of two is left out where it would overlap the label of the end.
        let Range { start, end } = self.range;
        let mut marks: Vec<f64> = powers.filter(|v| (start..end / 1.15).contains(v)).collect();
        marks.push(end);
        marks
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

fn short(value: &f64) -> String {
    match *value >= 100.0 || (value - value.round()).abs() < 1e-9 {
        true => format!("{value:.0}"),
        false => format!("{value:.1}"),
    }
}

/// Room above what is drawn: over lines, and over bars, where the legend stands.
const ABOVE: [f64; 2] = [1.05, 1.25];

type Chart<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;

/// A chart with axes of these ranges, and room for names at the left one.
fn chart<'a, X, Y>(
    area: &Area<'a>,
    names: u32,
    x: X,
    y: Y,
) -> Result<Chart<'a, X::CoordDescType, Y::CoordDescType>, DrawingAreaErrorKind<std::io::Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
{
    let mut builder = ChartBuilder::on(area);
    builder.margin(14).x_label_area_size(44).y_label_area_size(names).build_cartesian_2d(x, y)
}

/// Its grid: light lines, small letters, numbers in short.
fn grid<'a, 'c, X, Y>(chart: &'c mut Chart<'a, X, Y>) -> MeshStyle<'a, 'c, X, Y, SVGBackend<'a>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).bold_line_style(GRID);
    mesh.label_style(FONT).axis_desc_style(FONT);
    mesh.x_label_formatter(&short).y_label_formatter(&short);
    mesh
}

/// Lines over x; the axes have names with units.
pub fn lines(title: &str, axes: (&str, &str), is_log: bool, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|s| s.points.iter());
    let x_min = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let x_max = points().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let y_max = points().map(|p| p.1).fold(0.0, f64::max);
    if !x_min.is_finite() || y_max <= 0.0 {
        return String::new();
    }
    let x = Axis { range: x_min..x_max, is_log };
    figure(title, HEIGHT, |area| {
        let mut chart = chart(area, NUMBERS, x, 0.0..y_max * ABOVE[0])?;
        grid(&mut chart).disable_x_mesh().x_desc(axes.0).y_desc(axes.1).draw()?;
        let shown = series.iter().filter(|one| !one.points.is_empty());
        for (one, colour) in shown.zip(COLOURS.into_iter().cycle()) {
            let style = ShapeStyle::from(colour).stroke_width(2);
            let points = one.points.iter().copied();
            let drawn = match one.is_limit {
                true => chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?,
                false => chart.draw_series(LineSeries::new(points, style))?,
            };
            let stroke = if one.is_limit { 7 } else { 18 };
            drawn.label(&one.name).legend(move |(x, y)| {
                DashedPathElement::new([(x, y), (x + 18, y)], stroke, 4, style)
            });
            if !one.is_limit && one.points.len() <= MARKS_MAX {
                let mark = |at: &(f64, f64)| Circle::new(*at, 3, colour.filled());
                chart.draw_series(one.points.iter().map(mark))?;
            }
        }
        legend(&mut chart, SeriesLabelPosition::LowerRight)
    })
}

/// The legend, where the data leave room as a rule.
fn legend<'a, X, Y>(chart: &mut Chart<'a, X, Y>, position: SeriesLabelPosition) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.5))
        .label_font(FONT)
        .draw()
}

/// Upright bars, each with its limit.
pub fn bars(title: &str, axis: &str, bars: &[Bar]) -> String {
    let y_max = bars.iter().map(|bar| bar.value.max(bar.limit)).fold(0.0, f64::max);
    if bars.is_empty() || y_max <= 0.0 {
        return String::new();
    }
    figure(title, HEIGHT, |area| {
        let mut chart = chart(area, NUMBERS, 0.0..bars.len() as f64, 0.0..y_max * ABOVE[1])?;
        grid(&mut chart).disable_x_mesh().x_labels(0).y_desc(axis).draw()?;
        let place = |number: usize| (number as f64 + 0.15, number as f64 + 0.85);
        let bar = |(number, bar): (usize, &Bar)| {
            let (from, to) = place(number);
            Rectangle::new([(from, 0.0), (to, bar.value)], COLOURS[0].filled())
        };
        let stroke = |colour: RGBColor| {
            move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3))
        };
        let drawn = chart.draw_series(bars.iter().enumerate().map(bar))?;
        drawn.label("card").legend(stroke(COLOURS[0]));
        let limit = |(number, bar): (usize, &Bar)| {
            let (from, to) = place(number);
            let ends = [(from - 0.1, bar.limit), (to + 0.1, bar.limit)];
            PathElement::new(ends, LIMIT.stroke_width(2))
        };
        let drawn = chart.draw_series(bars.iter().enumerate().map(limit))?;
        drawn.label("limit").legend(stroke(LIMIT));
        let value = centred(&WHITE);
        let below = centred(&BLACK);
        for (number, bar) in bars.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(number as f64 + 0.5, bar.value));
            area.draw(&Text::new(format!("{:.1}", bar.value), (x, y + 4), value.clone()))?;
            let (x, bottom) = chart.backend_coord(&(number as f64 + 0.5, 0.0));
            for (row, part) in (0..).zip(bar.name.split(", ")) {
                area.draw(&Text::new(part.to_owned(), (x, bottom + 6 + 13 * row), below.clone()))?;
            }
        }
        legend(&mut chart, SeriesLabelPosition::UpperRight)
    })
}

/// Text below a point, and centred on it.
fn centred(colour: &RGBColor) -> TextStyle<'static> {
    let mut style = TextStyle::from(FONT).pos(Pos::new(HPos::Center, VPos::Top));
    style.color = colour.to_backend_color();
    style
}

/// Lying bars, one row each, with what they stand for in `axis`.
pub fn rows(title: &str, axis: &str, bars: &[(String, f64)]) -> String {
    let largest = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let height = BESIDE_ROWS + ROW * bars.len() as u32;
    figure(title, height, |area| {
        let count = bars.len() as f64;
        let mut chart = chart(area, NAMES, 0.0..largest * 1.1, count..0.0)?;
        grid(&mut chart).disable_y_mesh().y_labels(0).x_desc(axis).draw()?;
        let bar = |(number, (_, value)): (usize, &(String, f64))| {
            let top = number as f64;
            Rectangle::new([(0.0, top + 0.12), (*value, top + 0.88)], COLOURS[0].filled())
        };
        chart.draw_series(bars.iter().enumerate().map(bar))?;
        let beside = |text: &dyn Display, to: HPos, at: (i32, i32)| {
            let style = TextStyle::from(FONT).pos(Pos::new(to, VPos::Center));
            area.draw(&Text::new(text.to_string(), at, style))
        };
        for (number, (name, value)) in bars.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(0.0, number as f64 + 0.5));
            beside(name, HPos::Right, (x - 8, y))?;
            let (x, y) = chart.backend_coord(&(*value, number as f64 + 0.5));
            beside(&format!("{value:.0}"), HPos::Left, (x + 6, y))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_inside_the_drawing() {
        let points = vec![(64.0, 10.0), (9216.0, 99.0)];
        let series = Series { name: "card".to_owned(), points, is_limit: false };
        let text = lines("throughput", ("bytes", "Gb/s"), true, &[series]);
        assert!(text.contains("<svg") && text.ends_with("</figure>\n"), "{text}");
        let numbers = |name: &str| -> Vec<u32> {
            let name = format!("{name}=\"");
            let parts = text.split(&name).skip(1);
            let number = |part: &str| part.split('"').next().and_then(|it| it.parse().ok());
            parts.map(|part| number(part).expect("a number")).collect()
        };
        let (x, y) = (numbers("cx"), numbers("cy"));
        assert_eq!((x.len(), y.len()), (2, 2), "{text}");
        assert!(x[0] > NUMBERS && x[0] < x[1] && x[1] < WIDTH, "{x:?}");
        assert!(y[1] < y[0] && y[0] < HEIGHT, "{y:?}");
    }

    #[test]
    fn logarithmic_axis_marks_powers_and_end() {
        let marks = |range| Axis { range, is_log: true }.key_points(10);
        assert_eq!(marks(64.0..300.0), [64.0, 128.0, 256.0, 300.0]);
        assert_eq!(marks(4000.0..9216.0), [4096.0, 9216.0]);
    }

    #[test]
    fn nothing_measured_draws_nothing() {
        assert_eq!(lines("a", ("b", "c"), true, &[]), "");
        assert_eq!(bars("a", "b", &[]), "");
        assert_eq!(rows("a", "b", &[]), "");
    }

    #[test]
    fn names_are_not_markup() {
        let text = rows("a < b", "c & d", &[("e < f".to_owned(), 1.0)]);
        for name in ["a &lt; b", "c &amp; d", "e &lt; f"] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}
