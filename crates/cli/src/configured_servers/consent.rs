//! Consent screen of `approve`, `import` and calls of changed tools.
//!
//! Invariant: the lines are those of [`ConsentScreen`], complete and unaltered; only marks and colors are added.

use switchboard::host::DefinitionChange;
use switchboard::host::config::{ConsentLine, ConsentScreen, Scope, ServerConfig};

use crate::environment::variable;
use crate::error::CommandError;
use crate::output::OutputStream;
use crate::sanitize::one_line;

/// Maximum size on a terminal: the end of a longer screen could go unread.
const MAX_ON_TERMINAL: usize = 256 * 1024;

/// Renders what a server would run or connect to; as a diff if an earlier configuration was approved.
///
/// # Errors
/// Returns an error if the text is too long for a terminal.
pub(crate) fn render_consent(
    config: &ServerConfig,
    scope: Scope,
    before: Option<&ConsentScreen>,
    out: &OutputStream,
) -> Result<String, CommandError> {
    let mut text = render(&ConsentScreen::of_server(config), before, out);
    for name in config.variables() {
        let is_set =
            if variable(&name).is_some() { "is set, and its value would be passed" } else { "is not set" };
        text += &format!("    ${{{}}} {is_set}\n", one_line(&name));
    }
    for caution in config.risk_warnings(scope) {
        text += &format!("{} {}\n", out.yellow("  look:"), one_line(&caution.to_string()));
    }
    check_length(text, "its configuration", out)
}

/// Renders a changed tool definition: a diff if the pinned text was kept, else the current definition.
///
/// # Errors
/// Returns an error if the text is too long for a terminal.
pub(crate) fn render_changed_definition(
    name: &str,
    change: &DefinitionChange,
    out: &OutputStream,
) -> Result<String, CommandError> {
    const LABEL: &str = "  look:";
    let name = out.bold(&one_line(name));
    let title = match change.before {
        Some(_) => format!("{name} has changed since it was first seen (- before, + now):"),
        None => format!("{name} has changed since it was first seen, and is now:"),
    };
    let note = match &change.before {
        None => Some("the text of its former definition was not kept, only a digest"),
        Some(before) if *before == change.now => {
            Some("only white space has changed, in a schema with a duplicate key")
        }
        Some(_) => None,
    };
    let note = note.map(|note| format!("{} {note}\n", out.yellow(LABEL))).unwrap_or_default();
    let text = render(&change.now, change.before.as_ref(), out);
    check_length(format!("\n{title}\n{text}{note}"), "its definition", out)
}

/// Renders the lines of a consent screen, as a diff if there is an earlier one.
fn render(now: &ConsentScreen, before: Option<&ConsentScreen>, out: &OutputStream) -> String {
    let changes = match before {
        Some(before) => now.diff(before),
        None => now.lines().iter().map(|line| ConsentLine::Same(line)).collect(),
    };
    let mut text = String::new();
    for change in changes {
        text += &match change {
            ConsentLine::Same(line) => format!("    {line}\n"),
            ConsentLine::Before(line) => format!("{}\n", out.red(&format!("  - {line}"))),
            ConsentLine::Now(line) => format!("{}\n", out.green(&format!("  + {line}"))),
        };
    }
    text
}

fn check_length(text: String, what: &str, out: &OutputStream) -> Result<String, CommandError> {
    match out.is_terminal && text.len() > MAX_ON_TERMINAL {
        true => {
            let message = format!("{what} is too long to review at a terminal");
            Err(CommandError::other("too_long", message)
                .hint("redirect the output to a file, review it there, then pass --yes"))
        }
        false => Ok(text),
    }
}
