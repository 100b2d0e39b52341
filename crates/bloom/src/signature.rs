//! Signatures: the bits that the hash of a value sets. The pseudorandom numbers are part of the
//! format of the index.
//!
//! Counterpart: `signValue`, `myRand` in blutils.c.

use page::bloom::{Options, WORD_BITS};

/// The generator of Park and Miller: `x = 7^5 x mod (2^31 - 1)`.
struct Generator(i64);

impl Generator {
    const MODULUS: i64 = 0x7FFF_FFFF;

    /// The seed is a signed number in PostgreSQL, and its remainder has the same sign.
    fn new(seed: u32) -> Generator {
        Generator(i64::from(seed as i32) % (Self::MODULUS - 1) + 1)
    }

    /// The next number, less than `2^31 - 2`. It is -1, and all later ones are, for seed -1.
    fn next(&mut self) -> i64 {
        self.0 = (16_807 * self.0).rem_euclid(Self::MODULUS);
        self.0 - 1
    }
}

/// Sets the bits of a value with this hash in a column (0-based). `signature` has the bytes of
/// `options.words` words.
pub(crate) fn add(options: &Options, column: usize, hash: u32, signature: &mut [u8]) {
    // Equal values of two columns set different bits.
    let mixed = Generator::new(column as u32).next() as u32 ^ hash;
    let mut generator = Generator::new(mixed);
    for _ in 0..options.bits[column] {
        // Bit -1 is in no word: PostgreSQL shifts it out.
        let Ok(number) = u32::try_from(generator.next()) else { continue };
        let bit = number % (options.words * WORD_BITS);
        // A word is little-endian, so that bit `n` is in byte `n / 8`.
        signature[bit as usize / 8] |= 1 << (bit % 8);
    }
}

/// True if `signature` has all bits of `wanted`.
pub(crate) fn contains(signature: &[u8], wanted: &[u8]) -> bool {
    signature.iter().zip(wanted).all(|(has, wanted)| has & wanted == *wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_that_of_park_and_miller() {
        let mut generator = Generator::new(0);
        let last = (0..10_000).map(|_| generator.next()).last();
        assert_eq!(last, Some(1_043_618_065 - 1));
    }

    #[test]
    fn a_signature_contains_the_bits_of_its_values() {
        let options = Options::DEFAULT;
        let sign = |values: &[(usize, u32)]| {
            let mut signature = vec![0; 10];
            values.iter().for_each(|(column, hash)| add(&options, *column, *hash, &mut signature));
            signature
        };
        let row = sign(&[(0, 17), (1, 0xFFFF_FFFF)]);
        assert!(contains(&row, &sign(&[(0, 17)])) && contains(&row, &sign(&[(1, 0xFFFF_FFFF)])));
        assert!(!contains(&row, &sign(&[(1, 17)])), "the column counts");
    }
}
