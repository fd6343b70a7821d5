//! Validates tool arguments before a method receives them, and collects all issues.
//!
//! Most arguments are decoded straight into the author's type, which rejects mismatches. Arguments are validated
//! first only if the schema has constraints that Rust types do not express, or closes nested objects, whose unknown
//! members `serde` would ignore. Decoding a type that is recursive through an untagged enum can take exponential
//! time, so for such types the work is estimated before decoding.

use serde_json::{Map, Value};
use switchboard_design::schema::{Validator, ValidatorOptions};
use switchboard_design::{Error, InvalidParams, Issue, Repair};
use switchboard_protocol::Raw;

use crate::UnknownArguments;

/// Visits of a recursive choice allowed for any arguments, and allowed in addition per JSON value.
const MAX_VISITS: u64 = 100_000;
const VISITS_PER_VALUE: u64 = 32;

/// Validates the arguments of one tool.
#[derive(Debug)]
pub(crate) struct ArgumentValidator {
    /// The self-contained schema.
    schema: Value,
    /// Whether the schema has constraints that Rust types do not express.
    is_strict: bool,
    /// Whether unknown members of nested objects are rejected.
    closes_nested: bool,
    unknown: UnknownHandling,
    /// `None` if the schema does not compile: only the type validates then.
    validator: Option<Validator>,
    /// Whether decoding can take exponential time.
    is_recursive: bool,
}

/// How top-level arguments that are not in the schema are treated.
#[derive(Debug, PartialEq, Eq)]
enum UnknownHandling {
    /// Accepted here; the schema is open, or the generated reader rejects them.
    Allow,
    Reject,
    Strip,
}

impl ArgumentValidator {
    /// `order` names the parameters of the method; a reader generated for them rejects all other arguments.
    pub(crate) fn new(schema: Value, order: &[String], rule: UnknownArguments) -> Self {
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let properties = schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        let unknown = match rule {
            _ if !is_closed => UnknownHandling::Allow,
            UnknownArguments::Ignore => UnknownHandling::Strip,
            UnknownArguments::Refuse if properties > 0 && order.len() == properties => UnknownHandling::Allow,
            UnknownArguments::Refuse => UnknownHandling::Reject,
        };
        let is_ignoring = rule == UnknownArguments::Ignore;
        let options = ValidatorOptions::new()
            .assert_formats(cfg!(feature = "validate"))
            .ignore_unknown_members(is_ignoring)
            .skip_optional_nulls(true);
        let validator = Validator::with_options(&schema, &options)
            .inspect_err(
                |error| tracing::error!(%error, "arguments are not validated: the schema is invalid"),
            )
            .ok();
        for part in validator.iter().flat_map(Validator::unchecked) {
            tracing::warn!(part, "part of a schema is not checked");
        }
        let is_strict = has_constraints(&schema) && validator.is_some();
        let closes_nested = !is_ignoring && has_closed_subschemas(&schema) && validator.is_some();
        let is_recursive = validator.as_ref().is_some_and(Validator::has_recursive_choice);
        Self { schema, is_strict, closes_nested, unknown, validator, is_recursive }
    }

    /// Returns the arguments to pass to the method.
    ///
    /// # Errors
    /// All issues of the arguments.
    pub(crate) fn validate(&self, args: Raw) -> Result<Raw, Error> {
        if !args.is_object() {
            return Err(
                InvalidParams::from_issues(vec![Issue::new("", "the arguments must be an object")]).into()
            );
        }
        let args = match self.unknown {
            UnknownHandling::Strip => self.strip_unknown(args)?,
            UnknownHandling::Reject if args.fields().any(|(name, _)| !self.is_known(name.as_str())) => {
                return Err(InvalidParams::from_issues(self.issues(&args)).into());
            }
            UnknownHandling::Reject | UnknownHandling::Allow => args,
        };
        if self.is_strict || self.closes_nested || self.is_recursive {
            // Arguments that cannot be decoded cannot be validated and must not pass.
            let value = args.decode().map_err(|error| Error::invalid_params(error.to_string()))?;
            let mut issues = self.complexity_issue(&value);
            if issues.is_empty() {
                issues = self.rejecting_issues(&value);
            }
            if !issues.is_empty() {
                return Err(InvalidParams::from_issues(issues).into());
            }
        }
        Ok(args)
    }

