//! Revisions and eras are matched in two places; everywhere else they are opaque values.

use super::Finding;
use super::source::{Source, words};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const TYPES: [&str; 2] = ["Era::", "Revision::V"];

/// Folders of the seam.
const SEAM: [&str; 2] = ["crates/protocol/src/", "crates/session/src/era/"];

/// The HTTP transport differs by revision before there is a session: the required headers, and the endpoint of a request.
const HTTP: [&str; 2] = ["crates/transport/src/http/client", "crates/transport/src/http/server/service.rs"];

/// Checks the crates only: peers, benchmarks and tasks may name revisions.
pub(super) fn check(source: &Source<'_>) -> Vec<Finding> {
    let path = source.file.path.as_str();
    if !path.starts_with("crates/") || SEAM.iter().chain(&HTTP).any(|start| path.starts_with(start)) {
        return Vec::new();
    }
    let dates = REVISIONS.iter().flat_map(|date| source.code.match_indices(date));
    let types = TYPES.iter().flat_map(|name| words(&source.bare, name).map(move |at| (at, *name)));
    let mut found: Vec<_> = dates.chain(types).filter(|(at, _)| !source.is_test(*at)).collect();
    found.sort_unstable();
    found.into_iter().map(|(at, what)| source.finding(at, remedy(what))).collect()
}

fn remedy(what: &str) -> String {
    let instead = match TYPES.contains(&what) {
        true => "ask the session for the behavior",
        false => "parse what the user gave, or ask switchboard-protocol for the value",
    };
    format!("`{what}` outside the seam; {instead}, or move this to crates/session/src/era")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let file = File::new(path, text);
        check(&Source::new(&file)).into_iter().map(|finding| finding.line).collect()
    }

    const TEXT: &str = "\
//! Since 2025-11-25, Era::Modern.
const A: &str = \"2025-11-25\"; // 2026-07-28
fn a() { match e { Era::Modern => Revision::V2026_07_28, LegacyEra::A => 0 } }
#[cfg(test)]
mod tests { const B: &str = \"2025-11-25\"; }
";

    #[test]
    fn code_outside_the_seam_names_no_revision() {
        assert_eq!(lines("crates/host/src/a.rs", TEXT), [2, 3, 3]);
        assert_eq!(lines("crates/cli/src/main.rs", TEXT), [2, 3, 3]);
        assert_eq!(lines("crates/session/src/erase.rs", TEXT), [2, 3, 3]);
        assert_eq!(lines("crates/transport/src/http/server/mod.rs", TEXT), [2, 3, 3]);
    }

    #[test]
    fn the_seam_the_http_transport_and_tests_may_name_revisions() {
        for path in [
            "crates/protocol/src/revision.rs",
            "crates/session/src/era/modern.rs",
            "crates/session/tests/it/eras.rs",
            "crates/session/src/era/tests.rs",
            "crates/transport/src/http/client.rs",
            "crates/transport/src/http/client/post.rs",
            "crates/transport/src/http/server/service.rs",
            "xtask/src/tidy/seam.rs",
        ] {
            assert_eq!(lines(path, TEXT), [0; 0], "{path}");
        }
    }
}
