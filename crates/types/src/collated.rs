//! Comparison and hash of texts under collations that do not order by bytes, or that take texts of
//! different bytes as equal. The tables of `operators` and `compare` are those of the other
//! collations; a statement or an index takes these in their place when it is compiled.
//!
//! Counterpart: varlena.c (`varstr_cmp`), varchar.c, hashfunc.c (`hashtext`).

use crate::json::compare::{jsonb_cmp, jsonb_order};
use ids::Oid;
use ids::builtin::collation;
use locale::Locale;
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use std::sync::Arc;
use values::compare::{
    CompareFn, Comparer, TypedCompare, bpchar_trimmed, bpcharcmp, btnamecmp, btnametextcmp,
    bttextcmp, bttextnamecmp,
};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::{BuiltinFn, ScalarFn};
use values::hash::{Hasher, TypedHash, h32, h64, hash_bytes, hash_bytes_extended, trimmed_bpchar};
use values::oids;

/// Which texts are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operands {
    Text,
    BpChar,
    Name,
    NameText,
    TextName,
}

impl Operands {
    fn of(plain: CompareFn) -> Option<Operands> {
        let is = |f: CompareFn| std::ptr::fn_addr_eq(plain, f);
        if is(bttextcmp) {
            Some(Operands::Text)
        } else if is(bpcharcmp) {
            Some(Operands::BpChar)
        } else if is(btnamecmp) {
            Some(Operands::Name)
        } else if is(btnametextcmp) {
            Some(Operands::NameText)
        } else if is(bttextnamecmp) {
            Some(Operands::TextName)
        } else {
            None
        }
    }

    fn left<'v>(self, value: DatumRef<'v>) -> &'v [u8] {
        match self {
            Operands::Text | Operands::TextName => value.as_bytes(),
            Operands::BpChar => bpchar_trimmed(value.as_bytes()),
            Operands::Name | Operands::NameText => value.as_name(),
        }
    }

    fn right<'v>(self, value: DatumRef<'v>) -> &'v [u8] {
        match self {
            Operands::Text | Operands::NameText => value.as_bytes(),
            Operands::BpChar => bpchar_trimmed(value.as_bytes()),
            Operands::Name | Operands::TextName => value.as_name(),
        }
    }
}

/// The order of texts under a locale.
struct TextOrder {
    locale: Arc<Locale>,
    operands: Operands,
}

impl TypedCompare for TextOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        self.locale.compare(self.operands.left(a), self.operands.right(b))
    }

    fn has_abbreviations(&self) -> bool {
        matches!(self.operands, Operands::Text | Operands::BpChar | Operands::Name)
    }

    fn abbreviation(&self, value: DatumRef<'_>) -> u64 {
        self.locale.abbreviation(self.operands.left(value))
    }

    fn has_exact_abbreviation(&self, value: DatumRef<'_>) -> bool {
        self.locale.has_exact_abbreviation(self.operands.left(value))
    }

    fn guess(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        self.locale.guess(self.operands.left(a), self.operands.right(b))
    }
}

/// The order of jsonb under the locale of the default collation.
struct JsonbOrder(Arc<Locale>);

impl TypedCompare for JsonbOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        jsonb_order(a, b, &|x, y| self.0.compare(x, y))
    }
}

/// The collation that comparisons of a type depend on, where `given` is that of the expression or
/// of the index: the strings in jsonb always have the default collation.
pub fn collation_of(ty: Oid, given: Oid) -> Oid {
    match ty {
        oids::JSONB | oids::JSONB_ARRAY => collation::DEFAULT,
        _ => given,
    }
}

/// A comparison under a locale; `None` if it does not depend on one.
pub fn comparer(plain: CompareFn, locale: &Arc<Locale>) -> Option<Comparer> {
    if locale.orders_by_bytes() {
        return None;
    }
    if std::ptr::fn_addr_eq(plain, jsonb_cmp as CompareFn) {
        return Some(Comparer::Typed(Arc::new(JsonbOrder(locale.clone()))));
    }
    let operands = Operands::of(plain)?;
    Some(Comparer::Typed(Arc::new(TextOrder { locale: locale.clone(), operands })))
}

