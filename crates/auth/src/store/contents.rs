//! The contents of a store: grants and registered clients, and their form as JSON.
//!
//! Invariants: every write has a higher generation than all before it, also after a removal; a document of another version
//! is rejected; top-level members that this version does not know are kept; the numbers of grants and clients are bounded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::store::grant::{Grant, GrantKey, ServerAccount, StoredClient};
use crate::store::token_store::{Generation, StoredGrant, SwapOutcome};

/// The version of the document that this program reads and writes.
const VERSION: u32 = 1;

/// The most grants.
pub(super) const MAX_GRANTS: usize = 1000;
/// The most registered clients. Beyond it one without a grant is forgotten: it can be registered again.
const MAX_CLIENTS: usize = 1000;

/// Grants and registered clients.
#[derive(Clone, Default)]
pub(super) struct Contents {
    grants: BTreeMap<GrantKey, (Generation, Grant)>,
    /// The highest generation that was issued: a grant that is removed and written again has a new one.
    last: Generation,
    /// By issuer and redirect URI.
    clients: BTreeMap<(String, String), StoredClient>,
    /// Members of the document that this version does not know.
    unknown: Map<String, Value>,
}

impl Contents {
    /// Returns the newest grant of an account. A usable grant wins over one that needs a login.
    pub(super) fn find(&self, server: &ServerAccount) -> Option<StoredGrant> {
        self.grants
            .iter()
            .filter(|(key, (_, grant))| grant.server == server.server && key.account == server.account)
            // A rejected grant must not hide the login that replaced it with another client.
            .max_by_key(|(_, (generation, grant))| (!grant.needs_login(), *generation))
            .map(stored)
    }

    /// Returns all grants.
    pub(super) fn list(&self) -> Vec<StoredGrant> {
        self.grants.iter().map(stored).collect()
    }

    /// Returns the number of grants.
    pub(super) fn len(&self) -> usize {
        self.grants.len()
    }

    /// Replaces or removes a grant if its generation is the expected one.
    ///
    /// # Errors
    /// [`StoreError::Full`] if it would be one grant too many.
    pub(super) fn compare_and_set(
        &mut self,
        key: &GrantKey,
        expected: Option<Generation>,
        grant: Option<Grant>,
    ) -> Result<SwapOutcome, StoreError> {
        let current = self.grants.get(key);
        if current.map(|(generation, _)| *generation) != expected {
            return Ok(SwapOutcome::Conflict(current.map(|current| Box::new(stored((key, current))))));
        }
        if current.is_none() && grant.is_some() && self.grants.len() >= MAX_GRANTS {
            return Err(StoreError::Full { what: "grants", limit: MAX_GRANTS });
        }
        self.last = self.last.next();
        match grant {
            Some(grant) => _ = self.grants.insert(key.clone(), (self.last, grant)),
            None => _ = self.grants.remove(key),
        }
        Ok(SwapOutcome::Written(self.last))
    }

    /// Returns the client that was registered at an issuer for a redirect URI.
    pub(super) fn client(&self, issuer: &str, redirect_uri: &str) -> Option<StoredClient> {
        self.clients.get(&(issuer.to_owned(), redirect_uri.to_owned())).cloned()
    }

    /// Keeps a registered client, or forgets it.
    pub(super) fn set_client(&mut self, issuer: &str, redirect_uri: &str, client: Option<StoredClient>) {
        let key = (issuer.to_owned(), redirect_uri.to_owned());
        match client {
            Some(client) => {
                if self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(&key) {
                    self.forget_a_client();
                }
                self.clients.insert(key, client);
            }
            None => _ = self.clients.remove(&key),
        }
    }

    /// Forgets a client, one without a grant if there is any.
    fn forget_a_client(&mut self) {
        let is_used = |issuer: &str, id: &str| {
            self.grants.keys().any(|grant| grant.issuer == issuer && grant.client_id == id)
        };
        let unused = self.clients.iter().find(|((issuer, _), client)| !is_used(issuer, &client.id));
        if let Some(key) = unused.map(|(key, _)| key).or(self.clients.keys().next()).cloned() {
            self.clients.remove(&key);
        }
    }

    /// Decodes a document.
    ///
    /// # Errors
    /// Why it is not a document of this version. The text never quotes the document, which holds tokens.
    pub(super) fn from_json(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let versioned: Versioned = serde_json::from_slice(text).map_err(|error| position(&error))?;
        if versioned.version != VERSION {
            return Err(format!("it has version {}, and this program knows {VERSION}", versioned.version));
        }
        let document: Document = serde_json::from_slice(text).map_err(|error| position(&error))?;
        let highest = document.grants.iter().map(|entry| entry.generation).max().unwrap_or_default();
        Ok(Self {
            last: document.last_generation.max(highest),
            grants: document
                .grants
                .into_iter()
                .map(|entry| (entry.key, (entry.generation, entry.grant)))
                .collect(),
            clients: document
                .clients
                .into_iter()
                .map(|entry| ((entry.issuer, entry.redirect_uri), entry.client))
                .collect(),
            unknown: document.unknown,
        })
    }

