//! `switchboard login`: logs in to a server with OAuth, in a browser here or elsewhere.

use std::sync::Arc;
use std::time::SystemTime;

use switchboard::auth::{
    CallbackPort, OAuthAuthorizer, OAuthClient, OAuthOptions, PkcePolicy, ResourceParameter, Scopes,
    StoredGrant,
};
use switchboard::transport::http_client::{Address, Challenge, PlainHttp, Secret};
use switchboard_terminal::StdinLines;

use crate::args::LoginArgs;
use crate::configured_servers::LoginTarget;
use crate::error::CommandError;
use crate::login::{
    LoginEnvironment, TerminalChannel, TerminalDevicePrompt, expiry_text, explain_login_error, http_client,
    login_json, open_store,
};
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::signals::Signals;

/// Logs in to a server.
///
/// # Errors
/// Returns an error if the server cannot be reached, the login fails, or the user interrupts it.
pub(crate) async fn run(args: &LoginArgs, stdin: Arc<StdinLines>) -> Result<(), CommandError> {
    let mut signals = Signals::catch()?;
    let target = LoginTarget::resolve(&args.server)?;
    let stored = tokio::select! {
        stored = log_in(args, &target, stdin) => stored?,
        signal = signals.next() => return Err(CommandError::Interrupted { signal }),
    };
    let out = OutputStream::stdout();
    if args.json {
        return print_json(&out, &encode(&login_json(&stored))?);
    }
    let until = expiry_text(&stored, SystemTime::now());
    let refresh = match stored.grant.refresh_token {
        Some(_) => "; it is refreshed by itself",
        None => "; the server issued no refresh token, so log in again then",
    };
    let name = target.with_account(&stored.key.account);
    Ok(out.print(&format!("logged in to {name}: the token is valid {until}{refresh}\n"))?)
}

async fn log_in(
    args: &LoginArgs,
    target: &LoginTarget,
    stdin: Arc<StdinLines>,
) -> Result<StoredGrant, CommandError> {
    let options = options(args, target.options()?)?;
    let callback_url = args.callback_url.as_deref().map(parse_callback_url).transpose()?;
    let http = http_client()?;
    let challenges = target.challenges(&http).await?;
    let authorizer = OAuthAuthorizer::new(http, target.address.clone(), options).with_store(open_store()?);
    let screen = Arc::new(Screen::with_json_warnings(args.json));
    if args.device {
        let prompt = TerminalDevicePrompt { screen, json: args.json };
        let login = authorizer.log_in_with_device(&challenges, Arc::new(prompt));
        return login.await.map_err(explain_login_error);
    }
    let environment = LoginEnvironment::of_process();
    // Only where the browser is on another machine: it costs a second look at the metadata.
    let has_device_login =
        environment.has_remote_browser() && supports_device(&authorizer, &challenges).await;
    let port = args.port.or_else(|| target.oauth.as_ref()?.callback_port);
    let channel = TerminalChannel {
        server: target.address.as_str().to_owned(),
        port: port.map_or(CallbackPort::Stable, CallbackPort::Fixed),
        callback_url,
        paste_only: args.paste,
        environment,
        has_device_login,
        screen,
        stdin,
    };
    authorizer.with_login(Arc::new(channel)).log_in(&challenges).await.map_err(explain_login_error)
}

async fn supports_device(authorizer: &OAuthAuthorizer, challenges: &[Challenge]) -> bool {
    let found = authorizer.discover(challenges).await;
    found.is_ok_and(|found| found.server.device_authorization_endpoint.is_some())
}

fn parse_callback_url(url: &str) -> Result<Address, CommandError> {
    Address::parse(url, PlainHttp::LoopbackOnly)
        .map_err(|error| CommandError::usage(format!("--callback-url: {error}")))
}

/// Returns the settings of a login: those of the entry, and the options of the command line above them.
fn options(args: &LoginArgs, mut options: OAuthOptions) -> Result<OAuthOptions, CommandError> {
    if let Some(account) = &args.account {
        options = options.with_account(account);
    }
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
    for (name, value) in &args.authorize_param {
        options = options.with_authorize_parameter(name, value);
    }
    if let Some(url) = &args.server_metadata_url {
        options = options.with_server_metadata_url(url);
    }
    if args.assume_pkce {
        options = options.with_pkce(PkcePolicy::Assume);
    }
    Ok(match args.resource.as_deref() {
        None => options,
        Some("omit") => options.with_resource(ResourceParameter::Omit),
        Some(url) => options.with_resource(ResourceParameter::Value(url.to_owned())),
    })
}
