//! Targets and rows of the gateway: `cargo xtask bench gateway`.

use super::sample::Metric::{Cpu, P50};
use super::setup::Era::{Legacy, Modern};
use super::setup::Form::Policy;
use super::setup::Make::{FastMcp, Gateway, McpProxy, NodeProxy};
use super::setup::Side::{Inside, Server};
use super::setup::{Era, Make, Road, Setup, Work};
use super::target::{Measure, Quantity, Target};
use super::targets::{most, reported, target};

/// Numbers of servers behind the gateway.
const FAN_OUT: [u32; 4] = [1, 10, 50, 200];
/// Sessions that are opened, and those beyond which each is counted: all connections are open then.
const SESSIONS: (u32, u32) = (1_100, 100);
/// The same of clients without a session. More, because the pages of the allocator are all that grows.
const CLIENTS: (u32, u32) = (20_100, 100);
const MANY_TOOLS: u32 = 10_000;

/// A call over this road to a server over that one.
fn echo(road: Road, upstream: Road, era: Era) -> Setup {
    Setup::echo(Server, road).era(era).before(upstream)
}

/// Returns the proxies of others that can be measured like this.
fn rivals(setup: Setup) -> Vec<Make> {
    let upstream = setup.upstream.map(|upstream| upstream.road);
    let mut makes = Vec::new();
    // Over HTTP and with revisions before 2026-07-28, as it is released.
    if setup.road == Road::Http && setup.era == Legacy {
        makes.push(McpProxy);
    }
    if setup.road == Road::Http && upstream == Some(Road::Stdio) {
        makes.push(NodeProxy);
    }
    makes.push(FastMcp);
    makes
}

fn with_rivals(setup: Setup) -> Vec<Setup> {
    let mut setups = vec![setup.floor(), setup.by(Gateway)];
    setups.extend(rivals(setup).into_iter().map(|make| setup.by(make)));
    setups
}

/// Returns how many are connected, and beyond how many each is counted.
fn connected(era: Era) -> (u32, u32) {
    match era {
        Legacy => SESSIONS,
        Modern => CLIENTS,
    }
}

/// Opens sessions, and lists the tools of each.
fn connect(era: Era) -> Setup {
    Setup::new(Server, Road::Http, Work::Connect).era(era).before(Road::Stdio).sessions(connected(era).0)
}

fn list(road: Road) -> Setup {
    Setup::new(Server, road, Work::List).era(Modern).before(Road::Stdio).tools(MANY_TOOLS)
}

/// The setups of the fan-out: calls go round the servers.
fn fan_out() -> impl Iterator<Item = Setup> {
    FAN_OUT.into_iter().map(|servers| Setup::echo(Server, Road::Stdio).era(Modern).before_servers(servers))
}

/// A decision of a policy.
pub(super) fn decision() -> Setup {
    Setup::echo(Inside, Road::Stdio).by(Gateway).form(Policy)
}

/// G1 to G7.
pub(super) fn all() -> Vec<Target> {
    let mut targets = added_cpu();
    targets.extend(added_latency());
    let costs: Vec<Quantity> = fan_out().map(|setup| Quantity::Instructions(setup.by(Gateway))).collect();
    let growth = most(1.1, "last ÷ first", Measure::Growth(costs.clone()));
    targets.push(target("G4.growth", "instructions per call, 1 to 200 servers", growth, None));
    let spread = most(1.1, "most ÷ least", Measure::Spread(costs));
    targets.push(target("G4.spread", "instructions per call, 1 to 200 servers", spread, None));
    for road in [Road::Stdio, Road::Http] {
        let limit = most(20_000.0, "µs", Measure::Plain(Quantity::Time(list(road).by(Gateway), P50)));
        let what = format!("list of 10,000 tools, {road}, all pages");
        targets.push(target(&format!("G5.{road}"), &what, limit, None));
    }
    let filtered = Quantity::Time(list(Road::Http).by(Gateway).form(Policy), P50);
    let limit = most(20_000.0, "µs", Measure::Plain(filtered));
    let what = "list of 10,000 tools, HTTP, all pages, each tool decided by 100 rules";
    targets.push(target("G5.policy", what, limit, None));
    let each = |era| Measure::Plain(Quantity::EachSession(connect(era).by(Gateway), connected(era).1));
    targets.push(target("G6.legacy", "memory per idle session", most(20.0, "kB", each(Legacy)), None));
    targets.push(target(
        "G6.modern",
        "memory per client without a session",
        most(0.1, "kB", each(Modern)),
        None,
    ));
    let decide = Measure::Plain(Quantity::Instructions(decision()));
    targets.push(target(
        "G7",
        "decision of a policy of 100 rules",
        most(20_000.0, "instructions", decide),
        None,
    ));
    targets
}

