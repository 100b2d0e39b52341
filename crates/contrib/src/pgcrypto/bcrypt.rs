//! Password hashes by Blowfish. Source: N. Provos and D. Mazières, "A Future-Adaptable Password
//! Scheme".

use blowfish::Blowfish;
use pgerror::Result;

/// The digits of bcrypt.
const DIGITS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The text that is encrypted.
const TEXT: &[u8; 24] = b"OrpheanBeholderScryDoubt";
/// Bytes of a password that are used, with the zero byte at its end.
const PASSWORD_MAX: usize = 72;
const SALT_DIGITS: usize = 22;
/// `$2a$`, two digits of the cost, `$`.
const HEAD: usize = 7;
/// Key expansions between two checks for interrupts.
const CHECK_EVERY: u64 = 64;

/// Appends the digits of bytes; a last digit has the bits that are left.
pub(super) fn push_digits(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b));
        let word = word << (8 * (3 - chunk.len()));
        let digits = chunk.len() + 1;
        out.extend((0..digits).map(|i| DIGITS[(word >> (18 - 6 * i) & 63) as usize]));
    }
}

/// The 16 bytes of a salt; `None` if it has other characters.
fn salt_of(digits: &[u8]) -> Option<[u8; 16]> {
    let mut bits = 0u128;
    for (i, digit) in digits.iter().enumerate() {
        let value = DIGITS.iter().position(|d| d == digit)? as u128;
        // The last digit has two bits of the salt.
        bits = if i < SALT_DIGITS - 1 { bits << 6 | value } else { bits << 2 | value >> 4 };
    }
    Some(bits.to_be_bytes())
}

/// The key of the form `$2x$`: hashes of a program that took bytes for numbers with a sign, which
/// covers the bytes before them in their word.
fn key_with_signs(password: &[u8]) -> Vec<u8> {
    let mut bytes = password.iter().copied().chain([0]).cycle();
    let words = (0..PASSWORD_MAX / 4).flat_map(|_| {
        let word = bytes.by_ref().take(4).fold(0, |word, b| word << 8 | i32::from(b as i8));
        word.to_be_bytes()
    });
    words.collect()
}

/// The hash of a password; `None` if the setting, which begins with `$2`, is not valid.
pub(super) fn hash(
    password: &[u8],
    setting: &[u8],
    check: &dyn Fn() -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let Some(digits) = setting.get(HEAD..HEAD + SALT_DIGITS) else { return Ok(None) };
    let cost = match setting[..HEAD] {
        [_, _, _, b'$', tens @ b'0'..=b'3', ones @ b'0'..=b'9', b'$'] => {
            u32::from(tens - b'0') * 10 + u32::from(ones - b'0')
        }
        _ => return Ok(None),
    };
    let salt = match salt_of(digits) {
        Some(salt) if (4..=31).contains(&cost) => salt,
        _ => return Ok(None),
    };
    let key = match setting[2] {
        b'x' => key_with_signs(password),
        _ => password.iter().copied().chain([0]).take(PASSWORD_MAX).collect(),
    };
    let mut state: Blowfish = Blowfish::bc_init_state();
    state.salted_expand_key(&salt, &key);
    for round in 0..1u64 << cost {
        if round % CHECK_EVERY == 0 {
            check()?;
        }
        state.bc_expand_key(&key);
        state.bc_expand_key(&salt);
    }
    let mut hash = Vec::with_capacity(TEXT.len());
    for block in TEXT.chunks_exact(8) {
        let half = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| block[at + i]));
        let block = (0..64).fold([half(0), half(4)], |block, _| state.bc_encrypt(block));
        block.iter().for_each(|half| hash.extend_from_slice(&half.to_be_bytes()));
    }
    let mut out = setting[..HEAD].to_vec();
    push_digits(&mut out, &salt);
    push_digits(&mut out, &hash[..23]);
    Ok(Some(out))
}
