//! The parts of an X.509 certificate that are shown or compared: names, serial number, public key,
//! and the hash function of its signature. Only the encoding is read here; certificates of clients
//! have been verified before.

use pgerror::{PgError, Result, Severity, SqlState};
use session::ClientCertificate;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::fmt::Write;
use std::sync::Arc;

// Tags of DER.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const T61_STRING: u8 = 0x14;
const IA5_STRING: u8 = 0x16;
const UNIVERSAL_STRING: u8 = 0x1c;
const BMP_STRING: u8 = 0x1e;
const NUMERIC_STRING: u8 = 0x12;
const VISIBLE_STRING: u8 = 0x1a;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const CONTEXT_0: u8 = 0xa0;

/// Encoded object identifiers of attributes, with OpenSSL's short names.
const ATTRIBUTES: &[(&[u8], &str)] = &[
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 13], "description"),
    (&[0x55, 4, 15], "businessCategory"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x55, 4, 20], "telephoneNumber"),
    (&[0x55, 4, 41], "name"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x55, 4, 44], "generationQualifier"),
    (&[0x55, 4, 45], "x500UniqueIdentifier"),
    (&[0x55, 4, 46], "dnQualifier"),
    (&[0x55, 4, 65], "pseudonym"),
    (&[0x55, 4, 97], "organizationIdentifier"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 2], "unstructuredName"),
];
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];

/// A hash function of a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hash {
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// Encoded object identifiers of signature algorithms and hash functions, with the hash function of
/// the channel binding: that of the signature, or SHA-256 for MD5 and SHA-1 (RFC 5929).
const HASHES: &[(&[u8], Hash)] = &[
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 4], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13], Hash::Sha512),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 14], Hash::Sha224),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 1], Hash::Sha224),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4], Hash::Sha512),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1], Hash::Sha256),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2], Hash::Sha384),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3], Hash::Sha512),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 4], Hash::Sha224),
    (&[0x2b, 14, 3, 2, 26], Hash::Sha256),
];

/// Elements of DER, one after the other.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next element: tag, content, and the complete encoding.
    fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
        let all = self.0;
        let (&tag, &short) = (all.first()?, all.get(1)?);
        let (header, len) = match short {
            0..=0x7f => (2, usize::from(short)),
            0x81..=0x84 => {
                let count = usize::from(short & 0x7f);
                let digits = all.get(2..2 + count)?;
                (2 + count, digits.iter().fold(0, |len, &b| len << 8 | usize::from(b)))
            }
            _ => return None,
        };
        let end = header.checked_add(len)?;
        let content = all.get(header..end)?;
        self.0 = &all[end..];
        Some((tag, content, &all[..end]))
    }

    /// The content of the next element, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|found| found.0 == tag).map(|found| found.1)
    }
}

/// The interesting fields of a certificate, encoded.
struct Fields<'a> {
    serial: &'a [u8],
    issuer: &'a [u8],
    subject: &'a [u8],
    public_key: &'a [u8],
    signature_algorithm: &'a [u8],
}

fn fields(der: &[u8]) -> Option<Fields<'_>> {
    let mut certificate = Der(Der(der).expect(SEQUENCE)?);
    let mut signed = Der(certificate.expect(SEQUENCE)?);
    let signature_algorithm = certificate.expect(SEQUENCE)?;
    certificate.expect(BIT_STRING)?;
    let mut first = signed.next()?;
    // The version is missing in certificates of version 1.
    if first.0 == CONTEXT_0 {
        first = signed.next()?;
    }
    let serial = Some(first).filter(|first| first.0 == INTEGER)?.1;
    signed.expect(SEQUENCE)?;
    let issuer = signed.expect(SEQUENCE)?;
    signed.expect(SEQUENCE)?;
    let subject = signed.expect(SEQUENCE)?;
    let public_key = signed.next()?.2;
    Some(Fields { serial, issuer, subject, public_key, signature_algorithm })
}

/// The public key (SubjectPublicKeyInfo) of a certificate; `None` if it cannot be read.
pub(super) fn public_key(der: &[u8]) -> Option<&[u8]> {
    fields(der).map(|fields| fields.public_key)
}

/// The algorithm of a public key, as an encoded object identifier.
pub(super) fn key_kind(public_key: &[u8]) -> Option<&[u8]> {
    Der(Der(Der(public_key).expect(SEQUENCE)?).expect(SEQUENCE)?).expect(OBJECT_IDENTIFIER)
}

