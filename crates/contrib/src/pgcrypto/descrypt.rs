//! Password hashes by DES: the traditional ones, and the extended ones of BSD.
//!
//! The hash is a block of zeros that is encrypted many times, by a variant of DES in which the salt
//! exchanges bits of the expanded half block. Source: FIPS 46-3; crypt(3) of FreeBSD.

use super::passwords::{ITOA64, digit_value};
use pgerror::Result;
use std::sync::LazyLock;

/// Encryptions between two checks for interrupts.
const CHECK_EVERY: u32 = 4096;

/// Bits of the result in terms of bits of the input, from 1 for the highest one.
const KEY_HALVES: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60,
    52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29,
    21, 13, 5, 28, 20, 12, 4,
];
const ROUND_KEY: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52,
    31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const AFTER_BOXES: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19,
    13, 30, 6, 22, 11, 4, 25,
];
/// Rotations of the halves of the key before each round.
const ROTATIONS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
/// Rows of four bits: four rows of 16 for each box, one row as a number from its first digit.
const BOXES: [[u64; 4]; 8] = [
    [0xe4d1_2fb8_3a6c_5907, 0x0f74_e2d1_a6cb_9538, 0x41e8_d62b_fc97_3a50, 0xfc82_4917_5b3e_a06d],
    [0xf18e_6b34_972d_c05a, 0x3d47_f28e_c01a_69b5, 0x0e7b_a4d1_58c6_932f, 0xd8a1_3f42_b67c_05e9],
    [0xa09e_63f5_1dc7_b428, 0xd709_346a_285e_cbf1, 0xd649_8f30_b12c_5ae7, 0x1ad0_6987_4fe3_b52c],
    [0x7de3_069a_1285_bc4f, 0xd8b5_6f03_472c_1ae9, 0xa690_cb7d_f13e_5284, 0x3f06_a1d8_945b_c72e],
    [0x2c41_7ab6_853f_d0e9, 0xeb2c_47d1_50fa_3986, 0x421b_ad78_f9c5_630e, 0xb8c7_1e2d_6f09_a453],
    [0xc1af_9268_0d34_e75b, 0xaf42_7c95_61de_0b38, 0x9ef5_28c3_704a_1db6, 0x432c_95fa_be17_608d],
    [0x4b2e_f08d_3c97_5a61, 0xd0b7_491a_e35c_2f86, 0x14bd_c37e_af68_0592, 0x6bd8_14a7_950f_e23c],
    [0xd284_6fb1_a93e_50c7, 0x1fd8_a374_c56b_0e92, 0x7b41_9ce2_06ad_f358, 0x21e7_4a8d_fc90_356b],
];

/// The bits of `value`, which has `width` bits, that the table names.
fn permuted(value: u64, width: u32, table: &[u8]) -> u64 {
    table.iter().fold(0, |out, &bit| out << 1 | value >> (width - u32::from(bit)) & 1)
}

/// For each box and its six bits of input, the output in its place behind the last permutation.
static SPREAD: LazyLock<[[u32; 64]; 8]> = LazyLock::new(|| {
    let output = |number: usize, input: usize| {
        let row = input >> 4 & 2 | input & 1;
        let column = input >> 1 & 15;
        let digit = BOXES[number][row] >> (60 - 4 * column) & 15;
        permuted(digit << (28 - 4 * number), 32, &AFTER_BOXES) as u32
    };
    std::array::from_fn(|number| std::array::from_fn(|input| output(number, input)))
});

/// The initial permutation: each row starts with this bit and goes down in steps of eight.
fn initial(value: u64) -> u64 {
    let table: Vec<u8> = [58u8, 60, 62, 64, 57, 59, 61, 63]
        .iter()
        .flat_map(|&first| (0..8).map(move |i| first - 8 * i))
        .collect();
    permuted(value, 64, &table)
}

/// The inverse of [`initial`].
fn last(value: u64) -> u64 {
    (0..64).fold(0, |out, bit| match value >> bit & 1 {
        0 => out,
        _ => out | 1 << (0..64).find(|&from| initial(1 << from) == 1 << bit).unwrap_or(0),
    })
}

