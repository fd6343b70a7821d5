//! The steps of the authorization scenarios: an authorizer as the scenario's context wants it, and a browser that follows
//! the redirect of the mock server at once.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use switchboard::auth::{
    AssertionSource, AuthError, EnterpriseManaged, GrantMethod, LoginChannel, OAuthAuthorizer, OAuthClient,
    OAuthOptions, PendingCallback, SignatureAlgorithm, SigningKey,
};
use switchboard::transport::http_client::{
    Address, BoxFuture, HttpClient, HttpClientOptions, PlainHttp, Secret,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::input::{Context, ScenarioInput};

/// The document that the suite recognizes as this client's.
const METADATA_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI: &str = "http://localhost:3000/callback";

/// Returns the authorizer of a scenario.
pub(crate) fn authorizer(input: &ScenarioInput) -> Result<OAuthAuthorizer, Box<dyn Error>> {
    let http = HttpClient::new(HttpClientOptions::default())?;
    let server = Address::parse(&input.url, PlainHttp::LoopbackOnly)?;
    let options = options(&input.scenario, &input.context)?;
    Ok(OAuthAuthorizer::new(http, server, options).with_login(Arc::new(ImmediateBrowser)))
}

fn options(scenario: &str, context: &Context) -> Result<OAuthOptions, Box<dyn Error>> {
    let options = OAuthOptions::default().with_metadata_document(METADATA_DOCUMENT);
    let Some(id) = &context.client_id else { return Ok(options) };
    let secret = |secret: &Option<String>| secret.as_deref().map(Secret::new);
    let client = match (&context.private_key_pem, secret(&context.client_secret)) {
        (Some(pem), _) => {
            let name = context.signing_algorithm.as_deref().unwrap_or("ES256");
            let algorithm = SignatureAlgorithm::from_name(name).ok_or("unknown signing algorithm")?;
            OAuthClient::with_key(id, SigningKey::from_pem(pem, algorithm)?)
        }
        (None, Some(secret)) => OAuthClient::with_secret(id, secret),
        (None, None) => OAuthClient::public(id),
    };
    let grant = match scenario {
        "auth/client-credentials-jwt" | "auth/client-credentials-basic" => GrantMethod::ClientCredentials,
        "auth/wif-jwt-bearer" => {
            let assertion = context.valid_jwt.as_deref().ok_or("no workload token in the context")?;
            GrantMethod::JwtBearer(AssertionSource::Fixed(Secret::new(assertion)))
        }
        "auth/enterprise-managed-authorization" => {
            let endpoint =
                context.idp_token_endpoint.as_deref().ok_or("no identity provider in the context")?;
            let id_token = secret(&context.idp_id_token).ok_or("no identity token in the context")?;
            let idp = OAuthClient::public(context.idp_client_id.as_deref().unwrap_or_default());
            GrantMethod::EnterpriseManaged(EnterpriseManaged::new(endpoint, idp, id_token))
        }
        _ => GrantMethod::AuthorizationCode,
    };
    Ok(options.with_client(client).with_grant(grant))
}

/// A browser whose user agrees at once: requests the login page and returns where it redirects to.
#[derive(Debug)]
struct ImmediateBrowser;

impl LoginChannel for ImmediateBrowser {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async { Ok(Box::new(ImmediateBrowser) as Box<dyn PendingCallback>) })
    }
}

impl PendingCallback for ImmediateBrowser {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(
            async move { location(url).await.map_err(|error| AuthError::LoginAborted(error.to_string())) },
        )
    }
}

/// Returns the `Location` that a URL redirects to. A plain request: the HTTP client follows no redirect to another origin.
async fn location(url: &str) -> Result<String, Box<dyn Error>> {
    let address = Address::parse(url, PlainHttp::LoopbackOnly)?;
    let mut stream = TcpStream::connect((address.host(), address.port())).await?;
    let target = address.uri().path_and_query().map_or("/", |target| target.as_str());
    let request = format!(
        "GET {target} HTTP/1.1\r\nhost: {}:{}\r\nconnection: close\r\n\r\n",
        address.host(),
        address.port()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut response).await?;
    let response = String::from_utf8_lossy(&response);
    let found = response.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    found.ok_or_else(|| NoRedirect(response.lines().next().unwrap_or_default().to_owned()).into())
}

/// The login page does not redirect.
#[derive(Debug)]
struct NoRedirect(String);

impl fmt::Display for NoRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the login page does not redirect: {}", self.0)
    }
}

impl Error for NoRedirect {}