    /// Encodes the contents as a document.
    pub(super) fn to_json(&self) -> Zeroizing<Vec<u8>> {
        let grants = self.grants.iter().map(|(key, (generation, grant))| GrantEntry {
            key: key.clone(),
            generation: *generation,
            grant: grant.clone(),
        });
        let clients = self.clients.iter().map(|((issuer, redirect_uri), client)| ClientEntry {
            issuer: issuer.clone(),
            redirect_uri: redirect_uri.clone(),
            client: client.clone(),
        });
        let document = Document {
            version: VERSION,
            last_generation: self.last,
            grants: grants.collect(),
            clients: clients.collect(),
            unknown: self.unknown.clone(),
        };
        Zeroizing::new(
            serde_json::to_vec_pretty(&document).expect("times are after 1970 and keys are strings"),
        )
    }
}

/// The document as it is stored.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    #[serde(default)]
    last_generation: Generation,
    #[serde(default)]
    grants: Vec<GrantEntry>,
    #[serde(default)]
    clients: Vec<ClientEntry>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct GrantEntry {
    key: GrantKey,
    generation: Generation,
    grant: Grant,
}

#[derive(Serialize, Deserialize)]
struct ClientEntry {
    issuer: String,
    redirect_uri: String,
    client: StoredClient,
}

fn stored((key, (generation, grant)): (&GrantKey, &(Generation, Grant))) -> StoredGrant {
    StoredGrant::new(key.clone(), *generation, grant.clone())
}

/// Returns the position of a syntax error. Its own text may quote a token.
fn position(error: &serde_json::Error) -> String {
    let what =
        if error.is_data() { "a member is missing or of the wrong type" } else { "it is not valid JSON" };
    format!("{what} (line {} column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_auth::OAuthClient;

    #[test]
    fn members_of_a_later_program_are_kept_and_other_versions_rejected() {
        let text = br#"{"version":1,"last_generation":7,"grants":[],"clients":[],"note":{"a":[1]}}"#;
        let contents = Contents::from_json(text).unwrap();
        assert_eq!(contents.last, Generation(7));
        let written: Value = serde_json::from_slice(&contents.to_json()).unwrap();
        assert_eq!(written["note"], serde_json::json!({"a": [1]}));
        assert_eq!(written["last_generation"], 7);
        let newer = Contents::from_json(br#"{"version":2,"grants":"other"}"#).err().unwrap();
        assert_eq!(newer, "it has version 2, and this program knows 1");
    }

    #[test]
    fn the_numbers_of_grants_and_clients_are_bounded() {
        let grant: Grant = serde_json::from_value(serde_json::json!({
            "server": "https://h.example/mcp", "access_token": "a", "kind": "Bearer",
            "obtained_at": {"secs_since_epoch": 0, "nanos_since_epoch": 0}, "requested_scopes": "",
            "client": {"id": "c0"}, "token_endpoint": "https://as.example/token",
        }))
        .unwrap();
        let key = |number: usize| GrantKey {
            issuer: "https://as.example".to_owned(),
            resource: String::new(),
            client_id: "c0".to_owned(),
            account: number.to_string(),
        };
        let mut contents = Contents::default();
        for number in 0..MAX_GRANTS {
            contents.compare_and_set(&key(number), None, Some(grant.clone())).unwrap();
        }
        let full = contents.compare_and_set(&key(MAX_GRANTS), None, Some(grant.clone()));
        assert!(matches!(full, Err(StoreError::Full { limit: MAX_GRANTS, .. })), "{full:?}");
        // A grant that is there can be replaced and removed.
        let Some(SwapOutcome::Written(next)) =
            contents.compare_and_set(&key(0), Some(Generation(1)), Some(grant.clone())).ok()
        else {
            panic!("a full store takes no replacement")
        };
        contents.compare_and_set(&key(0), Some(next), None).unwrap();
        contents.compare_and_set(&key(MAX_GRANTS), None, Some(grant)).unwrap();

        for number in 0..=MAX_CLIENTS {
            let client = StoredClient::of(&OAuthClient::public(format!("c{number}")));
            contents.set_client("https://as.example", &format!("{number:04}"), client);
        }
        assert_eq!(contents.clients.len(), MAX_CLIENTS);
        assert!(contents.client("https://as.example", "0000").is_some(), "it has grants");
        assert!(contents.client("https://as.example", "0001").is_none());
    }

    #[test]
    fn t36_an_unreadable_document_is_described_without_its_text() {
        for text in [
            &br#"{"version":1,"last_generation":"s3cret"}"#[..],
            br#"{"version":1,"grants":["s3cret"]}"#,
            br#"{"version":1,"grants":[{"s3cret":"#,
            b"s3cret",
            b"",
            b"\xff\xfe",
        ] {
            let reason = Contents::from_json(text).err().unwrap();
            assert!(reason.contains("line") && !reason.contains("s3cret"), "{reason}");
        }
    }
}
