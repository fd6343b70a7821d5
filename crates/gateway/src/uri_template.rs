//! URI templates (RFC 6570), matched backwards: whether a URI can be an expansion of a template.
//!
//! The answer decides which server is asked, not what it does; the server matches again.

/// A template, parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Expression(Operator),
}

/// The operator of an expression, by what its expansion looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `{x}`: one or more characters of a path segment.
    Simple,
    /// `{+x}`: one or more characters of any kind.
    Reserved,
    /// Empty, or this character and then any up to `?` and `#`: `{#x}`, `{.x}`, `{/x}`, `{;x}`, `{?x}`, `{&x}`.
    Optional(u8),
}

/// The longest URI that is matched, in bytes.
const MAX_URI: usize = 8 * 1024;

impl UriTemplate {
    /// Parses a template; `None` when its braces are not balanced.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (literal, expression) = rest.split_at(open);
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let (inside, after) = expression.strip_prefix('{')?.split_once('}')?;
            if inside.contains('{') {
                return None;
            }
            parts.push(Part::Expression(match inside.as_bytes().first()? {
                b'+' => Operator::Reserved,
                operator @ (b'#' | b'.' | b'/' | b';' | b'?' | b'&') => Operator::Optional(*operator),
                _ => Operator::Simple,
            }));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Some(Self { parts })
    }

    /// Returns whether all expansions have the same scheme.
    pub(crate) fn has_scheme(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Literal(text)) if text.contains(':'))
    }

    /// Returns whether a URI can be an expansion. Linear in the length of the URI for each part.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        let begins_otherwise =
            matches!(self.parts.first(), Some(Part::Literal(text)) if !uri.starts_with(text.as_str()));
        if uri.len() > MAX_URI || begins_otherwise {
            return false;
        }
        let bytes = uri.as_bytes();
        // The positions that the parts so far can end at.
        let mut ends = vec![false; bytes.len() + 1];
        ends[0] = true;
        for part in &self.parts {
            ends = match part {
                Part::Literal(text) => after_literal(bytes, &ends, text.as_bytes()),
                Part::Expression(operator) => after_expression(bytes, &ends, *operator),
            };
        }
        ends[bytes.len()]
    }
}

fn after_literal(bytes: &[u8], starts: &[bool], literal: &[u8]) -> Vec<bool> {
    let mut ends = vec![false; starts.len()];
    for (at, _) in starts.iter().enumerate().filter(|(_, is_start)| **is_start) {
        if bytes[at..].starts_with(literal) {
            ends[at + literal.len()] = true;
        }
    }
    ends
}

fn after_expression(bytes: &[u8], starts: &[bool], operator: Operator) -> Vec<bool> {
    let mut ends = match operator {
        Operator::Optional(_) => starts.to_vec(),
        Operator::Simple | Operator::Reserved => vec![false; starts.len()],
    };
    // Whether an expansion that began earlier includes the byte before.
    let mut is_inside = false;
    for (at, byte) in bytes.iter().enumerate() {
        is_inside = match operator {
            Operator::Simple => (is_inside || starts[at]) && !matches!(byte, b'/' | b'?' | b'#'),
            Operator::Reserved => is_inside || starts[at],
            Operator::Optional(b'#') => is_inside || (starts[at] && *byte == b'#'),
            Operator::Optional(first) => {
                (is_inside && !matches!(byte, b'?' | b'#')) || (starts[at] && *byte == first)
            }
        };
        ends[at + 1] |= is_inside;
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(template: &str, uri: &str) -> bool {
        UriTemplate::parse(template).is_some_and(|template| template.matches(uri))
    }

    #[test]
    fn expansions_match_and_others_do_not() {
        for (template, uri) in [
            ("note://{id}", "note://7"),
            ("note://{id}/text", "note://a%2Fb/text"),
            ("file:///{+path}", "file:///a/b/c.txt"),
            ("users{/ids*}", "users/1/2"),
            ("users{/ids*}", "users"),
            ("search{?q,limit}", "search?q=a&limit=3"),
            ("search{?q}", "search"),
            ("page{#part}", "page#top"),
            ("x{.ext}", "x.json"),
            ("plain://one", "plain://one"),
        ] {
            assert!(matches(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("note://{id}", "note://"),
            ("note://{id}", "note://a/b"),
            ("note://{id}", "other://a"),
            ("note://{id}", "note://a?b"),
            ("users{/ids*}", "users?x"),
            ("search{?q}", "search/q"),
            ("note://{id", "note://7"),
            ("note://}id{", "note://7"),
            ("note://{}", "note://7"),
            ("note://one", "note://one/x"),
        ] {
            assert!(!matches(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn a_template_has_a_scheme_if_it_begins_with_one() {
        for (template, has_scheme) in [
            ("note://{id}", true),
            ("urn:{+x}", true),
            ("{+any}", false),
            ("{scheme}://x", false),
            ("x/{y}:z", false),
        ] {
            assert_eq!(UriTemplate::parse(template).unwrap().has_scheme(), has_scheme, "{template}");
        }
    }

    #[test]
    fn adversarial_templates_cost_linear_time() {
        let template = "{+a}".repeat(200);
        assert!(matches(&template, &"a".repeat(MAX_URI)));
        assert!(!matches(&template, &"a".repeat(MAX_URI + 1)));
    }
}
