//! A context for tests of a method: no server, no session, and answers that are known before.

use serde_json::{Value, json};
use switchboard_protocol::ProgressParams;
use switchboard_session::server::Caller;

use super::{CallOptions, Cx};

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
    options: CallOptions,
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
        self.options.canned.insert(key.to_owned(), answer);
        self
    }

    /// What is found by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.options.extensions.insert(value);
        self
    }

    /// On whose behalf the call is made.
    #[must_use]
    pub fn caller(self, caller: Caller) -> Self {
        self.extension(caller)
    }

    /// Who is told of progress.
    #[must_use]
    pub fn progress(mut self, tell: impl Fn(ProgressParams) + Send + Sync + 'static) -> Self {
        self.options = self.options.progress(tell);
        self
    }

    /// To call with.
    pub fn build(self) -> Cx {
        self.options.build()
    }
}

impl From<TestCx> for Cx {
    fn from(test: TestCx) -> Self {
        test.build()
    }
}
