//! `switchboard why`: explains why a tool is missing or refused, or why a server refuses a login.

use std::time::Duration;

use serde_json::json;
use switchboard::host::name::{NameLimit, QualifiedName};
use switchboard::host::{Status, ToolExplanation};

use crate::args::{SessionOptions, WhyArgs};
use crate::command::login_target::LoginTarget;
use crate::command::status_logins::login_address;
use crate::configured_servers::{ConfigFiles, HostRequest, split_server, with_host};
use crate::error::{CommandError, ExitKind};
use crate::login::{AccountSelector, LoginOverview, TokenCheck, check_token, http_client};
use crate::output::{OutputStream, encode, print_json};
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Timeout for checking a login, unless the user sets one.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

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
        let mut explanation = why.to_string();
        // Only the named server matters.
        if let (Some((server, tool)), ToolExplanation::Unknown { .. }) = (named, &why) {
            let (missing, near) = hosted.explain_missing(server, tool);
            let near = near.map(|near| format!("; did you mean {}/{}?", one_line(server), one_line(&near)));
            explanation = missing + &near.unwrap_or_default();
        }
        // A server that refuses its token has no tools to explain.
        if let Some((server, _)) = named
            && matches!(hosted.host.state(server), Ok(Status::NeedsAuth(_)))
            && let Some(target) = server_target(server)?
        {
            let check = check_login(args, &target).await?;
            explanation = format!("{explanation}; {}", check.reason);
        }
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
            });
            return print_json(&hosted.out, &encode(&report)?);
        }
        let mut text = format!("{}\n", one_line(&explanation));
        if let Some(permission) = permission {
            text += &format!("calling it: {}\n", one_line(&permission));
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

/// Returns the server that the user asks about: a URL, or a configured server at a URL; `None` for a tool.
fn server_target(asked: &str) -> Result<Option<LoginTarget>, CommandError> {
    if asked.contains("://") {
        return LoginTarget::resolve(asked).map(Some);
    }
    let files = ConfigFiles::read()?;
    match files.resolved.server(asked).is_some_and(|server| login_address(server).is_some()) {
        true => LoginTarget::resolve(asked).map(Some),
        false => Ok(None),
    }
}

async fn check_login(args: &WhyArgs, target: &LoginTarget) -> Result<TokenCheck, CommandError> {
    let logins = LoginOverview::read().await?;
    let selector = AccountSelector::new(target.account(args.account.as_deref()), true);
    let login = logins.select(&target.address, &selector)?;
    let http = http_client()?;
    let check = check_token(&http, &target.address, login);
    match tokio::time::timeout(args.timeout.unwrap_or(CHECK_TIMEOUT), check).await {
        Ok(check) => Ok(check?),
        Err(_) => Err(CommandError::new(
            ExitKind::Unreachable,
            "timed_out",
            format!("{} does not answer", one_line(&target.name)),
        )
        .hint("--timeout SECS waits longer")),
    }
}

/// Explains whether a server accepts the login of the user, and which check it fails.
async fn explain_login(args: &WhyArgs, target: &LoginTarget) -> Result<(), CommandError> {
    let mut signals = Signals::catch()?;
    let check = tokio::select! {
        check = check_login(args, target) => check?,
        signal = signals.next() => return Err(CommandError::Interrupted { signal }),
    };
    let next = check.next_text(&target.login_command(args.account.as_deref()));
    let out = OutputStream::stdout();
    if args.json {
        let report = json!({
            "server": target.name, "check": check.verdict.as_str(), "why": check.reason, "next": next,
        });
        return print_json(&out, &encode(&report)?);
    }
    let mut text = format!("{}: {}\n", one_line(&target.name), one_line(&check.reason));
    if let Some(next) = next {
        text += &format!("next: {}\n", one_line(&next));
    }
    Ok(out.print(&text)?)
}
