//! Proxy selection from environment variables.
//!
//! Invariants: the variables are read once, through a function that is handed in; this machine is never reached
//! through a proxy; a proxy that cannot be used is an error when it would be used, never a reason to go around it;
//! credentials are in a header marked sensitive and are never printed.

use std::fmt;
use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::header::HeaderValue;
use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

use crate::url::{Address, parse_authority};

/// The proxies to use, and the exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    no_proxy: Vec<NoProxyRule>,
}

/// One proxy.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Proxy {
    Usable {
        uri: Uri,
        host: String,
        credentials: Option<HeaderValue>,
    },
    /// Of a kind that is not supported.
    Unusable {
        host: String,
    },
}

/// One entry of `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NoProxyRule {
    Everything,
    Name { suffix: String, port: Option<u16> },
    Network { ip: IpAddr, prefix: u32 },
}

impl Proxies {
    /// Returns no proxies: all connections are direct.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the variables of this process.
    pub fn from_environment() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Reads the variables with `lookup`: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in either case; the lower
    /// case counts first.
    ///
    /// `HTTP_PROXY` is not read where `REQUEST_METHOD` is set: under CGI a client of that server could set it.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let either = |name: &str| set(name).or_else(|| set(&name.to_ascii_uppercase()));
        let http = if set("REQUEST_METHOD").is_some() { set("http_proxy") } else { either("http_proxy") };
        let all = either("all_proxy");
        let proxy = |value: Option<String>| value.or_else(|| all.clone()).map(|value| Proxy::parse(&value));
        Self {
            http: proxy(http),
            https: proxy(either("https_proxy")),
            no_proxy: either("no_proxy").map(|list| no_proxy_rules(&list)).unwrap_or_default(),
        }
    }

    pub(crate) fn for_address(&self, address: &Address) -> Option<&Proxy> {
        // Fast path: mostly there is no proxy.
        self.http.as_ref().or(self.https.as_ref())?;
        self.find(address.is_secure(), address.host(), address.port())
    }

    /// Returns the proxy for a host.
    pub(crate) fn find(&self, secure: bool, host: &str, port: u16) -> Option<&Proxy> {
        let proxy = if secure { self.https.as_ref() } else { self.http.as_ref() }?;
        let is_direct =
            crate::url::is_loopback(host) || self.no_proxy.iter().any(|one| one.matches(host, port));
        (!is_direct).then_some(proxy)
    }
}

impl Proxy {
    fn parse(value: &str) -> Self {
        let value = value.trim();
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, authority),
        };
        let Ok((host, port)) = parse_authority(authority) else {
            return Self::Unusable { host: "the proxy named in the environment".into() };
        };
        let authority_text = format!("{host}:{}", port.unwrap_or(80));
        match Uri::builder().scheme("http").authority(authority_text.as_str()).path_and_query("/").build() {
            Ok(uri) if scheme.eq_ignore_ascii_case("http") => {
                Self::Usable { uri, host: authority_text, credentials: user.map(basic_credentials) }
            }
            _ => Self::Unusable { host: authority_text },
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usable { host, .. } => write!(f, "Usable({host})"),
            Self::Unusable { host } => write!(f, "Unusable({host})"),
        }
    }
}

/// `user:password`, percent-encoded as in an address, as a header value.
fn basic_credentials(user: &str) -> HeaderValue {
    // Sufficient capacity: growing would leave a copy of the secret behind.
    let mut decoded = Zeroizing::new(Vec::with_capacity(user.len() + 1));
    decoded.extend(percent_decode_str(user));
    if !decoded.contains(&b':') {
        decoded.push(b':');
    }
    let text = Zeroizing::new(format!("Basic {}", STANDARD.encode(&*decoded)));
    let mut value = HeaderValue::from_str(&text).expect("base64 is visible ASCII");
    value.set_sensitive(true);
    value
}

fn no_proxy_rules(list: &str) -> Vec<NoProxyRule> {
    list.split([',', ' '])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .filter_map(no_proxy_rule)
        .collect()
}

fn no_proxy_rule(entry: &str) -> Option<NoProxyRule> {
    if entry == "*" {
        return Some(NoProxyRule::Everything);
    }
    let bare = entry.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Some(NoProxyRule::Network { ip, prefix: bits(ip) });
    }
    if let Some((ip, prefix)) = bare.split_once('/') {
        let ip: IpAddr = ip.parse().ok()?;
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= bits(ip))?;
        return Some(NoProxyRule::Network { ip, prefix });
    }
    let entry = entry.trim_start_matches("*.").trim_start_matches('.');
    let (suffix, port) = parse_authority(entry).ok()?;
    Some(NoProxyRule::Name { suffix, port })
}

