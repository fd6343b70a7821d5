//! Finding things in a message by search. Good for what the programs of the benchmark write, and for nothing else.

use std::sync::LazyLock;

use bench_kit::{Fail, Work};
use memchr::memmem::{Finder, find, find_iter};
use memchr::{memchr, memchr_iter};

/// How every make but one begins its answers, so that the id need not be searched for.
const USUAL: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

static ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""id":"#));
static METHOD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""method":""#));
static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""name":""#));
static TEXT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""text":""#));

/// The id, as it is written; `None` for a notification.
pub fn id(message: &[u8]) -> Option<&[u8]> {
    let value = match message.strip_prefix(USUAL) {
        Some(rest) => rest,
        None => &message[ID.find(message)? + 5..],
    };
    let end = value.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    Some(value[..end].trim_ascii())
}

/// The id as a number.
pub fn number(id: &[u8]) -> Option<usize> {
    id.iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + usize::from(digit - b'0')))
}

/// The method of a request.
pub fn method(message: &[u8]) -> Option<&[u8]> {
    let value = &message[METHOD.find(message)? + 10..];
    Some(&value[..memchr(b'"', value)?])
}

/// All that is called a name. The client may stand before the tool.
pub fn names(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    NAME.find_iter(message).filter_map(|at| {
        let value = &message[at + 8..];
        Some(&value[..memchr(b'"', value)?])
    })
}

/// The page of a list that is asked for.
pub fn cursor(message: &[u8]) -> Option<usize> {
    number(quoted(message, br#""cursor":""#)?)
}

/// The cursor of the page that comes next. It may stand on either side of the tools, so both ends are looked at.
pub fn next_page(answer: &[u8]) -> Option<String> {
    let end = &answer[answer.len().saturating_sub(1024)..];
    let start = &answer[..answer.len().min(1024)];
    let cursor = [end, start].into_iter().find_map(|part| quoted(part, br#""nextCursor":""#))?;
    Some(String::from_utf8_lossy(cursor).into_owned())
}

fn quoted<'t>(text: &'t [u8], before: &[u8]) -> Option<&'t [u8]> {
    let value = &text[find(text, before)? + before.len()..];
    Some(&value[..memchr(b'"', value)?])
}

/// The text of the arguments or of the first block of a result, still escaped.
pub fn text(message: &[u8]) -> Option<&[u8]> {
    let value = &message[TEXT.find(message)? + 8..];
    let mut from = 0;
    loop {
        let end = from + memchr(b'"', &value[from..])?;
        let escapes = value[..end].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(&value[..end]);
        }
        from = end + 1;
    }
}

/// How much an answer holds: bytes of text, or tools.
pub fn content_size(answer: &[u8], work: Work) -> usize {
    match work {
        Work::Echo | Work::Big => {
            let text = text(answer).unwrap_or_default();
            text.len() - memchr_iter(b'\\', text).count()
        }
        Work::List | Work::Connect => find_iter(answer, br#""inputSchema":"#).count(),
    }
}

/// An answer that is an error ends the run.
pub fn refuse_error(answer: &[u8]) -> Result<(), Fail> {
    let head = &answer[..answer.len().min(200)];
    if find(head, br#""error":{"#).is_none() {
        return Ok(());
    }
    Err(format!("the server answered {}", String::from_utf8_lossy(head)).into())
}
