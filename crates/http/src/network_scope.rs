//! Network scopes of IP addresses, and which of them a request may be sent to.
//!
//! Invariants: an IPv4 address inside an IPv6 address (mapped, NAT64, 6to4) has the scope of the IPv4 address; what no list of
//! IANA calls globally reachable, private or loopback is special, and so are the metadata services of clouds. Classifies only;
//! `dial` asks for the address that it is about to connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an IP address is reachable from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NetworkScope {
    /// From everywhere.
    Global,
    /// In a private network: RFC 1918, the shared space of RFC 6598, the range for benchmarks (RFC 2544), and unique local
    /// addresses.
    Private,
    /// On this machine.
    Loopback,
    /// Link-local, unspecified, multicast, documentation, reserved, or the metadata service of a cloud.
    Special,
}

/// Which addresses a request may be sent to. Checked for the resolved address that is connected to, so that neither a name
/// whose answers change nor an unusual notation of an address circumvents it.
///
/// Behind a proxy the proxy resolves names: only addresses written as numbers are checked then.
///
/// ```
/// use switchboard::transport::http_client::{AddressPolicy, NetworkScope};
///
/// let scope = NetworkScope::of("::ffff:10.0.0.1".parse()?);
/// assert_eq!(scope, NetworkScope::Private);
/// assert!(!AddressPolicy::Global.permits(scope));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum AddressPolicy {
    /// All.
    #[default]
    Any,
    /// Globally reachable ones.
    Global,
    /// Globally reachable and private ones.
    Private,
    /// Globally reachable and private ones, and this machine.
    Loopback,
}

impl AddressPolicy {
    /// Returns the policy for URLs that a server with this scope names: they lead no further inside than the server is.
    pub fn within(scope: NetworkScope) -> Self {
        match scope {
            NetworkScope::Global | NetworkScope::Special => Self::Global,
            NetworkScope::Private => Self::Private,
            NetworkScope::Loopback => Self::Loopback,
        }
    }

    /// Returns whether addresses of a scope may be connected to.
    pub fn permits(self, scope: NetworkScope) -> bool {
        match self {
            Self::Any => true,
            Self::Global => scope == NetworkScope::Global,
            Self::Private => scope <= NetworkScope::Private,
            Self::Loopback => scope <= NetworkScope::Loopback,
        }
    }
}

impl NetworkScope {
    /// Returns the scope of an address.
    pub fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::of_v4(ip),
            IpAddr::V6(ip) => Self::of_v6(ip),
        }
    }

    fn of_v4(ip: Ipv4Addr) -> Self {
        match ip.octets() {
            [127, ..] => Self::Loopback,
            // The metadata service of a cloud, inside the shared space.
            [100, 100, 100, 200] => Self::Special,
            [10, ..] | [192, 168, ..] => Self::Private,
            [172, second, ..] if second & 0xf0 == 16 => Self::Private,
            [100, second, ..] if second & 0xc0 == 64 => Self::Private,
            // For benchmarks; transparent proxies answer with it for every name, so that servers and what they name are in it.
            [198, 18 | 19, ..] => Self::Private,
            // "This network", link-local, protocol assignments, documentation, former 6to4 relays.
            [0, ..] | [169, 254, ..] | [192, 0, 0, _] => Self::Special,
            [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Self::Special,
            [192, 88, 99, _] => Self::Special,
            // Multicast and reserved.
            [first, ..] if first >= 224 => Self::Special,
            _ => Self::Global,
        }
    }

    fn of_v6(ip: Ipv6Addr) -> Self {
        /// The metadata service of a cloud, among unique local addresses.
        const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
        let segments = ip.segments();
        let embedded = |high: u16, low: u16| {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            Self::of_v4(Ipv4Addr::new(a, b, c, d))
        };
        match segments {
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
            [0x2002, high, low, ..] => embedded(high, low),
            _ if ip == METADATA => Self::Special,
            [first, ..] if first & 0xfe00 == 0xfc00 => Self::Private,
            // Protocol assignments (with Teredo) and documentation.
            [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => Self::Special,
            [0x3fff, second, ..] if second < 0x1000 => Self::Special,
            // Only 2000::/3 is assigned for global use.
            [first, ..] if first & 0xe000 == 0x2000 => Self::Global,
            _ => Self::Special,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t31_every_notation_of_an_inner_address_has_its_scope() {
        for (scope, addresses) in [
            (
                NetworkScope::Global,
                &["1.1.1.1", "172.32.0.1", "100.63.255.255", "2606:4700::1111", "64:ff9b::1.1.1.1"][..],
            ),
            (
                NetworkScope::Private,
                &[
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "100.64.0.1",
                    "198.18.0.1",
                    "fd12::1",
                    "fc00::1",
                    "::ffff:10.0.0.1",
                    "64:ff9b::10.0.0.1",
                    "2002:a00:1::",
                ],
            ),
            (
                NetworkScope::Loopback,
                &[
                    "127.0.0.1",
                    "127.255.0.1",
                    "::1",
                    "::ffff:127.0.0.1",
                    "64:ff9b::127.0.0.1",
                    "2002:7f00:1::",
                ],
            ),
            (
                NetworkScope::Special,
                &[
                    "0.0.0.0",
                    "0.1.2.3",
                    "169.254.169.254",
                    "100.100.100.200",
                    "192.0.0.8",
                    "192.0.2.1",
                    "203.0.113.9",
                    "224.0.0.1",
                    "240.0.0.1",
                    "255.255.255.255",
                    "::",
                    "::10.0.0.1",
                    "fe80::1",
                    "fec0::1",
                    "ff02::1",
                    "fd00:ec2::254",
                    "2001:db8::1",
                    "2001::1",
                    "3fff::1",
                    "100::1",
                    "64:ff9b:1::1",
                    "::ffff:169.254.169.254",
                    "64:ff9b::169.254.169.254",
                    "2002:a9fe:a9fe::",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(NetworkScope::of(address.parse().unwrap()), scope, "{address}");
            }
        }
    }

    #[test]
    fn a_server_names_addresses_no_further_inside_than_itself() {
        use NetworkScope::{Global, Loopback, Private, Special};
        for (scope, permitted) in [
            (Global, &[Global][..]),
            (Special, &[Global]),
            (Private, &[Global, Private]),
            (Loopback, &[Global, Private, Loopback]),
        ] {
            let policy = AddressPolicy::within(scope);
            for other in [Global, Private, Loopback, Special] {
                assert_eq!(policy.permits(other), permitted.contains(&other), "{scope:?} {other:?}");
                assert!(AddressPolicy::Any.permits(other));
            }
        }
    }
}