    fn is_known(&self, name: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    }

    fn strip_unknown(&self, args: Raw) -> Result<Raw, Error> {
        if args.fields().all(|(name, _)| self.is_known(name.as_str())) {
            return Ok(args);
        }
        let mut text = String::from("{");
        for (name, value) in args.fields().filter(|(name, _)| self.is_known(name.as_str())) {
            if text.len() > 1 {
                text.push(',');
            }
            Raw::write(&mut text, name.as_str())?;
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push('}');
        Raw::parse(text).map_err(Error::Malformed)
    }

    /// Returns all issues except those of `null` values.
    fn issues(&self, args: &Raw) -> Vec<Issue> {
        let (issues, value) = self.all_issues(args);
        without_nulls(issues, &value)
    }

    fn all_issues(&self, args: &Raw) -> (Vec<Issue>, Value) {
        let Ok(value) = args.decode::<Value>() else { return (Vec::new(), Value::Null) };
        (self.schema_issues(&value), value)
    }

    fn schema_issues(&self, value: &Value) -> Vec<Issue> {
        self.validator.as_ref().map(|validator| validator.issues(value)).unwrap_or_default()
    }

    /// Returns the issues that reject the arguments before decoding. A schema without constraints rejects only
    /// unknown members; everything else is left to the type, which may accept more than the schema.
    fn rejecting_issues(&self, value: &Value) -> Vec<Issue> {
        if !self.is_strict && !self.closes_nested {
            return Vec::new();
        }
        let mut issues = without_nulls(self.schema_issues(value), value);
        if !self.is_strict {
            issues.retain(Issue::is_unknown_member);
        }
        issues
    }

    /// Returns an issue if decoding the arguments would take too long.
    fn complexity_issue(&self, value: &Value) -> Vec<Issue> {
        let Some(validator) = self.validator.as_ref().filter(|_| self.is_recursive) else {
            return Vec::new();
        };
        let limit = MAX_VISITS + VISITS_PER_VALUE * count_values(value);
        match validator.naive_visits(value) {
            Ok(visits) if visits <= limit => Vec::new(),
            _ => vec![Issue::new("", "the arguments are nested too deeply to be read: use fewer levels")],
        }
    }

    /// Extends an invalid-arguments error of the service with all issues and a repair.
    pub(crate) fn explain(
        &self,
        invalid: InvalidParams,
        args: &Raw,
        repair: Option<Repair>,
    ) -> InvalidParams {
        let mut error = invalid;
        if error.repair.is_none() {
            let mut issues = self.issues(args);
            if issues.is_empty() {
                issues = self.all_issues(args).0;
            }
            if !issues.is_empty() {
                error = InvalidParams::from_issues(issues);
            }
        }
        with_repair(error, args, repair)
    }
}

fn count_values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(count_values).sum::<u64>(),
        _ => 1,
    }
}

/// Removes issues of `null` values: the type treats an optional argument that is `null` as absent.
fn without_nulls(mut issues: Vec<Issue>, value: &Value) -> Vec<Issue> {
    issues.retain(|issue| !value.pointer(&issue.pointer).is_some_and(Value::is_null));
    issues
}

/// Attaches a repair with the issues and the original arguments.
pub(crate) fn with_repair(mut invalid: InvalidParams, args: &Raw, repair: Option<Repair>) -> InvalidParams {
    if invalid.repair.is_none()
        && let Some(mut repair) = repair
    {
        repair.message.clone_from(&invalid.message);
        repair.issues.clone_from(&invalid.issues);
        repair.prior = args.decode().ok();
        invalid.repair = Some(Box::new(repair));
    }
    invalid
}

/// Schema keywords that Rust types do not express.
const CONSTRAINT_KEYWORDS: [&str; 14] = [
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
];

