//! Parts of plans, and the values of the models with which their rows are compared.

use ids::{AttrNo, Oid};
use plan::expr::{Const, Expr, FuncExpr, Location, OpExpr, Param, ParamKind, TargetEntry, Var};
use plan::node::{GroupKeys, Plan, PlanInfo, PlanNode, SortKeys};
use types::{Datum, oids};

pub(super) const INT4: Oid = oids::INT4;
pub(super) const INT8: Oid = oids::INT8;
pub(super) const TEXT: Oid = oids::TEXT;
/// The default collation, which compares bytes in these tests.
pub(super) const COLLATION: Oid = Oid(100);

pub(super) const INT4_EQ: Oid = Oid(96);
pub(super) const INT4_LT: Oid = Oid(97);
pub(super) const INT4_GT: Oid = Oid(521);
pub(super) const INT4_PLUS: Oid = Oid(551);
pub(super) const INT4_DIV: Oid = Oid(528);
pub(super) const TEXT_EQ: Oid = Oid(98);
pub(super) const TEXT_LT: Oid = Oid(664);
pub(super) const TEXT_GT: Oid = Oid(666);

/// A value; NULL is the greatest one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum V {
    Int(i64),
    Text(String),
    Null,
    /// In a source: the value of an exec parameter of type int4.
    Param(i32),
}

pub(super) type Row = Vec<V>;

impl V {
    pub(super) fn expr(&self, ty: Oid) -> Expr {
        match self {
            V::Param(id) => param(*id),
            v => constant(ty, v.datum(ty)),
        }
    }

    pub(super) fn datum(&self, ty: Oid) -> Datum {
        match (self, ty) {
            (V::Int(v), oids::INT4) => Datum::int4(*v as i32),
            (V::Int(v), _) => Datum::int8(*v),
            (V::Text(v), _) => Datum::text(v),
            (V::Null | V::Param(_), _) => Datum::Null,
        }
    }

    pub(super) fn int(&self) -> Option<i64> {
        if let V::Int(v) = self { Some(*v) } else { None }
    }
}

pub(super) fn text(v: &str) -> V {
    V::Text(v.to_string())
}

fn collation(ty: Oid) -> Oid {
    if ty == TEXT { COLLATION } else { Oid::INVALID }
}

pub(super) fn constant(ty: Oid, value: Datum) -> Expr {
    Expr::Const(Const {
        consttype: ty,
        consttypmod: -1,
        constcollid: collation(ty),
        constlen: if ty == TEXT { -1 } else { 4 },
        constbyval: ty != TEXT,
        value,
        location: Location::UNKNOWN,
    })
}

pub(super) fn int(value: i32) -> Expr {
    constant(INT4, Datum::int4(value))
}

/// An exec parameter of type int4.
pub(super) fn param(paramid: i32) -> Expr {
    Expr::Param(Param {
        paramkind: ParamKind::Exec,
        paramid,
        paramtype: INT4,
        paramtypmod: -1,
        paramcollid: Oid::INVALID,
        location: Location::UNKNOWN,
    })
}

/// Column `column` (from 1) of a child's or a scan's rows.
pub(super) fn var(varno: i32, column: usize, ty: Oid) -> Expr {
    Expr::Var(Var {
        varno,
        varattno: column as AttrNo,
        vartype: ty,
        vartypmod: -1,
        varcollid: collation(ty),
        varlevelsup: 0,
        location: Location::UNKNOWN,
    })
}

pub(super) fn outer(column: usize, ty: Oid) -> Expr {
    var(Var::OUTER, column, ty)
}

pub(super) fn inner(column: usize, ty: Oid) -> Expr {
    var(Var::INNER, column, ty)
}

pub(super) fn operator(opno: Oid, result: Oid, left: Expr, right: Expr) -> Expr {
    let inputcollid = collation(left.type_oid());
    Expr::OpExpr(Box::new(OpExpr {
        opno,
        opfuncid: Oid::INVALID,
        opresulttype: result,
        opretset: false,
        opcollid: Oid::INVALID,
        inputcollid,
        args: vec![left, right],
        location: Location::UNKNOWN,
    }))
}

