//! Context for unit tests of a method: no server, no session, and predefined responses.

use serde_json::{Value, json};
use switchboard_protocol::ProgressParams;
use switchboard_session::server::Caller;

use super::{CallCx, Cx};

/// Builder for a test context. Input requests without a predefined response fail, as with a client that supports
/// none.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::Cx;
///
/// let cx = Cx::test().answer("consent", json!({"ok": true})).build();
/// assert!(cx.can_elicit());
/// ```
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it builds"]
pub struct TestCx {
    call: CallCx,
}

impl TestCx {
    /// Makes the user accept the elicitation `key` with this content.
    pub fn answer(self, key: &str, content: Value) -> Self {
        self.with_canned(key, json!({"action": "accept", "content": content}))
    }

    /// Makes the user decline the elicitation `key`.
    pub fn decline(self, key: &str) -> Self {
        self.with_canned(key, json!({"action": "decline"}))
    }

    /// Makes the user dismiss the elicitation `key`.
    pub fn dismiss(self, key: &str) -> Self {
        self.with_canned(key, json!({"action": "cancel"}))
    }

    /// Makes the model respond to the sampling request `key` with this text.
    pub fn sample_text(self, key: &str, text: &str) -> Self {
        let content = json!({"type": "text", "text": text});
        self.with_canned(key, json!({"role": "assistant", "model": "test", "content": content}))
    }

    fn with_canned(mut self, key: &str, answer: Value) -> Self {
        self.call.canned.insert(key.to_owned(), answer);
        self
    }

    /// Attaches a value, found by its type.
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.call.extensions.insert(value);
        self
    }

    /// Sets the authenticated caller.
    pub fn caller(self, caller: Caller) -> Self {
        self.extension(caller)
    }

    /// Sets the callback for progress notifications.
    pub fn on_progress(mut self, callback: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.call = self.call.on_progress(callback);
        self
    }

    /// Builds the context.
    pub fn build(self) -> Cx {
        self.call.build()
    }
}

impl From<TestCx> for Cx {
    fn from(test: TestCx) -> Self {
        test.build()
    }
}
