//! What the methods of the assistant take and give.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard::service::prelude::*;

/// The mood of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sentiment {
    /// The mood
    pub sentiment: Mood,
    /// How strong it is, from -1 to 1
    pub score: f64,
}

/// A mood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum Mood {
    Positive,
    Neutral,
    Negative,
}

/// The words that matter in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keywords {
    /// The words, the most frequent first
    pub keywords: Vec<String>,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchQuery {
    /// What to search for
    pub query: String,
    /// At most so many
    #[serde(default = "SearchQuery::most")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
}

impl SearchQuery {
    fn most() -> u32 {
        3
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// The documents
    pub hits: Vec<Hit>,
}

/// One document that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// Where it is
    pub uri: String,
    /// What it is called
    pub title: String,
}

/// A language that code can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum Language {
    Python,
    Javascript,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
            Self::Javascript => "JavaScript",
        })
    }
}

/// What the user is asked before code is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Form)]
pub struct Consent {
    /// Really run it?
    pub ok: bool,
    /// Why, or why not
    pub reason: Option<String>,
}

/// What became of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// What it printed
    pub output: String,
    /// Which sandbox it ran in
    pub sandbox: u64,
}

/// How each item of a batch is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchFormat {
    /// As data
    #[default]
    Json,
    /// As text
    Text,
    /// As bytes
    Blob,
    /// As a link
    Uri,
}

/// One item is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The item
    pub item: String,
    /// Which it is
    pub number: usize,
}

/// How a batch went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchSummary {
    /// How many items
    pub count: usize,
}

/// How the rebuilding went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rebuilt {
    /// How many steps it took
    pub steps: u32,
}

/// All documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Documents {
    /// Where they are
    pub documents: Vec<Hit>,
}

/// How the system is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// One word
    pub status: String,
    /// How often it has changed
    pub changes: u64,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// How many were asked for
    pub limit: u32,
    /// Whether only what is flagged
    pub flag: bool,
    /// Which numbers
    pub nums: Vec<f64>,
    /// What was said
    pub messages: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum Task {
    Write,
    Review,
    Explain,
}

/// The status has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusUpdate {
    /// What kind of change
    pub r#type: String,
    /// More about it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
