//! The login page in a browser, its callback on a loopback port or pasted into the terminal.

use std::fmt;
use std::sync::Arc;

use switchboard::auth::{
    AuthError, CallbackPort, FIXED_CALLBACK_PORT, LOGIN_TIMEOUT, LoginChannel, LoopbackListener,
    PendingCallback,
};
use switchboard::transport::http_client::{Address, BoxFuture};
use switchboard_terminal::StdinLines;

use crate::login::browser;
use crate::login::login_environment::LoginEnvironment;
use crate::login::pasted_callback::PastedCallback;
use crate::output::{Screen, indented};

/// Shows the login page in a browser and waits for the callback, on a loopback port and at the terminal side by side.
pub(crate) struct TerminalChannel {
    pub(crate) server: String,
    pub(crate) port: CallbackPort,
    /// Redirect URI that another machine forwards to the loopback port.
    pub(crate) callback_url: Option<Address>,
    /// Whether the user pastes the callback, and nothing listens.
    pub(crate) paste_only: bool,
    pub(crate) environment: LoginEnvironment,
    /// Whether the server supports logins by device code, too.
    pub(crate) has_device_login: bool,
    pub(crate) screen: Arc<Screen>,
    pub(crate) stdin: Arc<StdinLines>,
}

struct TerminalLogin {
    listener: Option<LoopbackListener>,
    redirect_uri: String,
    environment: LoginEnvironment,
    has_device_login: bool,
    screen: Arc<Screen>,
    stdin: Arc<StdinLines>,
}

impl TerminalChannel {
    async fn begin_at(&self, port: CallbackPort) -> Result<Box<dyn PendingCallback>, AuthError> {
        let mut listener = LoopbackListener::bind(&self.server, port).await?;
        if let Some(url) = &self.callback_url {
            // The tunnel or proxy keeps the path.
            listener = listener.with_path(url.uri().path());
        }
        let redirect_uri = match &self.callback_url {
            Some(url) => url.as_str().to_owned(),
            None => listener.redirect_uri().to_owned(),
        };
        Ok(Box::new(TerminalLogin {
            listener: (!self.paste_only).then_some(listener),
            redirect_uri,
            environment: self.environment.clone(),
            has_device_login: self.has_device_login,
            screen: Arc::clone(&self.screen),
            stdin: Arc::clone(&self.stdin),
        }))
    }
}

impl LoginChannel for TerminalChannel {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(self.begin_at(self.port))
    }

    fn begin_at_fixed_port(&self) -> BoxFuture<'_, Result<Option<Box<dyn PendingCallback>>, AuthError>> {
        Box::pin(async move {
            // A port or URL that the user named is registered as it is.
            match (self.port, &self.callback_url) {
                (CallbackPort::Stable, None) => {
                    self.begin_at(CallbackPort::Fixed(FIXED_CALLBACK_PORT)).await.map(Some)
                }
                _ => Ok(None),
            }
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
                pasted = self.read_pasted(url) => pasted,
                () = tokio::time::sleep(LOGIN_TIMEOUT) => {
                    Err(AuthError::LoginAborted("nobody finished it within ten minutes".to_owned()))
                }
            }
        })
    }
}

impl TerminalLogin {
    /// Says where the login runs, opens the browser if there is one, and tells the user what to do.
    fn show(&self, url: &str) {
        let listener = self.listener.as_ref();
        // A tunnel has its own way to the port.
        let port =
            listener.filter(|listener| listener.redirect_uri() == self.redirect_uri).and_then(loopback_port);
        if let Some(notice) = self.environment.notice(port) {
            self.say(&notice);
        }
        if self.has_device_login {
            self.say("This server also supports --device: you confirm a code in a browser on any device.");
        }
        let browser = self.environment.browser.as_deref().filter(|_| listener.is_some());
        self.say(match browser.is_some_and(|program| browser::open(program, url)) {
            true => "Your browser should show the login page. If not, open:",
            false => "Open this page:",
        });
        self.screen.say(&format!("\n  {url}\n"));
        self.say(match listener {
            Some(_) => {
                "After the login, this command goes on by itself. If the browser ends at a page that cannot be reached, copy \
                 its address and paste it here:"
            }
            None => "The login ends at a page that cannot be reached. Copy its address and paste it here:",
        });
    }

    /// Writes a paragraph.
    fn say(&self, text: &str) {
        self.screen.write(&indented(text, "", self.screen.out.prose_width()));
    }

    /// Reads the address of the callback that the user pastes.
    async fn read_pasted(&self, url: &str) -> Result<String, AuthError> {
        while let Some(line) = self.stdin.next_line().await {
            match PastedCallback::parse(&line, url) {
                PastedCallback::Callback(callback) => return Ok(callback),
                _ if line.trim().is_empty() => {}
                PastedCallback::CodeOnly => self.say(
                    "This is only the code: without its `state` nothing shows that it belongs to this login. Paste the \
                     whole address:",
                ),
                PastedCallback::OtherLogin => {
                    self.say("This address belongs to another login: its `state` differs. Paste the newest one:")
                }
                PastedCallback::Unrecognized => {
                    self.say("This is not the address of a callback: it has no `state`. Paste the whole address:")
                }
            }
        }
        match &self.listener {
            // Nobody can paste anything; the callback may still arrive.
            Some(_) => std::future::pending().await,
            None => {
                Err(AuthError::LoginAborted("standard input has ended and nothing was pasted".to_owned()))
            }
        }
    }
}

/// Returns the port of a listener.
fn loopback_port(listener: &LoopbackListener) -> Option<u16> {
    let address = listener.redirect_uri().strip_prefix("http://127.0.0.1:")?;
    address.split('/').next()?.parse().ok()
}

impl fmt::Debug for TerminalChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalChannel").field("server", &self.server).finish_non_exhaustive()
    }
}
