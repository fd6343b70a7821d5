//! A target: its limit, its aim, and the measured value.

use std::collections::HashMap;
use std::fmt;

use super::callgrind::Counts;
use super::guards::Guards;
use super::host::{HostFigure, HostFigures};
use super::json::Json;
use super::median::{median, ratio};
use super::rounds::Times;
use super::sample::Metric;
use super::setup::{Make, Setup};
use crate::command::TaskError;

/// All measurements.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    pub(super) times: Times,
    pub(super) counts: Counts,
    pub(super) guards: Option<Guards>,
    /// Megabytes of the smallest client, stripped.
    pub(super) sizes: HashMap<Make, f64>,
    /// Seconds of user and system time of a clean build of it.
    pub(super) builds: HashMap<Make, f64>,
    /// Seconds of user time of checking a hundred tools, five runs.
    pub(super) checks: HashMap<Make, Vec<f64>>,
    /// Of a host of many servers.
    pub(super) host: HostFigures,
}

/// A measured quantity, per round if there are rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    Time(Setup, Metric),
    Instructions(Setup),
    Allocations(Setup),
    /// Share of instructions of safety checks.
    Guards(Setup),
    /// Kilobytes for each session beyond the first so many.
    EachSession(Setup, u32),
    Size(Make),
    Build(Make),
    /// Seconds of user time of checking a hundred tools, dependencies built.
    Check(Make),
    /// Of a host of many servers.
    Host(HostFigure),
}

/// Formula that combines quantities into one number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    Plain(Quantity),
    Ratio(Quantity, Quantity),
    /// To the smallest of these.
    RatioToLeast(Quantity, Vec<Quantity>),
    /// How much the first is above the second.
    Difference(Quantity, Quantity),
    /// How much the first is above the second, as a share of the second.
    Added(Quantity, Quantity),
    /// Last ÷ first.
    Growth(Vec<Quantity>),
    /// Largest ÷ smallest.
    Spread(Vec<Quantity>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause {
    pub(super) limit: Limit,
    pub(super) unit: &'static str,
    pub(super) measure: Measure,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) must: Clause,
    pub(super) aim: Option<Clause>,
    /// Tolerance for quantities that vary with the machine.
    pub(super) slack: f64,
    /// Whether a miss fails the run: counts and CPU do, rates and latencies are only reported.
    pub(super) decides: bool,
}

/// A target with its measured values.
#[derive(Debug)]
pub(super) struct TargetResult {
    pub(super) target: Target,
    pub(super) measured: f64,
    pub(super) met: bool,
    pub(super) aim_measured: Option<f64>,
    pub(super) aim_met: Option<bool>,
}

