//! Evaluation of less frequent nodes: row and array values, conversions, domains, sub-selects.
//! Counterpart: execExprInterp.c.

use crate::arrays::{self, SubscriptParts};
use crate::elements::Elements;
use crate::host::{CallContext, Host};
use crate::program::{Call, DomainNames, DomainTest, Elem, EvalState, IoCall, Node, RowPair};
use crate::row::{RowInput, Val, eval, invoke, owned};
use crate::rows;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{RowCompareKind, SqlValueKind};
use types::fn_context::InterruptTicker;
use types::{Datum, DatumRef, builtin, oids};

pub(crate) fn eval_infrequent<'a>(
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    match node {
        Node::CoerceIo { arg, output, input: parse, .. } => {
            let v = eval(arg, st, host, input)?;
            through_text(v.as_ref(), output, parse, st, host)
        }
        Node::ScalarArray { call, use_or, elements: Some(elements), .. } => {
            constant_array(call, *use_or, elements, st, host, input)
        }
        Node::ScalarArray { call, use_or, elem, elements: None } => {
            scalar_array(call, *use_or, *elem, st, host, input)
        }
        Node::RowCompare { kind, pairs } => row_compare(*kind, pairs, st, host, input),
        Node::Domain { arg, named, tests } => {
            let v = eval(arg, st, host, input)?.into_owned();
            check_domain(&v, named, tests, st, host, input)?;
            Ok(Val::Own(v))
        }
        Node::SqlValue { kind, type_oid, typmod } => {
            sql_value(*kind, *type_oid, *typmod, host).map(Val::Own)
        }
        Node::SubPlan { plan, args, test, outer } => {
            for (param, arg) in args {
                let v = eval(arg, st, host, input)?.into_owned();
                host.set_exec_param(*param, v);
            }
            let mut keys = Vec::with_capacity(outer.len());
            for o in outer {
                keys.push(eval(o, st, host, input)?.into_owned());
            }
            let mut run_test = |host: &mut dyn Host| -> Result<Datum> {
                match test {
                    Some(test) => Ok(eval(test, st, host, input)?.into_owned()),
                    None => Err(PgError::internal("sub-select without a test expression")),
                }
            };
            host.subplan(plan, &keys, &mut run_test).map(Val::Own)
        }
        Node::NextValue { sequence, type_oid } => {
            let v = host.next_value(*sequence)?;
            Ok(Val::Own(match *type_oid {
                oids::INT2 => {
                    Datum::int2(i16::try_from(v).map_err(|_| {
                        pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "smallint out of range")
                    })?)
                }
                oids::INT4 => Datum::int4(
                    i32::try_from(v)
                        .map_err(|_| pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"))?,
                ),
                _ => Datum::int8(v),
            }))
        }
        Node::Array { elements, elem, multidims } => {
            arrays::construct(elements, *elem, *multidims, st, host, input)
        }
        Node::Subscript { container, upper, lower, elem, array_len, usage } => {
            let parts = SubscriptParts {
                container,
                upper,
                lower,
                elem: *elem,
                array_len: *array_len,
                usage,
            };
            parts.eval(st, host, input)
        }
        Node::JsonbSubscript(subscript) => arrays::jsonb_subscript(subscript, st, host, input),
        Node::HstoreSubscript(subscript) => arrays::hstore_subscript(subscript, st, host, input),
        Node::ArrayCoerce { arg, elem_expr, from, to } => {
            arrays::coerce(arg, elem_expr, *from, *to, st, host, input)
        }
        Node::WholeRow { slots, desc, type_oid } => {
            rows::whole_row(slots, desc, *type_oid, host, input)
        }
        Node::Row { args, desc, type_oid } => {
            rows::construct(args, desc, *type_oid, st, host, input)
        }
        Node::FieldSelect { arg, field, result_type } => {
            let row = eval(arg, st, host, input)?;
            rows::select_field(host, row.as_ref(), *field, *result_type).map(Val::Own)
        }
        Node::FieldStore { arg, fields, row_type } => {
            rows::store_fields(arg, fields, *row_type, st, host, input)
        }
        Node::ConvertRow { arg, result_type } => {
            let row = eval(arg, st, host, input)?;
            rows::convert(host, row.as_ref(), *result_type).map(Val::Own)
        }
        _ => Err(PgError::internal("expression node in the wrong evaluator")),
    }
}

