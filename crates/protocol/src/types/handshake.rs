//! Handshake and discovery: `initialize` (legacy) and `server/discover` (modern).
//!
//! Versions are strings, so that unknown ones survive. The session chooses the version.

use crate::types::cache::{CacheHints, CacheScope, cacheable};
use crate::types::capability::{ClientCapabilities, ServerCapabilities};
use crate::types::icon::Icon;
use crate::types::meta::Meta;
use crate::wire::wire;

/// The name and version of a client or a server. For display only; behavior must not depend on it.
///
/// ```
/// use switchboard::protocol::Implementation;
///
/// let server = Implementation::new("weather", "1.4.0").with_title("Weather");
/// assert_eq!((server.name.as_str(), server.version.as_str()), ("weather", "1.4.0"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Implementation {
    /// The name.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// The version.
    pub version: String,
    /// The description (from 2025-11-25).
    pub description: Option<String>,
    /// The URL of its website (from 2025-11-25).
    pub website_url: Option<String>,
    /// Icons (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
}

wire!(Implementation:
    required name "name";
    optional title "title", with_title(String);
    or_default version "version";
    optional description "description", with_description(String);
    optional website_url "websiteUrl", with_website_url(String);
    optional icons "icons", with_icons(Vec<Icon>);
);

impl Implementation {
    /// Creates an implementation with a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: None,
        }
    }
}

/// The parameters of `initialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// The protocol version that the client requests.
    pub protocol_version: String,
    /// The capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// The name and version of the client.
    pub client_info: Implementation,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(InitializeParams:
    required protocol_version "protocolVersion";
    or_default capabilities "capabilities";
    required client_info "clientInfo";
    optional meta "_meta", with_meta(Meta);
);

impl InitializeParams {
    /// Creates the parameters.
    pub fn new(version: impl Into<String>, capabilities: ClientCapabilities, client: Implementation) -> Self {
        Self { protocol_version: version.into(), capabilities, client_info: client, meta: None }
    }
}

/// The result of `initialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The protocol version that the server has chosen.
    pub protocol_version: String,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// The name and version of the server.
    pub server_info: Implementation,
    /// Instructions for the model.
    pub instructions: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(InitializeResult:
    required protocol_version "protocolVersion";
    or_default capabilities "capabilities";
    required server_info "serverInfo";
    optional instructions "instructions", with_instructions(String);
    optional meta "_meta", with_meta(Meta);
);

impl InitializeResult {
    /// Creates the result.
    pub fn new(version: impl Into<String>, capabilities: ServerCapabilities, server: Implementation) -> Self {
        let protocol_version = version.into();
        Self { protocol_version, capabilities, server_info: server, instructions: None, meta: None }
    }
}

/// The parameters of `server/discover`: only `_meta`.
pub type DiscoverParams = crate::types::empty::EmptyParams;

/// The result of `server/discover`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The protocol versions that the server supports, preferred ones first.
    pub supported_versions: Vec<String>,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Instructions for the model.
    pub instructions: Option<String>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The server info in the body, as in drafts of the specification. Decoded, never encoded; see
    /// [`server_info`](Self::server_info).
    body_server_info: Option<Implementation>,
    /// The `_meta` object, which contains the server info.
    pub meta: Option<Meta>,
}

wire!(DiscoverResult:
    required supported_versions "supportedVersions";
    or_default capabilities "capabilities";
    optional instructions "instructions", with_instructions(String);
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    read_only body_server_info "serverInfo";
    optional meta "_meta", with_meta(Meta);
);

impl DiscoverResult {
    /// Creates a result that must not be cached.
    pub fn new(versions: impl Into<Vec<String>>, capabilities: ServerCapabilities) -> Self {
        let hints = CacheHints::new(0, CacheScope::Private);
        Self {
            supported_versions: versions.into(),
            capabilities,
            instructions: None,
            ttl_ms: hints.ttl_ms,
            cache_scope: hints.cache_scope,
            body_server_info: None,
            meta: None,
        }
    }

    /// Returns the name and version of the server: from `_meta`, otherwise from the body, where some servers still put
    /// them.
    pub fn server_info(&self) -> Option<Implementation> {
        let named = self.meta.as_ref().and_then(|meta| meta.decode(Meta::SERVER_INFO).ok().flatten());
        named.or_else(|| self.body_server_info.clone())
    }
}

cacheable!(DiscoverResult);
