//! The assistant: a service designed once, as a trait. Its server, its typed client, its command line and its documents
//! come from what is written here.
//!
//! [`Assistant`] is the design; [`types`] are what its methods take and give; [`mod@service`] is an implementation.

pub mod service;
pub mod types;

use switchboard::service::prelude::*;
pub use types::*;

/// An assistant that reads texts, runs code and watches over itself.
///
/// Search the knowledge base before answering from memory. Ask before code is run; the service does so itself.
#[switchboard::service(
    name = "assistant-mcp",
    version = "1.0.0",
    protocols("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
    rpc = "/rpc"
)]
pub trait Assistant {
    /// Tells the mood of a text.
    #[tool(read_only, idempotent, title = "Analyze sentiment", example = { "text": "I love this new feature!" })]
    async fn analyze_sentiment(
        &self,
        /// The text to look at
        #[schemars(length(min = 1))]
        text: String,
    ) -> Result<Sentiment>;

    /// Finds the words that matter in a text.
    #[tool(read_only, idempotent)]
    async fn extract_keywords(
        &self,
        /// The text to look at
        text: String,
    ) -> Result<Keywords>;

    /// Makes a text shorter.
    #[tool(read_only, idempotent)]
    async fn summarize_text(
        &self,
        /// The text to shorten
        text: String,
        /// How many sentences to keep
        #[schemars(range(min = 1, max = 20))]
        sentences: Option<u32>,
    ) -> Result<String>;

    /// Searches the knowledge base.
    #[tool(read_only, idempotent, tags("search"))]
    async fn search_knowledge(&self, #[args] query: SearchQuery) -> Result<Hits>;

    /// Runs code, after the user has agreed.
    #[tool(destructive, open_world, since = "1.0.0", example = { "language": "python", "code": "print(1)" })]
    async fn execute_code(
        &self,
        cx: &Cx,
        /// What the code is written in
        language: Language,
        /// The code
        code: String,
    ) -> Result<Execution>;

    /// Works through items, and tells of each as it is done.
    #[tool(example = { "items": ["a", "b"] })]
    async fn process_batch(
        &self,
        cx: &Cx,
        events: Events<MixedEvent<Done>>,
        /// What to work through
        #[schemars(length(max = 1000))]
        items: Vec<String>,
        /// How each is told
        format: Option<BatchFormat>,
    ) -> Result<BatchSummary>;

    /// Rewrites the whole index. Takes long: may run as a task.
    #[tool(task, idempotent)]
    async fn rebuild_index(
        &self,
        cx: &Cx,
        /// How many steps it takes
        #[schemars(range(max = 100))]
        steps: u32,
    ) -> Result<Rebuilt>;

    /// All documents.
    #[resource(uri = "doc://list", name = "documents", ttl = "30s")]
    async fn list_documents(&self) -> Result<Documents>;

    /// One document.
    #[resource(uri = "doc://{id}", name = "document", mime = "text/markdown")]
    async fn document(&self, id: String) -> Result<String>;

    /// How the system is.
    #[resource(uri = "status://system", name = "status", watch)]
    async fn system_status(&self) -> Result<Status>;

    /// Tells whenever the status changes.
    #[subscription(resource = "status")]
    async fn watch_status(&self, cx: &Cx, changed: Changes) -> Result<()>;

    /// What was said, as the query asks for it.
    #[resource(uri = "conversation://history", name = "conversation_history")]
    async fn conversation_history(
        &self,
        /// At most so many
        limit: Option<u32>,
        /// Only what is flagged
        flag: Option<bool>,
        /// Only these numbers
        nums: Vec<f64>,
    ) -> Result<History>;

    /// Asks for a review of code.
    #[prompt(title = "Code review")]
    async fn code_review(
        &self,
        /// The code
        code: String,
    ) -> Result<PromptMessages> {
        Ok(PromptMessages::user(format!("Review this code and suggest improvements.\n\n{code}")))
    }

    /// Prompts that fit a task.
    #[prompt(name = "contextual_prompts")]
    async fn generate_prompts(
        &self,
        /// What it is about
        context: String,
        /// What to do
        task: Task,
    ) -> Result<PromptMessages>;

    /// Completes what the prompts are about.
    #[completion(prompt = "contextual_prompts", argument = "context")]
    async fn complete_context(&self, value: String) -> Result<Vec<String>>;

    /// The status has changed.
    #[notification(name = "status_update")]
    fn status_update(update: StatusUpdate);

    /// How many documents there are. Not for models: only callers of the plain endpoint see it.
    async fn count_documents(&self, deep: bool) -> Result<u64>;
}
