//! Whether arguments fit before a method sees them, and all that is wrong with them when they do not.
//!
//! Most arguments are read straight into the author's type, which refuses what does not fit it. Only a schema that says
//! more than types can is validated first, and one that closes nested objects is searched for members they do not have:
//! `serde` drops those silently. A type that contains itself through a choice of untagged variants takes
//! exponential time to read, so for those the work is counted before anything is read.

use serde_json::{Map, Value};
use switchboard_design::schema::{Validator, ValidatorOptions};
use switchboard_design::{Error, InvalidParams, Issue, Repair};
use switchboard_protocol::Raw;

use crate::UnknownArguments;

/// Visits of a recursive choice that any arguments may take, and what each of their values adds.
const MAX_VISITS: u64 = 100_000;
const VISITS_PER_VALUE: u64 = 32;

/// What the arguments of one tool must be.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// The schema, standing on its own.
    schema: Value,
    /// Whether it says more than a type can.
    is_strict: bool,
    /// Whether unknown members of nested objects are refused.
    closes_nested: bool,
    unknown: Unknown,
    /// `None` for a schema that cannot be compiled: only the type decides.
    validator: Option<Validator>,
    /// Whether trying every variant can take exponential time.
    is_recursive: bool,
}

/// Who sees to arguments that are not in the schema.
#[derive(Debug, PartialEq, Eq)]
enum Unknown {
    /// Anything may be given, or the type refuses the rest itself.
    Fine,
    Refused,
    LeftOut,
}

impl Arguments {
    /// `order` names the arguments when they are parameters of the method, whose type refuses all others.
    pub(crate) fn new(schema: Value, order: &[String], rule: UnknownArguments) -> Self {
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let properties = schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        let unknown = match rule {
            _ if !is_closed => Unknown::Fine,
            UnknownArguments::Ignore => Unknown::LeftOut,
            UnknownArguments::Refuse if properties > 0 && order.len() == properties => Unknown::Fine,
            UnknownArguments::Refuse => Unknown::Refused,
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
        let is_strict = says_more_than_types(&schema) && validator.is_some();
        let closes_nested = !is_ignoring && has_closed_parts(&schema) && validator.is_some();
        let is_recursive = validator.as_ref().is_some_and(Validator::has_recursive_choice);
        Self { schema, is_strict, closes_nested, unknown, validator, is_recursive }
    }

    /// The arguments as the method may see them.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(crate) fn admit(&self, args: Raw) -> Result<Raw, Error> {
        if !args.is_object() {
            return Err(
                InvalidParams::from_issues(vec![Issue::new("", "the arguments must be an object")]).into()
            );
        }
        let args = match self.unknown {
            Unknown::LeftOut => self.without_unknown(args)?,
            Unknown::Refused if args.fields().any(|(name, _)| !self.knows(name.as_str())) => {
                return Err(InvalidParams::from_issues(self.issues(&args)).into());
            }
            Unknown::Refused | Unknown::Fine => args,
        };
        if self.is_strict || self.closes_nested || self.is_recursive {
            // What cannot be decoded as a whole cannot be checked, and must not pass for that.
            let value = args.decode().map_err(|error| Error::invalid_params(error.to_string()))?;
            let mut issues = self.effort_issue(&value);
            if issues.is_empty() {
                issues = self.refused(&value);
            }
            if !issues.is_empty() {
                return Err(InvalidParams::from_issues(issues).into());
            }
        }
        Ok(args)
    }

    fn knows(&self, name: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    }

