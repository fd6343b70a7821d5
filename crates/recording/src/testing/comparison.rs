//! Compares answers. What every answer may change is left out, and lists of named items are compared by name.

use serde_json::{Map, Value};
use switchboard_protocol::Meta;

use crate::difference::Difference;
use crate::pattern::PatternBindings;
use crate::testing::ignored_path::IgnoredPath;

/// Members of a result that hold definitions, and the member that names each.
const DEFINITIONS: [(&str, &str); 4] =
    [("tools", "name"), ("prompts", "name"), ("resources", "uri"), ("resourceTemplates", "uriTemplate")];

/// Returns the differences between a recorded answer, which may have patterns, and an actual one.
pub(super) fn compare_answers(
    bindings: &mut PatternBindings,
    recorded: &Value,
    actual: &Value,
    ignored: &[IgnoredPath],
) -> Vec<Difference> {
    let (recorded, actual) = (comparable(recorded), comparable(actual));
    let mut differences = bindings.differences(&recorded, &actual);
    differences.retain(|difference| !ignored.iter().any(|path| path.covers(&difference.path)));
    differences
}

/// Returns an answer for comparison: without the description of the server in `_meta`, definitions by name.
fn comparable(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
        let is_empty = match result.get_mut("_meta").and_then(Value::as_object_mut) {
            Some(meta) => {
                meta.remove(Meta::SERVER_INFO);
                meta.is_empty()
            }
            None => false,
        };
        if is_empty {
            result.remove("_meta");
        }
        for (list, key) in DEFINITIONS {
            if let Some(by_name) = result.get(list).and_then(|items| by_name(items, key)) {
                result.insert(list.to_owned(), by_name);
            }
        }
    }
    answer
}

/// Returns the items of a list by name: their order says nothing. `None` if names are missing or repeated.
fn by_name(items: &Value, key: &str) -> Option<Value> {
    let mut named = Map::new();
    for item in items.as_array()? {
        let name = item.get(key)?.as_str()?;
        if named.insert(name.to_owned(), item.clone()).is_some() {
            return None;
        }
    }
    Some(Value::Object(named))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn definitions_are_compared_by_name_and_ignored_paths_left_out() {
        let recorded = json!({"result": {"tools": [{"name": "a", "description": "x"}, {"name": "b"}],
            "_meta": {Meta::SERVER_INFO: {"version": "1"}}}});
        let actual = json!({"result": {"tools": [{"name": "b"}, {"name": "a", "description": "y"}]}});
        let compare = |ignored: &[IgnoredPath]| {
            let differences = compare_answers(&mut PatternBindings::default(), &recorded, &actual, ignored);
            differences.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(compare(&[]), ["$.result.tools.a.description: expected \"x\", got \"y\""]);
        assert!(compare(&["result.tools.*.description".parse().expect("a path")]).is_empty());
    }
}
