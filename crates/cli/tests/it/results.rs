//! Results of tools and resources: bytes for a pipe, text for a terminal, and files.

use std::process::Command;

use switchboard_testkit::CommandOutput;

use crate::commands::{demo, on_demo, switchboard};
use crate::servers::Script;

/// Every kind of character that a terminal treats specially, with an emoji family and no final newline.
const PYTHON_TEXT: &str =
    r"'\ufeffone\r\ntwo\x1b[31m\x0c\u202e \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\tend'";
const TEXT: &str = "\u{feff}one\r\ntwo\u{1b}[31m\u{c}\u{202e} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\tend";

fn server() -> Script {
    Script::server(&format!(
        r#"
def answers(method, params):
    if method == "tools/list":
        return {{"tools": [{{"name": "text", "inputSchema": {{"type": "object"}}}}]}}
    if method == "tools/call" and params["name"] == "text":
        return {{"content": [{{"type": "text", "text": {PYTHON_TEXT}}}]}}
    if method == "tools/call" and params["name"] == "both":
        return {{"content": [{{"type": "text", "text": "three"}}], "structuredContent": {{"sum": 3}}}}
    if method == "tools/call" and params["name"] == "only":
        return {{"content": [], "structuredContent": {{"sum": 3}}}}
    if method == "tools/call" and params["name"] == "image":
        return {{"content": [{{"type": "image", "mimeType": "image/png", "data": "AP8Q"}}]}}
    if method == "resources/read" and params["uri"] == "x://text":
        return {{"contents": [{{"uri": "x://text", "text": {PYTHON_TEXT}}}]}}
    if method == "resources/read" and params["uri"] == "x://a/data.bin":
        return {{"contents": [{{"uri": "x://a/data.bin", "blob": "AP8Q"}}]}}
    if method == "resources/list":
        return {{"resources": [{{"uri": "x://text", "name": "text"}}]}}
"#
    ))
}

/// Returns the bytes of the program's standard output.
fn bytes(script: &Script, args: &[&str]) -> Vec<u8> {
    let mut command: Command = switchboard(script.args_for(args));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn c1_redirected_text_is_unchanged() {
    let script = server();
    assert_eq!(bytes(&script, &["read", "x://text"]), TEXT.as_bytes());
    // Each block of a result ends with a newline.
    assert_eq!(bytes(&script, &["call", "text"]), format!("{TEXT}\n").as_bytes());
}

#[test]
fn c1_a_terminal_shows_control_and_bidirectional_characters_as_escapes() {
    for args in [&["read", "x://text"], &["call", "text"]] {
        let (code, shown) = server().at_terminal(args).finish();
        assert_eq!(code, 0, "{shown}");
        let expected = "\u{feff}one\r\ntwo\\x1b[31m\\x0c\\u{202e} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\tend";
        assert!(shown.contains(expected), "{shown:?}");
    }
}

#[test]
fn c2_text_is_printed_once_and_structured_content_when_asked_for() {
    let script = server();
    assert_eq!(script.run(&["call", "both"]).out, "three\n");
    assert_eq!(script.run(&["call", "both", "--structured"]).out, "{\"sum\": 3}\n");
    assert_eq!(script.run(&["call", "only"]).out, "{\"sum\": 3}\n");
    let ran: CommandOutput = script.run(&["call", "text", "--structured"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no structured content"), "{}", ran.err);
}

#[test]
fn c3_resources_are_listed_without_templates() {
    let script = server();
    let ran = script.run(&["resources"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("x://text"), "{}", ran.out);
    let listed = script.run(&["resources", "--json"]).json();
    assert_eq!(listed["resources"][0]["uri"], "x://text");
    assert_eq!(listed["resourceTemplates"], serde_json::json!([]));
}

#[test]
fn c6_binary_data_is_written_as_bytes() {
    let script = server();
    assert_eq!(bytes(&script, &["read", "x://a/data.bin"]), [0, 0xff, 0x10]);
    assert_eq!(bytes(&script, &["call", "image"]), [0, 0xff, 0x10]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.bin");
    let ran = script.run(&["read", "x://a/data.bin", "--output", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("wrote 3 bytes to") && ran.err.contains("saved.bin"), "{}", ran.err);
    assert_eq!(std::fs::read(&file).unwrap(), [0, 0xff, 0x10]);
    let saved = folder.path().join("new");
    for name in ["data.bin", "data-2.bin"] {
        script.run(&["read", "x://a/data.bin", "--save-dir", saved.to_str().unwrap()]);
        assert_eq!(std::fs::read(saved.join(name)).unwrap(), [0, 0xff, 0x10], "nothing is overwritten");
    }
}

#[test]
fn c6_images_of_a_result_are_saved_beside_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let ran = demo(&["call", "postcard", "--save-dir", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("Greetings!\n"), "{}", ran.out);
    assert!(ran.err.contains("image.png"), "{}", ran.err);
    assert!(std::fs::read(folder.path().join("image.png")).unwrap().starts_with(b"\x89PNG"));
    let ran = demo(&["call", "postcard", "--output", "/nonexistent/x"]);
    assert_eq!(ran.code, 2, "several parts need --save-dir: {}", ran.err);
    assert!(ran.err.contains("--save-dir DIR"), "{}", ran.err);
}

#[test]
fn c14_arguments_come_from_files_inline_json_and_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, "from a file").unwrap();
    let pair = format!("text=@{}", file.display());
    assert_eq!(demo(&["call", "echo", &pair]).out, "from a file\n");
    assert_eq!(demo(&["call", "echo", r#"{"text":"inline"}"#, "loud=true"]).out, "INLINE\n");
    let fed = crate::commands::run_fed(&on_demo(&["call", "echo", "-"]), r#"{"text":"from stdin"}"#);
    assert_eq!(fed.out, "from stdin\n", "{}", fed.err);
}
