//! What our server answers to damaged, odd and hostile messages. Data: what is sent, what must come back.
//!
//! After each talk an honest call must be answered as if nothing had happened.

use serde_json::{Value, json};
use switchboard_testkit::Trial;

use crate::faults::far::{serve, serve_unopened};
use crate::faults::honest;
use crate::faults::sessions::paused;

struct Talk {
    name: &'static str,
    revision: &'static str,
    send: Send,
    /// Each answer, in order, as the members it must have at least; a member of null must be absent.
    hear: &'static [&'static str],
}

enum Send {
    Text(&'static str),
    Bytes(fn() -> Vec<u8>),
    Dribble(&'static str),
}

const ECHOED: &str = r#"{"id":5,"result":{"content":[{"type":"text","text":"n"}]}}"#;
const UNREADABLE: &str = r#"{"id":5,"error":{"code":-32700}}"#;
const INVALID: &str = r#"{"id":5,"error":{"code":-32600}}"#;
const INVALID_OF_NOBODY: &str = r#"{"id":null,"error":{"code":-32600}}"#;
const UNREADABLE_OF_NOBODY: &str = r#"{"id":null,"error":{"code":-32700}}"#;
const LATEST: &str = "2025-11-25";

const fn talk(name: &'static str, send: Send, hear: &'static [&'static str]) -> Talk {
    Talk { name, revision: LATEST, send, hear }
}

/// `$ECHO` stands for an honest call with the id 5.
const ECHO: &str =
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"nonce":"n"}}}"#;

const TALKS: &[Talk] = &[
    talk(
        "F029_the_server_survives_junk",
        Send::Text("hello there\n$ECHO\n"),
        &[UNREADABLE_OF_NOBODY, ECHOED],
    ),
    talk("F031_the_server_strips_a_byte_order_mark", Send::Text("\u{feff}$ECHO\n"), &[ECHOED]),
    talk("F032_the_server_takes_carriage_returns", Send::Text("$ECHO\r\n"), &[ECHOED]),
    talk("F033_the_server_ignores_blank_lines", Send::Text("\n  \n\r\n$ECHO\n\n"), &[ECHOED]),
    talk("F034_the_server_puts_single_bytes_together", Send::Dribble("$ECHO\n"), &[ECHOED]),
    talk("F036_the_server_refuses_two_values_on_a_line", Send::Text("$ECHO$ECHO\n"), &[UNREADABLE]),
    talk("F042_the_server_answers_invalid_utf8_to_its_id", Send::Bytes(not_utf8), &[UNREADABLE]),
    talk(
        "F044_the_server_takes_a_lone_surrogate",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"nonce\":\"\\ud800\"}}}\n",
        ),
        &[r#"{"id":5,"result":{"content":[{"type":"text","text":"\ufffd"}]}}"#],
    ),
    talk(
        "F046_the_server_refuses_nan",
        Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"x\":NaN}}\n"),
        &[UNREADABLE],
    ),
    talk("F047_the_server_refuses_deep_nesting", Send::Bytes(deep), &[UNREADABLE]),
    talk(
        "F049_the_server_refuses_duplicate_members",
        Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"method\":\"tools/call\"}\n"),
        &[INVALID],
    ),
    talk(
        "F050_the_server_refuses_raw_control_characters",
        Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"pi\0ng\"}\n"),
        &[UNREADABLE],
    ),
    talk(
        "F052_the_server_refuses_a_batch_where_there_are_none",
        Send::Text("[$ECHO]\n"),
        &[INVALID_OF_NOBODY],
    ),
    Talk {
        revision: "2025-03-26",
        ..talk("F052_the_server_refuses_an_empty_batch", Send::Text("[]\n"), &[INVALID_OF_NOBODY])
    },
    talk(
        "F057_the_server_ignores_an_answer_to_nothing",
        Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n$ECHO\n"),
        &[ECHOED],
    ),
    talk(
        "F062_the_server_refuses_ids_that_are_none",
        Send::Bytes(bad_ids),
        &[INVALID_OF_NOBODY, INVALID_OF_NOBODY, INVALID_OF_NOBODY, INVALID_OF_NOBODY],
    ),
    talk(
        "F062_the_server_takes_integral_ids",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":5.0,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"ping\"}\n",
        ),
        &[r#"{"id":5,"result":{}}"#, r#"{"id":-7,"result":{}}"#],
    ),
    talk(
        "F064_the_server_does_not_answer_a_damaged_answer",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{},\"error\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":5.5,\"result\":{}}\n$ECHO\n",
        ),
        &[ECHOED],
    ),
    talk("F064_the_server_refuses_neither", Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5}\n"), &[INVALID]),
    talk(
        "F065_the_server_refuses_a_missing_version",
        Send::Text("{\"id\":5,\"method\":\"ping\"}\n"),
        &[INVALID],
    ),
    talk(
        "F065_the_server_refuses_another_version",
        Send::Text("{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}\n"),
        &[INVALID],
    ),
    talk(
        "F069_the_server_ignores_an_unknown_notification",
        Send::Text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody/knows\"}\n$ECHO\n"),
        &[ECHOED],
    ),
    talk(
        "F069_the_server_refuses_an_unknown_method",
        Send::Text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"no/such\"}\n"),
        &[r#"{"id":5,"error":{"code":-32601}}"#],
    ),
    talk(
        "F071_the_server_ignores_a_cancellation_of_nothing",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}\n$ECHO\n",
        ),
        &[ECHOED],
    ),
    talk(
        "F072_the_server_ignores_progress",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n$ECHO\n",
        ),
        &[ECHOED],
    ),
    talk(
        "F077_a_second_initialize_is_refused",
        Send::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{\"name\":\"b\",\"version\":\"2\"}}}\n",
        ),
        &[INVALID],
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = TALKS.iter().map(|talk| paused(talk.name, move || run(talk))).collect();
    trials.push(paused(
        "f074_the_server_answers_a_ping_before_the_handshake",
        f074_the_server_answers_a_ping_before_the_handshake,
    ));
    trials
}

