//! Table of the targets: P1 to P18, host, services, tokens and safety checks.
//!
//! Each target is a ratio within one run with the same kind of runtime. The measurements of a run follow from this table.

use super::growth;
use super::host::HostFigure::{Changed, Crowd, Find, FindShared, Snapshot, Status};
use super::sample::Metric::{self, CallsPerSecond, Cpu, MegabytesPerSecond, PeakMb, Wall};
use super::setup::Era::{self, Legacy, Modern};
use super::setup::Form::{Initialize, Json, Pipes, Pool, Wide};
use super::setup::Side::{Client, Inside, Server};
use super::setup::{Make, Road, Setup, Threads, Work};
use super::target::{Clause, Limit, Measure, Quantity, Target};
use super::token_targets;

/// Creates an upper limit.
pub(super) fn most(limit: f64, unit: &'static str, measure: Measure) -> Clause {
    Clause { limit: Limit::AtMost(limit), unit, measure }
}

fn least(limit: f64, unit: &'static str, measure: Measure) -> Clause {
    Clause { limit: Limit::AtLeast(limit), unit, measure }
}

pub(super) fn target(name: &str, what: &str, must: Clause, aim: Option<Clause>) -> Target {
    Target { name: name.into(), what: what.into(), must, aim, slack: 0.0, decides: true }
}

/// Rates and latencies vary with the machine: they are reported, with a tolerance of 5 %.
pub(super) fn reported(target: Target) -> Target {
    Target { slack: 0.05, decides: false, ..target }
}

fn over(metric: Metric, of: Setup, to: Setup) -> Measure {
    Measure::Ratio(Quantity::Time(of, metric), Quantity::Time(to, metric))
}

fn cpu(of: Setup, to: Setup) -> Measure {
    over(Cpu, of, to)
}

pub(super) fn instructions(of: Setup, to: Setup) -> Measure {
    Measure::Ratio(Quantity::Instructions(of), Quantity::Instructions(to))
}

/// Returns all targets; without `build`, not those that need a clean build.
pub(super) fn all(quick: bool, build: bool) -> Vec<Target> {
    let mut targets = counted();
    targets.extend(stdio());
    targets.extend(big());
    targets.extend(http());
    targets.extend(lists());
    targets.extend(footprint(build));
    targets.extend(host());
    targets.extend(service(build));
    targets.extend(token_targets::all());
    for axis in growth::AXES {
        targets.extend(axis.targets(quick));
    }
    targets.extend(guards());
    targets
}

/// P1 to P3: limits on instructions, because only the code affects them.
fn counted() -> Vec<Target> {
    let client = |era| Setup::echo(Client, Road::Stdio).era(era);
    let server = |era| Setup::echo(Server, Road::Stdio).era(era);
    let mut targets = Vec::new();
    for era in [Legacy, Modern] {
        let measure = || instructions(client(era).switchboard(), client(era).rmcp());
        let what = format!("instructions per call, client, {era}");
        let aim = Some(most(0.22, "× rmcp", measure()));
        targets.push(target(&format!("P1.client.{era}"), &what, most(0.33, "× rmcp", measure()), aim));
    }
    for era in [Legacy, Modern] {
        let measure = || instructions(server(era).switchboard(), server(era).rmcp().form(Pipes));
        let what = format!("instructions per call, server, {era}");
        let aim = Some(most(0.2, "× rmcp pipes", measure()));
        targets.push(target(&format!("P2.server.{era}"), &what, most(0.3, "× rmcp pipes", measure()), aim));
    }
    for (side, setup) in [("client", client as fn(Era) -> Setup), ("server", server)] {
        let measure = || instructions(setup(Modern).switchboard(), setup(Legacy).switchboard());
        let what = format!("modern era over legacy, instructions, {side}");
        let aim = Some(most(1.05, "× legacy", measure()));
        targets.push(target(&format!("P3.{side}"), &what, most(1.1, "× legacy", measure()), aim));
    }
    targets
}

/// Ratio of switchboard's CPU time to that of another implementation in the same group.
fn to_floor(limit: f64, setup: Setup) -> Clause {
    most(limit, "× floor", cpu(setup.switchboard(), setup.floor()))
}

fn to_rmcp(limit: f64, setup: Setup) -> Clause {
    most(limit, "× rmcp", cpu(setup.switchboard(), setup.rmcp()))
}

fn to_pipes(limit: f64, setup: Setup) -> Clause {
    most(limit, "× rmcp pipes", cpu(setup.switchboard(), setup.rmcp().form(Pipes)))
}

