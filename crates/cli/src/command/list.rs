//! `switchboard list`, `get`, `enable` and `disable`: what the files say, without starting anything.

use serde_json::{Value, json};
use switchboard::host::config::{Approval, ConfiguredServer};

use crate::args::{GetArgs, ListArgs, SwitchArgs};
use crate::command::tools::encode;
use crate::configured::{Files, NONE, Readiness, reach};
use crate::environment::variable;
use crate::failure::Failure;
use crate::output::{Notes, Paper, Screen, Table, indented, pretty, show_json};
use crate::sanitize::one_line;

pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let (files, screen, paper) = (Files::read()?, Screen::read_as(args.json), Paper::stdout());
    files.warn(&screen);
    let servers = &files.resolved.servers;
    if args.json {
        let all: Vec<Value> = servers.iter().map(|server| described(&files, server)).collect();
        return show_json(&paper, &encode(&all)?);
    }
    if servers.is_empty() {
        screen.say(&format!("no servers are configured; {NONE}"));
        return Ok(());
    }
    let mut table = Table::new(&["NAME", "SCOPE", "STATE", "TYPE", "COMMAND OR URL"]);
    let mut notes = Notes::default();
    for server in servers {
        let readiness = Readiness::of(server);
        table.row([
            one_line(&server.name),
            server.scope.as_str().to_owned(),
            readiness.word().to_owned(),
            server.entry.as_ref().map(|entry| entry.transport.type_name().to_owned()).unwrap_or_default(),
            server.entry.as_ref().map(reach).unwrap_or_default(),
        ]);
        let next = readiness.next_step(&server.name);
        notes.add(&server.name, server.plan.as_ref().err().map(ToString::to_string), next);
    }
    Ok(paper.print(&(table.lay_out(&paper) + &notes.lay_out(&paper)))?)
}

pub(crate) fn get(args: &GetArgs) -> Result<(), Failure> {
    let (files, screen, paper) = (Files::read()?, Screen::new(), Paper::stdout());
    let server = files.server(&args.name)?;
    if args.json {
        return show_json(&paper, &encode(&described(&files, server))?);
    }
    let readiness = Readiness::of(server);
    let file = files.of(server.scope).map(|file| file.display().to_string()).unwrap_or_default();
    let mut text =
        format!("{} ({}, {})\n", paper.bold(&one_line(&server.name)), server.scope, readiness.word());
    text += &paper.dim(&format!("  {}\n", one_line(&file)));
    if let Some(entry) = &server.entry {
        text += &indented(&pretty(&encode(&entry.masked())?), "  ", paper.width);
        for name in entry.variables() {
            let is_set = if variable(&name).is_some() { "set" } else { "not set" };
            text += &format!("  ${{{}}} is {is_set}\n", one_line(&name));
        }
    }
    if let Some(Approval::Changed(before)) = &server.approval {
        text += "  you approved it as:\n";
        text += &indented(&pretty(&encode(&before.masked)?), "    ", paper.width);
    }
    for other in files.resolved.shadowed.iter().filter(|other| other.name == server.name) {
        text += &format!("  it hides a server of the same name in the scope {}\n", other.scope);
    }
    paper.print(&text)?;
    if let Err(fault) = &server.plan {
        return Err(fault.clone().into());
    }
    if let Some(next) = readiness.next_step(&server.name) {
        screen.say(&format!("next: {next}"));
    }
    Ok(())
}

/// Writes into the entry that counts whether it is started.
pub(crate) fn switch(args: &SwitchArgs, enabled: bool) -> Result<(), Failure> {
    let files = Files::read()?;
    let server = files.server(&args.name)?;
    let mut file = files.edit(server.scope)?;
    file.set_disabled(&args.name, !enabled)?;
    file.write()?;
    if args.json {
        let now = Files::read()?;
        return show_json(&Paper::stdout(), &encode(&described(&now, now.server(&args.name)?))?);
    }
    let word = if enabled { "enabled" } else { "disabled" };
    let name = one_line(&args.name);
    Paper::stdout().print(&format!(
        "{word} {name} ({}) in {}\n",
        server.scope,
        one_line(&file.path().to_string_lossy())
    ))?;
    let now = Files::read()?;
    let next =
        now.resolved.server(&args.name).and_then(|server| Readiness::of(server).next_step(&server.name));
    if let Some(next) = next.filter(|_| enabled) {
        Screen::new().say(&format!("next: {next}"));
    }
    Ok(())
}

/// A server for programs, secrets masked.
pub(crate) fn described(files: &Files, server: &ConfiguredServer) -> Value {
    let readiness = Readiness::of(server);
    let mut told = json!({
        "name": server.name,
        "scope": server.scope.as_str(),
        "state": readiness.word(),
        "file": files.of(server.scope),
        "config": server.entry.as_ref().map(switchboard::host::config::ServerConfig::masked),
    });
    if let Err(fault) = &server.plan {
        told["error"] = json!(fault.to_string());
    }
    if let Some(Approval::Changed(before)) = &server.approval {
        told["approved"] = before.masked.clone();
    }
    told
}
