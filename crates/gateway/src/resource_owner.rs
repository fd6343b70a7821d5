//! The owner table: which server has a resource.
//!
//! URIs are not rewritten, because they occur in notifications, links and embedded resources. Only one that several servers
//! claim, because they list it or have a template for it, is exposed as `gateway://SERVER/URI`, for each of them. A URI without
//! an owner is refused.
//!
//! Invariant: no server receives requests for what another one claims. A longer literal, or a listed URI, is no better claim
//! than a template: whoever wants the resources of another would list them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use switchboard_protocol::{ErrorCode, Raw, RpcError};

use crate::error_reason::ErrorReason;
use crate::template_index::TemplateIndex;
use crate::uri_template::UriTemplate;

/// Begins the exposed form of a URI that several servers claim.
const CLASH_SCHEME: &str = "gateway://";

/// The server of a resource, and the URI that it knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceOwner {
    pub(crate) server: Arc<str>,
    pub(crate) uri: String,
}

/// The owners of all listed resources and templates.
#[derive(Debug, Default)]
pub(crate) struct OwnerTable {
    /// By exposed URI.
    listed: BTreeMap<String, ResourceOwner>,
    /// The servers that list a URI, by the URI that they know it by.
    listing: BTreeMap<String, Vec<Arc<str>>>,
    /// By exposed text.
    template_texts: BTreeMap<String, ResourceOwner>,
    templates: BTreeMap<Arc<str>, ServerTemplates>,
    servers: Vec<Arc<str>>,
}

/// The templates of one server.
#[derive(Debug, Default)]
struct ServerTemplates {
    /// Those whose expansions have one scheme.
    specific: TemplateIndex,
    /// The others. What would match the URIs of all servers claims only what no other server does.
    general: TemplateIndex,
}

impl OwnerTable {
    pub(crate) fn new(servers: Vec<Arc<str>>) -> Self {
        Self { servers, ..Self::default() }
    }

    /// Adds a listed resource under its exposed URI.
    pub(crate) fn add_resource(&mut self, exposed: &str, owner: ResourceOwner) {
        self.listing.entry(owner.uri.clone()).or_default().push(Arc::clone(&owner.server));
        self.listed.insert(exposed.to_owned(), owner);
    }

    /// Adds a template under its exposed text. One that cannot be parsed has no expansions.
    pub(crate) fn add_template(&mut self, exposed: &str, owner: ResourceOwner) {
        if let Some(template) = UriTemplate::parse(&owner.uri) {
            let templates = self.templates.entry(Arc::clone(&owner.server)).or_default();
            let index = match template.has_scheme() {
                true => &mut templates.specific,
                false => &mut templates.general,
            };
            index.add(template);
        }
        self.template_texts.insert(exposed.to_owned(), owner);
    }

    /// Returns whether another server than this one has a template for a URI. `is_shown` says whether a server's URI is.
    pub(crate) fn has_template_of_other(
        &self,
        owner: &str,
        uri: &str,
        is_shown: impl Fn(&str, &str) -> bool,
    ) -> bool {
        self.templates.iter().any(|(server, templates)| {
            **server != *owner && templates.specific.matches(uri) && is_shown(server, uri)
        })
    }

    /// Returns the owner of a resource: the only server that lists it or has a template for it. `is_shown` says whether a
    /// server's URI is.
    ///
    /// # Errors
    /// When no server has it, or several servers claim it.
    pub(crate) fn find(
        &self,
        uri: &str,
        is_shown: impl Fn(&str, &str) -> bool,
    ) -> Result<ResourceOwner, RpcError> {
        if let Some(owner) = self.listed.get(uri) {
            return Ok(owner.clone());
        }
        if uri.starts_with(CLASH_SCHEME) {
            return self.of_rewritten(uri).ok_or_else(|| not_found(uri));
        }
        let listing = self.listing.get(uri).into_iter().flatten();
        let specific = self.templates.iter().filter(|(_, templates)| templates.specific.matches(uri));
        let specific = listing.chain(specific.map(|(server, _)| server));
        let shown = |server: &&Arc<str>| is_shown(server, uri);
        let mut claims: BTreeSet<&Arc<str>> = specific.filter(shown).collect();
        if claims.is_empty() {
            let general = self.templates.iter().filter(|(_, templates)| templates.general.matches(uri));
            claims = general.map(|(server, _)| server).filter(shown).collect();
        }
        match (claims.pop_first(), claims.is_empty()) {
            (None, _) => Err(not_found(uri)),
            (Some(server), true) => Ok(ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() }),
            (Some(_), false) => Err(ambiguous(uri)),
        }
    }

    /// Returns the owner of a template, for completion: by its text, else as a URI.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) fn find_template(
        &self,
        text: &str,
        is_shown: impl Fn(&str, &str) -> bool,
    ) -> Result<ResourceOwner, RpcError> {
        self.template_texts.get(text).cloned().map_or_else(|| self.find(text, is_shown), Ok)
    }

    /// Iterates over the owners of all listed resources and templates, and whether it is a template.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&ResourceOwner, bool)> {
        let listed = self.listed.values().map(|owner| (owner, false));
        listed.chain(self.template_texts.values().map(|owner| (owner, true)))
    }

    /// Reads a URI that names its server, if that server has it.
    fn of_rewritten(&self, uri: &str) -> Option<ResourceOwner> {
        let (server, uri) = uri.strip_prefix(CLASH_SCHEME)?.split_once('/')?;
        let server = self.servers.iter().find(|known| host_part(known) == server)?;
        let is_listed = self.listing.get(uri).is_some_and(|servers| servers.contains(server));
        let has_template = || {
            let templates = self.templates.get(server);
            templates.is_some_and(|of_it| of_it.specific.matches(uri) || of_it.general.matches(uri))
        };
        (is_listed || has_template())
            .then(|| ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() })
    }
}

