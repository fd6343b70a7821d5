//! Exposed names: how the tools and prompts of many servers are named in one list.
//!
//! Invariant: a name that two items claim is withheld from both, so that no server can take over the name of another.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::policy::has_invisible_characters;

/// Whether an exposed name begins with the name of its server, as in `github__search`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// An exposed name that is withheld, because several items claim it or because it has invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithheldItem {
    /// What the name would be for.
    pub kind: ItemKind,
    /// The exposed name.
    pub name: String,
    /// The items that claim it: the server, and the name on that server. One of them alone is withheld for its invisible
    /// characters.
    pub claims: Vec<(Arc<str>, String)>,
}

impl std::fmt::Display for WithheldItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            ItemKind::Tool => "tool",
            ItemKind::Prompt => "prompt",
        };
        if let [(server, _)] = &*self.claims {
            return write!(
                f,
                "the {kind} name {:?} of {server:?} is withheld, because it has invisible characters",
                self.name
            );
        }
        write!(f, "the {kind} name {:?} is withheld, because it is claimed by", self.name)?;
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
    pub(crate) item: T,
}

/// Names all items; those with a name of their own are returned by it, the others are withheld.
pub(crate) fn expose<T>(
    kind: ItemKind,
    policy: PrefixPolicy,
    items: Vec<NamedItem<T>>,
) -> (BTreeMap<String, NamedItem<T>>, Vec<WithheldItem>) {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    if policy == PrefixPolicy::Conflict {
        items.iter().for_each(|item| *uses.entry(&item.name).or_default() += 1);
    }
    let is_prefixed = |name: &str| match policy {
        PrefixPolicy::Always => true,
        PrefixPolicy::Never => false,
        PrefixPolicy::Conflict => uses.get(name).is_some_and(|uses| *uses > 1),
    };
    let names: Vec<String> = items
        .iter()
        .map(
            |item| {
                if is_prefixed(&item.name) { prefixed(&item.server, &item.name) } else { item.name.clone() }
            },
        )
        .collect();
    let mut claimed: BTreeMap<String, Vec<NamedItem<T>>> = BTreeMap::new();
    for (name, item) in names.into_iter().zip(items) {
        claimed.entry(name).or_default().push(item);
    }
    let (mut exposed, mut withheld) = (BTreeMap::new(), Vec::new());
    for (name, mut items) in claimed {
        match (items.pop(), items.is_empty()) {
            // Nobody who reads such a name can tell it from another.
            (Some(only), true) if has_invisible_characters(&name) => {
                withheld.push(WithheldItem { kind, name, claims: vec![(only.server, only.name)] });
            }
            (Some(only), true) => _ = exposed.insert(name, only),
            (last, _) => {
                items.extend(last);
                let claims = items.into_iter().map(|item| (item.server, item.name)).collect();
                withheld.push(WithheldItem { kind, name, claims });
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
            .map(|(server, name)| NamedItem { server: (*server).into(), name: (*name).to_owned(), item: () })
            .collect();
        let (exposed, withheld) = expose(ItemKind::Tool, policy, items);
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
        let items =
            ["one", "two"].map(|server| NamedItem { server: server.into(), name: "add".into(), item: () });
        let (_, withheld) = expose(ItemKind::Tool, PrefixPolicy::Never, items.into());
        assert_eq!(
            withheld[0].to_string(),
            r#"the tool name "add" is withheld, because it is claimed by "add" of "one" and "add" of "two""#
        );
    }
}
