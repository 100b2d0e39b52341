//! Flat tables: functions that may be long, because they contain only one entry per line.
//!
//! A function is a flat table if its body, apart from `use` items, is one `match`, or one array or
//! `vec!`, and the result of each arm, or each element, begins and ends on the same line and is not
//! a block. The table may follow `&`, or be the argument of a call with one argument, as in
//! `Some(match …)`. A pattern may have several lines.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Block, Expr, Item, Stmt, Token};

pub(super) fn is_flat_table(body: &Block) -> bool {
    let mut rest = body.stmts.iter().filter(|s| !matches!(s, Stmt::Item(Item::Use(_))));
    match (rest.next(), rest.next()) {
        (Some(Stmt::Expr(e, None)), None) => is_table(e),
        (Some(Stmt::Macro(m)), None) if m.semi_token.is_none() => is_flat_vec(&m.mac),
        _ => false,
    }
}

fn is_table(expression: &Expr) -> bool {
    match expression {
        Expr::Match(m) => m.arms.iter().all(|arm| is_entry(&arm.body)),
        Expr::Array(a) => a.elems.iter().all(is_entry),
        Expr::Macro(m) => is_flat_vec(&m.mac),
        Expr::Reference(r) => is_table(&r.expr),
        Expr::Call(c) if c.args.len() == 1 => is_table(&c.args[0]),
        _ => false,
    }
}

fn is_flat_vec(mac: &syn::Macro) -> bool {
    let elements = || mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    mac.path.is_ident("vec") && elements().is_ok_and(|e| e.iter().all(is_entry))
}

fn is_entry(expression: &Expr) -> bool {
    !matches!(expression, Expr::Block(_)) && is_on_one_line(expression.span())
}

fn is_on_one_line(span: Span) -> bool {
    span.start().line == span.end().line
}