impl NoProxyRule {
    fn matches(&self, host: &str, port: u16) -> bool {
        match self {
            Self::Everything => true,
            Self::Name { suffix, port: only } => {
                let before = host.strip_suffix(suffix.as_str());
                only.is_none_or(|only| only == port)
                    && before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
            }
            Self::Network { ip, prefix } => {
                let bare = host.trim_start_matches('[').trim_end_matches(']');
                bare.parse::<IpAddr>().is_ok_and(|host| same_network(host, *ip, *prefix))
            }
        }
    }
}

fn bits(ip: IpAddr) -> u32 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn same_network(one: IpAddr, other: IpAddr, prefix: u32) -> bool {
    let differ = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= prefix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlainHttp;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Proxies::from_lookup(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    fn used(proxies: &Proxies, address: &str) -> Option<String> {
        let address = Address::parse(address, PlainHttp::Allowed).unwrap();
        proxies.for_address(&address).map(|proxy| format!("{proxy:?}"))
    }

    #[test]
    fn each_scheme_has_its_variable_and_the_lower_case_counts_first() {
        let all = proxies(&[
            ("http_proxy", "http://lower:1"),
            ("HTTP_PROXY", "http://upper:2"),
            ("HTTPS_PROXY", "secure:3"),
        ]);
        assert_eq!(used(&all, "http://a.example/"), Some("Usable(lower:1)".into()));
        assert_eq!(used(&all, "https://a.example/"), Some("Usable(secure:3)".into()));
        let rest = proxies(&[("ALL_PROXY", "http://all/"), ("http_proxy", " ")]);
        assert_eq!(used(&rest, "http://a.example/"), Some("Usable(all:80)".into()));
        assert_eq!(used(&rest, "https://a.example/"), Some("Usable(all:80)".into()));
        assert_eq!(used(&Proxies::none(), "https://a.example/"), None);
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        let all = proxies(&[("ALL_PROXY", "http://p:1")]);
        for address in
            ["http://localhost:3000/", "https://127.0.0.9/", "http://[::1]:80/", "https://LOCALHOST/"]
        {
            assert_eq!(used(&all, address), None, "{address}");
        }
    }

    #[test]
    fn a_cgi_environment_cannot_set_a_proxy() {
        let cgi = proxies(&[("HTTP_PROXY", "http://evil:1"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(used(&cgi, "http://a.example/"), None);
    }

    #[test]
    fn other_kinds_of_proxies_are_not_gone_around() {
        for value in ["socks5://p:1080", "https://p:1080"] {
            let found = used(&proxies(&[("ALL_PROXY", value)]), "https://a.example/");
            assert_eq!(found, Some("Unusable(p:1080)".into()));
        }
        let found = used(&proxies(&[("ALL_PROXY", "http://user:pa ss@@@")]), "https://a.example/");
        assert_eq!(found, Some("Unusable(the proxy named in the environment)".into()));
    }

    #[test]
    fn no_proxy_names_hosts_suffixes_ports_and_networks() {
        let list =
            "example.com, .suffix.test,*.star.test only.test:8443 10.0.0.0/8,192.168.1.7,[fd00::1],fe80::/10";
        let some = proxies(&[("ALL_PROXY", "p"), ("NO_PROXY", list)]);
        let direct = [
            "https://example.com/",
            "https://a.b.example.com/",
            "https://x.suffix.test/",
            "https://x.star.test/",
            "https://only.test:8443/",
            "https://10.200.3.4/",
            "https://192.168.1.7/",
            "https://[fd00::1]/",
            "https://[fe80::9]/",
        ];
        for address in direct {
            assert_eq!(used(&some, address), None, "{address}");
        }
        for address in
            ["https://notexample.com/", "https://only.test/", "https://11.0.0.1/", "https://192.168.1.8/"]
        {
            assert!(used(&some, address).is_some(), "{address}");
        }
        assert_eq!(used(&proxies(&[("ALL_PROXY", "p"), ("no_proxy", "*")]), "https://a.example/"), None);
    }

    #[test]
    fn credentials_are_decoded_and_never_printed() {
        let all = proxies(&[("ALL_PROXY", "http://us%3Aer:p%40ss@p:1")]);
        let Some(Proxy::Usable { credentials: Some(value), .. }) = all.find(true, "a", 443) else { panic!() };
        assert_eq!(value.as_bytes(), format!("Basic {}", STANDARD.encode("us:er:p@ss")).as_bytes());
        assert!(value.is_sensitive());
        assert_eq!(
            format!("{all:?}"),
            "Proxies { http: Some(Usable(p:1)), https: Some(Usable(p:1)), no_proxy: [] }"
        );
    }
}
