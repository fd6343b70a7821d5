//! Both steps of discovery in order, and the fallbacks for servers of revision 2025-03-26.

use switchboard_http::{Address, Challenge};

use crate::attempt::DiscoveryAttempt;
use crate::discovery::{authorization_server, protected_resource};
use crate::error::AuthError;
use crate::fetch::{Fetcher, canonical_resource};
use crate::metadata::{ResourceMetadata, ServerMetadata};

/// The most authorization servers of one resource that are tried.
const MAX_ISSUERS: usize = 4;

/// What discovery found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Discovery {
    /// The identifier of the MCP server, as tokens are requested for it.
    pub resource: String,
    /// Metadata of the MCP server; `None` for servers of 2025-03-26.
    pub resource_metadata: Option<ResourceMetadata>,
    /// Metadata of the authorization server.
    pub server: ServerMetadata,
    /// Whether the metadata is assumed: the server has none, and the endpoints are the defaults of 2025-03-26.
    pub is_assumed: bool,
    /// The URLs that were tried.
    pub attempts: Vec<DiscoveryAttempt>,
}

/// Settings that replace a part of discovery.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiscoveryOverrides {
    /// The URL of the metadata of the authorization server.
    pub(crate) server_metadata_url: Option<String>,
}

/// Finds the authorization server of an MCP server.
///
/// # Errors
/// See [`AuthError::Discovery`], [`AuthError::ResourceMismatch`], [`AuthError::IssuerMismatch`]. Each has the URLs that were
/// tried.
pub(crate) async fn discover(
    fetcher: &Fetcher,
    server: &Address,
    challenges: &[Challenge],
    overrides: &DiscoveryOverrides,
) -> Result<Discovery, AuthError> {
    let mut attempts = Vec::new();
    match try_steps(fetcher, server, challenges, overrides, &mut attempts).await {
        Ok(discovery) => Ok(Discovery { attempts, ..discovery }),
        Err(error) => Err(error.with_attempts(&attempts)),
    }
}

async fn try_steps(
    fetcher: &Fetcher,
    server: &Address,
    challenges: &[Challenge],
    overrides: &DiscoveryOverrides,
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Result<Discovery, AuthError> {
    let resource_metadata = protected_resource::find(fetcher, server, challenges, attempts).await?;
    let resource = match &resource_metadata {
        Some(metadata) => metadata.resource.clone(),
        None => canonical_resource(server),
    };
    let mut is_assumed = false;
    let listed = resource_metadata.as_ref().map_or(&[][..], |metadata| &metadata.authorization_servers);
    let metadata = match (&overrides.server_metadata_url, listed) {
        (Some(url), _) => authorization_server::at(fetcher, url, attempts).await?,
        (None, [_, ..]) => first_usable(fetcher, listed, attempts).await?,
        // Revision 2025-03-26: the MCP server's origin is the issuer, and its endpoints have default paths.
        (None, []) => {
            let origin = server.origin().to_string();
            match authorization_server::find(fetcher, &origin, attempts).await {
                Ok(found) => found,
                Err(AuthError::Discovery { .. }) if resource_metadata.is_none() => {
                    is_assumed = true;
                    assumed_metadata(&origin)
                }
                Err(error) => return Err(error),
            }
        }
    };
    Ok(Discovery { resource, resource_metadata, server: metadata, is_assumed, attempts: Vec::new() })
}

/// Returns the metadata of the first listed authorization server that has some.
async fn first_usable(
    fetcher: &Fetcher,
    issuers: &[String],
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Result<ServerMetadata, AuthError> {
    let mut first_error = None;
    for issuer in issuers.iter().take(MAX_ISSUERS) {
        match authorization_server::find(fetcher, issuer, attempts).await {
            Ok(found) => return Ok(found),
            Err(error) => _ = first_error.get_or_insert(error),
        }
    }
    Err(first_error.expect("the list of issuers is not empty"))
}

/// Returns the endpoints that revision 2025-03-26 prescribes for servers without metadata.
fn assumed_metadata(origin: &str) -> ServerMetadata {
    ServerMetadata {
        issuer: origin.to_owned(),
        authorization_endpoint: Some(format!("{origin}/authorize")),
        token_endpoint: Some(format!("{origin}/token")),
        registration_endpoint: Some(format!("{origin}/register")),
        code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
        ..ServerMetadata::default()
    }
}
