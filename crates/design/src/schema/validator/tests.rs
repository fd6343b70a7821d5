//! Wording, order and limits. What keywords mean is judged by the official suite, in `interop/schema-oracle`.

use serde_json::{Value, json};

use super::{OverBudget, PatternBudget, SchemaError, ValidationOutcome, Validator, ValidatorOptions};

fn lines(schema: Value, value: Value) -> Vec<String> {
    let options = ValidatorOptions::new().assert_formats(true);
    let validator = Validator::with_options(&schema, &options).unwrap();
    validator.issues(&value).iter().map(ToString::to_string).collect()
}

fn outcome(schema: &Value, value: &Value) -> Result<bool, OverBudget> {
    Validator::new(schema).unwrap().is_valid(value)
}

#[test]
fn every_issue_has_its_pointer_and_the_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "how": {"type": "string", "enum": ["fast", "slow"]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "maxItems": 2},
        },
        "required": ["text", "id"],
        "additionalProperties": false,
        "$defs": {"Tag": {"type": "string"}},
    });
    let mut found = lines(
        schema.clone(),
        json!({"text": "", "limit": 51, "how": "left", "tags": ["a", 1, "c"], "x/y": 0}),
    );
    found.sort();
    assert_eq!(
        found,
        [
            "`how` must be one of \"fast\", \"slow\"; got \"left\"",
            "`id` is required",
            "`limit` must be at most 50; got 51",
            "`tags[1]` must be a string; got 1",
            "`tags` must be at most 2 items long; got 3",
            "`text` must be at least 1 character long; got 0",
            "`x/y` is not a known property; known: how, limit, tags, text",
        ]
    );
    assert_eq!(lines(schema.clone(), json!([])), ["the value must be an object; got an array"]);
    assert_eq!(
        lines(schema, json!({"text": "a", "id": null, "limit": 3.0}))[..],
        ["`id` is not a known property; known: how, limit, tags, text"]
    );
}

#[test]
fn a_type_mismatch_names_the_expected_type() {
    let schema = json!({"properties": {"a": {"type": "number"}}});
    assert_eq!(lines(schema, json!({"a": "x"})), ["`a` must be a number; got \"x\""]);
    let long = lines(json!({"type": ["integer", "null"]}), json!("y".repeat(100)));
    assert_eq!(long, [format!("the value must be an integer or null; got \"{}…\"", "y".repeat(60))]);
}

#[test]
#[cfg(feature = "regex")]
fn v5_patterns_and_formats_are_reported_together() {
    let schema = json!({"properties": {
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "mail": {"type": "string", "format": "email"},
        "size": {"type": "integer"},
    }});
    let mut found = lines(schema, json!({"code": "A1", "mail": "none", "size": "x"}));
    found.sort();
    assert_eq!(
        found,
        [
            "`code` must be a string that matches ^[a-z]+$; got \"A1\"",
            "`mail` must be a string of format email; got \"none\"",
            "`size` must be an integer; got \"x\"",
        ]
    );
}

#[test]
fn a_choice_is_explained_by_the_nearest_branch() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    ]});
    assert_eq!(lines(schema.clone(), json!({"a": true})), ["`a` must be an integer; got true"]);
    assert_eq!(lines(schema, json!({"a": "x", "b": 1})), [""; 0]);
    let either = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    assert_eq!(lines(either, json!(1)), ["the value must be a string or null; got 1"]);
    let one = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
    assert_eq!(
        lines(one.clone(), json!(1)),
        ["the value must be valid under exactly one of the schemas; matches 2"]
    );
    assert_eq!(lines(one, json!(1.5)), [""; 0]);
    assert_eq!(lines(json!({"not": {}}), json!(1)).len(), 1);
}

#[test]
fn issues_are_limited() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    assert_eq!(lines(schema, json!(vec![""; 10_000])).len(), 100);
}

#[test]
fn equal_items_are_found_in_any_notation() {
    let unique = json!({"type": "array", "uniqueItems": true});
    for twins in [json!([1, 1.0]), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]), json!([[1], [1.0]])] {
        assert_eq!(outcome(&unique, &twins), Ok(false));
    }
    assert_eq!(outcome(&unique, &json!([1, "1", 1.5, [1], {"a": 1}, null])), Ok(true));
    // Comparing each with each would take minutes.
    let many: Vec<u32> = (0..100_000).collect();
    assert_eq!(outcome(&unique, &json!(many)), Ok(true));
}

#[test]
fn numbers_are_compared_by_value() {
    let yes = [
        (json!({"multipleOf": 0.01}), json!(19.99)),
        (json!({"multipleOf": 0.1}), json!(1e22)),
        (json!({"multipleOf": 1e-8}), json!(12_391_239_123_i64)),
        (json!({"const": 1}), json!(1.0)),
        (json!({"enum": [[1.0]]}), json!([1])),
        (json!({"minimum": 9_007_199_254_740_993_i64}), json!(9_007_199_254_740_993_i64)),
        (json!({"type": "integer"}), json!(1e30)),
    ];
    for (schema, value) in yes {
        assert_eq!(outcome(&schema, &value), Ok(true), "{schema} {value}");
    }
    let no = [
        (json!({"multipleOf": 0.01}), json!(19.995)),
        (json!({"multipleOf": 0.123456789}), json!(1e308)),
        (json!({"maximum": 9_007_199_254_740_992.0}), json!(9_007_199_254_740_993_i64)),
        (json!({"exclusiveMinimum": 1.0}), json!(1)),
    ];
    for (schema, value) in no {
        assert_eq!(outcome(&schema, &value), Ok(false), "{schema} {value}");
    }
}

