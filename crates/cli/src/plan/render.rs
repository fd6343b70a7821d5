//! The report for people.

use std::fmt::Write as _;

use crate::output::OutputStream;
use crate::plan::differences::{Differences, ServerDifference, ViewChange};
use crate::plan::policy_change::PolicyChange;
use crate::sanitize::one_line;

/// How many changed entries of the policy, and how many changed decisions, are shown; the JSON has all of them.
const MAX_SHOWN: usize = 100;

/// Renders the differences.
pub(crate) fn render(differences: &Differences, out: &OutputStream) -> String {
    let mut text = String::new();
    if let Some(error) = &differences.rejected {
        let _ = writeln!(text, "the gateway did not apply the last change: {}", one_line(error));
    }
    if differences.is_empty() {
        text += "no changes\n";
    }
    settings(differences, &mut text);
    servers(differences, out, &mut text);
    tools(differences, out, &mut text);
    views(differences, out, &mut text);
    policy(differences, out, &mut text);
    decisions(differences, &mut text);
    if !differences.unknown_tools.is_empty() {
        let names: Vec<String> = differences.unknown_tools.iter().map(|name| one_line(name)).collect();
        let _ = writeln!(text, "tools not known yet: {} (--connect starts them)", names.join(", "));
    }
    for warning in &differences.warnings {
        let _ = writeln!(text, "warning: {}", one_line(warning));
    }
    text
}

fn settings(differences: &Differences, text: &mut String) {
    let shown = |value: &Option<String>| value.as_deref().map_or_else(|| "(default)".to_owned(), one_line);
    for change in &differences.settings {
        let note = if change.needs_restart { "  (at a restart)" } else { "" };
        let (before, after) = (shown(&change.before), shown(&change.after));
        let _ = writeln!(text, "~ {}: {before} -> {after}{note}", change.key);
    }
}

fn servers(differences: &Differences, out: &OutputStream, text: &mut String) {
    for server in &differences.servers {
        match server {
            ServerDifference::Added { name, entry } => {
                let _ = writeln!(
                    text,
                    "{} server {}: {}",
                    out.green("+"),
                    one_line(name),
                    one_line(&entry.to_string())
                );
            }
            ServerDifference::Removed { name } => {
                let _ = writeln!(text, "{} server {}", out.red("-"), one_line(name));
            }
            ServerDifference::Changed { name, fields, secrets } => {
                let _ = writeln!(text, "~ server {}", one_line(name));
                for field in fields {
                    let shown = |value: &Option<serde_json::Value>| {
                        value
                            .as_ref()
                            .map_or_else(|| "(none)".to_owned(), |value| one_line(&value.to_string()))
                    };
                    let (before, after) = (shown(&field.before), shown(&field.after));
                    let _ = writeln!(text, "    {}: {before} -> {after}", one_line(&field.field));
                }
                if *secrets {
                    text.push_str("    a secret has another value\n");
                }
            }
        }
    }
}

fn tools(differences: &Differences, out: &OutputStream, text: &mut String) {
    for change in &differences.tools {
        let server = one_line(&change.server);
        for tool in &change.added {
            let _ = writeln!(text, "{} tool {server}/{}", out.green("+"), one_line(tool));
        }
        for tool in &change.removed {
            let _ = writeln!(text, "{} tool {server}/{}", out.red("-"), one_line(tool));
        }
    }
}

fn views(differences: &Differences, out: &OutputStream, text: &mut String) {
    for view in &differences.views {
        let sign = match view.change {
            ViewChange::Added => out.green("+"),
            ViewChange::Removed => out.red("-"),
            ViewChange::Changed | ViewChange::Tools => "~".into(),
        };
        let _ = writeln!(text, "{sign} view {}", one_line(&view.name));
        for tool in &view.added {
            let _ = writeln!(text, "    {} {}", out.green("+"), one_line(tool));
        }
        for tool in &view.removed {
            let _ = writeln!(text, "    {} {}", out.red("-"), one_line(tool));
        }
    }
}

fn policy(differences: &Differences, out: &OutputStream, text: &mut String) {
    // A setting that is not written has no value.
    let json = |value: &serde_json::Value| match value {
        serde_json::Value::Null => "(none)".to_owned(),
        value => one_line(&value.to_string()),
    };
    for change in differences.policy.iter().take(MAX_SHOWN) {
        let _ = match change {
            PolicyChange::Added { part, name, after } => {
                writeln!(text, "{} {} {}: {}", out.green("+"), part.as_str(), one_line(name), json(after))
            }
            PolicyChange::Removed { part, name, before } => {
                writeln!(text, "{} {} {}: {}", out.red("-"), part.as_str(), one_line(name), json(before))
            }
            PolicyChange::Changed { part, name, before, after } => {
                let (name, before, after) = (one_line(name), json(before), json(after));
                writeln!(text, "~ {} {name}: {before} -> {after}", part.as_str())
            }
            PolicyChange::Reordered { part } => {
                writeln!(text, "~ {}: the same entries in another order", part.as_str())
            }
        };
    }
    if let Some(more) = differences.policy.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "… and {more} more entries of the policy; --json has all of them");
    }
}

fn decisions(differences: &Differences, text: &mut String) {
    for change in differences.decisions.iter().take(MAX_SHOWN) {
        let (caller, server, tool) =
            (one_line(&change.caller), one_line(&change.server), one_line(&change.tool));
        let (before, after) = (change.before.as_str(), change.after.as_str());
        let _ =
            writeln!(text, "~ {caller}: {server}/{tool}: {before} -> {after} ({})", one_line(&change.why));
    }
    if let Some(more) = differences.decisions.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "… and {more} more decisions; --json has all of them");
    }
    if differences.decisions_cut {
        text.push_str("warning: there are too many callers and tools to compare all decisions\n");
    }
}
