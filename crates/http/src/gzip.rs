//! Streaming gzip decoder with bounded output per step.
//!
//! Invariants: at most [`STEP`] bytes are decompressed at a time, so a bomb hits the caller's limit before it fills memory;
//! available output is returned at once, without waiting for more input, because an event stream may be compressed too.
//! Checks length and checksum of each member (RFC 1952).

use bytes::{Buf, Bytes};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Maximum output of one step.
const STEP: usize = 32 * 1024;
/// Maximum size of a member header with its name and comment.
const MAX_HEADER: usize = 64 * 1024;

const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;

/// Decompresses gzip.
pub(crate) struct Gunzip {
    /// Compressed bytes not processed yet.
    input: Bytes,
    /// Bytes of an incomplete header or trailer.
    partial: Vec<u8>,
    state: GzipState,
    inflate: Decompress,
    crc: Crc,
}

#[derive(Debug, PartialEq)]
enum GzipState {
    /// In a member's header; whether a member was finished before it.
    Header {
        first: bool,
    },
    Data,
    Trailer,
}

/// The outcome of one step.
#[derive(Debug, PartialEq)]
pub(crate) enum GunzipStep {
    /// Decompressed bytes.
    Out(Bytes),
    /// More input is needed.
    NeedsInput,
}

/// The bytes are not gzip.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the body is not valid gzip: {0}")]
pub(crate) struct GzipError(&'static str);

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            input: Bytes::new(),
            partial: Vec::new(),
            state: GzipState::Header { first: true },
            inflate: Decompress::new(false),
            crc: Crc::new(),
        }
    }

    /// Adds compressed bytes. Call when [`GunzipStep::NeedsInput`] was returned.
    pub(crate) fn feed(&mut self, input: Bytes) {
        debug_assert!(self.input.is_empty(), "all input was used");
        self.input = input;
    }

    /// Returns whether the input may end here. An empty body is valid.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self.state, GzipState::Header { .. }) && self.partial.is_empty()
    }

    pub(crate) fn step(&mut self) -> Result<GunzipStep, GzipError> {
        loop {
            match self.state {
                GzipState::Data => match self.inflate()? {
                    Some(out) => return Ok(GunzipStep::Out(out)),
                    None if self.state == GzipState::Data => return Ok(GunzipStep::NeedsInput),
                    None => {}
                },
                _ if self.input.is_empty() => return Ok(GunzipStep::NeedsInput),
                GzipState::Header { first } => self.header(first)?,
                GzipState::Trailer => self.trailer()?,
            }
        }
    }

    fn inflate(&mut self) -> Result<Option<Bytes>, GzipError> {
        let mut out = Vec::with_capacity(STEP);
        let before = self.inflate.total_in();
        let status = self
            .inflate
            .decompress_vec(&self.input, &mut out, FlushDecompress::None)
            .map_err(|_| GzipError("broken data"))?;
        let used = usize::try_from(self.inflate.total_in() - before).unwrap_or(usize::MAX);
        self.input.advance(used.min(self.input.len()));
        self.crc.update(&out);
        if status == Status::StreamEnd {
            self.state = GzipState::Trailer;
        }
        Ok(Some(out).filter(|out| !out.is_empty()).map(Bytes::from))
    }

    /// Reads a member header, then continues with its data.
    fn header(&mut self, first: bool) -> Result<(), GzipError> {
        if !first && self.partial.is_empty() && self.input[0] == 0 {
            // Zeros after the last member are padding.
            let zeros = self.input.iter().take_while(|byte| **byte == 0).count();
            self.input.advance(zeros);
            return Ok(());
        }
        let before = self.partial.len();
        let room = MAX_HEADER - before;
        self.partial.extend_from_slice(&self.input[..self.input.len().min(room)]);
        match header_length(&self.partial)? {
            Some(length) => {
                self.input.advance(length - before);
                self.partial.clear();
                self.inflate.reset(false);
                self.crc.reset();
                self.state = GzipState::Data;
            }
            None if self.partial.len() >= MAX_HEADER => return Err(GzipError("an endless header")),
            None => self.input.clear(),
        }
        Ok(())
    }

    fn trailer(&mut self) -> Result<(), GzipError> {
        let wanted = (8 - self.partial.len()).min(self.input.len());
        self.partial.extend_from_slice(&self.input.split_to(wanted));
        if let Ok(trailer) = <[u8; 8]>::try_from(&self.partial[..]) {
            let [a, b, c, d, e, f, g, h] = trailer;
            let sums = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            if sums != (self.crc.sum(), self.crc.amount()) {
                return Err(GzipError("the checksum does not fit"));
            }
            self.partial.clear();
            self.state = GzipState::Header { first: false };
        }
        Ok(())
    }
}

