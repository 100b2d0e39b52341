//! Plan nodes: titles, properties and children.
//!
//! Counterpart: `ExplainNode` and the `show_*` functions of explain.c.

use crate::Options;
use crate::doc::{NodeView, Value};
use crate::metrics;
use deparse::{Ancestor, Deparser, PlanNames, PlanPosition};
use executor::{Execution, HashCounts, NodeStats};
use ids::Oid;
use pgerror::Result;
use plan::Plan;
use plan::expr::{AggSplit, Expr, SubPlan};
use plan::node::{
    AggStrategy, BitmapNode, PlanInfo, PlanNode, PlannedStmt, ScanDirection, SetOpStrategy,
};
use plan::query::{CmdType, JoinType, RteKind, SetOperation};
use std::collections::HashSet;
use utility::host::CommandHost;

/// Describes the nodes of one plan.
pub struct Describer<'a, 'p> {
    pub host: &'a mut dyn CommandHost,
    pub options: &'a Options,
    pub stmt: &'p PlannedStmt,
    pub names: PlanNames,
    /// The finished execution, with ANALYZE.
    pub run: Option<&'a Execution>,
    /// The execution that has been started, with or without ANALYZE, if children of an Append may
    /// be left out at the start.
    pub started: Option<&'a Execution>,
    /// Subplans shown so far.
    pub shown: HashSet<u32>,
}

/// The relationship of a node to its parent.
#[derive(Clone, Copy, Default)]
pub struct Link<'s> {
    pub relationship: Option<&'static str>,
    pub name: Option<&'s str>,
}

impl Link<'static> {
    fn of(relationship: &'static str) -> Link<'static> {
        Link { relationship: Some(relationship), name: None }
    }
}

/// A node's title for the text format, and its `Node Type`, `Strategy` and `Operation` properties.
#[derive(Default)]
struct Kind {
    title: String,
    node_type: &'static str,
    strategy: Option<&'static str>,
    operation: Option<&'static str>,
    /// Of an aggregation.
    partial_mode: Option<&'static str>,
}

