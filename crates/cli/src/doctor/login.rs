//! Steps of a login: the challenge, every metadata document tried, client, scopes, PKCE, the stored login.
//!
//! Invariant: nothing is changed. No client is registered, nobody is asked to log in, and the stored token is sent by an
//! authorizer that cannot refresh it.

use std::time::{Duration, Instant, SystemTime};

use switchboard::auth::{AuthError, Discovery, OAuthAuthorizer, OAuthOptions, ServerMetadata, StoredGrant};
use switchboard::transport::http_client::{Address, Challenge, HttpClient};

use crate::doctor::report::{DoctorReport, StepError, StepFailed, TriedUrl};
use crate::error::{CommandError, ExitKind};
use crate::login::{
    AccountSelector, LoginOverview, ProbeOutcome, TokenVerdict, check_token, expiry_text,
    explain_login_error, probe, read_only_authorizer,
};
use crate::provider_advice::provider_of;
use crate::sanitize::one_line;

/// The server whose login is examined.
pub(crate) struct LoginSubject {
    pub(crate) http: HttpClient,
    pub(crate) address: Address,
    pub(crate) selector: AccountSelector,
    pub(crate) options: OAuthOptions,
    /// The client that its configuration names.
    pub(crate) client_id: Option<String>,
    /// The command that logs in to it.
    pub(crate) login_command: String,
}

/// Examines the login of a server. Returns the authorizer with the stored token; `None` if the server wants no login, or does
/// not answer: the handshake says why.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn check_login(
    report: &mut DoctorReport,
    subject: &LoginSubject,
    timeout: Duration,
) -> Result<Option<OAuthAuthorizer>, StepFailed> {
    let began = Instant::now();
    let answer = match tokio::time::timeout(timeout, probe(&subject.http, &subject.address)).await {
        Ok(Ok(answer)) if answer.wants_login() => answer,
        _ => return Ok(None),
    };
    report.passed("challenge", began.elapsed(), challenge_text(&answer));
    let discovery = discover(report, subject, &answer.challenges).await?;
    report.passed("client", Duration::ZERO, client_text(&discovery.server, subject.client_id.as_deref()));
    report.passed("scopes", Duration::ZERO, scopes_text(&discovery, &answer.challenges));
    report.passed("grants", Duration::ZERO, grants_text(&discovery.server));
    check_stored_login(report, subject, &discovery).await.map(Some)
}

fn challenge_text(answer: &ProbeOutcome) -> String {
    let mut text = format!("the server wants a login (status {})", answer.status.as_u16());
    for challenge in &answer.challenges {
        let members = [
            ("scope", &challenge.scope),
            ("error", &challenge.error),
            ("metadata at", &challenge.resource_metadata),
        ];
        let members =
            members.iter().filter_map(|(name, value)| Some(format!(", {name} {}", value.as_deref()?)));
        text += &format!("; {}{}", challenge.scheme, members.collect::<String>());
    }
    one_line(&text)
}

async fn discover(
    report: &mut DoctorReport,
    subject: &LoginSubject,
    challenges: &[Challenge],
) -> Result<Discovery, StepFailed> {
    let began = Instant::now();
    let authorizer =
        OAuthAuthorizer::new(subject.http.clone(), subject.address.clone(), subject.options.clone());
    match authorizer.discover(challenges).await {
        Ok(found) => {
            let issuer = one_line(&found.server.issuer);
            let what = match (found.is_assumed, provider_of(&found.server.issuer)) {
                (true, _) => format!("no metadata was found; assumes /authorize and /token at {issuer}"),
                (false, Some(provider)) => format!("the issuer is {issuer} ({})", provider.name),
                (false, None) => format!("the issuer is {issuer}"),
            };
            report.passed_after("discovery", began.elapsed(), what, &found.attempts);
            Ok(found)
        }
        Err(error) => {
            let tried: Vec<TriedUrl> = error.attempts().iter().map(TriedUrl::from).collect();
            let first = error.to_string();
            let message = match &error {
                // The list of URLs follows.
                AuthError::Discovery { what, url, .. } => format!("{what} was found for {url}"),
                _ => first.lines().next().unwrap_or_default().to_owned(),
            };
            let next = hint_of(explain_login_error(error)).unwrap_or_else(|| {
                "ask whoever runs the server; --server-metadata-url of `switchboard login` names the document".to_owned()
            });
            let failure =
                StepError { tried, ..StepError::new(ExitKind::Authentication, one_line(&message), next) };
            Err(report.failed("discovery", began, failure))
        }
    }
}

fn hint_of(error: CommandError) -> Option<String> {
    match error {
        CommandError::Reported(report) => report.hint,
        _ => None,
    }
}

