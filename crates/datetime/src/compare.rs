//! Comparison within and between the date and time types, and their hash functions. Counterpart:
//! timestamp.c, date.c.

use super::calendar::{
    DATE_NOBEGIN, DATE_NOEND, TIMESTAMP_NOBEGIN, TIMESTAMP_NOEND, USECS_PER_DAY, USECS_PER_SEC,
    is_finite_date, is_finite_ts, is_valid_timestamp,
};
use super::convert::{local_to_utc, timetz_parts};
use super::interval::Interval;
use ids::Oid;
use std::cmp::Ordering;
use std::sync::Arc;
use values::compare::{Comparer, TypedCompare, btint4cmp, btint8cmp};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::hash;
use values::zone::Zone;

/// Length of an interval in microseconds with months of 30 days and days of 24 hours.
pub fn span(d: DatumRef<'_>) -> i128 {
    let i = Interval::of(d);
    let days = i128::from(i.month) * 30 + i128::from(i.day);
    days * i128::from(USECS_PER_DAY) + i128::from(i.time)
}

/// `interval_cmp`.
pub fn interval_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    span(a).cmp(&span(b))
}

/// `timetz_cmp`: by the instant, then by the zone.
pub fn timetz_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let ((t1, z1), (t2, z2)) = (timetz_parts(a), timetz_parts(b));
    // A bound of a window frame may be any number, see `in_range`.
    let instant = |t: i64, z: i32| t.wrapping_add(i64::from(z) * USECS_PER_SEC);
    instant(t1, z1).cmp(&instant(t2, z2)).then(z1.cmp(&z2))
}

/// `date_cmp_timestamp`.
pub fn date_cmp_timestamp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    date_ts(a.as_i32()).cmp(&b.as_i64())
}

/// `timestamp_cmp_date`.
pub fn timestamp_cmp_date(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i64().cmp(&date_ts(b.as_i32()))
}

/// The comparison with this `pg_proc.prosrc` if it compares a timestamptz with a timestamp or date,
/// which depends on the time zone.
pub fn zoned(prosrc: &str, zone: &Zone) -> Option<Comparer> {
    let (left, right): (Instant, Instant) = match prosrc {
        "date_cmp_timestamptz" => (of_date, of_instant),
        "timestamptz_cmp_date" => (of_instant, of_date),
        "timestamp_cmp_timestamptz" => (of_local, of_instant),
        "timestamptz_cmp_timestamp" => (of_instant, of_local),
        _ => return None,
    };
    Some(Comparer::Typed(Arc::new(Zoned { left, right, zone: zone.clone() })))
}

type Instant = fn(&Zone, DatumRef<'_>) -> i64;

struct Zoned {
    left: Instant,
    right: Instant,
    zone: Zone,
}

impl TypedCompare for Zoned {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        (self.left)(&self.zone, a).cmp(&(self.right)(&self.zone, b))
    }
}

fn of_instant(_: &Zone, d: DatumRef<'_>) -> i64 {
    d.as_i64()
}

fn of_local(zone: &Zone, d: DatumRef<'_>) -> i64 {
    local_instant(zone, d.as_i64())
}

fn of_date(zone: &Zone, d: DatumRef<'_>) -> i64 {
    local_instant(zone, date_ts(d.as_i32()))
}

/// A local time as an instant for comparison; an infinite timestamp stays as it is.
fn local_instant(zone: &Zone, t: i64) -> i64 {
    if !is_finite_ts(t) {
        return t;
    }
    let utc = local_to_utc(zone, t);
    // An instant out of range is beyond all others except infinity.
    match utc {
        utc if is_valid_timestamp(utc) => utc,
        utc if utc < 0 => TIMESTAMP_NOBEGIN + 1,
        _ => TIMESTAMP_NOEND - 1,
    }
}

comparisons! { COMPARISONS;
    btint4cmp => "date_eq" "date_ne" "date_lt" "date_le" "date_gt" "date_ge";
    btint8cmp => "time_eq" "time_ne" "time_lt" "time_le" "time_gt" "time_ge";
    timetz_cmp => "timetz_eq" "timetz_ne" "timetz_lt" "timetz_le" "timetz_gt" "timetz_ge";
    btint8cmp => "timestamp_eq" "timestamp_ne" "timestamp_lt" "timestamp_le" "timestamp_gt"
        "timestamp_ge";
    interval_cmp => "interval_eq" "interval_ne" "interval_lt" "interval_le" "interval_gt"
        "interval_ge";
}

orderings! { ORDERINGS;
    btint4cmp => "date_larger" "date_smaller";
    btint8cmp => "time_larger" "time_smaller";
    timetz_cmp => "timetz_larger" "timetz_smaller";
    btint8cmp => "timestamp_larger" "timestamp_smaller";
    interval_cmp => "interval_larger" "interval_smaller";
}

