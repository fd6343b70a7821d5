//! Which payloads a rule of the document records.

use crate::policy::{Effect, PolicyError, SELECTOR_KEYS, Selector, Subject, Target, TargetView, TomlTable};

/// A rule that records payloads.
#[derive(Debug)]
pub(super) struct PayloadRule {
    selector: Selector,
    arguments: bool,
    result: bool,
}

impl PayloadRule {
    pub(super) fn read(table: &TomlTable<'_>) -> Result<Self, PolicyError> {
        table.check_keys(&[["record"].as_slice(), &SELECTOR_KEYS].concat())?;
        let Some(entry) = table.get("record") else {
            return Err(
                table.missing_key("record", "write `record = [\"arguments\", \"result\"]`, or one of them")
            );
        };
        let (mut arguments, mut result) = (false, false);
        for word in entry.strings()? {
            match word.as_str() {
                "arguments" => arguments = true,
                "result" => result = true,
                other => return Err(entry.invalid(format!("`{other}` is neither `arguments` nor `result`"))),
            }
        }
        Ok(Self { selector: Selector::read(table, None)?, arguments, result })
    }

    /// Returns whether arguments and result of a call are recorded. Payloads are recorded only if the rule certainly
    /// means the call.
    pub(super) fn select(&self, subject: &Subject<'_>, target: &Target<'_>) -> (bool, bool) {
        match self.selector.matches(subject, &TargetView::new(target), Effect::Allow) {
            true => (self.arguments, self.result),
            false => (false, false),
        }
    }
}
