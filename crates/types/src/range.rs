//! The built-in range types, for contexts without catalogs, and the functions of single ones: the
//! canonical form of a date range, and differences of values. What all ranges share is in the crate
//! `ranges`. Counterpart: rangetypes.c, the functions of specific range types.

use crate::compare;
use datetime::{USECS_PER_SEC, date_plus, is_finite_date};
use ids::Oid;
use pgerror::Result;
use std::sync::{Arc, LazyLock};
use values::builtin_types;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::scalar_in;
use values::oids;
use values::range::RangeType;

/// Range type, multirange type, subtype, canonical function.
const BUILTIN: [(Oid, Oid, Oid, &str); 6] = [
    (oids::INT4RANGE, oids::INT4MULTIRANGE, oids::INT4, "int4range_canonical"),
    (oids::NUMRANGE, oids::NUMMULTIRANGE, oids::NUMERIC, ""),
    (oids::TSRANGE, oids::TSMULTIRANGE, oids::TIMESTAMP, ""),
    (oids::TSTZRANGE, oids::TSTZMULTIRANGE, oids::TIMESTAMPTZ, ""),
    (oids::DATERANGE, oids::DATEMULTIRANGE, oids::DATE, "daterange_canonical"),
    (oids::INT8RANGE, oids::INT8MULTIRANGE, oids::INT8, "int8range_canonical"),
];

static TYPES: LazyLock<Vec<Arc<RangeType>>> = LazyLock::new(|| {
    let described = BUILTIN.iter().filter_map(|&(oid, multirange, subtype, canonical)| {
        Some(Arc::new(RangeType {
            oid,
            multirange,
            elem: builtin_types::get(subtype)?.info,
            // numeric has typstorage main; the others are not varlena.
            packs: true,
            collation: Oid::INVALID,
            order: compare::of_type(subtype)?.into(),
            canonical: canonical_function(canonical),
            subdiff: Oid::INVALID,
        }))
    });
    described.collect()
});

/// The canonical function of ranges with this `pg_proc.prosrc`.
pub fn canonical_function(prosrc: &str) -> Option<values::function::ScalarFn> {
    scalar_in(ranges::TABLES, prosrc).or_else(|| scalar_in(&[FNS], prosrc))
}

/// The built-in range type with this OID, or whose multirange type has this OID.
pub fn builtin(ty: Oid) -> Option<Arc<RangeType>> {
    TYPES.iter().find(|t| t.oid == ty || t.multirange == ty).cloned()
}

/// As `date_pli` with 1; infinite dates have no successor.
fn next_date(v: DatumRef<'_>) -> Result<Option<Datum>> {
    let date = v.as_i32();
    match is_finite_date(date) {
        true => date_plus(date, 1).map(Some),
        false => Ok(None),
    }
}

