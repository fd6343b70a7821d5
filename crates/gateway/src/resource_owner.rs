//! The owner table: which server has a resource.
//!
//! URIs are not rewritten, because they occur in notifications, links and embedded resources. Only one that several servers
//! list is exposed as `gateway://SERVER/URI`, for each of them. A URI without an owner is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_protocol::{ErrorCode, Raw, RpcError};

use crate::uri_template::UriTemplate;

/// Begins the exposed form of a URI that several servers list.
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
    /// By exposed text.
    template_texts: BTreeMap<String, ResourceOwner>,
    templates: Vec<OwnedTemplate>,
    servers: Vec<Arc<str>>,
}

#[derive(Debug)]
struct OwnedTemplate {
    template: UriTemplate,
    server: Arc<str>,
    /// Several servers have a template of this text: its expansions name their server.
    is_clashing: bool,
}

impl OwnerTable {
    pub(crate) fn new(servers: Vec<Arc<str>>) -> Self {
        Self { servers, ..Self::default() }
    }

    /// Adds a listed resource under its exposed URI.
    pub(crate) fn add_resource(&mut self, exposed: &str, owner: ResourceOwner) {
        self.listed.insert(exposed.to_owned(), owner);
    }

    /// Adds a template under its exposed text. One that cannot be parsed has no expansions.
    pub(crate) fn add_template(&mut self, exposed: &str, owner: ResourceOwner) {
        if let Some(template) = UriTemplate::parse(&owner.uri) {
            let (server, is_clashing) = (Arc::clone(&owner.server), exposed != owner.uri);
            self.templates.push(OwnedTemplate { template, server, is_clashing });
        }
        self.template_texts.insert(exposed.to_owned(), owner);
    }

    /// Returns the owner of a resource: the server that lists it, or the one with the most specific template.
    ///
    /// # Errors
    /// When no server has it, or several servers have equally specific templates.
    pub(crate) fn find(&self, uri: &str) -> Result<ResourceOwner, RpcError> {
        if let Some(owner) = self.listed.get(uri) {
            return Ok(owner.clone());
        }
        if let Some(owner) = self.of_rewritten(uri) {
            return Ok(owner);
        }
        let own = self.templates.iter().filter(|owned| !owned.is_clashing);
        let matching: Vec<&OwnedTemplate> = own.filter(|owned| owned.template.matches(uri)).collect();
        let most = matching.iter().map(|owned| owned.template.literal_len()).max();
        let mut best = matching.into_iter().filter(|owned| Some(owned.template.literal_len()) == most);
        let Some(OwnedTemplate { server, .. }) = best.next() else { return Err(not_found(uri)) };
        if best.any(|other| other.server != *server) {
            let data = serde_json::json!({ "uri": uri, "reason": "ambiguous_owner" });
            let message = format!(
                "several servers have a template for {uri}: read {CLASH_SCHEME}SERVER/{uri} to name one of them"
            );
            return Err(RpcError::invalid_params(message).with_data(Raw::from(data)));
        }
        Ok(ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() })
    }

    /// Returns the owner of a template, for completion: by its text, else as a URI.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) fn find_template(&self, text: &str) -> Result<ResourceOwner, RpcError> {
        self.template_texts.get(text).cloned().map_or_else(|| self.find(text), Ok)
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
        let is_listed = self.listed.get(uri).is_some_and(|owner| owner.server == *server);
        let has_template =
            || self.templates.iter().any(|owned| owned.server == *server && owned.template.matches(uri));
        (is_listed || has_template())
            .then(|| ResourceOwner { server: Arc::clone(server), uri: uri.to_owned() })
    }
}

/// Returns the exposed form of a URI that several servers list.
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

    fn server(table: &OwnerTable, uri: &str) -> Option<String> {
        table.find(uri).ok().map(|owner| owner.server.to_string())
    }

    #[test]
    fn listed_resources_come_before_templates_and_specific_templates_before_others() {
        let table = table(
            &[("one", "note://7")],
            &[("two", "note://{id}"), ("one", "note://x-{id}"), ("two", "{+any}")],
        );
        assert_eq!(server(&table, "note://7").as_deref(), Some("one"));
        assert_eq!(server(&table, "note://8").as_deref(), Some("two"));
        assert_eq!(server(&table, "note://x-1").as_deref(), Some("one"));
        assert_eq!(server(&table, "other:a").as_deref(), Some("two"));
    }

    #[test]
    fn an_unowned_uri_is_refused_and_an_ambiguous_one_names_the_way_out() {
        let table = table(&[], &[("one", "note://{id}"), ("two", "note://{name}")]);
        assert_eq!(table.find("file:///etc/passwd").unwrap_err().code, ErrorCode::RESOURCE_NOT_FOUND);
        let error = table.find("note://7").unwrap_err();
        assert!(error.message.contains("gateway://SERVER/note://7"), "{}", error.message);
        assert_eq!(server(&table, "gateway://two/note://7").as_deref(), Some("two"));
        assert_eq!(server(&table, "gateway://three/note://7"), None);
    }

    #[test]
    fn a_rewritten_uri_is_read_back_whatever_the_server_is_called() {
        let table = table(&[("a b", "file:///x?y#z")], &[]);
        let owner = table.find(&rewritten("a b", "file:///x?y#z")).unwrap();
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
            let owner = table.find(&rewritten(server, uri)).unwrap();
            assert_eq!((&*owner.server, owner.uri.as_str()), (server, uri));
        }
        assert!(table.find("page://7").is_err(), "it belongs to neither");
        for (server, uri) in [("one", "note://8"), ("one", "file:///etc/passwd"), ("a b", "note://7")] {
            let error = table.find(&rewritten(server, uri)).unwrap_err();
            assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND, "{server} {uri}");
        }
    }
}
