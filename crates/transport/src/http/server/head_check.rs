//! Rejects ambiguous HTTP/1 request heads, against request smuggling.
//!
//! Two things are rejected that hyper would accept: a line that ends without a carriage return, and a head
//! that has both `Content-Length` and `Transfer-Encoding`. A proxy in front may see other requests in them than we do
//! (request smuggling). The check follows the framing of the connection, so it sees heads only, also those that come
//! while an earlier request is being answered. A rejected head is overwritten with an invalid and complete one, so that
//! hyper answers with 400 and closes the connection.
//!
//! Memory is bounded: of a line only its beginning is kept, and only while it is incomplete.

/// The end of a head that every parser rejects.
const INVALID_END: [u8; 3] = *b"\0\n\n";

/// Bytes kept of a line that arrives in pieces.
const LINE: usize = 64;

/// Follows the HTTP/1 framing of one connection.
#[derive(Debug, Default)]
pub(crate) struct HeadCheck {
    phase: Phase,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// How many bytes of it came so far, and the last of them.
    line_len: usize,
    last: u8,
    head: Head,
}

#[derive(Debug, Default, Clone, Copy)]
struct Head {
    /// Whether the request line came.
    began: bool,
    length: Option<u64>,
    is_encoded: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Head,
    /// So many bytes of a body are left.
    Body(u64),
    /// Inspects the line with the size of a chunk.
    ChunkSize(u64, bool),
    /// So many bytes of a chunk are left, its line break included.
    Chunk(u64),
    Trailers,
    /// Not inspected any more: HTTP/2, or a head that hyper rejects anyway.
    Opaque,
}

impl HeadCheck {
    /// Inspects received bytes. Returns false when the connection must be closed, because a head is rejected and there is
    /// no room to overwrite it.
    #[must_use]
    pub(crate) fn inspect(&mut self, bytes: &mut [u8]) -> bool {
        // Where the next bytes are, and where the head that they may belong to began.
        let (mut at, mut began) = (0, 0);
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match self.phase {
                Phase::Opaque => return true,
                Phase::Head => {
                    if !self.head.began && self.line_len == 0 {
                        began = at;
                    }
                    match self.inspect_head(rest) {
                        Ok(consumed) => consumed,
                        Err(end) => return self.make_invalid(&mut bytes[began..], at + end - began),
                    }
                }
                Phase::Body(left) => {
                    let consumed = bytes_to_skip(left, rest.len());
                    self.phase = match left - consumed as u64 {
                        0 => Phase::Head,
                        left => Phase::Body(left),
                    };
                    consumed
                }
                Phase::Chunk(left) => {
                    let consumed = bytes_to_skip(left, rest.len());
                    self.phase = match left - consumed as u64 {
                        0 => Phase::ChunkSize(0, true),
                        left => Phase::Chunk(left),
                    };
                    consumed
                }
                Phase::ChunkSize(size, reads) => self.inspect_chunk_size(size, reads, rest),
                Phase::Trailers => self.inspect_trailers(rest),
            };
        }
        true
    }

    /// Refuses a head, given from where it began, at the end of a line.
    fn make_invalid(&mut self, head: &mut [u8], end: usize) -> bool {
        self.phase = Phase::Opaque;
        let room = match end {
            end if end + INVALID_END.len() <= head.len() => end,
            end if end >= 2 => end - 2,
            _ => return false,
        };
        head[room..room + INVALID_END.len()].copy_from_slice(&INVALID_END);
        true
    }

    /// One line of a head, or the part of it that came. The error is the end of the line for which it is refused.
    fn inspect_head(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            let room = LINE.saturating_sub(self.line.len()).min(bytes.len());
            self.line.extend_from_slice(&bytes[..room]);
            self.line_len += bytes.len();
            self.last = bytes[bytes.len() - 1];
            return Ok(bytes.len());
        };
        let before = if end > 0 { bytes[end - 1] } else { self.last };
        if before != b'\r' {
            return Err(end);
        }
        let is_refused = if self.line.is_empty() {
            self.inspect_line(&bytes[..end])
        } else {
            let room = LINE.saturating_sub(self.line.len()).min(end);
            self.line.extend_from_slice(&bytes[..room]);
            let line = std::mem::take(&mut self.line);
            self.inspect_line(&line)
        };
        (self.line_len, self.last) = (0, 0);
        if is_refused { Err(end) } else { Ok(end + 1) }
    }

    /// Inspects a line, or its beginning if it arrived in pieces. Returns whether the head must be rejected.
    fn inspect_line(&mut self, line: &[u8]) -> bool {
        if line == b"\r" || line.is_empty() {
            // Blank lines before a request are passed over.
            if self.head.began {
                let head = std::mem::take(&mut self.head);
                self.phase = match head {
                    Head { is_encoded: true, .. } => Phase::ChunkSize(0, true),
                    Head { length: Some(length @ 1..), .. } => Phase::Body(length),
                    _ => Phase::Head,
                };
            }
            return false;
        }
        if !self.head.began {
            self.head.began = true;
            if line.starts_with(b"PRI ") {
                self.phase = Phase::Opaque;
            }
            return false;
        }
        match line[0] {
            b'c' | b'C' => {
                if let Some(value) = header_value(line, b"content-length:") {
                    let digits = value.trim_ascii();
                    let length = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
                    match length {
                        Some(length) => self.head.length = Some(length),
                        // hyper rejects it.
                        None => self.phase = Phase::Opaque,
                    }
                }
            }
            b't' | b'T' => self.head.is_encoded |= header_value(line, b"transfer-encoding:").is_some(),
            _ => return false,
        }
        self.head.is_encoded && self.head.length.is_some()
    }

    /// Inspects the line with the size of a chunk.
    fn inspect_chunk_size(&mut self, mut size: u64, mut reads: bool, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' => {
                    self.phase =
                        if size == 0 { Phase::Trailers } else { Phase::Chunk(size.saturating_add(2)) };
                    (self.line_len, self.last) = (0, 0);
                    return at + 1;
                }
                byte if reads && byte.is_ascii_hexdigit() => {
                    let digit = u64::from((*byte as char).to_digit(16).unwrap_or_default());
                    let Some(larger) = size.checked_mul(16).and_then(|size| size.checked_add(digit)) else {
                        self.phase = Phase::Opaque;
                        return bytes.len();
                    };
                    size = larger;
                }
                _ => reads = false,
            }
        }
        self.phase = Phase::ChunkSize(size, reads);
        bytes.len()
    }

    /// Inspects the trailers after the last chunk, up to an empty line.
    fn inspect_trailers(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.line_len == 0 => {
                    self.phase = Phase::Head;
                    return at + 1;
                }
                b'\n' => self.line_len = 0,
                b'\r' => {}
                _ => self.line_len = 1,
            }
        }
        bytes.len()
    }
}

