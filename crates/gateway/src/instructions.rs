//! The instructions of the gateway: those of all servers, each under its name, within limits.

use switchboard_host::Host;

/// The longest text of one server, in bytes.
const MAX_OF_SERVER: usize = 4 * 1024;
/// The longest text of all, in bytes.
const MAX_OF_ALL: usize = 16 * 1024;

/// Composes the instructions of all servers that have any.
pub(crate) fn compose(own: Option<&str>, host: &Host) -> Option<String> {
    let of_servers = host.instructions();
    join(own, of_servers.iter().map(|said| (&*said.server, said.item.as_str())))
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
