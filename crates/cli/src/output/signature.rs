//! Signature of a tool or prompt, `add(a: number, b?: number)`, derived from its schema.

use switchboard::protocol::{InputSchema, OrderedMap, Prompt, Raw, Tool};
use unicode_width::UnicodeWidthStr;

use crate::output::{OutputStream, indented};
use crate::sanitize::{one_line, sanitize};

/// Maximum number of bytes shown of a description.
const MAX_DESCRIPTION: usize = 16 * 1024;
/// Maximum number of values or members shown of one type.
const MAX_ITEMS: usize = 8;
/// Maximum depth of nested types.
const MAX_DEPTH: usize = 2;

/// A name with its parameters and result type.
#[derive(Debug)]
pub(crate) struct Signature {
    name: String,
    parameters: Vec<Parameter>,
    result: Option<String>,
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
        let result = tool.output_schema.as_ref().map(|schema| type_text(schema, 0));
        Self { name: one_line(&tool.name), parameters: parameters(&schema), result }
    }

    pub(crate) fn of_prompt(prompt: &Prompt) -> Self {
        let parameters = prompt.arguments.iter().flatten().map(|argument| Parameter {
            name: one_line(&argument.name),
            is_required: argument.required == Some(true),
            kind: String::new(),
            about: argument.description.as_deref().map(one_line),
        });
        Self { name: one_line(&prompt.name), parameters: parameters.collect(), result: None }
    }

    /// Renders the signature on one line if it fits, else with one line per parameter.
    pub(crate) fn render(&self, out: &OutputStream) -> String {
        let result = self.result.as_ref().map(|result| format!(" → {result}")).unwrap_or_default();
        let plain: Vec<String> = self.parameters.iter().map(|parameter| parameter.render(None)).collect();
        let painted: Vec<String> =
            self.parameters.iter().map(|parameter| parameter.render(Some(out))).collect();
        let name = out.bold(&self.name);
        let fits = |tail: &str| self.name.width() + plain.join(", ").width() + tail.width() + 2 <= out.width;
        if fits(&result) {
            return format!("{name}({}){}\n", painted.join(", "), out.dim(&result));
        }
        let parameters = if fits("") {
            format!("{name}({})\n", painted.join(", "))
        } else {
            let lines =
                plain.iter().zip(&painted).map(|(plain, painted)| match plain.width() + 5 <= out.width {
                    true => format!("    {painted},\n"),
                    false => indented(&format!("{plain},"), "    ", out.width),
                });
            format!("{name}(\n{})\n", lines.collect::<String>())
        };
        parameters + &out.dim(&indented(result.trim_start(), "  ", out.width))
    }

    /// Renders the descriptions of the parameters, one line each.
    pub(crate) fn details(&self, out: &OutputStream) -> String {
        let described =
            self.parameters.iter().filter_map(|parameter| Some((parameter, parameter.about.as_deref()?)));
        let line = |(parameter, about): (&Parameter, &str)| {
            indented(&format!("{}: {about}", parameter.name), "      ", out.prose_width())
        };
        described.map(line).collect()
    }
}

impl Parameter {
    fn render(&self, out: Option<&OutputStream>) -> String {
        let Self { name, kind, .. } = self;
        let mark = if self.is_required { "" } else { "?" };
        let colon = if kind.is_empty() { "" } else { ": " };
        let kind = out.map_or_else(|| kind.clone(), |out| out.cyan(kind));
        format!("{name}{mark}{colon}{kind}")
    }
}

/// Renders a signature with its description below, and with the descriptions of its parameters if `with_details` is set.
pub(crate) fn render_item(
    signature: &Signature,
    description: Option<&str>,
    with_details: bool,
    out: &OutputStream,
) -> String {
    let mut text = signature.render(out);
    if let Some(description) = description.map(str::trim).filter(|description| !description.is_empty()) {
        let shown = &description[..description.floor_char_boundary(MAX_DESCRIPTION)];
        text += &indented(&sanitize(shown), "    ", out.prose_width());
        if shown.len() < description.len() {
            text += &out.dim(&format!("    … {} more bytes\n", description.len() - shown.len()));
        }
    }
    if with_details {
        text += &out.dim(&signature.details(out));
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

/// Formats a schema as a type: `"a" | "b"`, `string[]`, `{sum: number}`.
fn type_text(schema: &Raw, depth: usize) -> String {
    // A schema may also be `true`, which allows anything.
    let Ok(schema) = schema.decode::<OrderedMap<Raw>>() else { return "any".to_owned() };
    let literal = |value: &Raw| one_line(value.as_str());
    if let Some(value) = schema.get("const") {
        return literal(value);
    }
    if let Some(values) = schema.get("enum").and_then(|values| values.decode::<Vec<Raw>>().ok()) {
        return join_alternatives(values.iter().map(literal));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(keyword).and_then(|choices| choices.decode::<Vec<Raw>>().ok()) {
            return join_alternatives(choices.iter().map(|choice| type_text(choice, depth + 1)));
        }
    }
    if let Some(reference) = schema.get("$ref").and_then(|text| text.decode::<String>().ok()) {
        return one_line(reference.rsplit('/').next().unwrap_or(&reference));
    }
    let kinds = schema.get("type").map(type_names).unwrap_or_default();
    if kinds.is_empty() {
        return if schema.contains_key("properties") {
            object_type(&schema, depth)
        } else {
            "any".to_owned()
        };
    }
    join_alternatives(kinds.iter().map(|kind| match kind.as_str() {
        "array" => {
            let items =
                schema.get("items").map_or_else(|| "any".to_owned(), |items| type_text(items, depth + 1));
            if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
        }
        "object" => object_type(&schema, depth),
        other => one_line(other),
    }))
}

fn type_names(types: &Raw) -> Vec<String> {
    types.decode().map(|one| vec![one]).or_else(|_| types.decode()).unwrap_or_default()
}

fn join_alternatives(items: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for item in items {
        if seen.len() == MAX_ITEMS {
            seen.push("…".to_owned());
            break;
        }
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen.join(" | ")
}

fn object_type(schema: &OrderedMap<Raw>, depth: usize) -> String {
    let Some(properties) = schema.get("properties").and_then(|raw| raw.decode::<OrderedMap<Raw>>().ok())
    else {
        return "object".to_owned();
    };
    if depth >= MAX_DEPTH || properties.is_empty() {
        return "object".to_owned();
    }
    let required: Vec<String> = schema.get("required").and_then(|raw| raw.decode().ok()).unwrap_or_default();
    let mut parts: Vec<String> = properties
        .iter()
        .take(MAX_ITEMS)
        .map(|(name, kind)| {
            let mark = if required.iter().any(|needed| needed == name) { "" } else { "?" };
            format!("{}{mark}: {}", one_line(name), type_text(kind, depth + 1))
        })
        .collect();
    if properties.len() > MAX_ITEMS {
        parts.push("…".to_owned());
    }
    format!("{{{}}}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use switchboard::json;

    use super::*;

    fn rendered(schema: serde_json::Value, width: usize) -> String {
        let text = Raw::parse(schema.to_string()).unwrap();
        Signature::of_tool(&Tool::new("t", text)).render(&OutputStream::plain(width))
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
        assert_eq!(rendered(schema.clone(), 60), "t(loud?: boolean, text: string)\n");
        assert_eq!(rendered(schema, 22), "t(\n    loud?: boolean,\n    text: string,\n)\n");
        assert_eq!(rendered(json!({"type": "object"}), 60), "t()\n");
    }
}