/// P4 to P7.
fn stdio() -> Vec<Target> {
    let client = Setup::echo(Client, Road::Stdio).pinned();
    let server = Setup::echo(Server, Road::Stdio).pinned();
    let many = client.threads(Threads::Many);
    let busy = |side| Setup::echo(side, Road::Stdio).in_flight(64).threads(Threads::Many);
    let (asking, answering) = (busy(Client), busy(Server));
    let calls = |limit, unit, of: Setup, to| least(limit, unit, over(CallsPerSecond, of.switchboard(), to));
    let asked = |limit| calls(limit, "× rmcp", asking, asking.rmcp());
    let answered = calls(3.0, "× rmcp pipes", answering, answering.rmcp().form(Pipes));
    let answer = "CPU, 64 in flight, server";
    let mut targets = Vec::new();
    let mut add = |name, what, must, aim| targets.push(target(name, what, must, aim));
    add("P4.client", "CPU, sequential, one CPU, client", to_rmcp(0.45, client), Some(to_floor(1.6, client)));
    add("P4.server", "CPU, sequential, one CPU, server", to_pipes(0.35, server), Some(to_floor(1.3, server)));
    add("P5", "CPU, sequential, multi-thread client", to_rmcp(0.6, many), Some(to_floor(3.5, many)));
    add("P6.cpu", "CPU, 64 in flight, client", to_rmcp(0.3, asking), Some(to_rmcp(0.17, asking)));
    add("P7.cpu.pipes", answer, to_pipes(0.25, answering), Some(to_pipes(0.12, answering)));
    add("P7.cpu.default", answer, to_rmcp(0.05, answering), None);
    targets.extend([
        reported(target("P6.calls", "calls/s, 64 in flight, client", asked(3.0), Some(asked(5.0)))),
        reported(target("P7.calls", "calls/s, 64 in flight, server", answered, None)),
    ]);
    targets.sort_by(|one, other| one.name[..2].cmp(&other.name[..2]));
    targets
}

/// P8 and P9.
fn big() -> Vec<Target> {
    let client = Setup::new(Client, Road::Stdio, Work::Big);
    let server = Setup::new(Server, Road::Stdio, Work::Big);
    let rate =
        |limit, unit, of: Setup, to| least(limit, unit, over(MegabytesPerSecond, of.switchboard(), to));
    let wide = most(1.3, "× floor wide", cpu(client.switchboard(), client.floor().form(Wide)));
    let read = rate(1.5, "× rmcp", client, client.rmcp());
    let written = rate(1.0, "× rmcp pipes", server, server.rmcp().form(Pipes));
    let answer = "CPU, 1 MiB results, server";
    vec![
        target("P8.cpu", "CPU, 1 MiB results, client", to_rmcp(0.75, client), Some(wide)),
        reported(target("P8.rate", "MB/s, 1 MiB results, client", read, None)),
        target("P9.cpu.pipes", answer, to_pipes(1.0, server), Some(to_pipes(0.7, server))),
        target("P9.cpu.default", answer, to_rmcp(1.0, server), Some(to_rmcp(0.7, server))),
        reported(target("P9.rate", "MB/s, 1 MiB results, server", written, None)),
    ]
}

/// P10 to P12.
fn http() -> Vec<Target> {
    let busy = |side, era| Setup::echo(side, Road::Http).era(era).in_flight(64).threads(Threads::Many);
    let mut targets = Vec::new();
    for era in [Legacy, Modern] {
        let server = busy(Server, era);
        // The modern era needs no session, and is answered as JSON by itself.
        let ours = if era == Legacy { server.switchboard().form(Json) } else { server.switchboard() };
        targets.push(target(
            &format!("P10.{era}"),
            &format!("CPU, HTTP server, JSON, 64 in flight, {era}"),
            most(0.45, "× rmcp json", cpu(ours, server.rmcp().form(Json))),
            Some(most(1.6, "× floor", cpu(ours, server.floor()))),
        ));
    }
    let sessions = busy(Server, Legacy);
    targets.push(target(
        "P11",
        "CPU, HTTP server, sessions, 64 in flight",
        to_rmcp(0.4, sessions),
        Some(to_floor(2.0, sessions)),
    ));
    for era in [Legacy, Modern] {
        let client = busy(Client, era);
        let ours = client.switchboard();
        let what = format!("CPU, HTTP client, 64 in flight, {era}");
        targets.push(target(
            &format!("P12.{era}.default"),
            &what,
            to_rmcp(0.25, client),
            Some(to_floor(3.0, client)),
        ));
        let pool = most(0.6, "× rmcp pool", cpu(ours, client.rmcp().form(Pool)));
        targets.push(target(&format!("P12.{era}.pool"), &what, pool, None));
    }
    targets
}

