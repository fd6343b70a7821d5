//! Exposed names: how the tools and prompts of many servers are named in one list.
//!
//! Invariant: a name that two items claim is withheld from both, so that no server can take over the name of another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::policy::has_invisible_characters;

/// Whether an exposed name begins with the name of its server, as in `github__search`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixPolicy {
    /// Every name does.
    #[default]
    Always,
    /// Only names that several servers use do.
    Conflict,
    /// None does; names that several servers use are withheld.
    Never,
}

/// The kind of a withheld item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
}

/// An exposed name that is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithheldItem {
    /// What the name would be for.
    pub kind: ItemKind,
    /// The exposed name.
    pub name: String,
    /// The items that claim it: the server, and the name on that server.
    pub claims: Vec<(Arc<str>, String)>,
    /// Why it is withheld.
    pub reason: WithheldReason,
}

/// Why an exposed name is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithheldReason {
    /// Several items claim it.
    Collision,
    /// Nobody who reads it can tell it from another: it has invisible characters.
    InvisibleCharacters,
    /// The view uses it for another tool.
    AssignedByView,
    /// The view fixes or hides arguments that cannot be removed from the input schema exactly.
    InputSchema(String),
}

impl std::fmt::Display for WithheldItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            ItemKind::Tool => "tool",
            ItemKind::Prompt => "prompt",
        };
        write!(f, "the {kind} name {:?} is withheld, because ", self.name)?;
        match &self.reason {
            WithheldReason::Collision => f.write_str("it is claimed by")?,
            WithheldReason::InvisibleCharacters => f.write_str("it has invisible characters; it is")?,
            WithheldReason::AssignedByView => {
                f.write_str("the view uses it for another tool; give another name to")?;
            }
            WithheldReason::InputSchema(why) => write!(f, "{why}; it is")?,
        }
        for (at, (server, name)) in self.claims.iter().enumerate() {
            write!(f, "{} {name:?} of {server:?}", if at > 0 { " and" } else { "" })?;
        }
        Ok(())
    }
}

/// An item to be named.
pub(crate) struct NamedItem<T> {
    pub(crate) server: Arc<str>,
    /// Its name on the server.
    pub(crate) name: String,
    /// The exposed name, if the view gives it one.
    pub(crate) assigned: Option<String>,
    pub(crate) item: T,
}

impl<T> NamedItem<T> {
    /// Returns the item as withheld under this name.
    pub(crate) fn withheld(self, kind: ItemKind, name: String, reason: WithheldReason) -> WithheldItem {
        WithheldItem { kind, name, claims: vec![(self.server, self.name)], reason }
    }
}

/// How items are named.
pub(crate) struct Naming<'a> {
    pub(crate) kind: ItemKind,
    pub(crate) policy: PrefixPolicy,
    /// Names that the view uses itself.
    pub(crate) reserved: &'a [&'a str],
}

/// Names all items; those with a name of their own are returned by it, the others are withheld. A name that the view gives wins
/// over those that servers choose: no server can make a tool of the view disappear.
pub(crate) fn expose<T>(
    naming: &Naming<'_>,
    items: Vec<NamedItem<T>>,
) -> (BTreeMap<String, NamedItem<T>>, Vec<WithheldItem>) {
    let Naming { kind, policy, reserved } = *naming;
    let given: BTreeSet<String> = items.iter().filter_map(|item| item.assigned.clone()).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    if policy == PrefixPolicy::Conflict {
        let by_server = items.iter().filter(|item| item.assigned.is_none());
        by_server.for_each(|item| *uses.entry(&item.name).or_default() += 1);
    }
    let is_prefixed = |name: &str| match policy {
        PrefixPolicy::Always => true,
        PrefixPolicy::Never => false,
        PrefixPolicy::Conflict => uses.get(name).is_some_and(|uses| *uses > 1),
    };
    let names: Vec<String> = items
        .iter()
        .map(|item| match &item.assigned {
            Some(name) => name.clone(),
            None if is_prefixed(&item.name) => prefixed(&item.server, &item.name),
            None => item.name.clone(),
        })
        .collect();
    let (mut exposed, mut withheld) = (BTreeMap::new(), Vec::new());
    let mut claimed: BTreeMap<String, Vec<NamedItem<T>>> = BTreeMap::new();
    for (name, item) in names.into_iter().zip(items) {
        let is_taken = item.assigned.is_none() && given.contains(&name) || reserved.contains(&name.as_str());
        match is_taken {
            true => withheld.push(item.withheld(kind, name, WithheldReason::AssignedByView)),
            false => claimed.entry(name).or_default().push(item),
        }
    }
    for (name, mut items) in claimed {
        match (items.pop(), items.is_empty()) {
            (Some(only), true) if has_invisible_characters(&name) => {
                withheld.push(only.withheld(kind, name, WithheldReason::InvisibleCharacters));
            }
            (Some(only), true) => _ = exposed.insert(name, only),
            (last, _) => {
                items.extend(last);
                let claims = items.into_iter().map(|item| (item.server, item.name)).collect();
                withheld.push(WithheldItem { kind, name, claims, reason: WithheldReason::Collision });
            }
        }
    }
    (exposed, withheld)
}

