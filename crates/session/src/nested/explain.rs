//! EXPLAIN: determines the plan of the statement. Counterpart: commands/explain.c
//! (`ExplainQuery`, `ExplainOneUtility`).

use super::Nested;
use crate::plancache::Statement;
use crate::plancache::plans::Mode;
use crate::prepared::Prepared;
use crate::utility::text_field;
use commands::{select_into, table_exists};
use explain::{Explanation, Format, Options, Subject, options};
use ids::Oid;
use parse::RawStmt;
use parse::ast::{CreateTableAsStmt, ExecuteStmt, ExplainStmt, Node};
use pgerror::Result;
use std::sync::Arc;
use types::Datum;
use wire::FieldDescription;

const NO_PLAN: &str = "Utility statements have no plan structure";

/// The parameters of EXPLAIN.
#[derive(Clone, Copy)]
pub(crate) struct ExplainParams<'a> {
    /// Values and types of `$1` ….
    pub values: &'a Arc<[Datum]>,
    pub types: &'a [Oid],
    /// The analysed query, if its parameters have names.
    pub statement: Option<&'a Arc<Statement>>,
}

/// The column that an EXPLAIN returns.
pub(crate) fn explain_fields(stmt: &ExplainStmt) -> Vec<FieldDescription> {
    let format = options(stmt, "").map_or(Format::Text, |o| o.format);
    vec![FieldDescription { type_oid: format.type_oid().0, ..text_field("QUERY PLAN") }]
}

impl Nested<'_> {
    /// The lines of EXPLAIN and their type.
    pub(crate) fn explained(
        &mut self,
        stmt: &ExplainStmt,
        sql: &Arc<str>,
        params: ExplainParams<'_>,
    ) -> Result<(Vec<String>, Oid)> {
        let mut options = options(stmt, sql)?;
        options.io_timing = self.0.store.named("track_io_timing").as_bool();
        let mut out = Explanation::new(options);
        self.explain_node(&stmt.query, None, sql, params, options, &mut out)?;
        Ok((out.rows(), options.format.type_oid()))
    }

    fn explain_node(
        &mut self,
        node: &Node,
        into: Option<&CreateTableAsStmt>,
        sql: &Arc<str>,
        params: ExplainParams<'_>,
        options: Options,
        out: &mut Explanation,
    ) -> Result<()> {
        match node {
            Node::ExecuteStmt(execute) => self.explain_execute(execute, into, sql, options, out),
            Node::DeclareCursorStmt(cursor) => {
                self.explain_node(&cursor.query, into, sql, params, options, out)
            }
            Node::CreateTableAsStmt(create) => {
                if table_exists(self, create)? {
                    out.utility(None, "CREATE TABLE AS");
                    return Ok(());
                }
                self.explain_node(&create.query, Some(&**create), sql, params, options, out)
            }
            Node::SelectStmt(select) if !analyze::is_query(node) => {
                let Some(create) = select_into(select) else { return Ok(()) };
                let node = Node::CreateTableAsStmt(Box::new(create));
                self.explain_node(&node, into, sql, params, options, out)
            }
            node if analyze::is_query(node) => {
                let raw = RawStmt::within(node.clone(), 0);
                let state = &mut *self.0;
                let types = params.types;
                let prepared = match params.statement {
                    Some(statement) => Prepared::of(statement.clone(), types),
                    None => {
                        // The statement may refer only to the parameters of EXPLAIN itself.
                        crate::simple::check_parameters(state, &raw, sql, types)?;
                        let types = types.to_vec();
                        Prepared::new(state, sql.clone(), Some(raw), types, None, false)?
                    }
                };
                // The parameter values of EXPLAIN are constants in the plan.
                let subject = (&Arc::new(prepared), params.values, Mode::Custom);
                self.explain_prepared(subject, into, sql, options, out)
            }
            Node::NotifyStmt(_) => {
                out.utility(Some("NOTIFY"), "Notify");
                Ok(())
            }
            _ => {
                out.utility(Some(NO_PLAN), "Utility Statement");
                Ok(())
            }
        }
    }

    fn explain_execute(
        &mut self,
        stmt: &ExecuteStmt,
        into: Option<&CreateTableAsStmt>,
        sql: &Arc<str>,
        options: Options,
        out: &mut Explanation,
    ) -> Result<()> {
        let (prepared, params) = self.0.execute_arguments(stmt, sql)?;
        match prepared.node() {
            Some(node) if analyze::is_query(node) => {
                let mode = self.0.values.resolved.plan_mode;
                self.explain_prepared((&prepared, &params, mode), into, sql, options, out)
            }
            _ => {
                out.utility(Some(NO_PLAN), "Utility Statement");
                Ok(())
            }
        }
    }

    fn explain_prepared(
        &mut self,
        (prepared, params, mode): (&Arc<Prepared>, &Arc<[Datum]>, Mode),
        into: Option<&CreateTableAsStmt>,
        sql: &str,
        options: Options,
        out: &mut Explanation,
    ) -> Result<()> {
        let before = (self.0.now(), self.0.backend.buffer_usage());
        let plan = prepared.plan(self.0, params, mode)?;
        let planning_us = (self.0.now() - before.0).max(0) as u64;
        let planning_buffers = self.0.backend.buffer_usage() - before.1;
        if options.analyze {
            self.0.check_plan(&plan)?;
            self.0.transaction.mode.queried = true;
        }
        let subject =
            Subject { plan, params: params.clone(), planning_us, planning_buffers, into, sql };
        out.plan(self, &subject)
    }
}
