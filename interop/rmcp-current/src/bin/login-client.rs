//! A client of a protected service, written with the current rmcp:
//! `login-client [--era auto|legacy|modern] --url URL -- BROWSER…`
//!
//! Logs in when the server asks for it: BROWSER… is run with the address of the login page and prints the address of the
//! callback. Calls `whoami`, then `clear`, which needs more scopes, then `whoami` again; closes, and prints what it saw as
//! one line of JSON.

use std::process::ExitCode;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::auth::{AuthClient, AuthorizationCallback, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::{
    InsufficientScopeError, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

const USAGE: &str = "usage: login-client [--era auto|legacy|modern] --url URL -- BROWSER…";

// Nobody listens there: the browser prints where it was sent.
const REDIRECT: &str = "http://127.0.0.1:7/callback";

type Failure = Box<dyn std::error::Error>;

struct Arguments {
    lifecycle: ClientLifecycleMode,
    url: String,
    browser: Vec<String>,
}

fn parse(mut given: impl Iterator<Item = String>) -> Option<Arguments> {
    let modern = || vec![ProtocolVersion::V_2026_07_28];
    let auto = || ClientLifecycleMode::Auto { preferred_versions: modern(), legacy_version: None };
    let (mut lifecycle, mut url) = (auto(), None);
    while let Some(word) = given.next() {
        match word.as_str() {
            "--era" => {
                lifecycle = match given.next()?.as_str() {
                    "auto" => auto(),
                    "legacy" => ClientLifecycleMode::Initialize,
                    "modern" => ClientLifecycleMode::Discover { preferred_versions: modern() },
                    _ => return None,
                }
            }
            "--url" => url = given.next(),
            "--" => return Some(Arguments { lifecycle, url: url?, browser: given.collect() }),
            _ => return None,
        }
    }
    None
}

/// One user, whose browser is a program.
struct User {
    browser: Vec<String>,
    logins: u32,
}

impl User {
    /// Visits the login page and returns the address of the callback.
    async fn visit(&mut self, url: &str) -> Result<String, Failure> {
        self.logins += 1;
        let output = Command::new(&self.browser[0]).args(&self.browser[1..]).arg(url).output().await?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }
}

type Auth = AuthClient<reqwest::Client>;

/// Logs in before the first request, as rmcp's own example does.
async fn log_in(url: &str, user: &mut User) -> Result<Auth, Failure> {
    let mut state = OAuthState::new(url, None).await?;
    let request = AuthorizationRequest::new(REDIRECT)
        .with_initial_scope_selection()
        .with_client_name("rmcp")
        .with_application_type("native");
    state.start_authorization(request).await?;
    let callback = user.visit(&state.get_authorization_url().await?).await?;
    state.handle_callback_url(&callback).await?;
    let manager = state.into_authorization_manager().ok_or("the login is not finished")?;
    Ok(AuthClient::new(reqwest::Client::default(), manager))
}

/// Asks for the scopes that a refused call needs.
async fn step_up(auth: &Auth, refused: &InsufficientScopeError, user: &mut User) -> Result<(), Failure> {
    let scope = refused.get_required_scope().ok_or("the challenge names no scope")?;
    let manager = auth.auth_manager.lock().await;
    let callback = user.visit(&manager.request_scope_upgrade(scope).await?).await?;
    let callback = AuthorizationCallback::from_redirect_url(&callback)?;
    let issuer = callback.issuer.as_deref();
    manager.exchange_code_for_token_with_issuer(&callback.code, &callback.csrf_token, issuer).await?;
    Ok(())
}

async fn run(arguments: Arguments) -> Result<Value, Failure> {
    let mut user = User { browser: arguments.browser, logins: 0 };
    let auth = log_in(&arguments.url, &mut user).await?;
    let config = StreamableHttpClientTransportConfig::with_uri(arguments.url);
    let transport = StreamableHttpClientTransport::with_client(auth.clone(), config);
    let client = ().serve_with_lifecycle(transport, arguments.lifecycle).await?;
    let peer = client.peer_info().ok_or("no word from the server about itself")?;
    let peer = serde_json::to_value(&*peer)?;

    let first = call(&client, "whoami").await?;
    let cleared = match call(&client, "clear").await {
        Err(error) => {
            let refused = insufficient_scope(&error).ok_or_else(|| error.to_string())?;
            step_up(&auth, refused, &mut user).await?;
            call(&client, "clear").await?
        }
        Ok(cleared) => cleared,
    };
    let last = call(&client, "whoami").await?;
    client.cancel().await?;
    Ok(json!({
        "protocolVersion": peer["protocolVersion"],
        "first": first,
        "cleared": cleared,
        "last": last,
        "logins": user.logins,
    }))
}

/// Returns the challenge of a refused call.
fn insufficient_scope(error: &ServiceError) -> Option<&InsufficientScopeError> {
    let ServiceError::TransportSend(error) = error else { return None };
    let mut current: Option<&(dyn std::error::Error + 'static)> = Some(&*error.error);
    while let Some(error) = current {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        current = error.source();
    }
    None
}

/// Calls a tool and takes the first text of its result.
async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str) -> Result<Value, ServiceError> {
    let result = client.call_tool(CallToolRequestParams::new(tool)).await?;
    Ok(serde_json::to_value(result).map(|result| result["content"][0]["text"].clone()).unwrap_or_default())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(arguments) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(arguments).await {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("login-client: {error}");
            ExitCode::FAILURE
        }
    }
}
