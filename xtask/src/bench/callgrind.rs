//! Instructions and allocations per call, as the difference of two callgrind runs with different numbers of
//! calls. Startup cost cancels out, and other load of the machine is not included.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::profile::Profile;
use super::program::{Calls, Programs};
use super::progress::Progress;
use super::setup::{Form, Road, Setup, Side, Work};
use crate::command::{self, TaskError};

/// Returns whether callgrind is installed.
pub(super) fn is_installed() -> bool {
    command::succeeds(Command::new("valgrind").arg("--version"))
}

/// Settings of instruction counts.
#[derive(Debug)]
pub(super) struct Counter<'a> {
    pub(super) programs: &'a Programs,
    pub(super) progress: &'a Progress,
    /// Output directory of callgrind.
    pub(super) folder: PathBuf,
}

/// Two runs of one setup.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) few: Profile,
    pub(super) many: Profile,
    /// Difference in calls between the runs.
    calls: u32,
}

impl Pair {
    pub(super) fn instructions(&self) -> f64 {
        self.each(self.few.instructions, self.many.instructions)
    }

    pub(super) fn allocations(&self) -> f64 {
        self.each(self.few.allocations, self.many.allocations)
    }

    fn each(&self, few: u64, many: u64) -> f64 {
        (many as f64 - few as f64) / f64::from(self.calls)
    }

    #[cfg(test)]
    pub(super) fn of(few: Profile, many: Profile, calls: u32) -> Self {
        Self { few, many, calls }
    }
}

pub(super) type Counts = HashMap<Setup, Pair>;

impl Counter<'_> {
    /// Counts do not depend on load, so one run per core is executed in parallel.
    pub(super) fn count(&self, setups: &[Setup]) -> Result<Counts, TaskError> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| TaskError::new(format!("cannot make {}: {error}", self.folder.display())))?;
        let mut unique: Vec<Setup> = Vec::new();
        setups.iter().for_each(|setup| {
            if !unique.contains(setup) {
                unique.push(*setup);
            }
        });
        self.progress.step(&format!("{} setups under callgrind", unique.len()));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        // Held for an insert.
        let found = Mutex::new(HashMap::new());
        let work = || {
            while let Some((index, setup)) = take(&next, &unique) {
                self.progress.part(index, unique.len(), setup);
                let pair = self.pair(index, setup);
                let failed = pair.is_err();
                if let Ok(mut found) = found.lock() {
                    found.insert(*setup, pair);
                }
                if failed {
                    // The others finish what they have begun.
                    next.store(unique.len(), Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
        let found = found.into_inner().map_err(|_| TaskError::new("a run under callgrind panicked"))?;
        found.into_iter().map(|(setup, pair)| Ok((setup, pair?))).collect()
    }

    fn pair(&self, index: usize, setup: &Setup) -> Result<Pair, TaskError> {
        let (warm, few, many) = calls(setup);
        let profile = |measured: u32| -> Result<Profile, TaskError> {
            let out = self.folder.join(format!("callgrind.{index}.{measured}"));
            self.programs.profile(setup, Calls { warm, measured }, &out)?;
            let unread = |why: String| TaskError::new(format!("{setup}: {}: {why}", out.display()));
            let text = std::fs::read_to_string(&out).map_err(|error| unread(error.to_string()))?;
            let profile = Profile::parse(&text).ok_or_else(|| unread("this is no profile".into()))?;
            // It is large, and has been read.
            let _ = std::fs::remove_file(&out);
            Ok(profile)
        };
        Ok(Pair { few: profile(few)?, many: profile(many)?, calls: many - few })
    }
}

fn take<'s>(next: &AtomicUsize, setups: &'s [Setup]) -> Option<(usize, &'s Setup)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, setups.get(index)?))
}

/// Returns the warm-up calls and the calls of the two runs. Fixed, so that counts of different days are comparable.
fn calls(setup: &Setup) -> (u32, u32, u32) {
    let (warm, few, more) = match (setup.work, setup.road, setup.side) {
        (Work::Echo, _, Side::Inside) => (0, 500, 2_000),
        // What it does once is then so much that it moves by the cost of many calls.
        (Work::Echo, Road::Stdio, _) if setup.tools >= 1_000 || setup.sessions > 1 => (200, 200, 4_000),
        (Work::Echo, Road::Stdio, _) => (200, 200, 1_000),
        (Work::Echo, Road::Http, _) => (100, 100, 600),
        (Work::Big, ..) => (1, 2, 6),
        // The pages are encoded already: so little work that what else happens in a process would show.
        (Work::List, ..) if setup.upstream.is_some() && setup.tools <= 1_000 => (5, 20, 200),
        (Work::List, ..) if setup.tools > 1_000 => (1, 1, 2),
        (Work::List, ..) => (1, 2, 6),
        (Work::Connect, ..) => (1, 1, 2),
    };
    match setup.work {
        // Whole rounds of the sessions, and whole lots in flight. Where sessions are opened there are no rounds.
        Work::Echo if setup.form != Form::Initialize => {
            let lot = setup.sessions.max(setup.in_flight);
            let whole = |calls: u32| calls.next_multiple_of(lot);
            (warm.max(lot), whole(few), whole(few) + whole(more))
        }
        _ => (warm, few, few + more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_once_falls_out() {
        let profile = |instructions, allocations| Profile { instructions, allocations, ..Profile::default() };
        let pair = Pair { few: profile(10_000, 70), many: profile(60_000, 170), calls: 50 };
        assert_eq!(pair.instructions(), 1_000.0);
        assert_eq!(pair.allocations(), 2.0);
    }

    #[test]
    fn every_session_is_called_as_often_as_the_others() {
        let setup = Setup::echo(Side::Server, Road::Http).sessions(2_000);
        assert_eq!(calls(&setup), (2_000, 2_000, 4_000));
        assert_eq!(calls(&Setup::echo(Side::Client, Road::Stdio).in_flight(64)), (200, 256, 256 + 1_024));
        assert_eq!(calls(&Setup::echo(Side::Client, Road::Stdio)), (200, 200, 1_200));
    }
}
