//! The instructions of a view: those of its servers, each under its name, within limits.

use switchboard_session::server::Caller;

use crate::view::InstructionsDocument;
use crate::view_state::ViewState;

/// The longest text of one server, in bytes.
const MAX_OF_SERVER: usize = 4 * 1024;
/// The longest text of all, in bytes.
const MAX_OF_ALL: usize = 16 * 1024;

/// Composes the instructions of a view for a caller: its own text, and that of each server that the caller may use.
pub(crate) fn compose(view: &ViewState, caller: Option<&Caller>) -> Option<String> {
    let rules = view.rules();
    let own = match &rules.instructions {
        Some(InstructionsDocument::Replace(text)) => {
            return Some(text.clone()).filter(|text| !text.is_empty());
        }
        Some(InstructionsDocument::Add(text)) => Some(text.as_str()),
        None => view.gateway.options.instructions.as_deref(),
    };
    let exposed = view.exposed();
    let filter = view.gateway.access.list_filter(view.subject(caller));
    let reachable = exposed.reachable_servers(filter.as_ref());
    let of_servers = view.gateway.host.instructions();
    let shown = of_servers.iter().filter(|said| reachable.contains(&*said.server));
    join(own, shown.map(|said| (&*said.server, said.item.as_str())))
}

fn join<'a>(own: Option<&str>, of_servers: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut text = shortened(own.unwrap_or_default().trim(), MAX_OF_ALL).to_owned();
    for (server, said) in of_servers {
        let said = shortened(said.trim(), MAX_OF_SERVER);
        let heading = format!("{}# {server}\n\n", if text.is_empty() { "" } else { "\n\n" });
        if said.is_empty() || text.len() + heading.len() + said.len() > MAX_OF_ALL {
            continue;
        }
        text.push_str(&heading);
        text.push_str(said);
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the beginning of a text that is too long.
fn shortened(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_composed_within_limits() {
        assert_eq!(join(None, [("a", " ")].into_iter()), None);
        assert_eq!(join(Some("Own."), [("a", "One.")].into_iter()).unwrap(), "Own.\n\n# a\n\nOne.");
        let long = "é".repeat(MAX_OF_SERVER);
        let many = (0..10).map(|_| ("server", long.as_str()));
        let text = join(None, many).unwrap();
        assert!(text.len() <= MAX_OF_ALL && text.len() > MAX_OF_ALL / 2, "{}", text.len());
    }
}
