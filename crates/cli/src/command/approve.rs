//! `switchboard approve`: shows what a project's servers would run, and approves them.

use serde_json::{Value, json};
use switchboard::host::config::{Approval, Approvals, ConfiguredServer, ServerConfig};
use switchboard_terminal::confirm;

use crate::args::ApproveArgs;
use crate::configured_servers::{ConfigFiles, render_consent};
use crate::elicitation::StdinLines;
use crate::error::CommandError;
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

pub(crate) async fn run(args: &ApproveArgs) -> Result<(), CommandError> {
    let (files, screen, out) =
        (ConfigFiles::read()?, Screen::with_json_warnings(args.json), OutputStream::stdout());
    let mut results: Vec<Value> = Vec::new();
    let needs_approval =
        |server: &&ConfiguredServer| matches!(server.approval, Some(Approval::New | Approval::Changed(_)));
    let servers: Vec<&ConfiguredServer> = match &args.name {
        Some(name) => vec![files.server(name)?],
        None => files.resolved.servers.iter().filter(needs_approval).collect(),
    };
    if servers.is_empty() && !args.json {
        screen.say("no server of this project needs approval");
        return Ok(());
    }
    let stdin = StdinLines::default();
    let mut approvals = Approvals::open(&files.locations.approvals)?;
    for server in servers {
        let name = one_line(&server.name);
        let Some(entry) = &server.entry else {
            return Err(server
                .plan
                .clone()
                .err()
                .map_or_else(|| CommandError::usage("the entry cannot be read"), Into::into));
        };
        if !needs_approval(&server) && args.json {
            results.push(server_json(server, entry, true));
            continue;
        }
        if !needs_approval(&server) {
            screen.say(&match server.approval {
                Some(_) => format!("{name} is approved already"),
                None => format!("{name} needs no approval: its scope is {}", server.scope),
            });
            continue;
        }
        match args.json {
            // Standard output is reserved for JSON.
            true => screen.write(&render_server(server, entry, &screen.out)?),
            false => out.print(&render_server(server, entry, &out)?)?,
        }
        // Without a name the servers are only shown, unless the user can be asked.
        let is_chosen = args.name.is_some() || args.all;
        let answer = match args.yes && is_chosen {
            true => Some(true),
            false => confirm(&screen, &stdin, &format!("May {} be started?", screen.out.bold(&name))).await,
        };
        match answer {
            Some(true) if args.json => {
                approvals.approve(&files.locations.project, &server.name, entry)?;
                results.push(server_json(server, entry, true));
            }
            Some(false) | None if args.json && (answer.is_some() || !is_chosen) => {
                results.push(server_json(server, entry, false));
            }
            Some(true) => {
                approvals.approve(&files.locations.project, &server.name, entry)?;
                out.print(&format!("approved {name}\n"))?;
            }
            Some(false) => screen.say(&format!("{name} is not approved")),
            None if is_chosen => {
                return Err(CommandError::other("not_approved", "no terminal to ask at")
                    .hint("review what it would run, then pass --yes"));
            }
            None => screen.say(&format!("to approve it: switchboard approve {} --yes", shell_quote(&name))),
        }
    }
    if args.json {
        print_json(&out, &encode(&results)?)?;
    }
    Ok(())
}

/// Returns a server as JSON, secrets masked.
fn server_json(server: &ConfiguredServer, entry: &ServerConfig, is_approved: bool) -> Value {
    json!({ "name": server.name, "scope": server.scope.as_str(), "approved": is_approved, "config": entry.masked() })
}

/// Renders exactly what would run, or the changes since the approval.
fn render_server(
    server: &ConfiguredServer,
    entry: &ServerConfig,
    out: &OutputStream,
) -> Result<String, CommandError> {
    let name = out.bold(&one_line(&server.name));
    let (title, before) = match &server.approval {
        Some(Approval::Changed(before)) => {
            (format!("{name} has changed since you approved it (- before, + now):"), Some(&before.consent))
        }
        _ => (format!("{name} is new, and would run or connect to:"), None),
    };
    Ok(format!("\n{title}\n{}", render_consent(entry, server.scope, before, out)?))
}
