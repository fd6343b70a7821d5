//! Decodes responses according to the output type in the design.
//!
//! Text that looks like JSON stays text if the design says text. Data that the server wrapped in an object, because
//! its revision allows only objects, is unwrapped. Decoding is the only validation.

use serde_json::Value;
use switchboard_design::schema::{is_object, validation_issues};
use switchboard_design::{Design, Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, DecodeError, Raw, ReadResourceResult, ResourceBody};

use crate::bytes::is_base64;
use crate::stream_json::item_text;
use crate::{Contents, FromOutput};

/// The member that wraps data which is not an object.
const WRAPPER_MEMBER: &str = "result";

/// The result of a tool, with its declared output type.
#[derive(Debug)]
pub struct ToolOutput<'a> {
    result: CallToolResult,
    output: &'a OutputDef,
    design: &'a Design,
}

impl<'a> ToolOutput<'a> {
    pub(super) fn new(result: CallToolResult, output: &'a OutputDef, design: &'a Design) -> Self {
        Self { result, output, design }
    }

    /// Decodes the result.
    pub(crate) fn into_value<T: FromOutput>(self) -> Result<T, Error> {
        from_tool(self.result, self.output, self.design)
    }
}

/// The contents of a resource, with its declared output type.
#[derive(Debug)]
pub struct ResourceOutput<'a> {
    result: ReadResourceResult,
    output: &'a OutputDef,
}

impl<'a> ResourceOutput<'a> {
    pub(super) fn new(result: ReadResourceResult, output: &'a OutputDef) -> Self {
        Self { result, output }
    }

    /// Decodes the contents.
    pub(crate) fn into_value<T: FromOutput>(self) -> Result<T, Error> {
        from_resource(self.result, self.output)
    }
}

/// Decodes a tool result.
pub(crate) fn from_tool<T: FromOutput>(
    result: CallToolResult,
    output: &OutputDef,
    design: &Design,
) -> Result<T, Error> {
    match (output, &result.structured_content) {
        (OutputDef::Nothing, _) => T::from_json(&Raw::null()),
        (OutputDef::Text, _) => T::from_json(&Raw::encode(&result.text())?),
        (OutputDef::Structured { schema }, Some(json)) => T::from_json(&unwrap_result(json, schema, design)),
        // In revisions where only objects are structured, a content item has the data.
        (OutputDef::Structured { .. }, None) => T::from_contents(Contents::new(result.content)),
        _ => T::from_result(result),
    }
}

/// Unwraps the only member of an object, unless the object itself matches the schema.
fn unwrap_result(json: &Raw, schema: &Value, design: &Design) -> Raw {
    let mut members = json.fields();
    match (members.next(), members.next()) {
        (Some((name, inner)), None) if name == WRAPPER_MEMBER && !is_object(schema) => {
            let fits = |whole: Value| validation_issues(&design.types.bundle(schema), &whole).is_empty();
            if json.decode().is_ok_and(fits) { json.clone() } else { inner }
        }
        _ => json.clone(),
    }
}

/// Returns whether a schema describes a string, or a string or null: then text is not decoded as JSON.
fn is_text(schema: &Value) -> bool {
    let is = |kind: &Value, known: &str| kind.as_str() == Some(known);
    if let Some(Value::Array(members)) = schema.get("anyOf") {
        let is_null = |member: &Value| member.get("type").is_some_and(|kind| is(kind, "null"));
        return members.iter().any(is_text) && members.iter().all(|one| is_text(one) || is_null(one));
    }
    match schema.get("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| is(kind, "string"))
                && kinds.iter().all(|kind| is(kind, "string") || is(kind, "null"))
        }
        Some(kind) => is(kind, "string"),
        None => false,
    }
}