/// The hash of texts under a nondeterministic locale.
#[derive(Clone)]
pub struct TextHash {
    locale: Arc<Locale>,
    trims: bool,
}

impl TextHash {
    /// The hash by the function with this `pg_proc.prosrc`, with a seed or not; `None` if it does
    /// not depend on the locale.
    pub fn new(prosrc: &str, locale: &Arc<Locale>) -> Option<TextHash> {
        if locale.is_deterministic() {
            return None;
        }
        let trims = match prosrc {
            "hashtext" | "hashtextextended" => false,
            "hashbpchar" | "hashbpcharextended" => true,
            _ => return None,
        };
        Some(TextHash { locale: locale.clone(), trims })
    }

    fn key(&self, value: DatumRef<'_>) -> Vec<u8> {
        let bytes = value.as_bytes();
        let text = if self.trims { trimmed_bpchar(bytes) } else { bytes };
        let mut key = Vec::new();
        self.locale.hash_key(text, &mut key);
        key
    }

    /// The 64-bit hash under a seed.
    pub fn extended(&self, value: DatumRef<'_>, seed: u64) -> u64 {
        hash_bytes_extended(&self.key(value), seed)
    }
}

impl TypedHash for TextHash {
    fn hash(&self, value: DatumRef<'_>, _: Oid) -> u32 {
        hash_bytes(&self.key(value))
    }
}

/// The hash function with this `pg_proc.prosrc` under a locale; `None` if it does not depend on
/// one.
pub fn hasher(prosrc: &str, locale: &Arc<Locale>) -> Option<Hasher> {
    Some(Hasher::Typed(Arc::new(TextHash::new(prosrc, locale)?)))
}

/// Under which locales a [`CollatedFn`] is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applies {
    /// Those that do not order by bytes.
    Ordered,
    /// Those that are nondeterministic.
    Nondeterministic,
    /// If that of the default collation does not order by bytes, whatever the call's collation is.
    Default,
}

/// A function that takes the place of the one of the same name.
#[derive(Clone, Copy)]
pub struct CollatedFn {
    f: ScalarFn,
    applies: Applies,
}

impl CollatedFn {
    /// The collation that the function depends on, in a call with this collation.
    pub fn collation(self, given: Oid) -> Oid {
        if self.applies == Applies::Default { collation::DEFAULT } else { given }
    }

    /// The function under a locale; `None` if the ordinary one has the same results.
    pub fn under(self, locale: &Locale) -> Option<ScalarFn> {
        let applies = match self.applies {
            Applies::Nondeterministic => !locale.is_deterministic(),
            Applies::Ordered | Applies::Default => !locale.orders_by_bytes(),
        };
        applies.then_some(self.f)
    }
}

/// The function that takes the place of that with this `pg_proc.prosrc`.
pub fn function(prosrc: &str) -> Option<CollatedFn> {
    let tables = [
        (ORDERED, Applies::Ordered),
        (NONDETERMINISTIC, Applies::Nondeterministic),
        (JSONB, Applies::Default),
    ];
    tables.into_iter().find_map(|(table, applies)| {
        let entry = table.iter().find(|b| b.name == prosrc)?;
        match entry.f {
            BuiltinFn::Scalar(f) => Some(CollatedFn { f, applies }),
            _ => None,
        }
    })
}

/// The locale that a call site keeps.
struct Kept(Oid, Option<Arc<Locale>>);

/// Calls `f` with the locale of the call's collation, which is kept for the call site's next call.
/// Without a locale, bytes decide.
fn with_locale<T>(cx: &mut dyn FnContext, f: impl FnOnce(Option<&Locale>) -> T) -> Result<T> {
    let collation = cx.collation();
    let kept = cx.extra().take().and_then(|e| e.downcast::<Kept>().ok());
    let kept = match kept.filter(|k| k.0 == collation) {
        Some(kept) => kept,
        None => Box::new(Kept(collation, cx.locale(collation)?)),
    };
    let result = f(kept.1.as_deref());
    *cx.extra() = Some(kept);
    Ok(result)
}