fn bytes_to_skip(left: u64, here: usize) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(here)
}

/// Returns the value of the header with this name, given in lower case with its colon.
fn header_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (own, value) = line.split_at_checked(name.len())?;
    own.eq_ignore_ascii_case(name).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it is refused, however it is cut into pieces.
    fn is_refused(text: &str) -> bool {
        let whole = {
            let mut bytes = text.as_bytes().to_vec();
            !HeadCheck::default().inspect(&mut bytes) || bytes != text.as_bytes()
        };
        for size in 1..12 {
            let (mut check, mut changed) = (HeadCheck::default(), false);
            for piece in text.as_bytes().chunks(size) {
                let mut bytes = piece.to_vec();
                changed |= !check.inspect(&mut bytes) || bytes != piece;
            }
            assert_eq!(changed, whole, "in pieces of {size}: {text:?}");
        }
        whole
    }

    #[test]
    fn s10_a_head_that_can_be_read_in_two_ways_is_refused() {
        let plain = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n{\n\n}";
        let chunked = "POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\n{\n\n\n}\r\nA\r\n0123456\n\n\n\r\n0\r\nX: y\r\n\r\n";
        let get =
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n".replace("{}", &"x".repeat(500));
        let both =
            "POST /mcp HTTP/1.1\r\nContent-Length: 4\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        let other = "POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\nCONTENT-LENGTH: 4\r\n\r\n0\r\n\r\n";
        let fine =
            [plain, chunked, &get, "\r\n\r\nGET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\n"];
        for text in fine {
            assert!(!is_refused(text), "{text:?}");
            assert!(!is_refused(&[plain, chunked, text].concat()), "{text:?}");
        }
        for text in [
            both,
            other,
            "GET /mcp HTTP/1.1\nHost: localhost\r\n\r\n",
            "GET /mcp HTTP/1.1\r\nHost: localhost\n\r\n",
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\n",
            "\nGET /mcp HTTP/1.1\r\n\r\n",
        ] {
            assert!(is_refused(text), "{text:?}");
            for before in [plain, chunked, &get] {
                assert!(is_refused(&[before, text].concat()), "after {before:?}: {text:?}");
            }
        }
    }
}
