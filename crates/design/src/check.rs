//! What is wrong with a design, all of it at once, and where.
//!
//! A design that passes can be listed, decoded and called: names are unique and legal, everything that is shown is
//! described, URIs are patterns, and what one part says of another is there.

mod rules;

use std::fmt;

use crate::ir::Design;
use crate::repair::Issue;
use crate::schema::NotAnObject;
use crate::uri::PatternError;

/// One mistake in a design.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub fault: Fault,
}

/// Where in a design.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the design itself.
    Design,
    /// In one of the things it offers.
    Item(ItemKind, String),
    /// In an argument or parameter of one.
    Part(ItemKind, String, String),
}

/// What a design offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A prompt.
    Prompt,
    /// A method that watches a resource.
    Watch,
    /// An event.
    Notification,
    /// A method without a role in MCP.
    Method,
    /// A shared type.
    Type,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It has no name.
    #[error("has no name")]
    NoName,
    /// The design has no version.
    #[error("has no version")]
    NoVersion,
    /// The name is not one that every client takes.
    #[error("may only have letters, digits, `_`, `-` and `.` in its name, and at most 128 of them")]
    BadName,
    /// It has no description.
    #[error("has no description: it is what a model chooses by")]
    NoDescription,
    /// Another of its kind has this name.
    #[error("is declared twice")]
    Duplicate,
    /// Another thing is the same method in Rust.
    #[error("is the method `{0}`, as another is")]
    SharedMethod(String),
    /// The protocol has no revision of this name.
    #[error("accepts the protocol revision {0:?}, which does not exist")]
    UnknownProtocol(String),
    /// A revision is listed twice.
    #[error("lists the protocol revision {0:?} twice")]
    ProtocolTwice(String),
    /// The path of the plain endpoint is none.
    #[error("has the endpoint {0:?}, which is not a path beginning with `/`")]
    BadEndpoint(String),
    /// The URI is not a pattern.
    #[error("has the URI {uri:?}: {reason}")]
    BadUri {
        /// The URI.
        uri: String,
        /// What is wrong with it.
        reason: PatternError,
    },
    /// Every URI of another resource is one of this.
    #[error("has the same URIs as the resource `{0}`")]
    SameUris(String),
    /// The URI has a variable that is no parameter.
    #[error("has `{{{0}}}` in its URI, and no parameter of that name")]
    UnknownVariable(String),
    /// A variable of the path is a list or has a default: it is always there, and always one.
    #[error("is in the path of the URI, so it is neither a list nor has it a default")]
    LooseVariable,
    /// The default is none that could have been given.
    #[error("has a default that does not fit it")]
    BadDefault,
    /// The default of an argument is not valid.
    #[error("has a default that does not fit it: it {0}")]
    BadArgumentDefault(String),
    /// A choice of nothing.
    #[error("is a choice without values")]
    NoChoice,
    /// An argument of a prompt is a list.
    #[error("is a list, and arguments of prompts are single texts")]
    ListArgument,
    /// A static prompt says nothing.
    #[error("is static and has no messages")]
    NoMessages,
    /// There is no such resource.
    #[error("watches a resource that does not exist")]
    UnknownResource,
    /// The resource cannot be subscribed to.
    #[error("watches a resource that is not marked as watchable")]
    NotWatchable,
    /// The arguments are not an object.
    #[error("takes something that is not an object: {0}")]
    NotAnObject(NotAnObject),
    /// A schema refers to a type that is nowhere.
    #[error("refers to the type `{0}`, which does not exist")]
    UnknownType(String),
    /// The example does not fit.
    #[error("has an example that does not fit: {0}")]
    BadExample(Issue),
    /// In pure MCP, nobody can call the method.
    #[error("has no role in MCP: give it one, mark it as internal, or give the design an RPC endpoint")]
    Unmapped,
}

/// Everything that is wrong with a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// One by one, in order of declaration.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Mistakes {
    type Item = &'a Mistake;
    type IntoIter = std::slice::Iter<'a, Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.0.iter().enumerate() {
            let open = if at == 0 { "" } else { "\n" };
            write!(f, "{open}{mistake}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.fault)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Design => f.write_str("the design"),
            Self::Item(kind, name) => write!(f, "{kind} `{name}`"),
            Self::Part(kind, name, part) => write!(f, "{kind} `{name}`: `{part}`"),
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
    /// Looks for everything that is wrong.
    ///
    /// # Errors
    /// All mistakes, in order of declaration.
    pub fn check(&self) -> Result<(), Mistakes> {
        let mistakes = rules::look(self);
        if mistakes.is_empty() { Ok(()) } else { Err(Mistakes(mistakes)) }
    }
}

#[cfg(test)]
mod tests;