/// The hash of a certificate for the channel binding `tls-server-end-point`; `None` if its
/// signature algorithm has no hash function of its own.
pub(super) fn binding(der: &[u8]) -> Option<Arc<[u8]>> {
    let mut algorithm = Der(fields(der)?.signature_algorithm);
    let mut identifier = algorithm.expect(OBJECT_IDENTIFIER)?;
    if identifier == RSA_PSS {
        // The hash function is a parameter; SHA-1, the default, counts as SHA-256.
        let mut parameters = Der(algorithm.expect(SEQUENCE)?);
        identifier = match parameters.next() {
            Some((CONTEXT_0, hash, _)) => {
                Der(Der(hash).expect(SEQUENCE)?).expect(OBJECT_IDENTIFIER)?
            }
            _ => HASHES[HASHES.len() - 1].0,
        };
    }
    let hash = HASHES.iter().find(|(known, _)| *known == identifier)?.1;
    Some(match hash {
        Hash::Sha224 => Sha224::digest(der).as_slice().into(),
        Hash::Sha256 => Sha256::digest(der).as_slice().into(),
        Hash::Sha384 => Sha384::digest(der).as_slice().into(),
        Hash::Sha512 => Sha512::digest(der).as_slice().into(),
    })
}

/// The certificate of a client.
pub(super) fn client(der: &[u8]) -> Result<ClientCertificate> {
    let refuse =
        |message: &str| PgError::new(SqlState::PROTOCOL_VIOLATION, message).severity(Severity::Log);
    let unreadable = || refuse("could not read the certificate of the client");
    let fields = fields(der).ok_or_else(unreadable)?;
    let subject = attributes(fields.subject).ok_or_else(unreadable)?;
    let issuer = attributes(fields.issuer).ok_or_else(unreadable)?;
    let common_name = subject.iter().flatten().find(|a| a.identifier == COMMON_NAME);
    if common_name.is_some_and(|a| a.value.contains(&0)) {
        return Err(refuse("SSL certificate's common name contains embedded null"));
    }
    let clip = |text: String| stdx::clip(&text, NAME_BYTES_MAX).to_owned();
    Ok(ClientCertificate {
        common_name: common_name.map(|a| String::from_utf8_lossy(a.value).into_owned()),
        distinguished_name: comma_separated(&subject),
        subject: clip(slash_separated(&subject)),
        issuer: clip(slash_separated(&issuer)),
        serial: decimal(fields.serial),
    })
}

/// `pg_stat_ssl` shows names up to this length.
const NAME_BYTES_MAX: usize = 63;

/// An attribute of a name.
struct Attribute<'a> {
    identifier: &'a [u8],
    tag: u8,
    value: &'a [u8],
    encoding: &'a [u8],
}

/// The attributes of a name. Those of one set form one part of the name.
fn attributes(name: &[u8]) -> Option<Vec<Vec<Attribute<'_>>>> {
    let mut name = Der(name);
    let mut parts = Vec::new();
    while !name.0.is_empty() {
        let mut set = Der(name.expect(SET)?);
        let mut part = Vec::new();
        while !set.0.is_empty() {
            let mut pair = Der(set.expect(SEQUENCE)?);
            let identifier = pair.expect(OBJECT_IDENTIFIER)?;
            let (tag, value, encoding) = pair.next()?;
            part.push(Attribute { identifier, tag, value, encoding });
        }
        parts.push(part);
    }
    Some(parts)
}

impl Attribute<'_> {
    fn short_name(&self) -> Option<&'static str> {
        ATTRIBUTES.iter().find(|(known, _)| *known == self.identifier).map(|(_, name)| *name)
    }

    /// The value as text; `None` if it is no string.
    fn text(&self) -> Option<String> {
        let units = |width: usize| {
            let chunks = self.value.chunks_exact(width);
            chunks.map(|unit| unit.iter().fold(0u32, |c, &b| c << 8 | u32::from(b)))
        };
        let from = |units: &mut dyn Iterator<Item = u32>| -> String {
            units.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        };
        Some(match self.tag {
            UTF8_STRING => String::from_utf8_lossy(self.value).into_owned(),
            PRINTABLE_STRING | IA5_STRING | T61_STRING | NUMERIC_STRING | VISIBLE_STRING => {
                self.value.iter().map(|&b| char::from(b)).collect()
            }
            BMP_STRING => from(&mut units(2)),
            UNIVERSAL_STRING => from(&mut units(4)),
            _ => return None,
        })
    }

    /// Appends name and value, escaped as RFC 2253 requires. `ascii`: other characters are escaped
    /// too.
    fn write(&self, out: &mut String, ascii: bool) {
        let known = self.short_name();
        match known {
            Some(name) => out.push_str(name),
            None => out.push_str(&dotted(self.identifier)),
        }
        out.push('=');
        match self.text().filter(|_| known.is_some() || !ascii) {
            Some(text) => escape(out, &text, ascii),
            None => {
                out.push('#');
                self.encoding.iter().for_each(|b| push_hex(out, *b));
            }
        }
    }
}