    fn without_unknown(&self, args: Raw) -> Result<Raw, Error> {
        if args.fields().all(|(name, _)| self.knows(name.as_str())) {
            return Ok(args);
        }
        let mut text = String::from("{");
        for (name, value) in args.fields().filter(|(name, _)| self.knows(name.as_str())) {
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

    /// Everything that is wrong with the arguments, but for what is null.
    fn issues(&self, args: &Raw) -> Vec<Issue> {
        let (issues, value) = self.all_issues(args);
        but_nulls(issues, &value)
    }

    fn all_issues(&self, args: &Raw) -> (Vec<Issue>, Value) {
        let Ok(value) = args.decode::<Value>() else { return (Vec::new(), Value::Null) };
        (self.misfits_of(&value), value)
    }

    fn misfits_of(&self, value: &Value) -> Vec<Issue> {
        self.validator.as_ref().map(|validator| validator.issues(value)).unwrap_or_default()
    }

    /// The issues for which arguments are refused before they are read. Without restrictions of its own, a schema
    /// refuses only unknown members, and all else is left to the type: it may accept more than the schema says.
    fn refused(&self, value: &Value) -> Vec<Issue> {
        if !self.is_strict && !self.closes_nested {
            return Vec::new();
        }
        let mut issues = but_nulls(self.misfits_of(value), value);
        if !self.is_strict {
            issues.retain(Issue::is_unknown_member);
        }
        issues
    }

    /// An issue for arguments that would take too long to read.
    fn effort_issue(&self, value: &Value) -> Vec<Issue> {
        let Some(validator) = self.validator.as_ref().filter(|_| self.is_recursive) else {
            return Vec::new();
        };
        let most = MAX_VISITS + VISITS_PER_VALUE * count_values(value);
        match validator.naive_visits(value) {
            Ok(visits) if visits <= most => Vec::new(),
            _ => vec![Issue::new("", "the arguments are nested too deeply to be read: use fewer levels")],
        }
    }

    /// An error of the service about its arguments, with all that is wrong and how to repair it.
    pub(crate) fn explain(
        &self,
        invalid: InvalidParams,
        args: &Raw,
        repair: Option<Repair>,
    ) -> InvalidParams {
        let mut explained = invalid;
        if explained.repair.is_none() {
            let mut issues = self.issues(args);
            if issues.is_empty() {
                issues = self.all_issues(args).0;
            }
            if !issues.is_empty() {
                explained = InvalidParams::from_issues(issues);
            }
        }
        with_repair(explained, args, repair)
    }
}

fn count_values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(count_values).sum::<u64>(),
        _ => 1,
    }
}

/// What is null is left to the type, for which an optional argument that is null is one that was not given.
fn but_nulls(mut issues: Vec<Issue>, value: &Value) -> Vec<Issue> {
    issues.retain(|issue| !value.pointer(&issue.pointer).is_some_and(Value::is_null));
    issues
}

/// Puts what is needed to try again beside what is wrong.
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

/// Words of a schema that a type of Rust does not say.
const WORDS: [&str; 14] = [
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

fn says_more_than_types(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(word, value)| {
            let is_checked = cfg!(feature = "validate") && matches!(word.as_str(), "pattern" | "format");
            let is_said = (WORDS.contains(&word.as_str()) && (value.is_number() || value.is_boolean()))
                || (is_checked && value.is_string());
            // What an author gives as an example is no schema.
            let is_schema = !matches!(word.as_str(), "examples" | "default" | "const" | "enum");
            is_said || (is_schema && says_more_than_types(value))
        }),
        Value::Array(items) => items.iter().any(says_more_than_types),
        _ => false,
    }
}

