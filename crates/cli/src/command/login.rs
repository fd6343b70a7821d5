//! `switchboard login`, `logout` and `accounts`: logins to servers with OAuth.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard::auth::{
    CallbackPort, GrantState, OAuthAuthorizer, OAuthClient, OAuthOptions, ResourceParameter, Revocation,
    Scopes, StoredGrant, TokenStore,
};
use switchboard::transport::http_client::{HttpClient, HttpClientOptions, Secret};
use switchboard_terminal::StdinLines;

use crate::args::{AccountsArgs, LoginArgs, LogoutArgs};
use crate::command::login_target::LoginTarget;
use crate::error::{CommandError, ExitKind};
use crate::login::{TerminalChannel, open_store};
use crate::output::{OutputStream, Screen, TextTable, encode, print_json};
use crate::sanitize::one_line;

/// Logs in to a server.
///
/// # Errors
/// Returns an error if the server cannot be reached, or the login fails.
pub(crate) async fn login(args: &LoginArgs) -> Result<(), CommandError> {
    let target = LoginTarget::resolve(&args.server)?;
    let http = http_client()?;
    let screen = Arc::new(Screen::with_json_warnings(args.json));
    let channel = TerminalChannel {
        server: target.address.as_str().to_owned(),
        port: args.port.map_or(CallbackPort::Stable, CallbackPort::Fixed),
        callback_url: args.callback_url.clone(),
        paste_only: args.paste,
        screen: Arc::clone(&screen),
        stdin: Arc::new(StdinLines::default()),
    };
    let challenges = target.challenges(&http).await?;
    let authorizer = OAuthAuthorizer::new(http, target.address.clone(), options(args)?)
        .with_store(open_store()?)
        .with_login(Arc::new(channel));
    let stored = authorizer.log_in(&challenges).await?;
    let out = OutputStream::stdout();
    if args.json {
        return print_json(&out, &encode(&account_json(&stored))?);
    }
    let until = expiry_text(&stored);
    let refresh = match stored.grant.refresh_token {
        Some(_) => "; it is refreshed by itself",
        None => "; the server issued no refresh token, so log in again then",
    };
    Ok(out
        .print(&format!("logged in to {}: the token is valid {until}{refresh}\n", one_line(&target.name)))?)
}

/// Returns the settings of a login.
fn options(args: &LoginArgs) -> Result<OAuthOptions, CommandError> {
    let mut options = OAuthOptions::default().with_account(&args.account.account);
    if let Some(id) = &args.client_id {
        let client = match &args.client_secret_env {
            None => OAuthClient::public(id),
            Some(name) => match std::env::var(name) {
                Ok(secret) => OAuthClient::with_secret(id, Secret::new(secret.trim())),
                Err(_) => {
                    let message = format!("--client-secret-env: the variable {name} is not set");
                    return Err(CommandError::usage(message));
                }
            },
        };
        options = options.with_client(client);
    }
    if let Some(scope) = &args.scope {
        options = options.with_scopes(Scopes::parse(scope));
    }
    Ok(match args.resource.as_deref() {
        None => options,
        Some("omit") => options.with_resource(ResourceParameter::Omit),
        Some(url) => options.with_resource(ResourceParameter::Value(url.to_owned())),
    })
}

/// Logs out of a server: revokes the tokens and removes them.
///
/// # Errors
/// Returns an error if there is no login, or the token store fails.
pub(crate) async fn logout(args: &LogoutArgs) -> Result<(), CommandError> {
    let target = LoginTarget::resolve(&args.server)?;
    let options = OAuthOptions::default().with_account(&args.account.account);
    let authorizer = OAuthAuthorizer::new(http_client()?, target.address, options).with_store(open_store()?);
    let name = one_line(&target.name);
    let Some(revocation) = authorizer.log_out().await? else {
        return Err(CommandError::new(
            ExitKind::Other,
            "not_logged_in",
            format!("you are not logged in to {name}"),
        )
        .hint("`switchboard accounts` lists your logins"));
    };
    let (revoked, note) = match revocation {
        Revocation::Revoked => ("revoked", "its tokens are revoked".to_owned()),
        Revocation::Failed(error) => (
            "failed",
            format!("its tokens are removed here but may stay valid until they expire: {}", one_line(&error.to_string())),
        ),
        _ => (
            "unsupported",
            "its tokens are removed here; the server cannot revoke them, so they stay valid until they expire".to_owned(),
        ),
    };
    let out = OutputStream::stdout();
    if args.json {
        let done = json!({ "server": target.name, "account": args.account.account, "revocation": revoked });
        return print_json(&out, &encode(&done)?);
    }
    Ok(out.print(&format!("logged out of {name}: {note}\n"))?)
}

/// Lists the logins of this user.
///
/// # Errors
/// Returns an error if the token store cannot be read.
pub(crate) async fn accounts(args: &AccountsArgs) -> Result<(), CommandError> {
    let stored = open_store()?.list().await.map_err(switchboard::auth::AuthError::from)?;
    let out = OutputStream::stdout();
    if args.json {
        let all: Vec<Value> = stored.iter().map(account_json).collect();
        return print_json(&out, &encode(&all)?);
    }
    if stored.is_empty() {
        Screen::new().say("you are not logged in anywhere; log in with `switchboard login SERVER`");
        return Ok(());
    }
    let mut table = TextTable::new(&["SERVER", "ACCOUNT", "ISSUER", "TOKEN", "SCOPES"]);
    for login in &stored {
        table.push_row([
            one_line(&login.grant.server),
            one_line(&login.key.account),
            one_line(&login.key.issuer),
            expiry_text(login),
            one_line(&login.grant.scopes().to_string()),
        ]);
    }
    Ok(out.print(&table.render(&out))?)
}

fn account_json(stored: &StoredGrant) -> Value {
    let unix =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "server": stored.grant.server,
        "account": stored.key.account,
        "issuer": stored.key.issuer,
        "clientId": stored.key.client_id,
        "scopes": stored.grant.scopes().iter().collect::<Vec<_>>(),
        "expiresAt": stored.grant.expires_at.map(unix),
        "canRefresh": stored.grant.refresh_token.is_some(),
        "needsLogin": matches!(stored.grant.state, GrantState::NeedsLogin { .. }),
    })
}

/// Returns how long a token is valid, in words.
fn expiry_text(stored: &StoredGrant) -> String {
    if let GrantState::NeedsLogin { reason } = &stored.grant.state {
        return format!("rejected: {}", one_line(reason));
    }
    let Some(expires_at) = stored.grant.expires_at else { return "until the server rejects it".to_owned() };
    match expires_at.duration_since(SystemTime::now()) {
        Ok(left) => format!("for {}", duration_text(left)),
        Err(_) if stored.grant.refresh_token.is_some() => "expired, refreshed when used".to_owned(),
        Err(_) => "expired".to_owned(),
    }
}

/// Returns a time in words.
pub(crate) fn duration_text(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn http_client() -> Result<HttpClient, CommandError> {
    Ok(HttpClient::new(HttpClientOptions::from_environment()).map_err(switchboard::auth::AuthError::from)?)
}
