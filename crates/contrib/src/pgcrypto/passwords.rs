//! `crypt` and `gen_salt`: password hashes of the kinds bcrypt (`bf`), `md5`, and traditional and
//! extended DES (`des`, `xdes`).

use super::{bcrypt, descrypt, failed, md5crypt};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// The digits of salts and hashes.
pub(super) const ITOA64: &[u8; 64] =
    b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The value of a digit; 0 for other characters.
pub(super) fn digit_value(digit: u8) -> u32 {
    ITOA64.iter().position(|&d| d == digit).map_or(0, |i| i as u32)
}

/// Appends `count` digits of a number, the low bits first.
pub(super) fn push_digits(out: &mut Vec<u8>, bytes: &[u8], count: u32) {
    let value = bytes.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b));
    out.extend((0..count).map(|i| ITOA64[(value >> (6 * i) & 63) as usize]));
}

/// `crypt(password, salt)`, where the salt decides the kind of hash. Error 39000, as when the C
/// library's function fails.
fn crypt(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (password, salt) = (a[0].as_bytes(), a[1].as_bytes());
    let check = || cx.check_interrupts();
    let invalid = || pg_err!(INVALID_PARAMETER_VALUE, "invalid salt");
    let least = |len: usize| match salt.len() < len {
        true => Err(invalid()),
        false => Ok(()),
    };
    let hash = if salt.starts_with(b"$2a$") || salt.starts_with(b"$2x$") {
        least(29)?;
        Some(bcrypt::hash(password, salt, &check)?.ok_or_else(invalid)?)
    } else if salt.starts_with(b"$2$") {
        None
    } else if salt.starts_with(b"$1$") {
        Some(md5crypt::hash(password, salt, &check)?)
    } else {
        least(if salt.starts_with(b"_") { 9 } else { 2 })?;
        descrypt::hash(password, salt, &check)?
    };
    hash.map(Datum::bytes).ok_or_else(|| failed("crypt(3) returned NULL"))
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
            push_digits(&mut out, &bytes[..3], 4);
            push_digits(&mut out, &bytes[3..6], 4);
        }
        "xdes" => {
            let rounds = in_range(29 * 25, 1, 0xff_ffff)?;
            // An even number makes weak keys visible in the hash.
            if rounds & 1 == 0 {
                return Err(invalid("Incorrect number of rounds"));
            }
            out.push(b'_');
            push_digits(&mut out, &rounds.to_le_bytes()[..3], 4);
            push_digits(&mut out, &bytes[..3], 4);
        }
        "bf" => {
            let rounds = in_range(6, 4, 31)?;
            out.extend_from_slice(format!("$2a${rounds:02}$").as_bytes());
            bcrypt::push_digits(&mut out, &bytes);
        }
        _ => return Err(invalid("Unknown salt algorithm")),
    }
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "pg_crypt" => crypt,
    "pg_gen_salt" => |cx, a| gen_salt(cx, a[0].as_bytes(), 0),
    "pg_gen_salt_rounds" => |cx, a| gen_salt(cx, a[0].as_bytes(), a[1].as_i32()),
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::BasicContext;

    /// Hashes by PostgreSQL 15.
    #[test]
    fn hashes_are_those_of_postgresql() {
        for (password, salt, expected) in [
            ("", "ab", "abmF1QH4PEr.E"),
            ("x", "./", "./7H4fGCYxIHQ"),
            ("a long password of more than eight", "zZ", "zZTto6V498s56"),
            ("pässwörd", "9@", "9@JN1SKAvX.b2"),
            ("foox", "$2b$06$", "$2A2eTeOR8FRk"),
            ("foox", "_J9..j2zz", "_J9..j2zzAYKMvO2BYRY"),
            ("a long password of more than eight", "_1...abcd", "_1...abcdZnoEel9cbgI"),
            ("pässwörd pässwörd", "_zz..zzzz", "_zz..zzzzlyY5fSexWnI"),
            ("", "$1$", "$1$$qRPK7m23GJusamGpoGLby/"),
            ("foox", "$1$Szzz0yzz", "$1$Szzz0yzz$IYL49cd3t9bllsA7Jmz1M1"),
            (
                "a long password of more than sixteen bytes",
                "$1$123456789",
                "$1$12345678$bS7D7h7iPsQzRZVYmXovD1",
            ),
            ("pässwörd", "$1$a$rest", "$1$a$E98LgktP6GDXLUgXJ7bs8/"),
            (
                "foox",
                "$2a$06$RQiOJ.3ELirrXwxIZY8q0O",
                "$2a$06$RQiOJ.3ELirrXwxIZY8q0OR3CVJrAfda1z26CCHPnB6mmVZD8p0/C",
            ),
            (
                "",
                "$2a$04$RQiOJ.3ELirrXwxIZY8q0z",
                "$2a$04$RQiOJ.3ELirrXwxIZY8q0uGpNCWcmLaSOu9D4uBqPeKWFv0Z3HPqO",
            ),
            (
                "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij",
                "$2a$05$......................",
                "$2a$05$......................rhsUdgiL44mg8vMhHtQIUjJODJuIqVi",
            ),
            (
                "pässwörd ÿÿ£",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC.",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC.MHK10OiD5WP1PouCGpGypccjcPwO7xa",
            ),
            (
                "pässwörd ÿÿ£",
                "$2x$05$CCCCCCCCCCCCCCCCCCCCC.",
                "$2x$05$CCCCCCCCCCCCCCCCCCCCC.83b7ynk8czlsJw1vzpQP0YydwrAPfPe",
            ),
            (
                "£",
                "$2x$05$/OK.fbVrR/bpIqNJ5ianF.",
                "$2x$05$/OK.fbVrR/bpIqNJ5ianF.ZWGqVwLKgsYeGeOWNzCYbZCI.oWeH2C",
            ),
        ] {
            let args = [Datum::text(password), Datum::text(salt)];
            let hash = crypt(&mut BasicContext::default(), &[args[0].as_ref(), args[1].as_ref()]);
            assert_eq!(hash.ok(), Some(Datum::text(expected)), "{password} {salt}");
        }
    }

    #[test]
    fn a_hash_of_many_rounds_can_be_interrupted() {
        for salt in ["$2a$31$RQiOJ.3ELirrXwxIZY8q0O", "_zzzzabcd"] {
            let args = [Datum::text("x"), Datum::text(salt)];
            let mut cx = BasicContext::default();
            cx.checks_left.set(Some(100));
            assert!(crypt(&mut cx, &[args[0].as_ref(), args[1].as_ref()]).is_err(), "{salt}");
        }
    }
}
