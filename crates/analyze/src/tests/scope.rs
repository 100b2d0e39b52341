//! Named parameters and columns of the same name.

use super::host;
use crate::session::SessionLookup;
use crate::{NameConflict, ParamScope, Variable, analyze_in_scope};
use ids::Oid;
use pgerror::Result;
use plan::expr::Expr;
use types::oids;

/// The variable `relname` of type integer, also as `block.relname`.
#[derive(Debug)]
struct Block(NameConflict);

impl ParamScope for Block {
    fn numbered(&self, number: i32) -> Option<Oid> {
        (number == 1).then_some(oids::INT4)
    }

    fn named(&self, names: &[&str]) -> Result<Option<Variable>> {
        let names = match names {
            ["block", "relname", ..] => 2,
            ["relname", ..] => 1,
            _ => return Ok(None),
        };
        Ok(Some(Variable { number: 1, ty: oids::INT4, typmod: -1, collation: Oid::INVALID, names }))
    }

    fn conflict(&self) -> NameConflict {
        self.0
    }
}

/// The kinds of the result columns, or the error.
fn columns(conflict: NameConflict, sql: &str) -> String {
    let mut host = host();
    let stmts = parse::parse(sql).unwrap();
    let scope = Block(conflict);
    match analyze_in_scope(&mut SessionLookup::new(&mut host), &stmts[0].stmt, sql, &scope) {
        Ok(query) => {
            let kind = |e: &Expr| match e {
                Expr::Param(_) => "variable",
                Expr::Var(_) => "column",
                _ => "other",
            };
            query.result_columns().map(|t| kind(&t.expr)).collect::<Vec<_>>().join(" ")
        }
        Err(e) => {
            let fields = e.fields();
            let (location, detail) = (fields.position.unwrap_or(0), fields.detail.as_deref());
            format!("{} {} @{location} {}", e.code(), e.message(), detail.unwrap_or_default())
        }
    }
}

#[test]
fn the_rule_for_conflicts_decides_between_columns_and_variables() {
    let sql = "SELECT relname, oid, block.relname, $1 FROM pg_class";
    let use_column = "column column variable variable";
    assert_eq!(columns(NameConflict::UseColumn, sql), use_column);
    let use_variable = "variable column variable variable";
    assert_eq!(columns(NameConflict::UseVariable, sql), use_variable);
    assert_eq!(
        columns(NameConflict::Error, sql),
        "42702 column reference \"relname\" is ambiguous @8 It could refer to either a variable or \
         a table column."
    );
}

#[test]
fn names_without_a_conflict_need_no_rule() {
    for conflict in [NameConflict::Error, NameConflict::UseVariable, NameConflict::UseColumn] {
        let sql = "SELECT relname, block.relname, c.oid FROM (SELECT oid FROM pg_class) c";
        assert_eq!(columns(conflict, sql), "variable variable column");
        let sql = "SELECT c.relname FROM pg_class c";
        assert_eq!(columns(conflict, sql), "column");
        let sql = "SELECT nothing FROM pg_class";
        assert!(columns(conflict, sql).starts_with("42703"));
    }
}