/// Returns how a client gets its id at this authorization server.
fn client_text(server: &ServerMetadata, configured: Option<&str>) -> String {
    let ways = [
        configured.map(|id| format!("configured: {}", one_line(id))),
        server.client_id_metadata_document_supported.then(|| "metadata documents".to_owned()),
        server
            .registration_endpoint
            .as_deref()
            .map(|url| format!("dynamic registration at {}", one_line(url))),
    ];
    let ways: Vec<String> = ways.into_iter().flatten().collect();
    let ways = match ways.is_empty() {
        true => "none is registered by itself: log in with --client-id ID".to_owned(),
        false => ways.join("; "),
    };
    match server.token_endpoint_auth_methods_supported.as_deref() {
        Some(methods) => format!("{ways}; authentication: {}", one_line(&methods.join(", "))),
        None => ways,
    }
}

/// Returns which scopes exist, and who names them.
fn scopes_text(discovery: &Discovery, challenges: &[Challenge]) -> String {
    let asked = challenges.iter().find_map(|challenge| challenge.scope.clone());
    let listed = discovery.resource_metadata.as_ref().map(|resource| resource.scopes_supported.join(" "));
    let known = discovery.server.scopes_supported.as_ref().map(|scopes| scopes.join(" "));
    let named =
        [("the challenge asks for", asked), ("the resource lists", listed), ("the issuer knows", known)];
    let named = named
        .into_iter()
        .filter_map(|(who, scopes)| Some((who, scopes.filter(|scopes| !scopes.is_empty())?)));
    let named: Vec<String> = named.map(|(who, scopes)| format!("{who}: {}", one_line(&scopes))).collect();
    if named.is_empty() { "none are named: the issuer decides".to_owned() } else { named.join("; ") }
}

/// Returns the ways to log in, and whether the code is protected.
fn grants_text(server: &ServerMetadata) -> String {
    let pkce = match server.supports_s256() {
        true => "PKCE with S256",
        false => "PKCE is not listed, so a login needs --assume-pkce",
    };
    let device = match server.device_authorization_endpoint {
        Some(_) => "device code (--device)",
        None => "no device code",
    };
    let issuer = match server.authorization_response_iss_parameter_supported {
        true => "callbacks name the issuer",
        false => "callbacks do not name the issuer",
    };
    format!("{pkce}; {device}; {issuer}")
}

/// Checks the stored login by sending its token.
async fn check_stored_login(
    report: &mut DoctorReport,
    subject: &LoginSubject,
    discovery: &Discovery,
) -> Result<OAuthAuthorizer, StepFailed> {
    let began = Instant::now();
    let outcome = async {
        let logins = LoginOverview::read().await?;
        let login = logins.select(&subject.address, &subject.selector)?.cloned();
        let check = check_token(&subject.http, &subject.address, login.as_ref()).await?;
        Ok((login, check))
    };
    let (login, check) = match outcome.await {
        Ok(found) => found,
        Err(error) => return Err(fail_with(report, began, error)),
    };
    match (login, check.verdict) {
        (Some(login), TokenVerdict::Accepted) => {
            report.passed("login", began.elapsed(), login_text(&login));
            let authorizer = read_only_authorizer(&subject.http, &subject.address, &login).await;
            authorizer.map_err(|error| fail_with(report, began, error.into()))
        }
        (login, _) => {
            let who = login.map(|login| format!("{}; ", login_text(&login))).unwrap_or_default();
            let mut next = check.next_text(&subject.login_command).unwrap_or_default();
            if check.verdict == TokenVerdict::NotLoggedIn {
                next += &first_login_note(discovery, subject.client_id.is_some());
            }
            let failure = StepError::new(ExitKind::Authentication, format!("{who}{}", check.reason), next);
            Err(report.failed("login", began, failure))
        }
    }
}

fn login_text(login: &StoredGrant) -> String {
    let refresh = match login.grant.refresh_token {
        Some(_) => "refreshed by itself",
        None => "no refresh token",
    };
    format!(
        "account {} at {}: the token is valid {}, {refresh}",
        one_line(&login.key.account),
        one_line(&login.key.issuer),
        expiry_text(login, SystemTime::now())
    )
}

/// Returns what a first login at this authorization server needs, as an addition to the command.
fn first_login_note(discovery: &Discovery, is_configured: bool) -> String {
    let server = &discovery.server;
    let has_client = is_configured
        || server.registration_endpoint.is_some()
        || server.client_id_metadata_document_supported;
    match (discovery.is_assumed, has_client, provider_of(&server.issuer)) {
        (true, ..) => {
            "; or, for a fixed token, add a header to its entry: \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}".to_owned()
        }
        (false, _, Some(provider)) => format!(" ({}: {})", provider.name, provider.note),
        (false, false, None) => " --client-id ID, after you have registered a client there".to_owned(),
        (false, true, None) => String::new(),
    }
}

fn fail_with(report: &mut DoctorReport, began: Instant, error: CommandError) -> StepFailed {
    let (message, next, status) = match error {
        CommandError::Reported(report) => (report.message, report.hint.unwrap_or_default(), report.exit),
        _ => ("interrupted".to_owned(), "try again".to_owned(), ExitKind::Other),
    };
    report.failed("login", began, StepError::new(status, message, next))
}
