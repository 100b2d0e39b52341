//! How labels match words with flags, which lquery and ltxtquery have in common.

use types::string::case::{Letters, lower_text};

/// Flags of a word.
pub(super) const PREFIX: u8 = 1;
pub(super) const IGNORE_CASE: u8 = 2;
/// The word is a sequence of words with `_` between them; each is a word of the label.
pub(super) const WORDS: u8 = 4;

/// The flag of a character.
pub(super) fn flag_of(c: u32) -> Option<u8> {
    match u8::try_from(c) {
        Ok(b'*') => Some(PREFIX),
        Ok(b'@') => Some(IGNORE_CASE),
        Ok(b'%') => Some(WORDS),
        _ => None,
    }
}

/// Appends the characters of flags.
pub(super) fn push_flags(flags: u8, out: &mut Vec<u8>) {
    for (flag, c) in [(WORDS, b'%'), (IGNORE_CASE, b'@'), (PREFIX, b'*')] {
        if flags & flag != 0 {
            out.push(c);
        }
    }
}

/// Whether a label matches a word. `letters`: those of the default collation.
pub(super) fn matches(word: &[u8], label: &[u8], flags: u8, letters: &Letters) -> bool {
    if flags & WORDS == 0 {
        return matches_whole(word, label, flags, letters);
    }
    let parts = |text: &'_ [u8]| -> Vec<Vec<u8>> {
        let parts = text.split(|c| *c == b'_').filter(|part| !part.is_empty());
        parts.map(<[u8]>::to_vec).collect()
    };
    let label = parts(label);
    parts(word).iter().all(|w| label.iter().any(|l| matches_whole(w, l, flags, letters)))
}

fn matches_whole(word: &[u8], label: &[u8], flags: u8, letters: &Letters) -> bool {
    let same = |word: &[u8], label: &[u8]| match flags & PREFIX != 0 {
        true => label.starts_with(word),
        false => label == word,
    };
    same(word, label)
        || flags & IGNORE_CASE != 0 && same(&lower_text(word, letters), &lower_text(label, letters))
}

/// The checksum of a word in lower case (ASCII): CRC-32.
pub(super) fn checksum(word: &[u8]) -> u32 {
    let sum = word.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte.to_ascii_lowercase()), |value, _| {
            if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 }
        })
    });
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_by_their_flags() {
        assert!(matches(b"foo", b"foobar", PREFIX, &Letters::Ascii));
        assert!(!matches(b"Foo", b"foobar", PREFIX, &Letters::Ascii));
        assert!(matches(b"Foo", b"foobar", PREFIX | IGNORE_CASE, &Letters::Ascii));
        assert!(matches(b"b_a", b"a_xx_b", WORDS, &Letters::Ascii));
        assert!(!matches(b"b_c", b"a_xx_b", WORDS, &Letters::Ascii));
        assert!(matches("Ä".as_bytes(), "ä".as_bytes(), IGNORE_CASE, &Letters::Unicode));
    }

    #[test]
    fn the_checksum_is_crc_32() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
