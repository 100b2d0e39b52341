//! Modification of jsonb: concatenation, deletion, jsonb_set, jsonb_insert, stripping of nulls.
//! Counterpart: jsonfuncs.c (setPath, IteratorConcat).

use super::access::item;
use super::binary::Container;
use super::encode::Json;
use super::io::put_string;
use super::merge;
use super::parse::{Kind, Node, tree};
use pgerror::{PgError, Result, pg_err};
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::TextBuffer;

fn refused(message: &str) -> PgError {
    PgError::new(pgerror::SqlState::INVALID_PARAMETER_VALUE, message)
}

fn is_scalar(d: DatumRef<'_>) -> bool {
    Container::new(d.as_bytes()).is_scalar()
}

fn concat(cx: &dyn FnContext, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    let (l, r) = (Container::new(a.as_bytes()), Container::new(b.as_bytes()));
    if l.is_object() == r.is_object() {
        // Concatenation with an empty container returns the other one unchanged.
        if l.len() == 0 && !r.is_scalar() {
            return Ok(b.to_owned());
        }
        if r.len() == 0 && !l.is_scalar() {
            return Ok(a.to_owned());
        }
    }
    match l.is_object() && r.is_object() {
        true => merge::objects(l, r, interrupts),
        false => merge::arrays(l, r, interrupts),
    }
}

fn without(cx: &dyn FnContext, d: DatumRef<'_>, gone: &dyn Fn(&[u8]) -> bool) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    if is_scalar(d) {
        return Err(refused("cannot delete from scalar"));
    }
    match Json::of_item(item(d), interrupts)? {
        Json::Object(mut pairs) => {
            pairs.retain(|(k, _)| !gone(k));
            Json::Object(pairs)
        }
        Json::Array(mut all) => {
            all.retain(|e| !matches!(e, Json::String(s) if gone(s)));
            Json::Array(all)
        }
        other => other,
    }
    .datum(interrupts)
}

fn without_element(cx: &dyn FnContext, d: DatumRef<'_>, i: i32) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    if is_scalar(d) {
        return Err(refused("cannot delete from scalar"));
    }
    let Json::Array(mut all) = Json::of_item(item(d), interrupts)? else {
        return Err(refused("cannot delete from object using integer index"));
    };
    let i = if i < 0 { i64::from(i) + all.len() as i64 } else { i64::from(i) };
    if let Ok(i) = usize::try_from(i)
        && i < all.len()
    {
        all.remove(i);
    }
    Json::Array(all).datum(interrupts)
}

/// The modification at the end of a path.
#[derive(Clone)]
enum Modification {
    Delete,
    /// Replaces an existing value; with `create` also adds a missing one.
    Set {
        value: Json,
        create: bool,
    },
    /// Adds a value and never replaces one; in an array before the element, or `after` it.
    Insert {
        value: Json,
        after: bool,
    },
}

