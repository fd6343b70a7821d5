//! Recorded counts in `benches/figures.json`, and the comparison with measured ones.
//!
//! Counts are valid for one compiler version, which is recorded with them.

use std::path::Path;

use super::callgrind::Counts;
use super::gateway_targets;
use super::json::Json;
use super::machine::Compiler;
use super::setup::{Era, Road, Setup, Side, Work, grouped};
use super::table::Table;
use crate::command::TaskError;

/// Relative increase that counts as a regression.
const MOST: f64 = 0.05;

/// One recorded count.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: String,
    instructions: f64,
    allocations: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) compiler: Compiler,
    rows: Vec<Row>,
}

/// Recorded setups by name.
pub(super) fn held() -> Vec<(String, Setup)> {
    let mut held = Vec::new();
    for side in [Side::Client, Side::Server] {
        for era in [Era::Legacy, Era::Modern] {
            held.push(Setup::echo(side, Road::Stdio).era(era));
        }
    }
    for era in [Era::Legacy, Era::Modern] {
        held.push(Setup::echo(Side::Inside, Road::Stdio).era(era));
    }
    held.push(Setup::echo(Side::Server, Road::Http).era(Era::Modern));
    held.push(Setup::new(Side::Client, Road::Stdio, Work::List).tools(1_000));
    let held = held.into_iter().map(|setup| (setup.title(), setup.switchboard()));
    held.chain(gateway_targets::held()).collect()
}

/// Change of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Same,
    Better,
    Worse,
    /// Never recorded.
    New,
}

/// Comparison of measured with recorded counts.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) table: Table,
    pub(super) worse: usize,
    pub(super) better: usize,
}

impl Figures {
    pub(super) fn of(compiler: Compiler, counts: &Counts) -> Result<Self, TaskError> {
        let row = |(name, setup): (String, Setup)| {
            let pair = counts.get(&setup).ok_or_else(|| TaskError::new(format!("{name} was not counted")))?;
            Ok(Row { name, instructions: pair.instructions(), allocations: pair.allocations() })
        };
        Ok(Self { compiler, rows: held().into_iter().map(row).collect::<Result<_, _>>()? })
    }

    pub(super) fn read(path: &Path) -> Result<Self, TaskError> {
        let odd = |why: String| TaskError::new(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| odd(error.to_string()))?;
        Self::parse(&text).ok_or_else(|| odd("these are no figures; `cargo xtask bench --record`".into()))
    }

    fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        let text = |name: &str| Some(json.get(name)?.text()?.to_owned());
        let row = |row: &Json| {
            Some(Row {
                name: row.get("name")?.text()?.to_owned(),
                instructions: row.get("instructions")?.number()?,
                allocations: row.get("allocations")?.number()?,
            })
        };
        Some(Self {
            compiler: Compiler { release: text("rustc")?, host: text("host")? },
            rows: json.get("rows")?.list()?.iter().map(row).collect::<Option<_>>()?,
        })
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), TaskError> {
        std::fs::write(path, format!("{}\n", self.json()))
            .map_err(|error| TaskError::new(format!("cannot write {}: {error}", path.display())))
    }

    fn json(&self) -> Json {
        let row = |row: &Row| {
            Json::object([
                ("name", row.name.as_str().into()),
                ("instructions", Json::Number(row.instructions.round())),
                ("allocations", Json::rounded(row.allocations)),
            ])
        };
        Json::object([
            ("rustc", self.compiler.release.as_str().into()),
            ("host", self.compiler.host.as_str().into()),
            ("rows", Json::List(self.rows.iter().map(row).collect())),
        ])
    }

    /// Compares measured counts with `self`, the recorded ones.
    pub(super) fn compare(&self, measured: &Self) -> Comparison {
        let mut table = Table::new(&["row", "", "recorded", "measured", "change", ""]);
        let (mut worse, mut better) = (0, 0);
        for row in &measured.rows {
            let old = self.rows.iter().find(|old| old.name == row.name);
            let pairs = [
                ("instructions", old.map(|old| old.instructions), row.instructions),
                ("allocations", old.map(|old| old.allocations), row.allocations),
            ];
            for (what, old, new) in pairs {
                let change = change(old, new);
                let result = match change {
                    Change::Same => "",
                    Change::Better => "better",
                    Change::Worse => "WORSE",
                    Change::New => "NOT RECORDED",
                };
                worse += usize::from(matches!(change, Change::Worse | Change::New));
                better += usize::from(change == Change::Better);
                let percent = old.map(|old| format!("{:+.1} %", (new / old - 1.0) * 100.0));
                let recorded = old.map(number).unwrap_or_default();
                table.row([&row.name, what, &recorded, &number(new), &percent.unwrap_or_default(), result]);
            }
        }
        Comparison { table, worse, better }
    }
}

fn change(old: Option<f64>, new: f64) -> Change {
    match old {
        None => Change::New,
        Some(old) if new > old * (1.0 + MOST) => Change::Worse,
        Some(old) if new < old * (1.0 - MOST) => Change::Better,
        Some(_) => Change::Same,
    }
}

fn number(value: f64) -> String {
    match value {
        small if small < 1_000.0 => format!("{small:.2}"),
        large => grouped(large.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rows: &[(&str, f64, f64)]) -> Figures {
        let row = |(name, instructions, allocations): &(&str, f64, f64)| Row {
            name: (*name).to_owned(),
            instructions: *instructions,
            allocations: *allocations,
        };
        let compiler = Compiler { release: "1.95.0".into(), host: "here".into() };
        Figures { compiler, rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let figures = figures(&[("a", 15_000.0, 12.5), ("b", 1.0, 0.0)]);
        assert_eq!(Figures::parse(&figures.json().to_string()), Some(figures));
        assert_eq!(Figures::parse("{}"), None);
    }

    #[test]
    fn five_percent_more_is_worse_and_five_less_is_better() {
        let old = figures(&[("a", 10_000.0, 100.0), ("b", 10_000.0, 0.0)]);
        let compared = |instructions, allocations| {
            let compared = old.compare(&figures(&[("a", instructions, allocations)]));
            (compared.worse, compared.better)
        };
        assert_eq!(compared(10_500.0, 100.0), (0, 0));
        assert_eq!(compared(10_501.0, 100.0), (1, 0));
        assert_eq!(compared(10_501.0, 105.1), (2, 0));
        assert_eq!(compared(9_499.0, 100.0), (0, 1));
        // The first allocation is a regression whatever the percentage.
        assert_eq!(old.compare(&figures(&[("b", 10_000.0, 1.0)])).worse, 1);
    }

    #[test]
    fn what_was_never_recorded_is_no_success() {
        let compared = figures(&[]).compare(&figures(&[("a", 1.0, 1.0)]));
        assert_eq!(compared.worse, 2);
        assert!(compared.table.plain().contains("NOT RECORDED"));
    }
}
