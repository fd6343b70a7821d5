//! The rules that no compiler knows. Few and cheap; each says what to do instead.
//!
//! | rule | where |
//! |---|---|
//! | a revision is named, and an era told apart, only at the seam | `seam` |
//! | no branching on the text of an error | `wording` |
//! | every source file opens with `//!`, and its name is an address | `files` |
//! | every crate has its place in ARCHITECTURE.md, and every file named there exists | `files` |
//! | examples import from the façade | `examples` |
//! | every finding of a trial has its test or its sentence | `findings` |
//! | no `#[test]` where a program has its own harness | `harness` |
//! | the top-level modules of a crate form no cycle | `layers` |
//! | no path of one machine, no download host of a package registry | `places` |
//!
//! Sizes are printed to be looked at and never fail: splitting by line count makes worse code than a long honest
//! file (`sizes`).

mod examples;
mod files;
mod findings;
mod harness;
mod layers;
mod places;
mod seam;
mod sizes;
mod source;
mod tree;
mod wording;

use std::fmt;

pub(crate) use self::source::function_lines;

use self::source::Source;
use self::tree::Tree;
use crate::command::Failure;
use crate::project::Project;

/// One place that breaks a rule.
#[derive(Debug, PartialEq)]
struct Finding {
    path: String,
    line: usize,
    /// What is wrong and what to do.
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Checks every file that git tracks or would.
pub(crate) fn run(project: &Project) -> Result<(), Failure> {
    let tree = Tree::read(&project.root)?;
    let report = check(&tree);
    for note in &report.notes {
        println!("note: {note}");
    }
    for finding in &report.findings {
        println!("{finding}");
    }
    println!("{} files looked at, {} findings", tree.files.len(), report.findings.len());
    match report.findings.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("tidy: {count} findings, listed above"))),
    }
}

#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
    /// To be looked at, or not checked and why.
    notes: Vec<String>,
}

fn check(tree: &Tree) -> Report {
    let mut report = Report::default();
    for file in &tree.files {
        report.findings.extend(places::check(file));
        if file.is_rust() {
            let source = Source::new(file);
            report.findings.extend(examples::check(file));
            report.findings.extend(files::check(file));
            report.findings.extend(seam::check(&source));
            report.findings.extend(wording::check(&source));
            report.notes.extend(sizes::look(&source));
        }
    }
    match files::check_architecture(tree) {
        Some(findings) => report.findings.extend(findings),
        None => report.notes.push("there is no ARCHITECTURE.md yet, so no crate was looked up in it".into()),
    }
    report.findings.extend(files::check_named_files(tree));
    report.findings.extend(harness::check(tree));
    report.findings.extend(layers::check(tree));
    if let Some((findings, notes)) = findings::check(tree) {
        report.findings.extend(findings);
        report.notes.extend(notes);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    #[test]
    fn a_report_names_file_line_and_remedy() {
        let tree = Tree {
            files: vec![
                File::new("crates/host/src/lib.rs", "//! Host.\nfn f(e: Era) -> bool { e == Era::Modern }\n"),
                File::new("README.md", "See crates/host.\n"),
            ],
        };
        let report = check(&tree);
        let lines: Vec<String> = report.findings.iter().map(Finding::to_string).collect();
        assert_eq!(
            lines,
            ["crates/host/src/lib.rs:2: `Era::` outside the seam; ask the session for the behaviour, \
              or move this to crates/session/src/era"]
        );
        assert_eq!(report.notes, ["there is no ARCHITECTURE.md yet, so no crate was looked up in it"]);
    }
}
