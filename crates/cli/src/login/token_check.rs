//! Why a server refuses a token: expired, for another audience or issuer, without a scope, revoked, or blocked by an
//! administrator.
//!
//! Invariants: nothing is changed, no token is refreshed; what the server says is quoted without the token, and never decides
//! alone.

use std::time::{Duration, SystemTime};

use http::StatusCode;
use switchboard::auth::{
    AuthError, Discovery, GrantState, OAuthAuthorizer, OAuthOptions, Scopes, StoredGrant,
};
use switchboard::transport::http_client::{Address, Challenge, HttpClient};

use crate::login::grant_summary::{duration_text, expiry_text};
use crate::login::server_probe::{ProbeOutcome, probe, probe_token};
use crate::login::token_claims::TokenClaims;
use crate::provider_advice::{Advice, Remedy, explain_failure};
use crate::sanitize::one_line;

/// The check that a token fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenVerdict {
    /// The server accepts it.
    Accepted,
    /// The server needs no login.
    NotNeeded,
    NotLoggedIn,
    Expired,
    Audience,
    Issuer,
    Scope,
    Revoked,
    BlockedByAdmin,
    /// Refused, and nothing tells why.
    Unknown,
}

/// The result of a check: the verdict, the reason, and the login that helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenCheck {
    pub(crate) verdict: TokenVerdict,
    pub(crate) reason: String,
    pub(crate) next: TokenStep,
}

/// What helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenStep {
    Nothing,
    LogIn,
    /// A login with these scopes.
    LogInWithScope(String),
    /// Something else.
    Other(String),
}

/// What is known about a token that was sent.
struct TokenFacts<'a> {
    login: &'a StoredGrant,
    claims: Option<TokenClaims>,
    answer: &'a ProbeOutcome,
    discovery: Option<Discovery>,
    now: SystemTime,
}

/// Checks the token of a login at its server; without a login, whether the server wants one.
///
/// # Errors
/// Returns an error if the server cannot be reached.
pub(crate) async fn check_token(
    http: &HttpClient,
    server: &Address,
    login: Option<&StoredGrant>,
) -> Result<TokenCheck, AuthError> {
    let Some(login) = login else {
        let answer = probe(http, server).await?;
        return Ok(match answer.is_refused() {
            true => TokenCheck::new(
                TokenVerdict::NotLoggedIn,
                "you are not logged in".to_owned(),
                TokenStep::LogIn,
            ),
            false => TokenCheck::new(
                TokenVerdict::NotNeeded,
                format!("the server wants no login (status {})", answer.status.as_u16()),
                TokenStep::Nothing,
            ),
        });
    };
    let now = SystemTime::now();
    if let Some(known) = check_stored(login, now) {
        return Ok(known);
    }
    let answer = probe_token(http, server, login).await?;
    if !answer.is_refused() {
        let reason = format!(
            "the server accepts the token of the account {}, which is valid {}",
            one_line(&login.key.account),
            expiry_text(login, now)
        );
        return Ok(TokenCheck::new(TokenVerdict::Accepted, reason, TokenStep::Nothing));
    }
    let authorizer = OAuthAuthorizer::new(http.clone(), server.clone(), OAuthOptions::default());
    let discovery = authorizer.discover(&answer.challenges).await.ok();
    let claims = TokenClaims::read(login.grant.access_token.expose());
    Ok(TokenFacts { login, claims, answer: &answer, discovery, now }.judge())
}

/// Judges a login by what is stored of it: rejected by the authorization server, or expired.
fn check_stored(login: &StoredGrant, now: SystemTime) -> Option<TokenCheck> {
    if let GrantState::NeedsLogin { reason } = &login.grant.state {
        let advice = explain_failure(&[reason]);
        let meaning = advice.map(|advice| format!(": {}", advice.meaning)).unwrap_or_default();
        let reason =
            format!("the authorization server rejected the refresh token ({}){meaning}", one_line(reason));
        let help = |advice: &Advice| TokenStep::Other(advice.help.to_owned());
        let (verdict, next) = match advice {
            Some(advice) if advice.remedy == Remedy::Administrator => {
                (TokenVerdict::BlockedByAdmin, help(advice))
            }
            Some(advice) if advice.remedy == Remedy::Setting => (TokenVerdict::Revoked, help(advice)),
            _ => (TokenVerdict::Revoked, TokenStep::LogIn),
        };
        return Some(TokenCheck::new(verdict, reason, next));
    }
    if !login.grant.is_expired(now) {
        return None;
    }
    let ago = login.grant.expires_at.and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
    let reason = format!("the token expired {} ago", duration_text(ago));
    Some(match login.grant.refresh_token {
        Some(_) => TokenCheck::new(
            TokenVerdict::Expired,
            reason,
            TokenStep::Other("the next command refreshes it: switchboard status".to_owned()),
        ),
        None => TokenCheck::new(
            TokenVerdict::Expired,
            format!("{reason}, and the server issued no refresh token"),
            TokenStep::LogIn,
        ),
    })
}

