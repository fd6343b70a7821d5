//! `switchboard forget`: what the user once agreed to about a server is asked again.

use switchboard::host::config::{Approvals, Scope};
use switchboard::host::permission::{Known, Ledger};

use crate::args::ForgetArgs;
use crate::configured::{Files, pins, server_and_rest};
use crate::failure::Failure;
use crate::output::Paper;
use crate::sanitize::one_line;

pub(crate) fn run(args: &ForgetArgs) -> Result<(), Failure> {
    let files = Files::read()?;
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    let (name, tool) = match (files.resolved.server(&args.name), server_and_rest(names, &args.name)) {
        (None, Some((server, tool))) => (server, Some(tool)),
        _ => (args.name.as_str(), None),
    };
    let server = files.server(name)?;
    if let Some(known) = Known::of(server) {
        Ledger::open(&files.at.permissions)?.forget(known.identity, tool)?;
    }
    if tool.is_none() {
        pins::open(&files.at)?.forget(name, None)?;
        if server.scope == Scope::Project {
            Approvals::open(&files.at.approvals)?.revoke(&files.at.project, name)?;
        }
    }
    let what = match (tool, server.scope) {
        (Some(_), _) => "calls of it are asked about again",
        (None, Scope::Project) => {
            "its calls are asked about again, and it is not started before it is approved"
        }
        (None, _) => "its calls are asked about again, and its tools are taken as they are now",
    };
    Paper::stdout().print(&format!("forgot what you answered about {}: {what}\n", one_line(&args.name)))
}
