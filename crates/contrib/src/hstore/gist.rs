//! The operator class `gist_hstore_ops`: keys are signatures of keys and values. Counterpart:
//! contrib/hstore/hstore_gist.c.

use super::access::texts;
use super::value::Hstore;
use crate::pg_trgm::CRC_TABLE;
use crate::sign_key::SignKeys;
use pgerror::Result;
use values::datum::{Datum, DatumRef};
use values::gist::{
    Column, Condition, Function, Groups, KEY_BYTES_MAX, Parameter, Ternary, keep_key, strategy,
};
use values::signature::{Signature, divide};

const EXISTS: u16 = 9;
const EXISTS_ANY: u16 = 10;
const EXISTS_ALL: u16 = 11;

pub(super) const SUPPORT: &[(&str, Function)] = &[
    ("ghstore_consistent", Function::Consistent(consistent)),
    ("ghstore_compress", Function::Compress(compress)),
    ("ghstore_decompress", Function::Decompress(keep_key)),
    ("ghstore_union", Function::Union(union)),
    ("ghstore_penalty", Function::Penalty(penalty)),
    ("ghstore_picksplit", Function::PickSplit(pick_split)),
    ("ghstore_same", Function::Same(same)),
    ("ghstore_options", Function::Options(&[Parameter::new("siglen", KEY_BYTES_MAX)])),
];

fn signs(column: &Column) -> SignKeys {
    SignKeys::of(column, 16, 0, 4)
}

/// The bit of a text, by its CRC-32.
fn bit(keys: SignKeys, text: &[u8]) -> usize {
    let crc = text.iter().fold(u32::MAX, |crc, b| CRC_TABLE[(crc as u8 ^ b) as usize] ^ crc >> 8);
    (!crc % keys.bits) as usize
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<Ternary> {
    let keys = signs(c.column);
    let own = keys.read(key);
    let has = |text: &[u8]| own.has(bit(keys, text));
    let array = || texts(c.value).into_iter().flatten();
    let found = match c.strategy.0 {
        strategy::CONTAINS | strategy::OLD_CONTAINS => {
            Hstore::new(c.value).pairs().all(|(key, value)| has(key) && value.is_none_or(has))
        }
        EXISTS => has(c.value.as_bytes()),
        EXISTS_ANY => array().any(has),
        EXISTS_ALL => array().all(has),
        _ => return Err(c.unknown()),
    };
    Ok(if found { Ternary::Maybe } else { Ternary::False })
}

fn compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    let keys = signs(column);
    if !leaf {
        return Ok(keys.compressed(value));
    }
    let mut sign = Signature::empty(keys.bytes);
    for (key, value) in Hstore::new(value).pairs() {
        sign.set(bit(keys, key));
        value.into_iter().for_each(|value| sign.set(bit(keys, value)));
    }
    Ok(Some(keys.key(&sign)))
}

fn union(column: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(signs(column).union(keys))
}

fn penalty(column: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let keys = signs(column);
    Ok(keys.read(old).distance(&keys.read(new), keys.bits) as f32)
}

fn pick_split(column: &Column, own: &[DatumRef<'_>]) -> Result<Groups> {
    let keys = signs(column);
    let all: Vec<Signature> = own.iter().map(|key| keys.read(*key)).collect();
    Ok(keys.groups(divide(&all, keys.bits, 0.0001)))
}

fn same(column: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let keys = signs(column);
    Ok(keys.read(a) == keys.read(b))
}
