//! Permission of a call that the user typed: typing it is consent.
//!
//! It is refused by a rule that denies it, and asked about where a rule wants that or, at a terminal, where the tool is
//! marked as destructive. The same holds for servers of the files and for those named on the command line.

use std::sync::Arc;

use serde_json::json;
use switchboard::Raw;
use switchboard::host::permission::{FallbackPolicy, Gate, Ledger, Policy, Rule, Rules, Subject, Verdict};
use switchboard::host::{ServerSpec, Transport};
use switchboard::protocol::Tool;
use switchboard_terminal::is_interactive;

use crate::ask::Keyboard;
use crate::configured::ask::{Agreed, AtTerminal, Declined, Unasked};
use crate::configured::files::Files;
use crate::connect::{Connected, Unconfigured};
use crate::failure::{Failure, Status};
use crate::output::Screen;
use crate::sanitize::one_line;

/// Who is asked about a call, and what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) unasked: Unasked,
    pub(crate) declined: Declined,
}

/// The gate of calls that are typed.
pub(crate) fn gate(
    rules: Rules,
    ledger: Ledger,
    yes: bool,
    screen: &Arc<Screen>,
    keyboard: &Arc<Keyboard>,
) -> (Gate, Asked) {
    let asked = Asked::default();
    let is_here = is_interactive(screen);
    let fallback = if is_here && !yes { FallbackPolicy::Requested } else { FallbackPolicy::AllowAll };
    let gate = Gate::new(Policy::new(rules).with_fallback(fallback)).with_ledger(ledger);
    let gate = match (yes, is_here) {
        (true, _) => gate.with_approver(Arc::new(Agreed)),
        (false, true) => {
            let (screen, keyboard) = (Arc::clone(screen), Arc::clone(keyboard));
            gate.with_approver(Arc::new(AtTerminal::new(screen, keyboard, asked.declined.clone())))
        }
        (false, false) => gate.with_approver(Arc::new(asked.unasked.clone())),
    };
    (gate, asked)
}

/// Why a call that nobody could be asked about is not made.
pub(crate) fn unasked(tool: &str) -> Failure {
    let text = format!("{} needs your confirmation, and there is no terminal to ask at", one_line(tool));
    Failure::new(Status::Other, "not_permitted", text).hint("pass --yes if you mean it, or change the rule")
}

/// Whether a tool of a server named on the command line may be called.
///
/// # Errors
/// Why not.
pub(crate) async fn permit(
    connected: &Connected,
    tool: &str,
    arguments: &Raw,
    yes: bool,
) -> Result<(), Failure> {
    let Some(server) = &connected.unconfigured else { return Ok(()) };
    // Without a home directory there are no files, and so no rules.
    let files = Files::read().ok();
    let (rules, names) = files.as_ref().map(|files| rules_of(files, server)).unwrap_or_default();
    for name in &names {
        if let Some(rule) = rules.find(name, tool).deny {
            return Err(denied(&server.name, tool, rule));
        }
    }
    let is_here = is_interactive(&connected.screen);
    if rules.iter().next().is_none() && (yes || !is_here) {
        return Ok(());
    }
    let definition = match is_here && !yes {
        // One that cannot be listed has no marks to go by.
        true => connected.session.list_tools().await.ok().and_then(|tools| tools.by_name(tool).cloned()),
        false => None,
    };
    let definition = definition.unwrap_or_else(|| Tool::new(tool, json!({"type": "object"})));
    let ledger =
        files.and_then(|files| Ledger::open(&files.at.permissions).ok()).unwrap_or_else(Ledger::in_memory);
    let (gate, asked) = gate(rules, ledger, yes, &connected.screen, &Arc::default());
    let subject = Subject { identity: server.identity(), ..gate.subject(&server.name, &definition) };
    match gate.permit(&subject, Some(arguments)).await {
        Ok(_) => Ok(()),
        Err(_) if asked.declined.is_set() => Err(Declined::failure()),
        Err(_) if asked.unasked.is_missed() => Err(unasked(tool)),
        Err(refused) => Err(Failure::new(Status::Other, "not_permitted", refused.to_string())),
    }
}

fn denied(server: &str, tool: &str, rule: &Rule) -> Failure {
    let text = format!(
        "{}/{} is denied by the rule `{}`",
        one_line(server),
        one_line(tool),
        one_line(&rule.to_string())
    );
    Failure::new(Status::Other, "not_permitted", text)
        .hint("change the rule in your configuration if you mean it")
}

/// The rules that hold for a server named on the command line, and the names they may know it by: what was typed, and
/// the names of configured servers that are the same program or address, whose `denyTools` hold too.
fn rules_of(files: &Files, server: &Unconfigured) -> (Rules, Vec<String>) {
    let mut rules: Vec<Rule> = files.resolved.rules.iter().cloned().collect();
    let mut names = vec![server.name.clone()];
    for configured in &files.resolved.servers {
        let is_same = ServerSpec::from_configured(configured)
            .is_ok_and(|spec| is_same(&spec.transport, &server.transport));
        let Some(entry) = configured.entry.as_ref().filter(|_| is_same) else { continue };
        let denied = entry.settings.deny_tools.iter();
        rules.extend(
            denied.filter_map(|tool| Rule::new(Verdict::Deny, &format!("{}/{tool}", configured.name)).ok()),
        );
        names.push(configured.name.clone());
    }
    (Rules::new(rules), names)
}

fn is_same(configured: &Transport, typed: &Transport) -> bool {
    match (configured, typed) {
        (Transport::Stdio(one), Transport::Stdio(other)) => {
            (one.program(), one.arguments()) == (other.program(), other.arguments())
        }
        (Transport::Http(one), Transport::Http(other)) => one.url() == other.url(),
        _ => false,
    }
}