/// A date as a timestamp for comparison; dates beyond the range of timestamps are limited.
fn date_ts(d: i32) -> i64 {
    match d {
        DATE_NOBEGIN => TIMESTAMP_NOBEGIN,
        DATE_NOEND => TIMESTAMP_NOEND,
        // Beyond all timestamps, but less than infinity.
        d => i64::from(d).saturating_mul(USECS_PER_DAY).min(TIMESTAMP_NOEND - 1),
    }
}

type Mixed = fn(&dyn FnContext, DatumRef<'_>) -> i64;

fn as_ts(_: &dyn FnContext, d: DatumRef<'_>) -> i64 {
    d.as_i64()
}

fn as_date(_: &dyn FnContext, d: DatumRef<'_>) -> i64 {
    date_ts(d.as_i32())
}

fn ts_as_tz(cx: &dyn FnContext, d: DatumRef<'_>) -> i64 {
    of_local(&cx.settings().time_zone, d)
}

fn date_as_tz(cx: &dyn FnContext, d: DatumRef<'_>) -> i64 {
    of_date(&cx.settings().time_zone, d)
}

fn order(cx: &mut dyn FnContext, a: &[DatumRef<'_>], f: Mixed, g: Mixed) -> Ordering {
    f(cx, a[0]).cmp(&g(cx, a[1]))
}

macro_rules! mixed {
    ($table:ident; $($left:literal $right:literal $f:path, $g:path;)*) => {
        scalars! { $table; $(
            concat!($left, "_eq_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_eq())),
            concat!($left, "_ne_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_ne())),
            concat!($left, "_lt_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_lt())),
            concat!($left, "_le_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_le())),
            concat!($left, "_gt_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_gt())),
            concat!($left, "_ge_", $right) => |cx, a| Ok(Datum::bool(order(cx, a, $f, $g).is_ge())),
            concat!($left, "_cmp_", $right) => |cx, a| Ok(Datum::int4(order(cx, a, $f, $g) as i32)),
        )* }
    };
}

mixed! { MIXED;
    "date" "timestamp" as_date, as_ts;
    "timestamp" "date" as_ts, as_date;
    "date" "timestamptz" date_as_tz, as_ts;
    "timestamptz" "date" as_ts, date_as_tz;
    "timestamp" "timestamptz" ts_as_tz, as_ts;
    "timestamptz" "timestamp" as_ts, ts_as_tz;
}

scalars! { SUPPORT;
    "date_cmp" => |_, a| Ok(Datum::int4(btint4cmp(a[0], a[1], Oid(0)) as i32)),
    "time_cmp" => |_, a| Ok(Datum::int4(btint8cmp(a[0], a[1], Oid(0)) as i32)),
    "timestamp_cmp" => |_, a| Ok(Datum::int4(btint8cmp(a[0], a[1], Oid(0)) as i32)),
    "timetz_cmp" => |_, a| Ok(Datum::int4(timetz_cmp(a[0], a[1], Oid(0)) as i32)),
    "interval_cmp" => |_, a| Ok(Datum::int4(interval_cmp(a[0], a[1], Oid(0)) as i32)),
    "date_finite" => |_, a| Ok(Datum::bool(is_finite_date(a[0].as_i32()))),
    "timestamp_finite" => |_, a| Ok(Datum::bool(is_finite_ts(a[0].as_i64()))),
    "interval_finite" => |_, _| Ok(Datum::bool(true)),
}

fn fold(v: i64) -> u32 {
    let (lo, hi) = (v as u32, (v >> 32) as u32);
    lo ^ if v >= 0 { hi } else { !hi }
}

fn h8(v: i64) -> u32 {
    hash::hash_uint32(fold(v))
}

/// The hash of a timetz.
pub fn hash_timetz(d: DatumRef<'_>) -> u32 {
    let (t, west) = timetz_parts(d);
    h8(t) ^ hash::hash_uint32(west as u32)
}

fn h8x(v: i64, seed: u64) -> u64 {
    hash::hash_uint32_extended(fold(v), seed)
}

scalars! { HASHES;
    "time_hash" => |_, a| Ok(hash::h32(h8(a[0].as_i64()))),
    "time_hash_extended" => |_, a| Ok(hash::h64(h8x(a[0].as_i64(), a[1].word()))),
    "timestamp_hash" => |_, a| Ok(hash::h32(h8(a[0].as_i64()))),
    "timestamp_hash_extended" => |_, a| Ok(hash::h64(h8x(a[0].as_i64(), a[1].word()))),
    "timetz_hash" => |_, a| Ok(hash::h32(hash_timetz(a[0]))),
    "timetz_hash_extended" => |_, a| {
        let ((t, west), seed) = (timetz_parts(a[0]), a[1].word());
        Ok(hash::h64(h8x(t, seed) ^ hash::hash_uint32_extended(west as u32, seed)))
    },
    "interval_hash" => |_, a| Ok(hash::h32(h8(span(a[0]) as i64))),
    "interval_hash_extended" => |_, a| Ok(hash::h64(h8x(span(a[0]) as i64, a[1].word()))),
}
