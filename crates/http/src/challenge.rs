//! Lenient parser of the `WWW-Authenticate` header of 401 and 403 responses.
//!
//! Invariants: no input makes it fail or panic, unreadable parts are skipped; at most sixteen challenges and
//! 16 KiB are parsed. Knows the grammar of RFC 9110, 11.6.1, and the names of RFC 6750 and RFC 9728.

use http::header::{HeaderMap, WWW_AUTHENTICATE};

/// The maximum number of header bytes that are parsed.
const MAX_BYTES: usize = 16 * 1024;
const MAX_CHALLENGES: usize = 16;
const MAX_PARAMETERS: usize = 32;

/// One challenge of a server.
///
/// ```
/// use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
/// use switchboard::transport::http_client::Challenge;
///
/// let mut headers = HeaderMap::new();
/// let value = r#"Bearer error="invalid_token", resource_metadata="https://a.example/meta", scope="read write""#;
/// headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(value));
/// let challenge = Challenge::from_headers(&headers).into_iter().find(Challenge::is_bearer).unwrap();
/// assert_eq!(challenge.resource_metadata.as_deref(), Some("https://a.example/meta"));
/// assert_eq!(challenge.scope.as_deref(), Some("read write"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Challenge {
    /// The scheme as written, like `Bearer`.
    pub scheme: String,
    /// The protection space.
    pub realm: Option<String>,
    /// The URL of the metadata of the protected resource (RFC 9728). As the server sent it, not validated.
    pub resource_metadata: Option<String>,
    /// The required scopes, separated by spaces.
    pub scope: Option<String>,
    /// The error code, like `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
    /// The description of the error.
    pub error_description: Option<String>,
}

impl Challenge {
    /// Parses all challenges of a response, in order.
    pub fn from_headers(headers: &HeaderMap) -> Vec<Self> {
        let mut challenges = Vec::new();
        let mut room = MAX_BYTES;
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let bytes = &value.as_bytes()[..value.len().min(room)];
            room -= bytes.len();
            // Non-ASCII bytes are valid in quoted strings only; all names are ASCII.
            ChallengeParser { rest: &String::from_utf8_lossy(bytes) }.parse_into(&mut challenges);
        }
        challenges
    }

    /// Returns whether the scheme is `Bearer`.
    pub fn is_bearer(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("bearer")
    }

    /// Returns whether the token is valid but lacks scopes.
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    fn new(scheme: &str) -> Self {
        Self { scheme: scheme.to_owned(), ..Self::default() }
    }

    /// Sets a parameter. The first of several with one name counts.
    fn set(&mut self, name: &str, value: String) {
        let field = match name.to_ascii_lowercase().as_str() {
            "realm" => &mut self.realm,
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            "error_description" => &mut self.error_description,
            _ => return,
        };
        field.get_or_insert(value);
    }
}

struct ChallengeParser<'a> {
    rest: &'a str,
}

impl<'a> ChallengeParser<'a> {
    /// Parses all challenges. Each iteration consumes at least one character, so it terminates.
    fn parse_into(&mut self, challenges: &mut Vec<Challenge>) {
        let before = challenges.len();
        let mut parameters = 0;
        let mut after_scheme = false;
        loop {
            after_scheme &= !self.rest.starts_with(',');
            self.skip(|c| c == ',' || c.is_ascii_whitespace());
            if self.rest.is_empty() {
                return;
            }
            let word = self.token();
            if word.is_empty() {
                self.skip_one();
                continue;
            }
            self.skip(|c| c == ' ' || c == '\t');
            if challenges.len() > before && self.rest.starts_with('=') {
                self.skip_one();
                self.skip(|c| c == ' ' || c == '\t');
                let value = self.value();
                parameters += 1;
                if let (Some(challenge), Some(value)) = (challenges.last_mut(), value)
                    && parameters <= MAX_PARAMETERS
                {
                    challenge.set(word, value);
                }
                after_scheme = false;
            } else if after_scheme {
                // Not a parameter: the one opaque word some schemes have instead, which nobody here reads.
                self.skip(|c| c != ',');
            } else if challenges.len() < MAX_CHALLENGES {
                challenges.push(Challenge::new(word));
                parameters = 0;
                after_scheme = true;
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !is_tchar(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        token
    }

    fn value(&mut self) -> Option<String> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            // Some servers leave out the quotes around an address, so this takes more than a token.
            let end = self.rest.find([',', ' ', '\t', '"']).unwrap_or(self.rest.len());
            let (value, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Some(value.to_owned()).filter(|value| !value.is_empty());
        };
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = &quoted[at + 1..];
                    return Some(value);
                }
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => value.push(c),
            }
        }
        // Never closed: what follows cannot be told apart from the string, and neither is used.
        self.rest = "";
        None
    }

    fn skip(&mut self, which: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(which);
    }

    fn skip_one(&mut self) {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
    }
}

