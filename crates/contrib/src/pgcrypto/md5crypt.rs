//! Password hashes by MD5, with 1,000 rounds. Source: crypt(3) of FreeBSD.

use super::passwords::push_digits;
use md5::{Digest, Md5};
use pgerror::Result;

const MAGIC: &[u8] = b"$1$";
const SALT_MAX: usize = 8;
const ROUNDS: usize = 1000;

/// The hash of a password. `salt` begins with `$1$`.
pub(super) fn hash(
    password: &[u8],
    salt: &[u8],
    check: &dyn Fn() -> Result<()>,
) -> Result<Vec<u8>> {
    let salt = salt.strip_prefix(MAGIC).unwrap_or(salt);
    let salt = salt.split(|&c| c == b'$').next().unwrap_or_default();
    let salt = &salt[..salt.len().min(SALT_MAX)];
    let digest = |parts: &[&[u8]]| -> [u8; 16] {
        let mut state = Md5::new();
        parts.iter().for_each(|part| state.update(part));
        state.finalize().into()
    };
    let inner = digest(&[password, salt, password]);
    let mut state = Md5::new();
    state.update(password);
    state.update(MAGIC);
    state.update(salt);
    for part in password.chunks(16) {
        state.update(&inner[..part.len()]);
    }
    let mut rest = password.len();
    while rest > 0 {
        state.update(if rest & 1 == 1 { &[0] } else { &password[..1] });
        rest >>= 1;
    }
    let mut hash: [u8; 16] = state.finalize().into();
    for round in 0..ROUNDS {
        check()?;
        let (first, last): (&[u8], &[u8]) =
            if round & 1 == 1 { (password, &hash) } else { (&hash, password) };
        let salt = if round % 3 != 0 { salt } else { &[] };
        let middle = if round % 7 != 0 { password } else { &[] };
        hash = digest(&[first, salt, middle, last]);
    }
    let mut out = [MAGIC, salt, b"$"].concat();
    for (a, b, c) in [(0, 6, 12), (1, 7, 13), (2, 8, 14), (3, 9, 15), (4, 10, 5)] {
        push_digits(&mut out, &[hash[c], hash[b], hash[a]], 4);
    }
    push_digits(&mut out, &[hash[11]], 2);
    Ok(out)
}
