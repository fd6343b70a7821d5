//! The authorizers of configured servers.

use std::fmt;

use http::StatusCode;
use http::header::HeaderMap;
use switchboard_auth::{AuthError, CallbackPort, OAuthAuthorizer};
use switchboard_http::{
    Address, AuthorizeError, Authorizer, BoxFuture, Credentials, RequestTarget, Retry, UnauthorizedResponse,
};

/// Sends stored tokens. Where a login is needed, it finds out whether a client has to be registered by hand first.
#[derive(Debug)]
pub(super) struct StoredLoginAuthorizer {
    pub(super) oauth: OAuthAuthorizer,
    pub(super) server: Address,
    /// The port of logins, if no client is configured.
    pub(super) registers_at: Option<CallbackPort>,
}

impl StoredLoginAuthorizer {
    /// Returns why a login would fail: the authorization server registers no clients.
    async fn missing_client(&self, response: &UnauthorizedResponse<'_>) -> Option<AuthorizeError> {
        let port = self.registers_at?;
        if response.status != StatusCode::UNAUTHORIZED || response.sent.authorization().is_some() {
            return None;
        }
        // If discovery fails, the challenge of the server says more.
        let server = self.oauth.discover(response.challenges).await.ok()?.server;
        server.registration_endpoint.is_none().then(|| AuthorizeError::NeedsClientRegistration {
            issuer: server.issuer,
            redirect_uri: Some(port.redirect_uri(self.server.as_str())),
        })
    }
}

impl Authorizer for StoredLoginAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        self.oauth.authorize(target)
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            match self.oauth.handle_unauthorized(response).await? {
                Retry::Again => Ok(Retry::Again),
                Retry::GiveUp => self.missing_client(&response).await.map_or(Ok(Retry::GiveUp), Err),
            }
        })
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        self.oauth.observe_response(target, status, headers);
    }
}

/// Sends nothing: the configuration of the login cannot be used.
pub(super) struct UnusableLogin(pub(super) AuthError);

impl Authorizer for UnusableLogin {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(std::future::ready(Ok(Retry::GiveUp)))
    }
}

impl fmt::Debug for UnusableLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnusableLogin").field(&self.0).finish()
    }
}