async fn run(talk: &'static Talk) {
    let mut served = serve(&honest::server(), talk.revision).await;
    let fill = |template: &str| template.replace("$ECHO", ECHO).into_bytes();
    let writing = match talk.send {
        Send::Text(template) => vec![fill(template)],
        Send::Bytes(make) => vec![make()],
        Send::Dribble(template) => fill(template).chunks(1).map(<[u8]>::to_vec).collect(),
    };
    for bytes in writing {
        served.far.write(&bytes).await;
    }
    for expected in talk.hear {
        let (heard, expected) = (served.far.hear().await, serde_json::from_str(expected).unwrap());
        assert!(has(&heard, &expected), "{}: {heard} has not {expected}", talk.name);
    }
    served.far.say(&json!({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "echo", "arguments": {"nonce": "after"}}})).await;
    let last = served.far.hear().await;
    assert_eq!(
        (&last["id"], &last["result"]["content"][0]["text"]),
        (&json!("last"), &json!("after")),
        "{last}"
    );
    served.leave().await;
}

/// Whether all that is expected is there; what is expected to be null must not be.
fn has(heard: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(members) => members.iter().all(|(key, value)| match value {
            Value::Null => heard.get(key).is_none(),
            value => has(&heard[key], value),
        }),
        other => heard == other,
    }
}

async fn f074_the_server_answers_a_ping_before_the_handshake() {
    let mut served = serve_unopened(&honest::server(), 1024, 1024);
    served.far.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await;
    assert_eq!(served.far.hear().await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    served.leave().await;
}

fn not_utf8() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"},\"id\":5}\n".to_vec()
}

fn deep() -> Vec<u8> {
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{{\"x\":{open}{close}}}}}\n")
        .into_bytes()
}

fn bad_ids() -> Vec<u8> {
    let long = format!("\"{}\"", "9".repeat(1 << 20));
    let ids = ["1.5", "null", "99999999999999999999", &long];
    ids.map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")).concat().into_bytes()
}
