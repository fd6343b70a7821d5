//! Recovers the id of an unreadable message, so that the error reaches exactly its caller.
//!
//! A state machine that is fed chunks: it works while an oversized line is discarded, on bytes that are not UTF-8, and
//! with the id as the last member (TypeScript servers write it there). Reads the first JSON value only.

use crate::jsonrpc::id::{MAX_ID_BYTES, RequestId};

/// The parts of an unreadable message that could be recovered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoveredMessage {
    /// The top-level id.
    pub id: Option<RequestId>,
    /// Whether the message has a top-level `method`: it was a request or a notification.
    pub has_method: bool,
    /// Whether the message has a top-level `result` or `error`: it was a response.
    pub has_outcome: bool,
}

/// State machine that recovers the id of a message: [`feed`](Self::feed) it all bytes, then [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct MessageRecovery {
    depth: usize,
    state: RecoveryState,
    /// The text of the current key or id.
    token: Vec<u8>,
    in_string: bool,
    escaped: bool,
    done: bool,
    recovered: RecoveredMessage,
}

/// The part of the top-level object that is being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum RecoveryState {
    /// In or before a key of the top-level object, or outside of it.
    #[default]
    Key,
    /// In the value of the member `id`.
    IdValue,
    /// In the value of any other member.
    OtherValue,
}

impl MessageRecovery {
    /// Processes the next chunk.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.done {
                return;
            }
            // Fast path: most of an oversized message is inside long strings.
            if self.in_string && !self.escaped && !self.collects_token() {
                let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if run > 0 {
                    rest = &rest[run..];
                    continue;
                }
            }
            self.step(byte);
            rest = after;
        }
    }

    /// Returns the recovered parts.
    pub fn finish(mut self) -> RecoveredMessage {
        self.end_value();
        self.recovered
    }

    fn collects_token(&self) -> bool {
        self.depth == 1 && self.state != RecoveryState::OtherValue
    }

    fn step(&mut self, byte: u8) {
        if self.collects_token()
            && self.token.len() <= MAX_ID_BYTES + 2
            && !byte.is_ascii_whitespace() | self.in_string
        {
            self.token.push(byte);
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth == 1 {
                    self.done = byte == b'[';
                    self.token.clear();
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.token.pop();
                    self.end_value();
                    self.done = true;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.state == RecoveryState::Key => {
                self.token.pop();
                self.state =
                    if self.token == b"\"id\"" { RecoveryState::IdValue } else { RecoveryState::OtherValue };
                self.recovered.has_method |= self.token == b"\"method\"";
                self.recovered.has_outcome |= self.token == b"\"result\"" || self.token == b"\"error\"";
                self.token.clear();
            }
            b',' if self.depth == 1 => {
                self.token.pop();
                self.end_value();
            }
            _ => {}
        }
    }

    fn end_value(&mut self) {
        if self.state == RecoveryState::IdValue && self.recovered.id.is_none() {
            self.recovered.id = std::str::from_utf8(&self.token).ok().and_then(RequestId::from_json);
        }
        self.token.clear();
        self.state = RecoveryState::Key;
    }
}

/// Recovers the id of a complete message.
pub fn recover(bytes: &[u8]) -> RecoveredMessage {
    let mut recovery = MessageRecovery::default();
    recovery.feed(bytes);
    recovery.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_the_top_level_id_at_any_position() {
        let cases: [(&[u8], Option<RequestId>); 10] = [
            (br#"{"id":7,"result":{"id":8}}"#, Some(7.into())),
            (br#"{"result":{"id":8,"x":[{"id":9}]},"jsonrpc":"2.0","id":"a"}"#, Some("a".into())),
            (br#"{"result":"\"id\":3","id": 4 }"#, Some(4.into())),
            (br#"{"id":1}{"id":2}"#, Some(1.into())),
            (b"{\"result\":\"\xff\xfe\",\"id\":5}", Some(5.into())),
            (br#"{"id":6,"result":"cut of"#, Some(6.into())),
            (br#"{"result":{},"id":61"#, Some(61.into())),
            (br#"[{"id":1}]"#, None),
            (br#"{"result":{"id":1}}"#, None),
            (br#"{"id":null}"#, None),
        ];
        for (bytes, id) in cases {
            assert_eq!(recover(bytes).id, id, "{}", String::from_utf8_lossy(bytes));
        }
        assert!(recover(br#"{"id":1,"method":"x"}"#).has_method);
        assert!(!recover(br#"{"id":1,"result":{"method":"x"}}"#).has_method);
        assert!(recover(br#"{"id":1,"error":{"#).has_outcome);
        assert!(!recover(br#"{"id":1,"params":{"result":1}}"#).has_outcome);
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(cut in 1usize..9, deep in "[a-z\"\\\\{}]{0,30}") {
            let text = serde_json::json!({"result": {"id": 1, "t": deep}, "id": 42}).to_string();
            let mut recovery = MessageRecovery::default();
            text.as_bytes().chunks(cut).for_each(|chunk| recovery.feed(chunk));
            prop_assert_eq!(recovery.finish().id, Some(42.into()));
        }
    }
}
