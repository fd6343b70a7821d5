//! Translates regular expressions of ECMA-262 to the syntax of `regex-syntax`.
//!
//! The differences: `\d`, `\w`, `\s` and `.` match other characters; `[^]` and `[]` are valid; `[`, `&&`, `--` and `~~` in
//! a class are literal, and `{` can be; escapes have another syntax. Lookaround and backreferences cannot be translated.

use std::iter::Peekable;
use std::str::Chars;

/// The error of translating a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TranslateError {
    /// The pattern is valid, but the engine does not support it.
    Unsupported(&'static str),
    Invalid,
}

use TranslateError::{Invalid, Unsupported};

const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<String, TranslateError> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, &mut out, EscapeContext::Pattern)?,
            '[' => class(&mut rest, &mut out)?,
            '.' => out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '(' => group(&mut rest, &mut out)?,
            '{' => {
                if !is_quantifier(rest.clone()) {
                    out.push('\\');
                }
                out.push('{');
            }
            // Neither syntax treats other characters specially here.
            c => out.push(c),
        }
    }
    Ok(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeContext {
    Pattern,
    Class,
}

fn group(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), TranslateError> {
    out.push('(');
    if rest.peek() != Some(&'?') {
        return Ok(());
    }
    rest.next();
    out.push('?');
    match rest.peek().copied() {
        Some('=' | '!') => Err(Unsupported("lookahead is not supported")),
        Some('<') => {
            rest.next();
            match rest.peek() {
                Some('=' | '!') => Err(Unsupported("lookbehind is not supported")),
                _ => {
                    out.push('<');
                    Ok(())
                }
            }
        }
        // Flags are part of ECMA-262 since 2025, and common in schemas for other engines.
        Some(':' | 'i' | 'm' | 's' | '-') => Ok(()),
        _ => Err(Invalid),
    }
}

/// Returns whether `n}`, `n,}` or `n,m}` follows.
fn is_quantifier(mut rest: Peekable<Chars<'_>>) -> bool {
    let mut digits = 0;
    while rest.next_if(char::is_ascii_digit).is_some() {
        digits += 1;
    }
    if digits == 0 {
        return false;
    }
    if rest.next_if_eq(&',').is_some() {
        while rest.next_if(char::is_ascii_digit).is_some() {}
    }
    rest.next() == Some('}')
}

fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), TranslateError> {
    let is_negated = rest.next_if_eq(&'^').is_some();
    if rest.next_if_eq(&']').is_some() {
        out.push_str(if is_negated { r"[\s\S]" } else { r"[^\s\S]" });
        return Ok(());
    }
    out.push_str(if is_negated { "[^" } else { "[" });
    let mut before = PrecedingToken::Other;
    loop {
        let c = rest.next().ok_or(Invalid)?;
        let is_end = before == PrecedingToken::Hyphen;
        before = match c {
            ']' => {
                out.push(']');
                return Ok(());
            }
            // A hyphen between two characters is a range; elsewhere it is literal.
            '-' if before == PrecedingToken::Character && !is_set(rest.clone()) => {
                out.push('-');
                PrecedingToken::Hyphen
            }
            '\\' => {
                let is_set = rest.peek().is_some_and(|c| "dDwWsSpP".contains(*c));
                escape(rest, out, EscapeContext::Class)?;
                if is_set { PrecedingToken::Other } else { PrecedingToken::Character }
            }
            c @ ('[' | '&' | '~' | '-') => {
                out.push('\\');
                out.push(c);
                PrecedingToken::Character
            }
            c => {
                out.push(c);
                PrecedingToken::Character
            }
        };
        if is_end {
            before = PrecedingToken::Other;
        }
    }
}

/// The token before a character of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingToken {
    /// A character that can start a range.
    Character,
    /// The hyphen of a range.
    Hyphen,
    Other,
}

