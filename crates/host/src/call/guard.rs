//! Whether a schema is worth compiling. A schema of a few kilobytes can cost seconds, or never end: schemas come from
//! servers, and servers are not trusted.
//!
//! A value is checked against a schema *in place* through `$ref`, `allOf` and their like, which take nothing off the
//! value. Those may not go round in circles, and together may not branch beyond a bound; everything else costs in
//! proportion to the value.

use serde_json::Value;

/// Bytes of a schema.
const MOST_BYTES: usize = 256 * 1024;
/// Levels of nesting.
const MOST_DEPTH: usize = 64;
/// Schemas within a schema.
const MOST_SUBSCHEMAS: usize = 2_000;
/// Compositions within compositions, references followed.
const MOST_COMPOSED: usize = 8;
/// Steps taken to find that out.
const MOST_STEPS: usize = 20_000;

/// Why a schema is not compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooComplex {
    #[error("it is larger than {MOST_BYTES} bytes")]
    Bytes,
    #[error("it is nested deeper than {MOST_DEPTH} levels")]
    Depth,
    #[error("it has more than {MOST_SUBSCHEMAS} schemas in it")]
    Subschemas,
    #[error("it combines schemas more than {MOST_COMPOSED} deep")]
    Composed,
    #[error("it branches too widely")]
    Branches,
    #[error("it refers to itself in a circle")]
    Circle,
    #[error("it refers to something that is not in it")]
    Foreign,
}

/// Checks the size of the text, before it is read.
pub(crate) fn check_text(text: &str) -> Result<(), TooComplex> {
    if text.len() > MOST_BYTES { Err(TooComplex::Bytes) } else { Ok(()) }
}

/// Checks a schema.
pub(crate) fn check(schema: &Value) -> Result<(), TooComplex> {
    let mut found = Vec::new();
    collect(schema, 0, &mut found)?;
    let mut guard = Guard { root: schema, steps: 0 };
    for object in found {
        guard.in_place(object, 0, &mut Vec::new())?;
    }
    Ok(())
}

/// Every object, whether it stands where a schema stands or not: rather too many than too few.
fn collect<'a>(value: &'a Value, depth: usize, found: &mut Vec<&'a Value>) -> Result<(), TooComplex> {
    if depth > MOST_DEPTH {
        return Err(TooComplex::Depth);
    }
    match value {
        Value::Object(members) => {
            found.push(value);
            if found.len() > MOST_SUBSCHEMAS {
                return Err(TooComplex::Subschemas);
            }
            members.values().try_for_each(|member| collect(member, depth + 1, found))
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, depth + 1, found)),
        _ => Ok(()),
    }
}

struct Guard<'a> {
    root: &'a Value,
    steps: usize,
}

impl<'a> Guard<'a> {
    /// Follows everything that checks the same value again.
    fn in_place(
        &mut self,
        schema: &'a Value,
        composed: usize,
        path: &mut Vec<*const Value>,
    ) -> Result<(), TooComplex> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(TooComplex::Branches);
        }
        if composed > MOST_COMPOSED {
            return Err(TooComplex::Composed);
        }
        let Some(members) = schema.as_object() else { return Ok(()) };
        let here: *const Value = schema;
        if path.contains(&here) {
            return Err(TooComplex::Circle);
        }
        path.push(here);
        for (key, value) in members {
            match key.as_str() {
                "$ref" => {
                    let target = self.target(value)?;
                    self.in_place(target, composed, path)?;
                }
                "$dynamicRef" | "$recursiveRef" => return Err(TooComplex::Foreign),
                "allOf" | "anyOf" | "oneOf" => {
                    for branch in value.as_array().into_iter().flatten() {
                        self.in_place(branch, composed + 1, path)?;
                    }
                }
                "not" | "if" | "then" | "else" => self.in_place(value, composed + 1, path)?,
                "dependentSchemas" | "dependencies" => {
                    for branch in value.as_object().into_iter().flat_map(|branches| branches.values()) {
                        self.in_place(branch, composed + 1, path)?;
                    }
                }
                _ => {}
            }
        }
        path.pop();
        Ok(())
    }

    /// What a reference refers to: only what stands in the same schema, by its place.
    fn target(&self, reference: &Value) -> Result<&'a Value, TooComplex> {
        let text = reference.as_str().ok_or(TooComplex::Foreign)?;
        let pointer = text.strip_prefix('#').filter(|pointer| !pointer.contains('%'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).ok_or(TooComplex::Foreign)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ordinary_schemas_pass() {
        let cases = [
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}),
            // A tree: it goes round, but each round takes a level off the value.
            json!({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [
                {"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}}}),
            json!({"properties": {"$ref": {"type": "string"}}}),
            json!(true),
        ];
        for (at, schema) in cases.iter().enumerate() {
            if at == 2 {
                // A property that happens to be called like the keyword looks like a bad reference: not compiled.
                assert_eq!(check(schema), Err(TooComplex::Foreign));
            } else {
                assert_eq!(check(schema), Ok(()), "{schema}");
            }
        }
    }

    #[test]
    fn schemas_that_would_cost_too_much_do_not() {
        assert_eq!(check(&json!({"$ref": "#"})), Err(TooComplex::Circle));
        assert_eq!(check(&json!({"anyOf": [{"$ref": "#"}]})), Err(TooComplex::Circle));
        assert_eq!(check(&json!({"$ref": "https://example.com/x"})), Err(TooComplex::Foreign));
        assert_eq!(check(&json!({"$ref": "#/$defs/nothing"})), Err(TooComplex::Foreign));
        // Each level doubles the one below.
        let mut defs = serde_json::Map::new();
        for level in 0..7 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            defs.insert(format!("l{level}"), json!({"anyOf": vec![next; 40]}));
        }
        defs.insert("l7".to_owned(), json!({"type": "string"}));
        let wide = json!({"$ref": "#/$defs/l0", "$defs": defs});
        assert_eq!(check(&wide), Err(TooComplex::Branches));
        let mut deep = json!({});
        for _ in 0..10 {
            deep = json!({"not": deep});
        }
        assert_eq!(check(&deep), Err(TooComplex::Composed));
        let mut nested = json!({});
        for _ in 0..70 {
            nested = json!({"items": nested});
        }
        assert_eq!(check(&nested), Err(TooComplex::Depth));
        let many: serde_json::Map<_, _> = (0..2_100).map(|n| (format!("p{n}"), json!({}))).collect();
        assert_eq!(check(&json!({"properties": many})), Err(TooComplex::Subschemas));
        assert_eq!(check_text(&" ".repeat(300_000)), Err(TooComplex::Bytes));
    }
}
