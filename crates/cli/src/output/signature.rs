//! A tool or a prompt as a signature, `add(a: number, b?: number)`, read from its schema.

use switchboard::Raw;
use switchboard::protocol::{InputSchema, OrderedMap, Prompt, Tool};
use unicode_width::UnicodeWidthStr;

use crate::output::{Paper, indented};
use crate::sanitize::{one_line, sanitize};

/// What is shown of a description.
const DESCRIPTION: usize = 16 * 1024;
/// How many values or members of one type are shown.
const SHOWN: usize = 8;
/// How deep types are looked into.
const DEPTH: usize = 2;

/// A name, what it takes and what it gives.
#[derive(Debug)]
pub(crate) struct Signature {
    name: String,
    parameters: Vec<Parameter>,
    gives: Option<String>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    is_required: bool,
    kind: String,
    about: Option<String>,
}

impl Signature {
    pub(crate) fn of_tool(tool: &Tool) -> Self {
        let schema = tool.input().unwrap_or_default();
        let gives = tool.output_schema.as_ref().map(|schema| type_text(schema, 0));
        Self { name: one_line(&tool.name), parameters: parameters(&schema), gives }
    }

    pub(crate) fn of_prompt(prompt: &Prompt) -> Self {
        let parameters = prompt.arguments.iter().flatten().map(|argument| Parameter {
            name: one_line(&argument.name),
            is_required: argument.required == Some(true),
            kind: String::new(),
            about: argument.description.as_deref().map(one_line),
        });
        Self { name: one_line(&prompt.name), parameters: parameters.collect(), gives: None }
    }

    /// On one line where it fits, else with a line for each parameter.
    pub(crate) fn lay_out(&self, paper: &Paper) -> String {
        let gives = self.gives.as_ref().map(|gives| format!(" → {gives}")).unwrap_or_default();
        let plain: Vec<String> = self.parameters.iter().map(|parameter| parameter.text(None)).collect();
        let painted: Vec<String> =
            self.parameters.iter().map(|parameter| parameter.text(Some(paper))).collect();
        let name = paper.bold(&self.name);
        let fits =
            |tail: &str| self.name.width() + plain.join(", ").width() + tail.width() + 2 <= paper.width;
        if fits(&gives) {
            return format!("{name}({}){}\n", painted.join(", "), paper.dim(&gives));
        }
        let parameters = if fits("") {
            format!("{name}({})\n", painted.join(", "))
        } else {
            let lines =
                plain.iter().zip(&painted).map(|(plain, painted)| match plain.width() + 5 <= paper.width {
                    true => format!("    {painted},\n"),
                    false => indented(&format!("{plain},"), "    ", paper.width),
                });
            format!("{name}(\n{})\n", lines.collect::<String>())
        };
        parameters + &paper.dim(&indented(gives.trim_start(), "  ", paper.width))
    }

    /// What each parameter is for, a line each.
    pub(crate) fn details(&self, paper: &Paper) -> String {
        let told =
            self.parameters.iter().filter_map(|parameter| Some((parameter, parameter.about.as_deref()?)));
        let line = |(parameter, about): (&Parameter, &str)| {
            indented(&format!("{}: {about}", parameter.name), "      ", paper.prose())
        };
        told.map(line).collect()
    }
}

impl Parameter {
    fn text(&self, paper: Option<&Paper>) -> String {
        let Self { name, kind, .. } = self;
        let mark = if self.is_required { "" } else { "?" };
        let colon = if kind.is_empty() { "" } else { ": " };
        let kind = paper.map_or_else(|| kind.clone(), |paper| paper.cyan(kind));
        format!("{name}{mark}{colon}{kind}")
    }
}

/// A signature with its description below, and with its details where they are wanted.
pub(crate) fn listed(
    signature: &Signature,
    description: Option<&str>,
    with_details: bool,
    paper: &Paper,
) -> String {
    let mut text = signature.lay_out(paper);
    if let Some(description) = description.map(str::trim).filter(|description| !description.is_empty()) {
        let shown = &description[..description.floor_char_boundary(DESCRIPTION)];
        text += &indented(&sanitize(shown), "    ", paper.prose());
        if shown.len() < description.len() {
            text += &paper.dim(&format!("    … {} more bytes\n", description.len() - shown.len()));
        }
    }
    if with_details {
        text += &paper.dim(&signature.details(paper));
    }
    text
}

