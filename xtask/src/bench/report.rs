//! Renders the figures as tables for a terminal and Markdown, and as JSON.

use super::growth::{self, AXES};
use super::json::Json;
use super::machine::Machine;
use super::median::{median, ratio};
use super::plan::Plan;
use super::rounds::groups;
use super::sample::Metric::{
    self, CallsPerSecond, Cpu, MegabytesPerSecond, OtherCpu, P50, P99, Peak, Resident, Wall,
};
use super::setup::{Make, Setup, Work, grouped};
use super::table::Table;
use super::target::{Measurements, Quantity, TargetResult};

/// Results of a run.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) rounds: u32,
    pub(super) plan: Plan,
    pub(super) measurements: Measurements,
    pub(super) results: Vec<TargetResult>,
}

impl Report {
    pub(super) fn json(&self) -> Json {
        let timed = self.plan.timed.iter().map(|setup| self.timed_json(setup));
        let counted = self.plan.counted.iter().map(|setup| self.counted_json(setup));
        let sizes = self.plan.sizes.iter().map(|make| {
            let size = Quantity::Size(*make).value(&self.measurements);
            row_json(format!("smallest stdio client, stripped, {make}"), None, [("MB", size)])
        });
        Json::object([
            ("machine", self.machine.json()),
            ("rounds", self.rounds.into()),
            ("targets", Json::List(self.results.iter().map(TargetResult::json).collect())),
            ("rows", Json::List(timed.chain(counted).chain(sizes).chain(self.growth_json()).collect())),
        ])
    }

    fn timed_json(&self, setup: &Setup) -> Json {
        let figure = |metric| self.figure(setup, metric);
        let rate = if setup.work == Work::Big { figure(MegabytesPerSecond) } else { None };
        let figures = [
            ("p50_us", figure(P50)),
            ("p99_us", figure(P99)),
            ("wall_us", figure(Wall)),
            ("calls_per_s", figure(CallsPerSecond)),
            ("mb_per_s", rate),
            ("cpu_us", figure(Cpu)),
            ("other_cpu_us", figure(OtherCpu)),
            ("rss_kb", figure(Resident)),
            ("peak_kb", figure(Peak)),
        ];
        row_json(setup.to_string(), Some(setup), figures)
    }

    fn counted_json(&self, setup: &Setup) -> Json {
        let figures = [
            ("instructions", Quantity::Instructions(*setup).value(&self.measurements)),
            ("allocations", Quantity::Allocations(*setup).value(&self.measurements)),
        ];
        row_json(setup.to_string(), Some(setup), figures)
    }

    fn growth_json(&self) -> Vec<Json> {
        let mut rows = Vec::new();
        for axis in AXES {
            for line in axis.lines {
                for point in line.points(axis, &self.measurements) {
                    let figures =
                        [("instructions", Some(point.instructions)), ("rss_kb", Some(point.resident_kb))];
                    let name = format!("growth, {}, {}, {}", axis.name, line.side, point.count);
                    rows.push(row_json(name, None, figures));
                }
            }
        }
        rows
    }

    fn figure(&self, setup: &Setup, metric: Metric) -> Option<f64> {
        median(&self.measurements.times.figures(setup, metric))
    }

    pub(super) fn targets(&self) -> Table {
        let mut table =
            Table::new(&["target", "what", "must", "measured", "", "aim", "measured", ""]).left(2);
        let yes = |met: bool| if met { "yes" } else { "NO" };
        for result in &self.results {
            let target = &result.target;
            // What does not decide may be missed, and is not shouted.
            let met = if target.decides || result.met { yes(result.met) } else { "no (reported)" };
            table.row([
                target.name.as_str(),
                &target.what,
                target.must.to_string().trim_end(),
                &short(result.measured),
                met,
                target.aim.as_ref().map(ToString::to_string).unwrap_or_default().trim_end(),
                &result.aim_measured.map(short).unwrap_or_default(),
                result.aim_met.map(|met| if met { "yes" } else { "no" }).unwrap_or_default(),
            ]);
        }
        table
    }

    /// Renders a table for each group, below its title.
    pub(super) fn times(&self) -> Vec<(String, Table)> {
        groups(&self.plan.timed).iter().map(|group| (group[0].title(), self.group(group))).collect()
    }

