//! P18: cost of a call and memory as tools, servers and sessions grow.
//!
//! The cost is measured in instructions, so that a slope of a few percent is distinguishable from noise.

use super::sample::Metric;
use super::setup::{FEWEST_TOOLS, Road, Setup, Side, grouped};
use super::target::{Clause, Limit, Measure, Measurements, Quantity, Target};

/// A dimension of growth.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) points: &'static [u32],
    pub(super) lines: &'static [GrowthSide],
}

/// The measured side.
#[derive(Debug)]
pub(super) struct GrowthSide {
    pub(super) side: Side,
    at: fn(u32) -> Setup,
}

/// Measurements of one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) count: u32,
    pub(super) instructions: f64,
    pub(super) resident_kb: f64,
}

pub(super) const AXES: &[Axis] = &[
    Axis {
        name: "tools",
        what: "tools of a server, listed by the client",
        points: &[FEWEST_TOOLS, 10, 100, 1_000, 10_000],
        lines: &[
            GrowthSide {
                side: Side::Client,
                at: |tools| Setup::echo(Side::Client, Road::Stdio).tools(tools),
            },
            GrowthSide {
                side: Side::Server,
                at: |tools| Setup::echo(Side::Server, Road::Stdio).tools(tools),
            },
        ],
    },
    Axis {
        name: "servers",
        what: "servers of one client, called in turn",
        points: &[1, 10, 50, 100, 200],
        lines: &[GrowthSide {
            side: Side::Client,
            at: |n| Setup::echo(Side::Client, Road::Stdio).sessions(n),
        }],
    },
    Axis {
        name: "sessions",
        what: "HTTP sessions of one server, called in turn",
        points: &[1, 10, 100, 500, 1_000, 2_000],
        lines: &[GrowthSide {
            side: Side::Server,
            at: |n| Setup::echo(Side::Server, Road::Http).sessions(n),
        }],
    },
];

impl GrowthSide {
    fn setup(&self, count: u32) -> Setup {
        (self.at)(count).switchboard()
    }

    /// Returns the measured points; in a quick run the first and the last.
    pub(super) fn points(&self, axis: &Axis, measurements: &Measurements) -> Vec<Point> {
        let point = |count: &u32| {
            let setup = self.setup(*count);
            Some(Point {
                count: *count,
                instructions: Quantity::Instructions(setup).value(measurements)?,
                resident_kb: Quantity::Time(setup, Metric::Resident).value(measurements)?,
            })
        };
        let points: Vec<Point> = axis.points.iter().filter_map(point).collect();
        // One point is of another axis, or of a target.
        if points.len() > 1 { points } else { Vec::new() }
    }
}

impl Axis {
    fn measured_points(&self, quick: bool) -> Vec<u32> {
        match self.points {
            [first, .., last] if quick => vec![*first, *last],
            points => points.to_vec(),
        }
    }

    /// Returns the setups whose memory is measured.
    pub(super) fn resident(&self, quick: bool) -> Vec<Setup> {
        let points = self.measured_points(quick);
        self.lines.iter().flat_map(|line| points.iter().map(|count| line.setup(*count))).collect()
    }

    pub(super) fn targets(&self, quick: bool) -> Vec<Target> {
        let points = self.measured_points(quick);
        let mut targets = Vec::new();
        for line in self.lines {
            let (side, name) = (line.side, self.name);
            let costs: Vec<Quantity> =
                points.iter().map(|count| Quantity::Instructions(line.setup(*count))).collect();
            let last = points.last().copied().unwrap_or_default();
            let last = grouped(last);
            let what = format!("cost per call, {side}, {} to {last} {name}", points[0]);
            let shapes = [
                ("growth", "last ÷ first", Measure::Growth(costs.clone())),
                ("spread", "most ÷ least", Measure::Spread(costs)),
            ];
            for (shape, unit, measure) in shapes {
                let clause = |limit| Clause { limit: Limit::AtMost(limit), unit, measure: measure.clone() };
                targets.push(Target {
                    name: format!("P18.{name}.{side}.{shape}"),
                    what: what.clone(),
                    must: clause(1.1),
                    aim: Some(clause(1.03)),
                    slack: 0.0,
                    decides: true,
                });
            }
        }
        targets
    }
}

/// Returns the memory per additional item in kilobytes, from the first point to the last.
pub(super) fn slope(points: &[Point]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let more = last.count.checked_sub(first.count).filter(|more| *more > 0)?;
    Some((last.resident_kb - first.resident_kb) / f64::from(more))
}

/// Returns the deviation of the points from a straight line between first and last, as a share of the last.
pub(super) fn bend(points: &[Point]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let slope = slope(points)?;
    let off = |point: &Point| {
        let straight = first.resident_kb + slope * f64::from(point.count - first.count);
        (point.resident_kb - straight).abs() / last.resident_kb
    };
    points.iter().map(off).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(u32, f64)]) -> Vec<Point> {
        let point = |(count, resident_kb): &(u32, f64)| Point {
            count: *count,
            instructions: 0.0,
            resident_kb: *resident_kb,
        };
        values.iter().map(point).collect()
    }

    #[test]
    fn a_quick_run_has_the_ends() {
        assert_eq!(AXES[0].measured_points(true), [3, 10_000]);
        assert_eq!(AXES[2].measured_points(false).len(), 6);
        assert_eq!(AXES[0].resident(true).len(), 4);
    }

    #[test]
    fn memory_has_a_slope_and_a_bend() {
        let straight = points(&[(1, 1_000.0), (51, 1_500.0), (101, 2_000.0)]);
        assert_eq!(slope(&straight), Some(10.0));
        assert_eq!(bend(&straight), Some(0.0));
        let bent = points(&[(1, 1_000.0), (51, 1_100.0), (101, 2_000.0)]);
        assert_eq!(bend(&bent), Some(0.2));
        assert_eq!(slope(&straight[..1]), None);
    }
}
