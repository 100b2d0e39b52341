//! Sub-selects in expressions, and the sources of multiple assignment. Counterpart:
//! parser/parse_expr.c (`transformSubLink`, `transformMultiAssignRef`).

use crate::expr::op_name;
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use ids::Oid;
use parse::ast::{self, Node};
use pgerror::{Result, bail, pg_err};
use plan::expr::{
    CoercionForm, Expr, Location, Param, ParamKind, RowExpr, SubLink, SubLinkKind, TargetEntry,
};
use plan::query::{CmdType, Query};
use stdx::Nested;

impl ExprKind {
    /// The clause's name for the message "cannot use subquery in …"; `None` if it allows
    /// sub-selects.
    fn no_subquery(self) -> Option<&'static str> {
        Some(match self {
            ExprKind::CheckConstraint | ExprKind::DomainCheck => "check constraint",
            ExprKind::ColumnDefault | ExprKind::FunctionDefault => "DEFAULT expression",
            ExprKind::IndexExpression => "index expression",
            ExprKind::IndexPredicate => "index predicate",
            ExprKind::StatsExpression => "statistics expression",
            ExprKind::AlterColTransform => "transform expression",
            ExprKind::ExecuteParameter => "EXECUTE parameter",
            ExprKind::TriggerWhen => "trigger WHEN condition",
            ExprKind::PartitionBound => "partition bound",
            ExprKind::PartitionExpression => "partition key expression",
            ExprKind::CallArgument => "CALL argument",
            ExprKind::CopyWhere => "COPY FROM WHERE condition",
            ExprKind::GeneratedColumn => "column generation expression",
            _ => return Option::None,
        })
    }
}

