//! The quickstart of the sample design, as it is committed.

use std::path::Path;

use super::*;
use crate::tests::sample::assistant;

#[test]
fn the_quickstart_is_the_one_that_is_committed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quickstart.md");
    let written = assistant().quickstart();
    if std::env::var_os("SWITCHBOARD_BLESS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, kept, "SWITCHBOARD_BLESS=1 writes it anew");
}

#[test]
fn the_same_design_is_the_same_text() {
    let design: Design = serde_json::from_value(serde_json::to_value(assistant()).unwrap()).unwrap();
    assert_eq!(design.quickstart(), assistant().quickstart());
    assert!(design.quickstart().starts_with(QUICKSTART_MARKER));
}

#[test]
fn the_words_that_start_the_program_stand_in_every_line() {
    let design = assistant();
    let text = Quickstart::new(&design).with_command(["cargo", "run", "-p", "my app", "--"]).to_string();
    assert!(
        text.contains(
            "\ncargo run -p 'my app' -- call analyze-sentiment --text 'I love this new feature!'\n"
        )
    );
    assert!(text.contains("\"command\": \"cargo\""));
}

#[test]
fn a_fence_is_longer_than_any_in_it() {
    assert_eq!(fence("", "a"), "```\na\n```\n\n");
    assert_eq!(fence("sh", "````"), "`````sh\n````\n`````\n\n");
}
