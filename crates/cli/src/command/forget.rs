//! `switchboard forget`: revokes approvals and remembered answers about a server or a tool.

use std::path::Path;

use serde_json::json;
use switchboard::host::config::{Approval, Approvals, Scope};
use switchboard::host::permission::{KnownServer, Ledger};

use crate::args::ForgetArgs;
use crate::configured_servers::{ConfigFiles, pins, split_server};
use crate::error::CommandError;
use crate::gateway::{GatewaySettings, PinnedDefinitions};
use crate::output::{OutputStream, encode, print_json};
use crate::sanitize::one_line;

pub(crate) fn run(args: &ForgetArgs) -> Result<(), CommandError> {
    if let Some(config) = &args.config {
        return forget_of_gateway(args, config);
    }
    let files = ConfigFiles::read()?;
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    let (name, tool) = match (files.resolved.server(&args.name), split_server(names, &args.name)) {
        (None, Some((server, tool))) => (server, Some(tool)),
        _ => (args.name.as_str(), None),
    };
    let server = files.server(name)?;
    let mut is_forgotten = pins::open(&files.locations)?.forget(name, tool)?;
    if let Some(known) = KnownServer::from_configured(server) {
        is_forgotten |= Ledger::open(&files.locations.permissions)?.forget(known.identity, tool)?;
    }
    if tool.is_none() && server.scope == Scope::Project {
        is_forgotten |= server.approval == Some(Approval::Approved);
        Approvals::open(&files.locations.approvals)?.revoke(&files.locations.project, name)?;
    }
    let shown = one_line(&args.name);
    if !is_forgotten {
        return Err(CommandError::other(
            "nothing_remembered",
            format!("nothing is remembered about {shown}"),
        )
        .hint("`switchboard tools` lists all tools"));
    }
    let what = match (tool, server.scope) {
        (Some(_), _) => "its current definition is accepted, and calls are asked about again",
        (None, Scope::Project) => {
            "it needs approval before it starts, and the definitions of its tools at that time are accepted"
        }
        (None, _) => "the current definitions of its tools are accepted, and calls are asked about again",
    };
    if args.json {
        let forgotten =
            json!({ "name": name, "tool": tool, "scope": server.scope.as_str(), "forgotten": true });
        return print_json(&OutputStream::stdout(), &encode(&forgotten)?);
    }
    Ok(OutputStream::stdout().print(&format!("forgot {shown}: {what}\n"))?)
}

/// Accepts the current definitions of a server, or of one tool, of a gateway with servers of its own.
fn forget_of_gateway(args: &ForgetArgs, config: &Path) -> Result<(), CommandError> {
    let settings = GatewaySettings::load_file(config)?;
    let names = settings.servers.servers.iter().map(|server| server.name.as_str());
    let (server, tool) = match split_server(names, &args.name) {
        Some((server, tool)) => (server, Some(tool)),
        None => (args.name.as_str(), None),
    };
    let shown = one_line(&args.name);
    if !PinnedDefinitions::open(&settings)?.forget(server, tool)? {
        return Err(CommandError::other("nothing_remembered", format!("nothing is pinned of {shown}")));
    }
    if args.json {
        let forgotten = json!({ "name": server, "tool": tool, "forgotten": true });
        return print_json(&OutputStream::stdout(), &encode(&forgotten)?);
    }
    Ok(OutputStream::stdout().print(&format!("forgot {shown}: the gateway accepts what it lists now\n"))?)
}
