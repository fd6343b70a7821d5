//! Project rules that the compiler does not check. Every finding says what to do instead.
//!
//! | rule | where |
//! |---|---|
//! | revisions and eras appear only at the era seam | `seam` |
//! | no branching on the text of an error | `wording` |
//! | every source file starts with `//!` and has a specific name | `files` |
//! | ARCHITECTURE.md describes every crate; files named there exist, in a crate's section in that crate | `files` |
//! | examples import from the façade | `examples` |
//! | every finding of a trial, and every row of login-breakage.txt, has its test or its sentence | `findings` |
//! | no `#[test]` where a program has its own harness | `harness` |
//! | the top-level modules of a crate form no cycle | `layers` |
//! | no type name in more than two files of the crates | `names` |
//! | no file, type or public function named by a word of the list in STYLE.md | `names` |
//! | no path of one machine, no download host of a package registry | `machine_paths` |
//!
//! Sizes (`sizes`) are printed for review and never fail: splitting files by line count makes worse code.

mod examples;
mod files;
mod findings;
mod harness;
mod layers;
mod machine_paths;
mod names;
mod seam;
mod sizes;
mod source;
mod tree;
mod wording;

use std::fmt;

pub(crate) use self::source::function_lines;

use self::source::Source;
use self::tree::Tree;
use crate::command::TaskError;
use crate::project::Project;

/// A violation of a rule.
#[derive(Debug, PartialEq)]
struct Finding {
    path: String,
    line: usize,
    /// The violation, and what to do.
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Checks every file that git tracks or would add.
pub(crate) fn run(project: &Project) -> Result<(), TaskError> {
    let tree = Tree::read(&project.root)?;
    let report = check(&tree);
    for note in &report.notes {
        println!("note: {note}");
    }
    for finding in &report.findings {
        println!("{finding}");
    }
    println!("{} files checked, {} findings", tree.files.len(), report.findings.len());
    match report.findings.len() {
        0 => Ok(()),
        count => Err(TaskError::new(format!("tidy: {count} findings, listed above"))),
    }
}

#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
    /// Remarks that do not fail.
    notes: Vec<String>,
}

/// Runs all rules.
fn check(tree: &Tree) -> Report {
    let mut report = Report::default();
    for file in &tree.files {
        report.findings.extend(machine_paths::check(file));
        if file.is_rust() {
            let source = Source::new(file);
            report.findings.extend(examples::check(file));
            report.findings.extend(files::check(file));
            report.findings.extend(seam::check(&source));
            report.findings.extend(wording::check(&source));
            report.notes.extend(sizes::check(&source));
        }
    }
    match files::check_architecture(tree) {
        Some(findings) => report.findings.extend(findings),
        None => report.notes.push("there is no ARCHITECTURE.md, so no crate was checked against it".into()),
    }
    report.findings.extend(files::check_named_files(tree));
    report.findings.extend(files::check_crate_sections(tree));
    report.findings.extend(harness::check(tree));
    report.findings.extend(layers::check(tree));
    report.findings.extend(names::check_repeated(tree));
    report.findings.extend(names::check_words(tree));
    let (findings, notes) = findings::check(tree);
    report.findings.extend(findings);
    report.notes.extend(notes);
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
                File::new("STYLE.md", "## Words that are not names\n```text\ntold\n```\n"),
            ],
        };
        let report = check(&tree);
        let lines: Vec<String> = report.findings.iter().map(Finding::to_string).collect();
        assert_eq!(
            lines,
            ["crates/host/src/lib.rs:2: `Era::` outside the seam; ask the session for the behavior, \
              or move this to crates/session/src/era"]
        );
        assert_eq!(report.notes, ["there is no ARCHITECTURE.md, so no crate was checked against it"]);
    }
}
