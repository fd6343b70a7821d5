//! Time measurements: every setup runs once per round; the implementations of a group run back to back.
//!
//! A warm-up pass determines how many calls fill the time of one run.

use std::collections::HashMap;
use std::time::Duration;

use super::program::{Calls, Programs};
use super::progress::Progress;
use super::sample::{Metric, Sample};
use super::setup::{Road, Setup, Work};
use crate::command::TaskError;

/// Settings of time measurements.
#[derive(Debug)]
pub(super) struct Clock<'a> {
    pub(super) programs: &'a Programs,
    pub(super) progress: &'a Progress,
    pub(super) rounds: u32,
    /// Target duration of one run.
    pub(super) goal: Duration,
}

/// The samples of each setup, one for each round.
#[derive(Debug, Default)]
pub(super) struct Times(HashMap<Setup, Vec<Sample>>);

impl Times {
    /// Returns the figure of each round; empty if the setup was not measured.
    pub(super) fn figures(&self, setup: &Setup, metric: Metric) -> Vec<f64> {
        let samples = self.0.get(setup).map(Vec::as_slice).unwrap_or_default();
        samples.iter().map(|sample| sample.figure(setup, metric)).collect()
    }

    #[cfg(test)]
    pub(super) fn of(samples: impl IntoIterator<Item = (Setup, Vec<Sample>)>) -> Self {
        Self(samples.into_iter().collect())
    }
}

impl Clock<'_> {
    pub(super) fn measure(&self, setups: &[Setup]) -> Result<Times, TaskError> {
        let groups = groups(setups);
        let all: Vec<Setup> = groups.concat();
        let mut calls = HashMap::new();
        self.progress.step(&format!("{} setups, how many calls each", all.len()));
        for (done, setup) in all.iter().enumerate() {
            self.progress.part(done, all.len(), setup);
            let sample = self.programs.sample(setup, first_calls(setup))?;
            calls.insert(*setup, enough_calls(setup, &sample, self.goal));
        }
        let mut times = Times::default();
        for round in 0..self.rounds {
            self.progress.step(&format!("round {} of {}", round + 1, self.rounds));
            let mut done = 0;
            for group in &groups {
                // No implementation is always first, or always after the same one.
                let shift = round as usize % group.len();
                for _ in 0..passes(&group[0]) {
                    for setup in group[shift..].iter().chain(&group[..shift]) {
                        self.progress.part(done, all.len(), setup);
                        let sample = self.programs.sample(setup, calls[setup])?;
                        times.0.entry(*setup).or_default().push(sample);
                    }
                }
                done += group.len();
            }
        }
        Ok(times)
    }
}

/// Returns groups in the order of their first setups, each setup once, the implementations in fixed order.
pub(super) fn groups(setups: &[Setup]) -> Vec<Vec<Setup>> {
    let mut groups: Vec<Vec<Setup>> = Vec::new();
    for setup in setups {
        match groups.iter_mut().find(|group| group[0].group() == setup.group()) {
            Some(group) if group.contains(setup) => {}
            Some(group) => group.push(*setup),
            None => groups.push(vec![*setup]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_by_key(|setup| setup.make));
    groups
}

/// A process connects only once, which is too short to measure once.
fn passes(group: &Setup) -> u32 {
    // Before a proxy it is the memory of many sessions that is measured.
    if group.work == Work::Connect && group.upstream.is_none() { 5 } else { 1 }
}

fn first_calls(setup: &Setup) -> Calls {
    let measured = match (setup.work, setup.road) {
        (Work::Echo, Road::Stdio) => 400,
        (Work::Echo, Road::Http) => 200,
        (Work::Big, _) => 5,
        (Work::List, _) => 2,
        (Work::Connect, _) => 1,
    };
    let measured = measured.max(setup.in_flight * 4);
    Calls { warm: warm(setup, measured / 4), measured }
}

/// At least as many calls as the warm-up, so that a slow first run cannot shorten the others.
fn enough_calls(setup: &Setup, sample: &Sample, goal: Duration) -> Calls {
    let each = sample.wall_us / sample.calls;
    let wanted = (goal.as_secs_f64() * 1e6 / each).min(200_000.0);
    let measured = match setup.work {
        Work::Connect => 1,
        _ => (wanted as u32).max(first_calls(setup).measured),
    };
    Calls { warm: warm(setup, (measured / 10).min(2_000)), measured }
}

/// Every session is warmed up before time is measured.
fn warm(setup: &Setup, calls: u32) -> u32 {
    match setup.work {
        Work::Connect => 0,
        Work::Echo => calls.max(setup.sessions).max(setup.in_flight),
        Work::Big | Work::List => calls.max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::setup::Side;

    #[test]
    fn makes_of_one_group_stand_together() {
        let client = Setup::echo(Side::Client, Road::Stdio);
        let server = Setup::echo(Side::Server, Road::Stdio);
        let setups = [client.rmcp(), server.floor(), client.floor(), server.rmcp(), client.rmcp()];
        let wanted = vec![vec![client.floor(), client.rmcp()], vec![server.floor(), server.rmcp()]];
        assert_eq!(groups(&setups), wanted);
    }

    #[test]
    fn a_run_is_as_long_as_it_should_be() {
        let report = r#"{"calls":400,"wall_us":4000,"p50_us":9,"p99_us":9,"cpu_us":1,"rss_kb":1,"peak_kb":1,
            "server":{"cpu_us":1,"rss_kb":1,"peak_kb":1}}"#;
        let sample = Sample::parse(&report.replace('\n', " ")).unwrap();
        let setup = Setup::echo(Side::Client, Road::Stdio);
        let calls = enough_calls(&setup, &sample, Duration::from_millis(300));
        assert_eq!(calls, Calls { warm: 2_000, measured: 30_000 });
        let calls = enough_calls(&setup.sessions(2_500), &sample, Duration::from_micros(1));
        assert_eq!(calls, Calls { warm: 2_500, measured: 400 });
    }
}