fn order(cx: &mut dyn FnContext, a: &[DatumRef<'_>], operands: Operands) -> Result<Ordering> {
    let (x, y) = (operands.left(a[0]), operands.right(a[1]));
    with_locale(cx, |locale| locale.map_or_else(|| x.cmp(y), |locale| locale.compare(x, y)))
}

fn test(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    operands: Operands,
    wanted: fn(Ordering) -> bool,
) -> Result<Datum> {
    Ok(Datum::bool(wanted(order(cx, a, operands)?)))
}

fn hash_key(cx: &mut dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    with_locale(cx, |locale| match locale {
        Some(locale) => locale.hash_key(text, &mut key),
        None => key.extend_from_slice(text),
    })?;
    Ok(key)
}

/// Error 0A000: what nondeterministic collations do not support.
pub fn nondeterministic(what: &str) -> pgerror::PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "nondeterministic collations are not supported for {what}")
}

fn refused(what: &str) -> Result<Datum> {
    Err(nondeterministic(what))
}

fn jsonb_test(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    wanted: fn(Ordering) -> bool,
) -> Result<Datum> {
    Ok(Datum::bool(wanted(jsonb_order_of(cx, a))))
}

fn jsonb_order_of(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Ordering {
    match &cx.settings().default_locale {
        Some(locale) => jsonb_order(a[0], a[1], &|x, y| locale.compare(x, y)),
        None => jsonb_cmp(a[0], a[1], Oid::INVALID),
    }
}

use Operands::{BpChar, Name, NameText, Text, TextName};

scalars! { ORDERED;
    "text_lt" => |cx, a| test(cx, a, Text, Ordering::is_lt),
    "text_le" => |cx, a| test(cx, a, Text, Ordering::is_le),
    "text_gt" => |cx, a| test(cx, a, Text, Ordering::is_gt),
    "text_ge" => |cx, a| test(cx, a, Text, Ordering::is_ge),
    "bttextcmp" => |cx, a| Ok(Datum::int4(order(cx, a, Text)? as i32)),
    "text_larger" => |cx, a| Ok(a[usize::from(order(cx, a, Text)?.is_le())].to_owned()),
    "text_smaller" => |cx, a| Ok(a[usize::from(order(cx, a, Text)?.is_ge())].to_owned()),
    "bpcharlt" => |cx, a| test(cx, a, BpChar, Ordering::is_lt),
    "bpcharle" => |cx, a| test(cx, a, BpChar, Ordering::is_le),
    "bpchargt" => |cx, a| test(cx, a, BpChar, Ordering::is_gt),
    "bpcharge" => |cx, a| test(cx, a, BpChar, Ordering::is_ge),
    "bpcharcmp" => |cx, a| Ok(Datum::int4(order(cx, a, BpChar)? as i32)),
    "bpchar_larger" => |cx, a| Ok(a[usize::from(order(cx, a, BpChar)?.is_lt())].to_owned()),
    "bpchar_smaller" => |cx, a| Ok(a[usize::from(order(cx, a, BpChar)?.is_gt())].to_owned()),
    "namelt" => |cx, a| test(cx, a, Name, Ordering::is_lt),
    "namele" => |cx, a| test(cx, a, Name, Ordering::is_le),
    "namegt" => |cx, a| test(cx, a, Name, Ordering::is_gt),
    "namege" => |cx, a| test(cx, a, Name, Ordering::is_ge),
    "btnamecmp" => |cx, a| Ok(Datum::int4(order(cx, a, Name)? as i32)),
    "namelttext" => |cx, a| test(cx, a, NameText, Ordering::is_lt),
    "nameletext" => |cx, a| test(cx, a, NameText, Ordering::is_le),
    "namegttext" => |cx, a| test(cx, a, NameText, Ordering::is_gt),
    "namegetext" => |cx, a| test(cx, a, NameText, Ordering::is_ge),
    "btnametextcmp" => |cx, a| Ok(Datum::int4(order(cx, a, NameText)? as i32)),
    "textltname" => |cx, a| test(cx, a, TextName, Ordering::is_lt),
    "textlename" => |cx, a| test(cx, a, TextName, Ordering::is_le),
    "textgtname" => |cx, a| test(cx, a, TextName, Ordering::is_gt),
    "textgename" => |cx, a| test(cx, a, TextName, Ordering::is_ge),
    "bttextnamecmp" => |cx, a| Ok(Datum::int4(order(cx, a, TextName)? as i32)),
}

/// What such collations refuse in functions that search in a text.
pub(crate) const SEARCHES: &str = "substring searches";

scalars! { NONDETERMINISTIC;
    "texteq" => |cx, a| test(cx, a, Text, Ordering::is_eq),
    "textne" => |cx, a| test(cx, a, Text, Ordering::is_ne),
    "bpchareq" => |cx, a| test(cx, a, BpChar, Ordering::is_eq),
    "bpcharne" => |cx, a| test(cx, a, BpChar, Ordering::is_ne),
    "nameeq" => |cx, a| test(cx, a, Name, Ordering::is_eq),
    "namene" => |cx, a| test(cx, a, Name, Ordering::is_ne),
    "nameeqtext" => |cx, a| test(cx, a, NameText, Ordering::is_eq),
    "namenetext" => |cx, a| test(cx, a, NameText, Ordering::is_ne),
    "texteqname" => |cx, a| test(cx, a, TextName, Ordering::is_eq),
    "textnename" => |cx, a| test(cx, a, TextName, Ordering::is_ne),
    "hashtext" => |cx, a| Ok(h32(hash_bytes(&hash_key(cx, a[0].as_bytes())?))),
    "hashtextextended" => |cx, a| {
        Ok(h64(hash_bytes_extended(&hash_key(cx, a[0].as_bytes())?, a[1].word())))
    },
    "hashbpchar" => |cx, a| {
        Ok(h32(hash_bytes(&hash_key(cx, trimmed_bpchar(a[0].as_bytes()))?)))
    },
    "hashbpcharextended" => |cx, a| {
        let key = hash_key(cx, trimmed_bpchar(a[0].as_bytes()))?;
        Ok(h64(hash_bytes_extended(&key, a[1].word())))
    },
    "textlike" => |_, _| refused("LIKE"),
    "textnlike" => |_, _| refused("LIKE"),
    "namelike" => |_, _| refused("LIKE"),
    "namenlike" => |_, _| refused("LIKE"),
    "texticlike" => |_, _| refused("ILIKE"),
    "texticnlike" => |_, _| refused("ILIKE"),
    "nameiclike" => |_, _| refused("ILIKE"),
    "nameicnlike" => |_, _| refused("ILIKE"),
    "textpos" => |_, _| refused(SEARCHES),
    "text_starts_with" => |_, _| refused(SEARCHES),
    "replace_text" => |_, _| refused(SEARCHES),
    "split_part" => |_, _| refused(SEARCHES),
}

scalars! { JSONB;
    "jsonb_lt" => |cx, a| jsonb_test(cx, a, Ordering::is_lt),
    "jsonb_le" => |cx, a| jsonb_test(cx, a, Ordering::is_le),
    "jsonb_gt" => |cx, a| jsonb_test(cx, a, Ordering::is_gt),
    "jsonb_ge" => |cx, a| jsonb_test(cx, a, Ordering::is_ge),
    "jsonb_cmp" => |cx, a| Ok(Datum::int4(jsonb_order_of(cx, a) as i32)),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_have_other_comparisons() {
        let root = Arc::new(Locale::icu("und", true).expect("ICU is installed"));
        let a = DatumRef::Bytes(b"a");
        let b = DatumRef::Bytes(b"B  ");
        assert_eq!(bttextcmp(a, b, Oid(0)), Ordering::Greater);
        for plain in [bttextcmp as CompareFn, bpcharcmp] {
            let under = comparer(plain, &root).expect("a comparison of texts");
            assert_eq!(under.order(a, b, Oid(0)), Ordering::Less);
        }
        assert!(comparer(values::compare::bytes_cmp, &root).is_none());
        assert!(comparer(values::compare::bpcharcmp_c, &root).is_none());
    }

    #[test]
    fn equality_differs_under_nondeterministic_locales_only() {
        let root = Locale::icu("und", true).expect("ICU is installed");
        let loose = Locale::icu("und-u-ks-level1", false).expect("ICU is installed");
        let equality = function("texteq").expect("an entry");
        assert!(equality.under(&root).is_none() && equality.under(&loose).is_some());
        let less = function("text_lt").expect("an entry");
        assert!(less.under(&root).is_some() && function("int4lt").is_none());
    }
}
