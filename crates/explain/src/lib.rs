//! EXPLAIN.
//!
//! A plan is described as a tree of nodes with titles, text lines and properties, from which all
//! four output formats are produced. With ANALYZE the statement is executed first: its rows are
//! discarded, its effects remain, and the executor's instrumentation supplies the run-time
//! statistics.
//!
//! Reading order: `names` (aliases of tables in the plan), `node`, `properties`, `metrics`,
//! `doc`.
//!
//! Counterpart: explain.c.

#![forbid(unsafe_code)]

mod doc;
mod metrics;
mod names;
mod node;
mod properties;

use commands::{empty_table, write_rows};
use doc::{Fields, Markup, NodeView, Value};
use engine::BufferUsage;
use executor::Execution;
use executor::spi::{self, Query};
use ids::Oid;
use node::{Describer, Link};
use parse::ast::{CreateTableAsStmt, ExplainStmt};
use pgerror::{Result, bail, pg_err};
use plan::node::{PlanNode, PlannedStmt};
use plan::query::RteKind;
use std::collections::HashSet;
use std::sync::Arc;
use trigger::TriggerStats;
use types::{Datum, oids};
use utility::host::CommandHost;
use utility::options;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    #[default]
    Text,
    Json,
    Yaml,
    Xml,
}

impl Format {
    /// Type of the result column.
    pub fn type_oid(self) -> ids::Oid {
        match self {
            Format::Json => oids::JSON,
            Format::Xml => oids::XML,
            _ => oids::TEXT,
        }
    }
}

/// The options of EXPLAIN.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub analyze: bool,
    pub verbose: bool,
    pub costs: bool,
    pub buffers: bool,
    pub wal: bool,
    pub timing: bool,
    pub summary: bool,
    pub settings: bool,
    /// The setting `track_io_timing`.
    pub io_timing: bool,
    pub format: Format,
}

/// A plan to explain.
pub struct Subject<'a> {
    pub plan: Arc<PlannedStmt>,
    pub params: Arc<[Datum]>,
    /// Planning time in microseconds.
    pub planning_us: u64,
    pub planning_buffers: BufferUsage,
    /// The table that CREATE TABLE AS would create.
    pub into: Option<&'a CreateTableAsStmt>,
    /// The query text of the statement.
    pub sql: &'a str,
}

/// Parses the options of a statement.
pub fn options(stmt: &ExplainStmt, sql: &str) -> Result<Options> {
    let mut o = Options { costs: true, ..Options::default() };
    let (mut timing, mut summary) = (None, None);
    for def in &stmt.options {
        match &*def.defname {
            "analyze" => o.analyze = options::boolean(def)?,
            "verbose" => o.verbose = options::boolean(def)?,
            "costs" => o.costs = options::boolean(def)?,
            "buffers" => o.buffers = options::boolean(def)?,
            "wal" => o.wal = options::boolean(def)?,
            "settings" => o.settings = options::boolean(def)?,
            "timing" => timing = Some(options::boolean(def)?),
            "summary" => summary = Some(options::boolean(def)?),
            "format" => {
                let word = options::text(def)?;
                o.format = match word.as_str() {
                    "text" => Format::Text,
                    "json" => Format::Json,
                    "yaml" => Format::Yaml,
                    "xml" => Format::Xml,
                    _ => {
                        let e = pg_err!(
                            INVALID_PARAMETER_VALUE,
                            "unrecognized value for EXPLAIN option \"format\": \"{word}\""
                        );
                        return Err(e.at(parse::position(sql, def.location)));
                    }
                };
            }
            name => {
                let e = pg_err!(SYNTAX_ERROR, "unrecognized EXPLAIN option \"{name}\"");
                return Err(e.at(parse::position(sql, def.location)));
            }
        }
    }
    if o.wal && !o.analyze {
        bail!(INVALID_PARAMETER_VALUE, "EXPLAIN option WAL requires ANALYZE");
    }
    if timing == Some(true) && !o.analyze {
        bail!(INVALID_PARAMETER_VALUE, "EXPLAIN option TIMING requires ANALYZE");
    }
    o.timing = timing.unwrap_or(o.analyze);
    o.summary = summary.unwrap_or(o.analyze);
    Ok(o)
}

