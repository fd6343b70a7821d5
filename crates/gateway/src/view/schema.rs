//! Input schemas as a view shows them: without the arguments that are fixed or hidden, with other descriptions.
//!
//! A schema is edited only if the result is exact: clients that fill it in send exactly the arguments that, with the fixed ones,
//! fit the schema of the server. Keywords that are not concerned stay byte for byte.

use serde_json::Value;
use switchboard_protocol::{OrderedMap, Raw};

use super::view::ToolRules;

/// Keywords whose schemas apply to the arguments as a whole.
const APPLICATORS: [&str; 10] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
];
/// Keywords that, in one of these, may concern an argument without its name.
const INDIRECT: [&str; 9] = [
    "$ref",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "const",
    "enum",
];
/// Keywords that name a schema, so that others can refer to it.
const ANCHORS: [&str; 4] = ["$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];

/// Returns the schema without the arguments that are fixed or hidden, and with the descriptions of the view.
///
/// # Errors
/// The reason why an argument cannot be removed exactly, and what to do.
pub(crate) fn edit_schema(schema: &Raw, rules: &ToolRules) -> Result<Raw, String> {
    let removed: Vec<&str> =
        rules.fixed.keys().map(String::as_str).chain(rules.hidden.iter().map(String::as_str)).collect();
    if removed.is_empty() && rules.described.is_empty() {
        return Ok(schema.clone());
    }
    schema.canonical().map_err(|_| "its input schema has duplicate keys, or is too large".to_owned())?;
    let mut members: OrderedMap<Raw> = members(schema);
    let mut properties = members.get("properties").filter(|raw| raw.is_object()).map(self::members);
    if !removed.is_empty() {
        check(schema, &removed, rules)?;
        let required = members.get("required").map(|required| without(required, &removed));
        match required {
            Some(Some(required)) => members.insert("required", required),
            Some(None) => members.remove("required"),
            None => None,
        };
    }
    if let Some(properties) = &mut properties {
        for name in &removed {
            properties.remove(name);
        }
        for (name, text) in &rules.described {
            describe(properties, name, text)?;
        }
        members.insert("properties", encode(properties)?);
    }
    encode(&members)
}

/// Checks that the arguments can be removed exactly.
fn check(schema: &Raw, removed: &[&str], rules: &ToolRules) -> Result<(), String> {
    let root: Value = schema.decode().map_err(|error| error.to_string())?;
    let properties = root.get("properties").and_then(Value::as_object);
    for name in removed {
        let Some(property) = properties.and_then(|properties| properties.get(*name)) else {
            return Err(format!(
                "its input schema has no argument `{name}` in its own `properties`; correct the name in the view"
            ));
        };
        if has_key(property, &ANCHORS) {
            return Err(format!("the schema of the argument `{name}` is named for use elsewhere"));
        }
    }
    let required = root.get("required").and_then(Value::as_array);
    let is_required = |name: &&String| required.is_some_and(|names| names.iter().any(|one| one == *name));
    if let Some(name) = rules.hidden.iter().find(is_required) {
        return Err(format!("the argument `{name}` is required, and hidden without a value: set `fixed`"));
    }
    if let Some(keyword) = ["$ref", "enum", "const"].into_iter().find(|keyword| root.get(*keyword).is_some())
    {
        return Err(format!("its input schema has `{keyword}`, from which no argument can be removed"));
    }
    for keyword in ["minProperties", "maxProperties"] {
        if root.get(keyword).is_some() && !rules.fixed.is_empty() {
            return Err(format!("its input schema counts arguments with `{keyword}`"));
        }
    }
    for keyword in APPLICATORS {
        let Some(value) = root.get(keyword) else { continue };
        if let Some(name) = removed.iter().find(|name| mentions(value, name)) {
            return Err(format!("its input schema may rule the argument `{name}` in `{keyword}`"));
        }
    }
    check_references(&root, &root, removed)
}

/// Returns whether a schema may concern an argument of the object that it applies to.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key == name || INDIRECT.contains(&key.as_str()) || mentions(value, name)),
        Value::Array(values) => values.iter().any(|value| mentions(value, name)),
        Value::String(text) => text == name,
        _ => false,
    }
}

