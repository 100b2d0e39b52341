//! Properties of plan nodes: conditions, keys, conflicts, counts of removed rows.
//!
//! Counterpart: the `show_*` functions of explain.c.

use crate::doc::{Fields, NodeView, Value};
use crate::metrics;
use crate::node::{Describer, modify_word};
use deparse::{Ancestor, Deparser, PlanPosition};
use executor::NodeStats;
use pgerror::Result;
use plan::expr::{BoolExpr, BoolOp, Expr, Location};
use plan::node::{Agg, AggStrategy, IndexProbe, ModifyTable, PlanNode, SortKeys};
use plan::query::{CmdType, OnConflictAction};

impl<'p> Describer<'_, 'p> {
    pub(super) fn qual(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        label: &str,
        quals: &[Expr],
        prefix: bool,
    ) -> Result<()> {
        if let Some(e) = all_of(quals, BoolOp::And) {
            let text = self.expr(position, &e, prefix)?;
            view.text(label, text);
        }
        Ok(())
    }

    /// The rows removed per loop; the text format omits zero.
    fn removed(&self, view: &mut NodeView, label: &str, stats: Option<NodeStats>, total: u64) {
        if self.run.is_none() {
            return;
        }
        let loops = stats.map_or(0, |s| s.loops);
        let mean = if loops > 0 { total as f64 / loops as f64 } else { 0.0 };
        if total > 0 {
            view.lines.push(format!("{label}: {mean:.0}"));
        }
        view.number(label, format!("{mean:.0}"));
    }

    /// The filter condition of a scan and the rows that it removed.
    pub(super) fn filter(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        stats: Option<NodeStats>,
    ) -> Result<()> {
        let quals = &position.plan.info.qual;
        if quals.is_empty() {
            return Ok(());
        }
        let scan =
            matches!(position.plan.node, PlanNode::SubqueryScan { .. }) || self.options.verbose;
        let upper = matches!(
            position.plan.node,
            PlanNode::Agg(_)
                | PlanNode::Group { .. }
                | PlanNode::Result { .. }
                | PlanNode::WindowAgg(_)
        );
        let prefix = if upper { self.prefix() } else { scan };
        self.qual(view, position, "Filter", quals, prefix)?;
        self.removed(view, "Rows Removed by Filter", stats, stats.map_or(0, |s| s.counts.removed));
        Ok(())
    }

    /// The properties of a scan.
    fn scan_properties(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        stats: Option<NodeStats>,
    ) -> Result<()> {
        let verbose = self.options.verbose;
        let counts = stats.map(|s| s.counts).unwrap_or_default();
        match &position.plan.node {
            PlanNode::IndexScan { probe, .. } => {
                self.probe(view, position, probe, stats)?;
                self.filter(view, position, stats)?;
            }
            PlanNode::IndexOnlyScan { probe, .. } => {
                self.probe(view, position, probe, stats)?;
                self.filter(view, position, stats)?;
                if self.run.is_some() {
                    view.raw("Heap Fetches", counts.heap_fetches);
                }
            }
            PlanNode::BitmapHeapScan { recheck, .. } => {
                self.qual(view, position, "Recheck Cond", recheck, verbose)?;
                let label = "Rows Removed by Index Recheck";
                self.removed(view, label, stats, counts.removed_late);
                self.filter(view, position, stats)?;
                if self.run.is_some() {
                    metrics::heap_blocks(view, &counts);
                }
            }
            PlanNode::TidScan { tid_quals, .. } => {
                if let Some(e) = all_of(tid_quals, BoolOp::Or) {
                    let text = self.expr(position, &e, verbose)?;
                    view.text("TID Cond", text);
                }
                self.filter(view, position, stats)?;
            }
            PlanNode::TidRangeScan { tid_quals, .. } => {
                self.qual(view, position, "TID Cond", tid_quals, verbose)?;
                self.filter(view, position, stats)?;
            }
            PlanNode::SampleScan { sample, .. } => {
                self.sampling(view, position, sample)?;
                self.filter(view, position, stats)?;
            }
            PlanNode::FunctionScan { functions, .. } => {
                if verbose {
                    let mut calls = Vec::new();
                    for f in functions {
                        calls.push(self.expr(position, &f.funcexpr, true)?);
                    }
                    view.text("Function Call", calls.join(", "));
                }
                self.filter(view, position, stats)?;
            }
            _ => self.filter(view, position, stats)?,
        }
        Ok(())
    }

    pub(super) fn properties(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        stats: Option<NodeStats>,
    ) -> Result<()> {
        let plan = position.plan;
        let counts = stats.map(|s| s.counts).unwrap_or_default();
        match &plan.node {
            PlanNode::Result { constant_qual, .. } => {
                let prefix = self.prefix();
                self.qual(view, position, "One-Time Filter", constant_qual, prefix)?;
                self.filter(view, position, stats)?;
            }
            PlanNode::NestLoop { join_qual, inner_unique, .. } => {
                self.unique(view, *inner_unique);
                self.join(view, position, join_qual, stats)?;
            }
            PlanNode::MergeJoin { join_qual, inner_unique, merge_clauses, .. } => {
                self.unique(view, *inner_unique);
                let prefix = self.prefix();
                self.qual(view, position, "Merge Cond", merge_clauses, prefix)?;
                self.join(view, position, join_qual, stats)?;
            }
            PlanNode::HashJoin { join_qual, inner_unique, hash_clauses, .. } => {
                self.unique(view, *inner_unique);
                let prefix = self.prefix();
                self.qual(view, position, "Hash Cond", hash_clauses, prefix)?;
                self.join(view, position, join_qual, stats)?;
            }
            PlanNode::Sort { keys, .. } => {
                self.sort_key(view, position, "Sort Key", keys, usize::MAX)?;
                if let Some(sort) = self.run.and_then(|r| r.sort_stats(plan)) {
                    metrics::sort(view, &sort);
                }
            }
            PlanNode::IncrementalSort { keys, presorted_cols, .. } => {
                self.sort_key(view, position, "Sort Key", keys, usize::MAX)?;
                self.sort_key(view, position, "Presorted Key", keys, *presorted_cols as usize)?;
            }
            PlanNode::MergeAppend { keys, .. } => {
                self.sort_key(view, position, "Sort Key", keys, usize::MAX)?;
                self.removed_children(view, plan);
            }
            PlanNode::Memoize { param_exprs, binary_mode, .. } => {
                let prefix = self.prefix();
                let mut list = Vec::new();
                for e in param_exprs {
                    list.push(self.expr(position, e, prefix)?);
                }
                view.text("Cache Key", list.join(", "));
                view.text("Cache Mode", if *binary_mode { "binary" } else { "logical" });
                if let Some(memo) = counts.memo.filter(|m| m.misses > 0) {
                    metrics::memo(view, &memo);
                }
            }
            PlanNode::Agg(agg) => {
                self.group_keys(view, position, agg)?;
                self.filter_having(view, position)?;
                if matches!(agg.strategy, AggStrategy::Hashed | AggStrategy::Mixed)
                    && let Some(hash) = counts.hash
                    && self.run.is_some()
                {
                    metrics::hash_agg(view, &hash);
                }
                if !plan.info.qual.is_empty() {
                    self.removed(view, "Rows Removed by Filter", stats, counts.removed);
                }
            }
            PlanNode::Group { keys, .. } => {
                let cols: Vec<_> = keys.cols.iter().map(|c| *c as usize).collect();
                let list = self.child_columns(position, &cols)?;
                view.list("Group Key", list);
                self.filter(view, position, stats)?;
            }
            PlanNode::WindowAgg(w) => {
                self.filter(view, position, stats)?;
                let prefix = self.prefix();
                self.qual(view, position, "Run Condition", &w.run_condition, prefix)?;
            }
            PlanNode::ModifyTable(m) => {
                self.targets(view, m, &plan.node)?;
                self.conflict(view, position, m, stats)?;
            }
            PlanNode::Append { .. } => self.removed_children(view, plan),
            _ => self.scan_properties(view, position, stats)?,
        }
        Ok(())
    }

    pub(super) fn probe(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        probe: &IndexProbe,
        stats: Option<NodeStats>,
    ) -> Result<()> {
        let verbose = self.options.verbose;
        self.qual(view, position, "Index Cond", &probe.index_qual_orig, verbose)?;
        if !probe.index_qual_orig.is_empty() {
            let late = stats.map_or(0, |s| s.counts.removed_late);
            self.removed(view, "Rows Removed by Index Recheck", stats, late);
        }
        self.qual(view, position, "Order By", &probe.order_by, verbose)
    }

    fn sampling(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        sample: &plan::query::TableSample,
    ) -> Result<()> {
        let prefix = self.prefix();
        let method = self.host.catalog().function(sample.tsmhandler)?.proname.to_string();
        let mut args = Vec::new();
        for e in &sample.args {
            args.push(self.expr(position, e, prefix)?);
        }
        let repeat = match &sample.repeatable {
            Some(e) => Some(self.expr(position, e, prefix)?),
            None => None,
        };
        let mut line = format!("Sampling: {method} ({})", args.join(", "));
        if let Some(r) = &repeat {
            line.push_str(&format!(" REPEATABLE ({r})"));
        }
        view.lines.push(line);
        view.field("Sampling Method", Value::Text(method));
        view.field("Sampling Parameters", Value::List(args));
        if let Some(r) = repeat {
            view.field("Repeatable Seed", Value::Text(r));
        }
        Ok(())
    }

    fn unique(&self, view: &mut NodeView, unique: bool) {
        if self.options.verbose && unique {
            view.lines.push("Inner Unique: true".to_owned());
        }
        view.number("Inner Unique", unique);
    }

    pub(super) fn join(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        join_qual: &[Expr],
        stats: Option<NodeStats>,
    ) -> Result<()> {
        let prefix = self.prefix();
        let counts = stats.map(|s| s.counts).unwrap_or_default();
        self.qual(view, position, "Join Filter", join_qual, prefix)?;
        if !join_qual.is_empty() {
            self.removed(view, "Rows Removed by Join Filter", stats, counts.removed);
        }
        let quals = &position.plan.info.qual;
        self.qual(view, position, "Filter", quals, prefix)?;
        if !quals.is_empty() {
            self.removed(view, "Rows Removed by Filter", stats, counts.removed_late);
        }
        Ok(())
    }

    fn sort_key(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        label: &str,
        keys: &SortKeys,
        count: usize,
    ) -> Result<()> {
        let prefix = self.prefix();
        let mut list = Vec::new();
        for (i, &col) in keys.cols.iter().enumerate().take(count) {
            let Some(t) = position.plan.info.target_list.get(col as usize - 1) else { continue };
            let d = Deparser::in_plan(&mut *self.host, &self.names, position.clone(), prefix);
            let (op, coll) = (keys.operators[i], keys.collations[i]);
            list.push(d.sort_column(&t.expr, op, coll, keys.nulls_first[i])?);
        }
        view.list(label, list);
        Ok(())
    }

    /// As [`Self::child_columns`], with direction and NULL placement.
    fn child_sort_columns(
        &mut self,
        position: &PlanPosition<'p>,
        keys: &SortKeys,
    ) -> Result<Vec<String>> {
        let Some(child) = position.plan.children().first().copied() else { return Ok(Vec::new()) };
        let mut ancestors = position.ancestors.clone();
        ancestors.push(Ancestor::Node(position.plan));
        let below = self.position(child, &ancestors);
        let prefix = self.prefix();
        let mut out = Vec::new();
        for (i, &col) in keys.cols.iter().enumerate() {
            let Some(t) = child.info.target_list.get(col as usize - 1) else { continue };
            let d = Deparser::in_plan(&mut *self.host, &self.names, below.clone(), prefix);
            let (op, coll) = (keys.operators[i], keys.collations[i]);
            out.push(d.sort_column(&t.expr, op, coll, keys.nulls_first[i])?);
        }
        Ok(out)
    }

    /// The child's output columns as expressions of the child.
    fn child_columns(
        &mut self,
        position: &PlanPosition<'p>,
        cols: &[usize],
    ) -> Result<Vec<String>> {
        let Some(child) = position.plan.children().first().copied() else { return Ok(Vec::new()) };
        let mut ancestors = position.ancestors.clone();
        ancestors.push(Ancestor::Node(position.plan));
        let below = self.position(child, &ancestors);
        let prefix = self.prefix();
        let mut out = Vec::new();
        for &c in cols {
            let Some(t) = child.info.target_list.get(c - 1) else { continue };
            let d = Deparser::in_plan(&mut *self.host, &self.names, below.clone(), prefix);
            out.push(d.full_expression(&t.expr)?);
        }
        Ok(out)
    }

    fn group_keys(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        agg: &Agg,
    ) -> Result<()> {
        let cols = |set: &[i16]| set.iter().map(|c| *c as usize).collect::<Vec<_>>();
        if agg.grouping_sets.is_empty() {
            if !agg.keys.cols.is_empty() {
                let list = self.child_columns(position, &cols(&agg.keys.cols))?;
                view.list("Group Key", list);
            }
            return Ok(());
        }
        let mut phases = Vec::new();
        let hashed = matches!(agg.strategy, AggStrategy::Hashed | AggStrategy::Mixed);
        self.phase_keys(view, position, (hashed, None, &agg.grouping_sets), &mut phases)?;
        for phase in &agg.chain {
            let hashed = phase.strategy == AggStrategy::Hashed;
            let keys = (hashed, phase.sort.as_ref(), phase.grouping_sets.as_slice());
            self.phase_keys(view, position, keys, &mut phases)?;
        }
        view.field("Grouping Sets", Value::Objects(phases));
        Ok(())
    }

    /// The keys of one phase of grouping sets: whether it is hashed, the order of its input if it
    /// is sorted for this phase, and its sets.
    fn phase_keys(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        (hashed, sort, sets): (bool, Option<&SortKeys>, &[Vec<i16>]),
        phases: &mut Vec<Fields>,
    ) -> Result<()> {
        let mut fields = Fields::new();
        let mut indent = "";
        if let Some(keys) = sort {
            let list = self.child_sort_columns(position, keys)?;
            view.lines.push(format!("Sort Key: {}", list.join(", ")));
            fields.push(("Sort Key".to_owned(), Value::List(list)));
            indent = "  ";
        }
        let label = if hashed { "Hash Key" } else { "Group Key" };
        let mut lists = Vec::with_capacity(sets.len());
        for set in sets {
            let cols: Vec<usize> = set.iter().map(|c| *c as usize).collect();
            let list = self.child_columns(position, &cols)?;
            let shown = if list.is_empty() { "()".to_owned() } else { list.join(", ") };
            view.lines.push(format!("{indent}{label}: {shown}"));
            lists.push(list);
        }
        fields.push((format!("{label}s"), Value::Lists(lists)));
        phases.push(fields);
        Ok(())
    }

    /// The numbers of rows that MERGE has changed.
    fn merged(&self, view: &mut NodeView, child: &plan::Plan, stats: Option<NodeStats>) {
        let Some(run) = self.run else { return };
        let total = run.stats(child).map_or(0, |s| s.rows);
        let c = stats.map(|s| s.counts).unwrap_or_default();
        let skipped = total.saturating_sub(c.inserted + c.updated + c.deleted);
        let counts = [
            ("inserted", "Tuples Inserted", c.inserted),
            ("updated", "Tuples Updated", c.updated),
            ("deleted", "Tuples Deleted", c.deleted),
            ("skipped", "Tuples Skipped", skipped),
        ];
        let mut line = "Tuples:".to_owned();
        for (word, name, n) in counts {
            view.number(name, n);
            if n > 0 {
                line.push_str(&format!(" {word}={n}"));
            }
        }
        if total > 0 {
            view.lines.push(line);
        }
    }

    /// The number of children that an Append has left out when the execution started.
    fn removed_children(&self, view: &mut NodeView, plan: &plan::Plan) {
        let built = self.started.and_then(|r| r.built_children(plan));
        let removed = built.map_or(0, |built| built.iter().filter(|b| !**b).count());
        view.number("Subplans Removed", removed);
        if removed > 0 {
            view.lines.push(format!("Subplans Removed: {removed}"));
        }
    }

    fn filter_having(&mut self, view: &mut NodeView, position: &PlanPosition<'p>) -> Result<()> {
        let prefix = self.prefix();
        self.qual(view, position, "Filter", &position.plan.info.qual, prefix)
    }

    /// The changed tables, if they are not just the one that the statement names.
    fn targets(&mut self, view: &mut NodeView, m: &ModifyTable, node: &PlanNode) -> Result<()> {
        if m.result_relations == [m.nominal_relation] {
            return Ok(());
        }
        let mut all = Vec::new();
        for &rti in &m.result_relations {
            let title = modify_word(m.operation).to_owned();
            let mut target = NodeView { title, ..NodeView::default() };
            self.target(&mut target, rti, node)?;
            view.lines.push(target.title);
            all.push(target.fields);
        }
        view.field("Target Tables", Value::Objects(all));
        Ok(())
    }

    fn conflict(
        &mut self,
        view: &mut NodeView,
        position: &PlanPosition<'p>,
        m: &ModifyTable,
        stats: Option<NodeStats>,
    ) -> Result<()> {
        if m.operation == CmdType::Merge {
            self.merged(view, &m.child, stats);
            return Ok(());
        }
        let Some(c) = &m.on_conflict else { return Ok(()) };
        let what = if c.action == OnConflictAction::Nothing { "NOTHING" } else { "UPDATE" };
        view.text("Conflict Resolution", what);
        let mut indexes = Vec::new();
        for &oid in &c.arbiter_indexes {
            indexes.push(self.relation_name(oid)?);
        }
        if !indexes.is_empty() {
            view.list("Conflict Arbiter Indexes", indexes);
        }
        let counts = stats.map(|s| s.counts).unwrap_or_default();
        if !c.where_.is_empty() {
            let prefix = self.prefix();
            self.qual(view, position, "Conflict Filter", &c.where_, prefix)?;
            self.removed(view, "Rows Removed by Conflict Filter", stats, counts.removed);
        }
        if self.run.is_some() {
            view.raw("Tuples Inserted", counts.inserted);
            view.raw("Conflicting Tuples", counts.conflicting);
        }
        Ok(())
    }
}

/// The conditions joined by AND or OR.
fn all_of(quals: &[Expr], op: BoolOp) -> Option<Expr> {
    match quals {
        [] => None,
        [only] => Some(only.clone()),
        many => Some(Expr::Bool(Box::new(BoolExpr {
            boolop: op,
            args: many.to_vec(),
            location: Location::UNKNOWN,
        }))),
    }
}
