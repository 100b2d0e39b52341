//! Functions that return object definitions as SQL. Counterpart: utils/adt/ruleutils.c; the text is
//! produced by [`deparse`].

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::rows::{CatalogRow, PgClass, indexes};
use deparse::{IndexParts, Style};
use ids::code::DepType;
use ids::{Oid, RelKind};
use pgerror::{Result, pg_err};
use types::{Datum, DatumRef};

/// The text, or NULL if the object does not exist.
fn answer(found: Option<String>) -> Result<Datum> {
    Ok(found.map_or(Datum::Null, |t| Datum::text(&t)))
}

/// The OID of a relation, by its name in SQL notation.
pub(super) fn relation_named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
    match super::reg::lookup_name(core, types::fn_context::RegKind::Class, name)? {
        Some(oid) => Ok(oid),
        None => {
            let name = types::string::plain_name(name);
            Err(pg_err!(UNDEFINED_TABLE, "relation \"{name}\" does not exist"))
        }
    }
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_get_expr",
        call: SysCall::One(|c, a| {
            answer(deparse::stored_expr(c, &text(a[0]), a[1].as_oid(), Style::indented(false))?)
        }),
    },
    SysFn {
        name: "pg_get_expr_ext",
        call: SysCall::One(|c, a| {
            answer(deparse::stored_expr(
                c,
                &text(a[0]),
                a[1].as_oid(),
                Style::indented(a[2].as_bool()),
            )?)
        }),
    },
    SysFn {
        name: "pg_get_indexdef",
        call: SysCall::One(|c, a| {
            answer(deparse::index_def(c, a[0].as_oid(), IndexParts::default(), false)?)
        }),
    },
    SysFn {
        name: "pg_get_indexdef_ext",
        call: SysCall::One(|c, a| {
            let column = a[1].as_i32().max(0) as usize;
            let parts = IndexParts { column, exclusion: false };
            answer(deparse::index_def(c, a[0].as_oid(), parts, a[2].as_bool())?)
        }),
    },
    SysFn {
        name: "pg_get_constraintdef",
        call: SysCall::One(|c, a| answer(deparse::constraint_def(c, a[0].as_oid(), false)?)),
    },
    SysFn {
        name: "pg_get_constraintdef_ext",
        call: SysCall::One(|c, a| {
            answer(deparse::constraint_def(c, a[0].as_oid(), a[1].as_bool())?)
        }),
    },
    SysFn {
        name: "pg_get_viewdef",
        call: SysCall::One(|c, a| answer(deparse::view_def(c, a[0].as_oid(), false, 0)?)),
    },
    SysFn {
        name: "pg_get_viewdef_ext",
        call: SysCall::One(|c, a| answer(deparse::view_def(c, a[0].as_oid(), a[1].as_bool(), 0)?)),
    },
    SysFn {
        name: "pg_get_viewdef_wrap",
        call: SysCall::One(|c, a| {
            answer(deparse::view_def(c, a[0].as_oid(), true, a[1].as_i32())?)
        }),
    },
    SysFn {
        name: "pg_get_viewdef_name",
        call: SysCall::One(|c, a| {
            let oid = relation_named(c, &text(a[0]))?;
            answer(deparse::view_def(c, oid, false, 0)?)
        }),
    },
    SysFn {
        name: "pg_get_viewdef_name_ext",
        call: SysCall::One(|c, a| {
            let oid = relation_named(c, &text(a[0]))?;
            answer(deparse::view_def(c, oid, a[1].as_bool(), 0)?)
        }),
    },
    SysFn {
        name: "pg_get_ruledef",
        call: SysCall::One(|c, a| answer(deparse::rule_def(c, a[0].as_oid(), false)?)),
    },
    SysFn {
        name: "pg_get_ruledef_ext",
        call: SysCall::One(|c, a| answer(deparse::rule_def(c, a[0].as_oid(), a[1].as_bool())?)),
    },
    SysFn {
        name: "pg_get_triggerdef",
        call: SysCall::One(|c, a| answer(deparse::trigger_def(c, a[0].as_oid(), false)?)),
    },
    SysFn {
        name: "pg_get_triggerdef_ext",
        call: SysCall::One(|c, a| answer(deparse::trigger_def(c, a[0].as_oid(), a[1].as_bool())?)),
    },
    SysFn {
        name: "pg_get_functiondef",
        call: SysCall::One(|c, a| answer(deparse::function_def(c, a[0].as_oid())?)),
    },
    SysFn {
        name: "pg_get_function_arguments",
        call: SysCall::One(|c, a| answer(deparse::function_arguments(c, a[0].as_oid(), true)?)),
    },
    SysFn {
        name: "pg_get_function_identity_arguments",
        call: SysCall::One(|c, a| answer(deparse::function_arguments(c, a[0].as_oid(), false)?)),
    },
    SysFn {
        name: "pg_get_function_result",
        call: SysCall::One(|c, a| answer(deparse::function_result(c, a[0].as_oid())?)),
    },
    SysFn {
        name: "pg_get_function_arg_default",
        call: SysCall::One(|c, a| {
            answer(deparse::function_default(c, a[0].as_oid(), a[1].as_i32())?)
        }),
    },
    SysFn {
        name: "pg_get_function_sqlbody",
        call: SysCall::One(|c, a| answer(deparse::function_body(c, a[0].as_oid())?)),
    },
    SysFn {
        name: "pg_get_partkeydef",
        call: SysCall::One(|c, a| answer(deparse::partition_key(c, a[0].as_oid())?)),
    },
    SysFn {
        name: "pg_get_partition_constraintdef",
        call: SysCall::One(|c, a| answer(deparse::partition_constraint(c, a[0].as_oid())?)),
    },
    SysFn {
        name: "pg_get_statisticsobjdef",
        call: SysCall::One(|c, a| answer(deparse::statistics_def(c, a[0].as_oid(), false)?)),
    },
    SysFn {
        name: "pg_get_statisticsobjdef_columns",
        call: SysCall::One(|c, a| answer(deparse::statistics_def(c, a[0].as_oid(), true)?)),
    },
    SysFn { name: "pg_get_serial_sequence", call: SysCall::One(serial_sequence) },
    SysFn { name: "pg_get_keywords", call: SysCall::Set(|_, _| Ok(keywords())) },
];