    fn group(&self, group: &[Setup]) -> Table {
        let cpu = |setup: &Setup| self.measurements.times.figures(setup, Cpu);
        let of = |make| group.iter().filter(move |setup| setup.make == make);
        let cheapest = |make| {
            of(make).map(cpu).min_by(|one, other| {
                median(one).unwrap_or(f64::MAX).total_cmp(&median(other).unwrap_or(f64::MAX))
            })
        };
        let (floor, rmcp) = (cheapest(Make::Floor), cheapest(Make::Rmcp));
        let over = |setup: &Setup, to: &Option<Vec<f64>>| {
            to.as_ref().and_then(|to| ratio(&cpu(setup), to)).map(short).unwrap_or_default()
        };
        let big = group[0].work == Work::Big;
        let (rate, rate_name) = if big { (MegabytesPerSecond, "MB/s") } else { (CallsPerSecond, "calls/s") };
        let cpu_names = (format!("{} CPU µs", group[0].side), "÷ floor", "÷ rmcp", "other CPU µs");
        let mut table = Table::new(&[
            "make",
            "p50 µs",
            "p99 µs",
            rate_name,
            &cpu_names.0,
            cpu_names.1,
            cpu_names.2,
            cpu_names.3,
            "RSS kB",
            "peak kB",
        ]);
        for setup in group {
            let figure = |metric| self.figure(setup, metric).map(short).unwrap_or_default();
            table.row([
                setup.who(),
                figure(P50),
                figure(P99),
                figure(rate),
                figure(Cpu),
                over(setup, &floor),
                over(setup, &rmcp),
                figure(OtherCpu),
                figure(Resident),
                figure(Peak),
            ]);
        }
        table
    }

    pub(super) fn counts(&self) -> Table {
        let mut table =
            Table::new(&["counted by callgrind", "make", "instructions", "÷ floor", "÷ rmcp", "allocations"])
                .left(2);
        for group in groups(&self.plan.counted) {
            let instructions = |setup: &Setup| Quantity::Instructions(*setup).value(&self.measurements);
            let least = |make| {
                let of = group.iter().filter(|setup| setup.make == make);
                of.filter_map(instructions).min_by(f64::total_cmp)
            };
            let (floor, rmcp) = (least(Make::Floor), least(Make::Rmcp));
            for setup in &group {
                let own = instructions(setup);
                let over = |to: Option<f64>| own.zip(to).map(|(own, to)| short(own / to)).unwrap_or_default();
                let allocations = Quantity::Allocations(*setup).value(&self.measurements);
                table.row([
                    setup.title(),
                    setup.who(),
                    own.map(short).unwrap_or_default(),
                    over(floor),
                    over(rmcp),
                    allocations.map(short).unwrap_or_default(),
                ]);
            }
        }
        table
    }

    pub(super) fn growth(&self) -> Table {
        let mut table = Table::new(&[
            "growth",
            "side",
            "count",
            "instructions per call",
            "÷ first",
            "RSS kB",
            "kB each more",
        ])
        .left(2);
        for axis in AXES {
            for line in axis.lines {
                let points = line.points(axis, &self.measurements);
                for (place, point) in points.iter().enumerate() {
                    let each = growth::slope(&points[..=place]).map(|each| format!("{each:.2}"));
                    table.row([
                        axis.what,
                        line.side.word(),
                        &grouped(point.count),
                        &short(point.instructions),
                        &short(point.instructions / points[0].instructions),
                        &short(point.resident_kb),
                        &each.unwrap_or_default(),
                    ]);
                }
            }
        }
        table
    }

    pub(super) fn sizes(&self) -> Table {
        let mut table = Table::new(&["smallest stdio client", "stripped MB", "clean build CPU s"]);
        let built = self.plan.builds.iter().filter(|make| !self.plan.sizes.contains(make));
        for make in self.plan.sizes.iter().chain(built) {
            let value =
                |quantity: Quantity| quantity.value(&self.measurements).map(short).unwrap_or_default();
            table.row([make.to_string(), value(Quantity::Size(*make)), value(Quantity::Build(*make))]);
        }
        table
    }
}

/// Returns a row: its name, its setup, and its figures.
fn row_json<const N: usize>(name: String, setup: Option<&Setup>, figures: [(&str, Option<f64>); N]) -> Json {
    let mut members = vec![("name".to_owned(), name.into())];
    members.extend(setup.into_iter().flat_map(Setup::json));
    let figures = figures.into_iter().filter_map(|(name, value)| Some((name, Json::rounded(value?))));
    members.extend(figures.map(|(name, value)| (name.to_owned(), value)));
    Json::Object(members)
}

/// Formats a number with three significant digits, or all digits before the point.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        small if small < 0.9995 => format!("{value:.3}"),
        small if small < 9.995 => format!("{value:.2}"),
        middle if middle < 99.95 => format!("{value:.1}"),
        _ if value > 0.0 => grouped(value.round() as u64),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let cases = [
            (0.0123, "0.012"),
            (0.5, "0.500"),
            (9.994, "9.99"),
            (12.34, "12.3"),
            (123_456.7, "123,457"),
            (0.0, "0.000"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
