//! Finds the special bytes of a JSON string: quotes, backslashes and control characters.
//!
//! Reading and writing strings spends most of its time on plain bytes, so these are compared a word or a block at a
//! time (SWAR for 8 bytes; for 32 and 64 bytes, loops that the compiler vectorizes).

/// Returns the number of leading bytes that are plain: no quote, no backslash, no control character.
#[inline]
pub(crate) fn plain_prefix_len(bytes: &[u8]) -> usize {
    // Fast path for member names, most of which have at most 16 bytes.
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(2).enumerate() {
        if let Some(at) = first_special_in_word(*word) {
            return index * 8 + at;
        }
    }
    if bytes.len() > 16 { 16 + long_plain_prefix_len(&bytes[16..]) } else { plain_prefix_len_of_tail(bytes) }
}

fn long_plain_prefix_len(bytes: &[u8]) -> usize {
    // 64-byte blocks pay off for long strings only; most strings end within the first 96 bytes.
    let (blocks, _) = bytes.as_chunks::<32>();
    for (index, block) in blocks.iter().take(3).enumerate() {
        if let Some(at) = first_special_in_block(block) {
            return index * 32 + at;
        }
    }
    let known = blocks.len().min(3) * 32;
    let (large, _) = bytes[known..].as_chunks::<64>();
    let plain = known + large.iter().take_while(|block| !block_has_special(block)).count() * 64;
    let (blocks, _) = bytes[plain..].as_chunks::<32>();
    for (index, block) in blocks.iter().take(2).enumerate() {
        if let Some(at) = first_special_in_block(block) {
            return plain + index * 32 + at;
        }
    }
    // The last block overlaps bytes that are known to be plain, which is harmless.
    match bytes.last_chunk() {
        Some(last) => first_special_in_block(last).map_or(bytes.len(), |at| bytes.len() - 32 + at),
        None => plain_prefix_len_by_words(bytes),
    }
}

fn plain_prefix_len_by_words(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if let Some(at) = first_special_in_word(*word) {
            return index * 8 + at;
        }
    }
    plain_prefix_len_of_tail(bytes)
}

/// Returns the length when all whole words from the start are plain.
#[inline]
fn plain_prefix_len_of_tail(bytes: &[u8]) -> usize {
    // The last word overlaps plain bytes, too.
    if let Some(word) = bytes.last_chunk::<8>() {
        return first_special_in_word(*word).map_or(bytes.len(), |at| bytes.len() - 8 + at);
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let found = first_special_in_word([*a, *b, *c, *d, *e, *f, *g, *h]);
        return found.map_or(bytes.len(), |at| if at < 4 { at } else { bytes.len() + at - 8 });
    }
    bytes.iter().position(|&byte| distance_to_special(byte) == 0).unwrap_or(bytes.len())
}

/// Returns zero for a special byte, and a positive number for a plain one.
#[inline]
fn distance_to_special(byte: u8) -> u8 {
    // Flipping bit 1 maps the quote (0x22) to 0x20, next to the control characters, and no other plain byte there.
    (byte ^ 2).saturating_sub(0x20).min(byte ^ b'\\')
}

/// Branch-free minimum over the block, which the compiler vectorizes.
#[inline]
fn block_has_special(block: &[u8; 64]) -> bool {
    block.iter().fold(u8::MAX, |least, &byte| least.min(distance_to_special(byte))) == 0
}

/// Returns the index of the first special byte: the minimum of all their indices, which the compiler vectorizes.
#[inline]
fn first_special_in_block(block: &[u8; 32]) -> Option<usize> {
    let mut first = u8::MAX;
    for (index, &byte) in block.iter().enumerate() {
        first = first.min(if distance_to_special(byte) == 0 { index as u8 } else { u8::MAX });
    }
    (first != u8::MAX).then_some(usize::from(first))
}

/// Returns the index of the first special byte of a word.
#[inline]
fn first_special_in_word(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    // As in `distance_to_special`: a special byte borrows into its high bit. A byte after it may do so too, but only
    // the first one is used.
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
    fn every_byte_is_classified_at_every_length() {
        for byte in 0..=255 {
            for len in [1, 4, 8, 16, 48, 200] {
                assert_eq!(plain_prefix_len(&vec![byte; len]) == 0, is_special(byte), "{byte}");
            }
        }
    }

    #[test]
    fn the_first_special_byte_is_found_at_every_index() {
        for special in [0, 0x1f, b'"', b'\\'] {
            for len in 1..200 {
                for at in 0..len {
                    for plain in [b' ', b'#', 0xff] {
                        let mut bytes = vec![plain; len];
                        bytes[at] = special;
                        assert_eq!(plain_prefix_len(&bytes), at, "{special} at {at} of {len}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_bytewise_search(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            loop {
                let plain = rest.iter().take_while(|&&byte| !is_special(byte)).count();
                prop_assert_eq!(plain_prefix_len(rest), plain);
                let Some(next) = rest.get(plain + 1..) else { break };
                rest = next;
            }
        }
    }
}