/// Returns the name with its server in front. Characters that names of tools do not have are replaced in the server's name.
fn prefixed(server: &str, name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let server: String = server.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    format!("{server}__{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(policy: PrefixPolicy, items: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let items = items
            .iter()
            .map(|(server, name)| NamedItem {
                server: (*server).into(),
                name: (*name).to_owned(),
                assigned: None,
                item: (),
            })
            .collect();
        let naming = Naming { kind: ItemKind::Tool, policy, reserved: &[] };
        let (exposed, withheld) = expose(&naming, items);
        (exposed.into_keys().collect(), withheld.into_iter().map(|item| item.name).collect())
    }

    #[test]
    fn a_name_that_two_servers_claim_belongs_to_neither() {
        let both = [("one", "add"), ("two", "add"), ("two", "sub")];
        assert_eq!(names(PrefixPolicy::Always, &both).0, ["one__add", "two__add", "two__sub"]);
        assert_eq!(names(PrefixPolicy::Conflict, &both).0, ["one__add", "sub", "two__add"]);
        let (exposed, withheld) = names(PrefixPolicy::Never, &both);
        assert_eq!((exposed, withheld), (vec!["sub".to_owned()], vec!["add".to_owned()]));
        // Prefixed names can collide, too.
        let (exposed, withheld) = names(PrefixPolicy::Always, &[("a", "b__c"), ("a__b", "c"), ("a", "d")]);
        assert_eq!((exposed, withheld), (vec!["a__d".to_owned()], vec!["a__b__c".to_owned()]));
        // So can a prefixed name and a bare one.
        let (exposed, withheld) =
            names(PrefixPolicy::Conflict, &[("one", "add"), ("two", "add"), ("three", "one__add")]);
        assert_eq!((exposed, withheld), (vec!["two__add".to_owned()], vec!["one__add".to_owned()]));
    }

    #[test]
    fn server_names_are_made_valid_and_may_then_collide() {
        assert_eq!(names(PrefixPolicy::Always, &[("my server", "add")]).0, ["my_server__add"]);
        let (exposed, withheld) = names(PrefixPolicy::Always, &[("a b", "x"), ("a_b", "x")]);
        assert!(exposed.is_empty() && withheld == ["a_b__x"]);
    }

    #[test]
    fn a_withheld_name_says_who_claims_it() {
        let items = ["one", "two"].map(|server| NamedItem {
            server: server.into(),
            name: "add".into(),
            assigned: None,
            item: (),
        });
        let naming = Naming { kind: ItemKind::Tool, policy: PrefixPolicy::Never, reserved: &[] };
        let (_, withheld) = expose(&naming, items.into());
        assert_eq!(
            withheld[0].to_string(),
            r#"the tool name "add" is withheld, because it is claimed by "add" of "one" and "add" of "two""#
        );
    }

    #[test]
    fn a_name_of_the_view_wins_over_names_that_servers_choose() {
        let item = |server: &str, name: &str, assigned: Option<&str>| NamedItem {
            server: server.into(),
            name: name.into(),
            assigned: assigned.map(str::to_owned),
            item: (),
        };
        let items = vec![
            item("one", "find", Some("search")),
            item("two", "search", None),
            item("two", "read_result", None),
            item("two", "add", None),
        ];
        let naming = Naming { kind: ItemKind::Tool, policy: PrefixPolicy::Never, reserved: &["read_result"] };
        let (exposed, withheld) = expose(&naming, items);
        assert_eq!(exposed.keys().collect::<Vec<_>>(), ["add", "search"]);
        assert_eq!(exposed["search"].name, "find");
        assert!(withheld.iter().all(|item| item.reason == WithheldReason::AssignedByView));
        assert_eq!(
            withheld[0].to_string(),
            r#"the tool name "search" is withheld, because the view uses it for another tool; give another name to "search" of "two""#
        );
    }
}
