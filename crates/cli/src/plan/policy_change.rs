//! Differences between two policy documents as they are written: rules, limits, and what the audit log records.
//!
//! Compared decisions do not find all of them: conditions on arguments and URIs, limits and payload rules do not change what
//! is decided about a tool as a whole. Comments and the notation of a value are no difference.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::Value;

/// A difference between two policy documents.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum PolicyChange {
    Added {
        part: PolicyPart,
        name: String,
        after: Value,
    },
    Removed {
        part: PolicyPart,
        name: String,
        before: Value,
    },
    Changed {
        part: PolicyPart,
        name: String,
        before: Value,
        after: Value,
    },
    /// The same entries in another order. Decisions do not depend on it, the rule that is named for them does.
    Reordered {
        part: PolicyPart,
    },
}

/// The part of a policy document that an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PolicyPart {
    /// A key of the document, such as `default`.
    Setting,
    Rule,
    Limit,
    /// An `[[audit.payload]]`.
    Payload,
}

impl PolicyPart {
    /// The arrays of tables of a document, by the pointer to each.
    const LISTS: [(Self, &'static str); 3] =
        [(Self::Rule, "/rule"), (Self::Limit, "/limit"), (Self::Payload, "/audit/payload")];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Setting => "policy",
            Self::Rule => "rule",
            Self::Limit => "limit",
            Self::Payload => "audit payload",
        }
    }
}

/// The keys of a document that hold no list of tables, with their pointers and their defaults.
const SETTINGS: [(&str, &str, &str); 4] = [
    ("default", "/default", "allow"),
    ("issuer", "/issuer", ""),
    ("trust_annotations", "/trust_annotations", ""),
    ("audit.redact", "/audit/redact", ""),
];

/// A policy document as it is written; that of a gateway without one is empty.
#[derive(Debug, Default)]
pub(crate) struct PolicyDocument(Value);

impl PolicyDocument {
    /// Reads a document that has been compiled; `is_inline` if it is the table `policy` of the text.
    pub(crate) fn read(text: Option<&str>, is_inline: bool) -> Self {
        let root: Option<Value> = text.and_then(|text| toml::from_str(text).ok());
        let document = root.and_then(|mut root| match is_inline {
            true => root.get_mut("policy").map(Value::take),
            false => Some(root),
        });
        Self(document.unwrap_or_default())
    }