impl<'p> Describer<'_, 'p> {
    pub(super) fn position(&self, plan: &'p Plan, ancestors: &[Ancestor<'p>]) -> PlanPosition<'p> {
        PlanPosition { plan, ancestors: ancestors.to_vec(), subplans: &self.stmt.subplans }
    }

    /// Describes a node and its subtree.
    pub fn node(
        &mut self,
        plan: &'p Plan,
        ancestors: &[Ancestor<'p>],
        link: Link<'_>,
    ) -> Result<NodeView> {
        self.host.functions().check_interrupts()?;
        stdx::stack::deep(|| self.node_here(plan, ancestors, link))
    }

    fn node_here(
        &mut self,
        plan: &'p Plan,
        ancestors: &[Ancestor<'p>],
        link: Link<'_>,
    ) -> Result<NodeView> {
        let position = self.position(plan, ancestors);
        let stats = self.run.and_then(|r| r.stats(plan));
        let mut view = NodeView::default();
        let kind = kind_of(plan);
        self.begin(&mut view, &kind, link);
        self.title(&mut view, plan, &kind)?;
        self.numbers(&mut view, &plan.info, stats);
        if self.options.verbose {
            self.output(&mut view, &position)?;
        }
        self.properties(&mut view, &position, stats)?;
        // Formats other than text show the counts of nodes that were not executed.
        let used = stats.unwrap_or_default();
        if self.options.buffers {
            metrics::buffers(&mut view, &used.buffers, self.options.io_timing);
        }
        if self.options.wal {
            metrics::wal(&mut view, &used.wal);
        }
        self.children(&mut view, &position)?;
        Ok(view)
    }

    fn begin(&self, view: &mut NodeView, kind: &Kind, link: Link<'_>) {
        let mut add_field = |name: &str, value: Option<&str>| {
            if let Some(v) = value {
                view.field(name, Value::Text(v.to_owned()));
            }
        };
        add_field("Node Type", Some(kind.node_type));
        add_field("Strategy", kind.strategy);
        add_field("Partial Mode", kind.partial_mode);
        add_field("Operation", kind.operation);
        add_field("Parent Relationship", link.relationship);
        add_field("Subplan Name", link.name);
        view.number("Parallel Aware", false);
        view.number("Async Capable", false);
        view.title.clone_from(&kind.title);
    }

    /// The object that the node operates on, after its title.
    fn title(&mut self, view: &mut NodeView, plan: &'p Plan, kind: &Kind) -> Result<()> {
        match &plan.node {
            PlanNode::IndexScan { scanrelid, probe }
            | PlanNode::IndexOnlyScan { scanrelid, probe, .. } => {
                let backward = probe.direction == ScanDirection::Backward;
                let index = self.relation_name(probe.indexid)?;
                let back = if backward { " Backward" } else { "" };
                view.title.push_str(&format!("{back} using {}", self.quoted(None, &index)));
                let direction = if backward { "Backward" } else { "Forward" };
                view.field("Scan Direction", Value::Text(direction.to_owned()));
                view.field("Index Name", Value::Text(index));
                self.target(view, *scanrelid, &plan.node)?;
            }
            PlanNode::SeqScan { scanrelid }
            | PlanNode::SampleScan { scanrelid, .. }
            | PlanNode::BitmapHeapScan { scanrelid, .. }
            | PlanNode::TidScan { scanrelid, .. }
            | PlanNode::TidRangeScan { scanrelid, .. }
            | PlanNode::SubqueryScan { scanrelid, .. }
            | PlanNode::FunctionScan { scanrelid, .. }
            | PlanNode::ValuesScan { scanrelid, .. }
            | PlanNode::CteScan { scanrelid, .. }
            | PlanNode::WorkTableScan { scanrelid, .. } => {
                self.target(view, *scanrelid, &plan.node)?;
            }
            PlanNode::ModifyTable(m) => self.target(view, m.nominal_relation, &plan.node)?,
            PlanNode::NestLoop { jointype, .. }
            | PlanNode::MergeJoin { jointype, .. }
            | PlanNode::HashJoin { jointype, .. } => {
                let word = match jointype {
                    JoinType::Inner => "Inner",
                    JoinType::Left => "Left",
                    JoinType::Full => "Full",
                    JoinType::Right => "Right",
                    JoinType::Semi => "Semi",
                    JoinType::Anti => "Anti",
                };
                if *jointype != JoinType::Inner {
                    view.title.push_str(&format!(" {word} Join"));
                } else if kind.node_type != "Nested Loop" {
                    view.title.push_str(" Join");
                }
                view.field("Join Type", Value::Text(word.to_owned()));
            }
            PlanNode::SetOp { op, all, .. } => {
                let word = match (op, all) {
                    (SetOperation::Intersect, false) => "Intersect",
                    (SetOperation::Intersect, true) => "Intersect All",
                    (_, false) => "Except",
                    (_, true) => "Except All",
                };
                view.title.push_str(&format!(" {word}"));
                view.field("Command", Value::Text(word.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    /// The scanned relation, function or CTE. Counterpart: `ExplainTargetRel`.
    pub(super) fn target(&mut self, view: &mut NodeView, rti: i32, node: &PlanNode) -> Result<()> {
        let Some(rte) = self.stmt.rtable.get((rti - 1).max(0) as usize) else { return Ok(()) };
        let refname = self.names.name(rti).to_owned();
        let mut schema = None;
        let (tag, object) = match (&rte.kind, node) {
            (RteKind::Relation { relid, .. }, _) => {
                let class = self.host.catalog().class(*relid)?;
                if self.options.verbose {
                    schema = self.schema_name(class.relnamespace)?;
                }
                ("Relation Name", Some(class.relname.to_string()))
            }
            (_, PlanNode::FunctionScan { functions, .. }) => {
                let mut name = None;
                if let [only] = &functions[..]
                    && let Expr::FuncExpr(f) = &only.funcexpr
                {
                    let row = self.host.catalog().function(f.funcid)?;
                    if self.options.verbose {
                        schema = self.schema_name(row.pronamespace)?;
                    }
                    name = Some(row.proname.to_string());
                }
                ("Function Name", name)
            }
            (RteKind::Cte { ctename, .. }, _) => ("CTE Name", Some(ctename.clone())),
            _ => ("", None),
        };
        view.title.push_str(" on");
        if let Some(object) = &object {
            view.title.push_str(&format!(" {}", self.quoted(schema.as_deref(), object)));
        }
        if object.as_deref() != Some(&refname) {
            view.title.push_str(&format!(" {}", self.quoted(None, &refname)));
        }
        if let Some(object) = object {
            view.field(tag, Value::Text(object));
        }
        if let Some(schema) = schema {
            view.field("Schema", Value::Text(schema));
        }
        view.field("Alias", Value::Text(refname));
        Ok(())
    }

    /// Estimates and run-time statistics.
    fn numbers(&self, view: &mut NodeView, info: &PlanInfo, stats: Option<NodeStats>) {
        metrics::costs(self.options, view, info);
        if self.run.is_some() {
            metrics::actual(self.options, view, stats);
        }
    }

    /// The quoted name, qualified by the schema if one is given.
    fn quoted(&mut self, schema: Option<&str>, name: &str) -> String {
        self.host.catalog().session.quoting.qualified(schema, name)
    }

    fn schema_name(&mut self, oid: Oid) -> Result<Option<String>> {
        let temp = self.host.catalog().session.temp_namespace == oid;
        if temp {
            return Ok(Some("pg_temp".to_owned()));
        }
        Ok(self.host.catalog().namespace_name(oid)?.map(|n| n.to_string()))
    }

    pub(super) fn relation_name(&mut self, oid: Oid) -> Result<String> {
        Ok(self.host.catalog().class(oid)?.relname.to_string())
    }

    /// Whether the names of columns are qualified above scans.
    pub(super) fn prefix(&self) -> bool {
        self.several() || self.options.verbose
    }

    /// Whether there are several range-table entries. A Result node without a child counts as one.
    fn several(&self) -> bool {
        if self.stmt.rtable.len() > 1 {
            return true;
        }
        fn bare(plan: &Plan) -> usize {
            let own = matches!(plan.node, PlanNode::Result { child: None, .. });
            let below: usize = plan.children().into_iter().map(bare).sum();
            usize::from(own) + below
        }
        let levels: usize = self.stmt.subplans.iter().map(bare).sum();
        self.stmt.rtable.len() + levels + bare(&self.stmt.plan_tree) > 1
    }

    pub(super) fn expr(
        &mut self,
        position: &PlanPosition<'p>,
        e: &Expr,
        prefix: bool,
    ) -> Result<String> {
        Deparser::in_plan(&mut *self.host, &self.names, position.clone(), prefix).expression(e)
    }

    fn output(&mut self, view: &mut NodeView, position: &PlanPosition<'p>) -> Result<()> {
        let list = match &position.plan.node {
            PlanNode::Append { .. }
            | PlanNode::MergeAppend { .. }
            | PlanNode::RecursiveUnion { .. } => return Ok(()),
            PlanNode::ModifyTable(m) => match m.returning_lists.first() {
                Some(list) => list,
                None => return Ok(()),
            },
            _ => &position.plan.info.target_list,
        };
        if list.is_empty() {
            return Ok(());
        }
        let prefix = self.several();
        let mut out = Vec::new();
        for t in list {
            out.push(self.expr(position, &t.expr, prefix)?);
        }
        view.list("Output", out);
        Ok(())
    }

    fn children(&mut self, view: &mut NodeView, position: &PlanPosition<'p>) -> Result<()> {
        let plan = position.plan;
        self.sub_plans(view, position, &plan.info.init_plan, "InitPlan")?;
        let mut ancestors = position.ancestors.clone();
        ancestors.push(Ancestor::Node(plan));
        match &plan.node {
            PlanNode::HashJoin { outer, inner, .. } => {
                let first = self.node(outer, &ancestors, Link::of("Outer"))?;
                view.children.push((None, first));
                let counts = self.run.and_then(|r| r.stats(plan)).and_then(|s| s.counts.hash);
                let hash = self.hash(inner, &ancestors, counts)?;
                view.children.push((None, hash));
            }
            PlanNode::BitmapHeapScan { bitmap, .. } => {
                let child = self.bitmap(bitmap, position, "Outer")?;
                view.children.push((None, child));
            }
            PlanNode::Append { children, .. } | PlanNode::MergeAppend { children, .. } => {
                let built = self.started.and_then(|r| r.built_children(plan));
                let is_built = |i: usize| built.is_none_or(|b| b.get(i).copied().unwrap_or(true));
                for (_, c) in children.iter().enumerate().filter(|(i, _)| is_built(*i)) {
                    let child = self.node(c, &ancestors, Link::of("Member"))?;
                    view.children.push((None, child));
                }
            }
            PlanNode::SubqueryScan { child, .. } => {
                let child = self.node(child, &ancestors, Link::of("Subquery"))?;
                view.children.push((None, child));
            }
            _ => {
                for (c, word) in plan.children().into_iter().zip(["Outer", "Inner"]) {
                    let child = self.node(c, &ancestors, Link::of(word))?;
                    view.children.push((None, child));
                }
            }
        }
        let mut found = Vec::new();
        expressions_of(plan, &mut |e| collect_sub_plans(e, &mut found));
        for s in found {
            self.sub_plan(view, position, s, "SubPlan")?;
        }
        Ok(())
    }

    /// The Hash node that PostgreSQL has between a hash join and its inner side.
    fn hash(
        &mut self,
        inner: &'p Plan,
        ancestors: &[Ancestor<'p>],
        counts: Option<HashCounts>,
    ) -> Result<NodeView> {
        let mut view = NodeView::default();
        let kind = Kind { title: "Hash".into(), node_type: "Hash", ..Kind::default() };
        self.begin(&mut view, &kind, Link::of("Inner"));
        let stats = self.run.and_then(|r| r.stats(inner)).map(|s| NodeStats {
            // Its startup time is its total time: it returns no rows until the table is built.
            startup_us: s.total_us,
            ..s
        });
        let info = PlanInfo { startup_cost: inner.info.total_cost, ..inner.info.clone() };
        self.numbers(&mut view, &info, stats);
        if self.options.verbose && !inner.info.target_list.is_empty() {
            let position = self.position(inner, ancestors);
            let prefix = self.several();
            let mut list = Vec::new();
            for t in &inner.info.target_list {
                let text = self.expr(&position, &t.expr, prefix)?;
                let column = matches!(t.expr, Expr::Var(_));
                list.push(if column { text } else { format!("({text})") });
            }
            view.list("Output", list);
        }
        if let Some(counts) = counts.filter(|_| self.run.is_some()) {
            metrics::hash(&mut view, &counts);
        }
        // Formats other than text show the counts of nodes that were not executed.
        let used = stats.unwrap_or_default();
        if self.options.buffers {
            metrics::buffers(&mut view, &used.buffers, self.options.io_timing);
        }
        if self.options.wal {
            metrics::wal(&mut view, &used.wal);
        }
        let child = self.node(inner, ancestors, Link::of("Outer"))?;
        view.children.push((None, child));
        Ok(view)
    }

    fn bitmap(
        &mut self,
        bitmap: &'p BitmapNode,
        position: &PlanPosition<'p>,
        relationship: &'static str,
    ) -> Result<NodeView> {
        let mut view = NodeView::default();
        let (word, info, children): (&'static str, _, &[BitmapNode]) = match bitmap {
            BitmapNode::Index { info, .. } => ("Bitmap Index Scan", info, &[]),
            BitmapNode::And { info, children } => ("BitmapAnd", info, children),
            BitmapNode::Or { info, children } => ("BitmapOr", info, children),
        };
        let kind = Kind { title: word.into(), node_type: word, ..Kind::default() };
        self.begin(&mut view, &kind, Link::of(relationship));
        if let BitmapNode::Index { probe, .. } = bitmap {
            let index = self.relation_name(probe.indexid)?;
            view.title.push_str(&format!(" on {}", self.quoted(None, &index)));
            view.field("Index Name", Value::Text(index));
        }
        metrics::costs(self.options, &mut view, info);
        if let Some(run) = self.run {
            metrics::actual(self.options, &mut view, run.bitmap_stats(bitmap));
        }
        if let BitmapNode::Index { probe, .. } = bitmap {
            let verbose = self.options.verbose;
            self.qual(&mut view, position, "Index Cond", &probe.index_qual_orig, verbose)?;
        }
        for c in children {
            let child = self.bitmap(c, position, "Member")?;
            view.children.push((None, child));
        }
        Ok(view)
    }

    fn sub_plans(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        plans: &'p [Expr],
        relationship: &'static str,
    ) -> Result<()> {
        for e in plans {
            if let Expr::SubPlan(s) = e {
                self.sub_plan(view, position, s, relationship)?;
            }
        }
        Ok(())
    }

    fn sub_plan(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        s: &'p SubPlan,
        relationship: &'static str,
    ) -> Result<()> {
        if !self.shown.insert(s.plan_id) {
            return Ok(());
        }
        let Some(plan) = self.stmt.subplans.get(s.plan_id as usize - 1) else { return Ok(()) };
        let mut ancestors = position.ancestors.clone();
        ancestors.push(Ancestor::Node(position.plan));
        ancestors.push(Ancestor::SubPlan(s));
        let link = Link { relationship: Some(relationship), name: Some(&s.plan_name) };
        let child = self.node(plan, &ancestors, link)?;
        view.children.push((Some(s.plan_name.clone()), child));
        Ok(())
    }
}

/// The name of a ModifyTable node.
pub(super) fn modify_word(operation: CmdType) -> &'static str {
    match operation {
        CmdType::Insert => "Insert",
        CmdType::Update => "Update",
        CmdType::Delete => "Delete",
        _ => "Merge",
    }
}

fn kind_of(plan: &Plan) -> Kind {
    let plain = |name: &'static str| Kind {
        title: name.to_owned(),
        node_type: name,
        strategy: None,
        operation: None,
        partial_mode: None,
    };
    let titled = |title: &str, node_type: &'static str, strategy: Option<&'static str>| Kind {
        title: title.to_owned(),
        node_type,
        strategy,
        operation: None,
        partial_mode: None,
    };
    match &plan.node {
        PlanNode::Result { .. } => plain("Result"),
        PlanNode::ProjectSet { .. } => plain("ProjectSet"),
        PlanNode::ModifyTable(m) => {
            let word = modify_word(m.operation);
            Kind { operation: Some(word), ..titled(word, "ModifyTable", None) }
        }
        PlanNode::Append { .. } => plain("Append"),
        PlanNode::MergeAppend { .. } => plain("Merge Append"),
        PlanNode::RecursiveUnion { .. } => plain("Recursive Union"),
        PlanNode::SeqScan { .. } => plain("Seq Scan"),
        PlanNode::SampleScan { .. } => plain("Sample Scan"),
        PlanNode::IndexScan { .. } => plain("Index Scan"),
        PlanNode::IndexOnlyScan { .. } => plain("Index Only Scan"),
        PlanNode::BitmapHeapScan { .. } => plain("Bitmap Heap Scan"),
        PlanNode::TidScan { .. } => plain("Tid Scan"),
        PlanNode::TidRangeScan { .. } => plain("Tid Range Scan"),
        PlanNode::SubqueryScan { .. } => plain("Subquery Scan"),
        PlanNode::FunctionScan { .. } => plain("Function Scan"),
        PlanNode::ValuesScan { .. } => plain("Values Scan"),
        PlanNode::CteScan { .. } => plain("CTE Scan"),
        PlanNode::WorkTableScan { .. } => plain("WorkTable Scan"),
        PlanNode::NamedTuplestoreScan { .. } => plain("Named Tuplestore Scan"),
        PlanNode::NestLoop { .. } => plain("Nested Loop"),
        PlanNode::MergeJoin { .. } => titled("Merge", "Merge Join", None),
        PlanNode::HashJoin { .. } => titled("Hash", "Hash Join", None),
        PlanNode::Material { .. } => plain("Materialize"),
        PlanNode::Memoize { .. } => plain("Memoize"),
        PlanNode::Sort { .. } => plain("Sort"),
        PlanNode::IncrementalSort { .. } => plain("Incremental Sort"),
        PlanNode::Group { .. } => plain("Group"),
        PlanNode::Agg(a) => {
            let mut kind = match a.strategy {
                AggStrategy::Plain => titled("Aggregate", "Aggregate", Some("Plain")),
                AggStrategy::Sorted => titled("GroupAggregate", "Aggregate", Some("Sorted")),
                AggStrategy::Mixed => titled("MixedAggregate", "Aggregate", Some("Mixed")),
                AggStrategy::Hashed => titled("HashAggregate", "Aggregate", Some("Hashed")),
            };
            kind.partial_mode = Some(match a.split {
                AggSplit::Simple => "Simple",
                AggSplit::InitialSerial => "Partial",
                AggSplit::FinalDeserial => "Finalize",
            });
            if let Some(mode) = kind.partial_mode.filter(|_| a.split != AggSplit::Simple) {
                kind.title = format!("{mode} {}", kind.title);
            }
            kind
        }
        PlanNode::WindowAgg(_) => plain("WindowAgg"),
        PlanNode::Unique { .. } => plain("Unique"),
        PlanNode::SetOp { strategy: SetOpStrategy::Sorted, .. } => {
            titled("SetOp", "SetOp", Some("Sorted"))
        }
        PlanNode::SetOp { .. } => titled("HashSetOp", "SetOp", Some("Hashed")),
        PlanNode::LockRows { .. } => plain("LockRows"),
        PlanNode::Limit { .. } => plain("Limit"),
    }
}

/// The node's own expressions in initialisation order: target list, conditions, others.
fn expressions_of<'p>(plan: &'p Plan, f: &mut dyn FnMut(&'p Expr)) {
    plan.info.target_list.iter().for_each(|t| f(&t.expr));
    plan.info.qual.iter().for_each(&mut *f);
    match &plan.node {
        PlanNode::Result { constant_qual, .. } => constant_qual.iter().for_each(f),
        PlanNode::IndexScan { probe, .. } | PlanNode::IndexOnlyScan { probe, .. } => {
            probe.index_qual_orig.iter().for_each(f);
        }
        PlanNode::BitmapHeapScan { recheck, .. } => recheck.iter().for_each(f),
        PlanNode::TidScan { tid_quals, .. } | PlanNode::TidRangeScan { tid_quals, .. } => {
            tid_quals.iter().for_each(f);
        }
        PlanNode::FunctionScan { functions, .. } => functions.iter().for_each(|x| f(&x.funcexpr)),
        PlanNode::ValuesScan { values_lists, .. } => values_lists.iter().flatten().for_each(f),
        PlanNode::NestLoop { join_qual, .. } => join_qual.iter().for_each(f),
        PlanNode::MergeJoin { join_qual, merge_clauses, .. } => {
            join_qual.iter().chain(merge_clauses).for_each(f);
        }
        PlanNode::HashJoin { join_qual, hash_clauses, .. } => {
            join_qual.iter().chain(hash_clauses).for_each(f);
        }
        PlanNode::Limit { offset, count, .. } => offset.iter().chain(count).for_each(f),
        PlanNode::ModifyTable(m) => {
            m.returning_lists.iter().flatten().for_each(|t| f(&t.expr));
            if let Some(c) = &m.on_conflict {
                c.set.iter().for_each(|t| f(&t.expr));
                c.where_.iter().for_each(f);
            }
        }
        _ => {}
    }
}

fn collect_sub_plans<'p>(e: &'p Expr, out: &mut Vec<&'p SubPlan>) {
    if let Expr::SubPlan(s) = e {
        out.push(s);
    }
    plan::walk::each_child(e, &mut |c| collect_sub_plans(c, out));
}