fn parameters(schema: &InputSchema) -> Vec<Parameter> {
    let parameter = |property: &switchboard::protocol::InputProperty| Parameter {
        name: one_line(&property.name),
        is_required: property.required,
        kind: type_text(&property.schema, 0),
        about: property.description.as_deref().map(one_line),
    };
    schema.properties.iter().map(parameter).collect()
}

/// A schema as a type one can read: `"a" | "b"`, `string[]`, `{sum: number}`.
fn type_text(schema: &Raw, depth: usize) -> String {
    // A schema may also be `true`, which allows anything.
    let Ok(schema) = schema.decode::<OrderedMap<Raw>>() else { return "any".to_owned() };
    let literal = |value: &Raw| one_line(value.as_str());
    if let Some(value) = schema.get("const") {
        return literal(value);
    }
    if let Some(values) = schema.get("enum").and_then(|values| values.decode::<Vec<Raw>>().ok()) {
        return alternatives(values.iter().map(literal));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(keyword).and_then(|choices| choices.decode::<Vec<Raw>>().ok()) {
            return alternatives(choices.iter().map(|choice| type_text(choice, depth + 1)));
        }
    }
    if let Some(reference) = schema.get("$ref").and_then(|text| text.decode::<String>().ok()) {
        return one_line(reference.rsplit('/').next().unwrap_or(&reference));
    }
    let kinds = schema.get("type").map(kinds).unwrap_or_default();
    if kinds.is_empty() {
        return if schema.contains_key("properties") { members(&schema, depth) } else { "any".to_owned() };
    }
    alternatives(kinds.iter().map(|kind| match kind.as_str() {
        "array" => {
            let items =
                schema.get("items").map_or_else(|| "any".to_owned(), |items| type_text(items, depth + 1));
            if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
        }
        "object" => members(&schema, depth),
        other => one_line(other),
    }))
}

fn kinds(written: &Raw) -> Vec<String> {
    written.decode().map(|one| vec![one]).or_else(|_| written.decode()).unwrap_or_default()
}

fn alternatives(of: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for one in of {
        if seen.len() == SHOWN {
            seen.push("…".to_owned());
            break;
        }
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen.join(" | ")
}

fn members(schema: &OrderedMap<Raw>, depth: usize) -> String {
    let Some(properties) = schema.get("properties").and_then(|raw| raw.decode::<OrderedMap<Raw>>().ok())
    else {
        return "object".to_owned();
    };
    if depth >= DEPTH || properties.is_empty() {
        return "object".to_owned();
    }
    let required: Vec<String> = schema.get("required").and_then(|raw| raw.decode().ok()).unwrap_or_default();
    let mut parts: Vec<String> = properties
        .iter()
        .take(SHOWN)
        .map(|(name, kind)| {
            let mark = if required.iter().any(|needed| needed == name) { "" } else { "?" };
            format!("{}{mark}: {}", one_line(name), type_text(kind, depth + 1))
        })
        .collect();
    if properties.len() > SHOWN {
        parts.push("…".to_owned());
    }
    format!("{{{}}}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use switchboard::json;

    use super::*;

    fn laid_out(schema: serde_json::Value, width: usize) -> String {
        let text = Raw::parse(schema.to_string()).unwrap();
        Signature::of_tool(&Tool::new("t", text)).lay_out(&Paper::plain(width))
    }

    #[test]
    fn types_are_readable() {
        let cases = [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "integer | null"),
            (json!({"enum": ["a", 1]}), "\"a\" | 1"),
            (json!({"type": "array", "items": {"enum": ["a", "b"]}}), "(\"a\" | \"b\")[]"),
            (json!({"type": "object", "properties": {"x": {"type": "number"}}}), "{x?: number}"),
            (json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/City"}]}), "string | City"),
            (json!(true), "any"),
            (json!({"type": "\u{1b}[2J"}), "\\x1b[2J"),
        ];
        for (schema, expected) in cases {
            assert_eq!(type_text(&Raw::from(schema), 0), expected);
        }
    }

    #[test]
    fn a_signature_breaks_where_it_must() {
        let schema = json!({"type": "object", "required": ["text"],
            "properties": {"loud": {"type": "boolean"}, "text": {"type": "string"}}});
        assert_eq!(laid_out(schema.clone(), 60), "t(loud?: boolean, text: string)\n");
        assert_eq!(laid_out(schema, 22), "t(\n    loud?: boolean,\n    text: string,\n)\n");
        assert_eq!(laid_out(json!({"type": "object"}), 60), "t()\n");
    }
}
