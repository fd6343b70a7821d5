//! Values of a document that have no type of their own in TOML: durations, addresses, policies.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use switchboard_host::DriftPolicy;

use crate::names::PrefixPolicy;

/// The longest duration: a day.
const MAX_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a duration: `500ms`, `30s`, `5m`, `1h`.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let expected = || {
        D::Error::custom(format!(
            "{text:?} is not a duration from 1ms to 24h; write it like \"30s\", \"500ms\" or \"5m\""
        ))
    };
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let millis = match &text[digits.len()..] {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" | "min" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        _ => None,
    };
    let duration = millis.map(Duration::from_millis).filter(|time| !time.is_zero() && *time <= MAX_DURATION);
    duration.map(Some).ok_or_else(expected)
}

/// Reads an address to listen on; the host defaults to 127.0.0.1.
pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let local = |port: &str| port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = text.parse().ok().or_else(|| local(text.strip_prefix("localhost:").unwrap_or(&text)));
    let expected = || {
        D::Error::custom(format!(
            "{text:?} is not an IP address and a port, like \"127.0.0.1:8080\" or \"[::1]:8080\""
        ))
    };
    address.map(Some).ok_or_else(expected)
}

/// Reads when names are prefixed.
pub(super) fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PrefixPolicy>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "always" => Ok(Some(PrefixPolicy::Always)),
        "conflict" => Ok(Some(PrefixPolicy::Conflict)),
        "never" => Ok(Some(PrefixPolicy::Never)),
        other => Err(D::Error::custom(format!(
            "{other:?} is not a prefix policy; write \"always\", \"conflict\" or \"never\""
        ))),
    }
}

/// Reads what happens to a tool whose definition has changed.
pub(super) fn drift<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DriftPolicy>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "withhold" => Ok(Some(DriftPolicy::Withhold)),
        "report" => Ok(Some(DriftPolicy::Report)),
        other => {
            Err(D::Error::custom(format!("{other:?} is not known here; write \"withhold\" or \"report\"")))
        }
    }
}
