//! The official conformance suite, run against the everything-server, the same written as a service, and the
//! everything-client, and counted strictly; also through a gateway in front of the services, which run tasks, too.
//!
//! The suite passes a scenario without failed checks. Here it also needs at least one successful check, no warning, and
//! a client that exits successfully. Exceptions are listed in `conformance/not-built.txt`, and the totals that complete runs must
//! have in `conformance/totals.txt`.

mod checks;
mod exceptions;
mod expected_totals;
mod judge;
mod leg;
mod listing;
mod server;
mod suite;
mod tally;

use std::fmt;
use std::path::PathBuf;

use crate::command::{self, TaskError};
use crate::conformance::exceptions::Exceptions;
use crate::conformance::expected_totals::ExpectedTotals;
use crate::conformance::leg::SuiteRun;
use crate::conformance::listing::{OLDER, SETS};
use crate::conformance::server::Server;
use crate::conformance::suite::Suite;
use crate::conformance::tally::Tally;
use crate::project::Project;

/// Tested side of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Client,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

impl Role {
    fn parse(name: &str) -> Option<Self> {
        [Self::Server, Self::Client].into_iter().find(|role| role.to_string() == name)
    }
}

/// The default roles.
const ROLES: &[Role] = &[Role::Server, Role::Client];

/// Arguments of `cargo xtask conformance`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ConformanceArgs {
    role: Option<Role>,
    revision: Option<String>,
    scenario: Option<String>,
    older: bool,
    through_gateway: bool,
}

impl ConformanceArgs {
    /// Returns arguments that select everything.
    pub(crate) fn everything() -> Self {
        Self { older: true, through_gateway: true, ..Self::default() }
    }

    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or(format!("`{word}` wants a value"));
            match word.as_str() {
                "--all" => wanted.older = true,
                "--through-gateway" => wanted.through_gateway = true,
                "--role" => {
                    let name = value()?;
                    let role = Role::parse(&name).ok_or(format!("there is no role `{name}`"))?;
                    wanted.role = Some(role);
                }
                "--revision" => {
                    let name = value()?;
                    if !SETS.iter().chain(OLDER).any(|known| *known == name) {
                        return Err(format!("the suite has no scenarios for `{name}`"));
                    }
                    wanted.revision = Some(name);
                }
                "--scenario" => wanted.scenario = Some(value()?),
                other => return Err(format!("`conformance` takes no `{other}`")),
            }
        }
        Ok(wanted)
    }

    fn roles(&self) -> &[Role] {
        // By itself the option runs nothing else.
        if self.through_gateway && !self.older {
            return &[];
        }
        self.role.as_ref().map_or(ROLES, std::slice::from_ref)
    }

    fn revisions(&self) -> Vec<&str> {
        let older: &[&str] = if self.older { OLDER } else { &[] };
        match &self.revision {
            Some(revision) => vec![revision],
            None => SETS.iter().chain(older).copied().collect(),
        }
    }
}

/// Returns the tested programs of a role.
fn programs(role: Role) -> &'static [&'static str] {
    match role {
        Role::Server => &["everything-server", "everything-service"],
        Role::Client => &["everything-client"],
    }
}

/// The gateways: their names, and the era in which they speak to the everything-service.
const GATEWAYS: [(&str, &str); 2] = [("gateway-modern", "modern"), ("gateway-legacy", "legacy")];

/// Runs the suite and prints failures and totals.
pub(crate) fn run(project: &Project, wanted: &ConformanceArgs) -> Result<(), TaskError> {
    let suite = Suite::install(project)?;
    command::run(project.cargo().args(["build", "--package", "conformance", "--bins"]))?;
    let listing = suite.listing()?;
    let exceptions = Exceptions::read(&project.path("conformance/not-built.txt"))?;
    exceptions.check_against(&listing)?;
    let expected = ExpectedTotals::read(&project.path("conformance/totals.txt"))?;
    let mut tally = Tally::default();
    if wanted.through_gateway {
        for (name, era) in GATEWAYS {
            let upstream = Server::start(&binary(project, "everything-service"))?;
            let arguments = ["--upstream", upstream.url(), "--era", era];
            let gateway = Server::start_with(&binary(project, "everything-gateway"), &arguments)?;
            let revisions = wanted.revisions().into_iter().filter(|revision| SETS.contains(revision));
            for revision in revisions {
                let leg = SuiteRun::new(Role::Server, name, revision, wanted.scenario.as_deref());
                let scenarios = leg.scenarios(&listing);
                if !scenarios.is_empty() {
                    tally.add(&leg, &scenarios, &suite.run(&leg, gateway.url())?, &exceptions);
                }
            }
        }
    }
    for role in wanted.roles().iter().copied() {
        for name in programs(role) {
            let program = binary(project, name);
            let server = match role {
                Role::Server => Some(Server::start(&program)?),
                Role::Client => None,
            };
            for revision in wanted.revisions() {
                let leg = SuiteRun::new(role, name, revision, wanted.scenario.as_deref());
                let scenarios = leg.scenarios(&listing);
                if scenarios.is_empty() {
                    continue;
                }
                let target = match &server {
                    Some(server) => server.url(),
                    None => program.to_str().unwrap_or_default(),
                };
                let run = suite.run(&leg, target)?;
                tally.add(&leg, &scenarios, &run, &exceptions);
            }
        }
    }
    tally.finish(&expected, *wanted == ConformanceArgs::everything())
}

fn binary(project: &Project, name: &str) -> PathBuf {
    project.target.join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ConformanceArgs, String> {
        ConformanceArgs::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_in_any_order() {
        let wanted = ConformanceArgs {
            role: Some(Role::Client),
            revision: Some("2025-11-25".into()),
            scenario: Some("tools_call".into()),
            older: false,
            through_gateway: false,
        };
        assert_eq!(parse("--revision 2025-11-25 --scenario tools_call --role client"), Ok(wanted));
        assert_eq!(parse("--all --through-gateway"), Ok(ConformanceArgs::everything()));
        assert_eq!(parse("--through-gateway").unwrap().roles(), [] as [Role; 0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse("--role"), Err("`--role` wants a value".into()));
        assert_eq!(parse("--role host"), Err("there is no role `host`".into()));
        assert_eq!(parse("--revision 2024-11-05"), Err("the suite has no scenarios for `2024-11-05`".into()));
        assert_eq!(parse("-x"), Err("`conformance` takes no `-x`".into()));
    }
}