/// P13 and P14.
fn lists() -> Vec<Target> {
    let client = Setup::new(Client, Road::Stdio, Work::List).tools(1_000);
    let server = Setup::new(Server, Road::Stdio, Work::List).tools(1_000);
    let peak = |limit| most(limit, "MB", Measure::Plain(Quantity::Time(client.switchboard(), PeakMb)));
    vec![
        target(
            "P13.cpu",
            "CPU, list of 1,000 tools, client",
            to_rmcp(0.3, client),
            Some(to_floor(3.0, client)),
        ),
        target("P13.peak", "peak memory, list of 1,000 tools, client", peak(12.0), Some(peak(8.0))),
        target(
            "P14",
            "CPU, list of 1,000 tools, server",
            to_pipes(0.15, server),
            Some(to_floor(1.5, server)),
        ),
    ]
}

/// P15 to P17.
fn footprint(build: bool) -> Vec<Target> {
    let connect = |servers| Setup::new(Client, Road::Stdio, Work::Connect).sessions(servers);
    let mut targets = Vec::new();
    for servers in [1, 50] {
        let of = connect(servers);
        targets.push(reported(target(
            &format!("P15.connect.{servers}"),
            &format!("time to connect to {servers}, tools listed"),
            most(1.0, "× rmcp", over(Wall, of.switchboard(), of.rmcp())),
            None,
        )));
    }
    let each = |limit| most(limit, "kB", Measure::Plain(Quantity::EachSession(connect(50).switchboard(), 1)));
    targets.push(target("P15.memory", "memory per connection", each(16.0), Some(each(8.0))));
    for era in [Legacy, Modern] {
        for tools in [3, 50] {
            let inside = Setup::echo(Inside, Road::Stdio).era(era).tools(tools).switchboard();
            let measure = |limit| most(limit, "", Measure::Plain(Quantity::Allocations(inside)));
            targets.push(target(
                &format!("P16.{era}.{tools}"),
                &format!("allocations per round trip, both sides, {tools} tools, {era}"),
                measure(30.0),
                Some(measure(18.0)),
            ));
        }
    }
    let open = Setup::echo(Inside, Road::Http).form(Initialize).switchboard();
    let growth = || {
        Measure::Growth([10, 10_000].map(|sessions| Quantity::Instructions(open.sessions(sessions))).into())
    };
    targets.push(target(
        "S5.initialize",
        "cost of `initialize`, the table full with 10 and with 10,000 sessions",
        most(1.1, "last ÷ first", growth()),
        Some(most(1.03, "last ÷ first", growth())),
    ));
    let size = |limit| most(limit, "MB", Measure::Plain(Quantity::Size(Make::Switchboard)));
    targets.push(target("P17.size", "smallest stdio client, stripped", size(2.5), Some(size(1.5))));
    if build {
        let ratio = || Measure::Ratio(Quantity::Build(Make::Switchboard), Quantity::Build(Make::Rmcp));
        targets.push(target(
            "P17.build",
            "CPU of a clean build of it",
            most(0.6, "× rmcp", ratio()),
            Some(most(0.4, "× rmcp", ratio())),
        ));
    }
    targets
}

/// Safety checks are cheap.
fn guards() -> Vec<Target> {
    let mut targets = Vec::new();
    for side in [Client, Server] {
        for era in [Legacy, Modern] {
            let setup = Setup::echo(side, Road::Stdio).era(era).switchboard();
            let share = Measure::Plain(Quantity::Guards(setup));
            let what = format!("the guards' share of a call's instructions, {side}, {era}");
            targets.push(target(&format!("guards.{side}.{era}"), &what, most(0.05, "", share), None));
        }
    }
    targets
}

/// The host: its overhead per call, its catalog, and the startup of many servers.
fn host() -> Vec<Target> {
    let mut targets = Vec::new();
    for era in [Legacy, Modern] {
        let bare = Setup::echo(Client, Road::Stdio).era(era);
        let measure = || instructions(bare.by(Make::Host), bare.switchboard());
        let what = format!("instructions per call through a host, {era}");
        let aim = Some(most(1.1, "× bare", measure()));
        targets.push(target(&format!("H1.{era}"), &what, most(1.15, "× bare", measure()), aim));
    }
    let figure = |limit, unit, figure| most(limit, unit, Measure::Plain(Quantity::Host(figure)));
    let rows = [
        ("H2.snapshot", "snapshot of 10,000 tools of 100 servers", figure(1.0, "µs", Snapshot)),
        ("H2.find", "a tool among them by its full name", figure(5.0, "µs", Find)),
        ("H2.shared", "by a name that 100 servers have", figure(5.0, "µs", FindShared)),
        ("H2.status", "status of all servers", figure(2_000.0, "µs", Status)),
        ("H2.changed", "one list changed, until it shows", figure(5_000.0, "µs", Changed)),
    ];
    targets.extend(rows.map(|(name, what, must)| target(name, what, must, None)));
    let crowd = "45 healthy servers beside 5 broken ones, beyond the slowest alone";
    targets.push(reported(target("H3.crowd", crowd, figure(250.0, "ms", Crowd), None)));
    targets
}

