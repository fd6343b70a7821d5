//! SVG plots: points joined by lines, a horizontal axis of counts and a vertical axis from zero.

use std::fmt::Write;

use super::setup::grouped;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLORS: [&str; 3] = ["#0b62a4", "#c2571a", "#3a7d34"];

/// One plot.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) title: String,
    /// Label of the horizontal axis.
    pub(super) along: String,
    /// Label of the vertical axis.
    pub(super) up: String,
    /// Whether the horizontal axis is logarithmic.
    pub(super) logarithmic: bool,
    pub(super) lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Plot {
    pub(super) fn svg(&self) -> String {
        let mut svg = String::new();
        let mut put = |text: String| {
            svg.push_str(&text);
            svg.push('\n');
        };
        put(format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">"##
        ));
        put(format!(r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##));
        put(label(WIDTH / 2.0, 20.0, "middle", &self.title));
        put(label(WIDTH / 2.0, HEIGHT - 10.0, "middle", &self.along));
        put(label(8.0, TOP - 8.0, "start", &self.up));
        for figure in ticks(self.most()) {
            let y = self.y(figure);
            put(format!(
                r##"<line x1="{LEFT}" y1="{y:.1}" x2="{}" y2="{y:.1}" stroke="#ddd"/>"##,
                WIDTH - RIGHT
            ));
            put(label(LEFT - 6.0, y + 4.0, "end", &number(figure)));
        }
        for count in self.counts() {
            put(label(self.x(count), HEIGHT - BOTTOM + 18.0, "middle", &number(count)));
        }
        for ((name, points), (index, color)) in self.lines.iter().zip(COLORS.iter().enumerate()) {
            let index = index as f64;
            let joined = points.iter().fold(String::new(), |mut text, (count, figure)| {
                write!(text, "{:.1},{:.1} ", self.x(*count), self.y(*figure))
                    .expect("a String takes everything");
                text
            });
            put(format!(
                r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="2"/>"#,
                joined.trim_end()
            ));
            for (count, figure) in points {
                let (x, y) = (self.x(*count), self.y(*figure));
                put(format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{color}"/>"#));
            }
            let (x, y) = (WIDTH - RIGHT - 90.0, HEIGHT - BOTTOM - 30.0 + 16.0 * index);
            put(format!(r#"<rect x="{x}" y="{}" width="10" height="10" fill="{color}"/>"#, y - 9.0));
            put(label(x + 15.0, y, "start", name));
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn all(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.lines.iter().flat_map(|(_, points)| points)
    }

    fn most(&self) -> f64 {
        self.all().map(|(_, figure)| *figure).fold(0.0, f64::max).max(1.0) * 1.1
    }

    /// Returns the points whose labels do not overlap.
    fn counts(&self) -> Vec<f64> {
        let mut counts: Vec<f64> = self.all().map(|(count, _)| *count).collect();
        counts.sort_by(f64::total_cmp);
        counts.dedup();
        let mut shown: Vec<f64> = Vec::new();
        for count in counts.into_iter().rev() {
            if shown.last().is_none_or(|next| self.x(*next) - self.x(count) > 40.0) {
                shown.push(count);
            }
        }
        shown
    }

    fn x(&self, count: f64) -> f64 {
        let scale = |count: f64| if self.logarithmic { count.max(1.0).log10() } else { count };
        let most = self.all().map(|(count, _)| scale(*count)).fold(f64::MIN_POSITIVE, f64::max);
        LEFT + scale(count) / most * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, figure: f64) -> f64 {
        HEIGHT - BOTTOM - figure / self.most() * (HEIGHT - TOP - BOTTOM)
    }
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#)
}

/// Returns four to nine round tick values from zero.
fn ticks(most: f64) -> Vec<f64> {
    let rough = most / 5.0;
    let ten = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * ten).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    (0..).map(|index| f64::from(index) * step).take_while(|figure| *figure <= most).collect()
}

fn number(figure: f64) -> String {
    match figure.fract() == 0.0 {
        true => grouped(figure as u64),
        false => format!("{figure:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_begin_at_zero() {
        assert_eq!(ticks(10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(1_234.0), [0.0, 500.0, 1_000.0]);
    }

    #[test]
    fn a_plot_has_every_point_inside_its_frame() {
        let plot = Plot {
            title: "a < b & c".into(),
            along: "tools".into(),
            up: "instructions".into(),
            logarithmic: true,
            lines: vec![("client".into(), vec![(1.0, 5.0), (100.0, 10.0), (10_000.0, 7.0)])],
        };
        let svg = plot.svg();
        assert!(svg.contains("a &lt; b &amp; c"));
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!((plot.x(1.0), plot.x(10_000.0)), (LEFT, WIDTH - RIGHT));
        assert!(plot.y(10.0) > TOP && plot.y(0.0) == HEIGHT - BOTTOM);
        assert_eq!(svg, plot.svg());
    }
}
