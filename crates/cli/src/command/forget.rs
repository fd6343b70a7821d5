//! `switchboard forget`: revokes approvals and remembered answers about a server or a tool.

use serde_json::json;
use switchboard::host::config::{Approval, Approvals, Scope};
use switchboard::host::permission::{KnownServer, Ledger};

use crate::args::ForgetArgs;
use crate::configured_servers::{ConfigFiles, pins, split_server};
use crate::error::CommandError;
use crate::output::{OutputStream, encode, print_json};
use crate::sanitize::one_line;

pub(crate) fn run(args: &ForgetArgs) -> Result<(), CommandError> {
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
