//! Examples in documentation import from the façade, the only dependency of a user.

use super::Finding;
use super::tree::File;

/// Crates behind the façade; their libraries are named `switchboard_` and one of these.
const CRATES: [&str; 9] =
    ["config", "design", "host", "http", "json", "protocol", "service", "session", "transport"];

pub(super) fn check(file: &File) -> Vec<Finding> {
    if !file.path.starts_with("crates/") {
        return Vec::new();
    }
    let mut in_example = false;
    let mut findings = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            in_example = false;
            continue;
        };
        if doc.trim_start().starts_with("```") {
            in_example = !in_example;
        }
        let part = CRATES.into_iter().find(|part| doc.contains(&format!("switchboard_{part}::")));
        if let Some(part) = part.filter(|_| in_example) {
            let module = match part {
                "config" => "host::config",
                "design" => "service::design",
                "http" => "transport::http_client",
                "json" => "protocol",
                "session" => "client` or `switchboard::server",
                part => part,
            };
            findings.push(Finding {
                path: file.path.clone(),
                line: number + 1,
                what: format!(
                    "an example imports `switchboard_{part}`; a user writes `switchboard::{module}`"
                ),
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let file = File::new("crates/session/src/lib.rs", text);
        check(&file).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn v9_an_example_that_imports_a_part_is_found() {
        assert_eq!(lines("//! ```\n//! use switchboard_session::Client;\n//! ```\n"), [2]);
        assert_eq!(lines("/// ```no_run\n/// # switchboard_host::Host::new();\n/// ```\n"), [2]);
    }

    #[test]
    fn v9_links_code_and_the_facade_are_allowed() {
        let link = "/// See [`RequestContext`](switchboard_session::server::RequestContext).\nuse switchboard_session::Client;\n";
        assert_eq!(lines(link), [0; 0]);
        assert_eq!(lines("//! ```\n//! use switchboard::session::Client;\n//! ```\n"), [0; 0]);
    }
}
