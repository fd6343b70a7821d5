//! Cost of safety checks: the share of a call's instructions on the source lines of the checks.
//!
//! A check is found by its name in the source, so renaming or removing one fails the benchmark instead of
//! looking cheap.

use std::ops::RangeInclusive;

use super::callgrind::Pair;
use super::profile::Profile;
use crate::command::TaskError;
use crate::project::Project;
use crate::tidy;

/// A safety check in the code.
#[derive(Debug)]
struct Guard {
    /// The path from the root of the project.
    file: &'static str,
    function: &'static str,
    /// Only lines of the function that contain one of these; all lines if empty.
    lines: &'static [&'static str],
}

const fn guard(file: &'static str, function: &'static str, lines: &'static [&'static str]) -> Guard {
    Guard { file, function, lines }
}

/// Limits of depth, nodes, sizes, ids and concurrency.
const GUARDS: &[Guard] = &[
    guard("crates/json/src/scan.rs", "check_depth", &[]),
    guard("crates/json/src/scan.rs", "scan_value", &["check_depth"]),
    guard("crates/json/src/scan.rs", "count_nodes", &[]),
    guard("crates/json/src/raw.rs", "check_nodes", &[]),
    guard("crates/protocol/src/jsonrpc/id.rs", "from_json", &["MAX_ID_BYTES"]),
    guard("crates/protocol/src/jsonrpc/envelope.rs", "method_name", &["MAX_METHOD_BYTES"]),
    guard("crates/transport/src/stdio/line.rs", "take", &["self.limit"]),
    guard("crates/transport/src/stdio/line.rs", "discard", &[]),
    guard(
        "crates/session/src/link/outbox.rs",
        "put",
        &["LimitCheck::Enforced", "let waiting", "self.limits"],
    ),
    guard("crates/session/src/mux/inflight.rs", "insert", &["self.max_requests"]),
    guard("crates/session/src/mux/mux_link.rs", "open", &["> limit"]),
    guard("crates/session/src/server/serve.rs", "check", &[]),
];

/// Source lines of the checks.
#[derive(Debug)]
pub(super) struct Guards(Vec<(&'static str, Vec<RangeInclusive<u32>>)>);

impl Guards {
    pub(super) fn find(project: &Project) -> Result<Self, TaskError> {
        let mut found = Vec::new();
        for guard in GUARDS {
            let path = project.path(guard.file);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| TaskError::new(format!("the guard in {}: {error}", guard.file)))?;
            found.push((guard.file, guard.ranges(&text)?));
        }
        Ok(Self(found))
    }

    /// Returns the share of a call's instructions, from 0 to 1.
    pub(super) fn share(&self, pair: &Pair) -> f64 {
        let (few, many) = (self.cost(&pair.few), self.cost(&pair.many));
        (many as f64 - few as f64) / (pair.many.instructions as f64 - pair.few.instructions as f64)
    }

    fn cost(&self, profile: &Profile) -> u64 {
        let mut cost = 0;
        for (file, ranges) in &self.0 {
            let lines = profile.lines.iter().filter(|(path, _)| path.ends_with(file));
            for (line, instructions) in lines.flat_map(|(_, lines)| lines) {
                if ranges.iter().any(|range| range.contains(line)) {
                    cost += instructions;
                }
            }
        }
        cost
    }
}

impl Guard {
    fn ranges(&self, text: &str) -> Result<Vec<RangeInclusive<u32>>, TaskError> {
        let Self { file, function, lines } = self;
        let gone = |what: String| {
            TaskError::new(format!("{file} has no {what} any more: tell xtask/src/bench/guards.rs its name"))
        };
        let functions = tidy::function_lines(text, function);
        if functions.is_empty() {
            return Err(gone(format!("function `{function}`")));
        }
        if lines.is_empty() {
            return Ok(functions);
        }
        let mut ranges = Vec::new();
        for word in *lines {
            let places =
                (1..).zip(text.lines()).filter(|(_, line)| line.contains(word)).map(|(line, _)| line);
            let inside = |line: &u32| functions.iter().any(|function| function.contains(line));
            let before = ranges.len();
            ranges.extend(places.filter(inside).map(|line| line..=line));
            if ranges.len() == before {
                return Err(gone(format!("line with `{word}` in `{function}`")));
            }
        }
        Ok(ranges)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const TEXT: &str = "\
fn outer() {
    inner();
}

impl A {
    fn inner(&self) {
        if deep > MOST {
            return; // }
        }
        work();
    }
}
";

    fn guard(function: &'static str, lines: &'static [&'static str]) -> Guard {
        super::guard("src/a.rs", function, lines)
    }

    #[test]
    fn a_guard_is_found_by_its_name() {
        assert_eq!(guard("inner", &[]).ranges(TEXT).unwrap(), [6..=11]);
        assert_eq!(guard("inner", &["MOST", "return"]).ranges(TEXT).unwrap(), [7..=7, 8..=8]);
    }

    #[test]
    fn a_guard_that_is_gone_is_a_failure() {
        assert!(guard("inne", &[]).ranges(TEXT).is_err());
        assert!(guard("outer", &["MOST"]).ranges(TEXT).is_err());
    }

    #[test]
    fn the_share_is_that_of_the_calls() {
        let profile = |instructions, at_guard| Profile {
            instructions,
            allocations: 0,
            lines: HashMap::from([
                ("/x/src/a.rs".to_owned(), HashMap::from([(7, at_guard), (9, 50)])),
                ("/x/src/b.rs".to_owned(), HashMap::from([(7, 1_000)])),
            ]),
        };
        let guards = Guards(vec![("src/a.rs", guard("inner", &["MOST"]).ranges(TEXT).unwrap())]);
        let pair = Pair::of(profile(10_000, 100), profile(20_000, 300), 10);
        assert_eq!(guards.share(&pair), 0.02);
    }

    #[test]
    fn every_guard_of_the_list_exists() {
        let project = Project { root: "..".into(), target: "".into(), long: false };
        Guards::find(&project).unwrap();
    }
}
