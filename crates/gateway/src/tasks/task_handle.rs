//! The task ids of the gateway: signed text that says where a task is and whose it is. Nothing is kept for them.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use switchboard_host::{SessionKey, SessionScope};
use switchboard_protocol::RpcError;
use switchboard_session::{StateKeys, TaskProtocol};

use crate::sharing::owned;

/// The longest id that a server may give a task.
const MAX_UPSTREAM_ID_BYTES: usize = 512;
/// The longest id of the gateway.
const MAX_BYTES: usize = 4 * 1024;
/// How long an id is valid when its task has no lifetime.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The content of a task id. Short names: the id travels with every request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskHandle {
    /// The server.
    #[serde(rename = "s")]
    pub(crate) server: String,
    /// The server's own name of the tool.
    #[serde(rename = "t")]
    pub(crate) tool: String,
    /// The server's own id of the task.
    #[serde(rename = "i")]
    pub(crate) id: String,
    /// Whether the server uses the core protocol.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    is_core: bool,
    /// Whose task it is: a principal, or a session.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    /// The key of the session with the server, as text; `None` for the main one.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The replica in whose session with the server the task is.
    #[serde(rename = "r")]
    replica: String,
    /// When it expires, in seconds since 1970.
    #[serde(rename = "x")]
    expires: u64,
}

/// Where a new task is.
pub(crate) struct TaskOrigin<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) protocol: TaskProtocol,
    pub(crate) session: Option<SessionKey>,
    pub(crate) replica: &'a str,
}

impl TaskHandle {
    pub(crate) fn new(
        origin: &TaskOrigin<'_>,
        id: &str,
        owner: Option<String>,
        lifetime: Option<Duration>,
    ) -> Self {
        let expires = now() + lifetime.unwrap_or(DEFAULT_LIFETIME).min(DEFAULT_LIFETIME).as_secs() + 1;
        Self {
            server: origin.server.to_owned(),
            tool: origin.tool.to_owned(),
            id: id.to_owned(),
            is_core: origin.protocol == TaskProtocol::Core,
            owner,
            session: origin.session.map(|key| URL_SAFE_NO_PAD.encode(key.as_bytes())),
            replica: origin.replica.to_owned(),
            expires,
        }
    }

    /// Returns the protocol of the server.
    pub(crate) fn protocol(&self) -> TaskProtocol {
        if self.is_core { TaskProtocol::Core } else { TaskProtocol::Extension }
    }

    /// Returns whether only another replica can reach the task: it belongs to a session.
    pub(crate) fn is_elsewhere(&self, replica: &str) -> bool {
        self.is_core && self.replica != replica
    }

    /// Returns the session that the task is in; `None` for the main one.
    pub(crate) fn scope(&self) -> Option<SessionScope> {
        let bytes = URL_SAFE_NO_PAD.decode(self.session.as_ref()?).ok()?;
        let scope = SessionScope::new(SessionKey::from_bytes(bytes.try_into().ok()?));
        Some(owned(scope, self.owner.as_deref()))
    }

    pub(crate) fn server(&self) -> Arc<str> {
        self.server.as_str().into()
    }

    /// Signs the id, for one view.
    ///
    /// # Errors
    /// When it is too long.
    pub(crate) fn sign(&self, keys: &StateKeys, view: Option<&str>) -> Result<String, RpcError> {
        let too_long = |bytes| {
            RpcError::internal(format!("the server gave its task an id of {bytes} bytes, which is too long"))
        };
        if self.id.len() > MAX_UPSTREAM_ID_BYTES {
            return Err(too_long(self.id.len()));
        }
        let payload = serde_json::to_vec(self).map_err(|error| RpcError::internal(error.to_string()))?;
        let signed = keys.sign(&context(view), &payload);
        if signed.len() > MAX_BYTES { Err(too_long(signed.len())) } else { Ok(signed) }
    }

    /// Reads an id; `None` if it was not signed for this view, has expired, or is not of this owner.
    pub(crate) fn open(
        keys: &StateKeys,
        view: Option<&str>,
        owner: Option<&str>,
        text: &str,
    ) -> Option<Self> {
        let handle = Self::read(keys, view, text)?;
        (handle.owner.as_deref() == owner).then_some(handle)
    }

    /// Reads an id of any owner.
    pub(crate) fn read(keys: &StateKeys, view: Option<&str>, text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let payload = keys.verify(&context(view), text)?;
        let handle: Self = serde_json::from_slice(&payload).ok()?;
        (handle.expires > now()).then_some(handle)
    }
}

fn context(view: Option<&str>) -> String {
    format!("task {view:?}")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(owner: Option<&str>, lifetime: Option<Duration>) -> TaskHandle {
        let origin = TaskOrigin {
            server: "files",
            tool: "index",
            protocol: TaskProtocol::Core,
            session: Some(SessionKey::new(["ada"])),
            replica: "here",
        };
        TaskHandle::new(&origin, "7", owner.map(str::to_owned), lifetime)
    }

    #[test]
    fn an_id_opens_for_its_owner_in_its_view_with_its_keys() {
        let keys = StateKeys::random();
        let own = handle(Some("ada"), None);
        let id = own.sign(&keys, Some("docs")).unwrap();
        let open = |keys: &StateKeys, view, owner, id: &str| TaskHandle::open(keys, view, owner, id);
        assert_eq!(open(&keys, Some("docs"), Some("ada"), &id), Some(own.clone()));
        assert_eq!(open(&keys, Some("docs"), Some("bob"), &id), None);
        assert_eq!(open(&keys, Some("docs"), None, &id), None);
        assert_eq!(open(&keys, None, Some("ada"), &id), None);
        assert_eq!(open(&StateKeys::random(), Some("docs"), Some("ada"), &id), None);
        assert_eq!(open(&keys, Some("docs"), Some("ada"), &format!("{id}A")), None);
        assert_eq!(own.scope().map(|scope| scope.key), Some(SessionKey::new(["ada"])));
        assert!(own.is_elsewhere("there") && !own.is_elsewhere("here"));
        for junk in ["", "7", "é", &"A".repeat(MAX_BYTES + 1)] {
            assert_eq!(TaskHandle::read(&keys, None, junk), None, "{junk:.9}");
        }
    }

    #[test]
    fn a_rotated_key_opens_older_ids_and_expired_ones_do_not_open() {
        let (old, new) = ([1; 32], [2; 32]);
        let before = StateKeys::new([old]).unwrap();
        let id = handle(None, None).sign(&before, None).unwrap();
        let rotated = StateKeys::new([new, old]).unwrap();
        assert!(TaskHandle::open(&rotated, None, None, &id).is_some());
        assert_ne!(handle(None, None).sign(&rotated, None).unwrap()[..5], id[..5], "ids name their key");
        let mut expired = handle(None, None);
        expired.expires = now();
        assert_eq!(TaskHandle::open(&before, None, None, &expired.sign(&before, None).unwrap()), None);
        let mut long = handle(None, None);
        long.id = "7".repeat(MAX_UPSTREAM_ID_BYTES + 1);
        assert!(long.sign(&before, None).is_err());
    }
}
