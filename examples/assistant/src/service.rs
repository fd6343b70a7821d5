//! An assistant that keeps everything in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard::protocol::{Content, Resource};
use switchboard::service::prelude::*;
use tokio::sync::watch;

use crate::{
    Assistant, AssistantEvents, BatchFormat, BatchSummary, Consent, Documents, Done, Execution, History, Hit,
    Hits, Keywords, Language, Mood, Rebuilt, SearchQuery, Sentiment, Status, StatusUpdate, Task,
};

/// The documents it knows.
const DOCUMENTS: [(&str, &str, &str); 4] = [
    ("rust", "Rust", "# Rust\n\nA language for reliable and fast software."),
    ("tokio", "Tokio", "# Tokio\n\nA runtime for asynchronous Rust."),
    (
        "mcp",
        "Model Context Protocol",
        "# MCP\n\nHow models reach tools and data. Servers may be written in Rust.",
    ),
    ("serde", "Serde", "# Serde\n\nSerialisation for Rust."),
];

/// An assistant in memory.
#[derive(Debug)]
pub struct InMemory {
    events: AssistantEvents,
    status: watch::Sender<Status>,
    sandboxes: AtomicU64,
}

impl InMemory {
    /// An assistant that tells of itself through `events`.
    pub fn new(events: AssistantEvents) -> Self {
        let status = watch::Sender::new(Status { status: "ok".into(), changes: 0 });
        Self { events, status, sandboxes: AtomicU64::new(0) }
    }

