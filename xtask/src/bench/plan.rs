//! Plan of a run: everything its targets need, and in a full run the rows that no target needs.

use super::args::{BenchArgs, PeerSdk};
use super::gateway_targets;
use super::growth;
use super::host::HostFigure;
use super::setup::Era::{Legacy, Modern};
use super::setup::Form::{Json, Kept, Pair, Pipes, Pool};
use super::setup::Side::{Client, Inside, Server};
use super::setup::{Make, Road, Setup, Threads, Work};
use super::target::{Quantity, Target};
use super::targets;

/// The measurements of a run, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) targets: Vec<Target>,
    /// Time measurements for the table.
    pub(super) timed: Vec<Setup>,
    /// Time measurements for memory growth.
    pub(super) grown: Vec<Setup>,
    /// Measurements with callgrind.
    pub(super) counted: Vec<Setup>,
    pub(super) sizes: Vec<Make>,
    pub(super) builds: Vec<Make>,
    pub(super) checks: Vec<Make>,
    /// Measurements of the host programs.
    pub(super) hosted: Vec<HostFigure>,
}

impl Plan {
    /// Returns the plan of the gateway, against the proxies of others.
    pub(super) fn gateway(wanted: &BenchArgs) -> Self {
        let mut plan = Self { targets: gateway_targets::all(), ..Self::default() };
        plan.targets.retain(|target| wanted.names(&target.name));
        let quantities: Vec<Quantity> = plan.targets.iter().flat_map(Target::quantities).collect();
        quantities.into_iter().for_each(|quantity| plan.need(quantity));
        if !wanted.quick {
            plan.timed
                .extend(gateway_targets::timed().into_iter().filter(|row| wanted.names(&row.to_string())));
            plan.counted
                .extend(gateway_targets::counted().into_iter().filter(|row| wanted.names(&row.to_string())));
        }
        once(&mut plan.timed);
        once(&mut plan.counted);
        plan
    }

    pub(super) fn new(wanted: &BenchArgs) -> Self {
        let mut plan = Self { targets: targets::all(wanted.quick, wanted.build), ..Self::default() };
        plan.targets.retain(|target| wanted.names(&target.name));
        let quantities: Vec<Quantity> = plan.targets.iter().flat_map(Target::quantities).collect();
        quantities.into_iter().for_each(|quantity| plan.need(quantity));
        // Every comparison includes the floor.
        let floors: Vec<Setup> = plan.timed.iter().map(|setup| setup.group()).collect();
        plan.timed.extend(floors);
        let compared = plan.counted.iter().filter(|setup| setup.make == Make::Rmcp);
        let floors: Vec<Setup> = compared.map(|setup| setup.group()).collect();
        plan.counted.extend(floors);
        if !wanted.quick {
            plan.timed.extend(more_timed().into_iter().filter(|setup| wanted.names(&setup.to_string())));
            plan.counted.extend(more_counted().into_iter().filter(|setup| wanted.names(&setup.to_string())));
            if wanted.only.is_none() {
                plan.sizes.push(Make::Rmcp);
            }
        }
        for axis in growth::AXES {
            let prefix = format!("P18.{}.", axis.name);
            if plan.targets.iter().any(|target| target.name.starts_with(&prefix)) {
                plan.grown.extend(axis.resident(wanted.quick));
            }
        }
        plan.compare_with(&wanted.against);
        once(&mut plan.timed);
        once(&mut plan.counted);
        once(&mut plan.grown);
        once(&mut plan.sizes);
        once(&mut plan.builds);
        once(&mut plan.checks);
        once(&mut plan.hosted);
        plan
    }

    fn need(&mut self, quantity: Quantity) {
        match quantity {
            Quantity::Time(setup, _) => self.timed.push(setup),
            Quantity::EachSession(setup, first) => self.timed.extend([setup.sessions(first), setup]),
            Quantity::Instructions(setup) | Quantity::Allocations(setup) | Quantity::Guards(setup) => {
                self.counted.push(setup);
            }
            Quantity::Size(make) => self.sizes.push(make),
            Quantity::Host(figure) => self.hosted.push(figure),
            Quantity::Build(make) => self.builds.push(make),
            Quantity::Check(make) => self.checks.push(make),
        }
    }

    /// Adds the SDKs in other languages to every group of the table.
    fn compare_with(&mut self, peers: &[PeerSdk]) {
        let mut groups: Vec<Setup> = self.timed.iter().map(|setup| setup.group()).collect();
        once(&mut groups);
        for peer in peers {
            let make = match peer {
                PeerSdk::TypeScript => Make::TypeScript,
                PeerSdk::Python => Make::Python,
            };
            // Ten thousand tools are more than they list in the time of a run.
            self.timed.extend(groups.iter().filter(|group| group.tools <= 1_000).map(|group| group.by(make)));
        }
    }

    /// Returns whether proxies of others have to be installed.
    pub(super) fn has_rivals(&self) -> bool {
        let is_rival = |make| matches!(make, Make::McpProxy | Make::NodeProxy | Make::FastMcp);
        self.timed.iter().any(|setup| is_rival(setup.make))
    }

    /// Returns the implementations to build.
    pub(super) fn makes(&self) -> Vec<Make> {
        let used = |make: Make| self.timed.iter().chain(&self.counted).any(|setup| setup.make == make);
        let mut makes = vec![Make::Floor];
        let (tokens, hosts): (Vec<HostFigure>, Vec<HostFigure>) =
            self.hosted.iter().partition(|figure| figure.is_about_tokens());
        if used(Make::Switchboard) || !hosts.is_empty() {
            makes.push(Make::Switchboard);
        }
        if used(Make::Host) || !hosts.is_empty() {
            makes.push(Make::Host);
        }
        if used(Make::Service) {
            makes.push(Make::Service);
        }
        if used(Make::Auth) || !tokens.is_empty() {
            makes.push(Make::Auth);
        }
        if used(Make::Gateway) {
            makes.push(Make::Gateway);
        }
        if used(Make::Rmcp) {
            makes.push(Make::Rmcp);
        }
        makes
    }
}

