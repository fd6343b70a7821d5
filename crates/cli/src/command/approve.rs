//! `switchboard approve`: what a project's server would run, shown before it may.

use serde_json::{Value, json};
use switchboard::host::config::{Approval, Approvals, ConfiguredServer, ServerConfig};
use switchboard_terminal::confirm;

use crate::args::ApproveArgs;
use crate::ask::Keyboard;
use crate::command::tools::encode;
use crate::configured::{Files, consent, quoted};
use crate::failure::{Failure, Status};
use crate::output::{Paper, Screen, show_json};
use crate::sanitize::one_line;

pub(crate) async fn run(args: &ApproveArgs) -> Result<(), Failure> {
    let (files, screen, paper) = (Files::read()?, Screen::read_as(args.json), Paper::stdout());
    let mut told: Vec<Value> = Vec::new();
    let waiting =
        |server: &&ConfiguredServer| matches!(server.approval, Some(Approval::New | Approval::Changed(_)));
    let wanted: Vec<&ConfiguredServer> = match &args.name {
        Some(name) => vec![files.server(name)?],
        None => files.resolved.servers.iter().filter(waiting).collect(),
    };
    if wanted.is_empty() && !args.json {
        screen.say("no server of this project waits for approval");
        return Ok(());
    }
    let keyboard = Keyboard::default();
    let mut approvals = Approvals::open(&files.at.approvals)?;
    for server in wanted {
        let name = one_line(&server.name);
        let Some(entry) = &server.entry else {
            return Err(server
                .plan
                .clone()
                .err()
                .map_or_else(|| Failure::usage("it cannot be read"), Into::into));
        };
        if !waiting(&server) && args.json {
            told.push(described(server, entry, true));
            continue;
        }
        if !waiting(&server) {
            screen.say(&match server.approval {
                Some(_) => format!("{name} is approved already"),
                None => format!("{name} needs no approval: it is of the scope {}", server.scope),
            });
            continue;
        }
        match args.json {
            // Standard output is for a program then.
            true => screen.write(&shown(server, entry, &screen.paper)?),
            false => paper.print(&shown(server, entry, &paper)?)?,
        }
        // A list without a name is there to be looked at, unless somebody can be asked.
        let is_chosen = args.name.is_some() || args.all;
        let agreed = match args.yes && is_chosen {
            true => Some(true),
            false => {
                confirm(&screen, &keyboard, &format!("May {} be started?", screen.paper.bold(&name))).await
            }
        };
        match agreed {
            Some(true) if args.json => {
                approvals.approve(&files.at.project, &server.name, entry)?;
                told.push(described(server, entry, true));
            }
            Some(false) | None if args.json && (agreed.is_some() || !is_chosen) => {
                told.push(described(server, entry, false));
            }
            Some(true) => {
                approvals.approve(&files.at.project, &server.name, entry)?;
                paper.print(&format!("approved {name}\n"))?;
            }
            Some(false) => screen.say(&format!("{name} stays as it is: not started")),
            None if is_chosen => {
                return Err(Failure::new(Status::Other, "not_approved", "no terminal to ask at")
                    .hint("look at what it would run, then give --yes"));
            }
            None => screen.say(&format!("to approve it: switchboard approve {} --yes", quoted(&name))),
        }
    }
    if args.json {
        show_json(&paper, &encode(&told)?)?;
    }
    Ok(())
}

/// A server for programs, secrets masked.
fn described(server: &ConfiguredServer, entry: &ServerConfig, is_approved: bool) -> Value {
    json!({ "name": server.name, "scope": server.scope.as_str(), "approved": is_approved, "config": entry.masked() })
}

/// Exactly what would run, or what changed about it.
fn shown(server: &ConfiguredServer, entry: &ServerConfig, paper: &Paper) -> Result<String, Failure> {
    let name = paper.bold(&one_line(&server.name));
    let (title, before) = match &server.approval {
        Some(Approval::Changed(before)) => {
            (format!("{name} has changed since you approved it (- before, + now):"), Some(&before.consent))
        }
        _ => (format!("{name} is new, and would run or reach:"), None),
    };
    Ok(format!("\n{title}\n{}", consent(entry, server.scope, before, paper)?))
}
