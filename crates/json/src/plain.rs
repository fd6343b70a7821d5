//! Finding the bytes that mean something in a JSON string: a quote, a backslash, a control character.
//!
//! Both who reads strings and who writes them spend most of their time on bytes that mean nothing, so those go by in
//! large pieces. Nothing here knows what is done with what is found.

/// How many bytes at the start need no look in a string: no quote, no backslash, no control character.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    // Most names are that short, whatever follows them.
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(2).enumerate() {
        if let Some(at) = first_special(*word) {
            return index * 8 + at;
        }
    }
    if bytes.len() > 16 { 16 + long_plain_run(&bytes[16..]) } else { last_bytes(bytes) }
}

fn long_plain_run(bytes: &[u8]) -> usize {
    // Large pieces pay where many follow one another; most strings end before.
    let (blocks, _) = bytes.as_chunks::<32>();
    for (index, block) in blocks.iter().take(3).enumerate() {
        if let Some(at) = first_of_block(block) {
            return index * 32 + at;
        }
    }
    let known = blocks.len().min(3) * 32;
    let (large, _) = bytes[known..].as_chunks::<64>();
    let plain = known + large.iter().take_while(|block| !has_special(block)).count() * 64;
    let (blocks, _) = bytes[plain..].as_chunks::<32>();
    for (index, block) in blocks.iter().take(2).enumerate() {
        if let Some(at) = first_of_block(block) {
            return plain + index * 32 + at;
        }
    }
    // The last block overlaps what is known to be plain, which does no harm.
    match bytes.last_chunk() {
        Some(last) => first_of_block(last).map_or(bytes.len(), |at| bytes.len() - 32 + at),
        None => words_run(bytes),
    }
}

fn words_run(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if let Some(at) = first_special(*word) {
            return index * 8 + at;
        }
    }
    last_bytes(bytes)
}

/// The run when all whole words from the start are plain.
#[inline]
fn last_bytes(bytes: &[u8]) -> usize {
    // Overlaps as well.
    if let Some(word) = bytes.last_chunk::<8>() {
        return first_special(*word).map_or(bytes.len(), |at| bytes.len() - 8 + at);
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let found = first_special([*a, *b, *c, *d, *e, *f, *g, *h]);
        return found.map_or(bytes.len(), |at| if at < 4 { at } else { bytes.len() + at - 8 });
    }
    bytes.iter().position(|&byte| distance(byte) == 0).unwrap_or(bytes.len())
}

/// Zero for a byte that is not plain.
#[inline]
fn distance(byte: u8) -> u8 {
    // Flipping the second bit puts the quote right behind the control characters, and nothing else there.
    (byte ^ 2).saturating_sub(0x20).min(byte ^ b'\\')
}

/// Without a branch in it, and as the smallest of many bytes, which is what the compiler turns into vectors.
#[inline]
fn has_special(block: &[u8; 64]) -> bool {
    block.iter().fold(u8::MAX, |least, &byte| least.min(distance(byte))) == 0
}

/// Where the first byte stands that is not plain: again the smallest of many.
#[inline]
fn first_of_block(block: &[u8; 32]) -> Option<usize> {
    let mut first = u8::MAX;
    for (index, &byte) in block.iter().enumerate() {
        first = first.min(if distance(byte) == 0 { index as u8 } else { u8::MAX });
    }
    (first != u8::MAX).then_some(usize::from(first))
}

/// The same for a few bytes.
#[inline]
fn first_special(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    // As `distance`: a byte that is too small borrows into its high bit. So may the one behind it, but the first counts.
    let low = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    let found = (low | backslash) & !word & HIGHS;
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_special(byte: u8) -> bool {
        byte < 0x20 || byte == b'"' || byte == b'\\'
    }

    #[test]
    fn every_byte_is_told_apart_in_pieces_of_every_size() {
        for byte in 0..=255 {
            for len in [1, 4, 8, 16, 48, 200] {
                assert_eq!(plain_run(&vec![byte; len]) == 0, is_special(byte), "{byte}");
            }
        }
    }

    #[test]
    fn the_first_is_found_at_every_place_of_every_length() {
        for special in [0, 0x1f, b'"', b'\\'] {
            for len in 1..200 {
                for at in 0..len {
                    for plain in [b' ', b'#', 0xff] {
                        let mut bytes = vec![plain; len];
                        bytes[at] = special;
                        assert_eq!(plain_run(&bytes), at, "{special} at {at} of {len}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_look_at_each_byte(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            loop {
                let plain = rest.iter().take_while(|&&byte| !is_special(byte)).count();
                prop_assert_eq!(plain_run(rest), plain);
                let Some(next) = rest.get(plain + 1..) else { break };
                rest = next;
            }
        }
    }
}