fn push_hex(out: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{byte:02X}");
}

fn escape(out: &mut String, text: &str, ascii: bool) {
    let last = text.chars().count().saturating_sub(1);
    for (at, c) in text.chars().enumerate() {
        let is_special = matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';')
            || at == 0 && matches!(c, ' ' | '#')
            || at == last && c == ' ';
        if is_special {
            out.push('\\');
            out.push(c);
        } else if c.is_ascii_control() || ascii && !c.is_ascii() {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push('\\');
                push_hex(out, byte);
            }
        } else {
            out.push(c);
        }
    }
}

/// A name in the form of RFC 2253: the last part first, separated by commas.
fn comma_separated(name: &[Vec<Attribute<'_>>]) -> String {
    let mut out = String::new();
    for part in name.iter().rev() {
        for (at, attribute) in part.iter().rev().enumerate() {
            if !out.is_empty() {
                out.push(if at == 0 { ',' } else { '+' });
            }
            attribute.write(&mut out, true);
        }
    }
    out
}

/// A name with a slash before each part, as `pg_stat_ssl` shows it.
fn slash_separated(name: &[Vec<Attribute<'_>>]) -> String {
    let mut out = String::new();
    for attribute in name.iter().flatten() {
        out.push('/');
        attribute.write(&mut out, false);
    }
    out
}

/// An object identifier as numbers.
fn dotted(identifier: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number = 0u64;
    for &byte in identifier {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            match numbers.is_empty() {
                true => numbers.extend([(number / 40).min(2), number - 40 * (number / 40).min(2)]),
                false => numbers.push(number),
            }
            number = 0;
        }
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// A positive big-endian number in decimal.
fn decimal(bytes: &[u8]) -> String {
    /// Digits of one limb.
    const BASE: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = vec![0];
    for &byte in bytes {
        let mut carry = u64::from(byte);
        for limb in &mut limbs {
            let value = *limb * 256 + carry;
            *limb = value % BASE;
            carry = value / BASE;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut limbs = limbs.iter().rev();
    let first = limbs.next().map_or(String::new(), u64::to_string);
    limbs.fold(first, |text, limb| format!("{text}{limb:09}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_decimal() {
        assert_eq!(decimal(&[0]), "0");
        assert_eq!(decimal(&[0, 0xff]), "255");
        assert_eq!(decimal(&[0x3b, 0x9a, 0xca, 0x00]), "1000000000");
        assert_eq!(decimal(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), "18446744073709551616");
    }

    #[test]
    fn names_are_written_in_both_forms() {
        let attribute = |identifier, value| Attribute {
            identifier,
            tag: UTF8_STRING,
            value,
            encoding: &[UTF8_STRING, 1, b'x'],
        };
        let name = vec![
            vec![attribute(&[0x55, 4, 10], "Straße, \"x\" ".as_bytes())],
            vec![attribute(&[0x55, 4, 11], b"#a"), attribute(COMMON_NAME, b"b")],
            vec![attribute(&[0x2a, 0x86, 0x48, 1], b"x")],
        ];
        assert_eq!(
            comma_separated(&name),
            "1.2.840.1=#0C0178,CN=b+OU=\\#a,O=Stra\\C3\\9Fe\\, \\\"x\\\"\\ "
        );
        assert_eq!(slash_separated(&name), "/O=Straße\\, \\\"x\\\"\\ /OU=\\#a/CN=b/1.2.840.1=x");
    }

    #[test]
    fn truncated_certificates_are_refused() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80]] {
            assert!(client(bytes).is_err());
            assert!(binding(bytes).is_none() && public_key(bytes).is_none());
        }
    }
}
