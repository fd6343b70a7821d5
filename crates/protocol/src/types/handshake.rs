//! How two peers get to know each other: `initialize` (legacy), `server/discover` (modern).
//!
//! Versions stay text, so that one we do not know survives. Which to choose is for a conversation to decide.

use crate::setter::setters;
use crate::types::cache::{CacheHints, CacheScope, cacheable};
use crate::types::capability::{ClientCapabilities, ServerCapabilities};
use crate::types::icon::Icon;
use crate::types::meta::Meta;
use crate::wire::wire;

/// The name and version of a piece of software. For display; never a reason to behave differently.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is (from 2025-11-25).
    pub description: Option<String>,
    /// Where to read about it (from 2025-11-25).
    pub website_url: Option<String>,
    /// Pictures (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
}

wire!(Implementation:
    required name "name";
    optional title "title";
    or_default version "version";
    optional description "description";
    optional website_url "websiteUrl";
    optional icons "icons";
);

impl Implementation {
    /// A name and a version.
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

setters!(Implementation:
    some with_title title String;
    some with_description description String;
    some with_website_url website_url String;
    some with_icons icons Vec<Icon>;
);

/// What a legacy client opens with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// The version the client wants.
    pub protocol_version: String,
    /// What it can do.
    pub capabilities: ClientCapabilities,
    /// Who it is.
    pub client_info: Implementation,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(InitializeParams:
    required protocol_version "protocolVersion";
    or_default capabilities "capabilities";
    required client_info "clientInfo";
    optional meta "_meta";
);

impl InitializeParams {
    /// Asks for a version.
    pub fn new(version: impl Into<String>, capabilities: ClientCapabilities, client: Implementation) -> Self {
        Self { protocol_version: version.into(), capabilities, client_info: client, meta: None }
    }
}

setters!(InitializeParams: some with_meta meta Meta;);

/// What a legacy server answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The version to be spoken.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who it is.
    pub server_info: Implementation,
    /// How to use it, for the model.
    pub instructions: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(InitializeResult:
    required protocol_version "protocolVersion";
    or_default capabilities "capabilities";
    required server_info "serverInfo";
    optional instructions "instructions";
    optional meta "_meta";
);

impl InitializeResult {
    /// Settles on a version.
    pub fn new(version: impl Into<String>, capabilities: ServerCapabilities, server: Implementation) -> Self {
        let protocol_version = version.into();
        Self { protocol_version, capabilities, server_info: server, instructions: None, meta: None }
    }
}

setters!(InitializeResult:
    some with_instructions instructions String;
    some with_meta meta Meta;
);

/// What a modern client asks first: nothing but `_meta`.
pub type DiscoverParams = crate::types::empty::EmptyParams;

/// What a modern server says about itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The versions the server speaks, those it prefers first.
    pub supported_versions: Vec<String>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    pub instructions: Option<String>,
    /// How long this stays fresh, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// The server's name where drafts had it. Written never; read by [`server_info`](Self::server_info).
    body_server_info: Option<Implementation>,
    /// Anything else, the server's name among it.
    pub meta: Option<Meta>,
}

wire!(DiscoverResult:
    required supported_versions "supportedVersions";
    or_default capabilities "capabilities";
    optional instructions "instructions";
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    read_only body_server_info "serverInfo";
    optional meta "_meta";
);

impl DiscoverResult {
    /// The versions and capabilities of a server, not to be cached.
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

    /// Who the server is: from `_meta`, or else from the body, where some servers still put it.
    pub fn server_info(&self) -> Option<Implementation> {
        let named = self.meta.as_ref().and_then(|meta| meta.decode(Meta::SERVER_INFO).ok().flatten());
        named.or_else(|| self.body_server_info.clone())
    }
}

setters!(DiscoverResult:
    some with_instructions instructions String;
    some with_meta meta Meta;
);
cacheable!(DiscoverResult);
