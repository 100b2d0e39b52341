//! Writes nodes as text, with the fields in PostgreSQL's order, because it reads them by position.
//! Counterpart: nodes/outfuncs.c.

mod expr;
mod field;
mod partition;
mod xml;

pub use self::partition::{BoundPlaces, write_partition_bound};

use self::expr::WriteNode;
use super::text::escape;
use crate::expr::{CoercionForm, Const, Expr, Location, TargetEntry};
use crate::query::{
    Alias, CommonTableExpr, CteCycle, CteSearch, FromExpr, GroupingSet, GroupingSetKind,
    JoinTreeNode, OnConflictExpr, Query, RangeTblEntry, RteKind, SetOpNode, SortGroupClause,
    TableSample, WindowClause,
};
use ids::{AttrNo, Oid};
use std::fmt::{Display, Write};
use stdx::stack::deep;
use types::Datum;

pub fn write_expr(e: &Expr) -> String {
    let mut w = Writer::default();
    w.put_expr(e);
    w.out
}

pub fn write_exprs(list: &[Expr]) -> String {
    let mut w = Writer::default();
    w.put_list(list, |w, e| w.put_expr(e));
    w.out
}

/// Writes one query: the form in which a function body `RETURN …` is stored.
pub fn write_query(q: &Query) -> String {
    let mut w = Writer::default();
    w.put_query(q);
    w.out
}

pub fn write_queries(list: &[Query]) -> String {
    let mut w = Writer::default();
    w.put_list(list, |w, q| w.put_query(q));
    w.out
}

#[derive(Default)]
struct Writer {
    out: String,
}

impl Writer {
    fn node(&mut self, label: &str, fields: impl FnOnce(&mut Self)) {
        self.out.push('{');
        self.out.push_str(label);
        fields(self);
        self.out.push('}');
    }

    fn name(&mut self, name: &str) {
        self.out.push_str(" :");
        self.out.push_str(name);
        self.out.push(' ');
    }

    fn put(&mut self, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn num(&mut self, name: &str, value: impl Display) {
        self.name(name);
        self.put(value);
    }

    fn bool(&mut self, name: &str, value: bool) {
        self.num(name, value);
    }

    fn location(&mut self, location: Location) {
        self.num("location", location.0);
    }

    fn char(&mut self, name: &str, value: u8) {
        self.name(name);
        if value == 0 {
            self.out.push_str("<>");
        } else {
            escape(&mut self.out, (value as char).encode_utf8(&mut [0; 4]));
        }
    }

    fn string(&mut self, name: &str, value: Option<&str>) {
        self.name(name);
        match value {
            Some(text) => escape(&mut self.out, text),
            None => self.out.push_str("<>"),
        }
    }

    fn put_list<T>(&mut self, list: &[T], f: impl Fn(&mut Self, &T)) {
        if list.is_empty() {
            self.out.push_str("<>");
            return;
        }
        self.out.push('(');
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            f(self, item);
        }
        self.out.push(')');
    }

    fn list<T>(&mut self, name: &str, list: &[T], f: impl Fn(&mut Self, &T)) {
        self.name(name);
        self.put_list(list, f);
    }

    fn exprs(&mut self, name: &str, list: &[Expr]) {
        self.list(name, list, |w, e| w.put_expr(e));
    }

    fn opt_exprs(&mut self, name: &str, list: &[Option<Expr>]) {
        self.list(name, list, |w, e| match e {
            Some(e) => w.put_expr(e),
            None => w.out.push_str("<>"),
        });
    }

    fn put_string(&mut self, text: &str) {
        self.out.push('"');
        if !text.is_empty() {
            escape(&mut self.out, text);
        }
        self.out.push('"');
    }

    fn strings(&mut self, name: &str, list: &[String]) {
        self.list(name, list, |w, s| w.put_string(s));
    }

    fn numbers<T: Display>(&mut self, name: &str, kind: char, list: &[T]) {
        self.name(name);
        if list.is_empty() {
            self.out.push_str("<>");
            return;
        }
        self.out.push('(');
        self.out.push(kind);
        for n in list {
            self.out.push(' ');
            self.put(n);
        }
        self.out.push(')');
    }

    fn oids(&mut self, name: &str, list: &[Oid]) {
        self.numbers(name, 'o', list);
    }

    /// A set of column numbers, each plus 7, in ascending order; the empty set is `(b)`.
    fn columns(&mut self, name: &str, list: &[AttrNo]) {
        let mut all: Vec<AttrNo> = list.iter().map(|n| n + 7).collect();
        all.sort_unstable();
        self.name(name);
        self.out.push_str("(b");
        for n in all {
            self.out.push(' ');
            self.put(n);
        }
        self.out.push(')');
    }

