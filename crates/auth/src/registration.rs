//! Client registration: the configured client, a client id metadata document, or dynamic registration.
//!
//! Invariant: a client belongs to the issuer that it was registered with; another issuer never sees its id, except for a
//! metadata document, whose URL is the same everywhere.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use switchboard_http::{Address, PlainHttp, Secret};

use crate::client_auth::{ClientAuthentication, OAuthClient, SecretPlacement};
use crate::device::DEVICE_CODE;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::loopback::{FIXED_CALLBACK_PORT, PATH};
use crate::metadata::ServerMetadata;
use crate::scope::Scopes;
use crate::sizes::{MAX_CLIENT_ID, check_size};

/// Stands for the redirect URI where a grant has none.
pub(crate) const NO_REDIRECT: &str = "(none)";

/// How the client gets its id.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Registration {
    /// By a metadata document if the server supports them and one is configured, else by dynamic registration.
    Automatic {
        /// The URL of the client id metadata document.
        metadata_document: Option<String>,
        /// The name under which the client registers.
        client_name: String,
    },
    /// The client was registered by hand.
    Preset(OAuthClient),
}

impl Default for Registration {
    fn default() -> Self {
        Self::Automatic { metadata_document: None, client_name: "Switchboard".to_owned() }
    }
}

/// What a dynamic registration states.
pub(crate) struct RegistrationRequest<'a> {
    pub(crate) client_name: &'a str,
    /// Where callbacks go; `None` for a client that uses the device grant only.
    pub(crate) redirect_uri: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
}

/// Returns whether a metadata document serves as client id here.
pub(crate) fn accepts_metadata_document(server: &ServerMetadata, url: Option<&str>) -> bool {
    // The specification wants https and a path.
    let is_valid = |url: &str| {
        Address::parse(url, PlainHttp::LoopbackOnly)
            .is_ok_and(|address| address.is_secure() && address.uri().path() != "/")
    };
    server.client_id_metadata_document_supported && url.is_some_and(is_valid)
}

/// Returns the metadata document of a client, to be hosted at `url`, which is then the client id
/// ([`OAuthOptions::with_metadata_document`](crate::OAuthOptions::with_metadata_document)).
///
/// It lists the loopback redirect URIs by every name of this machine, without a port, as RFC 8252 has it, and with
/// [`FIXED_CALLBACK_PORT`](crate::FIXED_CALLBACK_PORT), for servers that compare ports.
///
/// ```
/// use switchboard::auth::client_metadata_document;
///
/// let document = client_metadata_document("https://example.com/client.json", "Notes");
/// assert!(document.contains("http://127.0.0.1/callback"));
/// ```
pub fn client_metadata_document(url: &str, client_name: &str) -> String {
    let hosts = ["127.0.0.1", "localhost", "[::1]"];
    let redirect_uris: Vec<String> = hosts
        .iter()
        .flat_map(|host| {
            [format!("http://{host}{PATH}"), format!("http://{host}:{FIXED_CALLBACK_PORT}{PATH}")]
        })
        .collect();
    let document = serde_json::json!({
        "client_id": url,
        "client_name": client_name,
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token", DEVICE_CODE],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    serde_json::to_string_pretty(&document).expect("strings serialize")
}

/// Registers a client (RFC 7591).
///
/// # Errors
/// [`AuthError::NeedsClientRegistration`] if the server does not register clients, or not those of the public; its error if
/// it rejects this one.
pub(crate) async fn register(
    fetcher: &Fetcher,
    server: &ServerMetadata,
    request: &RegistrationRequest<'_>,
) -> Result<OAuthClient, AuthError> {
    let by_hand = || AuthError::NeedsClientRegistration {
        issuer: server.issuer.clone(),
        redirect_uri: request.redirect_uri.unwrap_or(NO_REDIRECT).to_owned(),
    };
    let endpoint = server.registration_endpoint.as_ref().ok_or_else(by_hand)?;
    let address = fetcher.check("registration endpoint", endpoint)?;
    let body = serde_json::to_vec(&ClientMetadata::new(server, request)).expect("strings serialize");
    let answer = fetcher.post_json(address, body).await?;
    if is_closed(answer.status) {
        return Err(by_hand());
    }
    let registered: RegisteredClient = answer.decode()?;
    registered.into_client()
}

/// Returns whether a registration endpoint takes no requests of the public, although the metadata lists it.
fn is_closed(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_IMPLEMENTED
    )
}

/// The client metadata of RFC 7591, section 2.
#[derive(Serialize)]
struct ClientMetadata<'a> {
    client_name: &'a str,
    redirect_uris: Vec<&'a str>,
    grant_types: Vec<&'static str>,
    response_types: Vec<&'static str>,
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

impl<'a> ClientMetadata<'a> {
    fn new(server: &ServerMetadata, request: &RegistrationRequest<'a>) -> Self {
        let is_native = request.redirect_uri.is_none_or(|uri| {
            Address::parse(uri, PlainHttp::Allowed).is_ok_and(|address| address.is_loopback())
        });
        let (grant_type, response_types) = match request.redirect_uri {
            Some(_) => ("authorization_code", vec!["code"]),
            None => (DEVICE_CODE, Vec::new()),
        };
        Self {
            client_name: request.client_name,
            redirect_uris: request.redirect_uri.into_iter().collect(),
            grant_types: vec![grant_type, "refresh_token"],
            response_types,
            token_endpoint_auth_method: requested_method(server),
            application_type: if is_native { "native" } else { "web" },
            scope: (!request.scopes.is_empty()).then(|| request.scopes.to_string()),
        }
    }
}

/// Chooses the authentication method to register for: none where it is allowed, because a program on a user's machine
/// cannot keep a secret.
fn requested_method(server: &ServerMetadata) -> &'static str {
    let Some(methods) = &server.token_endpoint_auth_methods_supported else { return "none" };
    ["none", "client_secret_basic", "client_secret_post"]
        .into_iter()
        .find(|method| methods.iter().any(|listed| listed == method))
        .unwrap_or("none")
}

