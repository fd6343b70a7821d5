//! Addresses (URLs), validated before connecting.
//!
//! Invariant: an [`Address`] is http or https, has a host, no user info, no fragment and only visible ASCII, and is
//! plain http beyond this machine only where that was allowed. Scheme and host are in lower case and a default port
//! is left out, so that addresses of one origin have the same prefix. The validated form is the one that is
//! connected to: the text is parsed once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};

use crate::sanitize::printable;

/// The length limit of an address.
const MAX_ADDRESS: usize = 64 * 1024;

/// The hosts that may be addressed with plain http.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlainHttp {
    /// To this machine only: `localhost`, 127.0.0.0/8 and `[::1]`.
    #[default]
    LoopbackOnly,
    /// Anywhere.
    Allowed,
}

/// The address of an HTTP resource.
///
/// ```
/// use switchboard::transport::http_client::{Address, PlainHttp};
///
/// let address = Address::parse("HTTPS://Example.com:443/mcp?x=1", PlainHttp::LoopbackOnly)?;
/// assert_eq!(address.as_str(), "https://example.com/mcp?x=1");
/// assert_eq!(address.join("messages?id=7")?.as_str(), "https://example.com/messages?id=7");
/// assert!(address.join("https://evil.example/").is_err());
/// # Ok::<(), switchboard::transport::http_client::AddressError>(())
/// ```
#[derive(Clone)]
pub struct Address {
    // Cloned with every request, so a clone only counts a reference.
    parts: Arc<AddressParts>,
}

struct AddressParts {
    text: String,
    uri: Uri,
    /// Length of scheme, host and port within the text.
    origin_len: usize,
    /// Path and query, the origin-form request target.
    target: Uri,
    /// The value of the `Host` header.
    host: HeaderValue,
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.parts.text == other.parts.text
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts.text.hash(state);
    }
}

/// Scheme, host and port of an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    secure: bool,
    host: String,
    port: u16,
}

/// The error of an invalid address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The address is empty or has no scheme.
    #[error("`{text}` is not an address; write it in full, like https://example.com/mcp")]
    NoScheme {
        /// The address as written.
        text: String,
    },
    /// The scheme is not http or https.
    #[error("the scheme `{scheme}` is not supported; use https, or http on this machine")]
    Scheme {
        /// The scheme as written.
        scheme: String,
    },
    /// The host is missing or invalid.
    #[error("`{host}` is not a host name or IP address; write names outside ASCII in their xn-- form")]
    Host {
        /// The host as written.
        host: String,
    },
    /// The port is not a number from 1 to 65535.
    #[error("`{port}` is not a port; use a number from 1 to 65535, or leave it out")]
    Port {
        /// The port as written.
        port: String,
    },
    /// The address contains a user name or password.
    #[error("the address carries a user name or password; take them out and send a header instead")]
    UserInfo,
    /// The address has a fragment.
    #[error("the address has a fragment (#…), which is never sent; take it out")]
    Fragment,
    /// The address has an invalid character.
    #[error("the address holds {character:?} at byte {at}; percent-encode it")]
    Character {
        /// The character.
        character: char,
        /// The byte offset of the character.
        at: usize,
    },
    /// The address exceeds the length limit.
    #[error("the address is {length} bytes long; {MAX_ADDRESS} are the most")]
    TooLong {
        /// The length in bytes.
        length: usize,
    },
    /// The address is plain http to another machine, which was not allowed.
    #[error("plain http to {host} would send everything in the open; use https, or allow it for this server")]
    Plain {
        /// The host.
        host: String,
    },
    /// A reference resolves to another origin.
    #[error("{to} is not at {from}; only addresses of the same scheme, host and port are followed")]
    OtherOrigin {
        /// The required origin.
        from: Origin,
        /// The origin of the resolved reference.
        to: Origin,
    },
}

impl Address {
    /// Parses and checks an address.
    ///
    /// # Errors
    /// When the address is invalid; the message says what to write instead.
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, AddressError> {
        let address = Self::parse_any(text)?;
        if plain == PlainHttp::LoopbackOnly && !address.is_secure() && !address.is_loopback() {
            return Err(AddressError::Plain { host: address.host().to_owned() });
        }
        Ok(address)
    }

    fn parse_any(text: &str) -> Result<Self, AddressError> {
        check_characters(text)?;
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| AddressError::NoScheme { text: printable(text) })?;
        let scheme = match scheme.to_ascii_lowercase() {
            known if known == "http" || known == "https" => known,
            _ => return Err(AddressError::Scheme { scheme: printable(scheme) }),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        if authority.contains('@') {
            return Err(AddressError::UserInfo);
        }
        if tail.contains('#') {
            return Err(AddressError::Fragment);
        }
        let (host, port) = parse_authority(authority)?;
        let port = port.filter(|port| *port != default_port(scheme == "https"));
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let slash = if tail.starts_with('/') { "" } else { "/" };
        Self::from_normalized(format!("{scheme}://{host}{port}{slash}{tail}"))
    }