/// The difference of two timestamps in seconds.
fn seconds(a: &[DatumRef<'_>]) -> Result<Datum> {
    let difference = a[0].as_i64() as f64 - a[1].as_i64() as f64;
    Ok(Datum::float8(difference / USECS_PER_SEC as f64))
}

/// As `numeric_sub` and a cast to double precision.
fn numeric_difference(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let f = |name: &str| {
        let missing = || pgerror::PgError::internal(format!("no function {name}"));
        scalar_in(numeric::TABLES, name).ok_or_else(missing)
    };
    let difference = f("numeric_sub")?(cx, a)?;
    // Infinite where the difference is out of range.
    Ok(Datum::float8(numeric::Num::of(difference.as_ref()).to_f64()))
}

scalars! { FNS;
    "daterange_canonical" => |cx, a| ranges::canonical(cx, a, 4, next_date),
    "int4range_subdiff" => |_, a| Ok(Datum::float8(a[0].as_i32() as f64 - a[1].as_i32() as f64)),
    "int8range_subdiff" => |_, a| Ok(Datum::float8(a[0].as_i64() as f64 - a[1].as_i64() as f64)),
    "daterange_subdiff" => |_, a| Ok(Datum::float8(a[0].as_i32() as f64 - a[1].as_i32() as f64)),
    "numrange_subdiff" => numeric_difference,
    "tsrange_subdiff" => |_, a| seconds(a),
    "tstzrange_subdiff" => |_, a| seconds(a),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BasicContext;
    use ranges::functions::range_type;
    use values::fn_context::TypeFunctions;

    fn value(ty: Oid, text: &str) -> Datum {
        BasicContext::default().type_input(ty, text.as_bytes(), -1).unwrap()
    }

    fn text(ty: Oid, value: &Datum) -> String {
        let out = BasicContext::default().type_output(ty, value.as_ref()).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The bytes are those of PostgreSQL 15 (`pageinspect`, without the varlena header).
    #[test]
    fn stored_forms() {
        let bytes = |ty, text: &str| value(ty, text).as_ref().as_bytes().to_vec();
        assert_eq!(
            bytes(oids::INT4RANGE, "(1,5]"),
            [64, 15, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 2],
            "{:?}",
            oids::INT4RANGE
        );
        assert_eq!(bytes(oids::INT4RANGE, "empty"), [64, 15, 0, 0, 1]);
        assert_eq!(bytes(oids::INT4MULTIRANGE, "{}"), [99, 17, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(oids::INT8MULTIRANGE, "{}").len(), 12);
    }

    #[test]
    fn texts_are_canonical() {
        for (ty, given, shown) in [
            (oids::INT4RANGE, "(1,5]", "[2,6)"),
            (oids::INT4RANGE, "(1,2)", "empty"),
            (oids::INT8RANGE, "[,]", "(,)"),
            (oids::NUMRANGE, " [1.10, 2.5 ) ", "[1.10,2.5)"),
            (oids::DATERANGE, "(2020-01-01,infinity]", "[2020-01-02,infinity]"),
            (oids::INT4MULTIRANGE, "{[5,7), empty,[1,2],(2,4]}", "{[1,7)}"),
            (oids::INT4MULTIRANGE, "{[10,20),[1,2],(,-5]}", "{(,-4),[1,3),[10,20)}"),
            (oids::NUMMULTIRANGE, "{[1,2),(2,3],[7,7)}", "{[1,2),(2,3]}"),
        ] {
            assert_eq!(text(ty, &value(ty, given)), shown);
        }
    }

    /// More ranges than are sorted at once, in descending order.
    #[test]
    fn many_ranges_are_sorted() {
        let list: Vec<String> =
            (0..20_000).rev().map(|i| format!("[{},{})", 3 * i, 3 * i + 1 + i % 2)).collect();
        let shown = text(
            oids::INT4MULTIRANGE,
            &value(oids::INT4MULTIRANGE, &format!("{{{}}}", list.join(","))),
        );
        let sorted: Vec<String> = list.into_iter().rev().collect();
        assert_eq!(shown, format!("{{{}}}", sorted.join(",")));
    }

    /// Each element of small universes is in the result of a set operation if and only if it should
    /// be.
    #[test]
    fn set_operations_agree_with_sets_of_numbers() {
        let mut random = values::random::Random::of_seed(0.25);
        let mut cx = BasicContext::default();
        let member = crate::builtin::scalar("multirange_contains_elem").unwrap();
        for _ in 0..300 {
            let mut one = || {
                let mut ranges = Vec::new();
                for _ in 0..(random.unit() * 5.0) as usize {
                    let low = (random.unit() * 20.0) as i32;
                    ranges.push(format!("[{low},{})", low + (random.unit() * 6.0) as i32));
                }
                value(oids::INT4MULTIRANGE, &format!("{{{}}}", ranges.join(",")))
            };
            let (a, b) = (one(), one());
            type Rule = fn(bool, bool) -> bool;
            let rules: [(&str, Rule); 3] = [
                ("multirange_union", |x, y| x || y),
                ("multirange_minus", |x, y| x && !y),
                ("multirange_intersect", |x, y| x && y),
            ];
            for (name, rule) in rules {
                let f = crate::builtin::scalar(name).unwrap();
                let result = f(&mut cx, &[a.as_ref(), b.as_ref()]).unwrap();
                for n in -1..28 {
                    let mut is_in = |m: &Datum| {
                        let n = Datum::int4(n);
                        let found = member(&mut cx, &[m.as_ref(), n.as_ref()]);
                        found.unwrap().as_ref().as_bool()
                    };
                    let wanted = rule(is_in(&a), is_in(&b));
                    assert_eq!(is_in(&result), wanted, "{name} {n}");
                }
            }
        }
    }

    #[test]
    fn estimates_follow_the_histograms() {
        use ranges::estimate::{Condition, selectivity};
        let mut cx = BasicContext::default();
        let ty = range_type(&mut cx, oids::INT4RANGE).unwrap();
        let sample: Vec<Datum> =
            (0..1000).map(|i| value(oids::INT4RANGE, &format!("[{i},{})", i + 10))).collect();
        let mut collector = ranges::stats::Collector::default();
        for row in &sample {
            collector.add(&mut cx, &ty, row.as_ref().as_bytes()).unwrap();
        }
        let stats = collector.finish(&ty, 100).unwrap().unwrap();
        assert_eq!((stats.bounds.len(), stats.lengths.len(), stats.empty), (101, 101, 0.0));
        let constant = value(oids::INT4RANGE, "[500,2000)");
        let mut c = Condition {
            // int4range << int4range
            operator: Oid(3893),
            flipped: false,
            column_type: oids::INT4RANGE,
            value: Some(&constant),
            value_type: oids::INT4RANGE,
            stats: Some(&stats),
            null_frac: 0.0,
        };
        let left = selectivity(&mut cx, &c).unwrap();
        assert!((left - 0.49).abs() < 0.02, "{left}");
        c.flipped = true;
        assert!(selectivity(&mut cx, &c).unwrap() < 0.01);
    }
}
