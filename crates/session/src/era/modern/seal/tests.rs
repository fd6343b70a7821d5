//! Tests of sealed request state.

use std::collections::HashMap;

use switchboard_protocol::{MAX_DEPTH, MAX_NODES};

use super::*;

const TTL: Duration = Duration::from_secs(600);

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

fn binding(principal: Option<&str>, params: &str) -> StateBinding {
    StateBinding::new("s", principal.map(str::to_owned), "tools/call", &raw(params)).unwrap()
}

/// Opens a state on a server that has seen no other.
fn open_first(keys: &StateKeys, binding: &StateBinding, text: &str) -> Result<CarriedState, RpcError> {
    open(keys, &UsedStates::default(), binding, text)
}

fn carried() -> CarriedState {
    let mut carried = CarriedState::default();
    carried.steps.insert("paid", Raw::parse("true").unwrap());
    carried
}

#[test]
fn only_the_same_request_of_the_same_caller_opens_it() {
    let keys = StateKeys::random();
    let here = binding(Some("ann"), r#"{"name":"a","arguments":{"x":1,"y":2}}"#);
    let state = seal(&keys, &here, &carried(), TTL).unwrap();
    let again =
        binding(Some("ann"), r#"{"arguments":{"y":2,"x":1},"name":"a","_meta":{},"requestState":"z"}"#);
    assert!(open_first(&keys, &again, &state).unwrap().steps.contains_key("paid"));
    for other in [
        binding(Some("bob"), r#"{"name":"a","arguments":{"x":1,"y":2}}"#),
        binding(None, r#"{"name":"a","arguments":{"x":1,"y":2}}"#),
        binding(Some("ann"), r#"{"name":"b","arguments":{"x":1,"y":2}}"#),
        binding(Some("ann"), r#"{"name":"a","arguments":{"x":1,"y":3}}"#),
    ] {
        assert!(open_first(&keys, &other, &state).is_err());
    }
    assert!(open_first(&StateKeys::random(), &here, &state).is_err());
    assert!(open_first(&keys, &here, &seal(&keys, &here, &carried(), Duration::ZERO).unwrap()).is_err());
}

#[test]
fn s3_a_state_is_used_once() {
    let (keys, used) = (StateKeys::random(), UsedStates::default());
    let here = binding(None, "{}");
    let state = seal(&keys, &here, &carried(), TTL).unwrap();
    let other = binding(None, r#"{"name":"b"}"#);
    assert!(open(&keys, &used, &other, &state).is_err());
    assert!(open(&keys, &used, &here, &state).is_ok(), "a refused attempt does not use it up");
    assert!(open(&keys, &used, &here, &state).is_err());
    assert!(open(&keys, &used, &here, &seal(&keys, &here, &carried(), TTL).unwrap()).is_ok());
}

/// Arguments that a digest may stumble over. Some have two spellings here of what is one request.
fn hostile_values() -> Vec<String> {
    let deep = |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    let many = |count: usize, one: &str| format!("[{}{one}]", format!("{one},").repeat(count));
    let mut values = vec![
        many(MAX_NODES, "0"),
        many(MAX_NODES, "1"),
        many(MAX_NODES, "{}"),
        many(MAX_NODES - 10, "0"),
        many(MAX_NODES - 10, "1"),
        format!("\"{}\"", "x".repeat(600_000)),
        format!("\"{}y\"", "x".repeat(600_000)),
        format!("1{}", "0".repeat(100_000)),
        format!("2{}", "0".repeat(100_000)),
        format!("0.{}1", "0".repeat(100_000)),
    ];
    for exponent in 0..150 {
        values.push(format!("1e{}", exponent + 300));
        values.push(format!("-1E+{}", exponent + 300));
        values.push(format!("1e-{}", exponent + 300));
    }
    for last in 0..100 {
        // Beyond what a double can tell apart.
        values.push(format!("90071992547409{last:02}"));
        values.push(format!("1844674407370955161{last:02}"));
        values.push(format!("0.1000000000000000{last:02}"));
    }
    for unit in (0xd800..0xe000_u32).step_by(23) {
        values.push(format!("\"\\u{unit:04x}\""));
        values.push(format!("{{\"\\u{unit:04x}\":1}}"));
    }
    for level in 0..MAX_DEPTH - 4 {
        values.push(deep(level, "0"));
        values.push(deep(level, "\"\""));
    }
    for name in 0..100 {
        values.push(format!(r#"{{"a":1,"a":{name}}}"#));
        values.push(format!(r#"{{"n{name}":{{"a":1,"\u0061":1}}}}"#));
        values.push(format!(r#""\u00{:02x}\/""#, name + 32));
    }
    for text in
        ["null", "true", "{}", "\"\"", r#""\ufffd""#, r#""\u0000""#, r#""\\ud800""#, "-0", "0.0", "-0.0"]
    {
        values.push(text.to_owned());
    }
    values
}

#[test]
fn s3_no_hostile_request_is_accepted_with_the_state_of_another() {
    let keys = StateKeys::random();
    let plain = binding(None, r#"{"name":"buy","arguments":{"item":"pen","amount":1}}"#);
    let of_plain = seal(&keys, &plain, &carried(), TTL).unwrap();
    let empty = seal(&keys, &binding(None, "{}"), &carried(), TTL).unwrap();
    let mut shapes = Vec::new();
    for value in hostile_values() {
        // In the arguments, beside them, and in what is left out only at the top.
        shapes.push(format!(r#"{{"name":"buy","arguments":{{"item":"yacht","amount":{value}}}}}"#));
        shapes.push(format!(r#"{{"name":"buy","arguments":{{"item":"pen","amount":1}},"x":{value}}}"#));
        shapes.push(format!(r#"{{"name":"buy","arguments":{{"item":"pen","amount":1,"_meta":{value}}}}}"#));
    }
    for twice in ["name", "arguments", "_meta", "requestState", "inputResponses", r"\u006eame"] {
        shapes.push(format!(
            r#"{{"name":"buy","arguments":{{"item":"pen","amount":1}},"{twice}":1,"{twice}":2}}"#
        ));
    }
    assert!(shapes.len() > 1_000, "{}", shapes.len());
    let mut digests: HashMap<String, String> = HashMap::new();
    let mut bindable = 0;
    for shape in &shapes {
        let shown = || shape.chars().take(120).collect::<String>();
        let Ok(hostile) = StateBinding::new("s", None, "tools/call", &raw(shape)) else { continue };
        bindable += 1;
        assert!(open_first(&keys, &hostile, &of_plain).is_err(), "{}", shown());
        assert!(open_first(&keys, &hostile, &empty).is_err(), "{}", shown());
        let own = seal(&keys, &hostile, &carried(), TTL).unwrap();
        assert!(open_first(&keys, &plain, &own).is_err(), "{}", shown());
        assert!(open_first(&keys, &hostile, &own).is_ok(), "{}", shown());
        // The digests of two shapes are equal only if JSON says that the shapes are.
        let canonical = raw(shape).canonical().unwrap();
        if let Some(other) = digests.insert(hostile.request, canonical.clone()) {
            assert_eq!(canonical, other);
        }
    }
    // What cannot be bound has a name twice, or more values than can be read.
    let refused = shapes.len() - bindable;
    assert!((600..700).contains(&refused), "{refused} of {}", shapes.len());
    assert!(digests.len() > 1_000, "{}", digests.len());
}

#[test]
fn s3_a_request_without_a_digest_is_rejected() {
    for params in [r#"{"a":1,"a":1}"#.to_owned(), format!(r#"{{"a":[{}0]}}"#, "0,".repeat(MAX_NODES))] {
        let error = StateBinding::new("s", None, "tools/call", &raw(&params)).unwrap_err();
        assert_eq!(error.code, switchboard_protocol::ErrorCode::INVALID_PARAMS);
    }
}

#[test]
fn a_state_with_any_changed_byte_is_rejected() {
    let keys = StateKeys::random();
    let here = binding(None, "{}");
    let state = seal(&keys, &here, &carried(), TTL).unwrap();
    for at in 0..state.len() {
        let mut damaged = state.clone().into_bytes();
        damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(damaged).unwrap();
        if damaged != state {
            assert!(open_first(&keys, &here, &damaged).is_err(), "byte {at}");
        }
    }
}

#[test]
fn keys_rotate() {
    let (old, new) = ([1; 32], [2; 32]);
    let here = binding(None, "{}");
    let state = seal(&StateKeys::new([old]).unwrap(), &here, &carried(), TTL).unwrap();
    assert!(open_first(&StateKeys::new([new, old]).unwrap(), &here, &state).is_ok());
    assert!(open_first(&StateKeys::new([new]).unwrap(), &here, &state).is_err());
}

#[test]
fn a_state_beyond_the_size_limit_is_not_sealed() {
    let mut carried = CarriedState::default();
    carried.steps.insert("big", Raw::encode(&"x".repeat(MAX_BYTES)).unwrap());
    assert!(seal(&StateKeys::random(), &binding(None, "{}"), &carried, TTL).is_err());
}
