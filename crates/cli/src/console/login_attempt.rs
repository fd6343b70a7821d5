//! One login that the page shows: the address to open or the code to enter, and the callback on a loopback port.

use std::sync::Arc;

use switchboard::auth::{
    AuthError, CallbackPort, DeviceChannel, DevicePrompt, FIXED_CALLBACK_PORT, LOGIN_TIMEOUT, LoginChannel,
    LoopbackListener, OAuthAuthorizer, PendingCallback, StoredGrant,
};
use switchboard::transport::http_client::{BoxFuture, Challenge};
use switchboard_console::contract::LoginStep;
use switchboard_console::providers::StepSink;

use crate::configured_servers::LoginTarget;
use crate::error::CommandError;
use crate::login::{LoginEnvironment, explain_login_error, http_client, open_store};
use crate::sanitize::one_line;

/// Logs in to a server, and reports the steps but the last.
///
/// # Errors
/// Returns an error if the server cannot be reached, or the login fails.
pub(super) async fn log_in(
    target: &LoginTarget,
    account: Option<&str>,
    steps: &StepSink<LoginStep>,
) -> Result<StoredGrant, CommandError> {
    let mut options = target.options()?;
    if let Some(account) = account {
        options = options.with_account(account);
    }
    let http = http_client()?;
    let challenges = target.challenges(&http).await?;
    let authorizer = OAuthAuthorizer::new(http, target.address.clone(), options).with_store(open_store()?);
    // A callback on a loopback port reaches this machine only.
    let is_remote = LoginEnvironment::of_process().has_remote_browser();
    if is_remote && supports_device(&authorizer, &challenges).await {
        let channel = PageDevicePrompt { steps: steps.clone() };
        let login = authorizer.log_in_with_device(&challenges, Arc::new(channel));
        return login.await.map_err(explain_login_error);
    }
    let port = target.oauth.as_ref().and_then(|oauth| oauth.callback_port);
    let channel = PageChannel {
        server: target.address.as_str().to_owned(),
        port: port.map_or(CallbackPort::Stable, CallbackPort::Fixed),
        steps: steps.clone(),
    };
    authorizer.with_login(Arc::new(channel)).log_in(&challenges).await.map_err(explain_login_error)
}

async fn supports_device(authorizer: &OAuthAuthorizer, challenges: &[Challenge]) -> bool {
    let found = authorizer.discover(challenges).await;
    found.is_ok_and(|found| found.server.device_authorization_endpoint.is_some())
}

/// Lets the page open the login page.
#[derive(Debug)]
struct PageChannel {
    server: String,
    port: CallbackPort,
    steps: StepSink<LoginStep>,
}

struct PageLogin {
    listener: LoopbackListener,
    steps: StepSink<LoginStep>,
}

impl PageChannel {
    async fn begin_at(&self, port: CallbackPort) -> Result<Box<dyn PendingCallback>, AuthError> {
        let listener = LoopbackListener::bind(&self.server, port).await?;
        Ok(Box::new(PageLogin { listener, steps: self.steps.clone() }))
    }
}

impl LoginChannel for PageChannel {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(self.begin_at(self.port))
    }

    fn begin_at_fixed_port(&self) -> BoxFuture<'_, Result<Option<Box<dyn PendingCallback>>, AuthError>> {
        Box::pin(async move {
            match self.port {
                CallbackPort::Stable => {
                    self.begin_at(CallbackPort::Fixed(FIXED_CALLBACK_PORT)).await.map(Some)
                }
                // A port that the entry names is registered as it is.
                _ => Ok(None),
            }
        })
    }
}

impl PendingCallback for PageLogin {
    fn redirect_uri(&self) -> &str {
        self.listener.redirect_uri()
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(async move {
            self.steps.send(LoginStep::OpenUrl { url: url.to_owned() });
            let callback = tokio::time::timeout(LOGIN_TIMEOUT, self.listener.wait(url)).await;
            let callback = callback.unwrap_or_else(|_| {
                Err(AuthError::LoginAborted("nobody finished it within ten minutes".to_owned()))
            })?;
            self.steps.send(LoginStep::Exchanging);
            Ok(callback)
        })
    }
}

/// Lets the page show the code of a device login.
struct PageDevicePrompt {
    steps: StepSink<LoginStep>,
}

impl DeviceChannel for PageDevicePrompt {
    fn show<'a>(&'a self, prompt: &'a DevicePrompt) -> BoxFuture<'a, Result<(), AuthError>> {
        self.steps.send(LoginStep::DeviceCode {
            user_code: one_line(&prompt.user_code),
            verification_uri: prompt.verification_uri.clone(),
            verification_uri_complete: prompt.verification_uri_complete.clone(),
        });
        Box::pin(std::future::ready(Ok(())))
    }
}
