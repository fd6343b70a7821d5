//! OAuth for MCP: from a 401 to an access token, its refresh, and its verification on the other side.
//!
//! ```text
//!   401 + WWW-Authenticate
//!    │ 1 challenge         http::Challenge
//!    │ 2 resource metadata discovery/protected_resource
//!    │ 3 server metadata   discovery/authorization_server
//!    │ 4 client            registration (configured, metadata document, dynamic)
//!    │ 5 scopes            scope
//!    │ 6 authorization     authorization (PKCE, state) ──▶ oauth/login_channel ──▶ callback (state, iss); or device
//!    │ 7 token             token, client_auth, dpop
//!    │ 8 store             store
//!    ▼ 9 refresh           oauth/refresh
//!   Authorization: Bearer …
//! ```
//!
//! [`OAuthAuthorizer`] ties it together behind [`Authorizer`](switchboard_http::Authorizer); it knows no MCP.
//!
//! The other side is [`ResourceServer`]: it verifies the tokens of requests behind
//! [`Verifier`](switchboard_http::Verifier), and describes the resource to clients (`resource_server`, over `jws`).
//!
//! # Invariants
//! - A token is sent only to the server it was issued for, a client secret only to the issuer it belongs to.
//! - Every URL that a server names is checked before it is called.
//! - Nothing of a callback is shown or used before its `state` and its issuer were checked.
//! - A refresh token is presented by one process at a time, and its successor is stored before anybody uses it.
//! - A token is accepted only if it was issued for this server.
//! - No token, code, verifier or secret is printed: not in errors, logs, `Debug` or panics.

mod attempt;
mod authorization;
mod client_auth;
mod device;
mod discovery;
mod dpop;
mod error;
mod fetch;
mod form;
mod jws;
mod loopback;
mod metadata;
mod oauth;
mod random;
mod registration;
mod resource_server;
mod scope;
mod sent_secrets;
mod sizes;
mod store;
mod token;

pub use attempt::{DiscoveryAttempt, DocumentKind};
pub use authorization::AuthorizationRequest;
pub use client_auth::{ClientAuthentication, OAuthClient, SecretPlacement};
pub use device::{DeviceChannel, DevicePrompt};
pub use discovery::Discovery;
pub use error::{AuthError, CallbackError, OAuthError, StoreError};
pub use jws::{SignatureAlgorithm, SigningKey};
pub use loopback::{CallbackPort, FIXED_CALLBACK_PORT, LOGIN_TIMEOUT, LoopbackListener};
pub use metadata::{ResourceMetadata, ServerMetadata};
pub use oauth::{
    AssertionSource, DpopPolicy, EnterpriseManaged, GrantMethod, LoginChannel, OAuthAuthorizer, OAuthOptions,
    PendingCallback, PkcePolicy, ResourceParameter, Revocation,
};
pub use registration::{Registration, client_metadata_document};
pub use resource_server::{
    ApiKeyEntry, ApiKeys, DpopVerification, ResourceServer, ResourceServerError, ResourceVerifier,
};
pub use scope::Scopes;
pub use store::{
    FileStore, Generation, Grant, GrantKey, GrantState, MemoryStore, ServerAccount, StoreLock, StoredClient,
    StoredGrant, SwapOutcome, TokenStore,
};
pub use token::{TokenKind, TokenResponse};