impl TokenCheck {
    fn new(verdict: TokenVerdict, reason: String, next: TokenStep) -> Self {
        Self { verdict, reason, next }
    }

    /// Returns the command or step that helps, for a server that the user calls so.
    pub(crate) fn next_text(&self, login_command: &str) -> Option<String> {
        match &self.next {
            TokenStep::Nothing => None,
            TokenStep::LogIn => Some(login_command.to_owned()),
            TokenStep::LogInWithScope(scope) => {
                Some(format!("{login_command} --scope '{}'", one_line(scope)))
            }
            TokenStep::Other(text) => Some(text.clone()),
        }
    }
}

impl TokenVerdict {
    /// Returns the name of the verdict, for programs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::NotNeeded => "not-needed",
            Self::NotLoggedIn => "not-logged-in",
            Self::Expired => "expired",
            Self::Audience => "audience",
            Self::Issuer => "issuer",
            Self::Scope => "scope",
            Self::Revoked => "revoked",
            Self::BlockedByAdmin => "blocked-by-admin",
            Self::Unknown => "unknown",
        }
    }
}

impl TokenFacts<'_> {
    fn judge(&self) -> TokenCheck {
        let check = self
            .judge_scope()
            .or_else(|| self.judge_policy())
            .or_else(|| self.judge_expiry())
            .or_else(|| self.judge_issuer())
            .or_else(|| self.judge_audience());
        let check = check.unwrap_or_else(|| self.judge_rest());
        match self.description() {
            Some(description) => {
                TokenCheck { reason: format!("{}; the server says: {description}", check.reason), ..check }
            }
            None => check,
        }
    }

    fn challenge(&self) -> Option<&Challenge> {
        self.answer
            .challenges
            .iter()
            .find(|challenge| challenge.error.is_some())
            .or(self.answer.challenges.first())
    }

    fn description(&self) -> Option<String> {
        let challenge = self.challenge()?;
        let text = challenge.error_description.as_deref().or(challenge.error.as_deref())?;
        // A careless server repeats the token.
        let token = self.login.grant.access_token.expose();
        Some(one_line(&if token.is_empty() { text.to_owned() } else { text.replace(token, "••••") }))
    }

    fn judge_scope(&self) -> Option<TokenCheck> {
        let challenge = self.challenge().filter(|challenge| challenge.is_insufficient_scope())?;
        let wanted = Scopes::parse(challenge.scope.as_deref().unwrap_or_default());
        let has = self.login.grant.scopes();
        let missing: Scopes = wanted.iter().filter(|scope| !has.contains(scope)).collect();
        let reason = match missing.is_empty() {
            true => {
                format!("the token has too few scopes ({has}), and the server does not say which are missing")
            }
            false => format!("the token has the scopes ({has}) and lacks: {missing}"),
        };
        let all = has.union(&wanted).to_string();
        Some(TokenCheck::new(TokenVerdict::Scope, reason, TokenStep::LogInWithScope(all)))
    }

    fn judge_policy(&self) -> Option<TokenCheck> {
        let challenge = self.challenge();
        let texts =
            challenge.map(|challenge| (challenge.error.as_deref(), challenge.error_description.as_deref()));
        let (error, description) = texts.unwrap_or_default();
        let advice = explain_failure(&[error.unwrap_or_default(), description.unwrap_or_default()]);
        if let Some(advice) = advice.filter(|advice| advice.remedy == Remedy::Administrator) {
            let next = TokenStep::Other(advice.help.to_owned());
            return Some(TokenCheck::new(TokenVerdict::BlockedByAdmin, advice.meaning.to_owned(), next));
        }
        (self.answer.status == StatusCode::FORBIDDEN).then(|| {
            TokenCheck::new(
                TokenVerdict::BlockedByAdmin,
                "the server knows the token and does not let this user in (status 403)".to_owned(),
                TokenStep::Other(
                    "ask whoever runs the server for access, or log in with another --account".to_owned(),
                ),
            )
        })
    }

    fn judge_expiry(&self) -> Option<TokenCheck> {
        let expires_at =
            SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(self.claims.as_ref()?.expires_at?))?;
        let ago = self.now.duration_since(expires_at).ok()?;
        Some(TokenCheck::new(
            TokenVerdict::Expired,
            format!("by its own `exp` the token expired {} ago", duration_text(ago)),
            TokenStep::LogIn,
        ))
    }

    fn judge_issuer(&self) -> Option<TokenCheck> {
        let stored = &self.login.key.issuer;
        let trim = |issuer: &str| issuer.trim_end_matches('/').to_owned();
        let named = self.discovery.as_ref().filter(|found| found.resource_metadata.is_some());
        let named = named.map(|found| found.server.issuer.as_str());
        let other = [named, self.claims.as_ref().and_then(|claims| claims.issuer.as_deref())];
        let (at, other) = other.into_iter().enumerate().find_map(|(at, issuer)| {
            issuer.filter(|issuer| trim(issuer) != trim(stored)).map(|issuer| (at, issuer))
        })?;
        let reason = match at {
            0 => format!(
                "the token was issued by {}, but the server names {} now",
                one_line(stored),
                one_line(other)
            ),
            _ => format!(
                "the token names the issuer {}, but it came from {}",
                one_line(other),
                one_line(stored)
            ),
        };
        Some(TokenCheck::new(TokenVerdict::Issuer, reason, TokenStep::LogIn))
    }

    fn judge_audience(&self) -> Option<TokenCheck> {
        let expected = self.discovery.as_ref().map_or(&self.login.key.resource, |found| &found.resource);
        let trim = |resource: &str| resource.trim_end_matches('/').to_owned();
        if let Some(audience) =
            self.claims.as_ref().map(|claims| &claims.audience).filter(|aud| !aud.is_empty())
            && !audience.iter().any(|one| trim(one) == trim(expected))
        {
            let reason = format!(
                "the token is for the audience {}, and the server is {}",
                one_line(&audience.join(", ")),
                one_line(expected)
            );
            let next = "log in with --resource URL, or let the server accept this audience".to_owned();
            return Some(TokenCheck::new(TokenVerdict::Audience, reason, TokenStep::Other(next)));
        }
        let requested = &self.login.key.resource;
        (trim(requested) != trim(expected)).then(|| {
            let reason = format!(
                "the token was requested for {}, and the server is {} now",
                one_line(requested),
                one_line(expected)
            );
            TokenCheck::new(TokenVerdict::Audience, reason, TokenStep::LogIn)
        })
    }

    /// Judges a token without a visible fault.
    fn judge_rest(&self) -> TokenCheck {
        let age = self.now.duration_since(self.login.grant.obtained_at).unwrap_or_default();
        let is_rejected =
            self.challenge().is_some_and(|challenge| challenge.error.as_deref() == Some("invalid_token"));
        match (is_rejected, self.login.grant.expires_at) {
            (true, Some(_)) => TokenCheck::new(
                TokenVerdict::Revoked,
                format!(
                    "the token, {} old, has not expired, and issuer and audience are right as far as it tells: it was \
                     revoked, or its session has ended",
                    duration_text(age)
                ),
                TokenStep::LogIn,
            ),
            (true, None) => TokenCheck::new(
                TokenVerdict::Revoked,
                format!(
                    "the token, {} old, was revoked or has expired: its server did not say when it would",
                    duration_text(age)
                ),
                TokenStep::LogIn,
            ),
            (false, _) => TokenCheck::new(
                TokenVerdict::Unknown,
                format!(
                    "the server refuses the token (status {}) without a reason",
                    self.answer.status.as_u16()
                ),
                TokenStep::LogIn,
            ),
        }
    }
}
