//! Arithmetic and item methods. Counterpart: jsonpath_exec.c (`executeBinaryArithmExpr`,
//! `executeUnaryArithmExpr`, `executeNumericItemMethod` and the other methods).

use super::exec::{BASE_STRIDE, Base, Exec, Found, Outcome};
use super::predicate::operand;
use super::value::{Bytes, Shape, Value};
use crate::json::binary::Container;
use crate::json::encode::Json;
use datetime::standard::{self, DateTime, Template};
use jsonpath::{Item, Kind, damaged};
use numeric::io::with_text;
use numeric::{Num, from_float8, functions};
use pgerror::{PgError, Result, pg_err};
use values::float::parse_float8;
use values::type_io::lossy_text;

/// Evaluates an operator of numbers or a method.
pub(super) fn evaluate<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
    unwrap: bool,
) -> Result<Outcome> {
    match item.kind {
        Kind::Add | Kind::Sub | Kind::Mul | Kind::Div | Kind::Mod => {
            return arithmetic(e, item, value, found);
        }
        Kind::Plus | Kind::Minus => return sign(e, item, value, found),
        Kind::Type => return e.next(item, &Value::text(value.type_name()), found),
        Kind::Size => return size(e, item, value, found),
        _ => {}
    }
    if unwrap && value.shape() == Shape::Array {
        return e.over_elements(Some(item), value, found, false);
    }
    match item.kind {
        Kind::Abs => rounding(e, item, value, found, functions::absolute),
        Kind::Floor => rounding(e, item, value, found, |n| functions::to_integral(n, false)),
        Kind::Ceiling => rounding(e, item, value, found, |n| functions::to_integral(n, true)),
        Kind::Double => double(e, item, value, found),
        Kind::Datetime => date_time(e, item, value, found),
        Kind::KeyValue => key_value(e, item, value, found),
        _ => Err(damaged()),
    }
}

fn arithmetic<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    if operand(e, item.left()?, value, true, Some(&mut left))? == Outcome::Error
        || operand(e, item.right()?, value, true, Some(&mut right))? == Outcome::Error
    {
        return Ok(Outcome::Error);
    }
    let single = |side: &str| {
        pg_err!(
            SINGLETON_SQL_JSON_ITEM_REQUIRED,
            "{side} operand of jsonpath operator {} is not a single numeric value",
            item.kind.name()
        )
    };
    let [Value::Number(a)] = &left[..] else { return e.fail(|| single("left")) };
    let [Value::Number(b)] = &right[..] else { return e.fail(|| single("right")) };
    let mut out = Vec::new();
    let (a, b) = (a.get(), b.get());
    let done = match item.kind {
        Kind::Add => numeric::sum_into(a, b, false, &mut out),
        Kind::Sub => numeric::sum_into(a, b, true, &mut out),
        Kind::Mul => numeric::product_into(a, b, &mut out),
        Kind::Div => numeric::quotient_into(a, b, &mut out),
        _ => functions::remainder_into(a, b, &mut out),
    };
    if let Err(error) = done {
        return e.fail(|| error);
    }
    e.next(item, &Value::Number(Bytes::made(&out)), found)
}

/// Unary `+` and `-`.
fn sign<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    mut found: Found<'_, 'a>,
) -> Result<Outcome> {
    let mut results = Vec::new();
    if operand(e, item.inner()?, value, true, Some(&mut results))? == Outcome::Error {
        return Ok(Outcome::Error);
    }
    let only_existence = found.is_none() && item.next()?.is_none();
    let mut outcome = Outcome::NotFound;
    for result in &results {
        let Some(number) = result.as_number() else {
            if only_existence {
                continue;
            }
            return e.fail(|| {
                pg_err!(
                    SQL_JSON_NUMBER_NOT_FOUND,
                    "operand of unary jsonpath operator {} is not a numeric value",
                    item.kind.name()
                )
            });
        };
        if only_existence {
            return Ok(Outcome::Ok);
        }
        let signed = match item.kind {
            Kind::Plus => result.clone(),
            _ => Value::number(&Num::from_payload(number).negated())?,
        };
        match e.next(item, &signed, found.as_deref_mut())? {
            Outcome::Error => return Ok(Outcome::Error),
            Outcome::Ok if found.is_none() => return Ok(Outcome::Ok),
            Outcome::Ok => outcome = Outcome::Ok,
            Outcome::NotFound => {}
        }
    }
    Ok(outcome)
}

fn size<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let size = match value.elements() {
        Some(n) => n,
        None if e.lax() => 1,
        None if e.ignores_structure => return Ok(Outcome::NotFound),
        None => {
            return e.fail(|| {
                pg_err!(
                    SQL_JSON_ARRAY_NOT_FOUND,
                    "jsonpath item method .size() can only be applied to an array"
                )
            });
        }
    };
    e.next(item, &Value::integer(size as i64)?, found)
}

