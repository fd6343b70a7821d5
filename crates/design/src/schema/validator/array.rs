//! Keywords for arrays.

use serde_json::Value;

use super::bit_set::BitSet;
use super::evaluate::{EvalResult, Evaluation};
use super::messages::expected;
use super::node::{ArrayRules, ContainsRule};

impl Evaluation<'_> {
    pub(super) fn array(
        &mut self,
        rules: &ArrayRules,
        items: &[Value],
        mut evaluated: Option<&mut BitSet>,
    ) -> EvalResult {
        let mut is_valid = self.count(items.len() as u64, rules.min, rules.max, "item", "long");
        if !is_valid && self.fails_fast() {
            return Ok(false);
        }
        for (at, item) in items.iter().enumerate() {
            let Some(node) = rules.prefix.get(at).copied().or(rules.items) else { break };
            is_valid &= self.child(|| at.to_string(), node, item)?;
            if !is_valid && self.fails_fast() {
                return Ok(false);
            }
            if let Some(evaluated) = evaluated.as_deref_mut() {
                evaluated.set(at);
            }
        }
        if rules.unique
            && let Some((one, other)) = self.duplicates(items)?
        {
            let issue = || expected("free of duplicates", format!("items {one} and {other} are equal"));
            is_valid = self.fail(issue);
        }
        if let Some(contains) = &rules.contains {
            is_valid &= self.contains(contains, items, evaluated)?;
        }
        Ok(is_valid)
    }

    fn contains(
        &mut self,
        contains: &ContainsRule,
        items: &[Value],
        mut evaluated: Option<&mut BitSet>,
    ) -> EvalResult {
        let mut found = 0;
        for (at, item) in items.iter().enumerate() {
            // All items are counted if the maximum or the set of matching items matters.
            if found >= contains.min
                && contains.max.is_none()
                && (evaluated.is_none() || !contains.counts_as_evaluated)
            {
                break;
            }
            if self.without_issues(|evaluation| evaluation.eval(contains.node, item, None))? {
                found += 1;
                if let Some(evaluated) = evaluated.as_deref_mut().filter(|_| contains.counts_as_evaluated) {
                    evaluated.set(at);
                }
            }
        }
        if found < contains.min {
            let text = format!("an array with at least {} matching item(s)", contains.min);
            return Ok(self.fail(|| expected(text, format!("got {found}"))));
        }
        if let Some(max) = contains.max.filter(|max| found > *max) {
            let text = format!("an array with at most {max} matching item(s)");
            return Ok(self.fail(|| expected(text, format!("got {found}"))));
        }
        Ok(true)
    }
}
