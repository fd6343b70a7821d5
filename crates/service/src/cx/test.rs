//! A context for tests of a method: no server, no session, and answers that are known before.

use serde_json::{Value, json};
use switchboard_protocol::ProgressParams;
use switchboard_session::server::Caller;

use super::{CallCx, Cx};

/// A context being made for a test. Questions that it has no answer for fail, as with a client that cannot be asked.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::Cx;
///
/// let cx = Cx::test().answer("consent", json!({"ok": true})).build();
/// assert!(cx.can_elicit());
/// ```
#[derive(Debug, Default)]
pub struct TestCx {
    call: CallCx,
}

impl TestCx {
    /// The user fills in the question of this key.
    #[must_use]
    pub fn answer(self, key: &str, content: Value) -> Self {
        self.known(key, json!({"action": "accept", "content": content}))
    }

    /// The user says no to the question of this key.
    #[must_use]
    pub fn decline(self, key: &str) -> Self {
        self.known(key, json!({"action": "decline"}))
    }

    /// The user does not answer the question of this key.
    #[must_use]
    pub fn dismiss(self, key: &str) -> Self {
        self.known(key, json!({"action": "cancel"}))
    }

    /// The model says this to the question of this key.
    #[must_use]
    pub fn sampled(self, key: &str, text: &str) -> Self {
        let content = json!({"type": "text", "text": text});
        self.known(key, json!({"role": "assistant", "model": "test", "content": content}))
    }

    fn known(mut self, key: &str, answer: Value) -> Self {
        self.call.canned.insert(key.to_owned(), answer);
        self
    }

    /// What is found by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.call.extensions.insert(value);
        self
    }

    /// On whose behalf the call is made.
    #[must_use]
    pub fn caller(self, caller: Caller) -> Self {
        self.extension(caller)
    }

    /// Sets the callback for progress.
    #[must_use]
    pub fn on_progress(mut self, callback: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.call = self.call.on_progress(callback);
        self
    }

    /// To call with.
    pub fn build(self) -> Cx {
        self.call.build()
    }
}

impl From<TestCx> for Cx {
    fn from(test: TestCx) -> Self {
        test.build()
    }
}