    fn expr(&mut self, name: &str, e: &Expr) {
        self.name(name);
        self.put_expr(e);
    }

    fn opt_expr(&mut self, name: &str, e: Option<&Expr>) {
        self.name(name);
        self.put_opt_expr(e);
    }

    fn put_opt_expr(&mut self, e: Option<&Expr>) {
        match e {
            Some(e) => self.put_expr(e),
            None => self.out.push_str("<>"),
        }
    }

    fn form(&mut self, name: &str, form: CoercionForm) {
        let n = match form {
            CoercionForm::ExplicitCall => 0,
            CoercionForm::ExplicitCast => 1,
            CoercionForm::ImplicitCast => 2,
            CoercionForm::SqlSyntax => 3,
        };
        self.num(name, n);
    }

    /// The fields of a constant.
    fn constant(&mut self, n: &Const) {
        self.num("consttype", n.consttype);
        self.num("consttypmod", n.consttypmod);
        self.num("constcollid", n.constcollid);
        self.num("constlen", n.constlen);
        self.bool("constbyval", n.constbyval);
        self.bool("constisnull", n.value.is_null());
        self.location(n.location);
        self.name("constvalue");
        let (length, bytes): (usize, Vec<u8>) = match &n.value {
            Datum::Null => return self.out.push_str("<>"),
            Datum::Word(word) => (n.constlen.max(0) as usize, word.to_le_bytes().to_vec()),
            Datum::Bytes(b) => {
                let mut all = Vec::with_capacity(b.len() + 4);
                if n.constlen == -1 {
                    // Four-byte varlena header: total length shifted left by 2.
                    let header = ((b.len() + 4) as u32) << 2;
                    all.extend_from_slice(&header.to_le_bytes());
                }
                all.extend_from_slice(b);
                if n.constlen == -2 {
                    all.push(0);
                }
                (all.len(), all)
            }
        };
        self.put(length);
        self.out.push_str(" [ ");
        for b in bytes {
            self.put(b as i8);
            self.out.push(' ');
        }
        self.out.push(']');
    }

    fn put_target(&mut self, t: &TargetEntry) {
        self.node("TARGETENTRY", |w| t.write(w));
    }

    fn targets(&mut self, name: &str, list: &[TargetEntry]) {
        self.list(name, list, |w, t| w.put_target(t));
    }

    fn sort_groups(&mut self, name: &str, list: &[SortGroupClause]) {
        self.list(name, list, |w, c| {
            w.node("SORTGROUPCLAUSE", |w| {
                w.num("tleSortGroupRef", c.tle_sort_group_ref);
                w.num("eqop", c.eqop);
                w.num("sortop", c.sortop);
                w.bool("nulls_first", c.nulls_first);
                w.bool("hashable", c.hashable);
            });
        });
    }

    fn put_expr(&mut self, e: &Expr) {
        deep(|| self.put_expr_node(e));
    }