/// A server written as a service has the limits of a hand-written handler.
fn service(build: bool) -> Vec<Target> {
    let service = |setup: Setup| setup.by(Make::Service);
    let mut targets = Vec::new();
    for era in [Legacy, Modern] {
        let server = Setup::echo(Server, Road::Stdio).era(era);
        let measure = || instructions(service(server), server.rmcp().form(Pipes));
        let what = format!("instructions per call, a service, {era}");
        let aim = Some(most(0.2, "× rmcp pipes", measure()));
        targets.push(target(&format!("S2.{era}"), &what, most(0.3, "× rmcp pipes", measure()), aim));
    }
    let busy = Setup::echo(Server, Road::Stdio).in_flight(64).threads(Threads::Many);
    let answer = "CPU, 64 in flight, a service";
    let to = |limit, unit, to: Setup| most(limit, unit, cpu(service(busy), to));
    let pipes = busy.rmcp().form(Pipes);
    let aim = Some(to(0.12, "× rmcp pipes", pipes));
    targets.push(target("S7.cpu.pipes", answer, to(0.25, "× rmcp pipes", pipes), aim));
    targets.push(target("S7.cpu.default", answer, to(0.05, "× rmcp", busy.rmcp()), None));
    for era in [Legacy, Modern] {
        let server = Setup::echo(Server, Road::Http).era(era).in_flight(64).threads(Threads::Many);
        let ours = if era == Legacy { service(server).form(Json) } else { service(server) };
        targets.push(target(
            &format!("S10.{era}"),
            &format!("CPU, HTTP, JSON, 64 in flight, a service, {era}"),
            most(0.45, "× rmcp json", cpu(ours, server.rmcp().form(Json))),
            Some(most(1.6, "× floor", cpu(ours, server.floor()))),
        ));
    }
    let list = Setup::new(Server, Road::Stdio, Work::List).tools(1_000);
    targets.push(target(
        "S14",
        "CPU, list of 1,000 tools, a service",
        most(0.15, "× rmcp pipes", cpu(service(list), list.rmcp().form(Pipes))),
        Some(most(1.5, "× floor", cpu(service(list), list.floor()))),
    ));
    for era in [Legacy, Modern] {
        for tools in [3, 50] {
            let inside = service(Setup::echo(Inside, Road::Stdio).era(era).tools(tools));
            let measure = |limit| most(limit, "", Measure::Plain(Quantity::Allocations(inside)));
            let what = format!("allocations per round trip, both sides, a service, {tools} tools, {era}");
            let aim = Some(measure(18.0));
            targets.push(target(&format!("S16.{era}.{tools}"), &what, measure(30.0), aim));
        }
    }
    let at = |tools| Quantity::Instructions(service(Setup::echo(Server, Road::Stdio).tools(tools)));
    let growth = || Measure::Growth(vec![at(3), at(10_000)]);
    targets.push(target(
        "S18.tools",
        "cost per call, a service, 3 to 10,000 tools",
        most(1.1, "last ÷ first", growth()),
        Some(most(1.03, "last ÷ first", growth())),
    ));
    if build {
        let ratio = Measure::Ratio(Quantity::Check(Make::Service), Quantity::Check(Make::Rmcp));
        let what = "user CPU of `cargo check` of a hundred tools, server half";
        targets.push(target("S.check", what, most(1.25, "× rmcp", ratio), None));
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_of_the_eighteen_is_there() {
        let targets = all(true, true);
        for number in 1..=18 {
            let of = |target: &&Target| target.name.split('.').next() == Some(&format!("P{number}"));
            assert!(targets.iter().any(|target| of(&target)), "P{number}");
        }
        let clean = |targets: &[Target]| targets.iter().any(|target| target.name == "P17.build");
        assert!(clean(&targets) && !clean(&all(true, false)));
    }

    #[test]
    fn every_name_stands_once() {
        let mut names: Vec<String> = all(false, true).into_iter().map(|target| target.name).collect();
        let before = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), before);
    }

    #[test]
    fn only_rates_and_waiting_do_not_decide() {
        let reported: Vec<String> =
            all(true, true).into_iter().filter(|target| !target.decides).map(|target| target.name).collect();
        let wanted =
            ["P6.calls", "P7.calls", "P8.rate", "P9.rate", "P15.connect.1", "P15.connect.50", "H3.crowd"];
        assert_eq!(reported, wanted);
    }
}
