//! Frames waiting to be written, as few large pieces.
//!
//! Every frame ends in a newline and holds no other, so a byte stream writes the pieces as they are, and a binding
//! that sends messages finds their ends again.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

/// Frames beyond this many bytes stay a piece of their own instead of being copied together.
const LARGE: usize = 16 * 1024;

/// Frames waiting to be written.
#[derive(Debug, Default)]
pub struct Queue {
    pieces: VecDeque<Bytes>,
    /// Small frames gathered since the last large one.
    tail: BytesMut,
    len: usize,
}

impl Queue {
    /// How many bytes wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one frame, given in parts, and its newline.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) {
        let len = parts.iter().map(|part| part.len()).sum::<usize>() + 1;
        self.len += len;
        if len > LARGE {
            self.seal();
            let mut piece = BytesMut::with_capacity(len);
            parts.iter().for_each(|part| extend_in_one_line(&mut piece, part));
            piece.extend_from_slice(b"\n");
            self.pieces.push_back(piece.freeze());
        } else {
            parts.iter().for_each(|part| extend_in_one_line(&mut self.tail, part));
            self.tail.extend_from_slice(b"\n");
        }
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(self.tail.split().freeze());
        }
    }

    /// Takes over all that `other` holds, behind what is here.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, other);
            return;
        }
        self.seal();
        other.seal();
        self.len += other.len;
        self.pieces.append(&mut other.pieces);
        other.len = 0;
    }

    /// The bytes that wait, for one vectored write; returns how many slices were filled.
    pub fn slices<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.pieces.iter().map(|piece| &piece[..]);
        let tail = (!self.tail.is_empty()).then_some(&self.tail[..]);
        let mut filled = 0;
        for (slot, piece) in into.iter_mut().zip(pieces.chain(tail)) {
            *slot = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// Forgets the first `written` bytes.
    pub fn advance(&mut self, mut written: usize) {
        debug_assert!(written <= self.len, "more was written than waited");
        self.len -= written.min(self.len);
        while let Some(piece) = self.pieces.front_mut() {
            if written < piece.len() {
                piece.advance(written);
                return;
            }
            written -= piece.len();
            self.pieces.pop_front();
        }
        self.tail.advance(written.min(self.tail.len()));
    }

    /// Takes the next whole frame, without its newline: for bindings that send messages, not bytes.
    pub fn pop_frame(&mut self) -> Option<Bytes> {
        if self.pieces.is_empty() {
            self.seal();
        }
        let piece = self.pieces.front_mut()?;
        let end = memchr::memchr(b'\n', piece).map_or(piece.len(), |at| at + 1);
        let mut frame = piece.split_to(end);
        if piece.is_empty() {
            self.pieces.pop_front();
        }
        self.len -= end;
        if frame.ends_with(b"\n") {
            frame.truncate(end - 1);
        }
        Some(frame)
    }
}

/// Appends JSON text. A newline in it is white space between tokens (strings escape theirs), so a space does as well.
fn extend_in_one_line(into: &mut BytesMut, json: &[u8]) {
    let start = into.len();
    into.extend_from_slice(json);
    let mut at = start;
    while let Some(found) = memchr::memchr(b'\n', &into[at..]) {
        at += found;
        into[at] = b' ';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(queue: &Queue) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = queue.slices(&mut slices);
        slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn small_frames_gather_and_large_ones_stay_apart() {
        let mut queue = Queue::default();
        queue.push(&[b"a", b"b"]);
        queue.push(&[b"c"]);
        queue.push(&[&vec![b'x'; LARGE]]);
        queue.push(&[b"d"]);
        let mut slices = [IoSlice::new(&[]); 8];
        assert_eq!(queue.slices(&mut slices), 3);
        assert_eq!(queue.len(), bytes(&queue).len());
        queue.advance(4);
        assert_eq!(bytes(&queue)[0], b'\n');
        queue.advance(queue.len() - 1);
        assert_eq!(bytes(&queue), b"\n");
    }

    #[test]
    fn a_frame_holds_no_newline_but_its_own() {
        let mut queue = Queue::default();
        queue.push(&[b"{\n\"a\":", b"\n1\n}"]);
        queue.push(&[b"[\n", &vec![b' '; LARGE], b"]"]);
        assert_eq!(bytes(&queue).iter().filter(|byte| **byte == b'\n').count(), 2);
        assert_eq!(&queue.pop_frame().unwrap()[..], br#"{ "a": 1 }"#);
    }

    #[test]
    fn whole_frames_come_out_one_by_one() {
        let mut queue = Queue::default();
        let mut later = Queue::default();
        queue.push(&[b"a"]);
        later.push(&[b"b"]);
        later.push(&[&vec![b'x'; LARGE]]);
        queue.append(&mut later);
        assert!(later.is_empty());
        let frames: Vec<_> = std::iter::from_fn(|| queue.pop_frame()).map(|frame| frame.len()).collect();
        assert_eq!(frames, [1, 1, LARGE]);
        assert!(queue.is_empty());
    }
}
