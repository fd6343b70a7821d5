//! [`Design::check`]: validates a design and reports every error with its location.
//!
//! A design that passes can be listed, decoded and called: names are legal and unique, listed items have a description,
//! URIs are valid patterns, and references between items resolve.

mod rules;

use std::fmt;

use crate::ir::Design;
use crate::repair::Issue;
use crate::schema::NotAnObjectError;
use crate::uri::PatternError;

/// One error in a design.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DesignError {
    /// The item that has the error.
    pub location: DesignLocation,
    /// The kind of error.
    pub kind: DesignErrorKind,
}

/// The part of a design that an error or a change concerns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DesignLocation {
    /// The design itself.
    Design,
    /// An item: its kind and its name.
    Item(ItemKind, String),
    /// An argument or parameter: the kind and name of its item, and its own name.
    Argument(ItemKind, String, String),
}

/// The kind of an item of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A prompt.
    Prompt,
    /// The method that watches a subscribed resource.
    Watch,
    /// A notification.
    Notification,
    /// A method that is not mapped to MCP.
    Method,
    /// A schema that others refer to by name.
    Type,
}

/// The kind of an error in a design.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignErrorKind {
    /// The name is empty.
    #[error("has no name")]
    NoName,
    /// The version of the design is empty.
    #[error("has no version")]
    NoVersion,
    /// The name has characters or a length that some clients reject.
    #[error("has an invalid name: use 1 to 128 letters, digits, `_`, `-` and `.`")]
    BadName,
    /// The description is empty.
    #[error("has no description: models choose items by their description")]
    NoDescription,
    /// Another item of the same kind has the same name.
    #[error("is declared twice")]
    Duplicate,
    /// Another item has the same Rust method.
    #[error("has the Rust method `{0}`, which belongs to another item")]
    SharedMethod(String),
    /// The design accepts a protocol revision that does not exist.
    #[error("accepts the protocol revision {0:?}, which does not exist")]
    UnknownProtocol(String),
    /// The design lists a protocol revision twice.
    #[error("lists the protocol revision {0:?} twice")]
    DuplicateProtocol(String),
    /// The path of the JSON-RPC endpoint does not start with `/`.
    #[error("has the RPC endpoint {0:?}: the path must start with `/`")]
    BadEndpoint(String),
    /// The URI is not a valid pattern.
    #[error("has the invalid URI {uri:?}: {reason}")]
    BadUri {
        /// The URI.
        uri: String,
        /// The error of the pattern.
        reason: PatternError,
    },
    /// Another resource has a pattern that matches the same URIs.
    #[error("matches the same URIs as the resource `{0}`")]
    SameUris(String),
    /// The URI has a variable without a parameter.
    #[error("has the variable `{{{0}}}` in its URI, but no parameter of that name")]
    UnknownVariable(String),
    /// A path variable is a list or has a default. Every URI has exactly one value for it.
    #[error("is a path variable of the URI, so it can neither be a list nor have a default")]
    OptionalPathVariable,
    /// The default is not a valid value of the parameter.
    #[error("has an invalid default")]
    BadDefault,
    /// The default of an argument does not match its schema.
    #[error("has an invalid default: it {0}")]
    BadArgumentDefault(String),
    /// A choice has no values.
    #[error("is a choice without values")]
    EmptyChoice,
    /// An argument of a prompt is a list.
    #[error("is a list: arguments of prompts are single strings")]
    ListArgument,
    /// A static prompt has no messages.
    #[error("is static and has no messages")]
    NoMessages,
    /// The watched resource does not exist.
    #[error("watches a resource that does not exist")]
    UnknownResource,
    /// The watched resource does not allow subscriptions.
    #[error("watches a resource that is not marked as watchable")]
    NotWatchable,
    /// The schema of the arguments does not describe an object.
    #[error("has arguments that are not an object: {0}")]
    NotAnObject(NotAnObjectError),
    /// A schema refers to a type that is not defined.
    #[error("refers to the type `{0}`, which does not exist")]
    UnknownType(String),
    /// The example does not match the schema of the arguments.
    #[error("has an invalid example: {0}")]
    BadExample(Issue),
    /// The method is not mapped to MCP, and the design has no JSON-RPC endpoint.
    #[error("is not mapped to MCP: give it a role, mark it as internal, or give the design an RPC endpoint")]
    Unmapped,
}

/// All errors of a design, in order of declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignErrors(Vec<DesignError>);

impl DesignErrors {
    /// Iterates over the errors in order of declaration.
    pub fn iter(&self) -> std::slice::Iter<'_, DesignError> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a DesignErrors {
    type Item = &'a DesignError;
    type IntoIter = std::slice::Iter<'a, DesignError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::error::Error for DesignErrors {}

impl fmt::Display for DesignErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl fmt::Display for DesignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.location, self.kind)
    }
}

impl fmt::Display for DesignLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Design => f.write_str("the design"),
            Self::Item(kind, name) => write!(f, "{kind} `{name}`"),
            Self::Argument(kind, name, argument) => write!(f, "{kind} `{name}`: `{argument}`"),
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Watch => "watch of",
            Self::Notification => "notification",
            Self::Method => "method",
            Self::Type => "type",
        })
    }
}

impl Design {
    /// Validates the design.
    ///
    /// # Errors
    /// Returns every error, in order of declaration.
    pub fn check(&self) -> Result<(), DesignErrors> {
        let errors = rules::check(self);
        if errors.is_empty() { Ok(()) } else { Err(DesignErrors(errors)) }
    }
}

#[cfg(test)]
mod tests;
