//! `digest` and `hmac`.

use super::{algorithm, cannot_use};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use pgerror::Result;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::pieces;

fn digest_with<D: Digest>(cx: &dyn FnContext, data: &[u8]) -> Result<Vec<u8>> {
    let mut digest = D::new();
    pieces::each(cx, data, |piece| {
        digest.update(piece);
        Ok(())
    })?;
    Ok(digest.finalize().to_vec())
}

fn hmac_with<M: Mac + KeyInit>(cx: &dyn FnContext, data: &[u8], key: &[u8]) -> Result<Vec<u8>> {
    let mac = <M as KeyInit>::new_from_slice(key);
    let mut mac = mac.map_err(|_| super::failed("Key was too big"))?;
    pieces::each(cx, data, |piece| {
        mac.update(piece);
        Ok(())
    })?;
    Ok(mac.finalize().into_bytes().to_vec())
}

fn digest(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (data, name) = (a[0].as_bytes(), algorithm(a[1].as_bytes()));
    Ok(Datum::bytes(match name.as_str() {
        "md5" => digest_with::<Md5>(cx, data)?,
        "sha1" => digest_with::<Sha1>(cx, data)?,
        "sha224" => digest_with::<Sha224>(cx, data)?,
        "sha256" => digest_with::<Sha256>(cx, data)?,
        "sha384" => digest_with::<Sha384>(cx, data)?,
        "sha512" => digest_with::<Sha512>(cx, data)?,
        _ => return Err(cannot_use(&name, "No such hash algorithm")),
    }))
}

fn hmac(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (data, key, name) = (a[0].as_bytes(), a[1].as_bytes(), algorithm(a[2].as_bytes()));
    Ok(Datum::bytes(match name.as_str() {
        "md5" => hmac_with::<Hmac<Md5>>(cx, data, key)?,
        "sha1" => hmac_with::<Hmac<Sha1>>(cx, data, key)?,
        "sha224" => hmac_with::<Hmac<Sha224>>(cx, data, key)?,
        "sha256" => hmac_with::<Hmac<Sha256>>(cx, data, key)?,
        "sha384" => hmac_with::<Hmac<Sha384>>(cx, data, key)?,
        "sha512" => hmac_with::<Hmac<Sha512>>(cx, data, key)?,
        _ => return Err(cannot_use(&name, "No such hash algorithm")),
    }))
}

scalars! { FNS;
    "pg_digest" => |cx, a| digest(cx, a),
    "pg_hmac" => |cx, a| hmac(cx, a),
}