/// The answer of a registration endpoint.
#[derive(Deserialize)]
struct RegisteredClient {
    client_id: String,
    #[serde(default)]
    client_secret: Option<String>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
}

impl RegisteredClient {
    fn into_client(self) -> Result<OAuthClient, AuthError> {
        check_size("client id", &self.client_id, MAX_CLIENT_ID)?;
        check_size("client secret", self.client_secret.as_deref().unwrap_or_default(), MAX_CLIENT_ID)?;
        let placement = match self.token_endpoint_auth_method.as_deref() {
            Some("client_secret_basic") => Some(SecretPlacement::Basic),
            Some("client_secret_post") => Some(SecretPlacement::Post),
            _ => None,
        };
        let is_public = self.token_endpoint_auth_method.as_deref() == Some("none");
        let authentication = match self.client_secret.filter(|secret| !secret.is_empty() && !is_public) {
            Some(secret) => ClientAuthentication::Secret { secret: Secret::new(secret), placement },
            None => ClientAuthentication::Public,
        };
        Ok(OAuthClient { id: self.client_id, authentication })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(methods: Option<&[&str]>) -> ServerMetadata {
        let methods = methods.map(|methods| methods.iter().map(|&method| method.to_owned()).collect());
        ServerMetadata { token_endpoint_auth_methods_supported: methods, ..ServerMetadata::default() }
    }

    #[test]
    fn the_registration_says_what_the_client_is() {
        let scopes = Scopes::parse("a b");
        let state = |redirect_uri, methods| {
            let request = RegistrationRequest { client_name: "Switchboard", redirect_uri, scopes: &scopes };
            serde_json::to_value(ClientMetadata::new(&server(methods), &request)).unwrap()
        };
        let native = state(Some("http://127.0.0.1:7777/callback"), None);
        assert_eq!(native["application_type"], "native");
        assert_eq!(native["token_endpoint_auth_method"], "none");
        assert_eq!(native["grant_types"], serde_json::json!(["authorization_code", "refresh_token"]));
        assert_eq!(native["scope"], "a b");
        let web = state(Some("https://tunnel.example/callback"), Some(&["client_secret_post"]));
        assert_eq!(web["application_type"], "web");
        assert_eq!(web["token_endpoint_auth_method"], "client_secret_post");
        let device = state(None, None);
        assert_eq!(device["application_type"], "native");
        assert_eq!(device["grant_types"], serde_json::json!([DEVICE_CODE, "refresh_token"]));
        assert_eq!((&device["redirect_uris"], &device["response_types"]), (&json!([]), &json!([])));
    }

    #[test]
    fn b05_a_metadata_document_lists_loopback_by_every_name() {
        let document = client_metadata_document("https://a.example/client.json", "Switchboard");
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["client_id"], "https://a.example/client.json");
        let uris = document["redirect_uris"].as_array().unwrap();
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            for port in ["", ":28417"] {
                assert!(uris.contains(&json!(format!("http://{host}{port}/callback"))), "{uris:?}");
            }
        }
    }

    #[test]
    fn a_secret_for_a_public_client_is_not_used() {
        let read =
            |text: &str| serde_json::from_str::<RegisteredClient>(text).unwrap().into_client().unwrap();
        let public = read(r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"none"}"#);
        assert!(matches!(public.authentication, ClientAuthentication::Public));
        let post = read(
            r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
        );
        assert!(matches!(
            post.authentication,
            ClientAuthentication::Secret { placement: Some(SecretPlacement::Post), .. }
        ));
    }

    #[test]
    fn a_metadata_document_is_an_https_url_with_a_path() {
        let mut server = server(None);
        assert!(!accepts_metadata_document(&server, Some("https://a.example/client.json")));
        server.client_id_metadata_document_supported = true;
        assert!(accepts_metadata_document(&server, Some("https://a.example/client.json")));
        for wrong in [None, Some("https://a.example/"), Some("http://localhost/client.json"), Some("x")] {
            assert!(!accepts_metadata_document(&server, wrong), "{wrong:?}");
        }
    }
}
