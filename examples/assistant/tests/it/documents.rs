//! What is kept beside the design: its lock and its quickstart. Both are written anew with `ASSISTANT_BLESS=1`.

use std::fs;
use std::path::{Path, PathBuf};

use assistant::AssistantServer;
use switchboard::service::design::{Lock, Quickstart};

crate::trials![
    the_design_keeps_its_promises,
    the_quickstart_is_that_of_the_design,
    the_design_is_sound_and_survives_json,
];

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The kept text, or the new one where that is wanted.
fn kept(name: &str, now: &str) -> String {
    if std::env::var_os("ASSISTANT_BLESS").is_some() {
        fs::write(place(name), now).expect("it can be written");
    }
    fs::read_to_string(place(name)).expect("it is kept in the project")
}

fn the_design_keeps_its_promises() {
    let design = AssistantServer::<()>::design();
    let text = kept("design.lock.json", &Lock::new(design).to_string());
    let lock: Lock = text.parse().expect("a lock");
    let changes: Vec<String> = lock.changes(design).iter().map(ToString::to_string).collect();
    assert!(
        changes.is_empty(),
        "the design has changed:\n{}\naccept with ASSISTANT_BLESS=1",
        changes.join("\n")
    );
}

fn the_quickstart_is_that_of_the_design() {
    let design = AssistantServer::<()>::design();
    let write = || Quickstart::new(design).with_command(["assistant"]).to_string();
    let now = write();
    assert_eq!(now, write(), "twice the same");
    assert!(kept("AGENTS_QUICKSTART.md", &now) == now, "stale: write it anew with ASSISTANT_BLESS=1");
}

fn the_design_is_sound_and_survives_json() {
    let design = AssistantServer::<()>::design();
    assert!(design.check().is_ok());
    let json = serde_json::to_value(&**design).expect("JSON");
    let read: switchboard::service::design::Design = serde_json::from_value(json).expect("a design");
    assert_eq!(&read, &**design);
    let names: Vec<&str> = design.tools.iter().map(|tool| tool.name.as_str()).collect();
    let declared = [
        "analyze_sentiment",
        "extract_keywords",
        "summarize_text",
        "search_knowledge",
        "execute_code",
        "process_batch",
        "rebuild_index",
    ];
    assert_eq!(names, declared);
}
