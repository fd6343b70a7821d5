//! The tools that every server has, and the texts that go over the wire.

use std::fmt::Write as _;

/// What `echo` is asked to say: 100 bytes that need no escaping.
pub const TEXT: &str =
    "The quick brown fox jumps over the lazy dog, then rests a while in the shade before it runs on home.";

/// A token of 1 kB for the resource `http://localhost/mcp`, valid until 2100; the key of its issuer is
/// [`TOKEN_KEY`].
pub const TOKEN: &str = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImJlbmNoIiwidHlwIjoiYXQrand0In0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUu\
    b3JnIiwiYXVkIjoiaHR0cDovL2xvY2FsaG9zdC9tY3AiLCJzdWIiOiJhZGEiLCJjbGllbnRfaWQiOiJiZW5jaCIsInNjb3BlIjoi\
    ZWNobzpyZWFkIGVjaG86d3JpdGUiLCJpYXQiOjE3OTAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMCwianRpIjoiMCIsImdyb3VwcyI6\
    ImdnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dn\
    Z2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2cifQ.JtjnhNGR4UYzBWSFTv4fAfcM8nhrjS9NdVWSZt4mKMU_ceOnwC6DcCsfUAztU\
    bjAl7Z1masY5p1VJbkjylkC4Q";

/// The public key of the issuer of [`TOKEN`], as a JWK.
pub const TOKEN_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"58a2dLqft5sH5I9yYWG173GaXjKXJ6O_DTKNWnZFdfs","y":"8wMnk5k1thOj0mEuAepyQc5nvzmkvMCsMsehV0BAk7M","kid":"bench","alg":"ES256"}"#;

/// How long the text of `big` is.
pub const BIG_BYTES: usize = 1024 * 1024;

/// The text of `big`: a line feed after every 79 letters, a quote in every line.
pub fn big() -> String {
    let letter = |at: usize| match at % 80 {
        79 => '\n',
        40 => '"',
        _ => char::from(b"abcdefghijklmnopqrstuvwxyz"[at % 26]),
    };
    (0..BIG_BYTES).map(letter).collect()
}

/// The definition of a tool.
#[derive(Debug, Clone)]
pub struct Definition {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: String,
}

/// The first tools of every server: `echo`, `big`, `usage` and as many more as it takes.
pub fn tools(count: usize) -> Vec<Definition> {
    let small = |name: &str, description: &str, schema: &str| Definition {
        name: name.into(),
        description: description.into(),
        schema: schema.into(),
    };
    let echo = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    let nothing = r#"{"type":"object","properties":{}}"#;
    let mut tools = vec![
        small("echo", "Says the text back.", echo),
        small("big", "Answers one text of 1 MiB.", nothing),
        small("usage", "Says what this process has used so far.", nothing),
    ];
    tools.extend((4..=count).map(large));
    tools
}

/// A definition of about 1,200 bytes, such as servers in use have.
fn large(number: usize) -> Definition {
    let mut properties = String::new();
    for (index, field) in ["owner", "repository", "path", "branch", "message", "labels"].iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(
            properties,
            r#"{comma}"{field}":{{"type":"string","description":"The {field} that tool {number} works on, as it is written in the address.","minLength":1}}"#
        );
    }
    let schema = format!(
        r#"{{"type":"object","properties":{{{properties},"page":{{"type":"integer","minimum":1,"default":1}}}},"required":["owner","repository"],"additionalProperties":false}}"#
    );
    let description = format!(
        "Looks up entry {number} of the catalogue and answers with all that is known of it. Use it when the user names the \
         entry by its owner and repository; ask first if either is missing. Answers nothing when there is no such entry."
    );
    Definition { name: format!("tool_{number:04}"), description, schema }
}

impl Definition {
    /// The definition as a server lists it.
    pub fn json(&self) -> String {
        let Self { name, description, schema } = self;
        format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{schema}}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_have_the_size_they_are_said_to_have() {
        assert_eq!(TEXT.len(), 100);
        let big = big();
        assert_eq!(big.len(), BIG_BYTES);
        let lines: Vec<&str> = big.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 79 || line.len() == 79));
        assert!(lines[..lines.len() - 1].iter().all(|line| line.contains('"')));
        assert!((1_150..1_250).contains(&tools(4)[3].json().len()), "{}", tools(4)[3].json().len());
        assert_eq!(tools(1000).len(), 1000);
    }
}
