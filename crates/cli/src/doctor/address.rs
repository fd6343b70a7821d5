//! Steps for a server at a URL: check the URL, resolve the host, open a connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use switchboard::Http;
use switchboard::transport::http::client::EndpointError;
use switchboard::transport::http_client::Address;
use switchboard::transport::link::UnreachableKind;
use tokio::net::{TcpStream, lookup_host};

use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::environment::variable;
use crate::error::{ExitKind, unreachable_hint};
use crate::sanitize::one_line;

/// Checks the URL of an endpoint, resolves its host and opens a connection.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn check_address(
    report: &mut DoctorReport,
    http: &Http,
    timeout: Duration,
) -> Result<(), StepFailed> {
    let began = Instant::now();
    let address = match http.check() {
        Ok(address) => address,
        Err(error) => {
            let field = if matches!(error, EndpointError::Header { .. }) { "headers" } else { "url" };
            let next = format!("correct the `{field}` of its entry");
            let trouble = StepError::new(ExitKind::Other, one_line(&error.to_string()), next);
            return Err(report.failed("address", began, trouble));
        }
    };
    let scheme = if address.is_secure() { "https" } else { "plain http" };
    let names: Vec<String> = http.headers().iter().map(|(name, _)| one_line(name)).collect();
    let headers = if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) };
    report.passed(
        "address",
        began.elapsed(),
        format!("{}, port {}, over {scheme}{headers}", one_line(address.host()), address.port()),
    );
    if is_proxied(&address) {
        report.passed("proxy", began.elapsed(), "connects through the proxy of the environment");
        return Ok(());
    }
    let addresses = resolve(report, &address, timeout).await?;
    connect(report, &address, &addresses, timeout).await
}

async fn resolve(
    report: &mut DoctorReport,
    address: &Address,
    timeout: Duration,
) -> Result<Vec<SocketAddr>, StepFailed> {
    let began = Instant::now();
    let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let lookup = tokio::time::timeout(timeout, lookup_host((host.as_str(), address.port()))).await;
    let addresses: Vec<SocketAddr> = match lookup {
        Ok(Ok(addresses)) => addresses.collect(),
        Ok(Err(error)) => return Err(unresolved(report, began, &host, &error.to_string())),
        Err(_) => return Err(unresolved(report, began, &host, "no name server answered in time")),
    };
    if addresses.is_empty() {
        return Err(unresolved(report, began, &host, "the name has no address"));
    }
    let shown: Vec<String> = addresses.iter().take(4).map(|address| address.ip().to_string()).collect();
    report.passed("name", began.elapsed(), format!("{} is {}", one_line(&host), shown.join(", ")));
    Ok(addresses)
}

fn unresolved(report: &mut DoctorReport, began: Instant, host: &str, why: &str) -> StepFailed {
    let message = format!("cannot resolve {}: {why}", one_line(host));
    let next = unreachable_hint(UnreachableKind::Dns);
    report.failed("name", began, StepError::new(ExitKind::Unreachable, message, next))
}

async fn connect(
    report: &mut DoctorReport,
    address: &Address,
    addresses: &[SocketAddr],
    timeout: Duration,
) -> Result<(), StepFailed> {
    let began = Instant::now();
    let why = match tokio::time::timeout(timeout, TcpStream::connect(addresses)).await {
        Ok(Ok(stream)) => {
            let peer = stream.peer_addr().map(|peer| peer.to_string()).unwrap_or_default();
            report.passed("connection", began.elapsed(), format!("connected to {peer}"));
            return Ok(());
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer in {} s", timeout.as_secs_f32()),
    };
    let message = format!("cannot connect to {}:{}: {why}", one_line(address.host()), address.port());
    let next = match address.is_loopback() {
        true => "start the server: nothing listens on this port of this machine",
        false => "check the port, whether the server runs, and whether a firewall is in between",
    };
    Err(report.failed("connection", began, StepError::new(ExitKind::Unreachable, message, next)))
}

/// Returns whether requests may use a proxy, so that a direct connection proves nothing.
fn is_proxied(address: &Address) -> bool {
    let names = if address.is_secure() { ["https_proxy", "all_proxy"] } else { ["http_proxy", "all_proxy"] };
    let is_set = |name: &str| {
        variable(name).or_else(|| variable(&name.to_uppercase())).is_some_and(|value| !value.is_empty())
    };
    !address.is_loopback() && names.into_iter().any(is_set)
}
