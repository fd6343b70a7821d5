//! What a result holds, read by what the design says the method answers with.
//!
//! A text that looks like JSON is still text where the design says text, and data that the server had to put into an
//! object, because its revision knows no other, is taken out again. Nothing is checked beyond that: decoding is the check.

use serde_json::Value;
use switchboard_design::schema::{is_object, misfits};
use switchboard_design::{Design, Error, OutputDef};
use switchboard_protocol::{CallToolResult, DecodeError, Raw, ReadResourceResult};

use crate::events::held_text;
use crate::{Contents, FromOutput, SUCCESS};

/// The member that data is put into where only an object will do.
const RESULT: &str = "result";

/// What the result of a tool holds.
pub(crate) fn from_tool<T: FromOutput>(
    result: CallToolResult,
    output: &OutputDef,
    design: &Design,
) -> Result<T, Error> {
    match json_of(&result, output, design)? {
        Some(json) => T::from_json(&json),
        None => T::from_result(result),
    }
}

fn json_of(result: &CallToolResult, output: &OutputDef, design: &Design) -> Result<Option<Raw>, Error> {
    Ok(match output {
        OutputDef::Nothing => Some(Raw::null()),
        OutputDef::Text => Some(Raw::encode(&result.text())?),
        OutputDef::Structured { schema } => match &result.structured_content {
            Some(json) => Some(unwrapped(json, schema, result)),
            None if is_nothing(result, schema, design) => Some(Raw::null()),
            None if is_text(schema) => Some(Raw::encode(&result.text())?),
            None => None,
        },
        _ => None,
    })
}

/// Whether it says no more than that it succeeded, and nothing is what the schema allows.
fn is_nothing(result: &CallToolResult, schema: &Value, design: &Design) -> bool {
    result.text() == SUCCESS && misfits(&design.types.close(schema), &Value::Null).is_empty()
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

/// The data in the one member of an object, where the data itself is none.
fn unwrapped(json: &Raw, schema: &Value, result: &CallToolResult) -> Raw {
    if is_object(schema) {
        return json.clone();
    }
    let mut members = json.fields();
    match (members.next(), members.next()) {
        (Some((name, inner)), None) if name == RESULT => {
            // Without a type the data could be such an object itself. Its text is then the whole object.
            let is_certain = schema.get("type").is_some() || result.text() == inner.as_str();
            if is_certain { inner } else { json.clone() }
        }
        _ => json.clone(),
    }
}

/// What a resource holds.
pub(crate) fn from_resource<T: FromOutput>(
    result: ReadResourceResult,
    output: &OutputDef,
) -> Result<T, Error> {
    let blocks: Vec<_> = result.contents.into_iter().map(switchboard_protocol::Content::resource).collect();
    let contents = Contents::new(blocks);
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
    T::from_json(&Raw::encode(text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_protocol::{Content, ResourceContents};

    use super::*;

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
        let optional = OutputDef::of::<Option<String>>();
        assert_eq!(read::<Option<String>>(text("\"quoted\""), &optional).unwrap(), "\"quoted\"");
        assert_eq!(read::<Option<String>>(text(SUCCESS), &optional), None);
        read::<()>(text(SUCCESS), &OutputDef::Nothing);
    }

    #[test]
    fn data_that_was_put_into_an_object_is_taken_out() {
        let list = OutputDef::of::<Vec<u32>>();
        assert_eq!(read::<Vec<u32>>(structured(json!({"result": [1, 2]})), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(structured(json!([1, 2])), &list), [1, 2]);
        assert_eq!(read::<Vec<u32>>(text("[1,2]"), &list), [1, 2]);
    }

    #[test]
    fn an_object_with_such_a_member_is_left_alone() {
        let object = OutputDef::structured(json!({"type": "object"}));
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &object), json!({"result": 1}));
        let any = OutputDef::Structured { schema: json!(true) };
        assert_eq!(read::<Value>(structured(json!({"result": 1})), &any), json!({"result": 1}));
        let mut wrapped = structured(json!({"result": 1}));
        wrapped.content = vec![Content::text("1")];
        assert_eq!(read::<Value>(wrapped, &any), json!(1));
    }

    #[test]
    fn a_resource_of_text_is_read_as_text() {
        let result = |text: &str| ReadResourceResult::new([ResourceContents::text("x://y", text)]);
        assert_eq!(from_resource::<String>(result("\"q\""), &OutputDef::Text).unwrap(), "\"q\"");
        let data = OutputDef::of::<Vec<u32>>();
        assert_eq!(from_resource::<Vec<u32>>(result("[1]"), &data).unwrap(), [1]);
        let blob = ReadResourceResult::new([ResourceContents::blob("x://y", "aGk=")]);
        assert!(matches!(from_resource::<String>(blob, &OutputDef::Text), Err(Error::Malformed(_))));
    }
}