/// `.abs()`, `.floor()`, `.ceiling()`
fn rounding<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
    function: impl Fn(Num) -> Num,
) -> Result<Outcome> {
    let Some(number) = value.as_number() else {
        return e.fail(|| {
            pg_err!(
                NON_NUMERIC_SQL_JSON_ITEM,
                "jsonpath item method .{}() can only be applied to a numeric value",
                item.kind.name()
            )
        });
    };
    let result = Value::number(&function(Num::from_payload(number)))?;
    e.next(item, &result, found)
}

fn double<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let finite = |text: &[u8]| parse_float8(text).ok().filter(|v| v.is_finite());
    let out = match value {
        Value::Number(n) => match with_text(n.get(), finite) {
            Some(_) => value.clone(),
            None => {
                return e.fail(|| {
                    pg_err!(
                        NON_NUMERIC_SQL_JSON_ITEM,
                        "numeric argument of jsonpath item method .double() is out of range for \
                         type double precision"
                    )
                });
            }
        },
        Value::String(s) => match finite(s.get()) {
            Some(v) => Value::number(&from_float8(v))?,
            None => {
                return e.fail(|| {
                    pg_err!(
                        NON_NUMERIC_SQL_JSON_ITEM,
                        "string argument of jsonpath item method .double() is not a valid \
                         representation of a double precision number"
                    )
                });
            }
        },
        _ => {
            return e.fail(|| {
                pg_err!(
                    NON_NUMERIC_SQL_JSON_ITEM,
                    "jsonpath item method .double() can only be applied to a string or numeric \
                     value"
                )
            });
        }
    };
    e.next(item, &out, found)
}

fn date_time<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    let Some(text) = value.as_string() else {
        return e.fail(|| {
            pg_err!(
                INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                "jsonpath item method .datetime() can only be applied to a string"
            )
        });
    };
    match parsed(e, item, text) {
        Ok(read) => e.next(item, &Value::DateTime(read), found),
        Err(Unread::Value(error)) => e.fail(|| error),
        Err(Unread::Other(error)) => Err(error),
    }
}

/// Why a text was not read as a date or time.
enum Unread {
    /// The text does not match.
    Value(PgError),
    /// The template is not valid, or the query was cancelled.
    Other(PgError),
}

fn parsed(e: &Exec<'_, '_>, item: Item<'_>, text: &[u8]) -> std::result::Result<DateTime, Unread> {
    let Some(template) = item.argument().map_err(Unread::Other)? else {
        let read = standard::read_iso(e.cx, text).map_err(Unread::Other)?;
        return read.ok_or_else(|| {
            let text = lossy_text(text);
            Unread::Value(
                pg_err!(
                    INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                    "datetime format is not recognized: \"{text}\""
                )
                .hint("Use a datetime template argument to specify the input data format."),
            )
        });
    };
    let pattern = template.text().map_err(Unread::Other)?;
    let template = Template::new(e.cx, pattern).map_err(Unread::Other)?;
    template.read(e.cx, text).map_err(|error| match standard::is_value_error(&error) {
        true => Unread::Value(error),
        false => Unread::Other(error),
    })
}

/// The pairs of an object as objects with `key`, `value` and the `id` of the object. The id is
/// made of the position in a base object and the base's id.
fn key_value<'a>(
    e: &mut Exec<'a, '_>,
    item: Item<'a>,
    value: &Value<'a>,
    mut found: Found<'_, 'a>,
) -> Result<Outcome> {
    let Some(bytes) = value.container().filter(|_| value.shape() == Shape::Object) else {
        return e.fail(|| {
            pg_err!(
                SQL_JSON_OBJECT_NOT_FOUND,
                "jsonpath item method .keyvalue() can only be applied to an object"
            )
        });
    };
    let object = Container::new(bytes.get());
    let only_existence = found.is_none() && item.next()?.is_none();
    if only_existence || object.len() == 0 {
        return Ok(if object.len() > 0 { Outcome::Ok } else { Outcome::NotFound });
    }
    let id = bytes.address().wrapping_sub(e.base.address) as i64 + e.base.id * BASE_STRIDE;
    let mut outcome = Outcome::NotFound;
    for (key, member) in object.pairs() {
        let pair = Json::Object(vec![
            (b"key".to_vec(), Json::String(key.to_vec())),
            (b"value".to_vec(), Json::of_item(member, &e.interrupts)?),
            (b"id".to_vec(), Json::number(&Num::from(id))?),
        ]);
        let pair = Bytes::made(pair.datum(&e.interrupts)?.as_ref().as_bytes());
        let base = Base { address: pair.address(), id: e.next_id };
        e.next_id += 1;
        let pair = Value::Container(pair);
        outcome = e.with_base(base, |e| e.next(item, &pair, found.as_deref_mut()))?;
        if outcome == Outcome::Error || (outcome == Outcome::Ok && found.is_none()) {
            break;
        }
    }
    Ok(outcome)
}