/// Returns whether the next token cannot end a range: the end of the class, or a set of characters.
fn is_set(mut rest: Peekable<Chars<'_>>) -> bool {
    match rest.next() {
        Some(']') => true,
        Some('\\') => rest.next().is_some_and(|c| "dDwWsSpP".contains(c)),
        _ => false,
    }
}

fn escape(
    rest: &mut Peekable<Chars<'_>>,
    out: &mut String,
    context: EscapeContext,
) -> Result<(), TranslateError> {
    let is_class = context == EscapeContext::Class;
    match rest.next().ok_or(Invalid)? {
        'd' => out.push_str(if is_class { "0-9" } else { "[0-9]" }),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str(if is_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' if is_class => out.push_str(SPACE),
        's' => {
            out.push('[');
            out.push_str(SPACE);
            out.push(']');
        }
        'S' => {
            out.push_str("[^");
            out.push_str(SPACE);
            out.push(']');
        }
        'b' if is_class => out.push_str(r"\x08"),
        'b' => out.push_str(r"(?-u:\b)"),
        'B' if !is_class => out.push_str(r"\B"),
        c @ ('t' | 'n' | 'r' | 'f' | 'v') => {
            out.push('\\');
            out.push(c);
        }
        '0' if !rest.peek().is_some_and(char::is_ascii_digit) => out.push_str(r"\x00"),
        '0'..='9' => return Err(Unsupported("a backreference is not supported")),
        'k' if rest.peek() == Some(&'<') => return Err(Unsupported("a backreference is not supported")),
        'c' => {
            let letter = rest.next().filter(char::is_ascii_alphabetic).ok_or(Invalid)?;
            out.push_str(&format!(r"\x{:02X}", letter as u32 % 32));
        }
        'x' => {
            let code = hex(rest, 2).ok_or(Invalid)?;
            out.push_str(&format!(r"\x{{{code:X}}}"));
        }
        'u' => out.push_str(&format!(r"\x{{{:X}}}", unicode(rest)?)),
        c @ ('p' | 'P') => {
            if rest.peek() != Some(&'{') {
                return Err(Invalid);
            }
            out.push('\\');
            out.push(c);
            // Copies the property up to its closing brace.
            for c in rest.by_ref() {
                out.push(c);
                if c == '}' {
                    return Ok(());
                }
            }
            return Err(Invalid);
        }
        c if c.is_ascii_alphanumeric() => return Err(Invalid),
        // The engine treats their escapes as word boundaries.
        c @ ('<' | '>') => out.push(c),
        c if c.is_ascii_punctuation() => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
    Ok(())
}

fn hex(rest: &mut Peekable<Chars<'_>>, digits: usize) -> Option<u32> {
    (0..digits).try_fold(0, |code, _| Some(code * 16 + rest.next()?.to_digit(16)?))
}

/// Parses the rest of a `\u` escape: `XXXX`, a surrogate pair, or `{X…}`.
fn unicode(rest: &mut Peekable<Chars<'_>>) -> Result<u32, TranslateError> {
    if rest.next_if_eq(&'{').is_some() {
        let mut code: u32 = 0;
        loop {
            match rest.next().ok_or(Invalid)? {
                '}' => return Ok(code),
                digit => {
                    let digit = digit.to_digit(16).ok_or(Invalid)?;
                    code = code.checked_mul(16).and_then(|code| code.checked_add(digit)).ok_or(Invalid)?;
                }
            }
        }
    }
    let first = hex(rest, 4).ok_or(Invalid)?;
    if (0xD800..0xDC00).contains(&first) {
        let mut ahead = rest.clone();
        if ahead.next() == Some('\\')
            && ahead.next() == Some('u')
            && let Some(second @ 0xDC00..0xE000) = hex(&mut ahead, 4)
        {
            *rest = ahead;
            return Ok(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        }
    }
    if (0xD800..0xE000).contains(&first) {
        Err(Unsupported("a lone surrogate is not supported"))
    } else {
        Ok(first)
    }
}
