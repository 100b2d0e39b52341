//! Expressions and queries stored in catalogs as `pg_node_tree`.

use pgerror::Result;
use plan::expr::Expr;

/// A list of expressions, as in `pg_proc.proargdefaults`.
pub fn expr_list(text: &str) -> Result<Vec<Expr>> {
    let _ = text;
    Err(pgerror::PgError::unsupported("default arguments of functions"))
}
