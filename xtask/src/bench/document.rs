//! Figures in `docs/performance.md`: rewrites the text between two markers and keeps the rest.

use std::path::Path;

use super::growth::{self, AXES, Point};
use super::plot::Plot;
use super::report::Report;
use crate::command::TaskError;
use crate::project::Project;

const DOCUMENT: &str = "docs/performance.md";
const PLOTS: &str = "docs/performance";
const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end -->";
const BEGIN_GATEWAY: &str = "<!-- gateway -->";
const END_GATEWAY: &str = "<!-- end gateway -->";

/// Writes the plots and the document.
pub(super) fn write(project: &Project, report: &Report) -> Result<(), TaskError> {
    let folder = project.path(PLOTS);
    std::fs::create_dir_all(&folder)
        .map_err(|error| TaskError::new(format!("cannot make {}: {error}", folder.display())))?;
    for (name, plot) in plots(report) {
        put(&folder.join(name), &plot.svg())?;
    }
    rewrite(project, (BEGIN, END), &figures(report))
}

/// Writes the figures of the gateway into the document.
pub(super) fn write_gateway(project: &Project, report: &Report) -> Result<(), TaskError> {
    let mut text = format!("\nMeasured on {};\nmedians of {} rounds.\n", report.machine, report.rounds);
    text.push_str(&format!("\n### Targets of the gateway\n\n{}", report.targets().markdown()));
    text.push_str(&format!("\n### Counts per call through the gateway\n\n{}", report.counts().markdown()));
    for (title, table) in report.times() {
        text.push_str(&format!("\n### Proxy: {title}\n\n{}", table.markdown()));
    }
    text.push('\n');
    rewrite(project, (BEGIN_GATEWAY, END_GATEWAY), &text)
}

/// Replaces the text between two markers.
fn rewrite(project: &Project, marks: (&str, &str), figures: &str) -> Result<(), TaskError> {
    let path = project.path(DOCUMENT);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| TaskError::new(format!("{}: {error}", path.display())))?;
    let (begin, end) = marks;
    let text = replaced(&text, marks, figures)
        .ok_or_else(|| TaskError::new(format!("{DOCUMENT} has no `{begin}` before an `{end}`")))?;
    put(&path, &text)
}

fn put(path: &Path, text: &str) -> Result<(), TaskError> {
    std::fs::write(path, text)
        .map_err(|error| TaskError::new(format!("cannot write {}: {error}", path.display())))
}

fn replaced(text: &str, (begin, end): (&str, &str), figures: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{figures}{end}{after}"))
}

fn figures(report: &Report) -> String {
    let mut text = format!(
        "\nMeasured on {};\nmedians of {} rounds. In the tables of times, `÷` is of the CPU time of the side measured.\n",
        report.machine, report.rounds
    );
    let mut section = |title: &str, body: &str| text.push_str(&format!("\n## {title}\n\n{body}"));
    section("Targets", &report.targets().markdown());
    section("Growth", &format!("{}\n{}", report.growth().markdown(), pictures(report)));
    section("Counts per call", &report.counts().markdown());
    section("Size", &report.sizes().markdown());
    section("Times", "One run of each in every round, the makes of a table one right after the other.\n");
    for (title, table) in report.times() {
        text.push_str(&format!("\n### {title}\n\n{}", table.markdown()));
    }
    text.push('\n');
    text
}

fn pictures(report: &Report) -> String {
    let picture = |(name, plot): (String, Plot)| format!("![{}](performance/{name})\n", plot.title);
    plots(report).into_iter().map(picture).collect()
}

/// Returns two plots per axis: the cost of a call, and the memory.
fn plots(report: &Report) -> Vec<(String, Plot)> {
    let mut plots = Vec::new();
    for axis in AXES {
        let lines: Vec<(String, Vec<Point>)> = axis
            .lines
            .iter()
            .map(|line| (line.side.to_string(), line.points(axis, &report.measurements)))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        let of = |figure: fn(&Point) -> f64| {
            let line = |(name, points): &(String, Vec<Point>)| {
                (name.clone(), points.iter().map(|point| (point.count.into(), figure(point))).collect())
            };
            lines.iter().map(line).collect()
        };
        let cost = Plot {
            title: format!("Cost of a call: {}", axis.what),
            along: axis.name.into(),
            up: "instructions".into(),
            logarithmic: true,
            lines: of(|point| point.instructions),
        };
        let bends = lines.iter().filter_map(|(_, points)| growth::bend(points));
        let bend = bends.max_by(f64::total_cmp).unwrap_or_default() * 100.0;
        let memory = Plot {
            title: format!("Memory: {} (within {bend:.0} % of a straight line)", axis.what),
            along: axis.name.into(),
            up: "resident kB".into(),
            logarithmic: false,
            lines: of(|point| point.resident_kb),
        };
        plots.push((format!("{}-cost.svg", axis.name), cost));
        plots.push((format!("{}-memory.svg", axis.name), memory));
    }
    plots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_the_marks_stays() {
        let text = "# A\n<!-- figures -->\nold\n<!-- end -->\nB\n";
        let marks = (BEGIN, END);
        let new = replaced(text, marks, "new\n").unwrap();
        assert_eq!(new, "# A\n<!-- figures -->\nnew\n<!-- end -->\nB\n");
        assert_eq!(replaced(&new, marks, "new\n"), Some(new.clone()));
        assert_eq!(replaced("# A\n", marks, "new"), None);
    }
}
