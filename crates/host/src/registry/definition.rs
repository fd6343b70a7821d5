//! The definition of a tool as text: what a pin keeps beside its digest, and what a consent screen shows.
//!
//! Invariant: definitions with different digests have different texts.

use switchboard_protocol::{Raw, Tool};

use crate::config::Consent;

/// How the definition of a tool differs from the one it was pinned with, for a consent screen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionChange {
    /// The pinned definition; `None` where only its digest was kept.
    pub before: Option<Consent>,
    /// The definition as it is listed now.
    pub now: Consent,
}

/// Returns a definition as JSON text: what its digest is made of, with canonical schemas.
pub(crate) fn definition_text(tool: &Tool) -> String {
    let mut object = Object::default();
    object.put_text("name", Some(&tool.name));
    object.put_text("title", tool.title.as_deref());
    object.put_text("description", tool.description.as_deref());
    object.put("inputSchema", &canonical(&tool.input_schema));
    if let Some(schema) = &tool.output_schema {
        object.put("outputSchema", &canonical(schema));
    }
    if let Some(effects) = &tool.annotations {
        let mut said = Object::default();
        said.put_text("title", effects.title.as_deref());
        for (name, hint) in [
            ("readOnlyHint", effects.read_only_hint),
            ("destructiveHint", effects.destructive_hint),
            ("idempotentHint", effects.idempotent_hint),
            ("openWorldHint", effects.open_world_hint),
        ] {
            hint.iter().for_each(|hint| said.put(name, if *hint { "true" } else { "false" }));
        }
        if !said.0.is_empty() {
            object.put("annotations", &said.finish());
        }
    }
    object.finish()
}

/// A schema without what means nothing: white space, and the order of members. One that has a name twice is taken as it
/// is written: readers differ on which of the two counts, so a change of either is a change.
pub(crate) fn canonical(schema: &Raw) -> String {
    schema.canonical().unwrap_or_else(|_| schema.as_str().to_owned())
}

/// A JSON object that is written member by member.
#[derive(Default)]
struct Object(String);

impl Object {
    fn put(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0 += &format!("\"{name}\":{json}");
    }

    fn put_text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put(name, &serde_json::Value::from(text).to_string());
        }
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
