//! Tests of the envelope: shapes, exact names, and what can be told of a damaged message.

use super::*;
use crate::jsonrpc::{ErrorCode, SyntaxErrorKind};

fn read(text: &str) -> Result<Envelope, MalformedMessage> {
    match parse(Bytes::copy_from_slice(text.as_bytes()))? {
        Message::Single(envelope) => Ok(envelope),
        Message::Batch(_) => panic!("a batch: {text}"),
    }
}

#[test]
fn requests_notifications_and_responses_are_classified() {
    let request = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#).unwrap();
    let Envelope::Request(request) = request else { panic!("{request:?}") };
    assert_eq!((request.id, &*request.method), (1.into(), "tools/list"));
    assert_eq!(request.params.unwrap().as_str(), r#"{"cursor":"x"}"#);

    let note = read(r#"{"method":"notifications\/initialized","jsonrpc":"2.0"}"#).unwrap();
    let Envelope::Notification(note) = note else { panic!("{note:?}") };
    assert_eq!((&*note.method, note.params), ("notifications/initialized", None));

    let answer = read(r#"{"id":"a","result":{ "tools" : [] },"jsonrpc":"2.0"}"#).unwrap();
    let Envelope::Response(answer) = answer else { panic!("{answer:?}") };
    assert_eq!(answer.id, Some("a".into()));
    assert_eq!(answer.outcome.unwrap().as_str(), r#"{ "tools" : [] }"#);
}

#[test]
fn an_error_without_an_id_is_still_a_response() {
    for text in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#,
    ] {
        let Envelope::Response(answer) = read(text).unwrap() else { panic!("{text}") };
        assert_eq!(answer.id, None, "{text}");
        assert_eq!(answer.outcome.unwrap_err().code, ErrorCode::PARSE_ERROR);
    }
    // One that is there and is no id of anybody is another matter.
    let other = read(r#"{"jsonrpc":"2.0","id":7.9,"error":{"code":-32700,"message":"?"}}"#).unwrap_err();
    assert_eq!(other.error.kind(), MessageErrorKind::BadMember("id"));
}

#[test]
fn member_names_are_case_sensitive() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"METHOD":"a"}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\u{200b}\":\"a\"}",
        r#"{"jsonrpc":"2.0","id":1,"reſult":{}}"#,
    ] {
        assert_eq!(read(text).unwrap_err().error.kind(), MessageErrorKind::NoShape, "{text}");
    }
    // Beside the real name, a look-alike changes nothing; an escape spells the same name.
    let Envelope::Request(request) = read(r#"{"id":1,"\u006dethod":"a","Method":"b","Params":[1]}"#).unwrap()
    else {
        panic!()
    };
    assert_eq!((&*request.method, request.params), ("a", None));
}

#[test]
fn malformed_messages_carry_the_salvaged_id() {
    let cases = [
        (r#"{"id":5,"result":{},"error":{"code":1}}"#, MessageErrorKind::NoShape),
        (r#"{"id":5}"#, MessageErrorKind::NoShape),
        (r#"{"id":5,"method":"a","result":{}}"#, MessageErrorKind::NoShape),
        (r#"{"id":5,"id":6,"result":{}}"#, MessageErrorKind::Duplicate("id")),
        (r#"{"id":5,"result":{},"result":{}}"#, MessageErrorKind::Duplicate("result")),
        (r#"{"id":5,"method":7}"#, MessageErrorKind::BadMember("method")),
        (r#"{"id":5,"result":NaN}"#, MessageErrorKind::Syntax(SyntaxErrorKind::Unexpected(b'N'))),
        (r#"{"id":5,"result":{}}{"id":6,"result":{}}"#, MessageErrorKind::Syntax(SyntaxErrorKind::Trailing)),
        (r#"{"id":5,"result":"cut"#, MessageErrorKind::Syntax(SyntaxErrorKind::UnexpectedEnd)),
    ];
    for (text, kind) in cases {
        let malformed = read(text).unwrap_err();
        assert_eq!(malformed.error.kind(), kind, "{text}");
        assert_eq!(malformed.recovered.id, Some(5.into()), "{text}");
    }
    let malformed = parse(Bytes::from_static(b"{\"result\":\"\xff\",\"id\":5}")).unwrap_err();
    assert_eq!((malformed.error.kind(), malformed.recovered.id), (MessageErrorKind::NotUtf8, Some(5.into())));
    let deep = format!("{{\"id\":5,\"result\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    let malformed = read(&deep).unwrap_err();
    assert_eq!(
        (malformed.error.kind(), malformed.recovered.id),
        (MessageErrorKind::Syntax(SyntaxErrorKind::TooDeep), Some(5.into()))
    );
}

#[test]
fn a_request_with_an_invalid_id_is_malformed() {
    for text in [r#"{"id":null,"method":"a"}"#, r#"{"id":1.5,"method":"a"}"#, r#"{"id":{},"method":"a"}"#] {
        assert_eq!(read(text).unwrap_err().error.kind(), MessageErrorKind::BadMember("id"), "{text}");
    }
    let long = format!(r#"{{"id":"{}","method":"a"}}"#, "x".repeat(1 << 20));
    assert_eq!(read(&long).unwrap_err().error.kind(), MessageErrorKind::BadMember("id"));
}

#[test]
fn a_batch_is_parsed_element_by_element() {
    let frame = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"method":"n"}, {"id":2}, 7, []]"#;
    let Message::Batch(elements) = parse(Bytes::from_static(frame)).unwrap() else { panic!() };
    let kinds: Vec<_> = elements
        .iter()
        .map(|element| match element {
            Ok(Envelope::Request(_)) => "request",
            Ok(Envelope::Notification(_)) => "notification",
            Ok(Envelope::Response(_)) => "response",
            Err(_) => "malformed",
        })
        .collect();
    assert_eq!(kinds, ["request", "notification", "malformed", "malformed", "malformed"]);
}

#[test]
fn a_payload_is_a_slice_of_its_frame() {
    let frame = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{"text":"long"}}"#);
    let range = frame.as_ptr_range();
    let Message::Single(Envelope::Response(answer)) = parse(frame.clone()).unwrap() else { panic!() };
    assert!(range.contains(&answer.outcome.unwrap().as_str().as_ptr()));
}