impl Quantity {
    fn figures(&self, measurements: &Measurements) -> Vec<f64> {
        let counted = |setup: &Setup| measurements.counts.get(setup);
        match self {
            Self::Time(setup, metric) => measurements.times.figures(setup, *metric),
            Self::Instructions(setup) => counted(setup).map(|pair| pair.instructions()).into_iter().collect(),
            Self::Allocations(setup) => counted(setup).map(|pair| pair.allocations()).into_iter().collect(),
            Self::Guards(setup) => {
                measurements.guards.iter().filter_map(|guards| Some(guards.share(counted(setup)?))).collect()
            }
            Self::EachSession(many, first) => {
                let one = measurements.times.figures(&many.sessions(*first), Metric::Resident);
                let all = measurements.times.figures(many, Metric::Resident);
                let further = f64::from(many.sessions - first);
                one.iter().zip(&all).map(|(one, all)| (all - one) / further).collect()
            }
            Self::Size(make) => measurements.sizes.get(make).copied().into_iter().collect(),
            Self::Build(make) => measurements.builds.get(make).copied().into_iter().collect(),
            Self::Check(make) => measurements.checks.get(make).cloned().unwrap_or_default(),
            Self::Host(figure) => measurements.host.get(figure).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn value(&self, measurements: &Measurements) -> Option<f64> {
        median(&self.figures(measurements))
    }
}

impl Measure {
    /// Returns `None` if a required quantity was not measured.
    fn value(&self, measurements: &Measurements) -> Option<f64> {
        let all = |points: &[Quantity]| -> Option<Vec<f64>> {
            points.iter().map(|point| point.value(measurements)).collect()
        };
        match self {
            Self::Plain(quantity) => quantity.value(measurements),
            Self::Ratio(of, to) => ratio(&of.figures(measurements), &to.figures(measurements)),
            Self::RatioToLeast(of, all) => {
                let of = of.figures(measurements);
                let ratios: Option<Vec<f64>> =
                    all.iter().map(|to| ratio(&of, &to.figures(measurements))).collect();
                ratios?.into_iter().max_by(f64::total_cmp)
            }
            Self::Difference(of, to) => {
                let (of, to) = (of.figures(measurements), to.figures(measurements));
                median(&of.iter().zip(&to).map(|(of, to)| of - to).collect::<Vec<_>>())
            }
            Self::Added(of, to) => Some(ratio(&of.figures(measurements), &to.figures(measurements))? - 1.0),
            Self::Growth(points) => {
                let values = all(points)?;
                Some(values.last()? / values.first()?)
            }
            Self::Spread(points) => {
                let values = all(points)?;
                let most = values.iter().copied().max_by(f64::total_cmp)?;
                let least = values.iter().copied().min_by(f64::total_cmp)?;
                Some(most / least)
            }
        }
    }

    pub(super) fn quantities(&self) -> Vec<Quantity> {
        match self {
            Self::Plain(quantity) => vec![*quantity],
            Self::Ratio(of, to) | Self::Difference(of, to) | Self::Added(of, to) => vec![*of, *to],
            Self::RatioToLeast(of, all) => [&[*of], all.as_slice()].concat(),
            Self::Growth(points) | Self::Spread(points) => points.clone(),
        }
    }
}

impl Limit {
    fn holds(self, measured: f64, slack: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit * (1.0 + slack),
            Self::AtLeast(limit) => measured >= limit * (1.0 - slack),
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Limit::AtMost(limit) => write!(f, "≤ {limit} {}", self.unit),
            Limit::AtLeast(limit) => write!(f, "≥ {limit} {}", self.unit),
        }
    }
}

impl Target {
    /// Returns the quantities to measure.
    pub(super) fn quantities(&self) -> Vec<Quantity> {
        let aim = self.aim.iter().flat_map(|aim| aim.measure.quantities());
        self.must.measure.quantities().into_iter().chain(aim).collect()
    }

    /// # Errors
    /// Returns an error that names missing measurements: a target is never skipped silently.
    pub(super) fn judge(&self, measurements: &Measurements) -> Result<TargetResult, TaskError> {
        let missing = || TaskError::new(format!("{} was not measured", self.name));
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite()).ok_or_else(missing);
        let measured = finite(self.must.measure.value(measurements))?;
        let aim_measured =
            self.aim.as_ref().map(|aim| finite(aim.measure.value(measurements))).transpose()?;
        let aim_met = self.aim.as_ref().zip(aim_measured);
        Ok(TargetResult {
            target: self.clone(),
            measured,
            met: self.must.limit.holds(measured, self.slack),
            aim_measured,
            aim_met: aim_met.map(|(aim, measured)| aim.limit.holds(measured, 0.0)),
        })
    }
}

