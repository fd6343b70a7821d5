//! Gzip as it streams in: a chunk of packed bytes, and as much unpacked as is asked for.
//!
//! Invariants: at most [`STEP`] bytes are unpacked at a time, so a bomb meets the caller's limit before it meets
//! memory; what can be unpacked from the bytes at hand is given out at once, without waiting for more, because an
//! event stream may be packed too. Checks length and checksum of each member (RFC 1952).

use bytes::{Buf, Bytes};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// How much is unpacked in one step.
const STEP: usize = 32 * 1024;
/// The longest name and comment a header may have.
const MAX_HEADER: usize = 64 * 1024;

const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;

/// Unpacks.
pub(crate) struct Gunzip {
    /// Packed bytes not looked at yet.
    input: Bytes,
    /// Bytes of a header or trailer that is not whole yet.
    part: Vec<u8>,
    place: Place,
    inflate: Decompress,
    crc: Crc,
}

#[derive(Debug, PartialEq)]
enum Place {
    /// In a member's header; whether a member was finished before it.
    Header {
        first: bool,
    },
    Data,
    Trailer,
}

/// What one step came to.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Unpacked bytes.
    Out(Bytes),
    /// More input is needed.
    Hungry,
}

/// The bytes are not gzip.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the body is not valid gzip: {0}")]
pub(crate) struct NotGzip(&'static str);

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            input: Bytes::new(),
            part: Vec::new(),
            place: Place::Header { first: true },
            inflate: Decompress::new(false),
            crc: Crc::new(),
        }
    }

    /// Takes the next packed bytes. Call when [`Step::Hungry`] was the answer.
    pub(crate) fn feed(&mut self, input: Bytes) {
        debug_assert!(self.input.is_empty(), "all input was used");
        self.input = input;
    }

    /// Whether the bytes may end here. An empty body may be called packed.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self.place, Place::Header { .. }) && self.part.is_empty()
    }

    pub(crate) fn step(&mut self) -> Result<Step, NotGzip> {
        loop {
            match self.place {
                Place::Data => match self.inflate()? {
                    Some(out) => return Ok(Step::Out(out)),
                    None if self.place == Place::Data => return Ok(Step::Hungry),
                    None => {}
                },
                _ if self.input.is_empty() => return Ok(Step::Hungry),
                Place::Header { first } => self.header(first)?,
                Place::Trailer => self.trailer()?,
            }
        }
    }

    fn inflate(&mut self) -> Result<Option<Bytes>, NotGzip> {
        let mut out = Vec::with_capacity(STEP);
        let before = self.inflate.total_in();
        let status = self
            .inflate
            .decompress_vec(&self.input, &mut out, FlushDecompress::None)
            .map_err(|_| NotGzip("broken data"))?;
        let used = usize::try_from(self.inflate.total_in() - before).unwrap_or(usize::MAX);
        self.input.advance(used.min(self.input.len()));
        self.crc.update(&out);
        if status == Status::StreamEnd {
            self.place = Place::Trailer;
        }
        Ok(Some(out).filter(|out| !out.is_empty()).map(Bytes::from))
    }

    /// Adds input to the part until it is whole, then goes on to the data.
    fn header(&mut self, first: bool) -> Result<(), NotGzip> {
        if !first && self.part.is_empty() && self.input[0] == 0 {
            // Zeros after the last member are padding.
            let zeros = self.input.iter().take_while(|byte| **byte == 0).count();
            self.input.advance(zeros);
            return Ok(());
        }
        let before = self.part.len();
        let room = MAX_HEADER - before;
        self.part.extend_from_slice(&self.input[..self.input.len().min(room)]);
        match header_length(&self.part)? {
            Some(length) => {
                self.input.advance(length - before);
                self.part.clear();
                self.inflate.reset(false);
                self.crc.reset();
                self.place = Place::Data;
            }
            None if self.part.len() >= MAX_HEADER => return Err(NotGzip("an endless header")),
            None => self.input.clear(),
        }
        Ok(())
    }

    fn trailer(&mut self) -> Result<(), NotGzip> {
        let wanted = (8 - self.part.len()).min(self.input.len());
        self.part.extend_from_slice(&self.input.split_to(wanted));
        if let Ok(trailer) = <[u8; 8]>::try_from(&self.part[..]) {
            let [a, b, c, d, e, f, g, h] = trailer;
            let sums = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            if sums != (self.crc.sum(), self.crc.amount()) {
                return Err(NotGzip("the checksum does not fit"));
            }
            self.part.clear();
            self.place = Place::Header { first: false };
        }
        Ok(())
    }
}

/// The length of a whole header, or none when there is more to come.
fn header_length(part: &[u8]) -> Result<Option<usize>, NotGzip> {
    let magic = [0x1f, 0x8b, 8];
    if part.iter().zip(magic).any(|(have, want)| *have != want) {
        return Err(NotGzip("it does not begin like gzip"));
    }
    let Some(&flags) = part.get(3) else { return Ok(None) };
    let mut at = 10;
    if flags & HAS_EXTRA != 0 {
        let (Some(&low), Some(&high)) = (part.get(at), part.get(at + 1)) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            let Some(end) = part.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else {
                return Ok(None);
            };
            at += end + 1;
        }
    }
    if flags & HAS_CHECKSUM != 0 {
        at += 2;
    }
    Ok((part.len() >= at).then_some(at))
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
    fn unpack(packed: &[u8], chunk: usize) -> Result<Option<Vec<u8>>, NotGzip> {
        let mut gunzip = Gunzip::new();
        let mut out = Vec::new();
        for chunk in packed.chunks(chunk) {
            gunzip.feed(Bytes::copy_from_slice(chunk));
            while let Step::Out(bytes) = gunzip.step()? {
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
        while let Step::Out(bytes) = gunzip.step().unwrap() {
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
        assert_eq!(unpack(&broken, 100), Err(NotGzip("the checksum does not fit")));
        assert!(unpack(b"<html>", 100).is_err());
        assert!(unpack(&[packed, b"tail".to_vec()].concat(), 100).is_err());
        let endless = [&[0x1f, 0x8b, 8, HAS_NAME, 0, 0, 0, 0, 0, 0][..], &[b'x'; 70_000]].concat();
        assert_eq!(unpack(&endless, 1000), Err(NotGzip("an endless header")));
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
