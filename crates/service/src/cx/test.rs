//! Context for unit tests of a method: no server, no session, and predefined responses.

use serde_json::{Value, json};
use switchboard_protocol::ProgressParams;
use switchboard_session::server::Caller;

use super::{CallOptions, Cx};

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
pub struct TestCx {
    options: CallOptions,
}

impl TestCx {
    /// The user accepts the elicitation `key` with this content.
    #[must_use]
    pub fn answer(self, key: &str, content: Value) -> Self {
        self.with_canned(key, json!({"action": "accept", "content": content}))
    }

    /// The user declines the elicitation `key`.
    #[must_use]
    pub fn decline(self, key: &str) -> Self {
        self.with_canned(key, json!({"action": "decline"}))
    }

    /// The user dismisses the elicitation `key`.
    #[must_use]
    pub fn dismiss(self, key: &str) -> Self {
        self.with_canned(key, json!({"action": "cancel"}))
    }

    /// The model responds to the sampling request `key` with this text.
    #[must_use]
    pub fn sample_text(self, key: &str, text: &str) -> Self {
        let content = json!({"type": "text", "text": text});
        self.with_canned(key, json!({"role": "assistant", "model": "test", "content": content}))
    }

    fn with_canned(mut self, key: &str, answer: Value) -> Self {
        self.options.canned.insert(key.to_owned(), answer);
        self
    }

    /// Attaches a value, found by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.options.extensions.insert(value);
        self
    }

    /// Sets the authenticated caller.
    #[must_use]
    pub fn caller(self, caller: Caller) -> Self {
        self.extension(caller)
    }

    /// Sets the receiver of progress notifications.
    #[must_use]
    pub fn progress(mut self, notify: impl Fn(ProgressParams) + Send + Sync + 'static) -> Self {
        self.options = self.options.progress(notify);
        self
    }

    /// Builds the context.
    pub fn build(self) -> Cx {
        self.options.build()
    }
}

impl From<TestCx> for Cx {
    fn from(test: TestCx) -> Self {
        test.build()
    }
}
