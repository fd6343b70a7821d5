//! Sets of resource URIs: globs over normalized URIs, where `*` matches within a segment and `**` everything.
//!
//! The globs are those of the design crate. Added here are the readings that depend on the scheme: hosts without case,
//! default ports, `file://localhost`, a query with dot segments, which a server that ignores queries resolves as
//! part of the path, and dot segments that lead out of the authority, which is the first folder to a server whose URIs are
//! paths.

use switchboard_design::{ResourceUri, UriPattern, UriPolicy};

use super::rule::Effect;

/// Schemes with hosts, and their default ports.
const HOST_SCHEMES: [(&str, &str); 5] =
    [("http", "80"), ("https", "443"), ("ws", "80"), ("wss", "443"), ("ftp", "21")];

/// The URIs that match one of several globs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UriSet {
    sources: Vec<String>,
    is_everything: bool,
    /// Denies the URIs that match in any form.
    deny: UriPolicy,
    /// Allows the URIs that match in every form.
    allow: UriPolicy,
    /// Allows the `folder` of every glob `folder/**`, which a deny rule matches, too.
    folders: Option<UriPolicy>,
}

/// All readings of a URI.
#[derive(Debug, Default)]
pub(crate) struct UriReadings {
    /// Empty if it is not a URI.
    readings: Vec<ResourceUri>,
    /// Without user, port and empty first folders, where the scheme does not define whether the authority is a host, a name
    /// such as `@scope` or a folder: for deny rules only, because what is allowed under the one name is not allowed under the
    /// other.
    hosts: Vec<ResourceUri>,
}

/// The URIs of a template.
#[derive(Debug)]
pub(crate) enum TemplateReading {
    /// Those of a pattern. Its variables match several segments: the value of any variable may have an encoded slash.
    Pattern(UriPattern),
    /// At most those of a pattern, and perhaps the fixed URI before the first variable.
    Within(UriPattern, Option<UriPattern>),
    /// Perhaps any.
    Unknown,
    /// Not a template.
    Invalid,
}

impl UriSet {
    /// Parses globs. The error is the first that is invalid, with the reason.
    pub(crate) fn new(sources: Vec<String>) -> Result<Self, String> {
        let is_everything = sources.iter().any(|source| matches!(source.as_str(), "*" | "**"));
        let globs: Vec<String> = sources
            .iter()
            .filter(|source| !matches!(source.as_str(), "*" | "**"))
            .map(|glob| fold_host(glob))
            .collect();
        let deny = UriPolicy::new([""; 0], &globs).map_err(|error| error.to_string())?;
        let allow = UriPolicy::new(&globs, [""; 0]).map_err(|error| error.to_string())?;
        let folders: Vec<&str> = globs.iter().filter_map(|glob| glob.strip_suffix("/**")).collect();
        let folders = UriPolicy::new(&folders, [""; 0]).ok().filter(|_| !folders.is_empty());
        Ok(Self { sources, is_everything, deny, allow, folders })
    }

