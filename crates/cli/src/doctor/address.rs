//! The steps of a server at an address: what the address is, what its name stands for, and whether somebody listens.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use switchboard::Http;
use switchboard::http::Address;
use switchboard::session::link::UnreachableKind;
use switchboard::transport::http::client::EndpointError;
use tokio::net::{TcpStream, lookup_host};

use crate::doctor::report::{Report, Stop, Trouble};
use crate::environment::variable;
use crate::failure::{Status, unreachable_hint};
use crate::sanitize::one_line;

/// Checks the address of an endpoint, that its host is known and that something listens there.
///
/// # Errors
/// The step that failed.
pub(crate) async fn reach_address(report: &mut Report, http: &Http, patience: Duration) -> Result<(), Stop> {
    let began = Instant::now();
    let address = match http.check() {
        Ok(address) => address,
        Err(error) => {
            let field = if matches!(error, EndpointError::Header { .. }) { "headers" } else { "url" };
            let next = format!("correct the `{field}` of its entry");
            let trouble = Trouble::new(Status::Other, one_line(&error.to_string()), next);
            return Err(report.failed("address", began, trouble));
        }
    };
    let how = if address.is_secure() { "https" } else { "plain http" };
    let names: Vec<String> = http.headers().iter().map(|(name, _)| one_line(name)).collect();
    let sent = if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) };
    _ = report.passed(
        "address",
        began.elapsed(),
        format!("{}, port {}, over {how}{sent}", one_line(address.host()), address.port()),
    );
    if is_proxied(&address) {
        _ = report.passed("proxy", began.elapsed(), "connects through the proxy of the environment");
        return Ok(());
    }
    let found = resolve(report, &address, patience).await?;
    connect(report, &address, &found, patience).await
}

async fn resolve(
    report: &mut Report,
    address: &Address,
    patience: Duration,
) -> Result<Vec<SocketAddr>, Stop> {
    let began = Instant::now();
    let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let looked = tokio::time::timeout(patience, lookup_host((host.as_str(), address.port()))).await;
    let found: Vec<SocketAddr> = match looked {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) => return Err(unknown(report, began, &host, &error.to_string())),
        Err(_) => return Err(unknown(report, began, &host, "no name server answered in time")),
    };
    if found.is_empty() {
        return Err(unknown(report, began, &host, "the name has no address"));
    }
    let shown: Vec<String> = found.iter().take(4).map(|address| address.ip().to_string()).collect();
    _ = report.passed("name", began.elapsed(), format!("{} is {}", one_line(&host), shown.join(", ")));
    Ok(found)
}

fn unknown(report: &mut Report, began: Instant, host: &str, why: &str) -> Stop {
    let said = format!("cannot resolve {}: {why}", one_line(host));
    let next = unreachable_hint(UnreachableKind::Dns);
    report.failed("name", began, Trouble::new(Status::Unreachable, said, next))
}

async fn connect(
    report: &mut Report,
    address: &Address,
    found: &[SocketAddr],
    patience: Duration,
) -> Result<(), Stop> {
    let began = Instant::now();
    let why = match tokio::time::timeout(patience, TcpStream::connect(found)).await {
        Ok(Ok(stream)) => {
            let peer = stream.peer_addr().map(|peer| peer.to_string()).unwrap_or_default();
            _ = report.passed("connection", began.elapsed(), format!("connected to {peer}"));
            return Ok(());
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer in {} s", patience.as_secs_f32()),
    };
    let said = format!("cannot connect to {}:{}: {why}", one_line(address.host()), address.port());
    let next = match address.is_loopback() {
        true => "start the server: nothing listens on this port of this machine",
        false => "check the port, whether the server runs, and whether a firewall is in between",
    };
    Err(report.failed("connection", began, Trouble::new(Status::Unreachable, said, next)))
}

/// Whether requests may go through a proxy, so that our own way there says nothing.
fn is_proxied(address: &Address) -> bool {
    let names = if address.is_secure() { ["https_proxy", "all_proxy"] } else { ["http_proxy", "all_proxy"] };
    let is_set = |name: &str| {
        variable(name).or_else(|| variable(&name.to_uppercase())).is_some_and(|value| !value.is_empty())
    };
    !address.is_loopback() && names.into_iter().any(is_set)
}