fn has_constraints(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(keyword, value)| {
            let is_checked = cfg!(feature = "validate") && matches!(keyword.as_str(), "pattern" | "format");
            let is_constraint = (CONSTRAINT_KEYWORDS.contains(&keyword.as_str())
                && (value.is_number() || value.is_boolean()))
                || (is_checked && value.is_string());
            // Values inside these keywords are data, not schemas.
            let is_schema = !matches!(keyword.as_str(), "examples" | "default" | "const" | "enum");
            is_constraint || (is_schema && has_constraints(value))
        }),
        Value::Array(items) => items.iter().any(has_constraints),
        _ => false,
    }
}

/// Returns whether any subschema rejects unknown members.
fn has_closed_subschemas(schema: &Value) -> bool {
    let is_closed = |map: &Map<String, Value>| {
        ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| map.get(*keyword) == Some(&Value::Bool(false)))
    };
    let below = |part: &Value| part.as_object().is_some_and(is_closed) || has_closed_subschemas(part);
    match schema {
        Value::Object(map) => map.values().any(below),
        Value::Array(items) => items.iter().any(below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn validator(schema: Value, order: &[&str], rule: UnknownArguments) -> ArgumentValidator {
        let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
        ArgumentValidator::new(schema, &order, rule)
    }

    fn raw(value: Value) -> Raw {
        Raw::from(value)
    }

    fn issues(validator: &ArgumentValidator, value: Value) -> Vec<String> {
        match validator.validate(raw(value)) {
            Ok(_) => Vec::new(),
            Err(Error::InvalidParams(invalid)) => invalid.issues.iter().map(ToString::to_string).collect(),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn people() -> Value {
        json!({
            "type": "object", "additionalProperties": false, "required": ["name"],
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "age": {"type": "integer", "maximum": 150},
            },
        })
    }

    #[test]
    fn all_issues_are_reported_at_once() {
        let validator = validator(people(), &["name", "age"], UnknownArguments::Refuse);
        assert_eq!(issues(&validator, json!({"name": "Ada", "age": null})), [""; 0]);
        let found = issues(&validator, json!({"name": "A", "age": 200, "size": 1}));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`name` must be ")), "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`age` must be ")), "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`size` is not a known property")), "{found:?}");
    }

    #[test]
    fn undecodable_arguments_are_rejected() {
        let validator = validator(people(), &["name", "age"], UnknownArguments::Refuse);
        // Valid JSON, but out of range for any number type.
        let odd = Raw::parse(r#"{"name":"A","age":1e999}"#.to_owned()).expect("it is JSON");
        assert!(matches!(validator.validate(odd), Err(Error::InvalidParams(_))));
    }

    #[test]
    fn unknown_arguments_are_rejected_or_ignored() {
        let plain =
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}});
        let rejecting = validator(plain.clone(), &[], UnknownArguments::Refuse);
        assert_eq!(issues(&rejecting, json!({"a": "x", "b": 1})), ["`b` is not a known property; known: a"]);
        let ignoring = validator(plain, &["a"], UnknownArguments::Ignore);
        let admitted = ignoring.validate(raw(json!({"a": "x", "b": {"c": [1]}}))).unwrap();
        assert_eq!(admitted.decode::<Value>().unwrap(), json!({"a": "x"}));
        let open = json!({"type": "object", "properties": {}});
        let open = validator(open, &[], UnknownArguments::Ignore);
        assert_eq!(open.validate(raw(json!({"b": 1}))).unwrap().as_str(), r#"{"b":1}"#);
    }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Outer {
        inner: Vec<Inner>,
        choice: Option<Choice>,
    }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Inner {
        name: Option<String>,
        /// Also read from text.
        #[schemars(with = "bool")]
        flag: Option<Value>,
    }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code, reason = "only read")]
    enum Choice {
        One { id: Option<String> },
        Two { reason: Option<String> },
    }

    #[test]
    fn v12_unknown_nested_members_are_rejected_or_ignored() {
        let schema =
            switchboard_design::schema::normalize_input(schemars::schema_for!(Outer).into()).unwrap();
        assert!(!has_constraints(&schema), "{schema:#}");
        let rejecting = validator(schema.clone(), &["inner", "choice"], UnknownArguments::Refuse);
        let ignoring = validator(schema, &["inner", "choice"], UnknownArguments::Ignore);
        let id = "`choice.id` is not a known property; known: kind, reason";
        let name = "`inner[1].nmae` is not a known property (did you mean `name`?); known: flag, name";
        for (value, expected) in [
            (json!({"inner": [{}, {"nmae": "x"}]}), name),
            (json!({"inner": [], "choice": {"kind": "Two", "id": "x"}}), id),
        ] {
            assert_eq!(issues(&rejecting, value.clone()), [expected]);
            ignoring.validate(raw(value)).unwrap().decode::<Outer>().unwrap();
        }
        for value in [
            json!({"inner": [{"name": null}], "choice": null}),
            json!({"inner": [], "choice": {"kind": "One", "id": null}}),
            json!({"inner": [], "choice": {"kind": "Two", "reason": null}}),
            // The type accepts more than the schema says; only unknown members are rejecting_issues.
            json!({"inner": [{"flag": "yes"}]}),
        ] {
            rejecting.validate(raw(value.clone())).unwrap().decode::<Outer>().unwrap();
            ignoring.validate(raw(value)).unwrap().decode::<Outer>().unwrap();
        }
    }

    #[test]
    fn v12_ignored_members_do_not_hide_other_issues() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {"a": {
            "type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer", "maximum": 3}}}}});
        let both = json!({"a": {"n": 4, "m": 1}});
        let rejecting = validator(schema.clone(), &["a"], UnknownArguments::Refuse);
        assert_eq!(issues(&rejecting, both.clone()).len(), 2);
        let ignoring = validator(schema, &["a"], UnknownArguments::Ignore);
        assert_eq!(issues(&ignoring, both), ["`a.n` must be at most 3; got 4"]);
        assert_eq!(issues(&ignoring, json!({"a": {"n": 3, "m": 1}})), [""; 0]);
    }

    #[test]
    fn s1_recursive_untagged_arguments_are_checked_before_decoding() {
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(untagged)]
        #[allow(dead_code, reason = "only read")]
        enum Filter {
            And { args: Vec<Filter>, and: bool },
            Or { args: Vec<Filter>, or: bool },
            Not { args: Vec<Filter>, not: bool },
            Any {},
        }
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        #[allow(dead_code, reason = "only read")]
        struct Search {
            filter: Filter,
        }
        let schema =
            switchboard_design::schema::normalize_input(schemars::schema_for!(Search).into()).unwrap();
        let validator = validator(schema, &["filter"], UnknownArguments::Refuse);
        let nested = |levels: usize| json!({"filter": (0..levels).fold(json!({}), |inner, _| json!({"args": [inner], "not": true}))});
        let admitted = validator.validate(raw(nested(6))).unwrap();
        admitted.decode::<Search>().unwrap();
        // Reading these would take hours.
        let issues = issues(&validator, nested(30));
        assert_eq!(issues, ["the arguments are nested too deeply to be read: use fewer levels"]);
    }

    #[test]
    #[cfg(feature = "validate")]
    fn v5_patterns_and_formats_are_checked_with_the_rest() {
        let schema = json!({"type": "object", "properties": {
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "mail": {"type": "string", "format": "email"},
            "size": {"type": "integer", "maximum": 3},
        }});
        let validator = validator(schema, &["code", "mail", "size"], UnknownArguments::Refuse);
        assert_eq!(issues(&validator, json!({"code": "A1", "mail": "none", "size": 4})).len(), 3);
        assert_eq!(issues(&validator, json!({"code": "a", "mail": "a@b.example", "size": 3})), [""; 0]);
    }

    #[test]
    fn arguments_must_be_an_object() {
        let validator = validator(people(), &["name", "age"], UnknownArguments::Refuse);
        assert_eq!(issues(&validator, json!([1])), ["the arguments must be an object"]);
    }
}
