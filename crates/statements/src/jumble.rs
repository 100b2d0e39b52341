//! Identifiers of queries: a hash of the parts of the analysed tree that PostgreSQL distinguishes.
//! Constants count by their type only.
//!
//! Counterpart: `JumbleQuery` in queryjumble.c.

use crate::normalize::{normalized, trimmed};
use plan::expr::{Expr, ParamKind, TargetEntry};
use plan::query::Identity;
use plan::query::{
    FromExpr, GroupingSet, JoinTreeNode, OnConflictExpr, Query, RangeTblEntry, RteKind, SetOpNode,
    SortGroupClause, TableFunc, WindowClause,
};
use std::sync::Arc;
use values::hash::hash_bytes_extended;

/// The identity of an analysed query, before it is rewritten. `sql` is the source text. With
/// `parameterized`, its parameters are literals of the text.
pub fn identify(query: &Query, sql: &str, parameterized: bool) -> Arc<Identity> {
    let mut jumble = Jumble { parameterized, ..Jumble::default() };
    jumble.query(query);
    let id = hash_bytes_extended(&jumble.bytes, 0) as i64;
    let range = (query.source.location, query.source.len);
    let text = normalized(sql, range, jumble.locations, jumble.param_max);
    // 0 means that there is no identifier.
    let original = trimmed(sql, range).1.into();
    Arc::new(Identity { id: if id == 0 { 1 } else { id }, text: text.into(), original })
}

/// The identity of a utility statement at `location` of the source text. `len` 0: to its end.
pub fn identify_utility(sql: &str, location: i32, len: i32) -> Identity {
    let text = trimmed(sql, (location, len)).1;
    let id = hash_bytes_extended(text.as_bytes(), 0) as i64;
    Identity { id: if id == 0 { 2 } else { id }, text: text.into(), original: text.into() }
}

#[derive(Default)]
struct Jumble {
    bytes: Vec<u8>,
    /// Offsets of the constants.
    locations: Vec<i32>,
    /// The highest number of a parameter.
    param_max: i32,
    parameterized: bool,
}

/// Tags of the nodes that are not variants of `Expr`.
const FROM: u8 = 200;
const JOIN: u8 = 201;
const RANGE: u8 = 202;
const SORT: u8 = 203;
const TARGET: u8 = 204;
const SET_OPERATION: u8 = 205;
const NONE: u8 = 206;
const WHEN: u8 = 207;
const CONST: u8 = 208;