fn once<T: Copy + PartialEq>(things: &mut Vec<T>) {
    let mut seen = Vec::new();
    things.retain(|thing| {
        let new = !seen.contains(thing);
        seen.push(*thing);
        new
    });
}

fn by_all(setup: Setup) -> [Setup; 3] {
    [setup.floor(), setup.switchboard(), setup.rmcp()]
}

/// A server over stdio, with both APIs of rmcp.
fn by_all_servers(setup: Setup) -> [Setup; 4] {
    [setup.floor(), setup.switchboard(), setup.rmcp().form(Pipes), setup.rmcp()]
}

fn more_timed() -> Vec<Setup> {
    let stdio = |side| Setup::echo(side, Road::Stdio);
    let mut setups = Vec::new();
    for era in [Legacy, Modern] {
        for threads in [Threads::One, Threads::Many] {
            let pinned = |side| stdio(side).era(era).threads(threads).pinned();
            setups.extend(by_all(pinned(Client)));
            setups.extend(by_all_servers(pinned(Server)));
        }
        // Two cores, one call at a time: mostly waking each other.
        setups.extend(by_all(stdio(Client).era(era).threads(Threads::Many)));
        setups.extend(by_all_servers(stdio(Server).era(era).threads(Threads::Many)));
        for threads in [Threads::One, Threads::Many] {
            let busy = |side| stdio(side).era(era).threads(threads).in_flight(64);
            setups.extend(by_all(busy(Client)));
            setups.extend(by_all_servers(busy(Server)));
        }
        for in_flight in [1, 64] {
            let http =
                |side| Setup::echo(side, Road::Http).era(era).in_flight(in_flight).threads(Threads::Many);
            setups.extend(by_all(http(Server)));
            setups.extend([http(Server).switchboard().form(Json), http(Server).rmcp().form(Json)]);
            setups.extend(by_all(http(Client)));
            setups.push(http(Client).rmcp().form(Pool));
        }
    }
    for tools in [1_000, 10_000] {
        let list = |side| Setup::new(side, Road::Stdio, Work::List).tools(tools);
        setups.extend(by_all(list(Client)));
        setups.extend(by_all_servers(list(Server)));
    }
    for servers in [1, 50] {
        setups.extend(by_all(Setup::new(Client, Road::Stdio, Work::Connect).sessions(servers)));
    }
    setups
}

fn more_counted() -> Vec<Setup> {
    let mut setups = Vec::new();
    for era in [Legacy, Modern] {
        for in_flight in [1, 64] {
            let stdio = |side| Setup::echo(side, Road::Stdio).era(era).in_flight(in_flight);
            setups.extend(by_all(stdio(Client)));
            setups.extend(by_all_servers(stdio(Server)));
        }
        let http = |side| Setup::echo(side, Road::Http).era(era);
        setups.extend([http(Server).floor(), http(Server).switchboard(), http(Server).rmcp()]);
        setups.extend([http(Server).switchboard().form(Json), http(Server).rmcp().form(Json)]);
        setups.extend(by_all(http(Client)));
        setups.push(http(Client).rmcp().form(Pool));
        for tools in [3, 50] {
            let inside = Setup::echo(Inside, Road::Stdio).era(era).tools(tools);
            setups.extend([inside.switchboard(), inside.switchboard().form(Pair)]);
            setups.extend([inside.rmcp().form(Kept), inside.rmcp()]);
        }
    }
    for work in [Work::Big, Work::List] {
        let tools = if work == Work::List { 1_000 } else { 3 };
        setups.extend(by_all(Setup::new(Client, Road::Stdio, work).tools(tools)));
        let server = Setup::new(Server, Road::Stdio, work).tools(tools);
        setups.extend([server.floor(), server.switchboard(), server.rmcp().form(Pipes)]);
    }
    setups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str) -> BenchArgs {
        BenchArgs::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn everything_is_measured_once() {
        for line in ["", "--quick", "--against ts,python"] {
            let plan = Plan::new(&wanted(line));
            for setups in [&plan.timed, &plan.counted, &plan.grown] {
                let mut unique = setups.clone();
                once(&mut unique);
                assert_eq!(&unique, setups, "{line}");
            }
        }
    }

    #[test]
    fn a_name_leaves_out_what_it_does_not_need() {
        let plan = Plan::new(&wanted("--only P4*"));
        assert_eq!(plan.targets.len(), 2);
        assert!(plan.counted.is_empty() && plan.grown.is_empty());
        assert_eq!(plan.timed.len(), 6);
        let plan = Plan::new(&wanted("--only P16* --quick"));
        assert_eq!((plan.counted.len(), plan.timed.len()), (4, 0));
        assert_eq!(plan.makes(), [Make::Floor, Make::Switchboard]);
    }

    #[test]
    fn targets_about_tokens_need_their_own_programs_only() {
        let plan = Plan::new(&wanted("--only A* --quick"));
        assert_eq!((plan.targets.len(), plan.counted.len(), plan.hosted.len()), (4, 4, 3));
        assert_eq!(plan.makes(), [Make::Floor, Make::Auth]);
    }

    #[test]
    fn the_other_languages_join_the_groups() {
        let plan = Plan::new(&wanted("--only P4.client --against python"));
        let makes: Vec<Make> = plan.timed.iter().map(|setup| setup.make).collect();
        assert_eq!(makes, [Make::Switchboard, Make::Rmcp, Make::Floor, Make::Python]);
    }
}
