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

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 62.0;
/// Width of the names beside lying bars.
const NAMES: f64 = 220.0;
const ROW: f64 = 22.0;
const COLOURS: [&str; 6] = ["#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#57606a"];
const LIMIT: &str = "#cf222e";

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

/// The scale of the upright axis: from 0 in steps of 1, 2 or 5 times a power of ten.
fn steps(max: f64) -> (f64, usize) {
    let rough = max / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step.into_iter().find(|s| *s >= rough).unwrap_or(max);
    (step, (max / step).ceil() as usize)
}

/// The drawing area and its scales.
struct Frame {
    text: String,
    x: (f64, f64),
    y_max: f64,
    is_log: bool,
}

impl Frame {
    fn new(title: &str, axis: &str, x: (f64, f64), y_max: f64, is_log: bool) -> Self {
        let mut text = open_plot(title, HEIGHT);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let middle = (TOP + bottom) / 2.0;
        let _ = writeln!(
            text,
            "<text x=\"16\" y=\"{middle:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 16 {middle:.1})\">{}</text>",
            escape(axis)
        );
        let (step, count) = steps(y_max);
        let y_max = step * count as f64;
        let mut frame = Self { text, x, y_max, is_log };
        for number in 0..=count {
            let value = step * number as f64;
            let at = frame.y(value);
            line(&mut frame.text, "grid", (LEFT, at), (right, at));
            label(&mut frame.text, "end", (LEFT - 6.0, at + 4.0), &short(value));
        }
        line(&mut frame.text, "axis", (LEFT, bottom), (right, bottom));
        line(&mut frame.text, "axis", (LEFT, TOP), (LEFT, bottom));
        frame
    }

    fn x(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.is_log { v.ln() } else { v };
        let (from, to) = (scale(self.x.0), scale(self.x.1));
        LEFT + (scale(value) - from) / (to - from).max(1e-9) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.y_max * (HEIGHT - TOP - BOTTOM)
    }