    /// Returns the address of a normalized text.
    fn from_normalized(text: String) -> Result<Self, AddressError> {
        // A few of the remaining characters are not valid in a Uri.
        let uri = Uri::from_str(&text).map_err(|_| {
            let (at, character) =
                text.char_indices().find(|(_, c)| "<>^`\\|".contains(*c)).unwrap_or((0, '?'));
            AddressError::Character { character, at }
        })?;
        let path_and_query = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let origin_len = text.len().saturating_sub(path_and_query.len());
        let target = Uri::from_str(path_and_query);
        let host = HeaderValue::from_str(uri.authority().map_or("", Authority::as_str));
        match (target, host) {
            (Ok(target), Ok(host)) => {
                Ok(Self { parts: Arc::new(AddressParts { text, uri, origin_len, target, host }) })
            }
            _ => Err(AddressError::Character { character: '?', at: 0 }),
        }
    }

    /// Returns the address as text.
    pub fn as_str(&self) -> &str {
        &self.parts.text
    }

    /// Returns the address as a `Uri` of the `http` crate.
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }

    /// Returns scheme, host and port; the same text for all addresses of one origin.
    pub(crate) fn origin_str(&self) -> &str {
        self.parts.text.get(..self.parts.origin_len).unwrap_or_default()
    }

    /// Returns path and query.
    pub(crate) fn target(&self) -> &Uri {
        &self.parts.target
    }

    /// Returns the value of the `Host` header.
    pub(crate) fn host_header(&self) -> &HeaderValue {
        &self.parts.host
    }

    /// Returns whether the scheme is https.
    pub fn is_secure(&self) -> bool {
        self.parts.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// Returns the host, in lower case; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.parts.uri.host().unwrap_or_default()
    }

    /// Returns the port, also if it is the default of the scheme.
    pub fn port(&self) -> u16 {
        self.parts.uri.port_u16().unwrap_or(default_port(self.is_secure()))
    }

    /// Returns whether the host is a loopback name or address.
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host())
    }

    /// Returns scheme, host and port.
    pub fn origin(&self) -> Origin {
        Origin { secure: self.is_secure(), host: self.host().to_owned(), port: self.port() }
    }

    /// Resolves a reference that must stay at this origin (RFC 3986, 5.2). Its fragment is dropped.
    ///
    /// # Errors
    /// When it has another origin, or is not a valid reference.
    pub fn join(&self, reference: &str) -> Result<Self, AddressError> {
        let reference = reference.split('#').next().unwrap_or_default();
        check_characters(reference)?;
        let joined = if has_scheme(reference) {
            Self::parse_any(reference)?
        } else if reference.starts_with("//") {
            Self::parse_any(&format!("{}:{reference}", self.parts.uri.scheme_str().unwrap_or("https")))?
        } else {
            let base = self.parts.uri.path();
            let (path, query) = match reference.split_once('?') {
                Some((path, query)) => (path, Some(query)),
                None => (reference, self.parts.uri.query().filter(|_| reference.is_empty())),
            };
            let path = match path {
                "" => base.to_owned(),
                rooted if rooted.starts_with('/') => remove_dot_segments(rooted),
                relative => {
                    remove_dot_segments(&format!("{}{relative}", &base[..=base.rfind('/').unwrap_or(0)]))
                }
            };
            let authority = self.parts.uri.authority().map(Authority::as_str).unwrap_or_default();
            let scheme = self.parts.uri.scheme_str().unwrap_or("https");
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            Self::from_normalized(format!("{scheme}://{authority}{path}{query}"))?
        };
        let (from, to) = (self.origin(), joined.origin());
        if from == to { Ok(joined) } else { Err(AddressError::OtherOrigin { from, to }) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Address {
    /// Without the query, which may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.parts.uri.path())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.secure { "https" } else { "http" }, self.host)?;
        if self.port == default_port(self.secure) { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// Returns whether a host is a loopback name or address. A name that resolves to one, or `127.1`, does not count.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || bare.parse::<Ipv6Addr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

fn check_characters(text: &str) -> Result<(), AddressError> {
    if text.len() > MAX_ADDRESS {
        return Err(AddressError::TooLong { length: text.len() });
    }
    // Browsers treat a backslash as a slash and others do not, so such an address is ambiguous.
    match text.char_indices().find(|(_, c)| !c.is_ascii_graphic() || *c == '\\') {
        Some((at, character)) => Err(AddressError::Character { character, at }),
        None => Ok(()),
    }
}

/// Parses an authority into its lower-case host and its port.
pub(crate) fn parse_authority(authority: &str) -> Result<(String, Option<u16>), AddressError> {
    let bad = || AddressError::Host { host: printable(authority) };
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (ip, port) = rest.split_once(']').ok_or_else(bad)?;
        let ip: Ipv6Addr = ip.parse().map_err(|_| bad())?;
        (format!("[{ip}]"), port.strip_prefix(':').or(if port.is_empty() { None } else { Some(port) }))
    } else {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if host.is_empty() || host.len() > 253 || host.starts_with('.') || !host.bytes().all(fits) {
            return Err(bad());
        }
        (host.to_ascii_lowercase(), port)
    };
    let port = port.filter(|port| !port.is_empty()).map(|port| {
        let number = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|port| port.parse::<u16>().ok()).filter(|number| *number > 0);
        number.ok_or_else(|| AddressError::Port { port: printable(port) })
    });
    Ok((host, port.transpose()?))
}

fn has_scheme(reference: &str) -> bool {
    let end = reference.find(['/', '?', ':']).filter(|at| reference.as_bytes()[*at] == b':');
    end.is_some_and(|end| {
        let scheme = &reference.as_bytes()[..end];
        scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
    })
}

/// Removes dot segments from an absolute path (RFC 3986, 5.2.4).
fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." if last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests;
