//! Keywords for strings and numbers.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::evaluate::{EvalResult, Evaluation};
use super::messages::{expected, got, shown};
use super::node::{NumberRules, PatternId, TextRules};
use super::number::{Decimal, compare};
use crate::repair::Issue;

/// A bound, its description, and the orderings that satisfy it.
type Bound<'a> = (&'a Option<Number>, &'static str, fn(Ordering) -> bool);

impl Evaluation<'_> {
    pub(super) fn text(&mut self, rules: &TextRules, text: &str) -> EvalResult {
        self.charge(text.len() as u64 / 64)?;
        let mut is_valid = true;
        if rules.min.is_some() || rules.max.is_some() {
            let length = text.chars().count() as u64;
            is_valid = self.count(length, rules.min, rules.max, "character", "long");
        }
        if !is_valid && self.fails_fast() {
            return Ok(false);
        }
        if let Some(pattern) = rules.pattern
            && !self.matches(Some(pattern), text)?
        {
            let source = &self.validator.patterns[pattern as usize].source;
            is_valid = self.fail(|| {
                expected(format!("a string that matches {source}"), got(&Value::String(text.to_owned())))
            });
        }
        if let Some(format) = rules.format {
            self.charge(1 + text.len() as u64 / 8)?;
            if !format.accepts(text) {
                is_valid = self.fail(|| {
                    let value = Value::String(text.to_owned());
                    expected(format!("a string of format {}", format.name()), got(&value))
                });
            }
        }
        Ok(is_valid)
    }

    /// Returns whether a text matches a pattern. An unchecked pattern matches every text.
    pub(super) fn matches(&mut self, pattern: PatternId, text: &str) -> EvalResult {
        let Some(pattern) = pattern else { return Ok(true) };
        let matcher = &self.validator.patterns[pattern as usize].matcher;
        self.charge(matcher.cost(text))?;
        Ok(matcher.is_match(text, &mut self.caches))
    }

    pub(super) fn count(
        &mut self,
        count: u64,
        min: Option<u64>,
        max: Option<u64>,
        what: &str,
        end: &str,
    ) -> bool {
        let mut is_valid = true;
        let plural = |number: u64| if number == 1 { "" } else { "s" };
        if let Some(min) = min.filter(|min| count < *min) {
            let issue =
                || expected(format!("at least {min} {what}{} {end}", plural(min)), format!("got {count}"));
            is_valid = self.fail(issue);
        }
        if let Some(max) = max.filter(|max| count > *max) {
            let issue =
                || expected(format!("at most {max} {what}{} {end}", plural(max)), format!("got {count}"));
            is_valid = self.fail(issue);
        }
        is_valid
    }

    pub(super) fn number(&mut self, rules: &NumberRules, number: &Number) -> bool {
        let bounds: [Bound<'_>; 4] = [
            (&rules.minimum, "at least", Ordering::is_ge),
            (&rules.maximum, "at most", Ordering::is_le),
            (&rules.above, "more than", Ordering::is_gt),
            (&rules.below, "less than", Ordering::is_lt),
        ];
        let mut is_valid = true;
        for (bound, relation, holds) in bounds {
            if let Some(bound) = bound
                && !compare(number, bound).is_some_and(holds)
            {
                is_valid = self.fail(|| expected(format!("{relation} {bound}"), format!("got {number}")));
            }
        }
        if let Some((step, decimal)) = &rules.multiple_of
            && !Decimal::new(number).is_some_and(|number| number.is_multiple_of(*decimal))
        {
            is_valid = self.fail(|| expected(format!("a multiple of {step}"), format!("got {number}")));
        }
        is_valid
    }

    pub(super) fn invalid_name(&mut self, name: &str) -> bool {
        self.fail(|| {
            let name = shown(&Value::String(name.to_owned()));
            Issue::new("", format!("has a property name that is not allowed: {name}"))
        })
    }
}