/// The explanation under construction: one query or, after rule rewriting, several.
pub struct Explanation {
    options: Options,
    lines: Vec<String>,
    queries: Vec<Value>,
}

impl Explanation {
    /// An empty explanation with these options.
    pub fn new(options: Options) -> Explanation {
        Explanation { options, lines: Vec::new(), queries: Vec::new() }
    }

    /// Adds a statement without a plan: a line in the text format, a word in the other formats.
    pub fn utility(&mut self, line: Option<&str>, word: &str) {
        self.lines.extend(line.map(str::to_owned));
        self.queries.push(Value::Text(word.to_owned()));
    }

    /// The lines of the output, which are the result rows.
    pub fn rows(self) -> Vec<String> {
        let markup = match self.options.format {
            Format::Text => return self.lines,
            Format::Json => Markup::Json,
            Format::Yaml => Markup::Yaml,
            Format::Xml => Markup::Xml,
        };
        vec![doc::render(markup, &self.queries)]
    }

    /// Explains a plan; executes it first with ANALYZE.
    pub fn plan(&mut self, host: &mut dyn CommandHost, subject: &Subject<'_>) -> Result<()> {
        let o = self.options;
        let start = host.functions().clock_timestamp();
        let (mut run, mut triggers) = (None, Vec::new());
        if o.analyze {
            let (done, fired) = execute(host, o, subject)?;
            (run, triggers) = (done, fired);
        } else {
            host.services().check_privileges(&subject.plan)?;
        }
        let started = match &run {
            None if prunes_at_start(&subject.plan) => Some(start_only(host, subject)?),
            _ => None,
        };
        let names = names::of(host, &subject.plan, run.as_ref().or(started.as_ref()))?;
        let mut describer = Describer {
            host,
            options: &o,
            stmt: &subject.plan,
            names,
            run: run.as_ref(),
            started: run.as_ref().or(started.as_ref()),
            shown: HashSet::new(),
        };
        let top = describer.node(&subject.plan.plan_tree, &[], Link::default())?;
        top.write_text(0, None, &mut self.lines);
        let mut fields: Fields = vec![("Plan".to_owned(), Value::Object(top.into_fields()))];
        if o.settings {
            self.settings(host, &mut fields);
        }
        if let Some(identity) = subject.plan.source.identity.as_ref().filter(|_| o.verbose) {
            self.lines.push(format!("Query Identifier: {}", identity.id));
            fields.push(("Query Identifier".to_owned(), Value::Raw(identity.id.to_string())));
        }
        if o.buffers {
            let mut view = NodeView::default();
            metrics::buffers(&mut view, &subject.planning_buffers, o.io_timing);
            if !view.lines.is_empty() {
                self.lines.push("Planning:".to_owned());
                self.lines.extend(view.lines.into_iter().map(|l| format!("  {l}")));
            }
            fields.push(("Planning".to_owned(), Value::Object(view.fields)));
        }
        let ms = |us: u64| format!("{:.3}", us as f64 / 1000.0);
        if o.summary {
            let time = ms(subject.planning_us);
            self.lines.push(format!("Planning Time: {time} ms"));
            fields.push(("Planning Time".to_owned(), Value::Raw(time)));
        }
        if o.analyze {
            let list = triggers.iter().map(|t| self.trigger(t)).collect();
            fields.push(("Triggers".to_owned(), Value::Objects(list)));
        }
        if o.summary && o.analyze {
            let total = (host.functions().clock_timestamp() - start).max(0) as u64;
            let time = ms(total);
            self.lines.push(format!("Execution Time: {time} ms"));
            fields.push(("Execution Time".to_owned(), Value::Raw(time)));
        }
        self.queries.push(Value::Object(fields));
        Ok(())
    }

