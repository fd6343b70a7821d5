//! The design of __package__: one trait. Its server, typed client, command line and documents come from it.
//!
//! Written once by `switchboard new`; it is yours, and never written over.

pub mod in_memory;

use switchboard::service::prelude::*;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Its number.
    pub id: u32,
    /// What it says.
    pub text: String,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// Keeps notes.
///
/// Look for notes before you ask, and keep what you learn.
#[service(name = "__package__", version = "0.1.0")]
pub trait __Trait__ {
    /// Keeps a note.
    #[tool(destructive = false, example = { "text": "Oslo is rainy in October", "tags": ["weather"] })]
    async fn add_note(
        &self,
        /// What to remember.
        #[schemars(length(min = 1))]
        text: String,
        /// Words to find it by.
        #[serde(default)]
        tags: Vec<String>,
    ) -> Result<Note>;

    /// Finds notes that hold a text or have it as a tag, the newest first.
    #[tool(read_only, example = { "query": "Oslo" })]
    async fn find_notes(
        &self,
        /// What to look for.
        query: String,
        /// How many notes at most.
        #[arg(default = 10)]
        #[schemars(range(min = 1, max = 100))]
        limit: u32,
    ) -> Result<Vec<Note>>;

    /// One note.
    #[resource(uri = "note://{id}")]
    async fn note(&self, id: u32) -> Result<Note>;

    /// Asks for a summary of what is known about a subject.
    #[prompt]
    async fn summarize(&self, subject: String) -> Result<PromptMessages>;
}
