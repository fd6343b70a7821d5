//! The tools of the server.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use bench_kit::{Usage, fixture};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CacheScope, ListToolsResult, PaginatedRequestParams, ProtocolVersion, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

/// The table of what runs which tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routes {
    /// Made for each call, as `#[tool_handler]` does unless told otherwise.
    Made,
    /// Made once and kept in the handler.
    Kept,
}

/// The handler. A clone shares everything.
#[derive(Clone)]
pub struct Tools {
    kept: Option<Arc<ToolRouter<Self>>>,
    list: Arc<Vec<Tool>>,
    /// Made when it is first asked for, so that the server starts fast.
    big: Arc<OnceLock<String>>,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[tool_router]
impl Tools {
    #[tool(description = "Says the text back.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Answers one text of 1 MiB.")]
    async fn big(&self) -> String {
        self.big.get_or_init(fixture::big).clone()
    }

    #[tool(description = "Says what this process has used so far.")]
    async fn usage(&self) -> String {
        Usage::now().text()
    }
}

impl Tools {
    /// The handler, with this many tools.
    pub fn new(tools: usize, routes: Routes) -> Self {
        let router = Self::tool_router();
        let listed = |definition: &fixture::Definition| match router.get(&definition.name) {
            Some(tool) => tool.clone(),
            None => {
                serde_json::from_str(&definition.json()).expect("the definitions of the fixture are JSON")
            }
        };
        let list = Arc::new(fixture::tools(tools).iter().map(listed).collect());
        let kept = (routes == Routes::Kept).then(|| Arc::new(router));
        Self { kept, list, big: Arc::default() }
    }

    fn router(&self) -> Cow<'_, ToolRouter<Self>> {
        match &self.kept {
            Some(router) => Cow::Borrowed(router),
            None => Cow::Owned(Self::tool_router()),
        }
    }
}

#[tool_handler(router = self.router(), name = "bench", version = "1.0.0")]
impl ServerHandler for Tools {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::with_all_items(self.list.to_vec());
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Public);
        }
        Ok(result)
    }
}
