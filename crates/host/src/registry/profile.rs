//! Schemas as model providers take them.
//!
//! A server's input schema may be any JSON Schema; providers take less, and one tool they refuse can fail the whole
//! request. Each profile turns a schema into one its provider takes, saying what was lost, or says why it cannot.
//!
//! Invariants: pure functions; the outcome has `type: object` at its root and no combinator there, unless raw; depth,
//! nodes and size are bounded on the way in and on the way out; what the provider's form accepts, the server's may
//! refuse, never the other way round for a required argument: nothing that is required is dropped.

mod clean;
mod gemini;
mod reference;
mod root;

use serde_json::Value;

use crate::registry::name::NameLimit;

/// Deeper than people write, and shallow enough for recursion.
const DEEPEST: usize = 64;
/// Values in a schema, coming in or going out.
const MOST_NODES: usize = 20_000;
/// Keywords that hold names with a schema each.
const OF_SCHEMAS: [&str; 5] = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Bytes of a schema going out.
const LARGEST: usize = 256 * 1024;

/// A model provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Nobody: the schema as the server wrote it.
    #[default]
    Raw,
    /// OpenAI's functions.
    OpenAi,
    /// Anthropic's tools.
    Anthropic,
    /// Gemini's function declarations.
    Gemini,
}

/// A schema that fits, and what it took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shaped {
    /// The schema.
    pub schema: Value,
    /// Sentences for the description: what the schema no longer says.
    pub notes: Vec<String>,
}

/// Why a schema cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The schema is not an object.
    #[error("its input schema is not a JSON object")]
    NotASchema,
    /// Its arguments are no object.
    #[error("its arguments are of type `{found}`; tools take an object")]
    RootType {
        /// The type.
        found: String,
    },
    /// It nests too deep.
    #[error("its input schema nests deeper than {DEEPEST} levels")]
    TooDeep,
    /// It is too large, or becomes so when its references are filled in.
    #[error("its input schema is too large, or becomes so when its references are filled in")]
    TooLarge,
    /// A required argument has a name the provider does not take.
    #[error("its required argument `{name}` has a name the provider does not take")]
    PropertyName {
        /// The name, shortened.
        name: String,
    },
    /// A reference leads nowhere, or in a circle.
    #[error("its input schema refers to `{reference}`, which is not in it")]
    Dangling {
        /// The reference, shortened.
        reference: String,
    },
}

impl Profile {
    /// How long a tool's name may be there.
    pub fn name_limit(self) -> NameLimit {
        match self {
            Self::Raw => NameLimit::new(128),
            Self::OpenAi | Self::Anthropic => NameLimit::DEFAULT,
            Self::Gemini => NameLimit::new(63),
        }
    }

    /// The schema as the provider takes it.
    ///
    /// # Errors
    /// Says why it cannot be made to fit; the tool is then left out, alone.
    ///
    /// ```
    /// use serde_json::json;
    /// use switchboard::host::profile::Profile;
    ///
    /// let schema = json!({"anyOf": [
    ///     {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ///     {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    /// ]});
    /// let shaped = Profile::Anthropic.shape(&schema)?;
    /// assert_eq!(shaped.schema["type"], "object");
    /// assert_eq!(shaped.notes, ["Give one of these: `id`, or `name`."]);
    /// # Ok::<(), switchboard::host::profile::Unfit>(())
    /// ```
    pub fn shape(self, schema: &Value) -> Result<Shaped, Unfit> {
        bounded(schema)?;
        if !schema.is_object() {
            return Err(Unfit::NotASchema);
        }
        let shaped = match self {
            Self::Raw => return Ok(Shaped { schema: schema.clone(), notes: Vec::new() }),
            Self::OpenAi | Self::Anthropic => {
                let rooted = root::flatten(schema)?;
                let cleaned = clean::clean(&rooted.schema, schema, self)?;
                Shaped { schema: cleaned.schema, notes: joined(rooted.notes, cleaned.notes) }
            }
            Self::Gemini => {
                let inlined = reference::inline(schema)?;
                let rooted = root::flatten(&inlined)?;
                let reduced = gemini::reduce(&rooted.schema)?;
                Shaped { schema: reduced, notes: rooted.notes }
            }
        };
        if shaped.schema.to_string().len() > LARGEST {
            return Err(Unfit::TooLarge);
        }
        Ok(shaped)
    }
}

fn joined(mut one: Vec<String>, other: Vec<String>) -> Vec<String> {
    one.extend(other);
    one
}

/// Refuses what is too deep or too large to be walked.
fn bounded(schema: &Value) -> Result<(), Unfit> {
    let mut waiting = vec![(schema, 0)];
    let mut nodes = 0;
    while let Some((value, depth)) = waiting.pop() {
        nodes += 1;
        if nodes > MOST_NODES {
            return Err(Unfit::TooLarge);
        }
        if depth > DEEPEST {
            return Err(Unfit::TooDeep);
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => waiting.extend(members.values().map(|value| (value, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// What is left of a number of nodes.
struct Budget(usize);

impl Budget {
    fn spend(&mut self) -> Result<(), Unfit> {
        self.0 = self.0.checked_sub(1).ok_or(Unfit::TooLarge)?;
        Ok(())
    }
}

/// A text of the server's, short enough for an error.
fn shown(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(80).collect()
}