impl Jumble {
    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: impl Into<i64>) {
        self.bytes.extend_from_slice(&number.into().to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    fn query(&mut self, q: &Query) {
        stdx::stack::deep(|| self.query_parts(q));
    }

    fn query_parts(&mut self, q: &Query) {
        self.number(q.command_type as i64);
        for cte in &q.cte_list {
            self.text(&cte.ctename);
            self.number(cte.materialized as i64);
            self.query(&cte.query);
        }
        for entry in &q.rtable {
            self.range_entry(entry);
        }
        self.from(&q.jointree);
        for action in &q.merge_actions {
            self.number(action.matched);
            self.number(action.command_type as i64);
            self.option(action.condition.as_ref());
            self.targets(&action.target_list);
        }
        self.targets(&q.target_list);
        if let Some(conflict) = &q.on_conflict {
            self.conflict(conflict);
        }
        self.targets(&q.returning_list);
        self.sort_clauses(&q.group_clause);
        self.number(q.group_distinct);
        q.grouping_sets.iter().for_each(|set| self.grouping_set(set));
        self.option(q.having_qual.as_ref());
        q.window_clause.iter().for_each(|window| self.window(window));
        self.sort_clauses(&q.distinct_clause);
        self.sort_clauses(&q.sort_clause);
        self.option(q.limit_offset.as_ref());
        self.option(q.limit_count.as_ref());
        self.number(q.limit_option as i64);
        for mark in q.row_marks.iter().filter(|mark| !mark.pushed_down) {
            self.number(mark.rti);
            self.number(mark.strength as i64);
            self.number(mark.wait_policy as i64);
        }
        if let Some(node) = &q.set_operations {
            self.set_operation(node);
        }
    }

    fn range_entry(&mut self, entry: &RangeTblEntry) {
        match &entry.kind {
            RteKind::Relation { relid, tablesample, .. } => {
                self.tag(0);
                self.number(relid.0);
                if let Some(sample) = tablesample {
                    self.number(sample.tsmhandler.0);
                    self.list(&sample.args);
                    self.option(sample.repeatable.as_ref());
                }
                self.number(entry.inh);
            }
            RteKind::Subquery { subquery, .. } => {
                self.tag(1);
                self.query(subquery);
            }
            RteKind::Join { jointype, .. } => {
                self.tag(2);
                self.number(*jointype as i64);
            }
            RteKind::Function { functions, .. } => {
                self.tag(3);
                functions.iter().for_each(|f| self.expr(&f.funcexpr));
            }
            RteKind::Values { values_lists, .. } => {
                self.tag(4);
                values_lists.iter().for_each(|row| self.list(row));
            }
            RteKind::Cte { ctename, ctelevelsup, .. } => {
                self.tag(5);
                self.text(ctename);
                self.number(*ctelevelsup);
            }
            RteKind::NamedTuplestore { enrname, .. } => {
                self.tag(6);
                self.text(enrname);
            }
            RteKind::TableFunc(function) => {
                self.tag(7);
                self.table_function(function);
            }
            RteKind::Result => self.tag(8),
        }
    }

    fn table_function(&mut self, function: &TableFunc) {
        self.expr(&function.docexpr);
        self.expr(&function.rowexpr);
        function.columns.iter().for_each(|column| self.option(column.path.as_ref()));
    }

    fn from(&mut self, from: &FromExpr) {
        self.tag(FROM);
        from.fromlist.iter().for_each(|node| self.join_node(node));
        self.option(from.quals.as_ref());
    }

    fn join_node(&mut self, node: &JoinTreeNode) {
        match node {
            JoinTreeNode::Rtr(rti) => {
                self.tag(RANGE);
                self.number(*rti);
            }
            JoinTreeNode::Join(join) => stdx::stack::deep(|| {
                self.tag(JOIN);
                self.number(join.jointype as i64);
                self.number(join.is_natural);
                self.number(join.rtindex);
                self.join_node(&join.larg);
                self.join_node(&join.rarg);
                self.option(join.quals.as_ref());
            }),
            JoinTreeNode::From(from) => self.from(from),
        }
    }

    fn conflict(&mut self, conflict: &OnConflictExpr) {
        self.number(conflict.action as i64);
        for element in &conflict.arbiter_elems {
            self.number(element.infercollid.0);
            self.number(element.inferopclass.0);
            self.expr(&element.expr);
        }
        self.option(conflict.arbiter_where.as_ref());
        self.targets(&conflict.on_conflict_set);
        self.option(conflict.on_conflict_where.as_ref());
        self.number(conflict.constraint.0);
        self.number(conflict.excl_rel_index);
        self.targets(&conflict.excl_rel_tlist);
    }

    fn targets(&mut self, targets: &[TargetEntry]) {
        for target in targets {
            self.tag(TARGET);
            self.number(target.resno);
            self.number(target.ressortgroupref);
            self.expr(&target.expr);
        }
    }

    fn sort_clauses(&mut self, clauses: &[SortGroupClause]) {
        for clause in clauses {
            self.tag(SORT);
            self.number(clause.tle_sort_group_ref);
            self.number(clause.eqop.0);
            self.number(clause.sortop.0);
            self.number(clause.nulls_first);
        }
    }

    /// The kind of a set does not count, as in PostgreSQL.
    fn grouping_set(&mut self, set: &GroupingSet) {
        self.tag(SORT);
        set.refs.iter().for_each(|r| self.number(*r));
        set.content.iter().for_each(|part| self.grouping_set(part));
    }

    fn window(&mut self, window: &WindowClause) {
        self.number(window.winref);
        self.number(window.frame_options);
        self.sort_clauses(&window.partition_clause);
        self.sort_clauses(&window.order_clause);
        self.option(window.start_offset.as_ref());
        self.option(window.end_offset.as_ref());
    }

    fn set_operation(&mut self, node: &SetOpNode) {
        match node {
            SetOpNode::Leaf(rti) => {
                self.tag(RANGE);
                self.number(*rti);
            }
            SetOpNode::Op(op) => stdx::stack::deep(|| {
                self.tag(SET_OPERATION);
                self.number(op.op as i64);
                self.number(op.all);
                self.set_operation(&op.larg);
                self.set_operation(&op.rarg);
            }),
        }
    }

    fn option(&mut self, e: Option<&Expr>) {
        match e {
            Some(e) => self.expr(e),
            None => self.tag(NONE),
        }
    }

    fn list(&mut self, list: &[Expr]) {
        list.iter().for_each(|e| self.expr(e));
    }

    fn options(&mut self, list: &[Option<Expr>]) {
        list.iter().for_each(|e| self.option(e.as_ref()));
    }

    fn constant(&mut self, ty: ids::Oid, location: i32) {
        self.tag(CONST);
        self.number(ty.0);
        if location >= 0 {
            self.locations.push(location);
        }
    }

    fn expr(&mut self, e: &Expr) {
        stdx::stack::deep(|| self.expr_parts(e));
    }

    fn expr_parts(&mut self, e: &Expr) {
        match e {
            Expr::Const(c) => return self.constant(c.consttype, c.location.0),
            Expr::Param(p) if self.parameterized && p.paramkind == ParamKind::Extern => {
                return self.constant(p.paramtype, p.location.0);
            }
            _ => {}
        }
        self.tag(variant(e));
        match e {
            Expr::Var(v) => {
                self.number(v.varno);
                self.number(v.varattno);
                self.number(v.varlevelsup);
            }
            Expr::Param(p) => {
                self.number(p.paramkind as i64);
                self.number(p.paramid);
                self.number(p.paramtype.0);
                if p.paramkind == ParamKind::Extern {
                    self.param_max = self.param_max.max(p.paramid);
                }
            }
            Expr::Aggref(a) => {
                self.number(a.aggfnoid.0);
                self.list(&a.aggdirectargs);
                self.targets(&a.args);
                self.sort_clauses(&a.aggorder);
                self.sort_clauses(&a.aggdistinct);
                self.option(a.aggfilter.as_ref());
            }
            Expr::GroupingFunc(g) => {
                g.refs.iter().for_each(|r| self.number(*r));
                self.number(g.agglevelsup);
            }
            Expr::WindowFunc(w) => {
                self.number(w.winfnoid.0);
                self.number(w.winref);
                self.list(&w.args);
                self.option(w.aggfilter.as_ref());
            }
            Expr::SubscriptingRef(s) => {
                self.options(&s.refupperindexpr);
                self.options(&s.reflowerindexpr);
                self.expr(&s.refexpr);
                self.option(s.refassgnexpr.as_ref());
            }
            Expr::FuncExpr(f) => {
                self.number(f.funcid.0);
                self.list(&f.args);
            }
            Expr::NamedArg(n) => {
                self.number(n.argnumber);
                self.expr(&n.arg);
            }
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => {
                self.number(o.opno.0);
                self.list(&o.args);
            }
            Expr::ScalarArrayOp(s) => {
                self.number(s.opno.0);
                self.number(s.use_or);
                self.list(&s.args);
            }
            Expr::Bool(b) => {
                self.number(b.boolop as i64);
                self.list(&b.args);
            }
            Expr::SubLink(s) => {
                self.number(s.kind as i64);
                self.number(s.id);
                self.option(s.testexpr.as_ref());
                self.query(&s.subselect);
            }
            other => self.other(other),
        }
    }

    /// The rarer expressions.
    fn other(&mut self, e: &Expr) {
        match e {
            Expr::FieldSelect(f) => {
                self.number(f.fieldnum);
                self.expr(&f.arg);
            }
            Expr::FieldStore(f) => {
                self.expr(&f.arg);
                self.list(&f.newvals);
            }
            Expr::Relabel(r) => self.coercion(r.resulttype, &r.arg),
            Expr::CoerceViaIo(c) => self.coercion(c.resulttype, &c.arg),
            Expr::ArrayCoerce(a) => {
                self.coercion(a.resulttype, &a.arg);
                self.expr(&a.elemexpr);
            }
            Expr::ConvertRowtype(c) => self.coercion(c.resulttype, &c.arg),
            Expr::Collate(c) => self.coercion(c.coll_oid, &c.arg),
            Expr::CoerceToDomain(c) => self.coercion(c.resulttype, &c.arg),
            Expr::Case(c) => {
                self.option(c.arg.as_ref());
                for when in &c.args {
                    self.tag(WHEN);
                    self.expr(&when.expr);
                    self.expr(&when.result);
                }
                self.option(c.defresult.as_ref());
            }
            Expr::CaseTest(c) => self.number(c.typeid.0),
            Expr::Array(a) => self.list(&a.elements),
            Expr::Row(r) => self.list(&r.args),
            Expr::RowCompare(r) => {
                self.number(r.rctype as i64);
                self.list(&r.largs);
                self.list(&r.rargs);
            }
            Expr::Coalesce(c) => self.list(&c.args),
            Expr::MinMax(m) => {
                self.number(m.greatest);
                self.list(&m.args);
            }
            Expr::SqlValue(s) => {
                self.number(s.op as i64);
                self.number(s.typmod);
            }
            Expr::Xml(x) => {
                self.number(x.op as i64);
                self.list(&x.named_args);
                self.list(&x.args);
            }
            Expr::NullTest(n) => {
                self.number(n.is_not);
                self.expr(&n.arg);
            }
            Expr::BooleanTest(b) => {
                self.number(b.booltesttype as i64);
                self.expr(&b.arg);
            }
            Expr::CoerceToDomainValue(c) => self.number(c.typeid.0),
            Expr::SetToDefault(s) => self.number(s.typeid.0),
            Expr::CurrentOf(c) => {
                self.number(c.cvarno);
                self.text(c.cursor_name.as_deref().unwrap_or_default());
                self.number(c.cursor_param);
            }
            Expr::NextValue(n) => {
                self.number(n.seqid.0);
                self.number(n.typeid.0);
            }
            // These have been handled, or are made by the planner.
            _ => {}
        }
    }

    fn coercion(&mut self, to: ids::Oid, arg: &Expr) {
        self.number(to.0);
        self.expr(arg);
    }
}

/// A number for the kind of the expression, which does not change between versions.
fn variant(e: &Expr) -> u8 {
    match e {
        Expr::Var(_) => 1,
        Expr::Const(_) => CONST,
        Expr::Param(_) => 2,
        Expr::Aggref(_) => 3,
        Expr::GroupingFunc(_) => 4,
        Expr::WindowFunc(_) => 5,
        Expr::SubscriptingRef(_) => 6,
        Expr::FuncExpr(_) => 7,
        Expr::NamedArg(_) => 8,
        Expr::OpExpr(_) => 9,
        Expr::Distinct(_) => 10,
        Expr::NullIf(_) => 11,
        Expr::ScalarArrayOp(_) => 12,
        Expr::Bool(_) => 13,
        Expr::SubLink(_) => 14,
        Expr::SubPlan(_) => 15,
        Expr::FieldSelect(_) => 16,
        Expr::FieldStore(_) => 17,
        Expr::Relabel(_) => 18,
        Expr::CoerceViaIo(_) => 19,
        Expr::ArrayCoerce(_) => 20,
        Expr::ConvertRowtype(_) => 21,
        Expr::Collate(_) => 22,
        Expr::Case(_) => 23,
        Expr::CaseTest(_) => 24,
        Expr::Array(_) => 25,
        Expr::Row(_) => 26,
        Expr::RowCompare(_) => 27,
        Expr::Coalesce(_) => 28,
        Expr::MinMax(_) => 29,
        Expr::SqlValue(_) => 30,
        Expr::Xml(_) => 31,
        Expr::NullTest(_) => 32,
        Expr::BooleanTest(_) => 33,
        Expr::CoerceToDomain(_) => 34,
        Expr::CoerceToDomainValue(_) => 35,
        Expr::SetToDefault(_) => 36,
        Expr::CurrentOf(_) => 37,
        Expr::NextValue(_) => 38,
    }
}
