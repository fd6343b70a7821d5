//! What a result holds, read by what the design says the method answers with.
//!
//! A text that looks like JSON is still text where the design says text, and data that the server had to put into an
//! object, because its revision knows no other, is taken out again. Nothing is checked beyond that: decoding is the check.

use serde_json::Value;
use switchboard_design::schema::{is_object, validation_issues};
use switchboard_design::{Design, Error, OutputDef};
use switchboard_protocol::{CallToolResult, Content, DecodeError, Raw, ReadResourceResult, ResourceBody};

use crate::bytes::is_base64;
use crate::stream_json::held_text;
use crate::{Contents, FromOutput};

/// The member that data is put into where only an object will do.
const RESULT: &str = "result";

/// The result of a tool, with what the design says about it.
#[derive(Debug)]
pub struct ToolAnswer<'a> {
    result: CallToolResult,
    output: &'a OutputDef,
    design: &'a Design,
}

impl<'a> ToolAnswer<'a> {
    pub(super) fn new(result: CallToolResult, output: &'a OutputDef, design: &'a Design) -> Self {
        Self { result, output, design }
    }

    /// Reads the value that the result holds.
    pub(crate) fn into_value<T: FromOutput>(self) -> Result<T, Error> {
        from_tool(self.result, self.output, self.design)
    }
}

/// The contents of a resource, with what the design says about them.
#[derive(Debug)]
pub struct ResourceAnswer<'a> {
    result: ReadResourceResult,
    output: &'a OutputDef,
}

impl<'a> ResourceAnswer<'a> {
    pub(super) fn new(result: ReadResourceResult, output: &'a OutputDef) -> Self {
        Self { result, output }
    }

    /// Reads the value that the contents hold.
    pub(crate) fn into_value<T: FromOutput>(self) -> Result<T, Error> {
        from_resource(self.result, self.output)
    }
}

/// What the result of a tool holds.
pub(crate) fn from_tool<T: FromOutput>(
    result: CallToolResult,
    output: &OutputDef,
    design: &Design,
) -> Result<T, Error> {
    match (output, &result.structured_content) {
        (OutputDef::Nothing, _) => T::from_json(&Raw::null()),
        (OutputDef::Text, _) => T::from_json(&Raw::encode(&result.text())?),
        (OutputDef::Structured { schema }, Some(json)) => T::from_json(&unwrapped(json, schema, design)),
        // A revision in which only objects are data: one of the items holds it.
        (OutputDef::Structured { .. }, None) => T::from_contents(Contents::new(result.content)),
        _ => T::from_result(result),
    }
}

/// The data in the one member of an object, where the object cannot be the data. What can be is left alone.
fn unwrapped(json: &Raw, schema: &Value, design: &Design) -> Raw {
    let mut members = json.fields();
    match (members.next(), members.next()) {
        (Some((name, inner)), None) if name == RESULT && !is_object(schema) => {
            let fits = |whole: Value| validation_issues(&design.types.bundle(schema), &whole).is_empty();
            if json.decode().is_ok_and(fits) { json.clone() } else { inner }
        }
        _ => json.clone(),
    }
}

/// Whether a schema describes a string, or a string or nothing: then text stands for itself.
fn is_text(schema: &Value) -> bool {
    let is = |kind: &Value, known: &str| kind.as_str() == Some(known);
    if let Some(Value::Array(members)) = schema.get("anyOf") {
        let is_nothing = |member: &Value| member.get("type").is_some_and(|kind| is(kind, "null"));
        return members.iter().any(is_text) && members.iter().all(|one| is_text(one) || is_nothing(one));
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

/// What a resource holds.
pub(crate) fn from_resource<T: FromOutput>(
    result: ReadResourceResult,
    output: &OutputDef,
) -> Result<T, Error> {
    let blocks: Vec<_> = result.contents.into_iter().map(Content::resource).collect();
    let contents = Contents::new(blocks);
    if output.schema().is_some_and(is_base64)
        && let Some(blob) = contents.blocks.iter().find_map(held_blob)
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
    let text = contents.blocks.iter().find_map(held_text);
    let text =
        text.ok_or_else(|| Error::Malformed(DecodeError::mismatch("contents", "there is no text in it")))?;
    // Where there may be none, that is what stands for it.
    let is_none = text == "null" && !matches!(output, OutputDef::Text);
    T::from_json(&if is_none { Raw::null() } else { Raw::encode(text)? })
}

/// The base64 that an item holds.
fn held_blob(item: &Content) -> Option<&str> {
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
    fn text_is_text_whatever_it_looks_like() {
        for looks in ["plain", "007", "null", "\"quoted\"", "{\"a\":1}", ""] {
            assert_eq!(read::<String>(text(looks), &OutputDef::Text), looks);
        }
        read::<()>(text(crate::SUCCESS), &OutputDef::Nothing);
    }

    #[test]
    fn data_that_is_no_object_is_read_from_its_item_where_there_is_no_other_place() {
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
    fn data_that_was_put_into_an_object_is_taken_out() {
        let list = OutputDef::from_type::<Vec<u32>>();
        assert_eq!(read::<Vec<u32>>(structured(json!({"result": [1, 2]})), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(structured(json!([1, 2])), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(text("[1,2]"), &list), [1, 2]);
        let optional = OutputDef::from_type::<Option<String>>();
        assert_eq!(read::<Option<String>>(structured(json!({"result": "a"})), &optional).unwrap(), "a");
        assert_eq!(read::<Option<String>>(structured(json!({"result": null})), &optional), None);
    }

    #[test]
    fn an_object_with_such_a_member_is_left_alone() {
        let object = OutputDef::structured(json!({"type": "object"}));
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &object), json!({"result": 1}));
        let any = OutputDef::Structured { schema: json!(true) };
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &any), json!({"result": 1}));
    }

    #[test]
    fn a_resource_of_text_is_read_as_text() {
        let result = |text: &str| ReadResourceResult::new([ResourceContents::text("x://y", text)]);
        assert_eq!(from_resource::<String>(result("\"q\""), &OutputDef::Text).unwrap(), "\"q\"");
        let data = OutputDef::from_type::<Vec<u32>>();
        assert_eq!(from_resource::<Vec<u32>>(result("[1]"), &data).unwrap(), [1]);
        let blob = ReadResourceResult::new([ResourceContents::blob("x://y", "aGk=")]);
        assert!(matches!(from_resource::<String>(blob, &OutputDef::Text), Err(Error::Malformed(_))));
    }
}
