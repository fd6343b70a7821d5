//! Parsers of argument values.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use switchboard::protocol::Revision;
use switchboard::transport::http_client::Secret;

/// Parses a size in bytes: `65536`, `64K`, `64M`, `1G`.
pub(super) fn byte_count(text: &str) -> Result<usize, String> {
    let plain = text.trim().trim_end_matches(['b', 'B']).trim_end_matches('i');
    let (digits, shift) = match plain.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&plain[..at], 10),
        Some((at, 'm' | 'M')) => (&plain[..at], 20),
        Some((at, 'g' | 'G')) => (&plain[..at], 30),
        _ => (plain, 0),
    };
    let count = digits.trim().parse::<usize>().ok().and_then(|count| count.checked_mul(1 << shift));
    count.filter(|count| *count >= 1024).ok_or_else(|| "expected a size of at least 1K, like 64M".to_owned())
}

/// Parses a timeout in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds, like 30 or 0.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a timeout must be longer than 0 seconds".to_owned()),
    }
}

/// Accepts any text, so that errors about a header are reported later, without its value.
pub(super) fn secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text))
}

/// Parses an address to listen on; the host defaults to 127.0.0.1.
pub(super) fn socket(text: &str) -> Result<SocketAddr, String> {
    let local = |port: &str| port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let known = text.parse().ok().or_else(|| local(text.strip_prefix("localhost:").unwrap_or(text)));
    known.ok_or_else(|| "expected an IP address and a port, like 127.0.0.1:8080 or [::1]:8080".to_owned())
}

/// Parses a protocol revision.
pub(super) fn revision(text: &str) -> Result<Revision, String> {
    let known = Revision::ALL.map(Revision::as_str).join(", ");
    text.parse().map_err(|_| format!("expected one of {known}"))
}

/// Parses `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c10_sizes_are_parsed() {
        assert_eq!(byte_count("64M"), Ok(64 << 20));
        assert_eq!(byte_count("2GiB"), Ok(2 << 30));
        assert_eq!(byte_count("4096"), Ok(4096));
        for wrong in ["", "M", "1", "64T", "-1K", "99999999999G"] {
            assert!(byte_count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn listen_addresses_may_be_abbreviated() {
        for (given, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("localhost:80", "127.0.0.1:80"),
            ("8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
        ] {
            assert_eq!(socket(given).map(|address| address.to_string()).as_deref(), Ok(expected));
        }
        for given in ["", "127.0.0.1", "localhost", "example.com:80", "99999"] {
            assert!(socket(given).is_err(), "{given}");
        }
    }
}
