//! Process sharing: which session with its server a request uses.
//!
//! Invariant: requests of two principals share a session only if the server is shared by all ([`SharePolicy::Always`]).
//! Callers without an identity are one principal, whose session is the main one of a server.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_host::config::SharePolicy;
use switchboard_host::{Host, SessionKey, SessionScope};
use switchboard_protocol::{Root, RpcError};
use switchboard_session::server::{Caller, ConnectionId, RequestContext};

use crate::error::server_removed;
use crate::roots_cache::{RootsCache, RootsLookup};

/// The key of the question for the roots of a client.
const ROOTS_QUESTION: &str = "switchboard-roots";

/// Decides which session a request uses.
#[derive(Default)]
pub(crate) struct Sharing {
    /// The roots of legacy clients, by session, until they change. Held for a lookup, never across an await.
    roots: Mutex<RootsCache>,
}

impl Sharing {
    /// Returns the scope of a request to a server; `None` for the main session.
    ///
    /// # Errors
    /// When the client does not tell its roots, or there is no such server any more.
    ///
    /// # Cancellation
    /// A modern client that is asked for its roots retries: the future is dropped, and the retry finds the answer.
    pub(crate) async fn scope(
        &self,
        host: &Host,
        cx: &RequestContext,
        server: &str,
    ) -> Result<Option<SessionScope>, RpcError> {
        let policy = host.share_policy(server).ok_or_else(|| server_removed(server))?;
        if policy == SharePolicy::PerRoot {
            let roots = self.roots(cx).await?;
            return Ok(Some(root_scope(cx.caller(), roots)));
        }
        let client = || cx.session_key().or_else(|| cx.extension::<ConnectionId>().map(ToString::to_string));
        Ok(caller_scope(policy, cx.caller(), client))
    }

    /// Returns the roots of a client; none if it cannot tell them.
    async fn roots(&self, cx: &RequestContext) -> Result<Arc<[Root]>, RpcError> {
        if cx.capabilities().roots.is_none() {
            return Ok(Arc::default());
        }
        let Some(session) = cx.session_key() else { return Ok(cx.roots(ROOTS_QUESTION).await?.into()) };
        let lookup = self.roots.lock().look_up(&session);
        let question = match lookup {
            RootsLookup::Cached(roots) => return Ok(roots),
            RootsLookup::Missing(question) => question,
        };
        let roots: Arc<[Root]> = cx.roots(ROOTS_QUESTION).await?.into();
        self.roots.lock().insert(&session, question, &roots);
        Ok(roots)
    }

    /// Forgets the roots of the client of a session: they have changed.
    pub(crate) fn roots_changed(&self, session: &str) {
        self.roots.lock().remove(session);
    }
}

/// Returns the scope by the principal or the session of a client; `client` returns a key of its session or connection.
fn caller_scope(
    policy: SharePolicy,
    caller: Option<&Caller>,
    client: impl FnOnce() -> Option<String>,
) -> Option<SessionScope> {
    let principal = caller.map(Caller::principal);
    let key = match policy {
        SharePolicy::Always | SharePolicy::PerRoot => return None,
        SharePolicy::PerPrincipal => SessionKey::new(["principal", principal.as_deref()?]),
        SharePolicy::PerSession => match client() {
            Some(client) => SessionKey::new(["session", &client, principal.as_deref().unwrap_or_default()]),
            // A modern client over HTTP has neither.
            None => SessionKey::new(["principal", principal.as_deref()?]),
        },
    };
    Some(owned(SessionScope::new(key), principal.as_deref()))
}

/// Makes a principal the owner of a session; those of callers without one have no owner.
pub(crate) fn owned(scope: SessionScope, principal: Option<&str>) -> SessionScope {
    match principal {
        Some(principal) => scope.with_owner(SessionKey::new(["owner", principal])),
        None => scope,
    }
}

/// Returns the scope of a principal with these roots, in any order.
fn root_scope(caller: Option<&Caller>, roots: Arc<[Root]>) -> SessionScope {
    let principal = caller.map(Caller::principal);
    let mut uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    uris.sort_unstable();
    uris.dedup();
    let key = SessionKey::new(["roots", principal.as_deref().unwrap_or_default()].into_iter().chain(uris));
    owned(SessionScope::new(key), principal.as_deref()).with_roots(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_principals_share_a_session_only_if_all_do() {
        let (ada, bob) = (Caller::new("ada"), Caller::new("bob"));
        let client = |name: &str| Some(name.to_owned());
        for policy in SharePolicy::ALL {
            let key = |caller, session: Option<String>| {
                caller_scope(policy, caller, || session).map(|scope| scope.key)
            };
            match policy {
                SharePolicy::Always | SharePolicy::PerRoot => assert_eq!(key(Some(&ada), client("1")), None),
                SharePolicy::PerPrincipal => {
                    assert_eq!(key(Some(&ada), client("1")), key(Some(&ada), client("2")));
                    assert_ne!(key(Some(&ada), None), key(Some(&bob), None));
                    assert_eq!(key(None, client("1")), None, "the main session");
                }
                SharePolicy::PerSession => {
                    assert_ne!(key(Some(&ada), client("1")), key(Some(&ada), client("2")));
                    assert_ne!(key(Some(&ada), client("1")), key(Some(&bob), client("1")));
                    assert_ne!(key(None, client("1")), None);
                    assert_eq!(key(Some(&ada), None), key(Some(&ada), None));
                    assert_ne!(key(Some(&ada), None), key(Some(&bob), None));
                }
            }
        }
    }

    #[test]
    fn the_sessions_of_a_principal_have_one_owner() {
        let (ada, bob) = (Caller::new("ada"), Caller::new("bob"));
        let client = |policy, caller, name: &str| caller_scope(policy, caller, || Some(name.to_owned()));
        let owner = |scope: Option<SessionScope>| scope.unwrap().owner;
        let expected = owner(client(SharePolicy::PerPrincipal, Some(&ada), "1"));
        assert!(expected.is_some());
        assert_eq!(owner(client(SharePolicy::PerSession, Some(&ada), "2")), expected);
        assert_eq!(root_scope(Some(&ada), [Root::new("file:///a")].into()).owner, expected);
        assert_ne!(owner(client(SharePolicy::PerSession, Some(&bob), "2")), expected);
        assert_eq!(owner(client(SharePolicy::PerSession, None, "2")), None);
    }

    #[test]
    fn the_order_of_roots_does_not_matter() {
        let (ada, bob) = (Caller::new("ada"), Caller::new("bob"));
        let key =
            |caller, uris: &[&str]| root_scope(caller, uris.iter().map(|uri| Root::new(*uri)).collect()).key;
        assert_eq!(
            key(Some(&ada), &["file:///a", "file:///b"]),
            key(Some(&ada), &["file:///b", "file:///a"])
        );
        assert_ne!(key(Some(&ada), &["file:///a"]), key(Some(&ada), &["file:///b"]));
        assert_ne!(key(Some(&ada), &["file:///a"]), key(Some(&bob), &["file:///a"]));
        assert_ne!(key(Some(&ada), &[]), key(None, &[]));
    }
}