/// Returns whether a URI of a server looks like one that names its server: it is exposed with its server in front, so that no
/// server can speak for another.
pub(crate) fn names_server(uri: &str) -> bool {
    uri.starts_with(CLASH_SCHEME)
}

/// Returns the exposed form of a URI that several servers claim.
pub(crate) fn rewritten(server: &str, uri: &str) -> String {
    format!("{CLASH_SCHEME}{}/{uri}", host_part(server))
}

/// Writes a server's name so that it has none of the characters that end it in a URI.
fn host_part(server: &str) -> String {
    let mut text = String::with_capacity(server.len());
    for byte in server.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte))
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

/// The error for a resource that several servers claim.
fn ambiguous(uri: &str) -> RpcError {
    let data = serde_json::json!({ "uri": uri, "reason": ErrorReason::AmbiguousOwner.as_str() });
    let message = format!(
        "several servers list {uri} or have a template for it\nRead {CLASH_SCHEME}SERVER/{uri} to name one of them."
    );
    RpcError::invalid_params(message).with_data(Raw::from(data))
}

/// The error for a resource that no server has.
pub(crate) fn not_found(uri: &str) -> RpcError {
    let data = Raw::from(serde_json::json!({ "uri": uri }));
    RpcError::new(ErrorCode::RESOURCE_NOT_FOUND, format!("Resource not found: no server has {uri}"))
        .with_data(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(resources: &[(&str, &str)], templates: &[(&str, &str)]) -> OwnerTable {
        let mut table = OwnerTable::new(vec!["one".into(), "two".into(), "a b".into()]);
        let owner = |server: &str, uri: &str| ResourceOwner { server: server.into(), uri: uri.to_owned() };
        resources.iter().for_each(|(server, uri)| table.add_resource(uri, owner(server, uri)));
        templates.iter().for_each(|(server, uri)| table.add_template(uri, owner(server, uri)));
        table
    }

    fn find(table: &OwnerTable, uri: &str) -> Result<ResourceOwner, RpcError> {
        table.find(uri, |_, _| true)
    }

    fn server(table: &OwnerTable, uri: &str) -> Option<String> {
        find(table, uri).ok().map(|owner| owner.server.to_string())
    }

    #[test]
    fn a_template_for_everything_has_what_no_other_server_claims() {
        let table = table(&[("one", "note://7")], &[("one", "page://{id}"), ("two", "{+any}")]);
        assert_eq!(server(&table, "note://7").as_deref(), Some("one"));
        assert_eq!(server(&table, "page://7").as_deref(), Some("one"));
        assert_eq!(server(&table, "other:a").as_deref(), Some("two"));
    }

    #[test]
    fn neither_a_listed_uri_nor_a_longer_literal_takes_the_resources_of_another_server() {
        let mut table =
            table(&[], &[("one", "note://{id}"), ("two", "note://x-{id}"), ("two", "page://{id}")]);
        assert!(table.has_template_of_other("two", "note://7", |_, _| true));
        assert!(!table.has_template_of_other("one", "note://7", |_, _| true));
        assert!(!table.has_template_of_other("two", "note://7", |server, _| server != "one"));
        let owner = ResourceOwner { server: "two".into(), uri: "note://7".to_owned() };
        table.add_resource("gateway://two/note://7", owner);
        for uri in ["note://7", "note://x-1"] {
            let error = find(&table, uri).unwrap_err();
            assert!(error.message.contains(&format!("gateway://SERVER/{uri}")), "{}", error.message);
            for own in ["one", "two"] {
                assert_eq!(server(&table, &rewritten(own, uri)).as_deref(), Some(own));
            }
            let shown = table.find(uri, |server, _| server == "one").unwrap();
            assert_eq!(&*shown.server, "one", "the view does not show that of the other");
        }
        assert_eq!(server(&table, "note://8").as_deref(), Some("one"));
        assert_eq!(server(&table, "page://8").as_deref(), Some("two"));
    }

    #[test]
    fn ten_thousand_templates_of_a_server_do_not_delay_the_resources_of_others() {
        let count = 10_000;
        let owner = |server: &str, uri: String| ResourceOwner { server: server.into(), uri };
        let mut table = OwnerTable::new(vec!["one".into(), "two".into()]);
        for number in 0..count {
            // Those of the one literal match nothing, and each of the other literals begins the next.
            let text = match number % 2 {
                0 => format!("note://{}{{x}}z{number}", "{+y}".repeat(60)),
                _ => format!("note://{}{{x}}/z", "a".repeat(number / 2)),
            };
            table.add_template(&text, owner("two", text.clone()));
        }
        let long = "a".repeat(2_000);
        for number in 0..count {
            let (uri, other) = (format!("note://{long}{number}"), format!("page://{long}{number}"));
            assert!(table.has_template_of_other("one", &uri, |_, _| true), "too many to compare with");
            assert!(!table.has_template_of_other("one", &other, |_, _| true));
            let exposed = rewritten("one", &uri);
            table.add_resource(&exposed, owner("one", uri.clone()));
            assert_eq!(server(&table, &exposed).as_deref(), Some("one"));
        }
    }

    #[test]
    fn no_server_speaks_for_another() {
        let table = table(&[("one", "note://7")], &[("two", "{+any}"), ("two", "gateway://one/{+any}")]);
        assert_eq!(server(&table, "gateway://one/note://7").as_deref(), Some("one"));
        assert_eq!(server(&table, "gateway://one/note://8"), None);
        assert_eq!(server(&table, "gateway://three/note://8"), None);
        assert_eq!(server(&table, "gateway://two/gateway://one/note://7").as_deref(), Some("two"));
    }

    #[test]
    fn an_unowned_uri_is_refused_and_an_ambiguous_one_names_the_way_out() {
        let table = table(&[], &[("one", "note://{id}"), ("two", "note://{name}")]);
        assert_eq!(find(&table, "file:///etc/passwd").unwrap_err().code, ErrorCode::RESOURCE_NOT_FOUND);
        let error = find(&table, "note://7").unwrap_err();
        assert!(error.message.contains("gateway://SERVER/note://7"), "{}", error.message);
        assert_eq!(server(&table, "gateway://two/note://7").as_deref(), Some("two"));
        assert_eq!(server(&table, "gateway://three/note://7"), None);
    }

    #[test]
    fn a_rewritten_uri_is_read_back_whatever_the_server_is_called() {
        let table = table(&[("a b", "file:///x?y#z")], &[]);
        let owner = find(&table, &rewritten("a b", "file:///x?y#z")).unwrap();
        assert_eq!((&*owner.server, owner.uri.as_str()), ("a b", "file:///x?y#z"));
    }

    #[test]
    fn a_uri_that_names_its_server_is_refused_unless_that_server_has_it() {
        let mut table = table(&[("one", "note://7")], &[("two", "note://{id}")]);
        for (exposed, server) in [("gateway://one/page://{id}", "one"), ("gateway://two/page://{id}", "two")]
        {
            table.add_template(
                exposed,
                ResourceOwner { server: server.into(), uri: "page://{id}".to_owned() },
            );
        }
        for (server, uri) in
            [("one", "note://7"), ("two", "note://7"), ("one", "page://7"), ("two", "page://7")]
        {
            let owner = find(&table, &rewritten(server, uri)).unwrap();
            assert_eq!((&*owner.server, owner.uri.as_str()), (server, uri));
        }
        assert!(find(&table, "page://7").is_err(), "it belongs to neither");
        for (server, uri) in [("one", "note://8"), ("one", "file:///etc/passwd"), ("a b", "note://7")] {
            let error = find(&table, &rewritten(server, uri)).unwrap_err();
            assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND, "{server} {uri}");
        }
    }
}