/// `pg_get_serial_sequence`: the sequence that belongs to a serial or identity column.
fn serial_sequence(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let relation = relation_named(core, &text(args[0]))?;
    let column = text(args[1]);
    let desc = core.catalog().relation(relation)?;
    let Some(number) = desc.column(&column).map(|a| a.attnum) else {
        return Err(pg_err!(
            UNDEFINED_COLUMN,
            "column \"{column}\" of relation \"{}\" does not exist",
            desc.name()
        ));
    };
    let keys = [PgClass::RELATION.into(), relation.into(), i32::from(number).into()];
    let rows = core.catalog().scan(indexes::PG_DEPEND_REFERENCE_INDEX, &keys)?;
    for row in rows {
        if row.classid != PgClass::RELATION
            || row.objsubid != 0
            || !matches!(row.deptype, DepType::Auto | DepType::Internal)
        {
            continue;
        }
        let mut cat = core.catalog();
        let Some(class) = cat.find_class(row.objid)? else { continue };
        if class.relkind != RelKind::Sequence {
            continue;
        }
        let schema = cat.namespace_name(class.relnamespace)?.unwrap_or_default();
        let quote = catalog::format_type::quote_identifier;
        let name = format!("{}.{}", quote(schema.as_str()), quote(class.relname.as_str()));
        return Ok(Datum::text(&name));
    }
    Ok(Datum::Null)
}

/// `pg_get_keywords`. A `"char"` value is a word with its byte.
fn keywords() -> Vec<Vec<Datum>> {
    use parse::keywords::Category;
    parse::keywords::all()
        .map(|(word, category, bare)| {
            let (code, what) = match category {
                Category::Unreserved => (b'U', "unreserved"),
                Category::ColName => (b'C', "unreserved (cannot be function or type name)"),
                Category::TypeFuncName => (b'T', "reserved (can be function or type name)"),
                Category::Reserved => (b'R', "reserved"),
            };
            vec![
                Datum::text(word),
                Datum::Word(u64::from(code)),
                Datum::bool(bare),
                Datum::text(what),
                Datum::text(if bare { "can be bare label" } else { "requires AS" }),
            ]
        })
        .collect()
}
