//! `switchboard list`, `get`, `enable` and `disable`: read and edit entries without starting anything.

use serde_json::{Value, json};
use switchboard::host::config::{Approval, ConfiguredServer};

use crate::args::{ListArgs, ServerArgs};
use crate::configured_servers::{ConfigFiles, EntryState, NO_SERVERS_HINT, command_or_url};
use crate::environment::variable;
use crate::error::CommandError;
use crate::output::{OutputStream, RowNotes, Screen, TextTable, encode, indented, pretty, print_json};
use crate::sanitize::one_line;

pub(crate) fn list(args: &ListArgs) -> Result<(), CommandError> {
    let (files, screen, out) =
        (ConfigFiles::read()?, Screen::with_json_warnings(args.json), OutputStream::stdout());
    files.warn(&screen);
    let servers = &files.resolved.servers;
    if args.json {
        let all: Vec<Value> = servers.iter().map(|server| server_json(&files, server)).collect();
        return print_json(&out, &encode(&all)?);
    }
    if servers.is_empty() {
        screen.say(&format!("no servers are configured; {NO_SERVERS_HINT}"));
        return Ok(());
    }
    let mut table = TextTable::new(&["NAME", "SCOPE", "STATE", "TYPE", "COMMAND OR URL"]);
    let mut notes = RowNotes::default();
    for server in servers {
        let state = EntryState::of(server);
        table.push_row([
            one_line(&server.name),
            server.scope.as_str().to_owned(),
            state.word().to_owned(),
            server.entry.as_ref().map(|entry| entry.transport.type_name().to_owned()).unwrap_or_default(),
            server.entry.as_ref().map(command_or_url).unwrap_or_default(),
        ]);
        let next = state.next_step(&server.name);
        notes.add(&server.name, server.plan.as_ref().err().map(ToString::to_string), next);
    }
    Ok(out.print(&(table.render(&out) + &notes.render(&out)))?)
}

pub(crate) fn get(args: &ServerArgs) -> Result<(), CommandError> {
    let (files, screen, out) = (ConfigFiles::read()?, Screen::new(), OutputStream::stdout());
    let server = files.server(&args.name)?;
    if args.json {
        return print_json(&out, &encode(&server_json(&files, server))?);
    }
    let state = EntryState::of(server);
    let file = files.path(server.scope).map(|file| file.display().to_string()).unwrap_or_default();
    let mut text = format!("{} ({}, {})\n", out.bold(&one_line(&server.name)), server.scope, state.word());
    text += &out.dim(&format!("  {}\n", one_line(&file)));
    if let Some(entry) = &server.entry {
        text += &indented(&pretty(&encode(&entry.masked())?), "  ", out.width);
        for name in entry.variables() {
            let is_set = if variable(&name).is_some() { "set" } else { "not set" };
            text += &format!("  ${{{}}} is {is_set}\n", one_line(&name));
        }
    }
    if let Some(Approval::Changed(before)) = &server.approval {
        text += "  you approved it as:\n";
        text += &indented(&pretty(&encode(&before.masked)?), "    ", out.width);
    }
    for other in files.resolved.shadowed.iter().filter(|other| other.name == server.name) {
        text += &format!("  it shadows a server of the same name in the scope {}\n", other.scope);
    }
    out.print(&text)?;
    if let Err(fault) = &server.plan {
        return Err(fault.clone().into());
    }
    if let Some(next) = state.next_step(&server.name) {
        screen.say(&format!("next: {next}"));
    }
    Ok(())
}

/// Enables or disables the entry that is in effect.
pub(crate) fn switch(args: &ServerArgs, enabled: bool) -> Result<(), CommandError> {
    let files = ConfigFiles::read()?;
    let server = files.server(&args.name)?;
    let mut file = files.edit(server.scope)?;
    file.set_disabled(&args.name, !enabled)?;
    file.write()?;
    if args.json {
        let now = ConfigFiles::read()?;
        return print_json(&OutputStream::stdout(), &encode(&server_json(&now, now.server(&args.name)?))?);
    }
    let action = if enabled { "enabled" } else { "disabled" };
    let name = one_line(&args.name);
    OutputStream::stdout().print(&format!(
        "{action} {name} ({}) in {}\n",
        server.scope,
        one_line(&file.path().to_string_lossy())
    ))?;
    let now = ConfigFiles::read()?;
    let next =
        now.resolved.server(&args.name).and_then(|server| EntryState::of(server).next_step(&server.name));
    if let Some(next) = next.filter(|_| enabled) {
        Screen::new().say(&format!("next: {next}"));
    }
    Ok(())
}

/// Returns a configured server as JSON, secrets masked.
pub(crate) fn server_json(files: &ConfigFiles, server: &ConfiguredServer) -> Value {
    let state = EntryState::of(server);
    let mut object = json!({
        "name": server.name,
        "scope": server.scope.as_str(),
        "state": state.word(),
        "file": files.path(server.scope),
        "config": server.entry.as_ref().map(switchboard::host::config::ServerConfig::masked),
    });
    if let Err(fault) = &server.plan {
        object["error"] = json!(fault.to_string());
    }
    if let Some(Approval::Changed(before)) = &server.approval {
        object["approved"] = before.masked.clone();
    }
    object
}
