//! The login page in a browser, its callback on a loopback port or pasted into the terminal.

use std::fmt;
use std::sync::Arc;

use switchboard::auth::{
    AuthError, CallbackPort, LOGIN_TIMEOUT, LoginChannel, LoopbackListener, PendingCallback,
};
use switchboard::transport::http_client::BoxFuture;
use switchboard_terminal::StdinLines;

use crate::login::browser::{self, NoBrowser};
use crate::output::Screen;

/// Shows the login page in a browser and waits for the callback, on a loopback port and at the terminal side by side.
pub(crate) struct TerminalChannel {
    pub(crate) server: String,
    pub(crate) port: CallbackPort,
    /// Redirect URI that another machine forwards to the loopback port.
    pub(crate) callback_url: Option<String>,
    /// Whether the user pastes the callback, and nothing listens.
    pub(crate) paste_only: bool,
    pub(crate) screen: Arc<Screen>,
    pub(crate) stdin: Arc<StdinLines>,
}

struct TerminalLogin {
    listener: Option<LoopbackListener>,
    redirect_uri: String,
    screen: Arc<Screen>,
    stdin: Arc<StdinLines>,
}

impl LoginChannel for TerminalChannel {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async move {
            let listener = LoopbackListener::bind(&self.server, self.port).await?;
            let redirect_uri = match &self.callback_url {
                Some(url) => url.clone(),
                None => listener.redirect_uri().to_owned(),
            };
            let login = TerminalLogin {
                listener: (!self.paste_only).then_some(listener),
                redirect_uri,
                screen: Arc::clone(&self.screen),
                stdin: Arc::clone(&self.stdin),
            };
            Ok(Box::new(login) as Box<dyn PendingCallback>)
        })
    }
}

impl PendingCallback for TerminalLogin {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(async move {
            self.show(url);
            let arrives = async {
                match &self.listener {
                    Some(listener) => listener.wait(url).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                callback = arrives => callback,
                pasted = self.read_pasted() => pasted,
                () = tokio::time::sleep(LOGIN_TIMEOUT) => {
                    Err(AuthError::LoginAborted("nobody finished it within ten minutes".to_owned()))
                }
            }
        })
    }
}

impl TerminalLogin {
    /// Opens the browser if there is one, and tells the user what to do.
    fn show(&self, url: &str) {
        let no_browser = NoBrowser::detect();
        let is_open = self.listener.is_some() && no_browser.is_none() && browser::open(url);
        if let Some(reason) = no_browser {
            self.screen.say(reason.text());
        }
        let first = if is_open {
            "Your browser should show the login page. If not, open:"
        } else {
            "Open this page:"
        };
        self.screen.say(&format!("{first}\n\n  {url}\n"));
        self.screen.say(
            "After the login, this command goes on by itself. If the browser ends at a page that cannot be reached, copy \
             its address and paste it here:",
        );
    }

    /// Reads the address of the callback that the user pastes.
    async fn read_pasted(&self) -> Result<String, AuthError> {
        loop {
            match self.stdin.next_line().await {
                Some(line) if line.contains("state=") => return Ok(line.trim().to_owned()),
                Some(line) if line.trim().is_empty() => {}
                Some(_) => self.screen.say(
                    "This is not the address of a callback: it has no `state`. Paste the whole address:",
                ),
                // Nobody can paste anything; the callback may still arrive.
                None if self.listener.is_some() => std::future::pending().await,
                None => {
                    return Err(AuthError::LoginAborted(
                        "standard input has ended and nothing was pasted".to_owned(),
                    ));
                }
            }
        }
    }
}

impl fmt::Debug for TerminalChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalChannel").field("server", &self.server).finish_non_exhaustive()
    }
}