/// The steps of a path; `None` for a NULL step.
fn path_steps(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Vec<Option<Vec<u8>>>> {
    let array = ArrayRef::new(d)?;
    if array.ndim() > 1 {
        return Err(PgError::new(
            pgerror::SqlState::ARRAY_SUBSCRIPT_ERROR,
            "wrong number of array subscripts",
        ));
    }
    let elem = array.varlena_type(cx)?;
    Ok(array.iter(&elem).map(|e| (!e.is_null()).then(|| e.as_bytes().to_vec())).collect())
}

/// Applies a modification to `here` at `path[level..]`.
fn modify(
    here: &mut Json,
    path: &[Option<Vec<u8>>],
    level: usize,
    what: &Modification,
) -> Result<()> {
    let Some(step) = path.get(level) else { return Ok(()) };
    let at = level + 1;
    if matches!(here, Json::Array(_) | Json::Object(_)) && step.is_none() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "path element at position {at} is null"));
    }
    let Some(step) = step else { return Ok(()) };
    let last = at == path.len();
    match here {
        Json::Object(pairs) => {
            let found = pairs.iter().position(|(k, _)| k == step);
            match (found, what) {
                (Some(i), _) if !last => return modify(&mut pairs[i].1, path, at, what),
                (Some(i), Modification::Delete) => {
                    pairs.remove(i);
                }
                (Some(i), Modification::Set { value, .. }) => pairs[i].1 = value.clone(),
                (Some(_), Modification::Insert { .. }) => {
                    return Err(refused("cannot replace existing key")
                        .hint("Try using the function jsonb_set to replace key value."));
                }
                (
                    None,
                    Modification::Set { value, create: true } | Modification::Insert { value, .. },
                ) if last => {
                    pairs.push((step.clone(), value.clone()));
                }
                (None, _) => {}
            }
        }
        Json::Array(all) => {
            let text = String::from_utf8_lossy(step);
            let Ok(i) = text.trim_start().parse::<i32>() else {
                return Err(pg_err!(
                    INVALID_TEXT_REPRESENTATION,
                    "path element at position {at} is not an integer: \"{text}\""
                ));
            };
            let n = all.len() as i64;
            let i = if i < 0 { i64::from(i) + n } else { i64::from(i) };
            let inside = (0..n).contains(&i);
            match what {
                _ if inside && !last => return modify(&mut all[i as usize], path, at, what),
                _ if !last => {}
                Modification::Delete if inside => {
                    all.remove(i as usize);
                }
                Modification::Delete => {}
                Modification::Set { value, .. } if inside => all[i as usize] = value.clone(),
                Modification::Set { create: false, .. } => {}
                Modification::Insert { value, after } if inside => {
                    all.insert(i as usize + usize::from(*after), value.clone());
                }
                // An index out of range adds the value at the nearer end.
                Modification::Set { value, .. } | Modification::Insert { value, .. } => {
                    let index = if i < 0 { 0 } else { all.len() };
                    all.insert(index, value.clone());
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn modified(
    cx: &mut dyn FnContext,
    d: DatumRef<'_>,
    path: DatumRef<'_>,
    what: &Modification,
) -> Result<Datum> {
    let path = path_steps(cx, path)?;
    if is_scalar(d) {
        return Err(refused(match what {
            Modification::Delete => "cannot delete path in scalar",
            _ => "cannot set path in scalar",
        }));
    }
    let adds = !matches!(what, Modification::Delete | Modification::Set { create: false, .. });
    if path.is_empty() || (Container::new(d.as_bytes()).len() == 0 && !adds) {
        return Ok(d.to_owned());
    }
    let interrupts = &InterruptChecker::new(cx);
    let mut whole = Json::of_item(item(d), interrupts)?;
    modify(&mut whole, &path, 0, what)?;
    whole.datum(interrupts)
}

fn set_lax(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() || a[1].is_null() || a[3].is_null() {
        return Ok(Datum::Null);
    }
    let unknown = || {
        refused(
            "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \
             \"raise_exception\"",
        )
    };
    let create = a[3].as_bool();
    if a[4].is_null() {
        return Err(unknown());
    }
    if !a[2].is_null() {
        let value = Json::of_item(item(a[2]), &InterruptChecker::new(cx))?;
        return modified(cx, a[0], a[1], &Modification::Set { value, create });
    }
    match a[4].as_bytes() {
        b"raise_exception" => Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
            .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
            .hint(
                "To avoid, either change the null_value_treatment argument or ensure that an \
                       SQL NULL is not passed.",
            )),
        b"use_json_null" => {
            modified(cx, a[0], a[1], &Modification::Set { value: Json::Null, create })
        }
        b"delete_key" => modified(cx, a[0], a[1], &Modification::Delete),
        b"return_target" => Ok(a[0].to_owned()),
        _ => Err(unknown()),
    }
}

fn strip(j: Json) -> Json {
    match j {
        Json::Object(pairs) => Json::Object(
            pairs
                .into_iter()
                .filter(|(_, v)| !matches!(v, Json::Null))
                .map(|(k, v)| (k, strip(v)))
                .collect(),
        ),
        Json::Array(all) => Json::Array(all.into_iter().map(strip).collect()),
        other => other,
    }
}

/// Appends a json text without null fields and without white space.
fn strip_text(
    text: &[u8],
    node: &Node,
    out: &mut TextBuffer,
    interrupts: &InterruptChecker<'_>,
) -> Result<()> {
    interrupts.tick()?;
    match &node.kind {
        Kind::Object(pairs) => {
            out.push(b'{');
            let kept = pairs.iter().filter(|(_, v)| !matches!(v.kind, Kind::Null));
            for (i, (k, v)) in kept.enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                put_string(out, k, interrupts)?;
                out.push(b':');
                strip_text(text, v, out, interrupts)?;
            }
            out.push(b'}');
        }
        Kind::Array(all) => {
            out.push(b'[');
            for (i, e) in all.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                strip_text(text, e, out, interrupts)?;
            }
            out.push(b']');
        }
        Kind::String(s) => put_string(out, s, interrupts)?,
        _ => out.extend_from_slice(&text[node.span.clone()]),
    }
    Ok(())
}

scalars! { FNS;
    "jsonb_concat" => |cx, a| concat(cx, a[0], a[1]),
    "jsonb_delete" => |cx, a| without(cx, a[0], &|k| k == a[1].as_bytes()),
    "jsonb_delete_array" => |cx, a| {
        let keys = path_steps(cx, a[1])?;
        without(cx, a[0], &|k| keys.iter().flatten().any(|gone| gone == k))
    },
    "jsonb_delete_idx" => |cx, a| without_element(cx, a[0], a[1].as_i32()),
    "jsonb_delete_path" => |cx, a| modified(cx, a[0], a[1], &Modification::Delete),
    "jsonb_set" => |cx, a| {
        let value = Json::of_item(item(a[2]), &InterruptChecker::new(cx))?;
        modified(cx, a[0], a[1], &Modification::Set { value, create: a[3].as_bool() })
    },
    "jsonb_set_lax" => set_lax,
    "jsonb_insert" => |cx, a| {
        let value = Json::of_item(item(a[2]), &InterruptChecker::new(cx))?;
        modified(cx, a[0], a[1], &Modification::Insert { value, after: a[3].as_bool() })
    },
    "jsonb_strip_nulls" => |cx, a| {
        let interrupts = &InterruptChecker::new(cx);
        strip(Json::of_item(item(a[0]), interrupts)?).datum(interrupts)
    },
    "json_strip_nulls" => |cx, a| {
        let interrupts = &InterruptChecker::new(cx);
        let text = a[0].as_bytes();
        let mut out = TextBuffer::new();
        strip_text(text, &tree(text, interrupts)?, &mut out, interrupts)?;
        out.into_datum()
    },
}