/// Converts a value to another type through its text: output function, then input function.
pub(crate) fn through_text(
    v: DatumRef<'_>,
    output: &IoCall,
    parse: &IoCall,
    st: &mut EvalState,
    host: &mut dyn Host,
) -> Result<Val<'static>> {
    if v.is_null() {
        return Ok(Val::NULL);
    }
    let printed = match output.textual {
        true => None,
        false => Some(call_io(output, st, host, &[v], oids::CSTRING)?),
    };
    match printed {
        Some(text) if parse.textual => Ok(text),
        printed => {
            let text = printed.as_ref().map_or(v, Val::as_ref);
            let (param, typmod) = (Datum::oid(parse.types[1]), Datum::int4(-1));
            let args = [text, param.as_ref(), typmod.as_ref()];
            call_io(parse, st, host, &args, parse.types[1])
        }
    }
}

fn call_io(
    io: &IoCall,
    st: &mut EvalState,
    host: &mut dyn Host,
    args: &[DatumRef<'_>],
    result_type: Oid,
) -> Result<Val<'static>> {
    let mut cx = CallContext {
        host,
        collation: Oid::INVALID,
        arg_types: &io.types,
        result_type,
        variadic_array: false,
        extra: &mut st.extras[io.site],
    };
    if io.strict && args.iter().any(|a| a.is_null()) {
        return Ok(Val::NULL);
    }
    owned((io.f)(&mut cx, args), &cx)
}

/// [`scalar_array`] over a constant array.
fn constant_array<'a>(
    call: &'a Call,
    use_or: bool,
    elements: &Elements,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let scalar = eval(&call.args[0], st, host, input)?;
    if elements.all.is_empty() {
        return Ok(Val::bool(!use_or));
    }
    if scalar.is_null() && call.strict {
        return Ok(Val::NULL);
    }
    if let Some(result) = elements.result(scalar.as_ref(), use_or) {
        return Ok(result.map_or(Val::NULL, Val::bool));
    }
    let mut unknown = false;
    let mut ticker = InterruptTicker::default();
    for item in &elements.all {
        ticker.tick(host)?;
        let hit = if item.is_null() && call.strict {
            Datum::Null
        } else {
            invoke(call, st, host, &[scalar.as_ref(), item.as_ref()])?
        };
        if hit.is_null() {
            unknown = true;
        } else if hit.as_ref().as_bool() == use_or {
            return Ok(Val::bool(use_or));
        }
    }
    Ok(if unknown { Val::NULL } else { Val::bool(!use_or) })
}

fn scalar_array<'a>(
    call: &'a Call,
    use_or: bool,
    elem: Elem,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let scalar = eval(&call.args[0], st, host, input)?;
    let array = eval(&call.args[1], st, host, input)?;
    if array.is_null() {
        return Ok(Val::NULL);
    }
    let items = types::array::ArrayRef::new(array.as_ref())?;
    if items.count() == 0 {
        return Ok(Val::bool(!use_or));
    }
    if scalar.is_null() && call.strict {
        return Ok(Val::NULL);
    }
    let mut unknown = false;
    let mut ticker = InterruptTicker::default();
    for item in items.iter(&elem.info) {
        ticker.tick(host)?;
        if let (Some(words), DatumRef::Word(a), DatumRef::Word(b)) =
            (call.words, scalar.as_ref(), item)
        {
            if (words.test[0])(a, b) == use_or {
                return Ok(Val::bool(use_or));
            }
            continue;
        }
        let hit = if item.is_null() && call.strict {
            Datum::Null
        } else {
            invoke(call, st, host, &[scalar.as_ref(), item])?
        };
        if hit.is_null() {
            unknown = true;
        } else if hit.as_ref().as_bool() == use_or {
            return Ok(Val::bool(use_or));
        }
    }
    Ok(if unknown { Val::NULL } else { Val::bool(!use_or) })
}

