//! Predicates. Their values are true, false and unknown (`None`). Counterpart: jsonpath_exec.c
//! (`executeBoolItem`, `executePredicate`, `compareItems`).
//!
//! The operands of a comparison are sequences; it is true if it is true for any pair. In strict
//! mode all pairs are compared, because an error makes it unknown.

use super::exec::{Exec, Found, Outcome};
use super::value::{Shape, Value};
use datetime::standard;
use jsonpath::{Item, Kind};
use numeric::compare_payloads;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use stdx::stack::deep;
use values::memory;

/// A truth value; `None` is unknown.
pub(super) type Truth = Option<bool>;

/// Whether items of the kind have a truth value.
pub(super) fn is_predicate(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::And
            | Kind::Or
            | Kind::Not
            | Kind::IsUnknown
            | Kind::Equal
            | Kind::NotEqual
            | Kind::Less
            | Kind::Greater
            | Kind::LessOrEqual
            | Kind::GreaterOrEqual
            | Kind::Exists
            | Kind::StartsWith
            | Kind::LikeRegex
    )
}

/// The truth value of a predicate.
pub(super) fn evaluate<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
) -> Result<Truth> {
    deep(|| match item.kind {
        Kind::And => {
            let left = evaluate(e, item.left()?, value)?;
            if left == Some(false) {
                return Ok(left);
            }
            let right = evaluate(e, item.right()?, value)?;
            Ok(if right == Some(true) { left } else { right })
        }
        Kind::Or => {
            let left = evaluate(e, item.left()?, value)?;
            if left == Some(true) {
                return Ok(left);
            }
            let right = evaluate(e, item.right()?, value)?;
            Ok(if right == Some(false) { left } else { right })
        }
        Kind::Not => Ok(evaluate(e, item.inner()?, value)?.map(|truth| !truth)),
        Kind::IsUnknown => Ok(Some(evaluate(e, item.inner()?, value)?.is_none())),
        Kind::Exists => exists(e, item, value),
        Kind::StartsWith => {
            let operands = (item.left()?, Some(item.right()?));
            pairs(e, operands, value, false, |_, whole, initial| {
                let (whole, initial) = (whole.as_string(), initial.and_then(Value::as_string));
                Ok(whole.zip(initial).map(|(whole, initial)| whole.starts_with(initial)))
            })
        }
        Kind::LikeRegex => {
            let pattern = item.pattern()?;
            pairs(e, (pattern.operand, None), value, false, |e, string, _| {
                let Some(string) = string.as_string() else { return Ok(None) };
                e.patterns.matches(e.cx, pattern.pattern, pattern.flags, string).map(Some)
            })
        }
        kind if is_predicate(kind) => {
            let operands = (item.left()?, Some(item.right()?));
            pairs(e, operands, value, true, |e, left, right| {
                compare(e, kind, left, right.unwrap_or(&Value::Null))
            })
        }
        kind => {
            Err(PgError::internal(format!("invalid boolean jsonpath item type: {}", kind as u8)))
        }
    })
}

fn exists<'a>(e: &mut Exec<'a, '_>, item: Item<'a>, value: &Value<'a>) -> Result<Truth> {
    let operand = item.inner()?;
    let mut all = Vec::new();
    // In strict mode all results are needed to know that there is no error.
    let found = if e.lax() { None } else { Some(&mut all) };
    let strict = found.is_some();
    let outcome = without_raising(e, operand, value, false, found)?;
    Ok(match outcome {
        Outcome::Error => None,
        _ if strict => Some(!all.is_empty()),
        outcome => Some(outcome == Outcome::Ok),
    })
}

/// Evaluates an operand. `unwrap`: in lax mode, the elements of arrays among the results take the
/// arrays' places.
pub(super) fn operand<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    unwrap: bool,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let found = match found {
        Some(found) if unwrap && e.lax() => found,
        found => return e.item(item, value, found),
    };
    let mut results = Vec::new();
    if e.item(item, value, Some(&mut results))? == Outcome::Error {
        return Ok(Outcome::Error);
    }
    for result in results {
        if result.shape() == Shape::Array {
            e.over_elements(None, &result, Some(found), false)?;
        } else {
            memory::reserve(found, 1)?;
            found.push(result);
        }
    }
    Ok(Outcome::Ok)
}

/// Evaluates an operand of a predicate, whose errors make it unknown.
fn without_raising<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    unwrap: bool,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let before = std::mem::replace(&mut e.raises, false);
    let outcome = operand(e, item, value, unwrap, found);
    e.raises = before;
    outcome
}

/// The truth of a predicate over the pairs of the operands' results; of each left one, if there is
/// no right operand. `unwrap_right`: arrays in the right operand are unwrapped too.
fn pairs<'a>(
    e: &mut Exec<'a, '_>,
    (left, right): (Item<'a>, Option<Item<'a>>),
    value: &Value<'a>,
    unwrap_right: bool,
    mut holds: impl FnMut(&mut Exec<'a, '_>, &Value<'a>, Option<&Value<'a>>) -> Result<Truth>,
) -> Result<Truth> {
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    if without_raising(e, left, value, true, Some(&mut lefts))? == Outcome::Error {
        return Ok(None);
    }
    if let Some(right) = right
        && without_raising(e, right, value, unwrap_right, Some(&mut rights))? == Outcome::Error
    {
        return Ok(None);
    }
    let (mut unknown, mut found) = (false, false);
    let rights: Vec<Option<&Value<'a>>> = match right {
        None => vec![None],
        Some(_) => rights.iter().map(Some).collect(),
    };
    for l in &lefts {
        for r in &rights {
            e.interrupts.tick()?;
            match holds(e, l, *r)? {
                None if !e.lax() => return Ok(None),
                None => unknown = true,
                Some(true) if e.lax() => return Ok(Some(true)),
                Some(true) => found = true,
                Some(false) => {}
            }
        }
    }
    Ok(match (found, unknown) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    })
}

/// A comparison of two values; unknown if their types are not comparable.
fn compare<'a>(e: &Exec<'a, '_>, kind: Kind, a: &Value<'a>, b: &Value<'a>) -> Result<Truth> {
    let order = match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        // NULL differs from all other values and has no order with them.
        (Value::Null, _) | (_, Value::Null) => return Ok(Some(kind == Kind::NotEqual)),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => compare_payloads(a.get(), b.get()),
        (Value::String(a), Value::String(b)) => a.get().cmp(b.get()),
        (Value::DateTime(a), Value::DateTime(b)) => {
            match standard::compare(e.cx, a, b, e.args.with_zone)? {
                Some(order) => order,
                None => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(match kind {
        Kind::Equal => order.is_eq(),
        Kind::NotEqual => order.is_ne(),
        Kind::Less => order.is_lt(),
        Kind::Greater => order.is_gt(),
        Kind::LessOrEqual => order.is_le(),
        _ => order.is_ge(),
    }))
}
