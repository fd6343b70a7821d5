//! All steps for one server, in order: a configured one, a program, or a URL.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use switchboard::client::ClientSession;
use switchboard::host::config::OAuthConfig;
use switchboard::host::{ServerSpec, Transport};
use switchboard::transport::Tap;
use switchboard::transport::http::client::HeaderHelper;
use switchboard::transport::http_client::{Address, Authorizer};
use switchboard::{Http, Stdio};

use crate::configured_servers::{ConfigFiles, LoginTarget};
use crate::connect::{CLOSE_TIMEOUT, record_stray_line};
use crate::doctor::address::check_address;
use crate::doctor::entry::check_entry;
use crate::doctor::handshake::{DoctorTransport, FirstMessage, open_session};
use crate::doctor::headers::check_headers;
use crate::doctor::login::{LoginSubject, check_login};
use crate::doctor::program::check_program;
use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::error::{CommandError, ExitKind};
use crate::login::{AccountSelector, http_client};

/// Timeout for resolving a host and opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A configured server that is examined.
#[derive(Clone, Copy)]
pub(crate) struct ConfiguredSubject<'a> {
    pub(crate) name: &'a str,
    pub(crate) timeout: Option<Duration>,
    pub(crate) account: Option<&'a str>,
}

/// Examines a configured server, and closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn examine_server(
    report: &mut DoctorReport,
    files: &ConfigFiles,
    name: &str,
) -> Result<(), StepFailed> {
    let subject = ConfiguredSubject { name, timeout: None, account: None };
    let session = examine_configured(report, files, subject).await?;
    // Errors while closing do not matter here.
    _ = session.close_within(CLOSE_TIMEOUT).await;
    Ok(())
}

/// Examines a server that is in no file, and closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn examine_spec(
    report: &mut DoctorReport,
    name: &str,
    spec: ServerSpec,
) -> Result<(), StepFailed> {
    let subject = ConfiguredSubject { name, timeout: None, account: None };
    let session = examine_transport(report, spec, subject).await?;
    // Errors while closing do not matter here.
    _ = session.close_within(CLOSE_TIMEOUT).await;
    Ok(())
}

/// Examines a configured server. The caller closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn examine_configured(
    report: &mut DoctorReport,
    files: &ConfigFiles,
    subject: ConfiguredSubject<'_>,
) -> Result<ClientSession, StepFailed> {
    let spec = check_entry(report, files, subject.name)?;
    examine_transport(report, spec, subject).await
}

async fn examine_transport(
    report: &mut DoctorReport,
    spec: ServerSpec,
    subject: ConfiguredSubject<'_>,
) -> Result<ClientSession, StepFailed> {
    let ConfiguredSubject { name, account, .. } = subject;
    let timeout = subject.timeout.unwrap_or(spec.startup_timeout);
    match spec.transport {
        Transport::Stdio(stdio) => examine_program(report, *stdio, timeout).await,
        Transport::InProcess(server) => {
            open_session(report, Arc::new(server), &DoctorTransport::Http, timeout).await
        }
        Transport::Http(http) => {
            let has_own = http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            let address = http.check().ok().filter(|_| !has_own);
            // An HTTP client that cannot be created fails at the connection, too.
            let login = address.and_then(|address| login_subject(account, name, address, spec.oauth).ok());
            let helper = spec.header_helper.map(|helper| {
                // As the host does.
                helper
                    .with_default_env("CLAUDE_CODE_MCP_SERVER_NAME", name)
                    .with_default_env("CLAUDE_CODE_MCP_SERVER_URL", http.url())
            });
            let subject = RemoteSubject { http: *http, helper, login };
            examine_remote(report, subject, timeout).await
        }
        _ => {
            let message = "only its own application can connect to it";
            let error = StepError::new(ExitKind::Other, message, "check it in that application");
            Err(report.failed("reach", Instant::now(), error))
        }
    }
}

/// Returns the login to examine: that of the named account, or the one that other commands would use.
pub(crate) fn login_subject(
    account: Option<&str>,
    name: &str,
    address: Address,
    oauth: Option<Arc<OAuthConfig>>,
) -> Result<LoginSubject, CommandError> {
    let target = LoginTarget { name: name.to_owned(), address, oauth };
    Ok(LoginSubject {
        http: http_client()?,
        login_command: target.login_command(account),
        selector: AccountSelector::new(target.account(account), true),
        options: target.options()?,
        client_id: target.oauth.as_ref().and_then(|oauth| oauth.client_id.clone()),
        address: target.address,
    })
}

/// Examines a program. The caller closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn examine_program(
    report: &mut DoctorReport,
    command: Stdio,
    timeout: Duration,
) -> Result<ClientSession, StepFailed> {
    check_program(report, &command)?;
    let (first_message, stray_line) = (FirstMessage::default(), Arc::<OnceLock<String>>::default());
    let (first, stray) = (first_message.clone(), Arc::clone(&stray_line));
    let tap = Tap::new(move |direction, frame| match direction {
        switchboard::transport::Direction::Out => first.record(),
        switchboard::transport::Direction::In => record_stray_line(frame, &stray),
    });
    open_session(
        report,
        Arc::new(command.tap(tap)),
        &DoctorTransport::Program { first_message, stray_line },
        timeout,
    )
    .await
}

/// A server at a URL, with the sources of its credentials.
pub(crate) struct RemoteSubject {
    pub(crate) http: Http,
    pub(crate) helper: Option<HeaderHelper>,
    /// Its login, if it has no credentials of its own.
    pub(crate) login: Option<LoginSubject>,
}

/// Examines a server at a URL. The caller closes the session.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn examine_remote(
    report: &mut DoctorReport,
    subject: RemoteSubject,
    timeout: Duration,
) -> Result<ClientSession, StepFailed> {
    let RemoteSubject { mut http, helper, login } = subject;
    let connect_timeout = timeout.min(CONNECT_TIMEOUT);
    check_address(report, &http, connect_timeout).await?;
    let printed = match &helper {
        Some(helper) => check_headers(report, helper).await?,
        None => Vec::new(),
    };
    let mut authorizer: Option<Arc<dyn Authorizer>> = None;
    if let Some(login) = login.filter(|_| !printed.iter().any(|(name, _)| *name == AUTHORIZATION)) {
        let checked = check_login(report, &login, connect_timeout).await?;
        authorizer = checked.map(|checked| -> Arc<dyn Authorizer> { Arc::new(checked) });
    }
    if let Some(helper) = helper {
        authorizer = Some(Arc::new(helper.authorizer(authorizer).with_headers(printed)));
    }
    if let Some(authorizer) = authorizer {
        http = http.authorizer(authorizer);
    }
    open_session(report, Arc::new(http), &DoctorTransport::Http, timeout).await
}
