//! The `[audit]` section of a policy document.

use switchboard_protocol::Raw;

use super::payload::PayloadRule;
use super::redaction::Redaction;
use crate::policy::{PolicyError, Subject, Target, TomlTable, parse_document, parse_section};

/// The maximum number of payload rules.
const MAX_PAYLOAD_RULES: usize = 1_000;

/// Which payloads are recorded, and what is replaced in them. By default none is recorded.
///
/// ```
/// use switchboard::gateway::audit::AuditPolicy;
/// use switchboard::gateway::policy::{Subject, Target};
///
/// let policy = AuditPolicy::parse(r#"
///     default = "allow"
///     [audit]
///     redact = ["ssn"]
///     [[audit.payload]]
///     record = ["arguments"]
///     server = "files"
///     tool = "write_*"
/// "#)?;
/// let ada = Subject::new("ada");
/// assert!(policy.select(&ada, &Target::tool("files", "write_text")).arguments);
/// assert!(!policy.select(&ada, &Target::tool("files", "read_text")).arguments);
/// # Ok::<(), switchboard::gateway::policy::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct AuditPolicy {
    rules: Vec<PayloadRule>,
    redaction: Redaction,
}

/// Which payloads of a call are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadSelection {
    /// The arguments.
    pub arguments: bool,
    /// The result.
    pub result: bool,
}

impl Default for AuditPolicy {
    fn default() -> Self {
        Self { rules: Vec::new(), redaction: Redaction::new([]) }
    }
}

impl AuditPolicy {
    /// Reads the `[audit]` section of a policy document.
    ///
    /// # Errors
    /// Names the line and the key that is invalid.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        parse_document(text, Self::read_document)
    }

    /// As [`Self::parse`], for a document in the table `section` of another document.
    ///
    /// # Errors
    /// As [`Self::parse`]; when there is no such table.
    pub fn parse_section(text: &str, section: &str) -> Result<Self, PolicyError> {
        parse_section(text, section, Self::read_document)
    }

    fn read_document(root: &TomlTable<'_>) -> Result<Self, PolicyError> {
        match root.get("audit") {
            Some(entry) => Self::read(&entry.table()?),
            None => Ok(Self::default()),
        }
    }

    fn read(section: &TomlTable<'_>) -> Result<Self, PolicyError> {
        section.check_keys(&["redact", "payload"])?;
        let redaction = Redaction::new(section.strings("redact")?.unwrap_or_default());
        let tables = section.get("payload").map(|entry| entry.tables(MAX_PAYLOAD_RULES)).transpose()?;
        let rules = tables.unwrap_or_default().iter().map(PayloadRule::read).collect::<Result<_, _>>()?;
        Ok(Self { rules, redaction })
    }

    /// Returns which payloads of a call are recorded: those that any rule names.
    pub fn select(&self, subject: &Subject<'_>, target: &Target<'_>) -> PayloadSelection {
        let mut selection = PayloadSelection::default();
        for rule in &self.rules {
            let (arguments, result) = rule.select(subject, target);
            selection.arguments |= arguments;
            selection.result |= result;
        }
        selection
    }

    /// Returns a payload as it is recorded: marked keys replaced, and cut at `limit` bytes.
    pub fn redact(&self, payload: &Raw, limit: usize) -> Raw {
        self.redaction.apply(payload, limit)
    }
}
