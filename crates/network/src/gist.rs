//! The operator class `inet_ops` of GiST indexes. A key is the common prefix of addresses of one
//! family, and the length of their shortest netmask.
//!
//! ```text
//! payload: family:u8, 0: both | shortest netmask:u8 | common bits:u8 | address:u8 × 4 or 16
//! ```
//! That of a value has all bits of its address as common bits.
//!
//! Counterpart: network_gist.c.

use crate::address::Address;
use pgerror::Result;
use std::cmp::Ordering;
use values::datum::{Datum, DatumRef};
use values::gist::{Column, Condition, Function, Groups, Ternary, keep_key, strategy};

/// A key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    /// Its netmask is the shortest one; only the common bits of the address are set.
    address: Address,
    common: u8,
}

/// Both families.
const MIXED: u8 = 0;

impl Key {
    fn of(key: DatumRef<'_>) -> Key {
        match key.as_bytes() {
            [family, bits, common, octets @ ..] => {
                Key { address: Address::new(*family, *bits, octets), common: *common }
            }
            _ => Key { address: Address::new(MIXED, 0, &[]), common: 0 },
        }
    }

    fn datum(&self) -> Datum {
        let mut out = vec![self.address.family, self.address.bits, self.common];
        let size = if self.address.family == crate::address::IPV6 { 16 } else { 4 };
        out.extend_from_slice(&self.address.octets()[..size]);
        Datum::bytes(out)
    }

    fn is_mixed(&self) -> bool {
        self.address.family == MIXED
    }

    /// The key that covers both.
    fn union(self, other: Key) -> Key {
        if self.address.family != other.address.family {
            return Key { address: Address::new(MIXED, 0, &[]), common: 0 };
        }
        let most = self.common.min(other.common);
        let common = self.address.common_bits(&other.address, most);
        let bits = self.address.bits.min(other.address.bits);
        let address = Address { bits, ..self.address.network(common) };
        Key { address, common }
    }
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    matches(c, Key::of(key), leaf).map(Ternary::from)
}

/// Whether an order satisfies a comparison.
fn satisfies(order: Ordering, strategy: u16) -> Option<bool> {
    Some(match strategy {
        strategy::LESS => order.is_lt(),
        strategy::LESS_EQUAL => order.is_le(),
        strategy::EQUAL => order.is_eq(),
        strategy::NOT_EQUAL => order.is_ne(),
        strategy::GREATER => order.is_gt(),
        strategy::GREATER_EQUAL => order.is_ge(),
        _ => return None,
    })
}

/// All operators are exact, except for keys above the leaves.
fn matches(c: &Condition<'_>, key: Key, leaf: bool) -> Result<bool> {
    if key.is_mixed() {
        return Ok(true);
    }
    let (own, query) = (key.address, Address::of(c.value));
    if own.family != query.family {
        let order = own.family.cmp(&query.family);
        return Ok(satisfies(order, c.strategy.0).unwrap_or(false));
    }
    // Above the leaves, values may have longer netmasks.
    let possible = match c.strategy.0 {
        strategy::SUB => !leaf || own.bits > query.bits,
        strategy::SUB_EQUAL => !leaf || own.bits >= query.bits,
        strategy::SUPER_EQUAL | strategy::EQUAL => own.bits <= query.bits,
        strategy::SUPER => own.bits < query.bits,
        _ => true,
    };
    if !possible {
        return Ok(false);
    }
    let bits = key.common.min(own.bits).min(query.bits);
    let order = own.compare_bits(&query, bits);
    match c.strategy.0 {
        strategy::SUB
        | strategy::SUB_EQUAL
        | strategy::OVERLAP
        | strategy::SUPER_EQUAL
        | strategy::SUPER => return Ok(order.is_eq()),
        strategy::NOT_EQUAL if !leaf => return Ok(true),
        _ => {}
    }
    // The first bits decide, or below the key there are values on both sides.
    let order = match order {
        Ordering::Equal if !leaf => return Ok(true),
        Ordering::Equal => {
            let rest = own.bits.cmp(&query.bits);
            rest.then_with(|| own.compare_bits(&query, own.bits_max()))
        }
        other => other,
    };
    satisfies(order, c.strategy.0).ok_or_else(|| c.unknown())
}

fn compress(_: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    if !leaf {
        return Ok(None);
    }
    let address = Address::of(value);
    Ok(Some(Key { address, common: address.bits_max() }.datum()))
}

fn fetch(_: &Column, key: DatumRef<'_>) -> Result<Datum> {
    Ok(Key::of(key).address.datum())
}

fn union_of(keys: impl Iterator<Item = Key>) -> Datum {
    keys.reduce(Key::union).map_or(Datum::Null, |key| key.datum())
}

fn union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(union_of(keys.iter().map(|key| Key::of(*key))))
}

/// The fewer bits the address has in common with the key, the more.
fn penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let (old, new) = (Key::of(old), Key::of(new));
    if old.address.family != new.address.family {
        return Ok(4.0);
    }
    if old.address.bits > new.address.bits {
        return Ok(3.0);
    }
    let most = old.common.min(new.common);
    Ok(match old.address.common_bits(&new.address, most) {
        0 => 2.0,
        common => 1.0 / f32::from(common),
    })
}

/// Divides the keys by family, or by the first bit in which they differ.
fn pick_split(_: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let own: Vec<Key> = keys.iter().map(|key| Key::of(*key)).collect();
    let all = own.iter().copied().reduce(Key::union);
    let (mut left, mut right): (Vec<usize>, Vec<usize>) = match all {
        Some(all) if !all.is_mixed() => {
            let bit = |key: &Key, n: u8| key.address.high << n >> 127 != 0;
            let mut parts = (Vec::new(), Vec::new());
            // Keys above the leaves may end before the bit in which others differ.
            for n in all.common..all.address.bits_max() {
                parts = (0..own.len()).partition(|i| !bit(&own[*i], n));
                if !parts.0.is_empty() && !parts.1.is_empty() {
                    break;
                }
            }
            parts
        }
        _ => {
            let least = own.iter().map(|key| key.address.family).min();
            (0..own.len()).partition(|i| Some(own[*i].address.family) == least)
        }
    };
    if left.is_empty() || right.is_empty() {
        left = (0..own.len() / 2).collect();
        right = (own.len() / 2..own.len()).collect();
    }
    let of = |group: &[usize]| union_of(group.iter().map(|n| own[*n]));
    let (left_union, right_union) = (of(&left), of(&right));
    Ok(Groups { left, right, left_union, right_union })
}

fn same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(Key::of(a) == Key::of(b))
}

pub const FNS: &[(&str, Function)] = &[
    ("inet_gist_consistent", Function::Consistent(consistent)),
    ("inet_gist_union", Function::Union(union)),
    ("inet_gist_compress", Function::Compress(compress)),
    ("inet_gist_decompress", Function::Decompress(keep_key)),
    ("inet_gist_fetch", Function::Fetch(fetch)),
    ("inet_gist_penalty", Function::Penalty(penalty)),
    ("inet_gist_picksplit", Function::PickSplit(pick_split)),
    ("inet_gist_same", Function::Same(same)),
];
