//! The target of a call: a server and its own name for a tool, resource or prompt.

use std::cell::OnceCell;
use std::fmt;

use switchboard_protocol::ToolAnnotations;

use super::uri_set::{TemplateReading, UriReadings};

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// A call of a tool.
    Tool,
    /// Reading a resource; the name is its URI.
    Resource,
    /// A resource template in a list; the name is its URI template.
    Template,
    /// A prompt.
    Prompt,
    /// Completion of an argument of a prompt.
    PromptCompletion,
    /// Completion of a variable of a resource template.
    TemplateCompletion,
    /// A task of a tool: its state, its result, its cancellation. The name is the tool.
    Task,
    /// A subscription to a resource; the name is its URI.
    Subscription,
    /// A handle of a result of a tool; the name is the tool.
    ResultHandle,
}

impl TargetKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Tool,
        Self::Resource,
        Self::Template,
        Self::Prompt,
        Self::PromptCompletion,
        Self::TemplateCompletion,
        Self::Task,
        Self::Subscription,
        Self::ResultHandle,
    ];

    /// Returns the kind whose rules apply as well: those of a tool also bind its tasks and results.
    pub fn base(self) -> Self {
        match self {
            Self::Tool | Self::Task | Self::ResultHandle => Self::Tool,
            Self::Prompt | Self::PromptCompletion => Self::Prompt,
            Self::Template | Self::TemplateCompletion => Self::Template,
            Self::Resource | Self::Subscription => Self::Resource,
        }
    }

    /// Returns whether the name is a URI or a URI template.
    pub(crate) fn is_uri(self) -> bool {
        matches!(self.base(), Self::Resource | Self::Template)
    }

    /// Returns whether a rule about arguments can apply.
    pub(super) fn has_arguments(self) -> bool {
        matches!(self.base(), Self::Tool | Self::Prompt)
    }

    /// Returns the word of the kind in rules and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
            Self::PromptCompletion | Self::TemplateCompletion => "completion",
            Self::Task => "task",
            Self::Subscription => "subscription",
            Self::ResultHandle => "result-handle",
        }
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The target of a call, after the exposed name was resolved.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The name of the server in the configuration.
    pub server: &'a str,
    /// The kind.
    pub kind: TargetKind,
    /// The server's own name of the tool or prompt, or the URI.
    pub name: &'a str,
    /// The annotations of the tool as overridden by a view or pinned; `None` assumes the worst, as the protocol does.
    /// Never those that an untrusted server lists.
    pub annotations: Option<&'a ToolAnnotations>,
}

impl<'a> Target<'a> {
    /// Creates a target.
    pub fn new(server: &'a str, kind: TargetKind, name: &'a str) -> Self {
        Self { server, kind, name, annotations: None }
    }

    /// Creates the target of a tool call.
    pub fn tool(server: &'a str, name: &'a str) -> Self {
        Self::new(server, TargetKind::Tool, name)
    }

    /// Creates the target of reading a resource.
    pub fn resource(server: &'a str, uri: &'a str) -> Self {
        Self::new(server, TargetKind::Resource, uri)
    }

    /// Creates the target of a prompt.
    pub fn prompt(server: &'a str, name: &'a str) -> Self {
        Self::new(server, TargetKind::Prompt, name)
    }

    /// Sets the trusted annotations.
    #[must_use]
    pub fn with_annotations(mut self, annotations: &'a ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }
}

/// A target with what was computed about it, once for all rules.
pub(crate) struct TargetView<'a> {
    pub(super) target: &'a Target<'a>,
    uri: OnceCell<UriReadings>,
    template: OnceCell<TemplateReading>,
}

impl<'a> TargetView<'a> {
    pub(crate) fn new(target: &'a Target<'a>) -> Self {
        Self { target, uri: OnceCell::new(), template: OnceCell::new() }
    }

    pub(super) fn uri(&self) -> &UriReadings {
        self.uri.get_or_init(|| UriReadings::new(self.target.name))
    }

    pub(super) fn template(&self) -> &TemplateReading {
        self.template.get_or_init(|| TemplateReading::new(self.target.name))
    }
}

/// Returns whether a name has characters that are not shown, or that reorder what is shown: no reader of a rule can
/// tell such a name from another.
pub(crate) fn has_invisible_characters(name: &str) -> bool {
    name.chars().any(|character| {
        character.is_control()
            || matches!(character,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_kinds_have_the_base_of_what_they_reveal() {
        for kind in TargetKind::ALL {
            assert_eq!(kind.base().base(), kind.base());
        }
        assert_eq!(TargetKind::Task.base(), TargetKind::Tool);
        assert_eq!(TargetKind::Subscription.base(), TargetKind::Resource);
    }

    #[test]
    fn invisible_characters_are_found() {
        for name in ["a\u{200b}b", "\u{202e}a", "a\u{ad}", "a\0", "a\u{e0041}", "\u{feff}a", "a\u{2066}"] {
            assert!(has_invisible_characters(name), "{name:?}");
        }
        for name in ["read_file", "größe", "删除", "a b", "dе"] {
            assert!(!has_invisible_characters(name), "{name:?}");
        }
    }
}
