//! Setup of a measurement: everything a run depends on.
//!
//! The terms are those of `benches/README.md`. Setups that differ only in make and form belong to one group, and
//! are measured back to back.

use std::fmt;

use super::json::Json;

/// Implementation under test, in the order of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Make {
    Floor,
    Switchboard,
    /// Switchboard, through a host.
    Host,
    /// Switchboard, with a service as its server.
    Service,
    /// Switchboard, as a server that may verify tokens.
    Auth,
    /// Switchboard, as a gateway.
    Gateway,
    Rmcp,
    TypeScript,
    Python,
    /// The crate `mcp-proxy`.
    McpProxy,
    /// The npm package `mcp-proxy`.
    NodeProxy,
    FastMcp,
}

/// The measured side; the other one is the floor's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Client,
    Server,
    /// Both in one process.
    Inside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Road {
    Stdio,
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {
    Echo,
    Big,
    List,
    Connect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Default,
    Pipes,
    Json,
    Pool,
    Wide,
    Pair,
    Kept,
    Initialize,
    /// Every request has a token, which the server verifies.
    Protected,
    /// Every call is decided by a policy of a hundred rules.
    Policy,
}

/// The servers behind a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Upstream {
    pub(super) road: Road,
    pub(super) servers: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Threads {
    One,
    Many,
}

/// Default number of tools of a server.
pub(super) const FEWEST_TOOLS: u32 = 3;

/// Everything a run depends on except the number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Setup {
    pub(super) make: Make,
    pub(super) form: Form,
    pub(super) side: Side,
    pub(super) road: Road,
    pub(super) era: Era,
    pub(super) work: Work,
    pub(super) threads: Threads,
    pub(super) in_flight: u32,
    pub(super) tools: u32,
    pub(super) sessions: u32,
    /// Both processes on one CPU, for the most repeatable times.
    pub(super) pinned: bool,
    /// What is measured is a proxy in front of these; for the floor, one of them without a proxy.
    pub(super) upstream: Option<Upstream>,
}

impl Setup {
    /// Creates the default setup: sequential, legacy, one thread, by the floor.
    pub(super) const fn new(side: Side, road: Road, work: Work) -> Self {
        Self {
            make: Make::Floor,
            form: Form::Default,
            side,
            road,
            era: Era::Legacy,
            work,
            threads: Threads::One,
            in_flight: 1,
            tools: FEWEST_TOOLS,
            sessions: 1,
            pinned: false,
            upstream: None,
        }
    }

    /// A call with 100 bytes.
    pub(super) const fn echo(side: Side, road: Road) -> Self {
        Self::new(side, road, Work::Echo)
    }

    pub(super) const fn by(self, make: Make) -> Self {
        Self { make, ..self }
    }

    pub(super) const fn form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    pub(super) const fn era(self, era: Era) -> Self {
        Self { era, ..self }
    }

    pub(super) const fn threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    pub(super) const fn in_flight(self, in_flight: u32) -> Self {
        Self { in_flight, ..self }
    }

    pub(super) const fn tools(self, tools: u32) -> Self {
        Self { tools, ..self }
    }

    pub(super) const fn sessions(self, sessions: u32) -> Self {
        Self { sessions, ..self }
    }

    pub(super) const fn pinned(self) -> Self {
        Self { pinned: true, ..self }
    }

    /// With a proxy in front of one server.
    pub(super) const fn before(self, road: Road) -> Self {
        Self { upstream: Some(Upstream { road, servers: 1 }), ..self }
    }

    /// With a proxy in front of so many servers over stdio.
    pub(super) const fn before_servers(self, servers: u32) -> Self {
        Self { upstream: Some(Upstream { road: Road::Stdio, servers }), ..self }
    }

    pub(super) const fn floor(self) -> Self {
        self.by(Make::Floor)
    }

    pub(super) const fn switchboard(self) -> Self {
        self.by(Make::Switchboard)
    }

    pub(super) const fn rmcp(self) -> Self {
        self.by(Make::Rmcp)
    }

    /// Returns the setup without its make and form, which identifies its group.
    pub(super) const fn group(self) -> Self {
        self.by(Make::Floor).form(Form::Default)
    }

