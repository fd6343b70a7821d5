//! The consent screen at the terminal: what `approve` and `import` show before somebody agrees.
//!
//! Invariant: the lines are those of [`Consent`], whole and unaltered; only marks and colours are added.

use switchboard::host::config::{Consent, ConsentChange, Scope, ServerConfig};

use crate::environment::variable;
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::sanitize::one_line;

/// More than anybody reads at a terminal; beyond it the end could go unseen.
const LONGEST: usize = 256 * 1024;

/// What a server would run or reach: as a diff where an earlier configuration was approved.
///
/// # Errors
/// When it is too long to be read at a terminal.
pub(crate) fn consent(
    config: &ServerConfig,
    scope: Scope,
    before: Option<&Consent>,
    paper: &Paper,
) -> Result<String, Failure> {
    let now = Consent::of(config);
    let changes = match before {
        Some(before) => now.diff(before),
        None => now.lines().iter().map(|line| ConsentChange::Same(line)).collect(),
    };
    let mut text = String::new();
    for change in changes {
        text += &match change {
            ConsentChange::Same(line) => format!("    {line}\n"),
            ConsentChange::Before(line) => format!("{}\n", paper.red(&format!("  - {line}"))),
            ConsentChange::Now(line) => format!("{}\n", paper.green(&format!("  + {line}"))),
        };
    }
    for name in config.variables() {
        let is_set =
            if variable(&name).is_some() { "is set, and it would be given its value" } else { "is not set" };
        text += &format!("    ${{{}}} {is_set}\n", one_line(&name));
    }
    for caution in config.cautions(scope) {
        text += &format!("{} {}\n", paper.yellow("  look:"), one_line(&caution.to_string()));
    }
    match paper.is_terminal && text.len() > LONGEST {
        true => Err(Failure::new(
            Status::Other,
            "too_long",
            "its configuration is too long to be read at a terminal",
        )
        .hint("send the output to a file, read it there, then give --yes")),
        false => Ok(text),
    }
}
