//! A login channel without a browser: each login waits until the test lets the user agree or give up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use switchboard_auth::{AuthError, LoginChannel, PendingCallback};
use switchboard_http::BoxFuture;
use tokio::sync::watch;

const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";
pub(crate) const FIXED_REDIRECT_URI: &str = "http://127.0.0.1:28417/callback";

/// What the user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserAction {
    Wait,
    Agree,
    GiveUp,
}

#[derive(Debug)]
pub(crate) struct ScriptedLogin {
    action: watch::Sender<UserAction>,
    /// How many login pages were shown, and how many of them were left.
    pages: watch::Sender<(usize, usize)>,
    urls: Mutex<Vec<String>>,
    /// Errors that the authorization server sends instead of codes, first to last.
    pub(crate) errors: Mutex<Vec<&'static str>>,
}

impl ScriptedLogin {
    pub(crate) fn new(action: UserAction) -> Arc<Self> {
        Arc::new(Self {
            action: watch::Sender::new(action),
            pages: watch::Sender::new((0, 0)),
            urls: Mutex::default(),
            errors: Mutex::default(),
        })
    }

    pub(crate) fn act(&self, action: UserAction) {
        self.action.send_replace(action);
    }

    /// Returns how many login pages were shown.
    pub(crate) fn pages(&self) -> usize {
        self.pages.borrow().0
    }

    /// Waits until so many login pages were shown.
    pub(crate) async fn wait_for_page(&self, count: usize) {
        self.pages.subscribe().wait_for(|pages| pages.0 >= count).await.unwrap();
    }

    /// Waits until so many login pages were left, by whatever way.
    pub(crate) async fn wait_for_end(&self, count: usize) {
        self.pages.subscribe().wait_for(|pages| pages.1 >= count).await.unwrap();
    }

    /// Returns the parameters of the authorization requests, in order.
    pub(crate) fn requests(&self) -> Vec<HashMap<String, String>> {
        let query = |url: &String| {
            form_urlencoded::parse(url.split_once('?').unwrap().1.as_bytes()).into_owned().collect()
        };
        self.urls.lock().unwrap().iter().map(query).collect()
    }
}

/// The channel of a [`ScriptedLogin`].
#[derive(Debug)]
pub(crate) struct ScriptedChannel(pub(crate) Arc<ScriptedLogin>);

struct Page(Arc<ScriptedLogin>, &'static str);

impl LoginChannel for ScriptedChannel {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async { Ok(Box::new(Page(Arc::clone(&self.0), REDIRECT_URI)) as Box<dyn PendingCallback>) })
    }

    fn begin_at_fixed_port(&self) -> BoxFuture<'_, Result<Option<Box<dyn PendingCallback>>, AuthError>> {
        let page = Page(Arc::clone(&self.0), FIXED_REDIRECT_URI);
        Box::pin(async { Ok(Some(Box::new(page) as Box<dyn PendingCallback>)) })
    }
}

impl PendingCallback for Page {
    fn redirect_uri(&self) -> &str {
        self.1
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        self.0.urls.lock().unwrap().push(url.to_owned());
        self.0.pages.send_modify(|pages| pages.0 += 1);
        let query: HashMap<String, String> =
            form_urlencoded::parse(url.split_once('?').unwrap().1.as_bytes()).into_owned().collect();
        Box::pin(async move {
            let mut actions = self.0.action.subscribe();
            let action = *actions.wait_for(|action| *action != UserAction::Wait).await.unwrap();
            let mut errors = self.0.errors.lock().unwrap();
            let answer = if errors.is_empty() {
                "code=c0de".to_owned()
            } else {
                format!("error={}", errors.remove(0))
            };
            match action {
                UserAction::Agree => Ok(format!("{}?{answer}&state={}", self.1, query["state"])),
                _ => Err(AuthError::LoginAborted("the user gave up".to_owned())),
            }
        })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.0.pages.send_modify(|pages| pages.1 += 1);
    }
}
