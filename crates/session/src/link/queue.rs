//! The queue of frames to write, stored in few large pieces.
//!
//! Every frame ends in a newline and contains no other, so a byte stream writes the pieces unchanged, and a
//! message-based binding can split them into frames again.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

/// Parts larger than this many bytes stay a piece of their own instead of being copied.
const LARGE: usize = 16 * 1024;

/// A part of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FramePart<'a> {
    /// Copied into the current piece.
    Text(&'a [u8]),
    /// Kept by reference when it is large.
    Shared(&'a Bytes),
}

impl FramePart<'_> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A queue of frames to write.
#[derive(Debug, Default)]
pub struct FrameQueue {
    pieces: VecDeque<Bytes>,
    /// Small frames collected since the last large part.
    tail: BytesMut,
    len: usize,
}

impl FrameQueue {
    /// Returns the number of bytes in the queue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one frame, given in parts, and its newline; `len` is the total length.
    pub(crate) fn push(&mut self, parts: &[FramePart<'_>], len: usize) {
        let mut at = self.tail.len();
        self.len += len;
        if len <= LARGE {
            // Reserved once and exactly: a tail that grows part by part ends up twice as large as the frame.
            self.tail.reserve(len);
        }
        for part in parts {
            match part {
                FramePart::Shared(bytes) if bytes.len() > LARGE && memchr::memchr(b'\n', bytes).is_none() => {
                    one_line(&mut self.tail[at..]);
                    self.seal();
                    at = 0;
                    self.pieces.push_back(Bytes::clone(bytes));
                }
                part => self.tail.extend_from_slice(part.as_bytes()),
            }
        }
        one_line(&mut self.tail[at..]);
        self.tail.extend_from_slice(b"\n");
        if self.tail.len() > LARGE {
            self.seal();
        }
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(self.tail.split().freeze());
        }
    }

    /// Moves all frames of `other` to the end of this queue.
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

    /// Fills slices with the queued bytes for one vectored write; returns the number of slices filled.
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

    /// Removes the first `written` bytes.
    pub fn advance(&mut self, mut written: usize) {
        debug_assert!(written <= self.len, "more bytes were written than queued");
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
        self.seal();
        let piece = self.pieces.front_mut()?;
        if let Some(end) = memchr::memchr(b'\n', piece) {
            let frame = piece.split_to(end);
            piece.advance(1);
            if piece.is_empty() {
                self.pieces.pop_front();
            }
            self.len -= end + 1;
            return Some(frame);
        }
        // The frame spans several pieces.
        let mut frame = BytesMut::new();
        while let Some(mut piece) = self.pieces.pop_front() {
            let end = memchr::memchr(b'\n', &piece);
            frame.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            if let Some(end) = end {
                piece.advance(end + 1);
                if !piece.is_empty() {
                    self.pieces.push_front(piece);
                }
                self.len -= 1;
                break;
            }
        }
        self.len -= frame.len();
        Some(frame.freeze())
    }
}

/// Replaces the newlines of JSON text by spaces. They are white space between tokens, because strings escape theirs.
fn one_line(json: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\n', &json[at..]) {
        at += found;
        json[at] = b' ';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(queue: &FrameQueue) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = queue.slices(&mut slices);
        slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    fn large() -> Bytes {
        Bytes::from(vec![b'x'; LARGE + 1])
    }

    fn text(queue: &mut FrameQueue, parts: &[&[u8]]) {
        push(queue, &parts.iter().map(|part| FramePart::Text(part)).collect::<Vec<_>>());
    }

    fn push(queue: &mut FrameQueue, parts: &[FramePart<'_>]) {
        queue.push(parts, parts.iter().map(|part| part.as_bytes().len()).sum::<usize>() + 1);
    }

    #[test]
    fn small_frames_are_merged_and_large_parts_are_not_copied() {
        let mut queue = FrameQueue::default();
        let large = large();
        text(&mut queue, &[b"a", b"b"]);
        text(&mut queue, &[b"c"]);
        push(&mut queue, &[FramePart::Text(b"<"), FramePart::Shared(&large), FramePart::Text(b">")]);
        text(&mut queue, &[b"d"]);
        let mut slices = [IoSlice::new(&[]); 8];
        assert_eq!(queue.slices(&mut slices), 3);
        assert_eq!(slices[1].as_ptr(), large.as_ptr());
        assert_eq!(bytes(&queue), [b"ab\nc\n<", &large[..], b">\nd\n"].concat());
        assert_eq!(queue.len(), bytes(&queue).len());
        queue.advance(4);
        assert_eq!(bytes(&queue)[0], b'\n');
        queue.advance(queue.len() - 1);
        assert_eq!(bytes(&queue), b"\n");
    }

    #[test]
    fn a_frame_contains_no_newline_but_its_terminator() {
        let mut queue = FrameQueue::default();
        text(&mut queue, &[b"{\n\"a\":", b"\n1\n}"]);
        let mut broken = large().to_vec();
        broken[7] = b'\n';
        push(
            &mut queue,
            &[FramePart::Text(b"[\n"), FramePart::Shared(&broken.into()), FramePart::Text(b"\n]")],
        );
        assert_eq!(bytes(&queue).iter().filter(|byte| **byte == b'\n').count(), 2);
        assert_eq!(&queue.pop_frame().unwrap()[..], br#"{ "a": 1 }"#);
    }

    #[test]
    fn whole_frames_come_out_one_by_one() {
        let mut queue = FrameQueue::default();
        let mut later = FrameQueue::default();
        text(&mut queue, &[b"a"]);
        text(&mut later, &[b"b"]);
        push(&mut later, &[FramePart::Text(b"<"), FramePart::Shared(&large()), FramePart::Text(b">")]);
        text(&mut later, &[b"c"]);
        queue.append(&mut later);
        assert!(later.is_empty());
        let frames: Vec<_> = std::iter::from_fn(|| queue.pop_frame()).map(|frame| frame.len()).collect();
        assert_eq!(frames, [1, 1, LARGE + 3, 1]);
        assert!(queue.is_empty());
    }
}
