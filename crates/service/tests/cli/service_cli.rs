//! The command line of the service itself.

use serde_json::Value;

use crate::roles::{Served, Test, done, program, service};

pub(crate) const TESTS: &[Test] = &[
    ("service::a_tool_is_called_in_process", call),
    ("service::the_printed_design_can_be_parsed_again", design_prints),
    ("service::design_check_reports_breaking_changes", lock),
    ("service::serving_over_http_shuts_down_gracefully_on_a_signal", ends),
    ("service::a_public_address_requires_allow_remote", loopback),
    ("service::serve_requires_a_transport", how),
];

fn call() {
    let done = service(&["call", "find-things", "--query", "q", "--limit", "2"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap()["limit"], 2);
    assert_eq!(service(&["call", "find-things"]).code, 2);
}

fn design_prints() {
    let done = service(&["design", "print", "--json"]);
    let design: switchboard_service::Design = serde_json::from_str(&done.out).unwrap();
    assert_eq!(&design, &**crate::service::design());
    let done = service(&["design", "print", "--schema"]);
    assert!(serde_json::from_str::<Value>(&done.out).unwrap()["properties"]["tools"].is_object());
}

fn lock() {
    let folder = tempfile::tempdir().unwrap();
    let check =
        |words: &[&str]| done(program("service").current_dir(&folder).args(["design", "check"]).args(words));
    let first = check(&[]);
    assert_eq!(first.code, 2, "{first:?}");
    assert!(first.err.contains("`design check --bless` writes it"));
    assert_eq!(check(&["--bless"]).code, 0);
    let same = check(&[]);
    assert_eq!((same.code, same.out.as_str()), (0, "nothing has changed\n"));
    let path = folder.path().join("design.lock.json");
    let text = std::fs::read_to_string(&path).unwrap();
    // The lock file has another tool.
    std::fs::write(&path, text.replace("\"name\": \"fail\"", "\"name\": \"gone\"")).unwrap();
    let broken = check(&[]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.out.contains("breaking: tool `gone`"), "{}", broken.out);
}

fn ends() {
    let mut served = Served::start();
    served.running.terminate();
    assert_eq!(served.running.wait().code(), Some(0));
}

fn loopback() {
    let done = service(&["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("can be reached from other machines"), "{}", done.err);
}

fn how() {
    let done = service(&["serve"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("<--stdio|--http <ADDR>>"), "{}", done.err);
}
