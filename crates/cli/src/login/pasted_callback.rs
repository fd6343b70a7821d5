//! Reads what a user pastes instead of a callback that arrived by itself.
//!
//! Invariant: a code is used only together with the `state` of its login. A code alone could come from a login that
//! somebody else started, and nothing in it tells; so it is not accepted.

/// What a user pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PastedCallback {
    /// The URL or query of a callback. `state` and issuer are still to be checked.
    Callback(String),
    /// A callback of another login.
    OtherLogin,
    /// A code without `state`.
    CodeOnly,
    /// Something else.
    Unrecognized,
}

impl PastedCallback {
    /// Parses a pasted line for the login with this authorization URL: the address of a callback, its query, or
    /// `CODE#STATE` as some login pages show it.
    pub(crate) fn parse(line: &str, authorization_url: &str) -> Self {
        let line = line.trim().trim_matches(['"', '\'', '<', '>']);
        let expected = parameter(authorization_url, "state");
        if line.is_empty() || line.chars().any(char::is_whitespace) {
            return Self::Unrecognized;
        }
        let callback = match line.split_once('#') {
            _ if parameter(line, "state").is_some() => line.to_owned(),
            Some((code, state)) if is_code(code) && is_code(state) => format!("?code={code}&state={state}"),
            _ if parameter(line, "code").is_some() || is_code(line) => return Self::CodeOnly,
            _ => return Self::Unrecognized,
        };
        match parameter(&callback, "state") == expected {
            true => Self::Callback(callback),
            false => Self::OtherLogin,
        }
    }
}

/// Returns a parameter of the query of a URL, or of a query alone, as it is written.
fn parameter<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let query = url.split_once('?').map_or(url, |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Returns whether a text may be a code: characters that need no encoding in a query, and not a URL.
fn is_code(text: &str) -> bool {
    let is_allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | '%' | '/' | '+');
    text.len() >= 4 && !text.contains("://") && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_only_with_the_state_of_its_login() {
        let login = "https://as.example/authorize?client_id=c&state=s1%2Bx&code_challenge=h";
        let parse = |line: &str| PastedCallback::parse(line, login);
        let callback = |text: &str| PastedCallback::Callback(text.to_owned());
        let url = "http://127.0.0.1:5000/callback?code=c0de&state=s1%2Bx&iss=https%3A%2F%2Fas.example";
        assert_eq!(parse(url), callback(url));
        assert_eq!(parse(&format!("  \"{url}\" ")), callback(url));
        assert_eq!(parse("code=c0de&state=s1%2Bx"), callback("code=c0de&state=s1%2Bx"));
        assert_eq!(parse("c0de#s1%2Bx"), callback("?code=c0de&state=s1%2Bx"));
        assert_eq!(parse("error=access_denied&state=s1%2Bx"), callback("error=access_denied&state=s1%2Bx"));
        for (line, expected) in [
            ("c0de", PastedCallback::CodeOnly),
            ("4/0AX4XfWh-code", PastedCallback::CodeOnly),
            ("http://127.0.0.1:5000/callback?code=c0de", PastedCallback::CodeOnly),
            ("http://127.0.0.1:5000/callback?code=c0de&state=s2", PastedCallback::OtherLogin),
            ("c0de#s2ab", PastedCallback::OtherLogin),
            ("https://as.example/login", PastedCallback::Unrecognized),
            ("not an address", PastedCallback::Unrecognized),
            ("", PastedCallback::Unrecognized),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
    }
}