    /// The status changes: whoever watches the resource and whoever listens to events is told.
    pub fn set_status(&self, status: &str) {
        self.status.send_modify(|now| {
            status.clone_into(&mut now.status);
            now.changes += 1;
        });
        self.events.status_update(&StatusUpdate { r#type: "status".into(), message: Some(status.into()) });
    }

    fn hits<'a>(found: impl Iterator<Item = &'a (&'a str, &'a str, &'a str)>) -> Vec<Hit> {
        found.map(|(id, title, _)| Hit { uri: format!("doc://{id}"), title: (*title).to_owned() }).collect()
    }
}

impl Assistant for InMemory {
    async fn analyze_sentiment(&self, text: String) -> Result<Sentiment> {
        let text = text.to_lowercase();
        let count = |words: &[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>();
        let (good, bad) =
            (count(&["love", "great", "good", "happy"]), count(&["hate", "bad", "awful", "sad"]));
        let (sentiment, score) = match good.cmp(&bad) {
            std::cmp::Ordering::Greater => (Mood::Positive, 0.9),
            std::cmp::Ordering::Less => (Mood::Negative, -0.9),
            std::cmp::Ordering::Equal => (Mood::Neutral, 0.0),
        };
        Ok(Sentiment { sentiment, score })
    }

    async fn extract_keywords(&self, text: String) -> Result<Keywords> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 3);
        words.for_each(|word| *counts.entry(word.to_lowercase()).or_default() += 1);
        let mut keywords: Vec<(String, usize)> = counts.into_iter().collect();
        keywords.sort_by(|(left, few), (right, many)| many.cmp(few).then_with(|| left.cmp(right)));
        Ok(Keywords { keywords: keywords.into_iter().take(5).map(|(word, _)| word).collect() })
    }

    async fn summarize_text(&self, text: String, sentences: Option<u32>) -> Result<String> {
        let most = usize::try_from(sentences.unwrap_or(1))?;
        Ok(text.split_inclusive('.').take(most).collect::<String>().trim().to_owned())
    }

    async fn search_knowledge(&self, query: SearchQuery) -> Result<Hits> {
        let wanted = query.query.to_lowercase();
        let most = usize::try_from(query.limit)?;
        let found = DOCUMENTS.iter().filter(|(_, _, text)| text.to_lowercase().contains(&wanted)).take(most);
        Ok(Hits { hits: Self::hits(found) })
    }

    async fn execute_code(&self, cx: &Cx, language: Language, code: String) -> Result<Execution> {
        // Taken once, however often the method runs until the user has answered.
        let sandbox =
            cx.step("sandbox", || async { Ok(self.sandboxes.fetch_add(1, Ordering::Relaxed) + 1) }).await?;
        let consent: Consent =
            cx.elicit("consent", format!("Run this {language} code?")).await?.into_result()?;
        if !consent.ok {
            return Err(Error::tool("refused", "The user does not want this code to be run."));
        }
        Ok(Execution {
            output: format!("{} characters of {language} were run", code.chars().count()),
            sandbox,
        })
    }

    async fn process_batch(
        &self,
        cx: &Cx,
        events: Events<MixedEvent<Done>>,
        items: Vec<String>,
        format: Option<BatchFormat>,
    ) -> Result<BatchSummary> {
        for (number, item) in items.iter().enumerate() {
            if item == "fail" {
                return Err(Error::tool("bad_item", format!("Item {number} cannot be processed.")));
            }
            let uri = format!("batch://{number}");
            events
                .send(match format.unwrap_or_default() {
                    BatchFormat::Json => MixedEvent::Data(Done { item: item.clone(), number }),
                    BatchFormat::Text => MixedEvent::Text(format!("{item} is done")),
                    BatchFormat::Blob => MixedEvent::blob(uri, item.as_bytes(), "application/octet-stream"),
                    BatchFormat::Uri => MixedEvent::Content(Content::link(Resource::new(uri, item.clone()))),
                })
                .await?;
            cx.log(switchboard::protocol::Level::Debug, format!("{item} is done"));
        }
        Ok(BatchSummary { count: items.len() })
    }

    async fn rebuild_index(&self, cx: &Cx, steps: u32) -> Result<Rebuilt> {
        for step in 0..steps {
            tokio::time::sleep(Duration::from_millis(10)).await;
            cx.report(f64::from(step + 1), Some(f64::from(steps)), Some("rebuilding"));
        }
        Ok(Rebuilt { steps })
    }

    async fn list_documents(&self) -> Result<Documents> {
        Ok(Documents { documents: Self::hits(DOCUMENTS.iter()) })
    }

    async fn document(&self, id: String) -> Result<String> {
        let found = DOCUMENTS.iter().find(|(known, _, _)| *known == id);
        let (_, _, text) = found.ok_or_else(|| Error::unknown_resource(format!("doc://{id}")))?;
        Ok((*text).to_owned())
    }

    async fn system_status(&self) -> Result<Status> {
        Ok(self.status.borrow().clone())
    }

    async fn watch_status(&self, _: &Cx, changed: Changes) -> Result<()> {
        let mut status = self.status.subscribe();
        while status.changed().await.is_ok() {
            changed.notify();
        }
        Ok(())
    }

    async fn conversation_history(
        &self,
        limit: Option<u32>,
        flag: Option<bool>,
        nums: Vec<f64>,
    ) -> Result<History> {
        let limit = limit.unwrap_or(10);
        let messages = (0..limit.min(3)).map(|number| format!("Message {number}")).collect();
        Ok(History { limit, flag: flag.unwrap_or(false), nums, messages })
    }

    async fn generate_prompts(&self, context: String, task: Task) -> Result<PromptMessages> {
        let verb = match task {
            Task::Write => "Write something",
            Task::Review => "Review what was written",
            Task::Explain => "Explain, step by step, something",
        };
        Ok(PromptMessages::user(format!("{verb} about {context}.")).assistant("Where should I begin?"))
    }

    async fn complete_context(&self, value: String) -> Result<Vec<String>> {
        let titles = DOCUMENTS.iter().map(|(_, title, _)| (*title).to_owned());
        Ok(titles.filter(|title| title.to_lowercase().starts_with(&value.to_lowercase())).collect())
    }

    async fn count_documents(&self, deep: bool) -> Result<u64> {
        let letters = DOCUMENTS.iter().map(|(_, _, text)| text.len()).sum::<usize>();
        Ok(u64::try_from(if deep { letters } else { DOCUMENTS.len() })?)
    }
}