/// Decodes the contents of a resource.
pub(crate) fn from_resource<T: FromOutput>(
    result: ReadResourceResult,
    output: &OutputDef,
) -> Result<T, Error> {
    let blocks: Vec<_> = result.contents.into_iter().map(Content::resource).collect();
    let contents = Contents::new(blocks);
    if output.schema().is_some_and(is_base64)
        && let Some(blob) = contents.blocks.iter().find_map(item_blob)
    {
        return T::from_json(&Raw::encode(blob)?);
    }
    let reads_text = match output {
        OutputDef::Text => true,
        OutputDef::Structured { schema } => is_text(schema),
        _ => false,
    };
    if !reads_text {
        return T::from_contents(contents);
    }
    let text = contents.blocks.iter().find_map(item_text);
    let text = text.ok_or_else(|| Error::Malformed(DecodeError::mismatch("contents", "no text")))?;
    // `null` text means `None` for an optional string.
    let is_none = text == "null" && !matches!(output, OutputDef::Text);
    T::from_json(&if is_none { Raw::null() } else { Raw::encode(text)? })
}

/// Returns the base64 of a blob item.
fn item_blob(item: &Content) -> Option<&str> {
    match item {
        Content::Resource(embedded) => match &embedded.resource.body {
            ResourceBody::Blob(blob) => Some(blob),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_protocol::ResourceContents;

    use super::*;
    use crate::StreamJson;

    fn read<T: FromOutput>(result: CallToolResult, output: &OutputDef) -> T {
        from_tool(result, output, &Design::new("d", "1")).unwrap()
    }

    fn structured(value: Value) -> CallToolResult {
        let mut result = CallToolResult::new([Content::text(value.to_string())]);
        result.structured_content = Some(value.into());
        result
    }

    fn text(text: &str) -> CallToolResult {
        CallToolResult::new([Content::text(text)])
    }

    #[test]
    fn text_is_not_decoded_as_json() {
        for sample in ["plain", "007", "null", "\"quoted\"", "{\"a\":1}", ""] {
            assert_eq!(read::<String>(text(sample), &OutputDef::Text), sample);
        }
        read::<()>(text(crate::SUCCESS), &OutputDef::Nothing);
    }

    #[test]
    fn unstructured_data_is_decoded_from_its_item() {
        let optional = OutputDef::from_type::<Option<String>>();
        assert_eq!(read::<Option<String>>(text("\"a\""), &optional).unwrap(), "a");
        assert_eq!(read::<Option<String>>(text("a"), &optional).unwrap(), "a");
        assert_eq!(read::<Option<String>>(text("null"), &optional), None);
        for json in [StreamJson::Text, StreamJson::Resource, StreamJson::TypedText] {
            let item = json.item(&Raw::parse("[1,2]").unwrap()).unwrap();
            // As it comes over the wire.
            let item: Content = Raw::encode(&item).unwrap().decode().unwrap();
            assert_eq!(
                read::<Vec<u32>>(CallToolResult::new([item]), &OutputDef::from_type::<Vec<u32>>()),
                [1, 2]
            );
        }
    }

    #[test]
    fn wrapped_data_is_unwrapped() {
        let list = OutputDef::from_type::<Vec<u32>>();
        assert_eq!(read::<Vec<u32>>(structured(json!({"result": [1, 2]})), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(structured(json!([1, 2])), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(text("[1,2]"), &list), [1, 2]);
        let optional = OutputDef::from_type::<Option<String>>();
        assert_eq!(read::<Option<String>>(structured(json!({"result": "a"})), &optional).unwrap(), "a");
        assert_eq!(read::<Option<String>>(structured(json!({"result": null})), &optional), None);
    }

    #[test]
    fn an_object_with_a_result_member_is_not_unwrapped() {
        let object = OutputDef::structured(json!({"type": "object"}));
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &object), json!({"result": 1}));
        let any = OutputDef::Structured { schema: json!(true) };
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &any), json!({"result": 1}));
    }

    #[test]
    fn text_resources_are_not_decoded_as_json() {
        let result = |text: &str| ReadResourceResult::new([ResourceContents::text("x://y", text)]);
        assert_eq!(from_resource::<String>(result("\"q\""), &OutputDef::Text).unwrap(), "\"q\"");
        let data = OutputDef::from_type::<Vec<u32>>();
        assert_eq!(from_resource::<Vec<u32>>(result("[1]"), &data).unwrap(), [1]);
        let blob = ReadResourceResult::new([ResourceContents::blob("x://y", "aGk=")]);
        assert!(matches!(from_resource::<String>(blob, &OutputDef::Text), Err(Error::Malformed(_))));
    }
}
