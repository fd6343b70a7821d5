//! `switchboard forget`: what the user once agreed to about a server is asked again.

use serde_json::json;
use switchboard::host::config::{Approval, Approvals, Scope};
use switchboard::host::permission::{KnownServer, Ledger};

use crate::args::ForgetArgs;
use crate::command::tools::encode;
use crate::configured::{Files, pins, server_and_rest};
use crate::failure::{Failure, Status};
use crate::output::{Paper, show_json};
use crate::sanitize::one_line;

pub(crate) fn run(args: &ForgetArgs) -> Result<(), Failure> {
    let files = Files::read()?;
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    let (name, tool) = match (files.resolved.server(&args.name), server_and_rest(names, &args.name)) {
        (None, Some((server, tool))) => (server, Some(tool)),
        _ => (args.name.as_str(), None),
    };
    let server = files.server(name)?;
    let mut is_forgotten = pins::open(&files.at)?.forget(name, tool)?;
    if let Some(known) = KnownServer::from_configured(server) {
        is_forgotten |= Ledger::open(&files.at.permissions)?.forget(known.identity, tool)?;
    }
    if tool.is_none() && server.scope == Scope::Project {
        is_forgotten |= server.approval == Some(Approval::Approved);
        Approvals::open(&files.at.approvals)?.revoke(&files.at.project, name)?;
    }
    let shown = one_line(&args.name);
    if !is_forgotten {
        return Err(Failure::new(
            Status::Other,
            "nothing_remembered",
            format!("nothing is remembered about {shown}"),
        )
        .hint("`switchboard tools` lists the tools there are"));
    }
    let what = match (tool, server.scope) {
        (Some(_), _) => "it is taken as it is now, and asked about again",
        (None, Scope::Project) => {
            "it is not started before it is approved, and its tools are taken as they are then"
        }
        (None, _) => "its tools are taken as they are now, and asked about again",
    };
    if args.json {
        let told = json!({ "name": name, "tool": tool, "scope": server.scope.as_str(), "forgotten": true });
        return show_json(&Paper::stdout(), &encode(&told)?);
    }
    Ok(Paper::stdout().print(&format!("forgot {shown}: {what}\n"))?)
}