/// Whether anything below the root of a schema refuses unknown members.
fn has_closed_parts(schema: &Value) -> bool {
    let is_closed = |map: &Map<String, Value>| {
        ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|word| map.get(*word) == Some(&Value::Bool(false)))
    };
    let below = |part: &Value| part.as_object().is_some_and(is_closed) || has_closed_parts(part);
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

    fn arguments(schema: Value, order: &[&str], rule: UnknownArguments) -> Arguments {
        let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
        Arguments::new(schema, &order, rule)
    }

    fn raw(value: Value) -> Raw {
        Raw::from(value)
    }

    fn issues(arguments: &Arguments, value: Value) -> Vec<String> {
        match arguments.admit(raw(value)) {
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
    fn everything_that_is_wrong_is_told_at_once() {
        let arguments = arguments(people(), &["name", "age"], UnknownArguments::Refuse);
        assert_eq!(issues(&arguments, json!({"name": "Ada", "age": null})), [""; 0]);
        let found = issues(&arguments, json!({"name": "A", "age": 200, "size": 1}));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`name` must be ")), "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`age` must be ")), "{found:?}");
        assert!(found.iter().any(|issue| issue.starts_with("`size` is not a known property")), "{found:?}");
    }

    #[test]
    fn what_cannot_be_looked_at_as_a_whole_does_not_pass() {
        let arguments = arguments(people(), &["name", "age"], UnknownArguments::Refuse);
        // A number beyond all numbers: JSON, but no value of it.
        let odd = Raw::parse(r#"{"name":"A","age":1e999}"#.to_owned()).expect("it is JSON");
        assert!(matches!(arguments.admit(odd), Err(Error::InvalidParams(_))));
    }

    #[test]
    fn unknown_arguments_are_refused_or_left_out() {
        let plain =
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}});
        let refusing = arguments(plain.clone(), &[], UnknownArguments::Refuse);
        assert_eq!(issues(&refusing, json!({"a": "x", "b": 1})), ["`b` is not a known property; known: a"]);
        let ignoring = arguments(plain, &["a"], UnknownArguments::Ignore);
        let admitted = ignoring.admit(raw(json!({"a": "x", "b": {"c": [1]}}))).unwrap();
        assert_eq!(admitted.decode::<Value>().unwrap(), json!({"a": "x"}));
        let open = json!({"type": "object", "properties": {}});
        let open = arguments(open, &[], UnknownArguments::Ignore);
        assert_eq!(open.admit(raw(json!({"b": 1}))).unwrap().as_str(), r#"{"b":1}"#);
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
    fn v12_unknown_nested_members_are_refused_or_ignored() {
        let schema =
            switchboard_design::schema::normalize_input(schemars::schema_for!(Outer).into()).unwrap();
        assert!(!says_more_than_types(&schema), "{schema:#}");
        let refusing = arguments(schema.clone(), &["inner", "choice"], UnknownArguments::Refuse);
        let ignoring = arguments(schema, &["inner", "choice"], UnknownArguments::Ignore);
        let id = "`choice.id` is not a known property; known: kind, reason";
        let name = "`inner[1].nmae` is not a known property (did you mean `name`?); known: flag, name";
        for (value, expected) in [
            (json!({"inner": [{}, {"nmae": "x"}]}), name),
            (json!({"inner": [], "choice": {"kind": "Two", "id": "x"}}), id),
        ] {
            assert_eq!(issues(&refusing, value.clone()), [expected]);
            ignoring.admit(raw(value)).unwrap().decode::<Outer>().unwrap();
        }
        for value in [
            json!({"inner": [{"name": null}], "choice": null}),
            json!({"inner": [], "choice": {"kind": "One", "id": null}}),
            json!({"inner": [], "choice": {"kind": "Two", "reason": null}}),
            // The type accepts more than the schema says; only unknown members are refused.
            json!({"inner": [{"flag": "yes"}]}),
        ] {
            refusing.admit(raw(value.clone())).unwrap().decode::<Outer>().unwrap();
            ignoring.admit(raw(value)).unwrap().decode::<Outer>().unwrap();
        }
    }

    #[test]
    fn v12_ignored_members_do_not_hide_what_else_is_wrong() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {"a": {
            "type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer", "maximum": 3}}}}});
        let both = json!({"a": {"n": 4, "m": 1}});
        let refusing = arguments(schema.clone(), &["a"], UnknownArguments::Refuse);
        assert_eq!(issues(&refusing, both.clone()).len(), 2);
        let ignoring = arguments(schema, &["a"], UnknownArguments::Ignore);
        assert_eq!(issues(&ignoring, both), ["`a.n` must be at most 3; got 4"]);
        assert_eq!(issues(&ignoring, json!({"a": {"n": 3, "m": 1}})), [""; 0]);
    }

    #[test]
    fn s1_recursive_untagged_arguments_are_checked_before_they_are_read() {
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
        let arguments = arguments(schema, &["filter"], UnknownArguments::Refuse);
        let nested = |levels: usize| json!({"filter": (0..levels).fold(json!({}), |inner, _| json!({"args": [inner], "not": true}))});
        let admitted = arguments.admit(raw(nested(6))).unwrap();
        admitted.decode::<Search>().unwrap();
        // Reading these would take hours.
        let refused = issues(&arguments, nested(30));
        assert_eq!(refused, ["the arguments are nested too deeply to be read: use fewer levels"]);
    }

    #[test]
    #[cfg(feature = "validate")]
    fn v5_patterns_and_formats_are_checked_with_the_rest() {
        let schema = json!({"type": "object", "properties": {
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "mail": {"type": "string", "format": "email"},
            "size": {"type": "integer", "maximum": 3},
        }});
        let arguments = arguments(schema, &["code", "mail", "size"], UnknownArguments::Refuse);
        assert_eq!(issues(&arguments, json!({"code": "A1", "mail": "none", "size": 4})).len(), 3);
        assert_eq!(issues(&arguments, json!({"code": "a", "mail": "a@b.example", "size": 3})), [""; 0]);
    }

    #[test]
    fn arguments_are_an_object() {
        let arguments = arguments(people(), &["name", "age"], UnknownArguments::Refuse);
        assert_eq!(issues(&arguments, json!([1])), ["the arguments must be an object"]);
    }
}
