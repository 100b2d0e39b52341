//! `encrypt`, `decrypt` and their forms with an initialization vector: AES and Triple DES, in the
//! modes CBC and ECB.
//!
//! Single DES, Blowfish and CAST5 are not accepted, as by a PostgreSQL whose OpenSSL has no legacy
//! algorithms.

use super::{algorithm, cannot_use, failed};
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use des::TdesEde3;
use pgerror::Result;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::allocate;

/// The longest key of Blowfish if OpenSSL does not have it.
const BLOWFISH_KEY_BYTES: usize = 16;

/// A cipher with its key.
enum Cipher {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
    TripleDes(TdesEde3),
}

/// What the name of a cipher says: `aes-cbc/pad:pkcs`.
struct Kind {
    is_aes: bool,
    chained: bool,
    padded: bool,
}

impl Kind {
    fn parse(name: &[u8]) -> Result<Kind> {
        let name = algorithm(name);
        let unknown = |reason: &str| cannot_use(&name, reason);
        let mut parts = name.split('/');
        let cipher = parts.next().unwrap_or_default();
        let mut padded = true;
        for part in parts.filter(|part| !part.is_empty()) {
            match part.split_once(':') {
                None => return Err(unknown("Badly formatted type")),
                Some(("pad", "pkcs")) => padded = true,
                Some(("pad", "none")) => padded = false,
                Some(("pad", _)) => return Err(unknown("No such cipher algorithm")),
                Some(_) => return Err(unknown("Unknown option")),
            }
        }
        let (is_aes, chained) = match cipher {
            "aes" | "aes-cbc" | "rijndael" | "rijndael-cbc" => (true, true),
            "aes-ecb" | "rijndael-ecb" => (true, false),
            "3des" | "3des-cbc" | "des3-cbc" => (false, true),
            "3des-ecb" | "des3-ecb" => (false, false),
            _ if is_legacy(cipher) => return Ok(Kind { is_aes: false, chained: false, padded }),
            _ => return Err(unknown("No such cipher algorithm")),
        };
        Ok(Kind { is_aes, chained, padded })
    }

    fn block_bytes(&self) -> usize {
        if self.is_aes { 16 } else { 8 }
    }
}

fn is_legacy(name: &str) -> bool {
    let base = name.strip_suffix("-cbc").or_else(|| name.strip_suffix("-ecb")).unwrap_or(name);
    matches!(base, "des" | "cast5") || is_blowfish(name)
}

fn is_blowfish(name: &str) -> bool {
    let modes = ["-cbc", "-ecb", "-cfb"].into_iter();
    let base = modes.filter_map(|mode| name.strip_suffix(mode)).next().unwrap_or(name);
    matches!(base, "bf" | "blowfish")
}

impl Cipher {
    /// The key is padded by zeros, or truncated, to a length that the cipher accepts.
    fn new(kind: &Kind, key: &[u8]) -> Cipher {
        let mut padded = [0; 32];
        let used = key.len().min(padded.len());
        padded[..used].copy_from_slice(&key[..used]);
        let of = |length: usize| &padded[..length];
        const FITS: &str = "the slice has the length of the key";
        match (kind.is_aes, used) {
            (true, ..=16) => Cipher::Aes128(Aes128::new_from_slice(of(16)).expect(FITS)),
            (true, ..=24) => Cipher::Aes192(Aes192::new_from_slice(of(24)).expect(FITS)),
            (true, _) => Cipher::Aes256(Aes256::new_from_slice(of(32)).expect(FITS)),
            (false, _) => Cipher::TripleDes(TdesEde3::new_from_slice(of(24)).expect(FITS)),
        }
    }

    fn encrypt(&self, block: &mut [u8]) {
        match self {
            Cipher::Aes128(c) => encrypt_block(c, block),
            Cipher::Aes192(c) => encrypt_block(c, block),
            Cipher::Aes256(c) => encrypt_block(c, block),
            Cipher::TripleDes(c) => encrypt_block(c, block),
        }
    }

    fn decrypt(&self, block: &mut [u8]) {
        match self {
            Cipher::Aes128(c) => decrypt_block(c, block),
            Cipher::Aes192(c) => decrypt_block(c, block),
            Cipher::Aes256(c) => decrypt_block(c, block),
            Cipher::TripleDes(c) => decrypt_block(c, block),
        }
    }
}

fn encrypt_block<C: BlockCipherEncrypt>(cipher: &C, block: &mut [u8]) {
    let mut value = Array::<u8, C::BlockSize>::default();
    value.copy_from_slice(block);
    cipher.encrypt_block(&mut value);
    block.copy_from_slice(&value);
}

