//! `switchboard why SERVER`: explains whether a server accepts the login of the user, and which check it fails.

use std::time::Duration;

use serde_json::json;

use crate::args::WhyArgs;
use crate::command::status_logins::login_address;
use crate::configured_servers::{ConfigFiles, LoginTarget};
use crate::error::{CommandError, ExitKind};
use crate::login::{AccountSelector, LoginOverview, TokenCheck, check_token, http_client};
use crate::output::{OutputStream, encode, print_json};
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Timeout for checking a login, unless the user sets one.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the server that the user asks about: a URL, or a configured server at a URL; `None` for a tool.
pub(crate) fn server_target(asked: &str) -> Result<Option<LoginTarget>, CommandError> {
    if asked.contains("://") {
        return LoginTarget::resolve(asked).map(Some);
    }
    let files = ConfigFiles::read()?;
    match files.resolved.server(asked).is_some_and(|server| login_address(server).is_some()) {
        true => LoginTarget::resolve(asked).map(Some),
        false => Ok(None),
    }
}

/// Checks the token of the user at a server.
///
/// # Errors
/// Returns an error if the server cannot be reached, or it is not clear which account is meant.
pub(crate) async fn check_login(args: &WhyArgs, target: &LoginTarget) -> Result<TokenCheck, CommandError> {
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
///
/// # Errors
/// As [`check_login`].
pub(crate) async fn explain_login(args: &WhyArgs, target: &LoginTarget) -> Result<(), CommandError> {
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
