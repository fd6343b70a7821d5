//! `switchboard accounts` and `logout`: the logins of this user.

use std::time::SystemTime;

use serde_json::{Value, json};
use switchboard::auth::{AuthError, OAuthAuthorizer, OAuthOptions, Revocation, ServerAccount, TokenStore};

use crate::args::{AccountsArgs, LogoutArgs};
use crate::configured_servers::LoginTarget;
use crate::error::{CommandError, ExitKind};
use crate::login::{AccountSelector, LoginOverview, expiry_text, http_client, login_json, open_store};
use crate::output::{OutputStream, Screen, TextTable, encode, print_json};
use crate::sanitize::one_line;

/// Logs out of a server: revokes the tokens and removes them.
///
/// # Errors
/// Returns an error if there is no login, or the token store fails.
pub(crate) async fn logout(args: &LogoutArgs) -> Result<(), CommandError> {
    let target = LoginTarget::resolve(&args.server)?;
    let logins = LoginOverview::read().await?;
    let named = target.account(args.account.as_deref());
    let selector = AccountSelector::new(named, true);
    let account = logins.select(&target.address, &selector)?.map(|login| login.key.account.clone());
    let account = account.unwrap_or_else(|| named.unwrap_or(ServerAccount::DEFAULT).to_owned());
    let options = OAuthOptions::default().with_account(&account);
    let authorizer =
        OAuthAuthorizer::new(http_client()?, target.address.clone(), options).with_store(open_store()?);
    let name = target.with_account(&account);
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
        Revocation::RefreshTokenOnly => (
            "refresh_token_only",
            "its refresh token is revoked; the server cannot revoke access tokens, so the last one stays valid until it \
             expires"
                .to_owned(),
        ),
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
        let done = json!({ "server": target.name, "account": account, "revocation": revoked });
        return print_json(&out, &encode(&done)?);
    }
    Ok(out.print(&format!("logged out of {name}: {note}\n"))?)
}

/// Lists the logins of this user.
///
/// # Errors
/// Returns an error if the token store cannot be read.
pub(crate) async fn list(args: &AccountsArgs) -> Result<(), CommandError> {
    let stored = open_store()?.list().await.map_err(AuthError::from)?;
    let out = OutputStream::stdout();
    if args.json {
        let all: Vec<Value> = stored.iter().map(login_json).collect();
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
            expiry_text(login, SystemTime::now()),
            one_line(&login.grant.scopes().to_string()),
        ]);
    }
    Ok(out.print(&table.render(&out))?)
}
