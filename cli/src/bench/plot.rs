//! Plots as inline SVG: lines over a logarithmic or linear axis, bars beside their limits.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 6] = [
    "#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a",
];

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
    /// What stands below.
    pub name: String,
    /// How high.
    pub value: f64,
    /// The limit, drawn as a line across.
    pub limit: f64,
}

/// The drawing area and its scales.
struct Frame {
    text: String,
    x: (f64, f64),
    y_max: f64,
    is_log: bool,
}

impl Frame {
    fn new(title: &str, x: (f64, f64), y_max: f64, is_log: bool) -> Self {
        let mut text = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n\
             <text x=\"{LEFT}\" y=\"18\" class=\"title\">{title}</text>\n"
        );
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        line(&mut text, "axis", (LEFT, bottom), (right, bottom));
        line(&mut text, "axis", (LEFT, TOP), (LEFT, bottom));
        let mut frame = Self {
            text,
            x,
            y_max,
            is_log,
        };
        for step in 0..=4 {
            let value = y_max * f64::from(step) / 4.0;
            let at = frame.y(value);
            line(&mut frame.text, "grid", (LEFT, at), (right, at));
            label(
                &mut frame.text,
                "end",
                (LEFT - 6.0, at + 4.0),
                &short(value),
            );
        }
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
        label(&mut self.text, "middle", (middle, HEIGHT - 12.0), name);
    }

    fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
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
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>"
    );
}

fn short(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Lines; x positions of the first series are the ticks when the axis is logarithmic.
pub fn lines(title: &str, axes: (&str, &str), is_log: bool, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|s| s.points.iter());
    let x_min = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let x_max = points().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let y_max = points().map(|p| p.1).fold(0.0, f64::max) * 1.05;
    if !x_min.is_finite() || y_max <= 0.0 {
        return String::new();
    }
    let title = format!("{title} ({})", axes.1);
    let mut frame = Frame::new(&title, (x_min, x_max), y_max, is_log);
    let ticks: Vec<f64> = if is_log {
        let powers = (0..20).map(|n| f64::from(1 << n));
        powers.filter(|v| (x_min..=x_max).contains(v)).collect()
    } else {
        (0..=8)
            .map(|n| x_min + (x_max - x_min) * f64::from(n) / 8.0)
            .collect()
    };
    frame.ticks(&ticks, axes.0);
    for (number, one) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let path: Vec<String> = one
            .points
            .iter()
            .map(|(x, y)| format!("{:.1},{:.1}", frame.x(*x), frame.y(*y)))
            .collect();
        let dash = if one.is_limit {
            " stroke-dasharray=\"6 4\""
        } else {
            ""
        };
        let _ = writeln!(
            frame.text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
            path.join(" ")
        );
        let (x, y) = (
            LEFT + 12.0 + 175.0 * (number % 4) as f64,
            TOP + 4.0 + 14.0 * (number / 4) as f64,
        );
        let (end, level) = (x + 16.0, y - 4.0);
        let _ = writeln!(
            frame.text,
            "<line stroke=\"{colour}\" stroke-width=\"2\"{dash} x1=\"{x}\" y1=\"{level}\" \
             x2=\"{end}\" y2=\"{level}\"/>"
        );
        label(&mut frame.text, "start", (x + 20.0, y), &one.name);
    }
    frame.finish()
}

/// Bars, each with its limit.
pub fn bars(title: &str, bars: &[Bar]) -> String {
    let y_max = bars
        .iter()
        .map(|b| b.value.max(b.limit))
        .fold(0.0, f64::max)
        * 1.1;
    if bars.is_empty() || y_max <= 0.0 {
        return String::new();
    }
    let mut frame = Frame::new(title, (0.0, bars.len() as f64), y_max, false);
    let bottom = HEIGHT - BOTTOM;
    for (number, bar) in bars.iter().enumerate() {
        let (from, to) = (frame.x(number as f64 + 0.2), frame.x(number as f64 + 0.8));
        let (top, limit) = (frame.y(bar.value), frame.y(bar.limit));
        let (width, height) = (to - from, bottom - top);
        let _ = writeln!(
            frame.text,
            "<rect x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{}\"/>",
            COLOURS[0]
        );
        line(
            &mut frame.text,
            "limit",
            (from - 4.0, limit),
            (to + 4.0, limit),
        );
        let middle = (from + to) / 2.0;
        label(
            &mut frame.text,
            "middle",
            (middle, top - 4.0),
            &format!("{:.1}", bar.value),
        );
        for (row, part) in bar.name.split(", ").enumerate() {
            let at = (middle, bottom + 14.0 + 12.0 * row as f64);
            label(&mut frame.text, "middle", at, part);
        }
    }
    frame.finish()
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
    fn nothing_measured_draws_nothing() {
        assert_eq!(lines("a", ("b", "c"), true, &[]), "");
        assert_eq!(bars("a", &[]), "");
    }
}
