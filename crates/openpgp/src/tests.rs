//! Tests with messages of GnuPG, and of interrupts.

use crate::decrypt::{DecryptionKey, decrypt};
use crate::encrypt::{EncryptionKey, encrypt};
use crate::host::Host;
use crate::options::Options;
use crate::{armor, key_id};
use pgerror::{PgError, Result};
use std::cell::Cell;

/// A session with numbers that are not random. It is cancelled after a number of checks.
struct Session {
    counter: Cell<u8>,
    checks_left: Cell<usize>,
}

impl Default for Session {
    fn default() -> Session {
        Session { counter: Cell::new(0), checks_left: Cell::new(usize::MAX) }
    }
}

impl Host for Session {
    fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        for byte in out {
            self.counter.set(self.counter.get().wrapping_add(1));
            *byte = self.counter.get();
        }
        Ok(())
    }

    fn unix_seconds(&self) -> u32 {
        1_000_000_000
    }

    fn notice(&self, _: String) {}

    fn check_interrupts(&self) -> Result<()> {
        let left = self.checks_left.get().checked_sub(1);
        self.checks_left.set(left.ok_or_else(|| PgError::internal("cancelled"))?);
        Ok(())
    }
}

fn bytes(digits: &str) -> Vec<u8> {
    let digit = |d: u8| char::from(d).to_digit(16).expect("a digit") as u8;
    digits.as_bytes().chunks(2).map(|two| (digit(two[0]) << 4) | digit(two[1])).collect()
}

fn options(text: &str) -> Options {
    Options::parse(true, text.as_bytes()).expect("valid options")
}

/// Messages of GnuPG 2.2: Triple DES with a hash that ends the data, AES without a hash, and AES
/// with zlib and a key by SHA-512. The password is pw.
const TRIPLE_DES: &str = "\
     8c0d04020302c3d5aaa6e80d175d60d24501972b8d8989810a300b7668d3263886b1f87d4aa1f06e73f14cd3ea\
     8b05025e5a0074979cdf24cd63d061cce6a0d8d26147d57db86e361f203c9591b367ff749ebf5cb485";
const WITHOUT_HASH: &str = "\
     8c0d0407030282b15459dc168eac60c936369dc60abc9513e09990bf8e2540195666141a1e4f49382605c54119\
     d5db84929a88c1505f345b909a319a946fbd426f40e36ef89524";
const ZLIB: &str = "\
     8c0d0409030aca8b433f9bb7dc1d60d25301dcffc71779710841e12d11446e7cf09427452277f8022a506cd206\
     1b41cd3e488bfdde742797c717111f9e95aa0bda7f0fa62ef0c22067d83a3967b363ed0ba827c2cc13bee110cf\
     2dc823ba2ab8994f351e";

#[test]
fn messages_of_gnupg_are_decrypted() {
    for message in [TRIPLE_DES, WITHOUT_HASH, ZLIB] {
        let bytes_options = Options::parse(false, b"").expect("no options");
        let message = bytes(message);
        let key = DecryptionKey::Password(b"pw");
        let (data, unicode) =
            decrypt(&Session::default(), &bytes_options, &message, key).expect("decrypted");
        assert_eq!(data, b"Secret text of gpg\n");
        assert!(!unicode);
        let wrong = DecryptionKey::Password(b"wp");
        assert!(decrypt(&Session::default(), &bytes_options, &message, wrong).is_err());
        assert_eq!(key_id(&Session::default(), &message).expect("an identifier"), "SYMKEY");
    }
}

#[test]
fn messages_of_all_options_are_decrypted() {
    let text: Vec<u8> = (0..40_000u32).map(|i| b"abc\n"[(i * i % 7 % 4) as usize]).collect();
    for option in [
        "",
        "cipher-algo=3des, disable-mdc=1",
        "cipher-algo=aes256, s2k-mode=0, s2k-digest-algo=md5",
        "cipher-algo=aes192, s2k-mode=1, s2k-digest-algo=ripemd160",
        "compress-algo=1, compress-level=9, sess-key=1, s2k-cipher-algo=3des",
        "compress-algo=2, unicode-mode=1, convert-crlf=1, s2k-count=1024",
    ] {
        let options = options(option);
        for length in [0, 1, 170, 8192, 16_334, 16_384, text.len()] {
            let host = Session::default();
            let data = &text[..length];
            let message = encrypt(&host, &options, data, EncryptionKey::Password(b"key"));
            let key = DecryptionKey::Password(b"key");
            let (got, unicode) =
                decrypt(&host, &options, &message.expect("encrypted"), key).expect("decrypted");
            assert!(got == data, "{option} {length}");
            assert_eq!(unicode, option.contains("unicode-mode"));
        }
    }
}

/// A small message with much data is read in pieces, each of which checks for interrupts.
#[test]
fn decompression_is_interrupted() {
    let host = Session::default();
    let zip = options("compress-algo=1, s2k-mode=0");
    let data = vec![0; 20 << 20];
    let key = EncryptionKey::Password(b"key");
    let message = encrypt(&host, &zip, &data, key).expect("encrypted");
    assert!(message.len() < data.len() / 500, "{}", message.len());
    for checks in [1, 10, 1000] {
        host.checks_left.set(checks);
        let error = decrypt(&host, &zip, &message, DecryptionKey::Password(b"key"));
        assert_eq!(error.expect_err("an interrupt").fields().message, "cancelled");
        host.checks_left.set(checks);
        assert!(encrypt(&host, &options("s2k-mode=0"), &data, key).is_err());
    }
}

#[test]
fn the_key_of_a_password_is_interrupted() {
    let host = Session::default();
    let slow = options("s2k-count=65011712");
    host.checks_left.set(100);
    assert!(encrypt(&host, &slow, b"x", EncryptionKey::Password(b"key")).is_err());
}

#[test]
fn armor_is_decoded() {
    let host = Session::default();
    let data: Vec<u8> = (0..=255).collect();
    for length in [0, 1, 2, 3, 56, 57, 58, 114, 256] {
        let text = armor::encode(&host, &data[..length], &[(b"a", b"b: c"), (b"d", b"")]);
        let text = text.expect("encoded");
        assert_eq!(armor::decode(&host, &text).expect("decoded"), data[..length]);
        let headers = armor::Headers::read(&host, &text).expect("headers");
        assert_eq!(headers.collect::<Vec<_>>(), [(&b"a"[..], &b"b: c"[..]), (b"d", b"")]);
    }
    let zero_length = b"-----BEGIN PGP MESSAGE-----\n\n=twTO\n-----END PGP MESSAGE-----\n";
    assert_eq!(armor::encode(&host, b"", &[]).expect("encoded"), zero_length);
}
