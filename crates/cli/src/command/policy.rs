//! `switchboard policy`: checks a policy document, and tells what it decides.

use std::fmt::Write as _;

use serde_json::json;
use switchboard::gateway::policy::{Decision, Target, TargetKind};
use switchboard::protocol::{OrderedMap, Raw};

use crate::args::{PolicyAction, PolicyArgs, PolicyCheckArgs, PolicyTestArgs, TargetKindArg};
use crate::error::{CommandError, ExitKind};
use crate::gateway::load_policy;
use crate::output::{OutputStream, encode, print_json};
use crate::sanitize::one_line;

/// Runs `policy check` or `policy test`.
///
/// # Errors
/// Returns an error if the document is not valid, or the call is not allowed.
pub(crate) fn run(args: &PolicyArgs) -> Result<(), CommandError> {
    match &args.action {
        PolicyAction::Check(args) => check(args),
        PolicyAction::Test(args) => test(args),
    }
}

fn check(args: &PolicyCheckArgs) -> Result<(), CommandError> {
    let policy = load_policy(&args.file)?.policy;
    let warnings: Vec<String> = policy.warnings().iter().map(ToString::to_string).collect();
    let out = OutputStream::stdout();
    if args.json {
        let report = json!({
            "default": policy.default_effect().to_string(), "rules": policy.rule_count(), "warnings": warnings,
        });
        return print_json(&out, &encode(&report)?);
    }
    let mut text = format!("{} rules; other calls: {}\n", policy.rule_count(), policy.default_effect());
    for warning in &warnings {
        let _ = writeln!(text, "warning: {}", one_line(warning));
    }
    Ok(out.print(&text)?)
}

fn test(args: &PolicyTestArgs) -> Result<(), CommandError> {
    let policy = load_policy(&args.policy)?.policy;
    let Some((server, name)) = args.target.split_once('/') else {
        return Err(CommandError::usage(format!("{:?} has no server", args.target))
            .hint("write server/name, like files/read_text"));
    };
    let subject = args.caller.subject();
    let target = Target::new(server, args.kind.into(), name);
    let arguments = read_arguments(&args.arguments)?;
    let decision = policy.decide(&subject, &target, arguments.as_ref());
    let is_listed = policy.is_visible(&subject, &target);
    let out = OutputStream::stdout();
    if args.json {
        let (outcome, scopes) = match &decision {
            Decision::Allow { .. } => ("allow", None),
            Decision::MissingScope { scopes, .. } => ("missing_scope", Some(scopes)),
            _ => ("deny", None),
        };
        let report = json!({
            "decision": outcome, "why": decision.to_string(), "rule": decision.rule().map(|rule| rule.index + 1),
            "scopes": scopes, "listed": is_listed,
        });
        print_json(&out, &encode(&report)?)?;
    } else {
        let listed = if is_listed { "listed" } else { "not listed" };
        out.print(&format!("{}; {listed}\n", one_line(&decision.to_string())))?;
    }
    match decision.is_allowed() {
        true => Ok(()),
        false => Err(CommandError::AlreadyReported { exit: ExitKind::Other }),
    }
}

/// Reads the arguments: one object as it is written, or pairs.
fn read_arguments(words: &[String]) -> Result<Option<Raw>, CommandError> {
    let not_json = |text: &str| {
        CommandError::usage(format!("{:?} is not JSON", one_line(text))).hint("write key=text or key:=json")
    };
    match words {
        [] => Ok(None),
        [object] if object.trim_start().starts_with(['{', '[']) => {
            Raw::parse(object.clone()).map(Some).map_err(|_| not_json(object))
        }
        pairs => {
            let mut members: OrderedMap<Raw> = OrderedMap::new();
            for pair in pairs {
                let Some((key, value)) = pair.split_once('=') else { return Err(not_json(pair)) };
                let (key, value) = match key.strip_suffix(':') {
                    Some(key) => (key, Raw::parse(value.to_owned()).map_err(|_| not_json(value))?),
                    None => (key, encode(&value)?),
                };
                members.insert(key, value);
            }
            encode(&members).map(Some)
        }
    }
}

impl From<TargetKindArg> for TargetKind {
    fn from(kind: TargetKindArg) -> Self {
        match kind {
            TargetKindArg::Tool => Self::Tool,
            TargetKindArg::Resource => Self::Resource,
            TargetKindArg::Template => Self::Template,
            TargetKindArg::Prompt => Self::Prompt,
            TargetKindArg::PromptCompletion => Self::PromptCompletion,
            TargetKindArg::TemplateCompletion => Self::TemplateCompletion,
            TargetKindArg::Task => Self::Task,
            TargetKindArg::Subscription => Self::Subscription,
            TargetKindArg::ResultHandle => Self::ResultHandle,
        }
    }
}
