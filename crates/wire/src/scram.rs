//! The server side of SCRAM-SHA-256 (RFC 5802, RFC 7677).
//!
//! Counterpart: auth-scram.c.
//!
//! ```text
//! client-first   n,,n=,r=<nonce>
//! server-first   r=<nonce><more>,s=<salt>,i=<iterations>
//! client-final   c=<header>,r=<all of the nonce>,p=<proof>
//! server-final   v=<signature>
//! ```
//! A role without a SCRAM secret goes through the same exchange with a mock secret and fails at the
//! end, so that a client cannot determine whether the role exists.

use crate::password::{ITERATIONS, Key, SALT_BYTES, ScramSecret, constant_time_eq, hmac, sha256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use pgerror::{PgError, Result, Severity, SqlState};

/// Name of the mechanism.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// Name of the mechanism with channel binding.
pub const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";
/// Length of the server's part of the nonce in bytes, before base64 encoding.
pub const NONCE_BYTES: usize = 18;

/// The state of an exchange.
pub struct Exchange {
    secret: ScramSecret,
    /// The role has no SCRAM secret: the exchange fails in any case.
    doomed: bool,
    /// Hash of the server's certificate, if channel binding is available.
    binding: Option<Vec<u8>>,
    /// True if channel binding is offered to the client.
    offered: bool,
    header: String,
    first_bare: String,
    server_first: String,
    nonce: String,
}

fn malformed(detail: &str) -> PgError {
    PgError::new(SqlState::PROTOCOL_VIOLATION, "malformed SCRAM message")
        .detail(detail)
        .severity(Severity::Fatal)
}

/// The value of the attribute at the front of `rest`.
fn attribute<'a>(rest: &mut &'a str, name: char) -> Result<&'a str> {
    let (field, tail) = rest.split_once(',').unwrap_or((rest, ""));
    let value = field.strip_prefix(name).ok_or_else(|| {
        malformed(&format!("Expected attribute \"{name}\" but found \"{}\".", first(rest)))
    })?;
    let value = value
        .strip_prefix('=')
        .ok_or_else(|| malformed(&format!("Expected character \"=\" for attribute \"{name}\".")))?;
    *rest = tail;
    Ok(value)
}

/// The text of a message, which has no zero bytes.
fn text_of(message: &[u8]) -> Result<&str> {
    if message.is_empty() {
        return Err(malformed("The message is empty."));
    }
    if message.contains(&0) {
        return Err(malformed("Message length does not match input length."));
    }
    std::str::from_utf8(message).map_err(|_| malformed("The message is not UTF-8."))
}

fn no_comma(rest: &str) -> PgError {
    malformed(&format!("Comma expected, but found character \"{}\".", first(rest)))
}

/// The first byte of unauthenticated input, for an error message. Counterpart:
/// `sanitize_char`.
fn first(text: &str) -> String {
    match text.bytes().next().unwrap_or(0) {
        c @ b'!'..=b'~' => format!("'{}'", char::from(c)),
        c => format!("0x{c:02x}"),
    }
}

impl Exchange {
    /// Starts an exchange. If `secret` is `None`, a mock secret is derived from `mock`, always the
    /// the same for a role. `binding`: hash of the server's certificate on an encrypted connection.
    pub fn new(
        secret: Option<ScramSecret>,
        role: &str,
        mock: &[u8],
        binding: Option<Vec<u8>>,
    ) -> Exchange {
        let doomed = secret.is_none();
        let secret = secret.unwrap_or_else(|| {
            let salt = sha256(&[role.as_bytes(), mock].concat());
            ScramSecret {
                iterations: ITERATIONS,
                salt: salt[..SALT_BYTES].to_vec(),
                stored_key: [0; 32],
                server_key: [0; 32],
            }
        });
        Exchange {
            secret,
            doomed,
            offered: binding.is_some(),
            binding,
            header: String::new(),
            first_bare: String::new(),
            server_first: String::new(),
            nonce: String::new(),
        }
    }

