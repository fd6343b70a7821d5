//! Every revision of the protocol: the same commands give the same results.

use switchboard_testkit::CommandOutput;

use crate::commands::demo;

pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

#[test]
fn every_command_works_in_every_revision() {
    for revision in REVISIONS {
        works(revision, demo);
    }
}

/// Runs every command on the demo server, over any transport.
pub(crate) fn works(revision: &str, on_server: impl Fn(&[&str]) -> CommandOutput) {
    let with = |args: &[&str]| on_server(&[args, &["--revision", revision]].concat());
    assert!(with(&["info"]).out.contains(&format!("protocol  {revision}\n")), "{revision}");
    assert!(with(&["tools"]).out.starts_with("10 tools\n"), "{revision}");
    assert!(with(&["resources"]).out.starts_with("7 resources\n"), "{revision}");
    assert!(with(&["prompts"]).out.starts_with("2 prompts\n"), "{revision}");
    assert_eq!(with(&["call", "echo", "text=x"]).out, "x\n", "{revision}");
    assert_eq!(with(&["read", "demo://menu"]).out, "Pizza.\nPizza, spicy.", "{revision}");
    assert!(with(&["prompt", "introduce"]).out.contains("Who are you"), "{revision}");
    assert_eq!(with(&["complete", "--prompt", "translate", "language", "j"]).out, "japanese\n", "{revision}");
    let heard = with(&["listen", "--resource", "demo://clock", "--count", "1"]);
    assert_eq!(heard.out, "demo://clock was updated\n", "{revision} {}", heard.err);
    assert_eq!(with(&["read", "demo://nope"]).code, 1, "{revision}");
}

#[test]
fn elicitation_works_in_every_revision_that_has_it() {
    for revision in REVISIONS {
        asks(revision, demo);
    }
}

/// Answers a question of the demo server, over any transport.
pub(crate) fn asks(revision: &str, on_server: impl Fn(&[&str]) -> CommandOutput) {
    let ran = on_server(&["call", "order_pizza", "--answers", r#"{"size":"large"}"#, "--revision", revision]);
    match revision {
        "2024-11-05" | "2025-03-26" => assert_eq!(ran.code, 5, "{revision}"),
        _ => assert_eq!(
            (ran.code, ran.out.as_str()),
            (0, "1 large pizza with nothing, coming up.\n"),
            "{revision} {}",
            ran.err
        ),
    }
}
