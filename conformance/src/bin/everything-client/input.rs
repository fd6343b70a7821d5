//! Input of a scenario: from the environment, and from the last argument.

use std::env;

use serde::Deserialize;
use switchboard::protocol::{Raw, Revision};

/// Input of a scenario.
pub(crate) struct ScenarioInput {
    pub(crate) url: String,
    pub(crate) scenario: String,
    /// Revision of the mock server.
    pub(crate) revision: Revision,
    pub(crate) context: Context,
}

/// Additional input of some scenarios.
#[derive(Deserialize, Default)]
pub(crate) struct Context {
    #[serde(default, rename = "toolCalls")]
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<String>,
    pub(crate) private_key_pem: Option<String>,
    pub(crate) signing_algorithm: Option<String>,
    pub(crate) idp_client_id: Option<String>,
    pub(crate) idp_id_token: Option<String>,
    pub(crate) idp_token_endpoint: Option<String>,
    pub(crate) valid_jwt: Option<String>,
}

/// A call to make.
#[derive(Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    #[serde(default = "Raw::empty_object")]
    pub(crate) arguments: Raw,
}

impl ScenarioInput {
    pub(crate) fn from_environment() -> Result<Self, String> {
        let set = |name: &str| env::var(name).map_err(|_| format!("{name} is not set"));
        let url = env::args().skip(1).last().ok_or("the URL of the server is missing")?;
        let revision = set("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
        let context = match env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text).map_err(|error| error.to_string())?,
            Err(_) => Context::default(),
        };
        Ok(Self {
            url,
            scenario: set("MCP_CONFORMANCE_SCENARIO")?,
            revision: revision.parse().map_err(|_| format!("{revision} is not a known revision"))?,
            context,
        })
    }
}