#[test]
fn references_must_stay_in_the_document() {
    for reference in ["https://example.com/x", "#/$defs/none", "other", "#anchor"] {
        let error = Validator::new(&json!({"$ref": reference})).unwrap_err();
        assert_eq!(error, SchemaError::Reference(reference.into()));
    }
    let local = json!({"$id": "https://example.com/root", "$ref": "item", "$defs": {
        "a": {"$id": "item", "type": "integer"}}});
    assert_eq!(outcome(&local, &json!(1)), Ok(true));
    assert_eq!(outcome(&local, &json!("1")), Ok(false));
}

#[test]
fn malformed_keywords_are_errors() {
    for schema in [
        json!({"type": "nonsense"}),
        json!({"required": "a"}),
        json!({"minimum": "1"}),
        json!({"items": 1}),
        json!({"multipleOf": 0}),
        json!({"properties": {"a": 1}}),
        json!("text"),
    ] {
        assert!(Validator::new(&schema).is_err(), "{schema}");
    }
}

#[test]
fn a_reference_to_itself_is_over_budget() {
    let schema = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    let validator = Validator::new(&schema).unwrap();
    assert_eq!(validator.validate(&json!(1)), ValidationOutcome::OverBudget);
}

#[test]
fn recursive_choices_are_not_exponential() {
    let branch = |name: &str| {
        let args = json!({"type": "array", "items": {"$ref": "#/$defs/E"}});
        json!({"type": "object", "properties": {"args": args}, "required": [name]})
    };
    let all = [branch("and"), branch("or"), branch("not")];
    let schema = json!({"$ref": "#/$defs/E", "$defs": {"E": {"anyOf": all}}});
    let value = (0..30).fold(json!({}), |inner, _| json!({"args": [inner]}));
    assert!(!lines(schema, value).is_empty());
}

#[test]
#[cfg(feature = "regex")]
fn patterns_follow_ecma_262() {
    let matches = |pattern: &str, text: &str| outcome(&json!({"pattern": pattern}), &json!(text)) == Ok(true);
    let yes = [
        (r"^\d+$", "12"),
        (r"^[\w-.]+$", "a-b.c"),
        (r"^\u0041\x42\cJ$", "AB\n"),
        (r"^\uD83D\uDC32$", "\u{1F432}"),
        (r"^a{,3}$", "a{,3}"),
        ("[^]", "\n"),
        (r"^[[&&]~~-]$", "[~~-]"),
        (r"^\p{Letter}+$", "école"),
        (r"^\/a\-b\<$", "/a-b<"),
    ];
    for (pattern, text) in yes {
        assert!(matches(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in [(r"^\d$", "\u{9E8}"), ("^.$", "\r"), ("[]", "a"), (r"^\w$", "é"), ("^a$", "a\n")]
    {
        assert!(!matches(pattern, text), "{pattern} {text}");
    }
}

#[test]
fn s1_unsupported_patterns_are_reported_and_not_an_error() {
    for pattern in ["(?=a)b", "(a)\\1", "(?<!a)b", "a(", "(((a{1000}){1000}){1000})"] {
        let schema =
            json!({"properties": {"a": {"pattern": pattern}}, "patternProperties": {(pattern): false}});
        let validator = Validator::new(&schema).unwrap();
        assert_eq!(validator.unchecked().len(), 1, "{pattern}: {:?}", validator.unchecked());
        assert_eq!(validator.is_valid(&json!({"a": "x"})), Ok(true), "{pattern}");
    }
}

#[test]
#[cfg(feature = "regex")]
fn s1_patterns_share_one_budget() {
    let budget = PatternBudget::default();
    let options = ValidatorOptions::new().pattern_budget(budget.clone());
    let compile = |pattern: String| Validator::with_options(&json!({"pattern": pattern}), &options).unwrap();
    let kept: Vec<Validator> = (1..200).map(|at| compile(format!("^\\p{{L}}{{{at}}}x{at}$"))).collect();
    assert!(kept[0].unchecked().is_empty());
    let refused = kept.iter().filter(|validator| !validator.unchecked().is_empty()).count();
    assert!(refused > 100, "{refused} of 199 were refused");
    assert_eq!(compile("a".into()).unchecked().len(), 1);
    // Others have their own, and what is dropped is given back.
    assert!(Validator::new(&json!({"pattern": "a"})).unwrap().unchecked().is_empty());
    drop(kept);
    assert!(compile("a".into()).unchecked().is_empty());
}

#[test]
fn s1_visits_of_recursive_choices_are_counted_without_evaluating_them() {
    let branch = |name: &str| {
        let args = json!({"type": "array", "items": {"$ref": "#/$defs/E"}});
        json!({"type": "object", "properties": {"args": args}, "required": [name]})
    };
    let schema = json!({"$ref": "#/$defs/E", "$defs": {"E": {"anyOf": [branch("and"), branch("or")]}}});
    let validator = Validator::new(&schema).unwrap();
    assert!(validator.has_recursive_choice());
    let deep = (0..40).fold(json!({}), |inner, _| json!({"args": [inner]}));
    assert!(validator.naive_visits(&deep).unwrap() > 1 << 40);
    let wide = json!({"args": vec![json!({"args": []}); 1_000]});
    assert!(validator.naive_visits(&wide).unwrap() < 20_000);
    // A tree with one branch that recurs is linear.
    let tree = json!({"$ref": "#/$defs/T", "$defs": {"T": {"anyOf": [
        {"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/T"}}]}}});
    let deep = (0..60).fold(json!("leaf"), |inner, _| json!([inner]));
    assert!(Validator::new(&tree).unwrap().naive_visits(&deep).unwrap() < 1_000);
    let flat = json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    assert!(!Validator::new(&flat).unwrap().has_recursive_choice());
}
