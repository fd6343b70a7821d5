//! Recordings as text: what is written is read back byte for byte, and what cannot be read is explained.

use proptest::prelude::*;
use switchboard_recording::{
    FrameDirection, FrameForm, MAX_RECORDING_BYTES, RecordedFrame, Recording, RecordingError,
};

fn frame(direction: FrameDirection, at_ms: u64, text: &str) -> RecordedFrame {
    RecordedFrame::new("demo", direction, at_ms, text)
}

#[test]
fn a_recording_is_readable_text() {
    let frames = vec![
        frame(FrameDirection::ToServer, 0, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        frame(FrameDirection::ToClient, 12, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        frame(FrameDirection::ToClient, 12, "Listening\non 8080"),
        RecordedFrame::new("other one", FrameDirection::ToServer, 13, r#"{"x":"<any>"}"#),
    ];
    let mut recording = Recording::new(frames).with_title("switchboard info\n--record x");
    recording.set_revision("demo", "2025-11-25".parse().expect("a revision"));
    let written = recording.write();
    let expected = concat!(
        "# switchboard info --record x\nrecording: 1\nserver: demo\nrevision: 2025-11-25\nserver: other one\n\n",
        "~ @0 ms\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        "~ @12 ms\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n<| \"Listening\\non 8080\"\n",
        "~ @13 ms other one\n>| \"{\\\"x\\\":\\\"<any>\\\"}\"\n",
    );
    assert_eq!(written, expected);
    assert_eq!(Recording::parse(written.as_bytes()), Ok(recording));
}

#[test]
fn a_recording_may_be_edited_by_hand() {
    let edited = r#"# by hand
let: stamp {"v":1}
~ a remark
   that goes on
> {"id":1,"method":"x",
   "params":{"_meta":"$stamp","price":"$5"}}
<? {"id":1,"result":{"time":"<any>","...":true}}
"#;
    let recording = Recording::parse(edited.as_bytes()).expect("well formed");
    assert_eq!(recording.frames.len(), 2);
    let [request, answer] = &recording.frames[..] else { panic!("two frames") };
    assert_eq!(&*request.server, "server");
    assert_eq!(
        request.value(),
        Some(serde_json::json!({"id":1,"method":"x","params":{"_meta":{"v":1},"price":"$5"}}))
    );
    assert_eq!((answer.form, answer.any_order), (FrameForm::Pattern, true));
    // What was written by hand survives as well.
    let again = Recording::parse(recording.write().as_bytes()).expect("what was written is well formed");
    assert_eq!(again, recording);
}

#[test]
fn what_cannot_be_read_is_explained() {
    for (text, expected) in [
        ("> {\"a\":}", "recording:1: expected value at line 1 column 6: {\"a\":}"),
        ("\n? x", "recording:2: no line begins with \"?\""),
        ("* x", "recording:1: no line begins with \"*\""),
        ("! connect", "recording:1: a recording has frames only: lines of `>` and `<`"),
        ("@ open.part", "recording:1: a recording includes no other files"),
        (" {}", "recording:1: an indented line continues a line before it"),
        ("~ @12 s", "recording:1: a time is written `~ @120 ms`, with the name of the server if it changes"),
        ("server: a\nserver: a", "recording:2: server \"a\" is named twice"),
        ("revision: 1999-01-01", "recording:1: "),
        ("recording: 2", "the recording has format \"2\"\nthis version of Switchboard reads format 1"),
        ("let: a \"$a\"\n> {\"x\":\"$a\"}", "recording:2: a `let` uses itself"),
    ] {
        let error = Recording::parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    assert_eq!(Recording::parse(b"# a\n# b\n\xff"), Err(RecordingError::NotText { line: 3 }));
    let huge = vec![b' '; MAX_RECORDING_BYTES + 1];
    assert_eq!(Recording::parse(&huge), Err(RecordingError::TooLarge { bytes: huge.len() }));
}

#[test]
fn let_lines_that_multiply_each_other_are_rejected() {
    let doublings: String =
        (1..40).map(|number| format!("let: v{number} [\"$v{0}\",\"$v{0}\"]\n", number - 1)).collect();
    let frames = ["> {\"x\":\"$v39\"}\n", "> {\"x\":{\"$\":\"v39\"}}\n"];
    for frame in frames {
        let text = format!("let: v0 \"x\"\n{doublings}\n{frame}");
        let error = Recording::parse(text.as_bytes()).expect_err("it would not fit into memory").to_string();
        assert!(error.contains("the `let` lines add more than"), "{error}");
    }
    // Many lines that are long together.
    let long = format!("let: v \"{}\"\n{}", "x".repeat(1 << 20), "> {\"x\":\"$v\"}\n".repeat(80));
    assert!(Recording::parse(long.as_bytes()).is_err());
}

#[test]
fn a_huge_frame_is_kept() {
    let text = format!("{{\"text\":\"{}\"}}", "x".repeat(20_000_000));
    let recording = Recording::new(vec![frame(FrameDirection::ToClient, 0, &text)]);
    assert_eq!(Recording::parse(recording.write().as_bytes()), Ok(recording));
}

/// Texts of which some are messages, some look like lines of the format, and some are anything.
fn frame_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~\\n\\r\\t]{0,40}",
        "(> |< |~ @1 ms|# |@ x|server: | )?\\{\"[a-z$.<>]{0,5}\":(1|\"<any>\"|\"<id:a>\"|\"\\$x\"|\"\\\\u003cany>\"|\\[\\])\\}[ \\n]?",
        "\\{\"(\\$|\\.\\.\\.)\":(true|\"x\")\\}",
    ]
}

fn recorded_frame() -> impl Strategy<Value = RecordedFrame> {
    let name = prop_oneof![Just("demo".to_owned()), "[ -~\\n]{0,8}", any::<String>()];
    let direction = prop_oneof![Just(FrameDirection::ToServer), Just(FrameDirection::ToClient)];
    (name, direction, 0..4u64, frame_text())
        .prop_map(|(name, direction, at_ms, text)| RecordedFrame::new(name, direction, at_ms, text))
}

proptest! {
    #[test]
    fn frames_round_trip_byte_for_byte(frames in proptest::collection::vec(recorded_frame(), 0..8), title in any::<String>()) {
        let recording = Recording::new(frames).with_title(&title);
        let written = recording.write();
        let read = Recording::parse(written.as_bytes()).expect("what was written can be read");
        prop_assert_eq!(&read, &recording);
        prop_assert_eq!(read.write(), written);
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "([>|<~@=! ]|ms|\\n|\\{|\\}|\"|:|let|server|[0-9]|x){0,40}") {
        if let Ok(recording) = Recording::parse(text.as_bytes()) {
            prop_assert_eq!(Recording::parse(recording.write().as_bytes()), Ok(recording));
        }
    }
}
