//! The types of the page are those of the contract.

use std::fs;

use crate::type_script::{KnownTypes, declarations};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/contract/");
const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page/src/api/types.ts");
const UPDATE: &str = "UPDATE_CONSOLE_TYPES";

/// The files of the contract, in the order of the page.
const FILES: [&str; 13] = [
    "scalars",
    "console",
    "servers",
    "catalog",
    "calls",
    "questions",
    "traffic",
    "logins",
    "policy",
    "gateway",
    "add",
    "error",
    "event",
];

const HEADER: &str = "\
// The contract between the page and its server: snapshots, requests and events.
//
// Generated from crates/console/src/contract; UPDATE_CONSOLE_TYPES=1 cargo test -p switchboard-mcp-console --test it
// page_types writes it. A member that may be missing is `null`, never absent.

";

#[test]
fn the_types_of_the_page_are_those_of_the_contract() {
    let mut known = KnownTypes::default();
    let mut text = HEADER.to_owned();
    for file in FILES {
        let source = fs::read_to_string(format!("{FOLDER}{file}.rs")).unwrap();
        let title = source.lines().next().unwrap().trim_start_matches("//! ");
        text += &format!("// {title}\n\n{}", declarations(&source, &mut known));
    }
    assert_eq!(known.undeclared(), Vec::<&String>::new(), "types without a declaration");
    let text = text.trim_end().to_owned() + "\n";
    if std::env::var_os(UPDATE).is_some() {
        fs::write(TYPES, &text).unwrap();
    }
    let written = fs::read_to_string(TYPES).unwrap();
    let differing = written.lines().zip(text.lines()).find(|(written, expected)| written != expected);
    assert!(
        written == text,
        "page/src/api/types.ts differs from the contract, first at {differing:?}\n\
         run `{UPDATE}=1 cargo test -p switchboard-mcp-console --test it page_types`, and rebuild the page",
    );
}

#[test]
fn every_file_of_the_contract_is_listed() {
    let files = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.map(|name| name.trim_end_matches(".rs").to_owned()).collect();
    names.retain(|name| name != "mod");
    names.sort();
    let mut listed = FILES.map(str::to_owned);
    listed.sort();
    assert_eq!(names, listed);
}