/// Returns the length of a complete header, or `None` if it is incomplete.
fn header_length(partial: &[u8]) -> Result<Option<usize>, GzipError> {
    let magic = [0x1f, 0x8b, 8];
    if partial.iter().zip(magic).any(|(have, want)| *have != want) {
        return Err(GzipError("it does not begin like gzip"));
    }
    let Some(&flags) = partial.get(3) else { return Ok(None) };
    let mut at = 10;
    if flags & HAS_EXTRA != 0 {
        let (Some(&low), Some(&high)) = (partial.get(at), partial.get(at + 1)) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            let Some(end) = partial.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else {
                return Ok(None);
            };
            at += end + 1;
        }
    }
    if flags & HAS_CHECKSUM != 0 {
        at += 2;
    }
    Ok((partial.len() >= at).then_some(at))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};
    use proptest::prelude::*;

    use super::*;

    fn pack(data: &[u8]) -> Vec<u8> {
        let builder = GzBuilder::new().filename("a name").comment("a comment").extra(vec![1, 2, 3]);
        let mut writer = builder.write(Vec::new(), Compression::default());
        writer.write_all(data).unwrap();
        writer.finish().unwrap()
    }

    /// Unpacks chunk by chunk; none when the end came too early.
    fn unpack(packed: &[u8], chunk: usize) -> Result<Option<Vec<u8>>, GzipError> {
        let mut gunzip = Gunzip::new();
        let mut out = Vec::new();
        for chunk in packed.chunks(chunk) {
            gunzip.feed(Bytes::copy_from_slice(chunk));
            while let GunzipStep::Out(bytes) = gunzip.step()? {
                assert!(bytes.len() <= STEP);
                out.extend_from_slice(&bytes);
            }
        }
        Ok(gunzip.may_end().then_some(out))
    }

    #[test]
    fn members_follow_each_other_and_zeros_are_padding() {
        let packed = [pack(b"one "), pack(b"two"), vec![0; 9]].concat();
        for chunk in 1..packed.len() {
            assert_eq!(unpack(&packed, chunk), Ok(Some(b"one two".to_vec())), "{chunk}");
        }
        assert_eq!(unpack(b"", 1), Ok(Some(Vec::new())));
    }

    #[test]
    fn what_was_flushed_is_given_out_at_once() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
        let data = vec![b'x'; 100_000];
        writer.write_all(&data).unwrap();
        writer.flush().unwrap();
        let mut gunzip = Gunzip::new();
        gunzip.feed(Bytes::from(writer.get_ref().clone()));
        let mut out = 0;
        while let GunzipStep::Out(bytes) = gunzip.step().unwrap() {
            out += bytes.len();
        }
        assert_eq!((out, gunzip.may_end()), (data.len(), false));
    }

    #[test]
    fn every_cut_is_seen_and_every_broken_checksum() {
        let packed = pack(b"hello, hello, hello");
        for end in 1..packed.len() {
            assert_eq!(unpack(&packed[..end], 7), Ok(None), "{end}");
        }
        let mut broken = packed.clone();
        *broken.last_mut().unwrap() ^= 1;
        assert_eq!(unpack(&broken, 100), Err(GzipError("the checksum does not fit")));
        assert!(unpack(b"<html>", 100).is_err());
        assert!(unpack(&[packed, b"tail".to_vec()].concat(), 100).is_err());
        let endless = [&[0x1f, 0x8b, 8, HAS_NAME, 0, 0, 0, 0, 0, 0][..], &[b'x'; 70_000]].concat();
        assert_eq!(unpack(&endless, 1000), Err(GzipError("an endless header")));
    }

    proptest! {
        #[test]
        fn any_data_in_any_chunks(data in proptest::collection::vec(0u8..8, 0..5000), chunk in 1usize..600) {
            prop_assert_eq!(unpack(&pack(&data), chunk), Ok(Some(data)));
        }

        #[test]
        fn junk_does_not_panic(junk in proptest::collection::vec(0u8.., 0..300), chunk in 1usize..40) {
            let _ = unpack(&junk, chunk);
            let _ = unpack(&[&pack(b"x")[..10], &junk].concat(), chunk);
        }
    }
}