    /// Returns the title of the group.
    pub(super) fn title(&self) -> String {
        let Self { side, road, era, work, .. } = self;
        let mut title = format!("{road} {side}, {era}, {work}");
        if *side == Side::Inside {
            title = format!("{side}, {era}, {work}");
        }
        let mut add = |text: String| {
            title.push_str(", ");
            title.push_str(&text);
        };
        match self.upstream {
            None => {}
            Some(Upstream { road, servers: 1 }) => add(format!("before {road}")),
            Some(Upstream { servers, .. }) => add(format!("before {} servers", grouped(servers))),
        }
        if self.in_flight > 1 {
            add(format!("{} in flight", self.in_flight));
        }
        if self.tools != FEWEST_TOOLS {
            add(format!("{} tools", grouped(self.tools)));
        }
        if self.sessions > 1 || self.work == Work::Connect {
            let what = match (self.road, self.sessions) {
                (Road::Stdio, 1) => "server",
                (Road::Stdio, _) => "servers",
                (Road::Http, _) => "sessions",
            };
            add(format!("{} {what}", grouped(self.sessions)));
        }
        if self.threads == Threads::Many {
            add("multi-thread".into());
        }
        if self.pinned {
            add("one CPU".into());
        }
        title
    }

    /// Returns the members as JSON.
    pub(super) fn json(&self) -> Vec<(String, Json)> {
        let members: [(&str, Json); 13] = [
            ("make", self.make.word().into()),
            ("form", self.form.word().into()),
            ("side", self.side.word().into()),
            ("road", self.road.word().into()),
            ("era", self.era.word().into()),
            ("work", self.work.word().into()),
            ("threads", self.threads.word().into()),
            ("in_flight", self.in_flight.into()),
            ("tools", self.tools.into()),
            ("sessions", self.sessions.into()),
            ("pinned", self.pinned.into()),
            ("upstream", self.upstream.map_or("", |upstream| upstream.road.word()).into()),
            ("upstreams", self.upstream.map_or(0, |upstream| upstream.servers).into()),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the make, with its form if it is not the default.
    pub(super) fn who(&self) -> String {
        match self.form {
            Form::Default => self.make.to_string(),
            form => format!("{} {form}", self.make),
        }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.title(), self.who())
    }
}

/// Returns the term for the command line and for reports.
macro_rules! words {
    ($($type:ident { $($variant:ident => $word:literal),* $(,)? })*) => {$(
        impl $type {
            pub(super) fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )*};
}

words! {
    Make { Floor => "floor", Switchboard => "switchboard", Host => "host", Service => "service", Auth => "auth", Gateway => "gateway", Rmcp => "rmcp", TypeScript => "ts", Python => "python", McpProxy => "mcp-proxy (crate)", NodeProxy => "mcp-proxy (npm)", FastMcp => "FastMCP" }
    Side { Client => "client", Server => "server", Inside => "inside" }
    Road { Stdio => "stdio", Http => "HTTP" }
    Era { Legacy => "legacy", Modern => "modern" }
    Work { Echo => "echo", Big => "big", List => "list", Connect => "connect" }
    Form {
        Default => "default",
        Pipes => "pipes",
        Json => "json",
        Pool => "pool",
        Wide => "wide",
        Pair => "pair",
        Kept => "kept",
        Initialize => "initialize",
        Protected => "protected",
        Policy => "policy",
    }
    Threads { One => "one", Many => "many" }
}

/// Formats a number with thousands separators.
pub(super) fn grouped(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_named_by_what_is_not_usual() {
        let setup = Setup::echo(Side::Client, Road::Stdio).rmcp();
        assert_eq!(setup.to_string(), "stdio client, legacy, echo, rmcp");
        let setup = Setup::echo(Side::Server, Road::Http).era(Era::Modern).in_flight(64).rmcp();
        let setup = setup.form(Form::Json).threads(Threads::Many).tools(10_000).sessions(2);
        assert_eq!(
            setup.to_string(),
            "HTTP server, modern, echo, 64 in flight, 10,000 tools, 2 sessions, multi-thread, rmcp json"
        );
        assert_eq!(setup.group(), setup.switchboard().form(Form::Default).group());
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(7_u32), "7");
        assert_eq!(grouped(1_000_u32), "1,000");
        assert_eq!(grouped(1_234_567_u32), "1,234,567");
    }
}
