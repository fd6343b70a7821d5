//! The templates of one server, by the literal that they begin with: whether one of them has a URI as an expansion.
//!
//! Invariant: the work for one URI is bounded, however many templates a server lists. A URI for which the bound is reached
//! counts as an expansion: a claim too many only makes clients name the server.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::uri_template::{MAX_URI, UriTemplate};

/// The bytes of a URI that the templates of one server are compared with, counted once for each part of a template: enough
/// for a few templates and the longest URI, or some hundred and a usual one.
const MAX_COMPARED: usize = 4 * MAX_URI;

/// The templates of one server.
#[derive(Debug, Default)]
pub(crate) struct TemplateIndex {
    by_literal: BTreeMap<Vec<u8>, Vec<UriTemplate>>,
}

impl TemplateIndex {
    pub(crate) fn add(&mut self, template: UriTemplate) {
        let literal = template.first_literal().as_bytes().to_vec();
        self.by_literal.entry(literal).or_default().push(template);
    }

    /// Returns whether a URI can be an expansion of one of the templates, or too many would have to be compared.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        if uri.len() > MAX_URI {
            return false;
        }
        let mut left = MAX_COMPARED;
        let mut start = uri.as_bytes();
        // The literals that the URI begins with, from the longest on: the last one up to the start of the URI is such a literal,
        // or shares with it all bytes that a shorter one can have.
        while let Some((literal, templates)) = self.last_up_to(start) {
            let is_start = start.starts_with(literal);
            if is_start {
                for template in templates {
                    let Some(rest) = left.checked_sub(template.cost(uri)) else { return true };
                    left = rest;
                    if template.matches(uri) {
                        return true;
                    }
                }
            }
            let Some(rest) = left.checked_sub(start.len() + 1) else { return true };
            left = rest;
            let shorter = match is_start {
                true => literal.len().checked_sub(1),
                false => Some(literal.iter().zip(start).take_while(|(one, other)| one == other).count()),
            };
            let Some(shorter) = shorter else { break };
            start = &start[..shorter];
        }
        false
    }

    /// Returns the last literal in order up to this one, with its templates.
    fn last_up_to(&self, literal: &[u8]) -> Option<(&Vec<u8>, &Vec<UriTemplate>)> {
        self.by_literal.range::<[u8], _>((Bound::Unbounded, Bound::Included(literal))).next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(templates: &[&str]) -> TemplateIndex {
        let mut index = TemplateIndex::default();
        templates.iter().for_each(|text| index.add(UriTemplate::parse(text).unwrap()));
        index
    }

    #[test]
    fn the_templates_of_all_literals_of_a_uri_are_found() {
        let texts = [
            "a://{x}",
            "a://b/{x}",
            "a://b/c",
            "a://b/c/{x}/y",
            "a://é/{x}",
            "b://{x}",
            "{x}:1",
            "a://b0{x}",
        ];
        let index = index(&texts);
        for uri in
            ["a://b", "a://b/c", "a://b/z", "a://b/c/d/y", "a://é/1", "b://x", "c:1", "a://b0", "a://b01"]
        {
            assert!(index.matches(uri), "{uri}");
        }
        for uri in ["a://", "a://b/c/d/z", "a://è/1", "b://x/y", "c:2", "", "a:", "d://x"] {
            let expected = texts.iter().any(|text| UriTemplate::parse(text).unwrap().matches(uri));
            assert_eq!(index.matches(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_uri_that_too_many_templates_compare_with_counts_as_an_expansion() {
        let texts: Vec<String> = (0..10_000).map(|number| format!("a://{{x}}z{number}{{y}}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(index(&texts).matches("a://b"));
        assert!(!index(&texts[..100]).matches("a://b"));
        let nested: Vec<String> = (1..4_000).map(|length| format!("{}{{x}}/", "a".repeat(length))).collect();
        let nested: Vec<&str> = nested.iter().map(String::as_str).collect();
        assert!(index(&nested).matches(&"a".repeat(4_000)));
        assert!(!index(&nested).matches("aaaa"));
    }
}