    fn put_expr_node(&mut self, e: &Expr) {
        macro_rules! write_variants {
            ($($(#[$doc:meta])* $variant:ident($ty:ty) $($label:literal)*,)*) => {
                match e {
                    $(Expr::$variant(n) => self.put_labelled(&[$($label),*], n),)*
                }
            };
        }
        expression_variants!(write_variants)
    }

    /// A node with the first of its labels; a null pointer in place of a node without a label.
    fn put_labelled(&mut self, labels: &[&str], n: &impl WriteNode) {
        match labels.first() {
            Some(label) => self.node(label, |w| n.write(w)),
            None => self.out.push_str("<>"),
        }
    }

    fn alias(&mut self, name: &str, alias: Option<&Alias>) {
        self.name(name);
        match alias {
            None => self.out.push_str("<>"),
            Some(a) => self.node("ALIAS", |w| {
                w.string("aliasname", Some(&a.aliasname));
                w.strings("colnames", &a.colnames);
            }),
        }
    }

    fn put_rte(&mut self, rte: &RangeTblEntry) {
        self.node("RANGETBLENTRY", |w| {
            w.alias("alias", rte.alias.as_ref());
            w.alias("eref", Some(&rte.eref));
            match &rte.kind {
                RteKind::Relation { relid, relkind, rellockmode, tablesample } => {
                    w.num("rtekind", 0);
                    w.num("relid", relid);
                    w.char("relkind", relkind.to_char());
                    w.num("rellockmode", rellockmode);
                    w.name("tablesample");
                    w.put_sample(tablesample.as_deref());
                }
                RteKind::Subquery { subquery, security_barrier, .. } => {
                    w.num("rtekind", 1);
                    w.name("subquery");
                    w.put_query(subquery);
                    w.bool("security_barrier", *security_barrier);
                }
                RteKind::Join {
                    jointype,
                    joinmergedcols,
                    joinaliasvars,
                    joinleftcols,
                    joinrightcols,
                    join_using_alias,
                } => {
                    w.num("rtekind", 2);
                    w.num("jointype", *jointype as i32);
                    w.num("joinmergedcols", joinmergedcols);
                    w.exprs("joinaliasvars", joinaliasvars);
                    w.numbers("joinleftcols", 'i', joinleftcols);
                    w.numbers("joinrightcols", 'i', joinrightcols);
                    w.alias("join_using_alias", join_using_alias.as_ref());
                }
                RteKind::Function { functions, funcordinality } => {
                    w.num("rtekind", 3);
                    w.list("functions", functions, |w, f| {
                        w.node("RANGETBLFUNCTION", |w| {
                            w.expr("funcexpr", &f.funcexpr);
                            w.num("funccolcount", f.funccolcount);
                            w.strings("funccolnames", &f.funccolnames);
                            w.oids("funccoltypes", &f.funccoltypes);
                            w.numbers("funccoltypmods", 'i', &f.funccoltypmods);
                            w.oids("funccolcollations", &f.funccolcollations);
                            w.name("funcparams");
                            w.out.push_str("(b)");
                        });
                    });
                    w.bool("funcordinality", *funcordinality);
                }
                RteKind::Values { values_lists, coltypes, coltypmods, colcollations } => {
                    w.num("rtekind", 5);
                    w.list("values_lists", values_lists, |w, row| {
                        w.put_list(row, |w, e| w.put_expr(e));
                    });
                    w.oids("coltypes", coltypes);
                    w.numbers("coltypmods", 'i', coltypmods);
                    w.oids("colcollations", colcollations);
                }
                RteKind::Cte {
                    ctename,
                    ctelevelsup,
                    self_reference,
                    coltypes,
                    coltypmods,
                    colcollations,
                } => {
                    w.num("rtekind", 6);
                    w.string("ctename", Some(ctename));
                    w.num("ctelevelsup", ctelevelsup);
                    w.bool("self_reference", *self_reference);
                    w.oids("coltypes", coltypes);
                    w.numbers("coltypmods", 'i', coltypmods);
                    w.oids("colcollations", colcollations);
                }
                RteKind::NamedTuplestore { .. } => w.num("rtekind", 7),
                RteKind::TableFunc(t) => {
                    w.num("rtekind", 4);
                    w.name("tablefunc");
                    w.table_func(t);
                }
                RteKind::Result => w.num("rtekind", 8),
            }
            w.bool("lateral", rte.lateral);
            w.bool("inh", rte.inh);
            w.bool("inFromCl", rte.in_from_cl);
            w.num("requiredPerms", rte.required_perms);
            w.num("checkAsUser", rte.check_as_user);
            w.columns("selectedCols", &rte.selected_cols);
            w.columns("insertedCols", &rte.inserted_cols);
            w.columns("updatedCols", &rte.updated_cols);
            w.columns("extraUpdatedCols", &[]);
            w.exprs("securityQuals", &rte.security_quals);
        });
    }

    fn put_sample(&mut self, sample: Option<&TableSample>) {
        match sample {
            None => self.out.push_str("<>"),
            Some(s) => self.node("TABLESAMPLECLAUSE", |w| {
                w.num("tsmhandler", s.tsmhandler);
                w.exprs("args", &s.args);
                w.opt_expr("repeatable", s.repeatable.as_ref());
            }),
        }
    }

    fn put_jointree(&mut self, node: &JoinTreeNode) {
        match node {
            JoinTreeNode::Rtr(rti) => self.node("RANGETBLREF", |w| w.num("rtindex", rti)),
            JoinTreeNode::From(from) => self.put_from(from),
            JoinTreeNode::Join(j) => self.node("JOINEXPR", |w| {
                w.num("jointype", j.jointype as i32);
                w.bool("isNatural", j.is_natural);
                w.name("larg");
                w.put_jointree(&j.larg);
                w.name("rarg");
                w.put_jointree(&j.rarg);
                w.strings("usingClause", &j.using_clause);
                w.alias("join_using_alias", j.join_using_alias.as_ref());
                w.opt_expr("quals", j.quals.as_ref());
                w.alias("alias", j.alias.as_ref());
                w.num("rtindex", j.rtindex);
            }),
        }
    }

    fn put_from(&mut self, from: &FromExpr) {
        self.node("FROMEXPR", |w| {
            w.list("fromlist", &from.fromlist, |w, n| w.put_jointree(n));
            w.opt_expr("quals", from.quals.as_ref());
        });
    }

    fn put_grouping_set(&mut self, set: &GroupingSet) {
        self.node("GROUPINGSET", |w| {
            w.num("kind", set.kind as i32);
            match set.kind {
                GroupingSetKind::Simple => w.numbers("content", 'i', &set.refs),
                _ => w.list("content", &set.content, |w, s| w.put_grouping_set(s)),
            }
            w.location(set.location);
        });
    }

    fn put_window(&mut self, c: &WindowClause) {
        self.node("WINDOWCLAUSE", |w| {
            w.string("name", c.name.as_deref());
            w.string("refname", c.refname.as_deref());
            w.sort_groups("partitionClause", &c.partition_clause);
            w.sort_groups("orderClause", &c.order_clause);
            w.num("frameOptions", c.frame_options);
            w.opt_expr("startOffset", c.start_offset.as_ref());
            w.opt_expr("endOffset", c.end_offset.as_ref());
            w.name("runCondition");
            w.out.push_str("<>");
            w.num("startInRangeFunc", c.start_in_range_func);
            w.num("endInRangeFunc", c.end_in_range_func);
            w.num("inRangeColl", c.in_range_coll);
            w.bool("inRangeAsc", c.in_range_asc);
            w.bool("inRangeNullsFirst", c.in_range_nulls_first);
            w.num("winref", c.winref);
            w.bool("copiedOrder", c.copied_order);
        });
    }

    fn put_cte(&mut self, c: &CommonTableExpr) {
        self.node("COMMONTABLEEXPR", |w| {
            w.string("ctename", Some(&c.ctename));
            w.strings("aliascolnames", &c.aliascolnames);
            w.num("ctematerialized", c.materialized as i32);
            w.name("ctequery");
            w.put_query(&c.query);
            w.name("search_clause");
            match &c.search {
                Some(s) => w.put_search(s),
                None => w.out.push_str("<>"),
            }
            w.name("cycle_clause");
            match &c.cycle {
                Some(c) => w.put_cycle(c),
                None => w.out.push_str("<>"),
            }
            w.location(c.location);
            w.bool("cterecursive", c.recursive);
            w.num("cterefcount", c.refcount);
            w.strings("ctecolnames", &c.colnames);
            w.oids("ctecoltypes", &c.coltypes);
            w.numbers("ctecoltypmods", 'i', &c.coltypmods);
            w.oids("ctecolcollations", &c.colcollations);
        });
    }

    fn put_search(&mut self, s: &CteSearch) {
        self.node("CTESEARCHCLAUSE", |w| {
            w.strings("search_col_list", &s.col_list);
            w.bool("search_breadth_first", s.breadth_first);
            w.string("search_seq_column", Some(&s.seq_column));
            w.location(s.location);
        });
    }

    fn put_cycle(&mut self, c: &CteCycle) {
        self.node("CTECYCLECLAUSE", |w| {
            w.strings("cycle_col_list", &c.col_list);
            w.string("cycle_mark_column", Some(&c.mark_column));
            w.expr("cycle_mark_value", &c.mark_value);
            w.expr("cycle_mark_default", &c.mark_default);
            w.string("cycle_path_column", Some(&c.path_column));
            w.location(c.location);
            w.num("cycle_mark_type", c.mark_type);
            w.num("cycle_mark_typmod", c.mark_typmod);
            w.num("cycle_mark_collation", c.mark_collation);
            w.num("cycle_mark_neop", c.mark_neop);
        });
    }

    fn put_set_op(&mut self, node: &SetOpNode) {
        deep(|| self.put_set_op_node(node));
    }

    fn put_set_op_node(&mut self, node: &SetOpNode) {
        match node {
            SetOpNode::Leaf(rti) => self.node("RANGETBLREF", |w| w.num("rtindex", rti)),
            SetOpNode::Op(op) => self.node("SETOPERATIONSTMT", |w| {
                w.num("op", op.op as i32);
                w.bool("all", op.all);
                w.name("larg");
                w.put_set_op(&op.larg);
                w.name("rarg");
                w.put_set_op(&op.rarg);
                w.oids("colTypes", &op.col_types);
                w.numbers("colTypmods", 'i', &op.col_typmods);
                w.oids("colCollations", &op.col_collations);
                w.sort_groups("groupClauses", &op.group_clauses);
            }),
        }
    }

    fn put_on_conflict(&mut self, c: &OnConflictExpr) {
        self.node("ONCONFLICTEXPR", |w| {
            w.num("action", c.action as i32);
            w.list("arbiterElems", &c.arbiter_elems, |w, e| {
                w.node("INFERENCEELEM", |w| {
                    w.expr("expr", &e.expr);
                    w.num("infercollid", e.infercollid);
                    w.num("inferopclass", e.inferopclass);
                });
            });
            w.opt_expr("arbiterWhere", c.arbiter_where.as_ref());
            w.num("constraint", c.constraint);
            w.targets("onConflictSet", &c.on_conflict_set);
            w.opt_expr("onConflictWhere", c.on_conflict_where.as_ref());
            w.num("exclRelIndex", c.excl_rel_index);
            w.targets("exclRelTlist", &c.excl_rel_tlist);
        });
    }

    fn put_query(&mut self, q: &Query) {
        deep(|| self.put_query_parts(q));
    }

    fn put_query_parts(&mut self, q: &Query) {
        self.node("QUERY", |w| {
            w.num("commandType", q.command_type as i32);
            w.num("querySource", q.query_source as i32);
            w.bool("canSetTag", q.can_set_tag);
            w.name("utilityStmt");
            match &q.notify {
                Some(n) => w.node("NOTIFYSTMT", |w| {
                    w.string("conditionname", Some(&n.channel));
                    w.string("payload", n.payload.as_deref());
                }),
                None => w.out.push_str("<>"),
            }
            w.num("resultRelation", q.result_relation);
            w.bool("hasAggs", q.has_aggs);
            w.bool("hasWindowFuncs", q.has_window_funcs);
            w.bool("hasTargetSRFs", q.has_target_srfs);
            w.bool("hasSubLinks", q.has_sub_links);
            w.bool("hasDistinctOn", q.has_distinct_on);
            w.bool("hasRecursive", q.has_recursive);
            w.bool("hasModifyingCTE", q.has_modifying_cte);
            w.bool("hasForUpdate", q.has_for_update);
            w.bool("hasRowSecurity", q.has_row_security);
            w.bool("isReturn", q.is_return);
            w.list("cteList", &q.cte_list, |w, c| w.put_cte(c));
            w.list("rtable", &q.rtable, |w, r| w.put_rte(r));
            w.name("jointree");
            w.put_from(&q.jointree);
            w.targets("targetList", &q.target_list);
            w.num("override", q.override_ as i32);
            w.name("onConflict");
            match &q.on_conflict {
                None => w.out.push_str("<>"),
                Some(c) => w.put_on_conflict(c),
            }
            w.targets("returningList", &q.returning_list);
            w.sort_groups("groupClause", &q.group_clause);
            w.bool("groupDistinct", q.group_distinct);
            w.list("groupingSets", &q.grouping_sets, |w, s| w.put_grouping_set(s));
            w.opt_expr("havingQual", q.having_qual.as_ref());
            w.list("windowClause", &q.window_clause, |w, c| w.put_window(c));
            w.sort_groups("distinctClause", &q.distinct_clause);
            w.sort_groups("sortClause", &q.sort_clause);
            w.opt_expr("limitOffset", q.limit_offset.as_ref());
            w.opt_expr("limitCount", q.limit_count.as_ref());
            w.num("limitOption", q.limit_option as i32);
            w.list("rowMarks", &q.row_marks, |w, m| {
                w.node("ROWMARKCLAUSE", |w| {
                    w.num("rti", m.rti);
                    w.num("strength", m.strength as i32);
                    w.num("waitPolicy", m.wait_policy as i32);
                    w.bool("pushedDown", m.pushed_down);
                });
            });
            w.name("setOperations");
            match &q.set_operations {
                None => w.out.push_str("<>"),
                Some(op) => w.put_set_op(op),
            }
            w.oids("constraintDeps", &q.constraint_deps);
            w.name("withCheckOptions");
            w.out.push_str("<>");
            w.list("mergeActionList", &q.merge_actions, |w, a| {
                w.node("MERGEACTION", |w| {
                    w.bool("matched", a.matched);
                    w.num("commandType", a.command_type as i32);
                    w.num("override", a.override_ as i32);
                    w.opt_expr("qual", a.condition.as_ref());
                    w.targets("targetList", &a.target_list);
                    w.name("updateColnos");
                    w.out.push_str("<>");
                });
            });
            w.bool("mergeUseOuterJoin", false);
            w.num("stmt_location", q.source.location);
            w.num("stmt_len", q.source.len);
        });
    }
}
