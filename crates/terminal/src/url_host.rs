//! The host of a URL, and a warning about names that look like another host.

use std::fmt::Write;

/// Returns the host and port of a URL, without the user info before an `@`, which can imitate a host.
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Returns a warning about a host that is not plain ASCII or is written in punycode.
pub fn lookalike_warning(host: &str) -> Option<String> {
    if !host.is_ascii() {
        let ascii = to_ascii(host);
        return Some(format!(
            "this host name is not plain ASCII: its ASCII form is {ascii}; letters of other scripts can look the same"
        ));
    }
    let is_punycode = host.split('.').any(|label| label.to_ascii_lowercase().starts_with("xn--"));
    is_punycode.then(|| {
        "a browser may show this host name in letters of another script that look the same".to_owned()
    })
}

/// Returns the host with each non-ASCII label in punycode, as DNS sees it.
fn to_ascii(host: &str) -> String {
    // Browsers treat these three characters as dots.
    let labels = host.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']);
    let labels: Vec<String> = labels.map(|label| label.to_lowercase()).collect();
    let ascii = labels.iter().map(|label| match label.is_ascii() {
        true => label.clone(),
        false => punycode(label).map_or_else(|| "?".to_owned(), |code| format!("xn--{code}")),
    });
    ascii.collect::<Vec<_>>().join(".")
}

/// Encodes a label as punycode (RFC 3492); `None` for a label longer than any name.
fn punycode(label: &str) -> Option<String> {
    const BASE: u32 = 36;
    let chars: Vec<u32> = label.chars().map(u32::from).take(1024).collect();
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(out.len()).ok()?;
    if basic > 0 {
        out.push('-');
    }
    let (mut code, mut delta, mut bias, mut handled) = (128_u32, 0_u32, 72_u32, basic);
    let total = u32::try_from(chars.len()).ok()?;
    while handled < total {
        let next = *chars.iter().filter(|char| **char >= code).min()?;
        delta = delta.checked_add((next - code).checked_mul(handled + 1)?)?;
        code = next;
        for &char in &chars {
            if char < code {
                delta = delta.checked_add(1)?;
            }
            if char == code {
                let mut rest = delta;
                for k in (BASE..).step_by(BASE as usize) {
                    let threshold = k.saturating_sub(bias).clamp(1, 26);
                    if rest < threshold {
                        break;
                    }
                    push_digit(&mut out, threshold + (rest - threshold) % (BASE - threshold));
                    rest = (rest - threshold) / (BASE - threshold);
                }
                push_digit(&mut out, rest);
                bias = adapt(delta, handled + 1, handled == basic);
                (delta, handled) = (0, handled + 1);
            }
        }
        delta = delta.checked_add(1)?;
        code += 1;
    }
    Some(out)
}

fn push_digit(out: &mut String, digit: u32) {
    let letter = if digit < 26 { b'a' + digit as u8 } else { b'0' + (digit - 26) as u8 };
    // Writing to a string does not fail.
    _ = write!(out, "{}", char::from(letter));
}

fn adapt(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_info_is_not_part_of_the_host() {
        assert_eq!(host("https://bank.example@evil.example/x?y"), "evil.example");
        assert_eq!(host("https://a.example:8080#f"), "a.example:8080");
        assert_eq!(host("mailto:x"), "mailto:x");
    }

    #[test]
    fn s8_a_host_that_is_not_ascii_has_its_punycode_beside_it() {
        for (host, ascii) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("аррӏе.com", "xn--80ak6aa92e.com"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("pаypal.com", "xn--pypal-4ve.com"),
            ("evil\u{3002}bücher.de:8080", "evil.xn--bcher-kva.de:8080"),
        ] {
            assert_eq!(to_ascii(host), ascii);
            assert!(lookalike_warning(host).is_some_and(|warning| warning.contains(ascii)), "{host}");
        }
        assert_eq!(lookalike_warning("example.com:8080"), None);
        assert!(lookalike_warning("XN--pypal-4ve.com").is_some());
        assert!(to_ascii(&"é".repeat(5000)).len() < 20_000);
    }
}
