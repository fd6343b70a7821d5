//! Adversarial schemas and values, each compiled and validated in a child process whose peak memory is measured.

use std::process::Command;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{Validator, ValidatorOptions};

/// The environment variable with the name of the case that a child process runs.
const CASE: &str = "SWITCHBOARD_ADVERSARIAL_CASE";
const MAX_MEMORY_KIB: u64 = 32 * 1024;

/// A schema and a value, with a name.
type Case = (&'static str, fn() -> (Value, Value));

const CASES: [Case; 14] = [
    ("recursive anyOf through properties", || {
        let branch = json!({"properties": {"a": {"$ref": "#/$defs/N"}, "z": false}});
        (json!({"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": vec![branch; 4]}}}), nested("a", 70))
    }),
    ("recursive anyOf that collects unevaluated properties", || {
        let branch = json!({"properties": {"a": {"$ref": "#/$defs/N"}}, "unevaluatedProperties": false});
        let node = json!({"anyOf": vec![branch; 3], "unevaluatedProperties": false});
        (json!({"$ref": "#/$defs/N", "$defs": {"N": node}}), nested("a", 60))
    }),
    ("allOf bomb", || (bomb("allOf", 8, 8), json!(1))),
    ("anyOf bomb", || (bomb("anyOf", 8, 8), json!(1))),
    ("oneOf bomb", || (bomb("oneOf", 8, 8), json!({"a": [1]}))),
    ("bomb of references", || {
        let mut defs = Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            defs.insert(format!("l{level}"), json!({"allOf": [next, next]}));
        }
        defs.insert("l40".into(), json!({"type": "integer"}));
        (json!({"$ref": "#/$defs/l0", "$defs": defs}), json!(1))
    }),
    ("dynamicRef loop", || {
        let looping =
            json!({"$dynamicAnchor": "node", "anyOf": [{"$dynamicRef": "#node"}, {"$dynamicRef": "#node"}]});
        (json!({"$dynamicRef": "#node", "$defs": {"node": looping}}), nested("a", 50))
    }),
    ("dynamicRef through properties", || {
        let child = json!({"$dynamicRef": "#node"});
        let branch = json!({"properties": {"a": child, "z": false}});
        (json!({"$dynamicAnchor": "node", "anyOf": vec![branch; 3]}), nested("a", 60))
    }),
    ("unique items of a large array", || {
        let items: Vec<Value> = (0..40_000).map(|at| json!([at, "x"])).collect();
        (json!({"uniqueItems": true, "items": {"uniqueItems": true}}), json!(items))
    }),
    ("enum of many against many", || {
        let values: Vec<String> = (0..5_000).map(|at| format!("{}{at}", "x".repeat(20))).collect();
        let items = vec![format!("{}y", "x".repeat(23)); 20_000];
        (json!({"items": {"enum": values}}), json!(items))
    }),
    ("1,900 patterns", || {
        let patterns: Map<String, Value> =
            (0..1_900).map(|at| (format!("^(a|b|\\p{{L}}){{0,20}}x{at}$"), json!({}))).collect();
        let members: Map<String, Value> = (0..500).map(|at| ("a".repeat(at), json!(1))).collect();
        (json!({"patternProperties": patterns}), Value::Object(members))
    }),
    ("nested quantifiers", || {
        let pattern = "^((a{0,50}){0,50}){0,50}$|^(a+)+$|^(a|a)*b$|((a{1,100}){1,100}){1,100}";
        (
            json!({"items": {"anyOf": [{"pattern": pattern}, {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}]}}),
            json!(vec!["a".repeat(5_000); 50]),
        )
    }),
    ("long text for a large pattern", || {
        (json!({"pattern": "^(\\w|\\s|[^x]){0,300}y$"}), json!("a".repeat(1_000_000)))
    }),
    ("deep chain of references", || {
        let mut defs = Map::new();
        for level in 0..3_000 {
            defs.insert(format!("l{level}"), json!({"$ref": format!("#/$defs/l{}", level + 1)}));
        }
        defs.insert("l3000".into(), json!({"type": "integer"}));
        (json!({"$ref": "#/$defs/l0", "$defs": defs}), json!(1))
    }),
];

fn nested(name: &str, levels: usize) -> Value {
    (0..levels).fold(json!({"z": 1}), |inner, _| json!({(name): inner}))
}

/// Each level has the level below `width` times.
fn bomb(keyword: &str, width: usize, levels: usize) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        let mut all = vec![next; width];
        // The failing branch is last, so that no evaluation ends early.
        all.push(json!(keyword != "anyOf"));
        let schema = if keyword == "anyOf" {
            json!({"not": {"allOf": [{"not": {(keyword): all}}]}})
        } else {
            json!({(keyword): all})
        };
        defs.insert(format!("l{level}"), schema);
    }
    let last =
        if keyword == "anyOf" { json!(false) } else { json!({"items": {"type": ["integer", "string"]}}) };
    defs.insert(format!("l{levels}"), last);
    json!({"$ref": "#/$defs/l0", "$defs": defs})
}

#[test]
fn s1_adversarial_schemas_stay_within_steps_and_memory() {
    for (name, _) in CASES {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "schema::validator::adversarial::child_runs_one_case",
                "--ignored",
                "--nocapture",
            ])
            .env(CASE, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout).into_owned();
        assert!(child.status.success(), "{name}: {said}\n{}", String::from_utf8_lossy(&child.stderr));
        let peak = said.lines().find_map(|line| line.split_once("peak KiB: ")?.1.trim().parse::<u64>().ok());
        let peak = peak.unwrap_or_else(|| panic!("{name}: no peak in {said}"));
        assert!(peak <= MAX_MEMORY_KIB, "{name}: {peak} KiB\n{said}");
    }
}

#[test]
#[ignore = "run by s1_adversarial_schemas_stay_within_steps_and_memory, in a process of its own"]
fn child_runs_one_case() {
    let Ok(wanted) = std::env::var(CASE) else { return };
    let (name, make) = CASES.into_iter().find(|(name, _)| *name == wanted).unwrap();
    let (schema, value) = make();
    let start = Instant::now();
    let validator = Validator::with_options(&schema, &ValidatorOptions::new().assert_formats(true)).unwrap();
    let compiled = start.elapsed();
    let start = Instant::now();
    let outcome = validator.validate(&value);
    let validated = start.elapsed();
    assert!(validator.steps(&value) <= 1_000_000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!(
        "{name}: compiled in {compiled:?}, validated in {validated:?}, {} steps",
        validator.steps(&value)
    );
    println!("{:.200}", format!("{outcome:?}"));
    println!("peak KiB: {}", peak.trim().trim_end_matches(" kB"));
}
