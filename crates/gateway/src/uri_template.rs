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
pub(crate) const MAX_URI: usize = 8 * 1024;
/// The longest template that has expansions, in bytes.
const MAX_TEMPLATE: usize = 8 * 1024;
/// The maximum number of literals and expressions of a template that has expansions.
const MAX_PARTS: usize = 64;
/// The bytes of a literal that are compared in the time of one byte of an expression.
const LITERAL_STEP: usize = 16;

impl UriTemplate {
    /// Parses a template; `None` when its braces are not balanced, or it is too long or has too many parts.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TEMPLATE {
            return None;
        }
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
            if parts.len() > MAX_PARTS {
                return None;
            }
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        (parts.len() <= MAX_PARTS).then_some(Self { parts })
    }

    /// Returns whether all expansions have the same scheme.
    pub(crate) fn has_scheme(&self) -> bool {
        self.first_literal().contains(':')
    }

    /// Returns the literal that all expansions begin with; empty if the template begins with an expression.
    pub(crate) fn first_literal(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(text)) => text,
            _ => "",
        }
    }

    /// Returns the work of [`Self::matches`] for a URI that begins with the first literal, in bytes that are compared.
    pub(crate) fn cost(&self, uri: &str) -> usize {
        let steps = |part: &Part| match part {
            Part::Literal(text) => 1 + text.len() / LITERAL_STEP,
            Part::Expression(_) => 1,
        };
        // The first literal is compared once only.
        let later: usize = self.parts.iter().skip(1).map(steps).sum();
        (uri.len() + 1) * (1 + later)
    }

    /// Returns whether a URI can be an expansion. Linear in the length of the URI for each part.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        if uri.len() > MAX_URI || !uri.starts_with(self.first_literal()) {
            return false;
        }
        let bytes = uri.as_bytes();
        // The positions that the parts so far can end at, and those after the next part.
        let mut starts = vec![false; bytes.len() + 1];
        let mut ends = starts.clone();
        starts[0] = true;
        for part in &self.parts {
            match part {
                Part::Literal(text) => after_literal(bytes, &starts, text.as_bytes(), &mut ends),
                Part::Expression(operator) => after_expression(bytes, &starts, *operator, &mut ends),
            }
            std::mem::swap(&mut starts, &mut ends);
        }
        starts[bytes.len()]
    }
}

fn after_literal(bytes: &[u8], starts: &[bool], literal: &[u8], ends: &mut [bool]) {
    ends.fill(false);
    for (at, _) in starts.iter().enumerate().filter(|(_, is_start)| **is_start) {
        if bytes[at..].starts_with(literal) {
            ends[at + literal.len()] = true;
        }
    }
}

fn after_expression(bytes: &[u8], starts: &[bool], operator: Operator, ends: &mut [bool]) {
    match operator {
        Operator::Optional(_) => ends.copy_from_slice(starts),
        Operator::Simple | Operator::Reserved => ends.fill(false),
    }
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
    fn long_templates_and_those_with_many_parts_have_no_expansions() {
        let long = "a".repeat(MAX_TEMPLATE);
        assert!(UriTemplate::parse(&long).is_some());
        assert_eq!(UriTemplate::parse(&format!("{long}a")), None);
        let many = "a{x}".repeat(MAX_PARTS / 2);
        assert!(UriTemplate::parse(&many).is_some());
        assert_eq!(UriTemplate::parse(&format!("{many}a")), None);
        assert_eq!(UriTemplate::parse(&format!("{many}{{x}}")), None);
    }

    #[test]
    fn adversarial_templates_cost_linear_time() {
        let template = "{+a}".repeat(MAX_PARTS);
        assert!(matches(&template, &"a".repeat(MAX_URI)));
        assert!(!matches(&template, &"a".repeat(MAX_URI + 1)));
    }
}