pub(super) fn is(opno: Oid, left: Expr, right: Expr) -> Expr {
    operator(opno, oids::BOOL, left, right)
}

pub(super) fn call(funcid: Oid, result: Oid, is_set: bool, args: Vec<Expr>) -> Expr {
    Expr::FuncExpr(Box::new(FuncExpr {
        funcid,
        funcresulttype: result,
        funcretset: is_set,
        funcvariadic: false,
        funcformat: Default::default(),
        funccollid: collation(result),
        inputcollid: COLLATION,
        args,
        location: Location::UNKNOWN,
    }))
}

pub(super) fn targets(exprs: Vec<Expr>) -> Vec<TargetEntry> {
    let entry = |(i, expr)| TargetEntry {
        expr,
        resno: i as AttrNo + 1,
        resname: None,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: false,
    };
    exprs.into_iter().enumerate().map(entry).collect()
}

/// The columns of a scan.
pub(super) fn scan_targets(scanrelid: i32, types: &[Oid]) -> Vec<TargetEntry> {
    targets(types.iter().enumerate().map(|(i, t)| var(scanrelid, i + 1, *t)).collect())
}

/// A node with these outputs and conditions.
pub(super) fn node(node: PlanNode, outputs: Vec<Expr>, qual: Vec<Expr>) -> Plan {
    Plan { info: PlanInfo { target_list: targets(outputs), qual, ..PlanInfo::default() }, node }
}

/// A node with the columns of its only or first child.
pub(super) fn passing(inner: PlanNode) -> Plan {
    let plan = Plan { info: PlanInfo::default(), node: inner };
    let types = types_of(plan.children()[0]);
    let outputs = types.iter().enumerate().map(|(i, t)| outer(i + 1, *t)).collect();
    node(plan.node, outputs, Vec::new())
}

pub(super) fn types_of(plan: &Plan) -> Vec<Oid> {
    plan.info.target_list.iter().map(|t| t.expr.type_oid()).collect()
}

fn equality(ty: Oid) -> Oid {
    if ty == TEXT { TEXT_EQ } else { INT4_EQ }
}

/// Grouping by these columns (from 1).
pub(super) fn group_keys(columns: &[(usize, Oid)]) -> GroupKeys {
    GroupKeys {
        cols: columns.iter().map(|c| c.0 as AttrNo).collect(),
        eq_operators: columns.iter().map(|c| equality(c.1)).collect(),
        collations: columns.iter().map(|c| collation(c.1)).collect(),
    }
}

/// A sort column: its number (from 1) and type.
#[derive(Clone, Copy)]
pub(super) struct By {
    pub column: usize,
    pub ty: Oid,
    pub descending: bool,
    pub nulls_first: bool,
}

pub(super) fn by(column: usize, ty: Oid) -> By {
    By { column, ty, descending: false, nulls_first: false }
}

pub(super) fn sort_keys(columns: &[By]) -> SortKeys {
    let operator = |b: &By| match (b.ty, b.descending) {
        (TEXT, false) => TEXT_LT,
        (TEXT, true) => TEXT_GT,
        (_, false) => INT4_LT,
        (_, true) => INT4_GT,
    };
    SortKeys {
        cols: columns.iter().map(|b| b.column as AttrNo).collect(),
        operators: columns.iter().map(operator).collect(),
        collations: columns.iter().map(|b| collation(b.ty)).collect(),
        nulls_first: columns.iter().map(|b| b.nulls_first).collect(),
    }
}

/// Sorts rows as described by [`sort_keys`]; equal rows keep their input order.
pub(super) fn sorted(rows: &[Row], columns: &[By]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| {
        let orders = columns.iter().map(|by| {
            let (x, y) = (&a[by.column - 1], &b[by.column - 1]);
            let nulls = (*x == V::Null).cmp(&(*y == V::Null));
            let nulls = if by.nulls_first { nulls.reverse() } else { nulls };
            nulls.then(if by.descending { y.cmp(x) } else { x.cmp(y) })
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    rows
}
