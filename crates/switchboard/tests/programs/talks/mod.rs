//! Talks: whole conversations as data, each played against our client or our server over every binding.
//!
//! Every file is a test of its own for each revision it names and each binding. One more test holds the talks
//! against the protocol's own table of methods. The program is also its own child: see `binding`.

mod answers;
mod binding;
mod coverage;
mod runner;
mod server;
mod verbs;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_recording::{Talk, TalkRole};
use switchboard_testkit::{Failed, Trial, block_on};

use crate::talks::binding::Binding;

pub(crate) use binding::work_as_child;

pub(crate) fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/talks");
    let (talks, broken) = load(&root);
    let mut trials: Vec<Trial> =
        talks.iter().flat_map(|talk| Binding::ALL.map(|binding| trial(talk, binding))).collect();
    trials.push(Trial::test("every_talk_can_be_read", move || {
        if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
    }));
    trials.push(Trial::test("every_method_of_every_revision_has_a_talk_for_both_roles", move || {
        coverage::check(&talks).map(drop).map_err(Failed::from)
    }));
    trials
}

/// All talks below a folder, and what is wrong with the rest.
fn load(root: &Path) -> (Vec<Talk>, Vec<String>) {
    let mut files = Vec::new();
    find(root, &mut files);
    files.sort();
    let (mut talks, mut broken) = (Vec::new(), Vec::new());
    for file in files {
        match Talk::read(root, &file) {
            Ok(read) => talks.extend(read),
            Err(error) => broken.push(error.to_string()),
        }
    }
    (talks, broken)
}

fn find(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "talk") {
            into.push(path);
        }
    }
}

fn trial(talk: &Talk, binding: Binding) -> Trial {
    let role = match talk.role {
        TalkRole::Client => "client",
        TalkRole::Server => "server",
    };
    let name = format!("{} [{} {role} {}]", talk.name, talk.revision, binding.name());
    let talk = Arc::new(talk.clone());
    Trial::test(name, move || block_on(runner::run(&talk, binding)).map_err(Failed::from))
}
