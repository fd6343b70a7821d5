//! `switchboard add` and `switchboard remove`.

use std::sync::Arc;

use serde_json::json;
use switchboard::host::config::{Approvals, Scope};

use crate::args::{AddArgs, RemoveArgs};
use crate::command::added_login;
use crate::command::list::server_json;
use crate::configured_servers::{ConfigFiles, PreparedEntry, command_or_url};
use crate::error::CommandError;
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::sanitize::one_line;

pub(crate) async fn add(args: &AddArgs) -> Result<(), CommandError> {
    let screen = Arc::new(Screen::with_json_warnings(args.json));
    let prepared = PreparedEntry::new(args)?;
    let (entry, scope) = (prepared.entry.clone(), prepared.scope);
    let warnings = prepared.warnings();
    let path = prepared.write()?;
    for warning in &warnings {
        screen.warn(warning);
    }
    let now = ConfigFiles::read()?;
    if args.json {
        let mut report = server_json(&now, now.server(&args.name)?);
        let need = added_login::probe_login(args, &now).await;
        if let Some(is_needed) = need.is_needed() {
            report["needsLogin"] = json!(is_needed);
        }
        return print_json(&OutputStream::stdout(), &encode(&report)?);
    }
    let name = one_line(&args.name);
    let text = format!(
        "added {name} ({scope}): {}\n{}\n",
        command_or_url(&entry),
        one_line(&path.to_string_lossy())
    );
    OutputStream::stdout().print(&text)?;
    let need = added_login::probe_login(args, &now).await;
    added_login::offer_login(&args.name, need, screen).await
}

pub(crate) fn remove(args: &RemoveArgs) -> Result<(), CommandError> {
    let files = ConfigFiles::read()?;
    let scope = match args.scope {
        Some(scope) => scope.scope(),
        None => files.server(&args.name)?.scope,
    };
    let mut file = files.edit(scope)?;
    file.remove(&args.name)?;
    file.write()?;
    if scope == Scope::Project {
        Approvals::open(&files.locations.approvals)?.revoke(&files.locations.project, &args.name)?;
    }
    if args.json {
        let removed =
            json!({ "name": args.name, "scope": scope.as_str(), "file": file.path(), "removed": true });
        return print_json(&OutputStream::stdout(), &encode(&removed)?);
    }
    let name = one_line(&args.name);
    let mut text = format!("removed {name} ({scope}) from {}\n", one_line(&file.path().to_string_lossy()));
    let now = ConfigFiles::read()?;
    if let Some(other) = now.resolved.server(&args.name) {
        text += &format!("a server of the same name in the scope {} is used now\n", other.scope);
    }
    Ok(OutputStream::stdout().print(&text)?)
}