    fn setting(&self, pointer: &str, default: &str) -> Value {
        let written = self.0.pointer(pointer).cloned();
        written.or_else(|| (!default.is_empty()).then(|| default.into())).unwrap_or_default()
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.0.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns the differences between two documents.
pub(crate) fn changed_policy(before: &PolicyDocument, after: &PolicyDocument) -> Vec<PolicyChange> {
    let setting = |(name, pointer, default): (&str, &str, &str)| {
        let (was, is) = (before.setting(pointer, default), after.setting(pointer, default));
        let (part, name) = (PolicyPart::Setting, name.to_owned());
        (was != is).then_some(PolicyChange::Changed { part, name, before: was, after: is })
    };
    let mut changes: Vec<PolicyChange> = SETTINGS.into_iter().filter_map(setting).collect();
    for (part, pointer) in PolicyPart::LISTS {
        changes.extend(changed_entries(part, before.list(pointer), after.list(pointer)));
    }
    changes
}

/// Compares two lists: equal entries belong together, then those of the same name.
fn changed_entries(part: PolicyPart, before: &[Value], after: &[Value]) -> Vec<PolicyChange> {
    // The entry of `before` that each entry of `after` continues.
    let mut origins: Vec<Option<usize>> = vec![None; after.len()];
    let mut rest: Vec<usize> = (0..before.len()).collect();
    pair(before, after, &mut rest, &mut origins, |entry| Some(entry.to_string()));
    pair(before, after, &mut rest, &mut origins, |entry| Some(entry.get("name")?.as_str()?.to_owned()));
    let name_of = |entry: &Value, at: usize| match entry.get("name").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => (at + 1).to_string(),
    };
    let removed = rest.into_iter().map(|at| PolicyChange::Removed {
        part,
        name: name_of(&before[at], at),
        before: before[at].clone(),
    });
    let mut changes: Vec<PolicyChange> = removed.collect();
    for ((at, entry), origin) in after.iter().enumerate().zip(&origins) {
        let (name, is) = (name_of(entry, at), entry.clone());
        match origin.map(|origin| &before[origin]) {
            None => changes.push(PolicyChange::Added { part, name, after: is }),
            Some(was) if was != entry => {
                changes.push(PolicyChange::Changed { part, name, before: was.clone(), after: is });
            }
            Some(_) => {}
        }
    }
    if !origins.iter().flatten().is_sorted() {
        changes.push(PolicyChange::Reordered { part });
    }
    changes
}

/// Pairs entries that have no counterpart yet and the same key, in order.
fn pair(
    before: &[Value],
    after: &[Value],
    rest: &mut Vec<usize>,
    origins: &mut [Option<usize>],
    key: impl Fn(&Value) -> Option<String>,
) {
    let mut known: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for at in rest.iter() {
        if let Some(key) = key(&before[*at]) {
            known.entry(key).or_default().push_back(*at);
        }
    }
    for (entry, origin) in after.iter().zip(origins.iter_mut()).filter(|(_, origin)| origin.is_none()) {
        *origin = key(entry).and_then(|key| known.get_mut(&key)?.pop_front());
    }
    rest.retain(|at| !origins.contains(&Some(*at)));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(before: &str, after: &str) -> Value {
        let read = |text: &str| PolicyDocument::read(Some(text), false);
        serde_json::to_value(changed_policy(&read(before), &read(after))).unwrap()
    }

    #[test]
    fn comments_and_notation_are_no_difference() {
        let before = "default = \"deny\"\n[[rule]]\neffect = \"allow\"\ntool = \"a\"\n";
        let after = "# The same.\nrule = [{ tool = 'a', effect = 'allow' }]\ndefault = \"\\u0064eny\"\n";
        assert_eq!(changes(before, after), json!([]));
    }

    #[test]
    fn no_policy_is_the_policy_that_allows_everything() {
        let allow = PolicyDocument::read(Some("[policy]\ndefault = \"allow\""), true);
        assert_eq!(changed_policy(&PolicyDocument::default(), &allow), []);
        let deny = PolicyDocument::read(Some("[policy]\ndefault = \"deny\""), true);
        let change = PolicyChange::Changed {
            part: PolicyPart::Setting,
            name: "default".to_owned(),
            before: json!("allow"),
            after: json!("deny"),
        };
        assert_eq!(changed_policy(&allow, &deny), [change]);
    }

    #[test]
    fn every_part_of_a_document_is_compared() {
        let base = "default = \"allow\"\n";
        for (text, part, name) in [
            ("issuer = \"https://login.example\"", "setting", "issuer"),
            ("trust_annotations = [\"files\"]", "setting", "trust_annotations"),
            ("[audit]\nredact = [\"ssn\"]", "setting", "audit.redact"),
            ("[[rule]]\neffect = \"deny\"\nuri = \"file:///etc/**\"", "rule", "1"),
            ("[[rule]]\nname = \"p\"\neffect = \"deny\"\nprompt = \"x\"", "rule", "p"),
            ("[[limit]]\nname = \"calls\"\nrate = \"1/s\"", "limit", "calls"),
            ("[[audit.payload]]\nrecord = [\"result\"]", "payload", "1"),
        ] {
            let found = changes(base, &format!("{base}{text}"));
            assert_eq!(found.as_array().map(Vec::len), Some(1), "{text}: {found}");
            assert_eq!((&found[0]["part"], &found[0]["name"]), (&json!(part), &json!(name)), "{text}");
        }
    }

    #[test]
    fn entries_are_paired_by_name_and_an_order_is_a_difference() {
        let rule = |name: &str, tool: &str| {
            format!("[[rule]]\nname = {name:?}\neffect = \"deny\"\ntool = {tool:?}\n")
        };
        let unnamed = "[[rule]]\neffect = \"deny\"\ntool = \"x\"\n";
        let before = format!("{}{unnamed}{}", rule("a", "1"), rule("b", "2"));
        let after = format!("{unnamed}{}{}", rule("a", "9"), rule("c", "3"));
        let found = changes(&before, &after);
        let kinds: Vec<(&str, &str)> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|change| (change["change"].as_str().unwrap(), change["name"].as_str().unwrap_or("")))
            .collect();
        assert_eq!(kinds, [("removed", "b"), ("changed", "a"), ("added", "c"), ("reordered", "")]);
    }
}
