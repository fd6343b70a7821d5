//! `switchboard why`: explains why a tool is missing or refused, or why a server refuses a login.

use serde_json::json;
use switchboard::host::name::{NameLimit, QualifiedName};
use switchboard::host::{Status, ToolExplanation};

use crate::args::{SessionOptions, WhyArgs};
use crate::command::why_login::{check_login, explain_login, server_target};
use crate::command::why_policy::PolicyReport;
use crate::configured_servers::{HostRequest, HostedServers, split_server, with_host};
use crate::error::CommandError;
use crate::output::{encode, print_json};
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

pub(crate) async fn run(args: &WhyArgs) -> Result<(), CommandError> {
    if let Some(target) = server_target(&args.tool)? {
        return explain_login(args, &target).await;
    }
    let options = SessionOptions {
        json: args.json,
        timeout: args.timeout,
        account: args.account.clone(),
        ..SessionOptions::default()
    };
    with_host(HostRequest::new(None, options), async |hosted| {
        let done = hosted.start().await;
        let names = hosted.files.resolved.servers.iter().map(|server| server.name.as_str());
        let named = split_server(names, &args.tool);
        let qualified = match named {
            Some((server, tool)) => QualifiedName::new(server, tool, NameLimit::DEFAULT).to_string(),
            None => args.tool.clone(),
        };
        let why = hosted.host.explain_tool(&qualified);
        let explanation = explain(args, hosted, named, &why).await?;
        let found = hosted.host.find_tool(&qualified);
        let policy = match named {
            Some(named) => PolicyReport::new(args, named, found.as_ref().map(|found| &*found.tool))?,
            None if args.policy.is_some() => {
                return Err(CommandError::usage(format!("{:?} has no server", one_line(&args.tool)))
                    .hint("with --policy, write server/tool"));
            }
            None => None,
        };
        let has_drifted = named.is_some_and(|(server, tool)| hosted.host.has_drifted(server, tool));
        let permission =
            hosted.host.find_tool(&qualified).map(|found| hosted.decide(&found.tool).to_string());
        let others = hosted.host.find_tool(&qualified).map(|found| found.others).unwrap_or_default();
        // Servers with invalid entries are not in the host, and may be the ones that have the tool.
        let is_match = |name: &str| named.is_none_or(|(server, _)| server == name);
        let broken =
            done.errors.iter().filter(|(name, _)| is_match(name) && hosted.host.state(name).is_err());
        let broken: Vec<String> = broken.map(|(name, error)| format!("{name}: {error}")).collect();
        if hosted.json {
            let (is_shown, server) = match &why {
                ToolExplanation::Shown { server, .. } => (true, Some(server)),
                ToolExplanation::Withheld { server, .. }
                | ToolExplanation::Disabled { server }
                | ToolExplanation::Rejected { server, .. } => (false, Some(server)),
                _ => (false, None),
            };
            let server = server.map(|name| &**name).or(named.map(|(server, _)| server));
            let report = json!({
                "tool": args.tool, "shown": is_shown, "server": server,
                "why": explanation, "permission": permission, "broken": broken,
                "changed": has_drifted, "policy": policy.as_ref().map(PolicyReport::to_json),
            });
            return print_json(&hosted.out, &encode(&report)?);
        }
        let mut text = format!("{}\n", one_line(&explanation));
        if let Some(permission) = permission {
            text += &format!("calling it: {}\n", one_line(&permission));
        }
        if has_drifted {
            let name = shell_quote(&one_line(&args.tool));
            text += &format!(
                "its definition has changed since it was first seen; a gateway withholds it. \
                 Accept it: switchboard forget {name}\n"
            );
        }
        for line in policy.iter().flat_map(PolicyReport::lines) {
            text += &format!("{}\n", one_line(&line));
        }
        if !others.is_empty() {
            text += &format!("also available from: {}\n", one_line(&others.join(", ")));
        }
        for line in broken.iter().filter(|_| matches!(why, ToolExplanation::Unknown { .. })) {
            text += &format!("cannot be run: {}\n", one_line(line));
        }
        Ok(hosted.out.print(&text)?)
    })
    .await
}

/// Returns why a tool is missing or refused.
async fn explain(
    args: &WhyArgs,
    hosted: &HostedServers,
    named: Option<(&str, &str)>,
    why: &ToolExplanation,
) -> Result<String, CommandError> {
    let Some((server, tool)) = named else {
        return Ok(match hosted.host.state(&args.tool) {
            Ok(status) => format!("{} is a server: {status}; its tools are {}/…", args.tool, args.tool),
            Err(_) => why.to_string(),
        });
    };
    let mut explanation = why.to_string();
    if let ToolExplanation::Unknown { .. } = why {
        // Only the named server matters.
        let (missing, near) = hosted.explain_missing(server, tool);
        let near = near.map(|near| format!("; did you mean {}/{}?", one_line(server), one_line(&near)));
        explanation = missing + &near.unwrap_or_default();
    }
    // A server that refuses its token has no tools to explain.
    if matches!(hosted.host.state(server), Ok(Status::NeedsAuth(_)))
        && let Some(target) = server_target(server)?
    {
        explanation += &format!("; {}", check_login(args, &target).await?.reason);
    }
    Ok(explanation)
}