/// G1: CPU time of the proxy, against the cheapest of the others.
fn added_cpu() -> Vec<Target> {
    let mut targets = Vec::new();
    for (name, setup) in [
        ("G1.stdio", echo(Road::Stdio, Road::Stdio, Legacy).pinned()),
        ("G1.http-stdio", echo(Road::Http, Road::Stdio, Legacy).pinned()),
        ("G1.http-http", echo(Road::Http, Road::Http, Legacy).pinned()),
        ("G1.http-stdio.modern", echo(Road::Http, Road::Stdio, Modern).pinned()),
        ("G1.busy", echo(Road::Http, Road::Stdio, Legacy).in_flight(64)),
    ] {
        let rivals = rivals(setup).into_iter().map(|make| Quantity::Time(setup.by(make), Cpu)).collect();
        let measure = Measure::RatioToLeast(Quantity::Time(setup.by(Gateway), Cpu), rivals);
        let what = format!("added CPU per call, {}", setup.title());
        targets.push(target(name, &what, most(0.5, "× best rival", measure), None));
    }
    targets
}

/// G2 and G3: what a call takes longer than without the gateway. Times of the wall are reported.
fn added_latency() -> Vec<Target> {
    let mut targets = Vec::new();
    for era in [Legacy, Modern] {
        let both =
            |setup: Setup| (Quantity::Time(setup.by(Gateway), P50), Quantity::Time(setup.floor(), P50));
        let (own, direct) = both(echo(Road::Stdio, Road::Stdio, era).pinned());
        let limit = most(25.0, "µs", Measure::Difference(own, direct));
        let what = format!("added p50, stdio before stdio, one CPU, {era}");
        targets.push(reported(target(&format!("G2.{era}"), &what, limit, None)));
        let (own, direct) = both(echo(Road::Http, Road::Http, era).pinned());
        let limit = most(1.5, "× direct", Measure::Added(own, direct));
        let what = format!("added p50, HTTP before HTTP, one CPU, {era}");
        targets.push(reported(target(&format!("G3.{era}"), &what, limit, None)));
    }
    targets
}

/// Returns the rows of times.
pub(super) fn timed() -> Vec<Setup> {
    let mut setups = Vec::new();
    for era in [Legacy, Modern] {
        for (road, upstream) in
            [(Road::Stdio, Road::Stdio), (Road::Http, Road::Stdio), (Road::Http, Road::Http)]
        {
            setups.extend(with_rivals(echo(road, upstream, era).pinned()));
        }
        setups.extend(with_rivals(echo(Road::Http, Road::Stdio, era).in_flight(64)));
    }
    setups.extend(with_rivals(echo(Road::Http, Road::Stdio, Legacy).in_flight(32)));
    let busy = echo(Road::Stdio, Road::Stdio, Modern).in_flight(64);
    setups.extend([busy.floor(), busy.by(Gateway), busy.by(Gateway).form(Policy)]);
    for sessions in [SESSIONS.1, SESSIONS.0] {
        setups.extend(
            [Gateway, McpProxy, NodeProxy, FastMcp].map(|make| connect(Legacy).by(make).sessions(sessions)),
        );
    }
    setups.extend([CLIENTS.1, CLIENTS.0].map(|clients| connect(Modern).by(Gateway).sessions(clients)));
    for road in [Road::Stdio, Road::Http] {
        // FastMCP takes ten seconds for one list.
        setups.extend([list(road).floor(), list(road).by(Gateway)]);
    }
    for servers in FAN_OUT {
        let busy = Setup::echo(Server, Road::Http).before_servers(servers).in_flight(32);
        setups.extend([busy.by(Gateway), busy.by(McpProxy)]);
    }
    setups
}

/// Returns the rows that are counted by callgrind.
pub(super) fn counted() -> Vec<Setup> {
    let mut setups: Vec<Setup> = held().into_iter().map(|(_, setup)| setup).collect();
    setups.extend(fan_out().map(|setup| setup.by(Gateway)));
    setups
}

/// Returns the recorded rows by name.
pub(super) fn held() -> Vec<(String, Setup)> {
    let mut setups = Vec::new();
    for era in [Legacy, Modern] {
        setups.push(echo(Road::Stdio, Road::Stdio, era).by(Gateway));
        setups.push(echo(Road::Http, Road::Stdio, era).by(Gateway));
    }
    setups.push(echo(Road::Http, Road::Http, Modern).by(Gateway));
    setups.push(echo(Road::Stdio, Road::Stdio, Modern).by(Gateway).form(Policy));
    setups.push(list(Road::Stdio).by(Gateway).tools(1_000));
    setups.push(decision());
    setups.into_iter().map(|setup| (format!("{setup}"), setup)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rival_is_measured_where_it_can_work() {
        let makes = |setup: Setup| rivals(setup);
        assert_eq!(makes(echo(Road::Stdio, Road::Stdio, Legacy)), [FastMcp]);
        assert_eq!(makes(echo(Road::Http, Road::Stdio, Legacy)), [McpProxy, NodeProxy, FastMcp]);
        assert_eq!(makes(echo(Road::Http, Road::Http, Legacy)), [McpProxy, FastMcp]);
        assert_eq!(makes(echo(Road::Http, Road::Stdio, Modern)), [NodeProxy, FastMcp]);
    }

    #[test]
    fn recorded_rows_have_names_of_their_own() {
        let names: std::collections::HashSet<String> = held().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), held().len());
    }
}
