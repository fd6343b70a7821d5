//! Adapts input schemas to model providers.
//!
//! A server's input schema may be any JSON Schema; providers accept less, and one rejected tool can fail the whole request.
//! Each profile converts a schema into one that its provider accepts and reports what was lost, or returns an error.
//!
//! Invariants: pure functions; the result has `type: object` and no combinator at its root, unless raw; depth, nodes and
//! size are bounded for input and output; the adapted schema may accept more than the server does, but never drops a
//! required argument.

mod clean;
mod gemini;
mod reference;
mod root;

use serde_json::Value;

use crate::registry::name::NameLimit;

/// The nesting limit: deeper than people write, and shallow enough for recursion.
const MAX_DEPTH: usize = 64;
/// The limit of values in a schema, for input and output.
const MAX_NODES: usize = 20_000;
/// Keywords whose value is an object of schemas.
const SCHEMA_MAPS: [&str; 5] =
    ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Size limit of an adapted schema.
const MAX_BYTES: usize = 256 * 1024;

/// A model provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// No provider: the schema as the server wrote it.
    #[default]
    Raw,
    /// OpenAI functions.
    OpenAi,
    /// Anthropic tools.
    Anthropic,
    /// Gemini function declarations.
    Gemini,
}

/// A schema adapted to a provider.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdaptedSchema {
    /// The schema.
    pub schema: Value,
    /// Sentences for the description about constraints that the schema lost.
    pub notes: Vec<String>,
}

/// Why a schema cannot be adapted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The schema is not an object.
    #[error("its input schema is not a JSON object")]
    NotASchema,
    /// The arguments are not an object.
    #[error("its arguments are of type `{found}`; a tool needs an object")]
    RootType {
        /// The type.
        found: String,
    },
    /// The schema is nested too deep.
    #[error("its input schema is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The schema is too large, before or after references are inlined.
    #[error("its input schema is too large, before or after references are inlined")]
    TooLarge,
    /// The provider does not accept the name of a required argument.
    #[error("the provider does not accept the name of its required argument `{name}`")]
    PropertyName {
        /// The name, shortened.
        name: String,
    },
    /// A reference has no target, or is circular.
    #[error("its input schema refers to `{reference}`, which does not exist in it")]
    Dangling {
        /// The reference, shortened.
        reference: String,
    },
}

impl Profile {
    /// Returns the length limit of tool names.
    pub fn name_limit(self) -> NameLimit {
        match self {
            Self::Raw => NameLimit::new(128),
            Self::OpenAi | Self::Anthropic => NameLimit::DEFAULT,
            Self::Gemini => NameLimit::new(63),
        }
    }

    /// Adapts a schema to the provider.
    ///
    /// # Errors
    /// When the schema cannot be adapted.
    ///
    /// ```
    /// use serde_json::json;
    /// use switchboard::host::profile::Profile;
    ///
    /// let schema = json!({"anyOf": [
    ///     {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ///     {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    /// ]});
    /// let adapted = Profile::Anthropic.adapt(&schema)?;
    /// assert_eq!(adapted.schema["type"], "object");
    /// assert_eq!(adapted.notes, ["Give one of these: `id`, or `name`."]);
    /// # Ok::<(), switchboard::host::profile::ProfileError>(())
    /// ```
    pub fn adapt(self, schema: &Value) -> Result<AdaptedSchema, ProfileError> {
        check_size(schema)?;
        if !schema.is_object() {
            return Err(ProfileError::NotASchema);
        }
        let adapted = match self {
            Self::Raw => return Ok(AdaptedSchema { schema: schema.clone(), notes: Vec::new() }),
            Self::OpenAi | Self::Anthropic => {
                let rooted = root::flatten(schema)?;
                let cleaned = clean::clean(&rooted.schema, schema, self)?;
                AdaptedSchema { schema: cleaned.schema, notes: [rooted.notes, cleaned.notes].concat() }
            }
            Self::Gemini => {
                let inlined = reference::inline(schema)?;
                let rooted = root::flatten(&inlined)?;
                let reduced = gemini::reduce(&rooted.schema)?;
                AdaptedSchema { schema: reduced, notes: rooted.notes }
            }
        };
        if adapted.schema.to_string().len() > MAX_BYTES {
            return Err(ProfileError::TooLarge);
        }
        Ok(adapted)
    }
}

/// Rejects schemas beyond the depth and node limits.
fn check_size(schema: &Value) -> Result<(), ProfileError> {
    let mut stack = vec![(schema, 0)];
    let mut nodes = 0;
    while let Some((value, depth)) = stack.pop() {
        nodes += 1;
        if nodes > MAX_NODES {
            return Err(ProfileError::TooLarge);
        }
        if depth > MAX_DEPTH {
            return Err(ProfileError::TooDeep);
        }
        match value {
            Value::Array(items) => stack.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => stack.extend(members.values().map(|value| (value, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// The remaining number of nodes.
struct NodeBudget(usize);

impl NodeBudget {
    fn spend(&mut self) -> Result<(), ProfileError> {
        self.0 = self.0.checked_sub(1).ok_or(ProfileError::TooLarge)?;
        Ok(())
    }
}

/// Shortens a text of the server for an error.
fn shorten(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(80).collect()
}
