//! Format assertions: all formats that JSON Schema defines except `idn-hostname`, which needs the IDNA tables.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

/// A format that can be asserted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    name: &'static str,
    accepts: fn(&str) -> bool,
}

const FORMATS: [Format; 18] = [
    Format { name: "date-time", accepts: is_date_time },
    Format { name: "date", accepts: is_date },
    Format { name: "time", accepts: is_time },
    Format { name: "duration", accepts: is_duration },
    Format { name: "email", accepts: |text| text.is_ascii() && is_email(text) },
    Format { name: "idn-email", accepts: is_email },
    Format { name: "hostname", accepts: is_hostname },
    Format { name: "ipv4", accepts: is_ipv4 },
    Format { name: "ipv6", accepts: is_ipv6 },
    Format { name: "uri", accepts: |text| text.is_ascii() && is_uri(text, true) },
    Format { name: "uri-reference", accepts: |text| text.is_ascii() && is_uri(text, false) },
    Format { name: "iri", accepts: |text| is_uri(text, true) },
    Format { name: "iri-reference", accepts: |text| is_uri(text, false) },
    Format { name: "uuid", accepts: is_uuid },
    Format { name: "uri-template", accepts: is_uri_template },
    Format { name: "json-pointer", accepts: is_json_pointer },
    Format { name: "relative-json-pointer", accepts: is_relative_json_pointer },
    Format { name: "regex", accepts: is_regex },
];

impl Format {
    /// Returns the format of a name, if it is known.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.name == name)
    }

    pub(super) fn name(self) -> &'static str {
        self.name
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        (self.accepts)(text)
    }
}

/// Returns whether JSON Schema defines the format; some clients reject others. All are checked but `idn-hostname`.
pub(in crate::schema) fn is_standard_format(name: &str) -> bool {
    name == "idn-hostname" || Format::from_name(name).is_some()
}

/// Parses a number with exactly `count` digits within a range.
fn digits(text: &str, count: usize, range: RangeInclusive<u32>) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && range.contains(number))
}

fn is_date(text: &str) -> bool {
    let check = || {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let (year, month) = (digits(year, 4, 0..=9999)?, digits(month, 2, 1..=12)?);
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        digits(day, 2, 1..=last)
    };
    check().is_some()
}

fn is_time(text: &str) -> bool {
    let check = || {
        let end = text.find(['Z', 'z', '+', '-'])?;
        let (time, zone) = text.split_at(end);
        let mut parts = time.splitn(3, ':');
        let hour = digits(parts.next()?, 2, 0..=23)?;
        let minute = digits(parts.next()?, 2, 0..=59)?;
        let seconds = parts.next()?;
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        let second = digits(whole, 2, 0..=60)?;
        if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let offset = if matches!(zone, "Z" | "z") {
            0
        } else {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let offset = digits(hours, 2, 0..=23)? * 60 + digits(minutes, 2, 0..=59)?;
            i64::from(offset) * if zone.starts_with('-') { -1 } else { 1 }
        };
        // A leap second is the last of a day in UTC.
        let in_utc = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
        (second < 60 || in_utc == 23 * 60 + 59).then_some(())
    };
    check().is_some()
}

fn is_date_time(text: &str) -> bool {
    // A date has ten bytes. Non-ASCII text fails here or in `is_date`.
    let (Some(date), Some(rest)) = (text.get(..10), text.get(10..)) else { return false };
    let time = rest.strip_prefix(['T', 't']);
    is_date(date) && time.is_some_and(is_time)
}

