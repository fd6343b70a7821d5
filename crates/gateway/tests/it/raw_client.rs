//! A modern client that sees every round of a call: it sends requests and returns their results as they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use switchboard::InProcess;
use switchboard::protocol::surface::TASKS_EXTENSION;
use switchboard::protocol::{FromRaw, InputRequired, Meta, Raw, RequestId, Revision, RpcError};
use switchboard::server::Caller;
use switchboard::transport::link::{Dial, DialStep, Exchange, ExchangeKind, Link, Mirror, OutgoingRequest};
use switchboard_session::server::Server;

/// A modern client.
pub(crate) struct RawClient {
    link: Arc<dyn Link>,
    next: AtomicI64,
    capabilities: serde_json::Value,
}

impl RawClient {
    pub(crate) async fn connect(server: &Arc<Server>, caller: Option<&str>) -> Self {
        let dial = InProcess::new(server);
        let dial = match caller {
            Some(caller) => dial.with_caller(Caller::new(caller)),
            None => dial,
        };
        let capabilities = serde_json::json!({ "elicitation": { "form": {}, "url": {} } });
        let link = dial.dial(DialStep::Modern, None).await.unwrap();
        Self { link, next: AtomicI64::new(1), capabilities }
    }

    /// Declares the tasks extension, too.
    pub(crate) fn with_tasks(mut self) -> Self {
        self.capabilities["extensions"] = serde_json::json!({ TASKS_EXTENSION: {} });
        self
    }

    /// Opens a tool call; `rest` has the members besides the name.
    pub(crate) fn open(&self, tool: &str, rest: serde_json::Value) -> Exchange {
        let mut params = serde_json::json!({
            "name": tool,
            "_meta": {
                Meta::PROTOCOL_VERSION: Revision::LATEST.as_str(),
                Meta::CLIENT_INFO: { "name": "raw", "version": "1" },
                Meta::CLIENT_CAPABILITIES: self.capabilities,
            },
        });
        for (name, value) in rest.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.link.open(OutgoingRequest {
            id: RequestId::Number(self.next.fetch_add(1, Ordering::Relaxed)),
            method: "tools/call",
            params: &params.to_string(),
            mirror: Mirror::default(),
            kind: ExchangeKind::Call,
            call: None,
        })
    }

    /// Sends any request; `members` are those of its params besides `_meta`, as text.
    pub(crate) async fn request(&self, method: &'static str, members: &str) -> Result<Raw, RpcError> {
        let meta = serde_json::json!({
            Meta::PROTOCOL_VERSION: Revision::LATEST.as_str(),
            Meta::CLIENT_INFO: { "name": "raw", "version": "1" },
            Meta::CLIENT_CAPABILITIES: self.capabilities,
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        });
        let comma = if members.is_empty() { "" } else { "," };
        let request = OutgoingRequest {
            id: RequestId::Number(self.next.fetch_add(1, Ordering::Relaxed)),
            method,
            params: &format!(r#"{{"_meta":{meta}{comma}{members}}}"#),
            mirror: Mirror::default(),
            kind: ExchangeKind::Call,
            call: None,
        };
        self.link.open(request).done().await.unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, rest: serde_json::Value) -> Result<Raw, RpcError> {
        self.open(tool, rest).done().await.unwrap()
    }

    /// Calls a tool that asks, and returns the key of its only question and the state.
    pub(crate) async fn question(
        &self,
        tool: &str,
        rest: serde_json::Value,
    ) -> Result<(String, String), RpcError> {
        let input = InputRequired::from_raw(&self.call(tool, rest).await?).unwrap();
        let keys: Vec<String> = input.input_requests.unwrap().keys().map(str::to_owned).collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
        Ok((keys[0].clone(), input.request_state.unwrap()))
    }
}

/// The members of a retry that accepts with a color.
pub(crate) fn answer(key: &str, state: &str, color: &str) -> serde_json::Value {
    serde_json::json!({
        "inputResponses": { key: { "action": "accept", "content": { "color": color } } },
        "requestState": state,
    })
}
