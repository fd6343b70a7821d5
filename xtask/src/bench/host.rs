//! Figures of a host with many servers and of the verification of tokens, from dedicated programs.

use std::collections::HashMap;

use super::json::Json;
use super::process::{self, Line, TimeLimit};
use super::program::Programs;
use super::progress::Progress;
use crate::command::TaskError;

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum HostFigure {
    /// Microseconds for a snapshot of 10,000 tools of 100 servers.
    Snapshot,
    /// Lookup of one of them by its qualified name.
    Find,
    /// Lookup by a name that every server uses.
    FindShared,
    /// Status of all servers.
    Status,
    /// From a server's list_changed notification to the updated catalog.
    Changed,
    /// Startup of 45 healthy servers among five failing ones, in milliseconds beyond the slowest alone.
    Crowd,
    /// Microseconds to verify a token that is cached.
    CachedToken,
    /// To verify an ES256 token that is not.
    UncachedToken,
    /// To verify its signature with *ring* alone.
    BareSignature,
}

impl HostFigure {
    /// Returns whether it is about tokens, and not about a host.
    pub(super) fn is_about_tokens(self) -> bool {
        self.source().0 == Program::Verify
    }

    /// Returns the program that measures it, and its name there.
    fn source(self) -> (Program, &'static str) {
        match self {
            Self::Snapshot => (Program::Catalog, "snapshot_us"),
            Self::Find => (Program::Catalog, "find_us"),
            Self::FindShared => (Program::Catalog, "find_shared_us"),
            Self::Status => (Program::Catalog, "status_us"),
            Self::Changed => (Program::Catalog, "changed_us"),
            Self::Crowd => (Program::Crowd, "over_ms"),
            Self::CachedToken => (Program::Verify, "cached_us"),
            Self::UncachedToken => (Program::Verify, "uncached_us"),
            Self::BareSignature => (Program::Verify, "bare_us"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Catalog,
    Crowd,
    Verify,
}

impl Program {
    fn line(self, programs: &Programs) -> Line {
        match self {
            Self::Catalog => vec![programs.release.join("host-catalog").into()],
            Self::Verify => vec![programs.release.join("auth-verify").into()],
            Self::Crowd => {
                ["host-crowd", "switchboard-service"].map(|name| programs.release.join(name).into()).into()
            }
        }
    }
}

/// The figures of every round.
pub(super) type HostFigures = HashMap<HostFigure, Vec<f64>>;

/// Measures these figures.
pub(super) fn measure(
    programs: &Programs,
    progress: &Progress,
    rounds: u32,
    wanted: &[HostFigure],
) -> Result<HostFigures, TaskError> {
    let mut found = HostFigures::new();
    for program in [Program::Catalog, Program::Crowd, Program::Verify] {
        let wanted: Vec<HostFigure> =
            wanted.iter().copied().filter(|figure| figure.source().0 == program).collect();
        if wanted.is_empty() {
            continue;
        }
        progress.step(&format!("program {program:?}, {rounds} times"));
        for _ in 0..rounds {
            let printed = process::finish(&program.line(programs), TimeLimit::Usual)?;
            let odd = || TaskError::new(format!("{program:?}: these are no figures: {}", printed.trim()));
            let report = Json::parse(printed.trim()).ok_or_else(odd)?;
            for figure in &wanted {
                let value = report.get(figure.source().1).and_then(Json::number).ok_or_else(odd)?;
                found.entry(*figure).or_default().push(value);
            }
        }
    }
    Ok(found)
}
