//! The `reg*` types: OIDs whose text form is a name, by look-ups of the context. Counterpart:
//! regproc.c.

use crate::string::ident::plain_name;
use ids::Oid;
use ids::code::TypCategory;
use pgerror::{PgError, Result, SqlState, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, RegKind};
use values::type_io::Reader;

/// 42704 and similar errors: no such object.
fn not_found(cx: &dyn FnContext, kind: RegKind, name: &str) -> PgError {
    let plain = match kind {
        RegKind::Class | RegKind::Collation | RegKind::Config | RegKind::Dictionary => {
            plain_name(name)
        }
        _ => name.to_owned(),
    };
    let name = plain.as_str();
    match kind {
        RegKind::Proc | RegKind::Procedure => {
            pg_err!(UNDEFINED_FUNCTION, "function \"{name}\" does not exist")
        }
        RegKind::Oper | RegKind::Operator => {
            pg_err!(UNDEFINED_FUNCTION, "operator does not exist: {name}")
        }
        RegKind::Class => pg_err!(UNDEFINED_TABLE, "relation \"{name}\" does not exist"),
        RegKind::Collation => pg_err!(
            UNDEFINED_OBJECT,
            "collation \"{name}\" for encoding \"{}\" does not exist",
            cx.settings().encoding.name()
        ),
        RegKind::Type => pg_err!(UNDEFINED_OBJECT, "type \"{name}\" does not exist"),
        RegKind::Role => pg_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"),
        RegKind::Namespace => pg_err!(UNDEFINED_SCHEMA, "schema \"{name}\" does not exist"),
        RegKind::Config => {
            pg_err!(UNDEFINED_OBJECT, "text search configuration \"{name}\" does not exist")
        }
        RegKind::Dictionary => {
            pg_err!(UNDEFINED_OBJECT, "text search dictionary \"{name}\" does not exist")
        }
    }
}

/// The text form of OID 0: "0" for operators, "-" for the other types.
fn zero_name(kind: RegKind) -> &'static str {
    match kind {
        RegKind::Oper | RegKind::Operator => "0",
        _ => "-",
    }
}

fn input(cx: &mut dyn FnContext, d: DatumRef<'_>, kind: RegKind) -> Result<Datum> {
    let text = String::from_utf8_lossy(d.as_bytes()).into_owned();
    if text == zero_name(kind) {
        return Ok(Datum::Word(0));
    }
    if !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) {
        return Ok(Datum::oid(crate::system::parse_oid(text.as_bytes())?));
    }
    match cx.reg_lookup(kind, &text)? {
        Some(oid) => Ok(Datum::oid(oid)),
        // The name of a role or schema is a single identifier; the error shows it folded.
        None if matches!(kind, RegKind::Role | RegKind::Namespace) => {
            Err(not_found(cx, kind, &identifier(&text)))
        }
        None => Err(not_found(cx, kind, &text)),
    }
}

/// The value of a single identifier: unchanged within quotes, else folded to lower case.
fn identifier(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_ascii_lowercase(),
    }
}

fn output(cx: &mut dyn FnContext, d: DatumRef<'_>, kind: RegKind) -> Result<Datum> {
    let oid = d.as_oid();
    if !oid.is_valid() {
        return Ok(Datum::text(zero_name(kind)));
    }
    Ok(Datum::text(&cx.reg_name(kind, oid)?.unwrap_or_else(|| oid.to_string())))
}

fn recv(d: DatumRef<'_>) -> Result<Datum> {
    Ok(Datum::Word(Reader::new(d.as_bytes()).u32()?.into()))
}

fn send(d: DatumRef<'_>) -> Result<Datum> {
    Ok(Datum::bytes(d.as_oid().0.to_be_bytes()))
}

/// `to_reg*`: NULL if there is no such object or schema, or if the name is ambiguous. The digits of
/// an OID are not accepted as a name.
fn to_reg(cx: &mut dyn FnContext, d: DatumRef<'_>, kind: RegKind) -> Result<Datum> {
    let text = String::from_utf8_lossy(d.as_bytes()).into_owned();
    match cx.reg_lookup(kind, &text) {
        Ok(found) => Ok(found.map_or(Datum::Null, Datum::oid)),
        Err(e) if matches!(e.code(), SqlState::UNDEFINED_SCHEMA | SqlState::AMBIGUOUS_FUNCTION) => {
            Ok(Datum::Null)
        }
        Err(e) if kind == RegKind::Type && e.code() == SqlState::UNDEFINED_OBJECT => {
            Ok(Datum::Null)
        }
        Err(e) => Err(e),
    }
}

macro_rules! reg_types {
    ($table:ident; $($name:literal $to:literal $kind:ident;)*) => {
        scalars! { $table; $(
            concat!($name, "in") => |cx, a| input(cx, a[0], RegKind::$kind),
            concat!($name, "out") => |cx, a| output(cx, a[0], RegKind::$kind),
            concat!($name, "recv") => |_, a| recv(a[0]),
            concat!($name, "send") => |_, a| send(a[0]),
            $to => |cx, a| to_reg(cx, a[0], RegKind::$kind),
        )* }
    };
}

reg_types! { FNS;
    "regproc" "to_regproc" Proc;
    "regprocedure" "to_regprocedure" Procedure;
    "regoper" "to_regoper" Oper;
    "regoperator" "to_regoperator" Operator;
    "regclass" "to_regclass" Class;
    "regcollation" "to_regcollation" Collation;
    "regtype" "to_regtype" Type;
    "regrole" "to_regrole" Role;
    "regnamespace" "to_regnamespace" Namespace;
    "regconfig" "to_regconfig" Config;
    "regdictionary" "to_regdictionary" Dictionary;
}

scalars! { CASTS;
    "text_regclass" => |cx, a| {
        let text = String::from_utf8_lossy(a[0].as_bytes()).into_owned();
        match cx.reg_lookup(RegKind::Class, &text)? {
            Some(oid) => Ok(Datum::oid(oid)),
            None => Err(not_found(cx, RegKind::Class, &text)),
        }
    },
}

fn is_collatable(cx: &mut dyn FnContext, ty: Oid) -> Result<bool> {
    if ty == values::oids::UNKNOWN {
        return Ok(true);
    }
    let info = cx.type_info(ty)?;
    match (info.base.valid(), info.category == TypCategory::ARRAY, info.elem.valid()) {
        (Some(base), _, _) => is_collatable(cx, base),
        (None, true, Some(elem)) => is_collatable(cx, elem),
        _ => Ok(info.category == TypCategory::STRING),
    }
}

scalars! { COLLATION;
    "pg_collation_for" => |cx, _| {
        let ty = cx.arg_type(0);
        if !is_collatable(cx, ty)? {
            let name = cx.type_name(ty, None)?;
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "collations are not supported by type {name}"
            ));
        }
        let collation = cx.collation();
        if !collation.is_valid() {
            return Ok(Datum::Null);
        }
        let name = cx.reg_name(RegKind::Collation, collation)?;
        Ok(name.map_or(Datum::Null, |n| Datum::text(&n)))
    },
}