impl TargetResult {
    pub(super) fn json(&self) -> Json {
        let Target { name, what, must, aim, decides, .. } = &self.target;
        let number = |value: Option<f64>| value.map_or(Json::Null, Json::rounded);
        Json::object([
            ("name", name.as_str().into()),
            ("what", what.as_str().into()),
            ("limit", if matches!(must.limit, Limit::AtMost(_)) { "at most" } else { "at least" }.into()),
            ("must", Json::Number(must.limit.number())),
            ("unit", must.unit.into()),
            ("measured", Json::rounded(self.measured)),
            ("met", self.met.into()),
            ("aim", number(aim.as_ref().map(|aim| aim.limit.number()))),
            ("aim_unit", aim.as_ref().map(|aim| aim.unit).into()),
            ("aim_measured", number(self.aim_measured)),
            ("aim_met", self.aim_met.into()),
            ("decides", (*decides).into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample::Sample;
    use crate::bench::setup::{Road, Side, Work};

    fn size(make: Make) -> Quantity {
        Quantity::Size(make)
    }

    fn clause(limit: Limit, measure: Measure) -> Clause {
        Clause { limit, unit: "× rmcp", measure }
    }

    fn target(limit: Limit, measure: Measure, slack: f64) -> Target {
        let aim = Some(clause(Limit::AtMost(0.4), measure.clone()));
        Target { name: "X".into(), what: "x".into(), must: clause(limit, measure), aim, slack, decides: true }
    }

    fn measurements() -> Measurements {
        let sizes = HashMap::from([(Make::Switchboard, 1.0), (Make::Rmcp, 2.0), (Make::Floor, 0.5)]);
        Measurements { sizes, ..Measurements::default() }
    }

    #[test]
    fn a_target_is_judged_by_its_limit_and_its_slack() {
        let half = Measure::Ratio(size(Make::Switchboard), size(Make::Rmcp));
        let met = |limit, slack| target(limit, half.clone(), slack).judge(&measurements()).unwrap().met;
        assert!(met(Limit::AtMost(0.5), 0.0));
        assert!(!met(Limit::AtMost(0.48), 0.0));
        assert!(met(Limit::AtMost(0.48), 0.05));
        assert!(!met(Limit::AtLeast(0.52), 0.0));
        assert!(met(Limit::AtLeast(0.52), 0.05));
    }

    #[test]
    fn growth_is_from_the_first_to_the_last_and_spread_over_all() {
        let points = vec![size(Make::Switchboard), size(Make::Rmcp), size(Make::Floor)];
        assert_eq!(Measure::Growth(points.clone()).value(&measurements()), Some(0.5));
        assert_eq!(Measure::Spread(points).value(&measurements()), Some(4.0));
    }

    #[test]
    fn memory_of_a_session_is_that_of_those_beyond_the_first() {
        let report = |kb: u32| {
            let line = format!(
                r#"{{"calls":1,"wall_us":1,"p50_us":1,"p99_us":1,"cpu_us":1,"rss_kb":{kb},"peak_kb":1,"server":{{"cpu_us":1,"rss_kb":1,"peak_kb":1}}}}"#
            );
            Sample::parse(&line).unwrap()
        };
        let one = Setup::new(Side::Client, Road::Stdio, Work::Connect);
        let all = one.sessions(50);
        let samples = [(one, vec![report(3_000), report(3_000)]), (all, vec![report(3_490), report(3_980)])];
        let measurements = Measurements { times: Times::of(samples), ..Measurements::default() };
        assert_eq!(Quantity::EachSession(all, 1).value(&measurements), Some(15.0));
    }

    #[test]
    fn what_was_not_measured_is_a_failure() {
        let target = target(Limit::AtMost(1.0), Measure::Plain(size(Make::Python)), 0.0);
        assert_eq!(target.judge(&measurements()).unwrap_err().to_string(), "X was not measured");
    }

    #[test]
    fn a_verdict_has_the_members_it_is_read_by() {
        let half = Measure::Ratio(size(Make::Switchboard), size(Make::Rmcp));
        let json = target(Limit::AtMost(0.5), half, 0.0).judge(&measurements()).unwrap().json();
        assert_eq!(json.get("must").and_then(Json::number), Some(0.5));
        assert_eq!(json.get("measured").and_then(Json::number), Some(0.5));
        assert_eq!(json.get("met"), Some(&Json::Bool(true)));
        assert_eq!(json.get("aim_met"), Some(&Json::Bool(false)));
    }
}
