//! The credentials that were sent to servers, for masks: a server may quote them in a result or an error.
//!
//! Invariant: every authorizer that the host gives to a transport is observed here.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use switchboard_http::{
    AuthorizeError, Authorizer, BoxFuture, Credentials, RequestTarget, Retry, Secret, UnauthorizedResponse,
};

use crate::transport::header_secrets;

/// The most credentials that are remembered; those sent first are forgotten.
const MAX_CREDENTIALS: usize = 1024;
/// A proof is of use for one request only, and there is a new one for each.
const PROOF: &str = "dpop";

/// The credentials that were sent to servers, the newest last.
#[derive(Debug, Default)]
pub(crate) struct SentCredentials {
    // Held for a lookup or an insert, never across an await.
    headers: Mutex<VecDeque<Secret>>,
}

impl SentCredentials {
    /// Returns an authorizer that does what this one does, and whose credentials are remembered.
    pub(crate) fn observe(self: &Arc<Self>, authorizer: Arc<dyn Authorizer>) -> Arc<dyn Authorizer> {
        let (sent, latest) = (Arc::clone(self), Mutex::default());
        Arc::new(ObservedAuthorizer { authorizer, sent, latest })
    }

    /// Returns the values of the headers, and the tokens in them.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.headers.lock().iter().flat_map(|header| header_secrets(header.expose())).collect()
    }

    fn add(&self, value: &HeaderValue) {
        // What is not text cannot be quoted in JSON.
        let Ok(text) = value.to_str() else { return };
        let header = Secret::new(text);
        let mut headers = self.headers.lock();
        if !headers.contains(&header) {
            if headers.len() == MAX_CREDENTIALS {
                headers.pop_front();
            }
            headers.push_back(header);
        }
    }
}

struct ObservedAuthorizer {
    authorizer: Arc<dyn Authorizer>,
    sent: Arc<SentCredentials>,
    /// The headers of the latest request, so that those of the next are only compared. Never locked across an await.
    latest: Mutex<Vec<HeaderValue>>,
}

impl ObservedAuthorizer {
    fn remember(&self, credentials: &Credentials) {
        let headers =
            || credentials.headers().iter().filter(|(name, _)| name != PROOF).map(|(_, value)| value);
        let mut latest = self.latest.lock();
        if !latest.iter().eq(headers()) {
            headers().for_each(|value| self.sent.add(value));
            *latest = headers().cloned().collect();
        }
    }
}

impl Authorizer for ObservedAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(async move {
            let credentials = self.authorizer.authorize(target).await?;
            self.remember(&credentials);
            Ok(credentials)
        })
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        self.authorizer.handle_unauthorized(response)
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        self.authorizer.observe_response(target, status, headers);
    }
}

impl fmt::Debug for ObservedAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.authorizer.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::*;

    #[test]
    fn credentials_are_remembered_once_and_the_oldest_are_forgotten() {
        let sent = SentCredentials::default();
        for number in 0..=MAX_CREDENTIALS {
            let value = HeaderValue::from_str(&format!("Bearer token-{number}")).unwrap();
            sent.add(&value);
            sent.add(&value);
        }
        let secrets = sent.secrets();
        assert_eq!(secrets.len(), 2 * MAX_CREDENTIALS);
        assert_eq!((secrets[0].expose(), secrets[1].expose()), ("Bearer token-1", "token-1"));
    }

    #[test]
    fn proofs_are_not_remembered() {
        let sent = Arc::new(SentCredentials::default());
        let authorizer = Arc::new(switchboard_http::NoAuth);
        let observed = ObservedAuthorizer { authorizer, sent: Arc::clone(&sent), latest: Mutex::default() };
        for proof in ["one", "two"] {
            let credentials = Credentials::none()
                .with_header(AUTHORIZATION, HeaderValue::from_static("DPoP token"))
                .with_header(PROOF.parse().unwrap(), HeaderValue::from_static(proof));
            observed.remember(&credentials);
        }
        let secrets = sent.secrets();
        let texts: Vec<&str> = secrets.iter().map(Secret::expose).collect();
        assert_eq!(texts, ["DPoP token", "token"]);
    }
}
