//! Random schemas and values from a small world, so that they often have something to do with each other.

use serde_json::{Map, Value, json};

/// A small random number generator (SplitMix64): the same seed gives the same pairs on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64) as usize;
        &items[at]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

const NAMES: [&str; 5] = ["a", "b", "c", "ab", "x1"];
const PATTERNS: [&str; 8] = ["^a", "b$", "^[a-c]+$", r"\d", r"^\w{1,2}$", "a|x", "[^a-c]", r"^.\S*$"];

pub fn value(random: &mut Random, depth: u32) -> Value {
    let kinds = if depth == 0 { 5 } else { 9 };
    match random.below(kinds) {
        0 => Value::Null,
        1 => json!(random.chance(50)),
        2 => number(random),
        3 => json!(*random.pick(&["", "a", "b", "ab", "abc", "x1", "é", "12", "a b"])),
        4 => json!(random.below(4)),
        5 | 6 => {
            let count = random.below(4);
            Value::Array((0..count).map(|_| value(random, depth - 1)).collect())
        }
        _ => {
            let count = random.below(4);
            let member = |_| ((*random.pick(&NAMES)).to_owned(), value(random, depth - 1));
            Value::Object((0..count).map(member).collect())
        }
    }
}

fn number(random: &mut Random) -> Value {
    random
        .pick(&[
            json!(0),
            json!(1),
            json!(1.0),
            json!(-1),
            json!(2),
            json!(2.5),
            json!(0.3),
            json!(-0.5),
            json!(7),
            json!(1e3),
            json!(3.0),
            json!(9007199254740993_i64),
            json!(-2.0),
        ])
        .clone()
}

/// A schema; `references` are what `$ref` may point to.
pub fn schema(random: &mut Random, depth: u32, is_old: bool) -> Value {
    if random.chance(6) {
        return json!(random.chance(70));
    }
    let mut map = Map::new();
    let count = 1 + random.below(3);
    for _ in 0..count {
        keyword(random, depth, is_old, &mut map);
    }
    Value::Object(map)
}

fn keyword(random: &mut Random, depth: u32, is_old: bool, map: &mut Map<String, Value>) {
    let leaf = depth == 0;
    let inner = depth.saturating_sub(1);
    let mut put = |keyword: &str, value: Value| _ = map.insert(keyword.to_owned(), value);
    let several = |random: &mut Random| {
        let count = 1 + random.below(3);
        Value::Array((0..count).map(|_| schema(random, inner, is_old)).collect())
    };
    let named = |random: &mut Random| {
        let count = 1 + random.below(3);
        let one = |_| ((*random.pick(&NAMES)).to_owned(), schema(random, inner, is_old));
        Value::Object((0..count).map(one).collect())
    };
    match random.below(if leaf { 14 } else { 38 }) {
        0..=2 => {
            let kinds = ["null", "boolean", "integer", "number", "string", "array", "object"];
            let kind = json!(*random.pick(&kinds));
            put("type", if random.chance(20) { json!([kind]) } else { kind });
        }
        3 => put("const", value(random, 1)),
        4 => {
            let mut values: Vec<Value> = Vec::new();
            for _ in 0..3 {
                let value = value(random, 1);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            put("enum", Value::Array(values));
        }
        5 => {
            put(*random.pick(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number(random))
        }
        6 => put("multipleOf", json!(*random.pick(&[0.1, 0.5, 1.0, 2.0, 3.0]))),
        7 => put(*random.pick(&["minLength", "maxLength"]), json!(random.below(4))),
        8 => put("pattern", json!(*random.pick(&PATTERNS))),
        9 => put(*random.pick(&["minItems", "maxItems"]), json!(random.below(4))),
        10 => put("uniqueItems", json!(random.chance(80))),
        11 => put(*random.pick(&["minProperties", "maxProperties"]), json!(random.below(4))),
        12 => put("required", json!([*random.pick(&NAMES)])),
        13 if is_old => put("dependencies", json!({"a": [*random.pick(&NAMES)]})),
        13 => put("dependentRequired", json!({"a": [*random.pick(&NAMES)]})),
        14..=17 => put("properties", named(random)),
        18 => {
            let pattern = *random.pick(&PATTERNS);
            put("patternProperties", json!({(pattern): schema(random, inner, is_old)}));
        }
        19 | 20 => put("additionalProperties", schema(random, inner, is_old)),
        21 => put("propertyNames", schema(random, 0, is_old)),
        22 | 23 => put("items", schema(random, inner, is_old)),
        24 if is_old => {
            put("items", several(random));
            if random.chance(50) {
                put("additionalItems", schema(random, inner, is_old));
            }
        }
        24 => put("prefixItems", several(random)),
        25 => {
            put("contains", schema(random, inner, is_old));
            if !is_old && random.chance(50) {
                put(*random.pick(&["minContains", "maxContains"]), json!(random.below(3)));
            }
        }
        26 => put("allOf", several(random)),
        27 | 28 => put("anyOf", several(random)),
        29 => put("oneOf", several(random)),
        30 => put("not", schema(random, inner, is_old)),
        31 => {
            put("if", schema(random, inner, is_old));
            put("then", schema(random, inner, is_old));
            put("else", schema(random, inner, is_old));
        }
        32 if is_old => put("dependencies", named(random)),
        32 => put("dependentSchemas", named(random)),
        33 | 34 if !is_old => put("unevaluatedProperties", schema(random, inner, is_old)),
        35 if !is_old => put("unevaluatedItems", schema(random, inner, is_old)),
        _ => {
            let defs = if is_old { "definitions" } else { "$defs" };
            put("$ref", json!(format!("#/{defs}/{}", random.pick(&["one", "two", "tree"]))));
        }
    }
}

/// A document: a schema with definitions that it may refer to.
pub fn document(random: &mut Random) -> Value {
    let is_old = random.chance(30);
    let mut root = loop {
        if let Value::Object(map) = schema(random, 3, is_old) {
            break map;
        }
    };
    // Definitions without references in place: a circle has no answer.
    let without = |random: &mut Random| loop {
        let schema = schema(random, 1, is_old);
        let text = schema.to_string();
        if !text.contains("$ref") {
            return schema;
        }
    };
    let defs = if is_old { "definitions" } else { "$defs" };
    let tree = format!("#/{defs}/tree");
    let children = [json!({"$ref": tree}), without(random)];
    let tree =
        json!({"anyOf": [without(random), {"properties": {"a": {"anyOf": children}, "b": {"$ref": tree}}}]});
    let mut named = json!({"tree": tree});
    named["one"] = without(random);
    named["two"] = without(random);
    root.insert(defs.to_owned(), named);
    let uri = if is_old {
        "http://json-schema.org/draft-07/schema#"
    } else {
        "https://json-schema.org/draft/2020-12/schema"
    };
    root.insert("$schema".to_owned(), json!(uri));
    Value::Object(root)
}