/// The halves of the key of each round.
struct Schedule([(u32, u32); 16]);

impl Schedule {
    fn new(key: u64) -> Schedule {
        let halves = permuted(key, 64, &KEY_HALVES);
        let (mut c, mut d) = ((halves >> 28) as u32, (halves & 0xfff_ffff) as u32);
        let rotated = |half: u32, by: u32| (half << by | half >> (28 - by)) & 0xfff_ffff;
        Schedule(ROTATIONS.map(|by| {
            (c, d) = (rotated(c, by), rotated(d, by));
            let key = permuted(u64::from(c) << 28 | u64::from(d), 56, &ROUND_KEY);
            ((key >> 24) as u32, (key & 0xff_ffff) as u32)
        }))
    }

    /// Encrypts a block `count` times. The permutations between two encryptions cancel out.
    fn encrypt(
        &self,
        block: u64,
        (salt, count): (u32, u32),
        check: &dyn Fn() -> Result<()>,
    ) -> Result<u64> {
        let exchanged = salt.reverse_bits() >> 8;
        let block = initial(block);
        let (mut l, mut r) = ((block >> 32) as u32, block as u32);
        let boxes = &*SPREAD;
        for round in 0..count {
            if round % CHECK_EVERY == 0 {
                check()?;
            }
            for (high, low) in &self.0 {
                // 34 bits: the half block between its last and its first bit.
                let wide = u64::from(r & 1) << 33 | u64::from(r) << 1 | u64::from(r >> 31);
                let group = |i: u32| (wide >> (28 - 4 * i) & 63) as u32;
                let groups =
                    |i| group(i) << 18 | group(i + 1) << 12 | group(i + 2) << 6 | group(i + 3);
                let (a, b) = (groups(0), groups(4));
                let swap = (a ^ b) & exchanged;
                let (a, b) = (a ^ swap ^ high, b ^ swap ^ low);
                let mut f = 0;
                for i in 0..4 {
                    let shift = 18 - 6 * i as u32;
                    f |= boxes[i][(a >> shift & 63) as usize];
                    f |= boxes[i + 4][(b >> shift & 63) as usize];
                }
                (l, r) = (r, l ^ f);
            }
            (l, r) = (r, l);
        }
        Ok(last(u64::from(l) << 32 | u64::from(r)))
    }
}

/// Up to eight characters as a key: seven bits of each.
fn key_of(password: &[u8]) -> u64 {
    (0..8).fold(0, |key, i| key << 8 | u64::from(password.get(i).copied().unwrap_or(0) << 1))
}

/// The value of digits, the lowest first.
fn number(digits: &[u8]) -> u32 {
    digits.iter().rev().fold(0, |value, &digit| value << 6 | digit_value(digit))
}

/// The hash of a password, whose salt is in the form of two digits, or of `_`, four digits of a
/// count and four of the salt. `None` if the count is 0. The salt is long enough.
pub(super) fn hash(
    password: &[u8],
    salt: &[u8],
    check: &dyn Fn() -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let extended = salt.first() == Some(&b'_');
    let (prefix, count, bits) = match extended {
        true => (&salt[..9], number(&salt[1..5]), number(&salt[5..9])),
        false => (&salt[..2], 25, number(&salt[..2])),
    };
    if count == 0 {
        return Ok(None);
    }
    let mut key = key_of(password);
    if extended {
        for part in password.chunks(8).skip(1) {
            key = Schedule::new(key).encrypt(key, (0, 1), check)? ^ key_of(part);
        }
    }
    let hash = Schedule::new(key).encrypt(0, (bits, count), check)?;
    let digits = (0..11u32).map(|i| {
        let group = if i < 10 { hash >> (58 - 6 * i) } else { hash << 2 };
        ITOA64[(group & 63) as usize]
    });
    Ok(Some(prefix.iter().copied().chain(digits).collect()))
}