/// Checks that no reference has the removed schemas, or the root itself, as its target.
fn check_references(value: &Value, root: &Value, removed: &[&str]) -> Result<(), String> {
    match value {
        Value::Object(members) => members.iter().try_for_each(|(key, value)| {
            match (key.as_str(), value) {
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(format!("its input schema has `{key}`, whose target is not fixed"));
                }
                ("$ref", Value::String(target)) if !is_unconcerned(target, root, removed) => {
                    return Err(format!(
                        "its input schema refers to {target:?}, which changes with the arguments"
                    ));
                }
                _ => {}
            }
            check_references(value, root, removed)
        }),
        Value::Array(values) => values.iter().try_for_each(|value| check_references(value, root, removed)),
        _ => Ok(()),
    }
}

/// Returns whether the target of a reference stays as it is.
fn is_unconcerned(target: &str, root: &Value, removed: &[&str]) -> bool {
    let Some(fragment) = target.strip_prefix('#') else {
        // Of another document, unless this one has a name.
        return !target.is_empty() && root.get("$id").is_none() && root.get("id").is_none();
    };
    if fragment.contains('%') {
        return false;
    }
    let Some(pointer) = fragment.strip_prefix('/') else {
        let names_root = ANCHORS.iter().any(|key| root.get(*key).and_then(Value::as_str) == Some(fragment));
        return !fragment.is_empty() && !names_root;
    };
    let mut segments = pointer.split('/').map(|segment| segment.replace("~1", "/").replace("~0", "~"));
    match (segments.next().as_deref(), segments.next()) {
        (Some("properties"), Some(name)) => !removed.contains(&name.as_str()),
        (Some("$defs" | "definitions"), Some(_)) => true,
        _ => false,
    }
}

fn has_key(value: &Value, keys: &[&str]) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(key, value)| keys.contains(&key.as_str()) || has_key(value, keys))
        }
        Value::Array(values) => values.iter().any(|value| has_key(value, keys)),
        _ => false,
    }
}

/// Returns the list of required arguments without the removed ones; `None` if it is empty, which older drafts do not allow.
fn without(required: &Raw, removed: &[&str]) -> Option<Raw> {
    let names: Vec<Raw> = required
        .elements()
        .filter(|name| name.decode::<String>().map_or(true, |name| !removed.contains(&name.as_str())))
        .collect();
    Raw::encode(&names).ok().filter(|_| !names.is_empty())
}

/// Describes an argument anew, if the schema has it.
fn describe(properties: &mut OrderedMap<Raw>, name: &str, text: &str) -> Result<(), String> {
    let Some(property) = properties.get(name).filter(|raw| raw.is_object()) else { return Ok(()) };
    let mut property = members(property);
    property.insert("description", encode(text)?);
    properties.insert(name, encode(&property)?);
    Ok(())
}

fn members(object: &Raw) -> OrderedMap<Raw> {
    object.fields().map(|(name, value)| (name.as_str().to_owned(), value)).collect()
}