    /// Adds settings that affect planning and differ from their defaults.
    fn settings(&mut self, host: &mut dyn CommandHost, fields: &mut Fields) {
        let list = host.explain_settings();
        if !list.is_empty() {
            let parts: Vec<String> = list.iter().map(|(n, v)| format!("{n} = '{v}'")).collect();
            self.lines.push(format!("Settings: {}", parts.join(", ")));
        }
        let list = list.into_iter().map(|(n, v)| (n, Value::Text(v))).collect();
        fields.push(("Settings".to_owned(), Value::Object(list)));
    }

    fn trigger(&mut self, t: &TriggerStats) -> Fields {
        let time = format!("{:.3}", t.time_us as f64 / 1000.0);
        let mut line = String::from("Trigger ");
        match &t.constraint {
            Some(c) if !self.options.verbose => line.push_str(&format!("for constraint {c}")),
            Some(c) => line.push_str(&format!("{} for constraint {c}", t.trigger)),
            None => line.push_str(&t.trigger),
        }
        if t.shows_relation {
            line.push_str(&format!(" on {}", t.relation));
        }
        if self.options.timing {
            line.push_str(&format!(": time={time} calls={}", t.calls));
        } else {
            line.push_str(&format!(": calls={}", t.calls));
        }
        self.lines.push(line);
        let text = |name: &str, value: &str| (name.to_owned(), Value::Text(value.to_owned()));
        let mut fields = vec![text("Trigger Name", &t.trigger)];
        fields.extend(t.constraint.as_ref().map(|c| text("Constraint Name", c)));
        fields.push(text("Relation", &t.relation));
        if self.options.timing {
            fields.push(("Time".to_owned(), Value::Raw(time)));
        }
        fields.push(("Calls".to_owned(), Value::Raw(t.calls.to_string())));
        fields
    }
}

/// The tables that the statement itself changes.
fn result_tables(plan: &PlannedStmt) -> Vec<Oid> {
    let table = |rti: &i32| match plan.rtable.get(*rti as usize - 1)?.kind {
        RteKind::Relation { relid, .. } => Some(relid),
        _ => None,
    };
    plan.result_relations.iter().filter_map(table).collect()
}

/// True if the plan has an Append that may leave out children when the execution starts.
fn prunes_at_start(stmt: &PlannedStmt) -> bool {
    fn any(plan: &plan::Plan) -> bool {
        let own = match &plan.node {
            PlanNode::Append { pruning, .. } | PlanNode::MergeAppend { pruning, .. } => {
                pruning.as_ref().is_some_and(|p| p.at_start)
            }
            _ => false,
        };
        own || plan.children().into_iter().any(any)
    }
    any(&stmt.plan_tree) || stmt.subplans.iter().any(any)
}

/// Starts the statement without running it.
fn start_only(host: &mut dyn CommandHost, subject: &Subject<'_>) -> Result<Execution> {
    let snapshot = host.backend().snapshot();
    let query = Query::new(subject.plan.clone(), subject.params.clone());
    spi::with_snapshot(host, &snapshot, |host| query.start(host))
}

/// Runs the statement to completion, including triggers.
fn execute(
    host: &mut dyn CommandHost,
    options: Options,
    subject: &Subject<'_>,
) -> Result<(Option<Execution>, Vec<TriggerStats>)> {
    let snapshot = host.backend().snapshot();
    spi::with_snapshot(host, &snapshot, |host| {
        let table = match subject.into {
            Some(into) => Some((into, empty_table(host, into, subject.sql, &subject.plan)?)),
            None => None,
        };
        trigger::start_counting(host.trigger_host());
        let query = Query {
            instrument: Some(options.timing),
            ..Query::new(subject.plan.clone(), subject.params.clone())
        };
        let run = match table {
            Some((into, _)) if into.into.skip_data => query.start(host)?,
            Some((_, oid)) => write_rows(host, oid, query)?.execution,
            None => query.run(host, &mut |_, _, _| Ok(()))?.execution,
        };
        let results = result_tables(&subject.plan);
        let triggers = trigger::after_statement_counted(host.trigger_host(), &results)?;
        Ok((Some(run), triggers))
    })
}
