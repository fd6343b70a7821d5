//! Keywords for arrays.

use serde_json::Value;

use super::bits::Bits;
use super::node::{ArrayRules, Contains};
use super::run::{Checked, Run};
use super::wording::expected;

impl Run<'_> {
    pub(super) fn array(
        &mut self,
        rules: &ArrayRules,
        items: &[Value],
        mut marks: Option<&mut Bits>,
    ) -> Checked {
        let mut is_valid = self.count(items.len() as u64, rules.min, rules.max, "item", "long");
        if !is_valid && self.stops_early() {
            return Ok(false);
        }
        for (at, item) in items.iter().enumerate() {
            let Some(node) = rules.prefix.get(at).copied().or(rules.items) else { break };
            is_valid &= self.child(|| at.to_string(), node, item)?;
            if !is_valid && self.stops_early() {
                return Ok(false);
            }
            if let Some(marks) = marks.as_deref_mut() {
                marks.set(at);
            }
        }
        if rules.unique
            && let Some((one, other)) = self.duplicates(items)?
        {
            let words = || expected("free of duplicates", format!("items {one} and {other} are equal"));
            is_valid = self.fail(words);
        }
        if let Some(contains) = &rules.contains {
            is_valid &= self.contains(contains, items, marks)?;
        }
        Ok(is_valid)
    }

    fn contains(&mut self, contains: &Contains, items: &[Value], mut marks: Option<&mut Bits>) -> Checked {
        let mut found = 0;
        for (at, item) in items.iter().enumerate() {
            // Everything is counted where it matters which items match, or how many at most.
            if found >= contains.min && contains.max.is_none() && (marks.is_none() || !contains.marks) {
                break;
            }
            if self.quietly(|run| run.eval(contains.node, item, None))? {
                found += 1;
                if let Some(marks) = marks.as_deref_mut().filter(|_| contains.marks) {
                    marks.set(at);
                }
            }
        }
        if found < contains.min {
            let words = format!("an array with at least {} matching item(s)", contains.min);
            return Ok(self.fail(|| expected(words, format!("got {found}"))));
        }
        if let Some(max) = contains.max.filter(|max| found > *max) {
            let words = format!("an array with at most {max} matching item(s)");
            return Ok(self.fail(|| expected(words, format!("got {found}"))));
        }
        Ok(true)
    }
}