impl Analyzer<'_> {
    /// Analyses a sub-select in an expression. Counterpart: `transformSubLink`.
    pub fn sub_link(&mut self, n: &ast::SubLink) -> Result<Expr> {
        if let Some(clause) = self.kind().no_subquery() {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "cannot use subquery in {clause}");
            return Err(self.at(e, n.location));
        }
        self.level().has_sub_links = true;
        let query = self.nested(|cx| cx.statement(&n.subselect))?;
        if query.command_type != CmdType::Select {
            bail!(INTERNAL_ERROR, "unexpected non-SELECT command in SubLink");
        }
        let kind = match n.sub_link_type {
            ast::SubLinkType::Exists => SubLinkKind::Exists,
            ast::SubLinkType::All => SubLinkKind::All,
            ast::SubLinkType::Any => SubLinkKind::Any,
            ast::SubLinkType::RowCompare => SubLinkKind::RowCompare,
            ast::SubLinkType::Expr => SubLinkKind::Expr,
            ast::SubLinkType::MultiExpr => SubLinkKind::MultiExpr,
            ast::SubLinkType::Array => SubLinkKind::Array,
            ast::SubLinkType::Cte => SubLinkKind::Cte,
        };
        let mut link = SubLink {
            kind,
            id: 0,
            testexpr: None,
            oper_name: Vec::new(),
            subselect: Nested::new(query),
            array_type: Oid::INVALID,
            location: Location(n.location),
        };
        match kind {
            SubLinkKind::Exists | SubLinkKind::MultiExpr | SubLinkKind::Cte => {}
            SubLinkKind::Expr | SubLinkKind::Array => {
                if link.subselect.result_columns().count() != 1 {
                    let e = pg_err!(SYNTAX_ERROR, "subquery must return only one column");
                    return Err(self.at(e, n.location));
                }
                if kind == SubLinkKind::Array {
                    link.array_type = self.array_of_subquery(&link.subselect, n.location)?;
                }
            }
            SubLinkKind::All | SubLinkKind::Any | SubLinkKind::RowCompare => {
                let Some(test) = &n.testexpr else {
                    bail!(INTERNAL_ERROR, "comparison with a sub-select without a left side")
                };
                let left = match self.expr(test)? {
                    Expr::Row(row) => row.args,
                    other => vec![other],
                };
                let right: Vec<Expr> = link
                    .subselect
                    .result_columns()
                    .map(|t| {
                        Expr::Param(Param {
                            paramkind: ParamKind::Sublink,
                            paramid: i32::from(t.resno),
                            paramtype: t.expr.type_oid(),
                            paramtypmod: t.expr.typmod(),
                            paramcollid: t.expr.collation(),
                            location: Location::UNKNOWN,
                        })
                    })
                    .collect();
                if left.len() != right.len() {
                    let many = if left.len() < right.len() { "many" } else { "few" };
                    let e = pg_err!(SYNTAX_ERROR, "subquery has too {many} columns");
                    return Err(self.at(e, n.location));
                }
                let names = if n.oper_name.is_empty() { op_name("=") } else { n.oper_name.clone() };
                link.oper_name = names.iter().map(|o| o.to_string()).collect();
                link.testexpr = Some(self.row_comparison(&names, left, right, n.location)?);
            }
        }
        Ok(Expr::SubLink(Box::new(link)))
    }

    /// The type of `ARRAY(SELECT …)`. For a column of an array type it is the same array type.
    fn array_of_subquery(&mut self, query: &Query, location: i32) -> Result<Oid> {
        let element = query.target_list[0].expr.type_oid();
        let array = self.array_type(element)?;
        if !array.is_valid() {
            if self.element_type(element)?.is_valid() {
                return Ok(element);
            }
            let name = self.format_type(element);
            let e = pg_err!(UNDEFINED_OBJECT, "could not find array type for data type {name}");
            return Err(self.at(e, location));
        }
        Ok(array)
    }

    /// One column of `SET (a, b) = …`.
    pub fn multi_assign_ref(&mut self, n: &ast::MultiAssignRef) -> Result<Expr> {
        if n.colno == 1 {
            match &n.source {
                Node::SubLink(link) if link.sub_link_type == ast::SubLinkType::Expr => {
                    let mut raw = link.clone();
                    raw.sub_link_type = ast::SubLinkType::MultiExpr;
                    let Expr::SubLink(mut link) = self.sub_link(&raw)? else {
                        bail!(INTERNAL_ERROR, "sub-select analysis returned no SubLink")
                    };
                    if link.subselect.result_columns().count() != n.ncolumns as usize {
                        let e = pg_err!(
                            SYNTAX_ERROR,
                            "number of columns does not match number of values"
                        );
                        return Err(self.at(e, raw.location));
                    }
                    link.id = self
                        .level_ref()
                        .multiassigns
                        .iter()
                        .filter(|t| matches!(t.expr, Expr::SubLink(_)))
                        .count() as i32
                        + 1;
                    let entry = junk_entry(Expr::SubLink(link));
                    self.level().multiassigns.push(entry);
                }
                Node::RowExpr(row) => {
                    let args = self.expression_list(&row.args, self.kind(), true)?;
                    if args.len() != n.ncolumns as usize {
                        let e = pg_err!(
                            SYNTAX_ERROR,
                            "number of columns does not match number of values"
                        );
                        return Err(self.at(e, row.location));
                    }
                    let entry = junk_entry(Expr::Row(Box::new(RowExpr {
                        args,
                        row_typeid: ty::RECORD,
                        row_format: CoercionForm::ImplicitCast,
                        colnames: Vec::new(),
                        location: Location(row.location),
                    })));
                    self.level().multiassigns.push(entry);
                }
                other => {
                    let location = match other {
                        Node::ColumnRef(c) => c.location,
                        Node::AConst(c) => c.location,
                        Node::FuncCall(c) => c.location,
                        _ => -1,
                    };
                    let e = pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() \
                         expression"
                    );
                    return Err(self.at(e, location));
                }
            }
        }
        let Some(entry) = self.level_ref().multiassigns.last() else {
            bail!(INTERNAL_ERROR, "multiple assignment without a source")
        };
        match &entry.expr {
            Expr::SubLink(link) => {
                let Some(column) = link.subselect.result_columns().nth(n.colno as usize - 1) else {
                    bail!(INTERNAL_ERROR, "multiple assignment beyond its source")
                };
                Ok(Expr::Param(Param {
                    paramkind: ParamKind::MultiExpr,
                    paramid: (link.id << 16) | n.colno,
                    paramtype: column.expr.type_oid(),
                    paramtypmod: column.expr.typmod(),
                    paramcollid: column.expr.collation(),
                    location: column.expr.location(),
                }))
            }
            Expr::Row(row) => {
                let e = row.args[n.colno as usize - 1].clone();
                // The targets have the elements of the row; the row itself is no longer needed.
                if n.colno == n.ncolumns {
                    self.level().multiassigns.pop();
                }
                Ok(e)
            }
            _ => bail!(INTERNAL_ERROR, "unexpected source of multiple assignment"),
        }
    }
}

fn junk_entry(expr: Expr) -> TargetEntry {
    TargetEntry {
        expr,
        resno: 0,
        resname: None,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: true,
    }
}
