//! Report of one client run: the line of JSON described in `benches/README.md`.

use super::json::Json;
use super::setup::{Setup, Side};

/// Size of the result of `big` in megabytes.
const BIG_MB: f64 = 1.048_576;

/// Times and memory of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub(super) calls: f64,
    pub(super) wall_us: f64,
    p50_us: f64,
    p99_us: f64,
    client: Usage,
    server: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Usage {
    cpu_us: f64,
    rss_kb: f64,
    peak_kb: f64,
}

/// One figure of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    /// User and system time per call of the measured side, in microseconds.
    Cpu,
    /// The same for the other side.
    OtherCpu,
    P50,
    P99,
    /// Total duration in microseconds.
    Wall,
    CallsPerSecond,
    MegabytesPerSecond,
    /// Resident memory of the measured side at the end of the run, in kilobytes.
    Resident,
    Peak,
    /// The same in megabytes.
    PeakMb,
}

impl Sample {
    /// Parses the output of a program; the report is its last line.
    pub(super) fn parse(printed: &str) -> Option<Self> {
        let report = Json::parse(printed.lines().rfind(|line| line.trim_start().starts_with('{'))?)?;
        let number = |name: &str| report.get(name)?.number();
        let sample = Self {
            calls: number("calls")?,
            wall_us: number("wall_us")?,
            p50_us: number("p50_us")?,
            p99_us: number("p99_us")?,
            client: Usage::read(&report)?,
            server: Usage::read(report.get("server")?)?,
        };
        (sample.calls > 0.0 && sample.wall_us > 0.0).then_some(sample)
    }

    pub(super) fn figure(&self, setup: &Setup, metric: Metric) -> f64 {
        let (ours, other) = match setup.side {
            Side::Server => (self.server, self.client),
            Side::Client | Side::Inside => (self.client, self.server),
        };
        match metric {
            Metric::Cpu => ours.cpu_us / self.calls,
            Metric::OtherCpu => other.cpu_us / self.calls,
            Metric::P50 => self.p50_us,
            Metric::P99 => self.p99_us,
            Metric::Wall => self.wall_us,
            Metric::CallsPerSecond => self.calls * 1e6 / self.wall_us,
            Metric::MegabytesPerSecond => self.calls * BIG_MB * 1e6 / self.wall_us,
            Metric::Resident => ours.rss_kb,
            Metric::Peak => ours.peak_kb,
            // The kernel's kilobytes have 1,024 bytes.
            Metric::PeakMb => ours.peak_kb * 1.024 / 1_000.0,
        }
    }
}

impl Usage {
    fn read(object: &Json) -> Option<Self> {
        let number = |name: &str| object.get(name)?.number();
        Some(Self { cpu_us: number("cpu_us")?, rss_kb: number("rss_kb")?, peak_kb: number("peak_kb")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::setup::Road;

    const LINE: &str = r#"{"calls":100,"wall_us":2000,"p50_us":19,"p99_us":40,"cpu_us":500,"rss_kb":3000,"peak_kb":4000,"server":{"cpu_us":700,"rss_kb":5000,"peak_kb":6000}}"#;

    #[test]
    fn the_figures_are_those_of_the_side_that_is_measured() {
        let sample = Sample::parse(&format!("listening\n{LINE}\n")).unwrap();
        let client = Setup::echo(Side::Client, Road::Stdio);
        let server = Setup::echo(Side::Server, Road::Stdio);
        assert_eq!(sample.figure(&client, Metric::Cpu), 5.0);
        assert_eq!(sample.figure(&server, Metric::Cpu), 7.0);
        assert_eq!(sample.figure(&server, Metric::OtherCpu), 5.0);
        assert_eq!(sample.figure(&server, Metric::Peak), 6000.0);
        assert_eq!(sample.figure(&client, Metric::CallsPerSecond), 50_000.0);
    }

    #[test]
    fn a_report_with_a_hole_is_none() {
        assert_eq!(Sample::parse(""), None);
        assert_eq!(Sample::parse(&LINE.replace("\"calls\":100", "\"calls\":0")), None);
        assert_eq!(Sample::parse(&LINE.replace("\"rss_kb\":5000,", "")), None);
    }
}