fn encode<T: serde_core::Serialize + ?Sized>(value: &T) -> Result<Raw, String> {
    Raw::encode(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(schema: &str, fixed: &[&str], hidden: &[&str]) -> Result<String, String> {
        let rules = ToolRules {
            fixed: fixed.iter().map(|name| ((*name).to_owned(), Raw::null())).collect(),
            hidden: hidden.iter().map(|name| (*name).to_owned()).collect(),
            ..ToolRules::default()
        };
        edit_schema(&Raw::parse(schema.to_owned()).unwrap(), &rules).map(|raw| raw.as_str().to_owned())
    }

    #[test]
    fn arguments_are_removed_and_everything_else_stays_byte_for_byte() {
        let schema = r##"{"$schema":"x","type":"object","properties":{"a":{"type": "string" },"b":{"$ref":"#/$defs/b"}},"required":["a","b"],"additionalProperties":false,"$defs":{"b":{ "minimum":1.0}}}"##;
        assert_eq!(
            edited(schema, &["a"], &[]).unwrap(),
            r##"{"$schema":"x","type":"object","properties":{"b":{"$ref":"#/$defs/b"}},"required":["b"],"additionalProperties":false,"$defs":{"b":{ "minimum":1.0}}}"##
        );
        let none_left = edited(schema, &["a", "b"], &[]).unwrap();
        assert!(!none_left.contains("required") && none_left.contains(r#""properties":{}"#), "{none_left}");
        assert_eq!(edited(schema, &[], &[]).unwrap(), schema);
    }

    #[test]
    fn an_argument_that_cannot_be_removed_exactly_is_refused() {
        let root = |rest: &str| format!(r#"{{"type":"object","properties":{{"a":{{}},"b":{{}}}}{rest}}}"#);
        for rest in [
            r#","allOf":[{"required":["a"]}]"#,
            r#","allOf":[{"properties":{"a":{"type":"string"}}}]"#,
            r##","allOf":[{"$ref":"#/$defs/x"}]"##,
            r#","if":{"maxProperties":1},"then":{"required":["b"]}"#,
            r#","dependentRequired":{"b":["a"]}"#,
            r#","dependencies":{"a":["b"]}"#,
            r#","minProperties":1"#,
            r##","$ref":"#/$defs/x""##,
            r#","enum":[{}]"#,
            r##","$defs":{"x":{"$ref":"#/properties/a"}}"##,
            r##","$defs":{"x":{"$ref":"#/properties/%61"}}"##,
            r##","$defs":{"x":{"$ref":"#"}}"##,
            r##","$id":"https://x.example/s","$defs":{"x":{"$ref":"s"}}"##,
            r##","$defs":{"x":{"$dynamicRef":"#x"}}"##,
            r#","type":"object""#,
        ] {
            assert!(edited(&root(rest), &["a"], &[]).is_err(), "{rest}");
        }
        for rest in [
            r#","allOf":[{"required":["b"]}]"#,
            r##","$defs":{"x":{"$ref":"#/properties/b"}}"##,
            r#","propertyNames":{"pattern":"^[ab]$"}"#,
        ] {
            assert!(edited(&root(rest), &["a"], &[]).is_ok(), "{rest}");
        }
        assert!(edited(&root(""), &["c"], &[]).unwrap_err().contains("`c`"), "no such argument");
        assert!(edited(&root(r#","allOf":[{"properties":{"c":{}}}]"#), &["c"], &[]).is_err());
        let anchored = r#"{"properties":{"a":{"$anchor":"x"}}}"#;
        assert!(edited(anchored, &["a"], &[]).is_err());
    }

    #[test]
    fn a_required_argument_cannot_be_hidden_without_a_value() {
        let schema = r#"{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"minProperties":1}"#;
        assert!(edited(schema, &[], &["a"]).unwrap_err().contains("set `fixed`"));
        assert!(edited(schema, &[], &["b"]).is_ok());
    }

    #[test]
    fn descriptions_of_arguments_are_replaced() {
        let rules =
            ToolRules { described: [("a".to_owned(), "New.".to_owned())].into(), ..ToolRules::default() };
        let edit = |schema: &str| edit_schema(&Raw::parse(schema.to_owned()).unwrap(), &rules);
        let shown = edit(r#"{"properties":{"a":{"description":"Old.","type":"string"}}}"#).unwrap();
        assert_eq!(shown.as_str(), r#"{"properties":{"a":{"description":"New.","type":"string"}}}"#);
        for without in [r#"{"properties":{"a":true}}"#, r#"{"type":"object"}"#] {
            assert_eq!(edit(without).unwrap().as_str(), without);
        }
    }
}
