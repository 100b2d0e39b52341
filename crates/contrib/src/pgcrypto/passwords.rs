//! `crypt` and `gen_salt`: password hashes of the kinds bcrypt (`bf`), `md5`, and traditional and
//! extended DES (`des`, `xdes`).

use super::failed;
use pgerror::{PgError, Result, pg_err};
use pwhash::{bcrypt, bsdi_crypt, md5_crypt, unix_crypt};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// The digits of salts and hashes.
const ITOA64: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The digits of bcrypt.
const BF_ITOA64: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Error 39000, as when the C library's function fails.
#[expect(deprecated, reason = "weak hashes are still to be verified")]
fn crypt(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (password, salt) = (a[0].as_bytes(), a[1].as_bytes());
    let none = || failed("crypt(3) returned NULL");
    let salt = std::str::from_utf8(salt).map_err(|_| none())?;
    // A password ends at a zero byte; a text has none.
    let invalid = || pg_err!(INVALID_PARAMETER_VALUE, "invalid salt");
    if let Some(rest) = salt.strip_prefix("$2x$") {
        // The hashes of an old program, which took bytes for numbers with sign.
        if !password.is_ascii() {
            return Err(PgError::unsupported("bcrypt of the form $2x$ with other than ASCII"));
        }
        let salt = Datum::text(&format!("$2a${rest}"));
        let hash = crypt(&[a[0], salt.as_ref()])?;
        let hash = hash.as_ref().as_bytes().strip_prefix(b"$2a$").unwrap_or_default();
        return Ok(Datum::bytes([b"$2x$", hash].concat()));
    }
    let hash = if salt.starts_with("$2a$") {
        // The salt may be followed by a hash.
        bcrypt::hash_with(salt.get(..29).ok_or_else(invalid)?, password)
    } else if salt.starts_with("$2$") {
        return Err(none());
    } else if salt.starts_with("$1$") {
        md5_crypt::hash_with(salt, password)
    } else if salt.starts_with('_') {
        if salt.len() < 9 {
            return Err(invalid());
        }
        bsdi_crypt::hash_with(salt, password)
    } else {
        if salt.len() < 2 {
            return Err(invalid());
        }
        unix_crypt::hash_with(salt, password)
    };
    hash.map(|hash| Datum::text(&hash)).map_err(|_| none())
}

/// Four digits for three bytes, the low bits first.
fn push_digits(out: &mut Vec<u8>, bytes: &[u8]) {
    let value = bytes.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b));
    out.extend((0..4).map(|i| ITOA64[(value >> (6 * i) & 63) as usize]));
}

fn bf_digits(out: &mut Vec<u8>, bytes: &[u8; 16]) {
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b));
        let word = word << (8 * (3 - chunk.len()));
        let digits = chunk.len() + 1;
        out.extend((0..digits).map(|i| BF_ITOA64[(word >> (18 - 6 * i) & 63) as usize]));
    }
}

/// `gen_salt(kind, rounds)`; 0 rounds: the default of the kind.
fn gen_salt(cx: &mut dyn FnContext, kind: &[u8], rounds: i32) -> Result<Datum> {
    let invalid = |message: &str| pg_err!(INVALID_PARAMETER_VALUE, "gen_salt: {message}");
    let mut bytes = [0; 16];
    cx.random_bytes(&mut bytes)?;
    let mut out = Vec::new();
    let in_range = |default: i32, min: i32, max: i32| {
        let rounds = if rounds == 0 { default } else { rounds };
        let fits = (min..=max).contains(&rounds);
        if fits { Ok(rounds) } else { Err(invalid("Incorrect number of rounds")) }
    };
    match super::algorithm(kind).as_str() {
        "des" => {
            if rounds != 0 && rounds != 25 {
                return Err(invalid("Incorrect number of rounds"));
            }
            out.extend(bytes[..2].iter().map(|b| ITOA64[usize::from(b & 63)]));
        }
        "md5" => {
            if rounds != 0 && rounds != 1000 {
                return Err(invalid("Incorrect number of rounds"));
            }
            out.extend_from_slice(b"$1$");
            push_digits(&mut out, &bytes[..3]);
            push_digits(&mut out, &bytes[3..6]);
        }
        "xdes" => {
            let rounds = in_range(29 * 25, 1, 0xff_ffff)?;
            // An even number makes weak keys visible in the hash.
            if rounds & 1 == 0 {
                return Err(invalid("Incorrect number of rounds"));
            }
            out.push(b'_');
            push_digits(&mut out, &rounds.to_le_bytes()[..3]);
            push_digits(&mut out, &bytes[..3]);
        }
        "bf" => {
            let rounds = in_range(6, 4, 31)?;
            out.extend_from_slice(format!("$2a${rounds:02}$").as_bytes());
            bf_digits(&mut out, &bytes);
        }
        _ => return Err(invalid("Unknown salt algorithm")),
    }
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "pg_crypt" => |_, a| crypt(a),
    "pg_gen_salt" => |cx, a| gen_salt(cx, a[0].as_bytes(), 0),
    "pg_gen_salt_rounds" => |cx, a| gen_salt(cx, a[0].as_bytes(), a[1].as_i32()),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes by PostgreSQL 15.
    #[test]
    fn hashes_are_those_of_postgresql() {
        let hash = |password: &str, salt: &str| {
            let args = [Datum::text(password), Datum::text(salt)];
            crypt(&[args[0].as_ref(), args[1].as_ref()]).ok()
        };
        for (password, salt, expected) in [
            ("foox", "$1$Szzz0yzz", "$1$Szzz0yzz$IYL49cd3t9bllsA7Jmz1M1"),
            ("foox", "_J9..j2zz", "_J9..j2zzAYKMvO2BYRY"),
            ("foox", "NB", "NB53EGGqrrb5E"),
            (
                "foox",
                "$2a$06$RQiOJ.3ELirrXwxIZY8q0O",
                "$2a$06$RQiOJ.3ELirrXwxIZY8q0OR3CVJrAfda1z26CCHPnB6mmVZD8p0/C",
            ),
        ] {
            assert_eq!(hash(password, salt), Some(Datum::text(expected)), "{salt}");
        }
    }
}
