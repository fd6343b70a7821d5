//! Identity of a client for limits: the authenticated principal, or else the address of the request.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::{HeaderMap, HeaderName};
use switchboard_session::server::Caller;

/// The client that sessions, streams and bytes are counted against.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientId {
    /// An authenticated caller.
    Principal(String),
    /// An address; of IPv6 the /64 network, which one customer usually has.
    Address(IpAddr),
}

impl ClientId {
    /// Returns the client of a request from this caller and address.
    pub(crate) fn of(caller: Option<&Caller>, address: Option<IpAddr>) -> Option<Self> {
        match caller {
            Some(caller) => Some(Self::Principal(caller.principal())),
            None => address.map(Self::at),
        }
    }

    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Address(network(address))
    }
}

/// Returns the part of an address that a client cannot change at will: of IPv6 the /64 network.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The peer address of a connection, for a service that is mounted in another server: a layer in front of it adds this to
/// the extensions of a request. [`HttpListener`](super::HttpListener) needs no such layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

/// The address of the client that a request came from, for handlers: they get it from
/// [`RequestContext::extension`](switchboard_session::server::RequestContext::extension). It is the one that a
/// [trusted proxy](super::HttpServerOptions::trusted_proxies) reports, or else the peer address; of IPv6 the /64 network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The header in which a trusted proxy names the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A range of addresses: `10.0.0.0/8`, `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// Returns whether an address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let difference = match (self.address, address.to_canonical()) {
            (IpAddr::V4(range), IpAddr::V4(address)) => u128::from(range.to_bits() ^ address.to_bits()) << 96,
            (IpAddr::V6(range), IpAddr::V6(address)) => range.to_bits() ^ address.to_bits(),
            _ => return false,
        };
        difference.leading_zeros() >= u32::from(self.prefix)
    }
}

impl From<IpAddr> for AddressRange {
    fn from(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }
}

/// The text is not a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRangeError(String);

impl fmt::Display for AddressRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an address range: write an address, or a network such as 10.0.0.0/8", self.0)
    }
}

impl std::error::Error for AddressRangeError {}

impl FromStr for AddressRange {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || AddressRangeError(text.chars().take(64).collect());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| error())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => {
                prefix.trim().parse::<u8>().ok().filter(|prefix| *prefix <= most).ok_or_else(error)?
            }
            None => most,
        };
        Ok(Self { address, prefix })
    }
}

/// Returns the client address: the peer address, unless the peer is a trusted proxy. Then it is the last address in the
/// header that is not itself a trusted proxy: a client can only forge the ones before it.
pub(crate) fn client_address(
    peer: IpAddr,
    trusted: &[AddressRange],
    header: ForwardedHeader,
    headers: &HeaderMap,
) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|range| range.contains(address));
    if trusted.is_empty() || !is_trusted(peer) {
        return peer;
    }
    let name = match header {
        ForwardedHeader::XForwardedFor => X_FORWARDED_FOR,
        ForwardedHeader::Forwarded => http::header::FORWARDED,
    };
    let mut client = peer;
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    for element in values.iter().rev().flat_map(|value| value.rsplit(',')) {
        let named = match header {
            ForwardedHeader::XForwardedFor => read_address(element),
            ForwardedHeader::Forwarded => forwarded_for(element).and_then(read_address),
        };
        // An unreadable element was not written by a trusted proxy; the last readable one is the client.
        let Some(address) = named else { return client };
        client = address;
        if !is_trusted(address) {
            return client;
        }
    }
    client
}

/// Returns the `for` parameter of one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<&str> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"'))
    })
}

/// Parses an address with an optional port.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        return rest
            .split_once(']')?
            .0
            .parse::<Ipv6Addr>()
            .ok()
            .map(|address| IpAddr::V6(address).to_canonical());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    text.split_once(':')?.0.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(peer: &str, header: ForwardedHeader, lines: &[&str]) -> String {
        let trusted: Vec<AddressRange> = vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        let name = if header == ForwardedHeader::Forwarded { "forwarded" } else { "x-forwarded-for" };
        lines.iter().for_each(|line| _ = headers.append(name, line.parse().unwrap()));
        client_address(peer.parse().unwrap(), &trusted, header, &headers).to_string()
    }

    #[test]
    fn s6_only_a_trusted_proxy_names_the_client() {
        use ForwardedHeader::{Forwarded, XForwardedFor};
        for (peer, header, lines, client) in [
            ("203.0.113.9", XForwardedFor, &["198.51.100.1"][..], "203.0.113.9"),
            ("10.0.0.1", XForwardedFor, &[], "10.0.0.1"),
            ("10.0.0.1", XForwardedFor, &["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.0.0.1", XForwardedFor, &["198.51.100.1"], "198.51.100.1"),
            // The client can only forge the elements before those that the proxies added.
            ("10.0.0.1", XForwardedFor, &["1.2.3.4, 198.51.100.1, 10.2.2.2"], "198.51.100.1"),
            ("10.0.0.1", XForwardedFor, &["1.2.3.4", "198.51.100.1:4711"], "198.51.100.1"),
            ("10.0.0.1", XForwardedFor, &["198.51.100.1, nonsense"], "10.0.0.1"),
            ("10.0.0.1", XForwardedFor, &["10.3.3.3"], "10.3.3.3"),
            ("10.0.0.1", Forwarded, &["for=1.2.3.4, for=198.51.100.1;proto=https"], "198.51.100.1"),
            ("fd00::1", Forwarded, &["For=\"[2001:db8::7]:4711\""], "2001:db8::7"),
            ("10.0.0.1", Forwarded, &["for=unknown"], "10.0.0.1"),
        ] {
            assert_eq!(at(peer, header, lines), client, "{peer} {lines:?}");
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let id = |text: &str| ClientId::at(text.parse().unwrap());
        assert_eq!(id("2001:db8:1:2::1"), id("2001:db8:1:2:ffff::9"));
        assert_ne!(id("2001:db8:1:2::1"), id("2001:db8:1:3::1"));
        assert_eq!(id("::ffff:192.0.2.1"), id("192.0.2.1"));
        assert_ne!(id("192.0.2.2"), id("192.0.2.1"));
    }

    #[test]
    fn ranges_are_read_and_nonsense_is_not() {
        let range: AddressRange = "0.0.0.0/0".parse().unwrap();
        assert!(range.contains("8.8.8.8".parse().unwrap()) && !range.contains("::2".parse().unwrap()));
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "host", "10.0.0.0/-1"] {
            assert!(text.parse::<AddressRange>().is_err(), "{text:?}");
        }
    }
}