    /// Processes client-first; returns server-first. `plus`: the client chose the mechanism with
    /// channel binding.
    pub fn first(
        &mut self,
        message: &[u8],
        plus: bool,
        random: &[u8; NONCE_BYTES],
    ) -> Result<String> {
        let text = text_of(message)?;
        let (flag, rest) = match text.find(',') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        match flag {
            "n" if plus => {
                return Err(malformed(
                    "The client selected SCRAM-SHA-256-PLUS, \
                     but the SCRAM message does not include channel binding data.",
                ));
            }
            "y" if plus => {
                return Err(malformed(
                    "The client selected SCRAM-SHA-256-PLUS, \
                     but the SCRAM message does not include channel binding data.",
                ));
            }
            "y" if self.offered => {
                return Err(PgError::new(
                    SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                    "SCRAM channel binding negotiation error",
                )
                .detail(
                    "The client supports SCRAM channel binding but thinks the server does \
                     not.  However, this server does support channel binding.",
                )
                .severity(Severity::Fatal));
            }
            "n" | "y" => self.binding = None,
            "p=tls-server-end-point" if plus => {}
            _ if flag.starts_with("p=") && !plus => {
                return Err(malformed(
                    "The client selected SCRAM-SHA-256 without channel binding, \
                     but the SCRAM message includes channel binding data.",
                ));
            }
            _ if flag.starts_with("p=") => {
                return Err(PgError::new(
                    SqlState::PROTOCOL_VIOLATION,
                    format!(
                        "unsupported SCRAM channel-binding type \"{}\"",
                        flag[2..].escape_default()
                    ),
                )
                .severity(Severity::Fatal));
            }
            _ if flag.starts_with(['n', 'y']) => return Err(no_comma(&flag[1..])),
            _ => {
                return Err(malformed(&format!(
                    "Unexpected channel-binding flag \"{}\".",
                    first(text)
                )));
            }
        }
        let rest = rest.ok_or_else(|| no_comma(""))?;
        if rest.starts_with('a') {
            return Err(PgError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "client uses authorization identity, but it is not supported",
            )
            .severity(Severity::Fatal));
        }
        let bare = rest.strip_prefix(',').ok_or_else(|| {
            malformed(&format!("Unexpected attribute \"{}\" in client-first-message.", first(rest)))
        })?;
        self.header = format!("{flag},,");
        bare.clone_into(&mut self.first_bare);
        let mut rest = bare;
        if rest.starts_with('m') {
            return Err(PgError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "client requires an unsupported SCRAM extension",
            )
            .severity(Severity::Fatal));
        }
        // The user name is ignored: that of the startup packet applies.
        attribute(&mut rest, 'n')?;
        let nonce = attribute(&mut rest, 'r')?;
        if nonce.is_empty() || !nonce.chars().all(|c| ('!'..='~').contains(&c)) {
            return Err(PgError::new(
                SqlState::PROTOCOL_VIOLATION,
                "non-printable characters in SCRAM nonce",
            )
            .severity(Severity::Fatal));
        }
        self.nonce = format!("{nonce}{}", BASE64.encode(random));
        self.server_first = format!(
            "r={},s={},i={}",
            self.nonce,
            BASE64.encode(&self.secret.salt),
            self.secret.iterations
        );
        Ok(self.server_first.clone())
    }

    /// Processes client-final; returns server-final if the proof is correct, else `None`.
    pub fn last(&self, message: &[u8]) -> Result<Option<String>> {
        let text = text_of(message)?;
        let mut rest = text;
        let channel = attribute(&mut rest, 'c')?;
        let mut wanted = self.header.clone().into_bytes();
        wanted.extend(self.binding.iter().flatten());
        if channel != BASE64.encode(&wanted) {
            let message = match self.binding {
                Some(_) => "SCRAM channel binding check failed",
                None => "unexpected SCRAM channel-binding attribute in client-final-message",
            };
            let code = match self.binding {
                Some(_) => SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                None => SqlState::PROTOCOL_VIOLATION,
            };
            return Err(PgError::new(code, message).severity(Severity::Fatal));
        }
        let nonce = attribute(&mut rest, 'r')?;
        if nonce != self.nonce {
            return Err(PgError::new(SqlState::PROTOCOL_VIOLATION, "invalid SCRAM response")
                .detail("Nonce does not match.")
                .severity(Severity::Fatal));
        }
        // The proof is the last attribute; extensions may precede it.
        let (without_proof, proof) = text.rsplit_once(",p=").ok_or_else(|| {
            malformed("Expected attribute \"p\" but found the end of the message.")
        })?;
        let proof: Key = BASE64
            .decode(proof)
            .ok()
            .and_then(|p| p.try_into().ok())
            .ok_or_else(|| malformed("Malformed proof in client-final-message."))?;
        let parts: [&[u8]; 5] = [
            self.first_bare.as_bytes(),
            b",",
            self.server_first.as_bytes(),
            b",",
            without_proof.as_bytes(),
        ];
        let signature = hmac(&self.secret.stored_key, &parts);
        let mut client_key = proof;
        for (k, s) in client_key.iter_mut().zip(signature) {
            *k ^= s;
        }
        if !constant_time_eq(&sha256(&client_key), &self.secret.stored_key) || self.doomed {
            return Ok(None);
        }
        Ok(Some(format!("v={}", BASE64.encode(hmac(&self.secret.server_key, &parts)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn example_of_rfc_7677() {
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let secret = ScramSecret::new("pencil", &salt, 4096);
        let mut exchange = Exchange::new(Some(secret), "user", b"", None);
        exchange.header = "n,,".into();
        exchange.first_bare = "n=user,r=rOprNGfwEbeRWgbNEkqO".into();
        exchange.nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0".into();
        exchange.server_first = format!("r={},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", exchange.nonce);
        let last = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let answer = exchange.last(last.as_bytes()).unwrap();
        assert_eq!(answer.as_deref(), Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        let wrong = last.replace("dHz", "dHy");
        assert_eq!(exchange.last(wrong.as_bytes()).unwrap(), None);
        exchange.doomed = true;
        assert_eq!(exchange.last(last.as_bytes()).unwrap(), None);
    }

    #[test]
    fn malformed_messages_are_rejected() {
        let new = || Exchange::new(None, "x", b"mock", None);
        for bad in [
            "",
            "n",
            "x,,n=,r=a",
            "n,a=b,n=,r=a",
            "n,,m=x",
            "n,,r=a",
            "n,,n=,r=",
            "p=tls-unique,,n=,r=a",
        ] {
            assert!(new().first(bad.as_bytes(), false, &[1; 18]).is_err(), "{bad}");
        }
        // PostgreSQL's text.
        for (bad, detail) in [
            ("", "The message is empty."),
            ("n", "Comma expected, but found character \"0x00\"."),
            ("nn,,n=,r=a", "Comma expected, but found character \"'n'\"."),
            ("x,,n=,r=a", "Unexpected channel-binding flag \"'x'\"."),
            ("n,x,n=,r=a", "Unexpected attribute \"'x'\" in client-first-message."),
            ("n,,r=a", "Expected attribute \"n\" but found \"'r'\"."),
            ("n,,n,r=a", "Expected character \"=\" for attribute \"n\"."),
            ("n,,n=", "Expected attribute \"r\" but found \"0x00\"."),
            ("n,,n=,r=a\0c", "Message length does not match input length."),
        ] {
            let error = new().first(bad.as_bytes(), false, &[1; 18]).unwrap_err();
            assert_eq!(error.fields().detail.as_deref(), Some(detail), "{bad}");
        }
        assert!(new().first(&[0xff, 0xfe], false, &[1; 18]).is_err());
        let mut good = new();
        let first = good.first(b"n,,n=,r=abc", false, &[1; 18]).unwrap();
        assert!(first.starts_with("r=abcAQEB"));
        for bad in
            ["", "c=biws", "c=biws,r=abc,p=AA==", "c=eSws,r=abcAQEBAQEBAQEBAQEBAQEBAQEB,p=AA=="]
        {
            assert!(good.last(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
