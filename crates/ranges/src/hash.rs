//! Hashes of ranges and multiranges. Counterpart: `hash_range`, `hash_multirange`.

use crate::functions::type_of_value;
use crate::pieces::Pieces;
use crate::stored::{Bounds, flags_of, has_lower, has_upper};
use ids::Oid;
use pgerror::Result;
use std::sync::Arc;
use values::datum::DatumRef;
use values::fn_context::FnContext;
use values::hash::{Hasher, TypedHash, h32, h64, hash_uint32, hash_uint32_extended};
use values::range::RangeType;

/// The hash of flags and of the hashes of the bounds.
fn mix(flags: u8, lower: u32, upper: u32) -> u32 {
    // The flags are a signed byte.
    (hash_uint32(flags as i8 as u32) ^ lower).rotate_left(1) ^ upper
}

/// Both halves of a 64-bit hash rotated by one bit. Counterpart: `ROTATE_HIGH_AND_LOW_32BITS`.
fn rotate_halves(v: u64) -> u64 {
    let (high, low) = ((v >> 32) as u32, v as u32);
    u64::from(high.rotate_left(1)) << 32 | u64::from(low.rotate_left(1))
}

fn mix_extended(flags: u8, seed: u64, lower: u64, upper: u64) -> u64 {
    rotate_halves(hash_uint32_extended(flags as i8 as u32, seed) ^ lower) ^ upper
}

/// The hash of one range, given the hash of a value.
fn one(
    flags: u8,
    bounds: Option<&Bounds<'_>>,
    seed: Option<u64>,
    mut value: impl FnMut(DatumRef<'_>) -> Result<u64>,
) -> Result<u64> {
    let mut hash = |bound: Option<DatumRef<'_>>, present: bool| match bound {
        Some(v) if present => value(v),
        _ => Ok(0),
    };
    let lower = hash(bounds.map(|b| b.0.value), has_lower(flags))?;
    let upper = hash(bounds.map(|b| b.1.value), has_upper(flags))?;
    Ok(match seed {
        None => mix(flags, lower as u32, upper as u32).into(),
        Some(seed) => mix_extended(flags, seed, lower, upper),
    })
}

/// The hash of a range, or of a multirange: that of its ranges, combined as those of the elements
/// of an array.
fn hash_pieces(
    ty: &RangeType,
    payload: &[u8],
    seed: Option<u64>,
    mut value: impl FnMut(DatumRef<'_>) -> Result<u64>,
) -> Result<u64> {
    if crate::stored::type_of(payload)? == ty.oid {
        let bounds = crate::stored::bounds(ty, payload)?;
        return one(flags_of(payload)?, bounds.as_ref(), seed, value);
    }
    let pieces = Pieces::new(ty, payload)?;
    let mut sum = 1u64;
    for i in 0..pieces.len() {
        let hash = one(pieces.flags(i), Some(&pieces.get(i)), seed, &mut value)?;
        sum = sum.wrapping_mul(31).wrapping_add(hash);
    }
    // Without a seed only the lower half counts.
    Ok(if seed.is_some() { sum } else { u64::from(sum as u32) })
}

fn hash(cx: &mut dyn FnContext, a: &[DatumRef<'_>], seed: Option<u64>) -> Result<u64> {
    let ty = type_of_value(cx, a[0])?;
    hash_pieces(&ty, a[0].as_bytes(), seed, |v| cx.type_hash(ty.elem.oid, v, ty.collation, seed))
}

/// The hash of a range type and its multirange type for indexes, without a context.
pub struct RangeHash {
    pub ty: Arc<RangeType>,
    /// The hash of the subtype.
    pub elem: Hasher,
}

impl TypedHash for RangeHash {
    fn hash(&self, value: DatumRef<'_>, _: Oid) -> u32 {
        let elem = |v: DatumRef<'_>| Ok(self.elem.hash(v, self.ty.collation).into());
        hash_pieces(&self.ty, value.as_bytes(), None, elem).unwrap_or_default() as u32
    }
}

scalars! { FNS;
    "hash_range" => |cx, a| Ok(h32(hash(cx, a, None)? as u32)),
    "hash_range_extended" => |cx, a| Ok(h64(hash(cx, a, Some(a[1].word()))?)),
    "hash_multirange" => |cx, a| Ok(h32(hash(cx, a, None)? as u32)),
    "hash_multirange_extended" => |cx, a| Ok(h64(hash(cx, a, Some(a[1].word()))?)),
}
