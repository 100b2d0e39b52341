//! Vectorized kernels of frequent functions: they compute a whole column for the rows of a
//! selection vector.
//!
//! A kernel computes the selected rows only; the other rows of the result are 0. NULL rows are
//! skipped (all functions here are strict), so an error is raised only for rows that row-at-a-time
//! evaluation would compute.

use pgerror::Result;
use std::cmp::Ordering;
use types::compare::{bpchar_trimmed, float_cmp};
use types::float::{div8, mul8, sum8};
use types::numeric::{compare_payloads, product_into, quotient_into, sum_into};
use types::type_io::{division_by_zero, out_of_range};
use types::{BytesColumn, Column, ColumnData, NullMask};

/// A two-argument function over columns. `selection`: the rows to compute, in ascending order;
/// `None` for all `len`. A column of one row in a batch of several rows is a constant.
pub type BinaryKernel =
    fn(left: &Column, right: &Column, len: usize, selection: Option<&[u32]>) -> Result<Column>;

/// The kernel of a function by `pg_proc.prosrc`.
pub fn lookup(prosrc: &str) -> Option<BinaryKernel> {
    TABLE.iter().find(|(name, _)| *name == prosrc).map(|&(_, k)| k)
}

/// Keeps the rows of a selection for which the comparison of the column's word with a constant is
/// true. The caller handles NULLs.
pub type SelectKernel = fn(values: &[u64], constant: u64, rows: Rows<'_>);

/// The candidate rows of a selection, which become the selected ones.
pub enum Rows<'a> {
    /// The first `n` rows; the selected ones are appended to the vector, which is empty at the
    /// call.
    All(usize, &'a mut Vec<u16>),
    Of(&'a mut Vec<u16>),
}

impl Rows<'_> {
    #[inline]
    fn retain(self, mut test: impl FnMut(usize) -> bool) {
        // Branch-free: every row is stored, and the length grows only if the row passes.
        match self {
            Rows::All(len, out) => {
                out.resize(len, 0);
                let mut n = 0;
                for i in 0..len {
                    out[n] = i as u16;
                    n += usize::from(test(i));
                }
                out.truncate(n);
            }
            Rows::Of(rows) => {
                let mut n = 0;
                for i in 0..rows.len() {
                    let r = rows[i];
                    rows[n] = r;
                    n += usize::from(test(r as usize));
                }
                rows.truncate(n);
            }
        }
    }
}

/// Tests whether the comparison of a word with a constant is true.
pub type WordTest = fn(value: u64, constant: u64) -> bool;

/// A comparison of words with a constant; index 0 is `column op constant`, index 1 `constant op
/// column`.
#[derive(Clone, Copy)]
pub struct WordComparison {
    /// Over the rows of a column.
    pub select: [SelectKernel; 2],
    /// Over a single value.
    pub test: [WordTest; 2],
}

/// The comparison of words with this `pg_proc.prosrc`.
pub fn lookup_words(prosrc: &str) -> Option<WordComparison> {
    WORDS.iter().find(|(name, _)| *name == prosrc).map(|&(_, k)| k)
}

macro_rules! word_comparison {
    ($get:expr, $op:tt) => {{
        let one: SelectKernel = |values, constant, rows| {
            let get: fn(u64) -> _ = $get;
            let c = get(constant);
            rows.retain(|i| get(values[i]) $op c)
        };
        let other: SelectKernel = |values, constant, rows| {
            let get: fn(u64) -> _ = $get;
            let c = get(constant);
            rows.retain(|i| c $op get(values[i]))
        };
        let test_one: WordTest = |value, constant| {
            let get: fn(u64) -> _ = $get;
            get(value) $op get(constant)
        };
        let test_other: WordTest = |value, constant| {
            let get: fn(u64) -> _ = $get;
            get(constant) $op get(value)
        };
        WordComparison { select: [one, other], test: [test_one, test_other] }
    }};
}

macro_rules! word_comparisons {
    ($($get:expr => $($eq:literal $ne:literal $lt:literal $le:literal $gt:literal
       $ge:literal),+;)*) => {
        &[$($(
            ($eq, word_comparison!($get, ==)),
            ($ne, word_comparison!($get, !=)),
            ($lt, word_comparison!($get, <)),
            ($le, word_comparison!($get, <=)),
            ($gt, word_comparison!($get, >)),
            ($ge, word_comparison!($get, >=)),
        )+)*]
    };
}

const WORDS: &[(&str, WordComparison)] = word_comparisons! {
    |w| w as i64 =>
        "int2eq" "int2ne" "int2lt" "int2le" "int2gt" "int2ge",
        "int4eq" "int4ne" "int4lt" "int4le" "int4gt" "int4ge",
        "int8eq" "int8ne" "int8lt" "int8le" "int8gt" "int8ge",
        "int48eq" "int48ne" "int48lt" "int48le" "int48gt" "int48ge",
        "int84eq" "int84ne" "int84lt" "int84le" "int84gt" "int84ge",
        "int24eq" "int24ne" "int24lt" "int24le" "int24gt" "int24ge",
        "int42eq" "int42ne" "int42lt" "int42le" "int42gt" "int42ge",
        "int28eq" "int28ne" "int28lt" "int28le" "int28gt" "int28ge",
        "int82eq" "int82ne" "int82lt" "int82le" "int82gt" "int82ge",
        "date_eq" "date_ne" "date_lt" "date_le" "date_gt" "date_ge",
        "timestamp_eq" "timestamp_ne" "timestamp_lt" "timestamp_le" "timestamp_gt" "timestamp_ge";
    |w| w as u32 => "oideq" "oidne" "oidlt" "oidle" "oidgt" "oidge";
};

/// Calls `f` for each row that is selected and not NULL.
#[inline]
fn each_row(
    nulls: Option<&NullMask>,
    len: usize,
    selection: Option<&[u32]>,
    mut f: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    match (selection, nulls) {
        (None, None) => (0..len).try_for_each(f),
        (None, Some(n)) => (0..len).filter(|&i| !n.get(i)).try_for_each(f),
        (Some(s), None) => s.iter().try_for_each(|&i| f(i as usize)),
        (Some(s), Some(n)) => {
            s.iter().map(|&i| i as usize).filter(|&i| !n.get(i)).try_for_each(&mut f)
        }
    }
}

/// NULL rows of the result; a constant NULL makes all rows NULL.
fn result_nulls(a: &Column, b: &Column, len: usize) -> Option<NullMask> {
    let spread = |c: &Column| -> Option<NullMask> {
        if c.len() == 1 && len > 1 && c.is_null(0) {
            let mut all = NullMask::none(len);
            (0..len).for_each(|i| all.set(i));
            return Some(all);
        }
        if c.len() == 1 && len > 1 { None } else { c.nulls.clone() }
    };
    match (spread(a), spread(b)) {
        (None, None) => None,
        (x, y) => NullMask::union(x.as_ref(), y.as_ref()),
    }
}

fn words(c: &Column) -> &[u64] {
    match &c.data {
        ColumnData::Word(w) => w,
        ColumnData::Bytes(_) => panic!("expected a column of words"),
    }
}

fn bytes(c: &Column) -> &BytesColumn {
    match &c.data {
        ColumnData::Bytes(b) => b,
        ColumnData::Word(_) => panic!("expected a column of bytes"),
    }
}

/// Applies `f` to the words of both columns.
#[inline]
fn map_words(
    a: &Column,
    b: &Column,
    len: usize,
    selection: Option<&[u32]>,
    f: impl Fn(u64, u64) -> Result<u64>,
) -> Result<Column> {
    let nulls = result_nulls(a, b, len);
    let (x, y) = (words(a), words(b));
    let mut out = vec![0u64; len];
    match (x.len() == 1 && len > 1, y.len() == 1 && len > 1) {
        (false, false) => each_row(nulls.as_ref(), len, selection, |i| {
            out[i] = f(x[i], y[i])?;
            Ok(())
        })?,
        (false, true) => {
            let y = y[0];
            each_row(nulls.as_ref(), len, selection, |i| {
                out[i] = f(x[i], y)?;
                Ok(())
            })?
        }
        (true, false) => {
            let x = x[0];
            each_row(nulls.as_ref(), len, selection, |i| {
                out[i] = f(x, y[i])?;
                Ok(())
            })?
        }
        (true, true) => {
            let (x, y) = (x[0], y[0]);
            each_row(nulls.as_ref(), len, selection, |i| {
                out[i] = f(x, y)?;
                Ok(())
            })?
        }
    }
    Ok(Column { data: ColumnData::Word(out), nulls })
}

/// Applies `f` to the bytes of both columns.
#[inline]
fn map_bytes(
    a: &Column,
    b: &Column,
    len: usize,
    selection: Option<&[u32]>,
    f: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<Column> {
    let nulls = result_nulls(a, b, len);
    let (x, y) = (bytes(a), bytes(b));
    let (x_const, y_const) = (x.len() == 1 && len > 1, y.len() == 1 && len > 1);
    let mut out = vec![0u64; len];
    each_row(nulls.as_ref(), len, selection, |i| {
        let left = x.get(if x_const { 0 } else { i });
        let right = y.get(if y_const { 0 } else { i });
        out[i] = f(left, right) as u64;
        Ok(())
    })?;
    Ok(Column { data: ColumnData::Word(out), nulls })
}

#[inline]
fn int4(v: i64) -> Result<u64> {
    if v == i64::from(v as i32) { Ok(v as u64) } else { Err(out_of_range("integer")) }
}

#[inline]
fn int8(v: Option<i64>) -> Result<u64> {
    v.map(|v| v as u64).ok_or_else(|| out_of_range("bigint"))
}

fn quotient(a: u64, b: u64) -> Result<Option<i64>> {
    if b == 0 { Err(division_by_zero()) } else { Ok((a as i64).checked_div(b as i64)) }
}

fn float(a: u64, b: u64, f: impl Fn(f64, f64) -> Result<f64>) -> Result<u64> {
    Ok(f(f64::from_bits(a), f64::from_bits(b))?.to_bits())
}

macro_rules! word_kernel {
    ($f:expr) => {
        |a, b, len, selection| map_words(a, b, len, selection, $f)
    };
}

macro_rules! int_compare {
    ($op:tt) => {
        word_kernel!(|x, y| Ok(((x as i64) $op (y as i64)) as u64))
    };
}

macro_rules! float_compare {
    ($test:path) => {
        word_kernel!(|x, y| {
            let order: Ordering = float_cmp(f64::from_bits(x), f64::from_bits(y));
            Ok($test(order) as u64)
        })
    };
}

macro_rules! oid_compare {
    ($op:tt) => {
        word_kernel!(|x, y| Ok(((x as u32) $op (y as u32)) as u64))
    };
}

macro_rules! byte_kernel {
    ($f:expr) => {
        |a, b, len, selection| map_bytes(a, b, len, selection, $f)
    };
}

/// Appends to the result the bytes that `f` computes from the bytes of both columns.
#[inline]
fn make_bytes(
    a: &Column,
    b: &Column,
    len: usize,
    selection: Option<&[u32]>,
    f: impl Fn(&[u8], &[u8], &mut Vec<u8>) -> Result<()>,
) -> Result<Column> {
    let nulls = result_nulls(a, b, len);
    let (x, y) = (bytes(a), bytes(b));
    let (x_const, y_const) = (x.len() == 1 && len > 1, y.len() == 1 && len > 1);
    let mut out = BytesColumn::default();
    out.reserve(len, len * 8);
    each_row(nulls.as_ref(), len, selection, |i| {
        // Earlier rows that are not computed are empty.
        while out.len() < i {
            out.push_empty();
        }
        let left = x.get(if x_const { 0 } else { i });
        let right = y.get(if y_const { 0 } else { i });
        out.push_with(|data| f(left, right, data))
    })?;
    while out.len() < len {
        out.push_empty();
    }
    Ok(Column { data: ColumnData::Bytes(out), nulls })
}

macro_rules! number_kernel {
    ($f:expr) => {
        |a, b, len, selection| make_bytes(a, b, len, selection, $f)
    };
}

macro_rules! number_compare {
    ($test:path) => {
        byte_kernel!(|x, y| $test(compare_payloads(x, y)))
    };
}

const TABLE: &[(&str, BinaryKernel)] = &[
    ("int4pl", word_kernel!(|x, y| int4((x as i64).wrapping_add(y as i64)))),
    ("int4mi", word_kernel!(|x, y| int4((x as i64).wrapping_sub(y as i64)))),
    ("int4mul", word_kernel!(|x, y| int4((x as i64).wrapping_mul(y as i64)))),
    ("int4div", word_kernel!(|x, y| int4(quotient(x, y)?.unwrap_or(i64::MAX)))),
    ("int8pl", word_kernel!(|x, y| int8((x as i64).checked_add(y as i64)))),
    ("int8mi", word_kernel!(|x, y| int8((x as i64).checked_sub(y as i64)))),
    ("int8mul", word_kernel!(|x, y| int8((x as i64).checked_mul(y as i64)))),
    ("int8div", word_kernel!(|x, y| int8(quotient(x, y)?))),
    ("int48pl", word_kernel!(|x, y| int8((x as i64).checked_add(y as i64)))),
    ("int48mi", word_kernel!(|x, y| int8((x as i64).checked_sub(y as i64)))),
    ("int48mul", word_kernel!(|x, y| int8((x as i64).checked_mul(y as i64)))),
    ("int84pl", word_kernel!(|x, y| int8((x as i64).checked_add(y as i64)))),
    ("int84mi", word_kernel!(|x, y| int8((x as i64).checked_sub(y as i64)))),
    ("int84mul", word_kernel!(|x, y| int8((x as i64).checked_mul(y as i64)))),
    ("float8pl", word_kernel!(|x, y| float(x, y, |x, y| sum8(x + y, x, y)))),
    ("float8mi", word_kernel!(|x, y| float(x, y, |x, y| sum8(x - y, x, y)))),
    ("float8mul", word_kernel!(|x, y| float(x, y, mul8))),
    ("float8div", word_kernel!(|x, y| float(x, y, div8))),
    ("int2eq", int_compare!(==)),
    ("int2ne", int_compare!(!=)),
    ("int2lt", int_compare!(<)),
    ("int2le", int_compare!(<=)),
    ("int2gt", int_compare!(>)),
    ("int2ge", int_compare!(>=)),
    ("int4eq", int_compare!(==)),
    ("int4ne", int_compare!(!=)),
    ("int4lt", int_compare!(<)),
    ("int4le", int_compare!(<=)),
    ("int4gt", int_compare!(>)),
    ("int4ge", int_compare!(>=)),
    ("int8eq", int_compare!(==)),
    ("int8ne", int_compare!(!=)),
    ("int8lt", int_compare!(<)),
    ("int8le", int_compare!(<=)),
    ("int8gt", int_compare!(>)),
    ("int8ge", int_compare!(>=)),
    ("int48eq", int_compare!(==)),
    ("int48ne", int_compare!(!=)),
    ("int48lt", int_compare!(<)),
    ("int48le", int_compare!(<=)),
    ("int48gt", int_compare!(>)),
    ("int48ge", int_compare!(>=)),
    ("int84eq", int_compare!(==)),
    ("int84ne", int_compare!(!=)),
    ("int84lt", int_compare!(<)),
    ("int84le", int_compare!(<=)),
    ("int84gt", int_compare!(>)),
    ("int84ge", int_compare!(>=)),
    ("date_eq", int_compare!(==)),
    ("date_ne", int_compare!(!=)),
    ("date_lt", int_compare!(<)),
    ("date_le", int_compare!(<=)),
    ("date_gt", int_compare!(>)),
    ("date_ge", int_compare!(>=)),
    ("timestamp_eq", int_compare!(==)),
    ("timestamp_ne", int_compare!(!=)),
    ("timestamp_lt", int_compare!(<)),
    ("timestamp_le", int_compare!(<=)),
    ("timestamp_gt", int_compare!(>)),
    ("timestamp_ge", int_compare!(>=)),
    ("oideq", oid_compare!(==)),
    ("oidne", oid_compare!(!=)),
    ("oidlt", oid_compare!(<)),
    ("oidle", oid_compare!(<=)),
    ("oidgt", oid_compare!(>)),
    ("oidge", oid_compare!(>=)),
    ("booleq", int_compare!(==)),
    ("boolne", int_compare!(!=)),
    ("float8eq", float_compare!(Ordering::is_eq)),
    ("float8ne", float_compare!(Ordering::is_ne)),
    ("float8lt", float_compare!(Ordering::is_lt)),
    ("float8le", float_compare!(Ordering::is_le)),
    ("float8gt", float_compare!(Ordering::is_gt)),
    ("float8ge", float_compare!(Ordering::is_ge)),
    ("numeric_add", number_kernel!(|x, y, out| sum_into(x, y, false, out))),
    ("numeric_sub", number_kernel!(|x, y, out| sum_into(x, y, true, out))),
    ("numeric_mul", number_kernel!(product_into)),
    ("numeric_div", number_kernel!(quotient_into)),
    ("numeric_eq", number_compare!(Ordering::is_eq)),
    ("numeric_ne", number_compare!(Ordering::is_ne)),
    ("numeric_lt", number_compare!(Ordering::is_lt)),
    ("numeric_le", number_compare!(Ordering::is_le)),
    ("numeric_gt", number_compare!(Ordering::is_gt)),
    ("numeric_ge", number_compare!(Ordering::is_ge)),
    ("texteq", byte_kernel!(|x, y| x == y)),
    ("textne", byte_kernel!(|x, y| x != y)),
    ("byteaeq", byte_kernel!(|x, y| x == y)),
    ("byteane", byte_kernel!(|x, y| x != y)),
    ("uuid_eq", byte_kernel!(|x, y| x == y)),
    ("nameeq", byte_kernel!(|x, y| x == y)),
    ("bpchareq", byte_kernel!(|x, y| bpchar_trimmed(x) == bpchar_trimmed(y))),
    ("bpcharne", byte_kernel!(|x, y| bpchar_trimmed(x) != bpchar_trimmed(y))),
];

#[cfg(test)]
mod tests {
    use super::*;
    use types::{BasicContext, Datum, builtin};

    /// A selection kernel keeps the rows for which the scalar function is true.
    #[test]
    fn selections_agree_with_scalar_functions() {
        let words: Vec<u64> = [0i64, 1, -1, 7, 7, 300, -300].iter().map(|v| *v as u64).collect();
        for (name, comparison) in WORDS {
            let scalar = builtin::scalar(name).expect("each kernel has a function");
            let words: Vec<u64> = match name.starts_with("oid") {
                true => words.iter().map(|w| u64::from(*w as u32)).collect(),
                false => words.clone(),
            };
            for &c in &words {
                for (at, kernel) in comparison.select.iter().enumerate() {
                    let commuted = at == 1;
                    let mut cx = BasicContext::default();
                    let mut holds = |w: u64| {
                        let (l, r) = if commuted { (c, w) } else { (w, c) };
                        let (l, r) = (Datum::Word(l), Datum::Word(r));
                        let v = scalar(&mut cx, &[l.as_ref(), r.as_ref()]).expect("comparison");
                        v.as_ref().as_bool()
                    };
                    let want: Vec<u16> =
                        (0..words.len() as u16).filter(|&i| holds(words[i as usize])).collect();
                    let mut got = Vec::new();
                    kernel(&words, c, Rows::All(words.len(), &mut got));
                    assert_eq!(got, want, "{name} {c}");
                    let test = comparison.test[at];
                    let got: Vec<u16> =
                        (0..words.len() as u16).filter(|&i| test(words[i as usize], c)).collect();
                    assert_eq!(got, want, "{name} {c}");
                    let mut some: Vec<u16> = vec![1, 3, 6];
                    let want: Vec<u16> =
                        some.iter().copied().filter(|r| want.contains(r)).collect();
                    kernel(&words, c, Rows::Of(&mut some));
                    assert_eq!(some, want, "{name} {c}");
                }
            }
        }
    }

    /// A kernel and its scalar function agree on every row, NULLs and errors included.
    #[test]
    fn kernels_agree_with_scalar_functions() {
        let ints = [0i64, 1, -1, 7, i64::from(i32::MAX), i64::from(i32::MIN), 12345];
        let floats = [0.0f64, -0.0, 1.5, f64::NAN, f64::INFINITY, 1e308, -1e308, 1e-308];
        let texts = ["", "a", "a ", "b", "abc"];
        for (name, kernel) in TABLE {
            let scalar = builtin::scalar(name).expect("each kernel has a function");
            let pool: Vec<Datum> = if name.starts_with("float8") {
                floats.iter().map(|f| Datum::float8(*f)).collect()
            } else if name.starts_with("numeric") {
                let number = |t: &str| types::numeric::parse(t.as_bytes())?.datum();
                let texts = ["0", "1.50", "-0.07", "NaN", "Infinity", "1e40", "3", "12345678.9"];
                texts.iter().map(|t| number(t).expect("a number")).collect()
            } else if name.starts_with("oid") {
                [0u64, 1, 0xffff_ffff].iter().map(|w| Datum::Word(*w)).collect()
            } else if name.starts_with("bool") {
                vec![Datum::bool(false), Datum::bool(true)]
            } else if name.starts_with("int2") {
                [0i16, 1, -1, i16::MAX, i16::MIN].iter().map(|v| Datum::int2(*v)).collect()
            } else if name.starts_with("name") {
                texts.iter().map(|t| Datum::name(t)).collect()
            } else if ["text", "byte", "bpch", "uuid"].iter().any(|p| name.starts_with(p)) {
                texts.iter().map(|t| Datum::text(t)).collect()
            } else {
                ints.iter().map(|v| Datum::int8(*v)).collect()
            };
            for x in pool.iter().chain([&Datum::Null]) {
                for y in pool.iter().chain([&Datum::Null]) {
                    let by_val = matches!(pool[0], Datum::Word(_));
                    let (mut a, mut b) = (Column::new(by_val), Column::new(by_val));
                    a.push(x.as_ref());
                    a.push(x.as_ref());
                    b.push(y.as_ref());
                    let got = kernel(&a, &b, 2, Some(&[1])).map(|c| c.get(1).to_owned());
                    let want = if x.is_null() || y.is_null() {
                        Ok(Datum::Null)
                    } else {
                        scalar(&mut BasicContext::default(), &[x.as_ref(), y.as_ref()])
                    };
                    match (got, want) {
                        (Ok(g), Ok(w)) => assert_eq!(g, w, "{name}({x:?}, {y:?})"),
                        (Err(g), Err(w)) => assert_eq!(g.message(), w.message(), "{name}"),
                        (g, w) => panic!("{name}({x:?}, {y:?}): {g:?}, not {w:?}"),
                    }
                }
            }
        }
    }
}