fn decrypt_block<C: BlockCipherDecrypt>(cipher: &C, block: &mut [u8]) {
    let mut value = Array::<u8, C::BlockSize>::default();
    value.copy_from_slice(block);
    cipher.decrypt_block(&mut value);
    block.copy_from_slice(&value);
}

fn xor(block: &mut [u8], other: &[u8]) {
    block.iter_mut().zip(other).for_each(|(b, o)| *b ^= o);
}

/// The initialization vector, padded by zeros or truncated to a block.
fn vector(kind: &Kind, iv: &[u8]) -> Vec<u8> {
    let mut out = vec![0; kind.block_bytes()];
    let used = iv.len().min(out.len());
    out[..used].copy_from_slice(&iv[..used]);
    out
}

/// The arguments of a call: data, key, initialization vector, name of the cipher.
struct Call<'a> {
    data: &'a [u8],
    key: &'a [u8],
    iv: &'a [u8],
    kind: Kind,
    /// The prefix of error messages.
    what: &'static str,
}

impl<'a> Call<'a> {
    fn new(a: &[DatumRef<'a>], what: [&'static str; 2]) -> Result<Call<'a>> {
        let with_vector = a.len() == 4;
        let iv = if with_vector { a[2].as_bytes() } else { &[] };
        let name = a[a.len() - 1].as_bytes();
        let what = what[usize::from(with_vector)];
        let kind = Kind::parse(name)?;
        let call = Call { data: a[0].as_bytes(), key: a[1].as_bytes(), iv, kind, what };
        let name = algorithm(name);
        let cipher = name.split('/').next().unwrap_or_default();
        if is_blowfish(cipher) && call.key.len() > BLOWFISH_KEY_BYTES {
            return Err(call.failed("Key was too big"));
        }
        if is_legacy(cipher) {
            return Err(call.failed("Cipher cannot be initialized"));
        }
        Ok(call)
    }

    fn failed(&self, reason: &str) -> pgerror::PgError {
        failed(format!("{} error: {reason}", self.what))
    }

    fn encrypt(&self, cx: &dyn FnContext) -> Result<Datum> {
        let size = self.kind.block_bytes();
        let mut out = allocate(self.data.len() + size)?;
        out.extend_from_slice(self.data);
        if self.kind.padded {
            let missing = size - out.len() % size;
            out.resize(out.len() + missing, missing as u8);
        } else if !out.len().is_multiple_of(size) {
            return Err(self.failed("Encryption failed"));
        }
        let cipher = Cipher::new(&self.kind, self.key);
        let mut previous = vector(&self.kind, self.iv);
        let mut ticker = InterruptTicker::default();
        for block in out.chunks_exact_mut(size) {
            ticker.tick(cx)?;
            if self.kind.chained {
                xor(block, &previous);
            }
            cipher.encrypt(block);
            previous.copy_from_slice(block);
        }
        Ok(Datum::bytes(out))
    }

    fn decrypt(&self, cx: &dyn FnContext) -> Result<Datum> {
        let size = self.kind.block_bytes();
        let wrong = || self.failed("Decryption failed");
        if self.data.is_empty() && !self.kind.padded {
            return Ok(Datum::bytes([]));
        }
        if self.data.is_empty() || !self.data.len().is_multiple_of(size) {
            return Err(wrong());
        }
        let mut out = allocate(self.data.len())?;
        out.extend_from_slice(self.data);
        let cipher = Cipher::new(&self.kind, self.key);
        let mut previous = vector(&self.kind, self.iv);
        let mut ticker = InterruptTicker::default();
        for (block, encrypted) in out.chunks_exact_mut(size).zip(self.data.chunks_exact(size)) {
            ticker.tick(cx)?;
            cipher.decrypt(block);
            if self.kind.chained {
                xor(block, &previous);
                previous.copy_from_slice(encrypted);
            }
        }
        if self.kind.padded {
            let count = usize::from(out.last().copied().unwrap_or(0));
            let fits = (1..=size).contains(&count);
            let end = out.len() - if fits { count } else { 0 };
            if !fits || out[end..].iter().any(|b| usize::from(*b) != count) {
                return Err(wrong());
            }
            out.truncate(end);
        }
        Ok(Datum::bytes(out))
    }
}

fn encrypt(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    Call::new(a, ["encrypt", "encrypt_iv"])?.encrypt(cx)
}

fn decrypt(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    Call::new(a, ["decrypt", "decrypt_iv"])?.decrypt(cx)
}

scalars! { FNS;
    "pg_encrypt" => |cx, a| encrypt(cx, a),
    "pg_encrypt_iv" => |cx, a| encrypt(cx, a),
    "pg_decrypt" => |cx, a| decrypt(cx, a),
    "pg_decrypt_iv" => |cx, a| decrypt(cx, a),
}