    fn ticks(&mut self, values: &[f64], name: &str) {
        let bottom = HEIGHT - BOTTOM;
        for &value in values {
            let at = self.x(value);
            line(&mut self.text, "axis", (at, bottom), (at, bottom + 4.0));
            label(&mut self.text, "middle", (at, bottom + 18.0), &short(value));
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        label(&mut self.text, "middle", (middle, HEIGHT - 18.0), name);
    }

    fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn open_plot(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n\
         <text x=\"12\" y=\"20\" class=\"title\">{title}</text>\n"
    )
}

fn line(text: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        text,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn label(text: &mut String, anchor: &str, at: (f64, f64), what: &str) {
    let (x, y) = at;
    let _ = writeln!(
        text,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escape(what)
    );
}

fn rectangle(text: &mut String, from: (f64, f64), size: (f64, f64)) {
    let ((x, y), (width, height)) = (from, size);
    let _ = writeln!(
        text,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         fill=\"{}\"/>",
        COLOURS[0]
    );
}

fn short(value: f64) -> String {
    if value >= 100.0 || (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// The legend: a stroke and a name for each, below the title.
fn add_legend(text: &mut String, entries: &[(&str, &str, bool)]) {
    let mut x = LEFT;
    for (name, colour, is_limit) in entries {
        let dash = dash(*is_limit);
        let end = x + 22.0;
        let _ = writeln!(
            text,
            "<line stroke=\"{colour}\" stroke-width=\"2\"{dash} x1=\"{x:.1}\" y1=\"38\" \
             x2=\"{end:.1}\" y2=\"38\"/>"
        );
        label(text, "start", (x + 28.0, 42.0), name);
        x += 48.0 + 6.2 * name.len() as f64;
    }
}

fn dash(is_limit: bool) -> &'static str {
    if is_limit {
        " stroke-dasharray=\"6 4\""
    } else {
        ""
    }
}

/// Where a range of x is marked: powers of two and its end when logarithmic, else round steps.
fn ticks(from: f64, to: f64, is_log: bool) -> Vec<f64> {
    if is_log {
        let powers = (0..20).map(|n| f64::from(1 << n));
        // The last power of two is left out where it would overlap the label of the end.
        let mut marks: Vec<f64> = powers.filter(|v| (from..to / 1.15).contains(v)).collect();
        marks.push(to);
        return marks;
    }
    let (step, _) = steps(to - from);
    let first = (from / step).ceil() as i64;
    let last = (to / step).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
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
    let mut frame = Frame::new(title, axes.1, (x_min, x_max), y_max, is_log);
    frame.ticks(&ticks(x_min, x_max, is_log), axes.0);
    let shown = series.iter().filter(|one| !one.points.is_empty());
    let mut entries = Vec::new();
    for (number, one) in shown.enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        entries.push((one.name.as_str(), colour, one.is_limit));
        let place = |point: &(f64, f64)| (frame.x(point.0), frame.y(point.1));
        let places: Vec<(f64, f64)> = one.points.iter().map(place).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dash = dash(one.is_limit);
        let _ = writeln!(
            frame.text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
            path.join(" ")
        );
        if !one.is_limit && places.len() <= 40 {
            for (x, y) in places {
                let _ = writeln!(
                    frame.text,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"
                );
            }
        }
    }
    add_legend(&mut frame.text, &entries);
    frame.finish()
}

/// Upright bars, each with its limit.
pub fn bars(title: &str, axis: &str, bars: &[Bar]) -> String {
    let highest = |b: &Bar| b.value.max(b.limit);
    let y_max = bars.iter().map(highest).fold(0.0, f64::max) * 1.05;
    if bars.is_empty() || y_max <= 0.0 {
        return String::new();
    }
    let mut frame = Frame::new(title, axis, (0.0, bars.len() as f64), y_max, false);
    let bottom = HEIGHT - BOTTOM;
    for (number, bar) in bars.iter().enumerate() {
        let (from, to) = (frame.x(number as f64 + 0.15), frame.x(number as f64 + 0.85));
        let (top, limit) = (frame.y(bar.value), frame.y(bar.limit));
        rectangle(&mut frame.text, (from, top), (to - from, bottom - top));
        line(&mut frame.text, "limit", (from - 4.0, limit), (to + 4.0, limit));
        let middle = (from + to) / 2.0;
        let at = (middle, top + 16.0);
        let _ = writeln!(
            frame.text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"value\">{:.1}</text>",
            at.0, at.1, bar.value
        );
        for (row, part) in bar.name.split(", ").enumerate() {
            let at = (middle, bottom + 14.0 + 13.0 * row as f64);
            label(&mut frame.text, "middle", at, part);
        }
    }
    add_legend(&mut frame.text, &[("card", COLOURS[0], false), ("limit", LIMIT, true)]);
    frame.finish()
}

/// Lying bars, one row each, with what they stand for in `axis`.
pub fn rows(title: &str, axis: &str, bars: &[(String, f64)]) -> String {
    let largest = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let height = TOP + ROW * bars.len() as f64 + 30.0;
    let mut text = open_plot(title, height);
    label(&mut text, "start", (12.0, 42.0), axis);
    let width = WIDTH - NAMES - RIGHT - 60.0;
    for (number, (name, value)) in bars.iter().enumerate() {
        let top = TOP + ROW * number as f64;
        label(&mut text, "end", (NAMES - 8.0, top + 14.0), name);
        let long = value / largest * width;
        rectangle(&mut text, (NAMES, top + 2.0), (long, ROW - 6.0));
        let at = (NAMES + long + 6.0, top + 14.0);
        label(&mut text, "start", at, &format!("{value:.0}"));
    }
    text.push_str("</svg>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_stay_inside_their_frame() {
        let series = Series {
            name: "card".to_owned(),
            points: vec![(64.0, 10.0), (9216.0, 99.0)],
            is_limit: false,
        };
        let text = lines("throughput", ("bytes", "Gb/s"), true, &[series]);
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
        let first = format!("{LEFT:.1},");
        let last = format!(" {:.1},", WIDTH - RIGHT);
        assert!(text.contains(&first) && text.contains(&last), "{text}");
    }

    #[test]
    fn scales_have_round_containing_steps() {
        for max in [0.3, 7.0, 94.15, 99.0, 100.0, 148.8, 26_190.0] {
            let (step, count) = steps(max);
            assert!(step * count as f64 >= max, "{max}");
            assert!((3..=6).contains(&count), "{max}: {count} steps of {step}");
        }
        assert_eq!(ticks(293.0, 313.0, false), [295.0, 300.0, 305.0, 310.0]);
        assert_eq!(ticks(64.0, 300.0, true), [64.0, 128.0, 256.0, 300.0]);
        assert_eq!(ticks(4000.0, 9216.0, true), [4096.0, 9216.0]);
    }

    #[test]
    fn nothing_measured_draws_nothing() {
        assert_eq!(lines("a", ("b", "c"), true, &[]), "");
        assert_eq!(bars("a", "b", &[]), "");
        assert_eq!(rows("a", "b", &[]), "");
    }

    #[test]
    fn names_are_not_markup() {
        let text = rows("a < b", "c & d", &[("\"e\"".to_owned(), 1.0)]);
        assert!(text.contains("a &lt; b") && text.contains("c &amp; d"));
    }
}
