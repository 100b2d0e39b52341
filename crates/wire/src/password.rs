//! Stored passwords (`pg_authid.rolpassword`): SCRAM secrets and MD5 hashes.
//!
//! Counterpart: crypt.c, scram-common.c.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha2::{Digest, Sha256};

/// A SHA-256 hash or key.
pub type Key = [u8; 32];

/// Iteration count of new secrets, as in PostgreSQL 15.
pub const ITERATIONS: u32 = 4096;
/// Length of the salt of new secrets in bytes.
pub const SALT_BYTES: usize = 16;

/// A SCRAM secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScramSecret {
    pub iterations: u32,
    pub salt: Vec<u8>,
    pub stored_key: Key,
    pub server_key: Key,
}

/// A stored password.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Secret {
    /// The 32 hexadecimal digits after `md5`.
    Md5(String),
    Scram(ScramSecret),
}

pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

pub(crate) fn sha256(data: &[u8]) -> Key {
    Sha256::digest(data).into()
}

/// Constant-time comparison: its duration does not depend on the contents.
pub(crate) fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The MD5 hash of password and role name, as stored.
fn md5_digits(password: &[u8], role: &str) -> String {
    let mut hash = Md5::new();
    hash.update(password);
    hash.update(role);
    hex(&hash.finalize())
}

/// The password normalised by SASLprep, or unchanged if that is not possible.
fn normalised(password: &str) -> String {
    stringprep::saslprep(password).map_or_else(|_| password.to_owned(), |p| p.into_owned())
}

/// Hi() of RFC 5802: PBKDF2 with one block.
fn salted_password(password: &str, salt: &[u8], iterations: u32) -> Key {
    let password = normalised(password);
    let mut round = hmac(password.as_bytes(), &[salt, &1u32.to_be_bytes()]);
    let mut result = round;
    for _ in 1..iterations {
        round = hmac(password.as_bytes(), &[&round]);
        for (r, u) in result.iter_mut().zip(round) {
            *r ^= u;
        }
    }
    result
}

impl ScramSecret {
    pub fn new(password: &str, salt: &[u8], iterations: u32) -> ScramSecret {
        let salted_password = salted_password(password, salt, iterations);
        ScramSecret {
            iterations,
            salt: salt.to_vec(),
            stored_key: sha256(&hmac(&salted_password, &[b"Client Key"])),
            server_key: hmac(&salted_password, &[b"Server Key"]),
        }
    }

    /// The text stored in `rolpassword`.
    pub fn text(&self) -> String {
        format!(
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            BASE64.encode(&self.salt),
            BASE64.encode(self.stored_key),
            BASE64.encode(self.server_key)
        )
    }

    fn parse(text: &str) -> Option<ScramSecret> {
        let rest = text.strip_prefix("SCRAM-SHA-256$")?;
        let (head, keys) = rest.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let key = |t: &str| BASE64.decode(t).ok()?.try_into().ok();
        Some(ScramSecret {
            iterations: iterations.parse().ok()?,
            salt: BASE64.decode(salt).ok()?,
            stored_key: key(stored)?,
            server_key: key(server)?,
        })
    }
}

impl Secret {
    /// Parses the contents of `rolpassword`; `None` if they are neither form.
    pub fn parse(text: &str) -> Option<Secret> {
        if let Some(digits) = text.strip_prefix("md5")
            && digits.len() == 32
            && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        {
            return Some(Secret::Md5(digits.to_owned()));
        }
        ScramSecret::parse(text).map(Secret::Scram)
    }

    /// The contents of `rolpassword` for a plain-text password.
    pub fn make(password: &str, role: &str, md5: bool, salt: &[u8; SALT_BYTES]) -> String {
        if md5 {
            return format!("md5{}", md5_digits(password.as_bytes(), role));
        }
        ScramSecret::new(password, salt, ITERATIONS).text()
    }

    /// True if this plain-text password matches.
    pub fn is_plain(&self, password: &str, role: &str) -> bool {
        match self {
            Secret::Md5(digits) => constant_time_eq(
                md5_digits(password.as_bytes(), role).as_bytes(),
                digits.as_bytes(),
            ),
            Secret::Scram(secret) => {
                let mine = ScramSecret::new(password, &secret.salt, secret.iterations);
                constant_time_eq(&mine.server_key, &secret.server_key)
            }
        }
    }

    /// True if it is the correct response to AuthenticationMD5Password with this salt.
    pub fn is_md5_answer(&self, answer: &[u8], salt: [u8; 4]) -> bool {
        let Secret::Md5(digits) = self else { return false };
        let mut hash = Md5::new();
        hash.update(digits);
        hash.update(salt);
        constant_time_eq(format!("md5{}", hex(&hash.finalize())).as_bytes(), answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by PostgreSQL 15 for the password "secret" (and the role "u" for MD5).
    #[test]
    fn secrets_match_postgresql() {
        let md5 = Secret::make("secret", "u", true, &[0; 16]);
        assert_eq!(md5, MD5);
        let Some(Secret::Scram(scram)) = Secret::parse(SCRAM) else { panic!("a SCRAM secret") };
        assert_eq!(ScramSecret::new("secret", &scram.salt, scram.iterations).text(), SCRAM);
        assert!(Secret::parse(SCRAM).unwrap().is_plain("secret", "u"));
        assert!(!Secret::parse(SCRAM).unwrap().is_plain("Secret", "u"));
        assert!(Secret::parse(MD5).unwrap().is_plain("secret", "u"));
        assert!(!Secret::parse(MD5).unwrap().is_plain("secret", "v"));
        assert_eq!(Secret::parse("plain"), None);
        assert_eq!(Secret::parse("SCRAM-SHA-256$4096:x$y"), None);
    }

    const MD5: &str = "md514ac701963725e89bfe34a2219d114a2";
    const SCRAM: &str = "SCRAM-SHA-256$4096:iGqBRKKqPvljwjvTUOHT3g==$\
         grfQoTLKxLLrl8maszlfXQLFql+avBYVV9IYCL+XI2s=:lbeHB3D+pk5Y2HiOF4QjzfiOmImMYoZIGA5nVaUksFo=";
}
