//! Client authentication at the token endpoint: none, secret in the header or in the form, signed assertion.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use switchboard_http::Secret;
use zeroize::Zeroizing;

use crate::error::AuthError;
use crate::form::Form;
use crate::jws::SigningKey;
use crate::metadata::ServerMetadata;

/// An OAuth client: its id, and how it authenticates.
#[derive(Clone)]
#[non_exhaustive]
pub struct OAuthClient {
    /// The client id.
    pub id: String,
    /// How it authenticates at the token endpoint.
    pub authentication: ClientAuthentication,
}

/// How a client authenticates at the token endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// It does not: a public client (`none`).
    Public,
    /// With a secret, in the header or in the form.
    Secret {
        /// The secret.
        secret: Secret,
        /// Where it is sent; `None` to decide by the metadata of the server.
        placement: Option<SecretPlacement>,
    },
    /// With a signed assertion (`private_key_jwt`).
    PrivateKey(SigningKey),
}

/// Where a client secret is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SecretPlacement {
    /// In `Authorization` (`client_secret_basic`).
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// In the form (`client_secret_post`).
    #[serde(rename = "client_secret_post")]
    Post,
}

impl OAuthClient {
    /// Returns a public client.
    pub fn public(id: impl Into<String>) -> Self {
        Self { id: id.into(), authentication: ClientAuthentication::Public }
    }

    /// Returns a client with a secret.
    pub fn with_secret(id: impl Into<String>, secret: Secret) -> Self {
        Self { id: id.into(), authentication: ClientAuthentication::Secret { secret, placement: None } }
    }

    /// Returns a client with a key for `private_key_jwt`.
    pub fn with_key(id: impl Into<String>, key: SigningKey) -> Self {
        Self { id: id.into(), authentication: ClientAuthentication::PrivateKey(key) }
    }

    /// Returns no client: nothing is sent of it.
    pub(crate) fn anonymous() -> Self {
        Self::public("")
    }

    /// Adds the authentication to a token request.
    pub(crate) fn authenticate(
        &self,
        server: &ServerMetadata,
        form: &mut Form,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        match &self.authentication {
            // A workload is known by its assertion alone.
            ClientAuthentication::Public if self.id.is_empty() => {}
            ClientAuthentication::Public => form.add("client_id", &self.id),
            ClientAuthentication::Secret { secret, placement } => {
                match placement.or_else(|| placement_at(server)) {
                    Some(SecretPlacement::Basic) => {
                        _ = headers.insert(AUTHORIZATION, basic(&self.id, secret)?)
                    }
                    Some(SecretPlacement::Post) => {
                        form.add("client_id", &self.id);
                        form.add("client_secret", secret.expose());
                    }
                    // The server takes public clients only, although it issued a secret.
                    None => form.add("client_id", &self.id),
                }
            }
            ClientAuthentication::PrivateKey(key) => {
                let assertion = key.client_assertion(&self.id, &server.issuer)?;
                form.add("client_id", &self.id);
                form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
                form.add("client_assertion", assertion.expose());
            }
        }
        Ok(())
    }
}

/// Chooses where to send a secret; `None` if the server lists methods and none of them takes one.
fn placement_at(server: &ServerMetadata) -> Option<SecretPlacement> {
    let Some(methods) = &server.token_endpoint_auth_methods_supported else {
        // The default of RFC 8414, section 2.
        return Some(SecretPlacement::Basic);
    };
    let lists = |method: &str| methods.iter().any(|listed| listed == method);
    if lists("client_secret_basic") {
        Some(SecretPlacement::Basic)
    } else if lists("client_secret_post") {
        Some(SecretPlacement::Post)
    } else {
        None
    }
}

/// Returns the header value of RFC 6749, section 2.3.1: both parts are form-encoded first.
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, AuthError> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encode(id), encode(secret.expose())));
    let text = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
    let mut value = HeaderValue::from_str(&text)
        .map_err(|error| AuthError::Key { what: "the client secret", reason: error.to_string() })?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthClient")
            .field("id", &self.id)
            .field("authentication", &self.authentication)
            .finish()
    }
}

impl fmt::Debug for ClientAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "Public",
            Self::Secret { .. } => "Secret(••••)",
            Self::PrivateKey(_) => "PrivateKey(••••)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(client: &OAuthClient, methods: Option<&[&str]>) -> (String, Option<String>) {
        let methods = methods.map(|methods| methods.iter().map(|&method| method.to_owned()).collect());
        let server =
            ServerMetadata { token_endpoint_auth_methods_supported: methods, ..ServerMetadata::default() };
        let (mut form, mut headers) = (Form::default(), HeaderMap::new());
        client.authenticate(&server, &mut form, &mut headers).unwrap();
        let header = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        (form.finish(), header)
    }

    #[test]
    fn a_secret_goes_where_the_server_takes_it() {
        let client = OAuthClient::with_secret("id", Secret::new("s3cret"));
        let header = Some("Basic aWQ6czNjcmV0".to_owned());
        assert_eq!(sent(&client, None), (String::new(), header.clone()));
        assert_eq!(
            sent(&client, Some(&["client_secret_post", "client_secret_basic"])),
            (String::new(), header)
        );
        assert_eq!(
            sent(&client, Some(&["client_secret_post"])),
            ("client_id=id&client_secret=s3cret".into(), None)
        );
        assert_eq!(sent(&client, Some(&["none"])), ("client_id=id".into(), None));
        assert_eq!(sent(&OAuthClient::public("id"), None), ("client_id=id".into(), None));
    }

    #[test]
    fn both_parts_of_basic_are_form_encoded() {
        let value = basic("a:b", &Secret::new("c d%")).unwrap();
        let text = STANDARD.decode(value.to_str().unwrap().strip_prefix("Basic ").unwrap()).unwrap();
        assert_eq!(text, b"a%3Ab:c+d%25");
        assert!(value.is_sensitive());
    }

    #[test]
    fn a_printed_client_shows_no_secret() {
        let client = OAuthClient::with_secret("id", Secret::new("s3cret"));
        assert_eq!(format!("{client:?}"), r#"OAuthClient { id: "id", authentication: Secret(••••) }"#);
    }
}