fn is_tchar(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn read(values: &[&str]) -> Vec<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Challenge::from_headers(&headers)
    }

    /// Scheme, and the fields in the order of the struct.
    fn row(challenge: &Challenge) -> String {
        let Challenge { scheme, realm, resource_metadata, scope, error, error_description } = challenge;
        let fields = [realm, resource_metadata, scope, error, error_description];
        let fields: Vec<&str> = fields.into_iter().map(|field| field.as_deref().unwrap_or("-")).collect();
        format!("{scheme}: {}", fields.join(" | "))
    }

    #[test]
    fn challenges_as_servers_write_them() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["Bearer"], &["Bearer: - | - | - | - | -"]),
            (&[r#"Bearer realm="a b""#], &["Bearer: a b | - | - | - | -"]),
            (
                &[r#"bearer scope="x y",error="insufficient_scope" , error_description="more, please""#],
                &["bearer: - | - | x y | insufficient_scope | more, please"],
            ),
            (
                &[r#"Bearer resource_metadata="https://a/b?c=d,e=f""#],
                &["Bearer: - | https://a/b?c=d,e=f | - | - | -"],
            ),
            (&["Bearer resource_metadata=https://a/b, scope=x"], &["Bearer: - | https://a/b | x | - | -"]),
            (&[r#"Bearer realm="q \"in\" \\ q""#], &[r#"Bearer: q "in" \ q | - | - | - | -"#]),
            (
                &[r#"Basic realm="one", Bearer realm="two", Digest nonce="n", realm="three""#],
                &[
                    "Basic: one | - | - | - | -",
                    "Bearer: two | - | - | - | -",
                    "Digest: three | - | - | - | -",
                ],
            ),
            (
                &["Negotiate", "Bearer scope=a"],
                &["Negotiate: - | - | - | - | -", "Bearer: - | - | a | - | -"],
            ),
            (
                &["Negotiate abc==, Bearer scope=a"],
                &["Negotiate: - | - | - | - | -", "Bearer: - | - | a | - | -"],
            ),
            (
                &["Negotiate a/b+c, Bearer scope=a"],
                &["Negotiate: - | - | - | - | -", "Bearer: - | - | a | - | -"],
            ),
            (&[r#"Bearer scope="first", scope="second""#], &["Bearer: - | - | first | - | -"]),
            (&[r#"Bearer SCOPE = "x""#], &["Bearer: - | - | x | - | -"]),
            (
                &[r#"Bearer realm="never closed, scope="x""#],
                &["Bearer: never closed, scope= | - | - | - | -", "x: - | - | - | - | -"],
            ),
            (&[r#"Bearer scope="x", realm="open"#], &["Bearer: - | - | x | - | -"]),
            (&[r#"Bearer realm="""#], &["Bearer:  | - | - | - | -"]),
            (&[", ,Bearer,,scope=x"], &["Bearer: - | - | x | - | -"]),
            (&["", "==", "\"\"", "\u{e9}"], &[]),
        ];
        for (values, rows) in cases {
            let got: Vec<String> = read(values).iter().map(row).collect();
            assert_eq!(got, *rows, "{values:?}");
        }
    }

    #[test]
    fn floods_are_bounded() {
        assert_eq!(read(&["a, ".repeat(5_000).as_str()]).len(), MAX_CHALLENGES);
        let long = format!("Bearer realm=\"{}\"", "x".repeat(1 << 20));
        assert_eq!(read(&[&long, "Bearer"]).len(), 1);
        let many = format!("Bearer {} scope=late", "a=b, ".repeat(100));
        assert_eq!(read(&[&many])[0].scope, None);
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(bytes in proptest::collection::vec(0u8.., 0..200)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let mut headers = HeaderMap::new();
                headers.append(WWW_AUTHENTICATE, value);
                prop_assert!(Challenge::from_headers(&headers).len() <= MAX_CHALLENGES);
            }
        }

        #[test]
        fn header_like_text_is_read_without_panic(text in r#"[a-zB =",\\\t]{0,80}"#) {
            let _ = read(&[&text]);
        }

        #[test]
        fn a_printed_challenge_is_read_back(scope in "[a-z:/]{1,12}( [a-z:/]{1,12}){0,3}", words in r#"[ -~]{0,40}"#) {
            let quoted = words.replace('\\', r"\\").replace('"', r#"\""#);
            let text = format!(r#"Basic realm="x", Bearer scope="{scope}", error_description="{quoted}""#);
            let found = read(&[&text]);
            prop_assert_eq!(found.len(), 2);
            prop_assert_eq!(found[1].scope.as_deref(), Some(scope.as_str()));
            prop_assert_eq!(found[1].error_description.as_deref(), Some(words.as_str()));
        }
    }
}
