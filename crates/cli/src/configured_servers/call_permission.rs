//! Permission of a call on the command line: typing the call is consent.
//!
//! A deny rule refuses it; an ask rule, or at a terminal a destructive tool, asks for confirmation. The same holds for
//! configured servers and for servers given on the command line.

use std::sync::Arc;

use serde_json::json;
use switchboard::host::permission::{FallbackPolicy, Gate, Ledger, Policy, Rule, Rules, Subject, Verdict};
use switchboard::host::{ServerSpec, Transport};
use switchboard::protocol::{Raw, Tool};
use switchboard_terminal::is_interactive;

use crate::configured_servers::approver::{
    AllowingApprover, DeclinedFlag, DenyingApprover, TerminalApprover,
};
use crate::configured_servers::files::ConfigFiles;
use crate::connect::{AdHocServer, CommandSession};
use crate::elicitation::StdinLines;
use crate::error::CommandError;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Flags of the approvers of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApprovalFlags {
    pub(crate) unanswered: DenyingApprover,
    pub(crate) declined: DeclinedFlag,
}

/// Builds the permission gate for calls on the command line.
pub(crate) fn build_gate(
    rules: Rules,
    ledger: Ledger,
    yes: bool,
    screen: &Arc<Screen>,
    stdin: &Arc<StdinLines>,
) -> (Gate, ApprovalFlags) {
    let flags = ApprovalFlags::default();
    let is_interactive_session = is_interactive(screen);
    let fallback =
        if is_interactive_session && !yes { FallbackPolicy::Requested } else { FallbackPolicy::AllowAll };
    let gate = Gate::new(Policy::new(rules).with_fallback(fallback)).with_ledger(ledger);
    let gate = match (yes, is_interactive_session) {
        (true, _) => gate.with_approver(Arc::new(AllowingApprover)),
        (false, true) => {
            let (screen, stdin) = (Arc::clone(screen), Arc::clone(stdin));
            gate.with_approver(Arc::new(TerminalApprover::new(screen, stdin, flags.declined.clone())))
        }
        (false, false) => gate.with_approver(Arc::new(flags.unanswered.clone())),
    };
    (gate, flags)
}

/// Creates the error for a call that needs confirmation when there is no terminal.
pub(crate) fn confirmation_needed(tool: &str) -> CommandError {
    let text = format!("{} requires confirmation, and there is no terminal to ask at", one_line(tool));
    CommandError::other("not_permitted", text).hint("pass --yes to confirm, or change the rule")
}

/// Checks whether a tool of a server given on the command line may be called.
///
/// # Errors
/// Returns an error if a rule or the user denies the call.
pub(crate) async fn check_permission(
    connection: &CommandSession,
    tool: &str,
    arguments: &Raw,
    yes: bool,
) -> Result<(), CommandError> {
    let Some(server) = &connection.ad_hoc else { return Ok(()) };
    // Without a home directory there are no configuration files, and so no rules.
    let files = ConfigFiles::read().ok();
    let (rules, names) = files.as_ref().map(|files| rules_for(files, server)).unwrap_or_default();
    for name in &names {
        if let Some(rule) = rules.find(name, tool).deny {
            return Err(denied(&server.name, tool, rule));
        }
    }
    let is_interactive_session = is_interactive(&connection.screen);
    if rules.iter().next().is_none() && (yes || !is_interactive_session) {
        return Ok(());
    }
    let definition = match is_interactive_session && !yes {
        // If tools cannot be listed, the annotations are unknown.
        true => connection.session.list_tools().await.ok().and_then(|tools| tools.by_name(tool).cloned()),
        false => None,
    };
    let definition = definition.unwrap_or_else(|| Tool::new(tool, json!({"type": "object"})));
    let ledger = files
        .and_then(|files| Ledger::open(&files.locations.permissions).ok())
        .unwrap_or_else(Ledger::in_memory);
    let (gate, flags) = build_gate(rules, ledger, yes, &connection.screen, &Arc::default());
    let subject = Subject { identity: server.identity(), ..gate.subject(&server.name, &definition) };
    match gate.permit(&subject, Some(arguments)).await {
        Ok(_) => Ok(()),
        Err(_) if flags.declined.is_set() => Err(DeclinedFlag::error()),
        Err(_) if flags.unanswered.was_asked() => Err(confirmation_needed(tool)),
        Err(refused) => Err(CommandError::other("not_permitted", refused.to_string())),
    }
}

fn denied(server: &str, tool: &str, rule: &Rule) -> CommandError {
    let text = format!(
        "{}/{} is denied by the rule `{}`",
        one_line(server),
        one_line(tool),
        one_line(&rule.to_string())
    );
    CommandError::other("not_permitted", text).hint("change the rule in your configuration")
}

/// Returns the rules for a server given on the command line, and the names they may use for it: the typed name, and the
/// names of configured servers with the same command or URL, whose `denyTools` apply too.
fn rules_for(files: &ConfigFiles, server: &AdHocServer) -> (Rules, Vec<String>) {
    let mut rules: Vec<Rule> = files.resolved.rules.iter().cloned().collect();
    let mut names = vec![server.name.clone()];
    for configured in &files.resolved.servers {
        let is_same = ServerSpec::from_configured(configured)
            .is_ok_and(|spec| is_same_server(&spec.transport, &server.transport));
        let Some(entry) = configured.entry.as_ref().filter(|_| is_same) else { continue };
        let denied = entry.settings.deny_tools.iter();
        rules.extend(
            denied.filter_map(|tool| Rule::new(Verdict::Deny, &format!("{}/{tool}", configured.name)).ok()),
        );
        names.push(configured.name.clone());
    }
    (Rules::new(rules), names)
}

fn is_same_server(configured: &Transport, typed: &Transport) -> bool {
    match (configured, typed) {
        (Transport::Stdio(one), Transport::Stdio(other)) => {
            (one.program(), one.arguments()) == (other.program(), other.arguments())
        }
        (Transport::Http(one), Transport::Http(other)) => one.url() == other.url(),
        _ => false,
    }
}
