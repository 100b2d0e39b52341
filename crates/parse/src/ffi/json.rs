//! The SQL/JSON functions. In the newer grammar their names are keywords with a syntax of their
//! own; in PostgreSQL 15 they are ordinary function names, and the other parts of the syntax are
//! syntax errors at their first word.

use super::convert::{ConversionState, Convert, level_bytes};
use super::nodes::unexpected;
use crate::ast::{CoercionForm, FuncCall, Node};
use pg_raw_parse::list::NodeList;
use pg_raw_parse::{Node as RNode, nodes, raw};
use pgerror::Result;

/// Words of the newer syntax that may follow an argument of these functions.
const CLAUSES: &[&str] =
    &["absent", "as", "columns", "error", "format", "keep", "omit", "passing", "returning", "with"];

/// The node as an ordinary function call.
struct Call<'a> {
    name: &'static str,
    args: Vec<RNode<'a>>,
    location: i32,
    /// The call has arguments only, and no clauses of the newer syntax.
    plain: bool,
}

/// The argument, and whether no clause follows it.
fn value(v: Option<&nodes::JsonValueExpr>) -> Option<(RNode<'_>, bool)> {
    let v = v?;
    Some((v.raw_expr(), v.format().is_none_or(|f| f.location < 0)))
}

fn of_values<'a>(
    name: &'static str,
    location: i32,
    values: impl Iterator<Item = Option<(RNode<'a>, bool)>>,
    mut plain: bool,
) -> Call<'a> {
    let mut args = Vec::new();
    for (arg, alone) in values.flatten() {
        args.push(arg);
        plain &= alone;
    }
    Call { name, args, location, plain }
}

fn function(r: &nodes::JsonFuncExpr) -> Call<'_> {
    let name = match r.op {
        raw::JsonExprOp::JSON_EXISTS_OP => "json_exists",
        raw::JsonExprOp::JSON_QUERY_OP => "json_query",
        _ => "json_value",
    };
    let has_behavior = r.on_empty().is_some() || r.on_error().is_some();
    let has_format =
        r.wrapper != raw::JsonWrapper::JSW_UNSPEC || r.quotes != raw::JsonQuotes::JS_QUOTES_UNSPEC;
    let plain = r.passing().is_empty() && r.output().is_none() && !has_behavior && !has_format;
    let values = [value(r.context_item()), Some((r.pathspec(), true))];
    of_values(name, r.location, values.into_iter(), plain)
}

fn call<'a>(node: RNode<'a>, cx: &mut ConversionState) -> Result<Option<Call<'a>>> {
    Ok(Some(match node {
        RNode::JsonParseExpr(r) => {
            let plain = r.output().is_none() && !r.unique_keys;
            of_values("json", r.location, [value(r.expr())].into_iter(), plain)
        }
        RNode::JsonScalarExpr(r) => {
            let values = [Some((r.expr(), true))].into_iter();
            of_values("json_scalar", r.location, values, r.output().is_none())
        }
        RNode::JsonSerializeExpr(r) => {
            let values = [value(r.expr())].into_iter();
            of_values("json_serialize", r.location, values, r.output().is_none())
        }
        RNode::JsonFuncExpr(r) => function(r),
        RNode::JsonArrayConstructor(r) => {
            let values = super::untyped(r.exprs()).iter().map(|v| match v {
                RNode::JsonValueExpr(v) => value(Some(v)),
                other => Some((other, true)),
            });
            of_values("json_array", r.location, values, r.output().is_none())
        }
        RNode::JsonObjectConstructor(r) if super::untyped(r.exprs()).is_empty() => {
            of_values("json_object", r.location, [].into_iter(), r.output().is_none())
        }
        RNode::JsonObjectConstructor(r) => {
            cx.newer.in_call(r.location, &[":", "value"]);
            return Ok(None);
        }
        RNode::JsonArrayQueryConstructor(r) => {
            cx.newer.in_call(r.location, &["select", "values", "with", "table", "("]);
            return Ok(None);
        }
        RNode::JsonObjectAgg(r) => {
            let at = r.constructor().map_or(-1, |c| c.location);
            cx.newer.in_call(at, &[":", "value"]);
            return Ok(None);
        }
        RNode::JsonTable(r) => {
            cx.newer.in_call(r.location, CLAUSES);
            return Ok(None);
        }
        RNode::JsonIsPredicate(r) => {
            cx.newer.is_json(r.location);
            return Ok(None);
        }
        _ => return Err(unexpected("a function of SQL/JSON")),
    }))
}

/// Converts `json_value(a, b)` and similar nodes to calls of functions of these names.
pub(super) fn convert(node: RNode<'_>, cx: &mut ConversionState) -> Result<Node> {
    const BYTES: u32 = level_bytes("FuncCall");
    cx.enter(BYTES)?;
    let call = match node {
        RNode::JsonArrayAgg(r) => aggregate(r, cx)?,
        node => match call(node, cx)? {
            Some(call) => converted(call, cx)?,
            // The statement is refused, so the node is not used.
            None => FuncCall::default(),
        },
    };
    cx.leave(BYTES);
    Ok(Node::FuncCall(Box::new(call)))
}

fn converted(call: Call<'_>, cx: &mut ConversionState) -> Result<FuncCall> {
    if !call.plain {
        cx.newer.in_call(call.location, CLAUSES);
    }
    let mut args = Vec::with_capacity(call.args.len());
    for arg in call.args {
        args.push(arg.convert(cx)?);
    }
    let (name, location) = (call.name.into(), call.location);
    let funcformat = CoercionForm::ExplicitCall;
    Ok(FuncCall { funcname: vec![name], args, location, funcformat, ..FuncCall::default() })
}

fn aggregate(r: &nodes::JsonArrayAgg, cx: &mut ConversionState) -> Result<FuncCall> {
    let c = r.constructor().ok_or_else(|| unexpected("an aggregate of SQL/JSON"))?;
    let values = [value(r.arg())].into_iter();
    let call = of_values("json_arrayagg", c.location, values, c.output().is_none());
    let order: &NodeList = c.agg_order();
    Ok(FuncCall {
        agg_order: order.convert(cx)?,
        agg_filter: c.agg_filter().convert(cx)?,
        over: c.over().convert(cx)?,
        ..converted(call, cx)?
    })
}