fn row_compare<'a>(
    kind: RowCompareKind,
    pairs: &'a [RowPair],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let mut order = std::cmp::Ordering::Equal;
    for pair in pairs {
        let l = eval(&pair.left, st, host, input)?;
        let r = eval(&pair.right, st, host, input)?;
        if l.is_null() || r.is_null() {
            return Ok(Val::NULL);
        }
        order = pair.cmp.order(l.as_ref(), r.as_ref(), pair.collation);
        if order.is_ne() {
            break;
        }
    }
    Ok(Val::bool(match kind {
        RowCompareKind::Lt => order.is_lt(),
        RowCompareKind::Le => order.is_le(),
        RowCompareKind::Eq => order.is_eq(),
        RowCompareKind::Ge => order.is_ge(),
        RowCompareKind::Gt => order.is_gt(),
        RowCompareKind::Ne => order.is_ne(),
    }))
}

fn check_domain<'a>(
    value: &Datum,
    named: &DomainNames,
    tests: &'a [DomainTest],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<()> {
    for test in tests {
        match test {
            DomainTest::NotNull if value.is_null() => {
                return Err(pg_err!(
                    NOT_NULL_VIOLATION,
                    "domain {} does not allow null values",
                    named.shown
                )
                .data_type(&*named.schema, &*named.name));
            }
            DomainTest::NotNull => {}
            DomainTest::Check { name, cond } => {
                st.placeholders.push(value.clone());
                let ok = eval(cond, st, host, input);
                st.placeholders.pop();
                let ok = ok?;
                if !ok.is_null() && !ok.as_ref().as_bool() {
                    return Err(pg_err!(
                        CHECK_VIOLATION,
                        "value for domain {} violates check constraint \"{name}\"",
                        named.shown
                    )
                    .data_type(&*named.schema, &*named.name)
                    .constraint(name.clone()));
                }
            }
        }
    }
    Ok(())
}

/// Evaluates an SQL value function. The time functions are computed from the transaction's start
/// time; the host supplies roles and names.
fn sql_value(kind: SqlValueKind, ty: Oid, typmod: i32, host: &mut dyn Host) -> Result<Datum> {
    let convert = match kind {
        SqlValueKind::CurrentDate => "timestamptz_date",
        SqlValueKind::CurrentTime | SqlValueKind::CurrentTimeN => "timestamptz_timetz",
        SqlValueKind::Localtime | SqlValueKind::LocaltimeN => "timestamptz_time",
        SqlValueKind::Localtimestamp | SqlValueKind::LocaltimestampN => "timestamptz_timestamp",
        SqlValueKind::CurrentTimestamp | SqlValueKind::CurrentTimestampN => "",
        _ => return host.sql_value(kind),
    };
    let now = Datum::int8(host.transaction_timestamp());
    let mut value = now;
    if !convert.is_empty() {
        value = call_named(convert, host, &[value.as_ref()])?;
    }
    if typmod >= 0 {
        let scale = match ty {
            oids::TIMETZ => "timetz_scale",
            oids::TIME => "time_scale",
            oids::TIMESTAMP => "timestamp_scale",
            _ => "timestamptz_scale",
        };
        let typmod = Datum::int4(typmod);
        value = call_named(scale, host, &[value.as_ref(), typmod.as_ref()])?;
    }
    Ok(value)
}

fn call_named(name: &str, host: &mut dyn Host, args: &[DatumRef<'_>]) -> Result<Datum> {
    let f = builtin::scalar(name).ok_or_else(|| PgError::unsupported(name))?;
    let mut extra = None;
    let mut cx = CallContext {
        host,
        collation: Oid::INVALID,
        arg_types: &[],
        result_type: Oid::INVALID,
        variadic_array: false,
        extra: &mut extra,
    };
    f(&mut cx, args)
}