/// Checks an ISO 8601 duration: `P` with years, months and days or weeks, and `T` with hours, minutes and seconds, without
/// gaps between units.
fn is_duration(text: &str) -> bool {
    /// Checks that units follow each other in the order of `units` without gaps.
    fn parts(mut text: &str, units: &str) -> bool {
        let mut next: Option<usize> = None;
        while !text.is_empty() {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let unit = text[end..].chars().next();
            let Some(at) = unit.and_then(|unit| units.find(unit)) else { return false };
            if end == 0 || next.is_some_and(|next| next != at) {
                return false;
            }
            next = Some(at + 1);
            text = &text[end + 1..];
        }
        next.is_some()
    }
    let Some(text) = text.strip_prefix('P') else { return false };
    match text.split_once('T') {
        Some((date, time)) => (date.is_empty() || parts(date, "YMD")) && parts(time, "HMS"),
        None => parts(text, "YMD") || parts(text, "W"),
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| {
        let is_allowed = |c: char| {
            c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || (!c.is_ascii() && !c.is_control())
        };
        !atom.is_empty() && atom.chars().all(is_allowed)
    };
    let quoted = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| local.len() > 1);
    let is_local = match quoted {
        Some(quoted) => {
            let mut chars = quoted.chars();
            loop {
                match chars.next() {
                    None => break true,
                    Some('\\') if chars.next().is_none() => break false,
                    Some('"') => break false,
                    Some(c) if c.is_control() => break false,
                    Some(_) => {}
                }
            }
        }
        None => local.len() <= 64 && local.split('.').all(is_atom),
    };
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_domain = match literal {
        Some(literal) => match literal.strip_prefix("IPv6:") {
            Some(address) => is_ipv6(address),
            None => is_ipv4(literal),
        },
        None if domain.is_ascii() => is_hostname(domain),
        None => domain
            .split('.')
            .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-')),
    };
    is_local && is_domain
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        // `xn--` marks a label in Punycode; other pairs of hyphens in its place are reserved.
        let is_reserved = label.get(2..4) == Some("--") && !label[..2].eq_ignore_ascii_case("xn");
        let is_empty_code = label.eq_ignore_ascii_case("xn--");
        (1..=63).contains(&label.len())
            && label.bytes().all(is_allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
            && !is_reserved
            && !is_empty_code
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Checks a URI or IRI, or a reference. The caller rejects non-ASCII characters in URIs.
fn is_uri(text: &str, needs_scheme: bool) -> bool {
    let is_plain = |text: &str, extra: &str| {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => {
                    let is_hex = |c: Option<char>| c.is_some_and(|c| c.is_ascii_hexdigit());
                    if !is_hex(chars.next()) || !is_hex(chars.next()) {
                        return false;
                    }
                }
                _ if c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c) || extra.contains(c) => {}
                _ if !c.is_ascii() && !c.is_control() => {}
                _ => return false,
            }
        }
        true
    };
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let scheme = rest.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let rest = match scheme {
        Some((_, rest)) => rest,
        None if needs_scheme => return false,
        // The first segment of a relative path has no colon.
        None if rest.split('/').next().is_some_and(|first| first.contains(':')) => return false,
        None => rest,
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').is_some_and(|(address, port)| {
            let is_future = address.starts_with(['v', 'V']) && is_plain(address, ":");
            (is_ipv6(address) || is_future) && is_port(port)
        }),
        None => {
            let (name, port) = match host.find(':') {
                Some(at) => host.split_at(at),
                None => (host, ""),
            };
            is_plain(name, "") && is_port(port)
        }
    };
    is_plain(user, ":")
        && is_host
        && is_plain(path, "/:@")
        && is_plain(query, "/?:@")
        && is_plain(fragment, "/?:@")
}

/// Checks an optional port: empty, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let Some(expression) = rest[at..].strip_prefix('{') else { return false };
        let Some(end) = expression.find('}') else { return false };
        let names = expression[..end].trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        let is_name = |name: &str| {
            let name = name.strip_suffix('*').unwrap_or(name);
            let (name, length) = name.split_once(':').unwrap_or((name, "1"));
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.%".contains(c);
            !name.is_empty()
                && name.chars().all(is_allowed)
                && length.parse::<u16>().is_ok_and(|n| (1..10_000).contains(&n))
        };
        if !names.split(',').all(is_name) {
            return false;
        }
        rest = &expression[end + 1..];
    }
    !text.chars().any(|c| c.is_control() || " \"'<>\\^`|".contains(c))
}

fn is_json_pointer(text: &str) -> bool {
    let is_escaped = |part: &str| part.starts_with('0') || part.starts_with('1');
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(is_escaped)
}

fn is_relative_json_pointer(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    !number.is_empty()
        && (number == "0" || !number.starts_with('0'))
        && (rest == "#" || is_json_pointer(rest))
}

#[cfg(feature = "regex")]
fn is_regex(text: &str) -> bool {
    use super::ecma_regex::{TranslateError, translate};
    use super::pattern::{INVALID, PatternBudget, PatternMatcher};
    match translate(text) {
        Err(TranslateError::Invalid) => false,
        // Valid, or too odd to say.
        Err(TranslateError::Unsupported(_)) => true,
        Ok(_) => match PatternMatcher::new(text, &PatternBudget::default()) {
            Ok(_) => true,
            Err(unchecked) => unchecked.reason != INVALID,
        },
    }
}

#[cfg(not(feature = "regex"))]
fn is_regex(_: &str) -> bool {
    true
}
