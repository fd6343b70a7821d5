//! The consent screen at the terminal: what `approve`, `import` and a call of a changed tool show before somebody agrees.
//!
//! Invariant: the lines are those of [`ConsentScreen`], whole and unaltered; only marks and colours are added.

use switchboard::host::DefinitionChange;
use switchboard::host::config::{ConsentLine, ConsentScreen, Scope, ServerConfig};

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
    before: Option<&ConsentScreen>,
    paper: &Paper,
) -> Result<String, Failure> {
    let mut text = render(&ConsentScreen::of_server(config), before, paper);
    for name in config.variables() {
        let is_set =
            if variable(&name).is_some() { "is set, and it would be given its value" } else { "is not set" };
        text += &format!("    ${{{}}} {is_set}\n", one_line(&name));
    }
    for caution in config.risk_warnings(scope) {
        text += &format!("{} {}\n", paper.yellow("  look:"), one_line(&caution.to_string()));
    }
    bounded(text, "its configuration", paper)
}

/// Renders a changed tool definition: a diff if the pinned text was kept, else the current definition.
///
/// # Errors
/// When it is too long to be read at a terminal.
pub(crate) fn changed_definition(
    name: &str,
    change: &DefinitionChange,
    paper: &Paper,
) -> Result<String, Failure> {
    const LOOK: &str = "  look:";
    let name = paper.bold(&one_line(name));
    let title = match change.before {
        Some(_) => format!("{name} has changed since it was first seen (- before, + now):"),
        None => format!("{name} has changed since it was first seen, and is now:"),
    };
    let note = match &change.before {
        None => Some("its former definition was not kept, only a digest of it"),
        Some(before) if *before == change.now => {
            Some("only white space has changed, in a schema with a key twice")
        }
        Some(_) => None,
    };
    let note = note.map(|note| format!("{} {note}\n", paper.yellow(LOOK))).unwrap_or_default();
    let text = render(&change.now, change.before.as_ref(), paper);
    bounded(format!("\n{title}\n{text}{note}"), "its definition", paper)
}

/// The lines of a screen, marked where they differ from an earlier one.
fn render(now: &ConsentScreen, before: Option<&ConsentScreen>, paper: &Paper) -> String {
    let changes = match before {
        Some(before) => now.diff(before),
        None => now.lines().iter().map(|line| ConsentLine::Same(line)).collect(),
    };
    let mut text = String::new();
    for change in changes {
        text += &match change {
            ConsentLine::Same(line) => format!("    {line}\n"),
            ConsentLine::Before(line) => format!("{}\n", paper.red(&format!("  - {line}"))),
            ConsentLine::Now(line) => format!("{}\n", paper.green(&format!("  + {line}"))),
        };
    }
    text
}

fn bounded(text: String, what: &str, paper: &Paper) -> Result<String, Failure> {
    match paper.is_terminal && text.len() > LONGEST {
        true => {
            let told = format!("{what} is too long to be read at a terminal");
            Err(Failure::new(Status::Other, "too_long", told)
                .hint("send the output to a file, read it there, then give --yes"))
        }
        false => Ok(text),
    }
}