    /// Returns whether every URI matches.
    pub(super) fn is_everything(&self) -> bool {
        self.is_everything
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns whether a URI matches: for a deny rule in any reading, for an allow rule in every reading. What is not a
    /// URI is denied.
    pub(crate) fn matches(&self, uri: &UriReadings, effect: Effect) -> bool {
        if self.is_empty() || self.is_everything {
            return self.is_everything;
        }
        match effect {
            Effect::Deny => {
                let mut all = uri.readings.iter().chain(&uri.hosts);
                uri.readings.is_empty() || all.any(|uri| !self.deny.allows(uri))
            }
            Effect::Allow => {
                // The policy without globs would allow everything.
                !uri.readings.is_empty() && uri.readings.iter().all(|uri| self.allow.allows(uri))
            }
        }
    }

    /// Returns whether every URI of a template matches; `false` if unknown.
    pub(crate) fn covers(&self, template: &TemplateReading) -> bool {
        let covers = |pattern: &UriPattern| !self.deny.shows(pattern);
        self.is_everything
            || match template {
                TemplateReading::Pattern(pattern) => covers(pattern),
                TemplateReading::Within(pattern, fixed) => {
                    covers(pattern) && fixed.as_ref().is_none_or(covers)
                }
                TemplateReading::Unknown | TemplateReading::Invalid => false,
            }
    }

    /// Returns whether some URI of a template may match.
    pub(crate) fn intersects(&self, template: &TemplateReading) -> bool {
        if self.is_empty() || self.is_everything {
            return self.is_everything;
        }
        let intersects = |pattern: &UriPattern| {
            let has_folder = self.folders.as_ref().is_some_and(|folders| folders.shows(pattern));
            has_folder || self.allow.shows(pattern) || !self.deny.shows(pattern)
        };
        match template {
            TemplateReading::Pattern(pattern) => intersects(pattern),
            TemplateReading::Within(pattern, fixed) => {
                intersects(pattern) || fixed.as_ref().is_some_and(intersects)
            }
            TemplateReading::Unknown | TemplateReading::Invalid => true,
        }
    }

    /// Returns whether every URI of `other` certainly matches.
    pub(crate) fn covers_set(&self, other: &Self) -> bool {
        let covered = |source: &String| {
            self.sources.contains(source)
                || (!source.contains('*') && self.matches(&UriReadings::new(source), Effect::Allow))
        };
        self.is_everything || (!other.is_everything && other.sources.iter().all(covered))
    }
}

impl UriReadings {
    pub(crate) fn new(text: &str) -> Self {
        let mut texts = vec![text.to_owned()];
        let is_parent = |segment: &str| segment == "..";
        if text
            .split_once('?')
            .is_some_and(|(_, query)| decode_separators(query).split(['/', '\\']).any(is_parent))
        {
            texts.push(text.replace('?', "%3F"));
        }
        let paths: Vec<String> = texts.iter().filter_map(|text| authority_as_folder(text)).collect();
        texts.extend(paths);
        let parsed: Result<Vec<ResourceUri>, _> =
            texts.iter().map(|text| text.parse::<ResourceUri>()).collect();
        let Ok(mut readings) = parsed else { return Self::default() };
        for index in 0..readings.len() {
            let folded = fold_host(readings[index].base());
            if folded != readings[index].base() {
                match folded.parse() {
                    Ok(folded) => readings.push(folded),
                    Err(_) => return Self::default(),
                }
            }
        }
        let hosts = readings.iter().flat_map(|uri| names_of_host(uri.base()));
        let hosts = hosts.filter_map(|uri| uri.parse().ok()).collect();
        Self { readings, hosts }
    }
}

impl TemplateReading {
    pub(crate) fn new(text: &str) -> Self {
        if text.parse::<UriPattern>().is_ok()
            && let Ok(pattern) = text.replace('{', "{+").replace("{++", "{+").replace("{+?", "{?").parse()
        {
            return Self::Pattern(pattern);
        }
        // An expression beyond the supported ones: everything from it on may be anything.
        let Some((prefix, _)) = text.split_once('{') else { return Self::Invalid };
        match format!("{prefix}{{+rest}}").parse() {
            Ok(pattern) => Self::Within(pattern, prefix.parse().ok()),
            Err(_) => Self::Unknown,
        }
    }
}

/// Decodes the characters that dot segments are made of.
fn decode_separators(text: &str) -> String {
    let decoded = text.replace("%2e", ".").replace("%2E", ".");
    decoded.replace("%2f", "/").replace("%2F", "/").replace("%5c", "/").replace("%5C", "/")
}

/// Returns a URI as a server resolves it to which everything after `://` is a path; `None` if that makes no difference.
fn authority_as_folder(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    if is_host_scheme(scheme) {
        return None;
    }
    let path = decode_separators(rest.split(['?', '#']).next().unwrap_or_default());
    let (mut folders, mut leaves_authority) = (Vec::new(), false);
    for (at, segment) in path.split(['/', '\\']).enumerate() {
        match segment {
            ".." => {
                folders.pop();
                leaves_authority |= folders.is_empty();
            }
            "." => {}
            "" if at > 0 => {}
            folder => folders.push(folder),
        }
    }
    let root = if scheme.eq_ignore_ascii_case("file") { "/" } else { "" };
    leaves_authority.then(|| format!("{scheme}://{root}{}", folders.join("/")))
}

/// Returns the readings of a URI for deny rules: without user and port, and without empty first folders.
fn names_of_host(uri: &str) -> Vec<String> {
    let mut uris = vec![uri.to_owned()];
    // The folder once more: without user and port the authority may be empty.
    for narrow in [first_folder, host_only, first_folder] {
        let narrowed: Vec<String> = uris.iter().filter_map(|uri| narrow(uri)).collect();
        uris.extend(narrowed);
    }
    uris.split_off(1)
}

/// Returns a URI as a server reads it that skips empty folders at the start of a path; `None` if it has no such folders.
fn first_folder(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    if is_host_scheme(scheme) {
        return None;
    }
    let separators = ["/", "\\", "%2F", "%5C", "./", ".\\", ".%2F", ".%5C"];
    let mut path = rest;
    while let Some(shorter) = separators.iter().find_map(|separator| path.strip_prefix(separator)) {
        path = shorter;
    }
    let root = if scheme.eq_ignore_ascii_case("file") { "/" } else { "" };
    (root.len() + path.len() < rest.len()).then(|| format!("{scheme}://{root}{path}"))
}

/// Returns a URI of a scheme that is not known without user and port; `None` if it has neither. What follows the first colon
/// is no part of the host, digits or not: a server may split there before it looks at the port.
fn host_only(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    if is_host_scheme(scheme) {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An IPv6 address has colons in brackets.
    let address = if host.starts_with('[') { host.find(']').unwrap_or(0) } else { 0 };
    let host = host[address..].find(':').map_or(host, |colon| &host[..address + colon]);
    (host != authority).then(|| format!("{scheme}://{host}{path}"))
}

fn is_host_scheme(scheme: &str) -> bool {
    HOST_SCHEMES.iter().any(|(name, _)| name.eq_ignore_ascii_case(scheme))
}

/// Normalizes the authority where the scheme defines how: the host in lower case without its last dot, no user, no
/// default port, and no `localhost` in a file URI. Other URIs stay as they are.
fn fold_host(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else { return uri.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" {
        let authority = if authority.eq_ignore_ascii_case("localhost") { "" } else { authority };
        return format!("{scheme}://{authority}{path}");
    }
    let Some((_, default_port)) = HOST_SCHEMES.iter().find(|(name, _)| *name == scheme) else {
        return uri.to_owned();
    };
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (host_and_port.as_str(), ""),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let port = port.trim_start_matches('0');
    if port.is_empty() || port == *default_port {
        format!("{scheme}://{host}{path}")
    } else {
        format!("{scheme}://{host}:{port}{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(globs: &[&str]) -> UriSet {
        UriSet::new(globs.iter().map(|glob| (*glob).to_owned()).collect()).unwrap()
    }

    fn matches(glob: &str, uri: &str) -> (bool, bool) {
        let (set, uri) = (set(&[glob]), UriReadings::new(uri));
        (set.matches(&uri, Effect::Allow), set.matches(&uri, Effect::Deny))
    }

    #[test]
    fn hosts_have_one_spelling() {
        for uri in [
            "https://api.example.com/v1/x",
            "https://API.Example.COM/v1/x",
            "https://api.example.com:443/v1/x",
            "https://user:pw@api.example.com/v1/x",
            "https://api.example.com./v1/x",
            "HTTPS://api.example.com:0443/v1/x",
        ] {
            assert!(matches("https://API.example.com/v1/**", uri).1, "{uri} is denied");
        }
        assert_eq!(matches("https://a.com/**", "https://b.com/x"), (false, false));
        assert!(!matches("https://a.com/**", "https://a.com:8443/x").1);
        assert!(matches("file:///etc/**", "file://LOCALHOST/etc/passwd").1);
        assert_eq!(matches("doc://Id", "doc://id"), (false, false), "the case of a name matters");
    }

    #[test]
    fn a_name_in_the_place_of_a_host_has_no_user_and_no_port_for_a_deny_rule() {
        for uri in [
            "page://user:pw@secret/7",
            "page://secret:80/7",
            "page://@secret/7",
            "page://secret:/7",
            "page://secret:x/7",
            "page://secret:80:x/7",
            "page://user@secret:x/7",
        ] {
            assert_eq!(matches("page://secret/**", uri), (false, true), "{uri}");
        }
        assert_eq!(matches("page://[::1]/**", "page://[::1]:x/7"), (false, true));
        assert_eq!(matches("page://[/**", "page://[::1]:80/7"), (false, false), "an address is whole");
        assert_eq!(matches("npm://@scope/**", "npm://@scope/x"), (true, true));
        assert_eq!(matches("npm://@scope/**", "npm://scope/x"), (false, false));
        assert_eq!(matches("urn:a:**", "urn:a:7"), (true, true), "it has no authority");
    }

    #[test]
    fn a_name_in_the_place_of_a_host_may_be_a_folder() {
        for uri in [
            "page://x/../secret/7",
            "page://x/y/../../secret/7",
            "page://x/%2e%2e/secret/7",
            "page://x%2f..%2fsecret/7",
            "page://x\\..\\secret/7",
            "page://./x/../secret/7",
            "page://../secret/7",
        ] {
            assert!(matches("page://secret/**", uri).1, "{uri} is denied");
            assert!(!matches("page://x/**", uri).0, "{uri} is not allowed");
        }
        for uri in [
            "page:///secret/7",
            "page:////secret/7",
            "page://./secret/7",
            "page://%2fsecret/7",
            "page://\\secret/7",
            "page://@/secret/7",
            "page://:80/secret/7",
            "page:///secret:x/7",
        ] {
            assert_eq!(matches("page://secret/**", uri), (false, true), "{uri}");
        }
        assert!(matches("file:///etc/**", "file://x/../etc/passwd").1);
        assert!(matches("file:///etc/**", "file:////etc/passwd").1);
        assert_eq!(matches("page://x/**", "page://x/a/../b"), (true, true), "it stays inside");
        assert_eq!(matches("https://a.com/**", "https://a.com/../b"), (true, true), "a host is no folder");
    }

    #[test]
    fn an_allow_rule_needs_every_reading() {
        assert_eq!(matches("file:///srv/**", "file:///srv/a"), (true, true));
        assert_eq!(matches("file:///srv/**", "file:///srv/a?x=1"), (true, true));
        assert!(!matches("file:///srv/**", "file:///srv/a?/../../etc/passwd").0);
        assert!(!matches("file:///srv/**", "file:///srv/a?/%2e%2e/%2e%2e/etc/passwd").0);
        assert!(matches("file:///etc/**", "file:///srv/a?/../../../etc/passwd").1);
        assert_eq!(matches("file:///srv/**", "not a uri"), (false, true));
        assert_eq!(matches("**", "not a uri"), (true, true));
        assert!(!set(&[]).matches(&UriReadings::new("a:b"), Effect::Deny));
    }

    #[test]
    fn templates_are_sets() {
        let template = TemplateReading::new;
        let srv = set(&["file:///srv/**"]);
        assert!(
            srv.covers(&template("file:///srv/{name}")) && srv.intersects(&template("file:///srv/{name}"))
        );
        assert!(!srv.covers(&template("file:///{+path}")) && srv.intersects(&template("file:///{+path}")));
        assert!(!srv.intersects(&template("file:///etc/{name}")));
        let secret = set(&["page://secret/**"]);
        assert!(secret.intersects(&template("page://{id}")), "the folder, and an encoded slash");
        assert!(secret.intersects(&template("page://{id}{?q}")) && !secret.covers(&template("page://{id}")));
        // Expressions beyond the supported ones.
        assert!(
            !srv.covers(&template("file:///srv{/path*}")) && srv.intersects(&template("file:///srv{/path*}"))
        );
        assert!(srv.covers(&template("file:///srv/a{/path*}")));
        assert!(!srv.intersects(&template("file:///etc{/path*}")));
        assert!(srv.intersects(&template("{+uri}")) && !srv.covers(&template("{+uri}")));
    }

    #[test]
    fn invalid_globs_are_rejected() {
        for glob in ["srv", "file:///a/../b", "doc://a?x"] {
            assert!(UriSet::new(vec![glob.into()]).is_err(), "{glob}");
        }
    }
}
