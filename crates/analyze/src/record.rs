//! The fields of a composite value. Counterpart: parser/parse_target.c (`expandRecordVariable`).

use crate::from::TypeFuncClass;
use crate::relation::Column;
use crate::state::Analyzer;
use crate::ty;
use ids::AttrNo;
use pgerror::Result;
use plan::Expr;
use plan::expr::Var;
use plan::query::{Query, RangeTblEntry, RteKind};

/// The query that a column reference belongs to: a finished query inside a level of the analysis,
/// or the level itself.
struct QueryPath {
    /// The level, counted from the innermost.
    up: u32,
    /// Nested queries below that level, outermost first.
    inner: Vec<Query>,
}

impl QueryPath {
    /// Moves that many query levels outwards.
    fn leave(&mut self, levels: u32) {
        let inner = self.inner.len() as u32;
        self.inner.truncate(inner.saturating_sub(levels) as usize);
        self.up += levels.saturating_sub(inner);
    }
}

impl Analyzer<'_> {
    /// The fields of a composite value. A named composite type has them in the catalogs. For an
    /// anonymous row the defining expression is searched through sub-selects, joins and WITH
    /// queries; `None` if it is not found.
    pub fn rowtype_columns(&mut self, expr: &Expr) -> Result<Option<Vec<Column>>> {
        let mut path = QueryPath { up: 0, inner: Vec::new() };
        let mut expr = expr.clone();
        while let Expr::Var(v) = &expr {
            if v.vartype != ty::RECORD {
                break;
            }
            let var = v.clone();
            let Some(rte) = self.entry_of(&mut path, &var) else { return Ok(None) };
            if var.varattno == 0 {
                return self.rte_columns(&rte).map(Some);
            }
            match self.record_origin(&mut path, rte, var.varattno) {
                Some(found) => expr = found,
                None => return Ok(None),
            }
        }
        if expr.type_oid() == ty::UNKNOWN {
            return Ok(None);
        }
        Ok(match self.type_func_class(&expr)? {
            TypeFuncClass::Composite(columns) => Some(columns),
            _ => None,
        })
    }

    /// The range table entry that a reference names. Moves `path` to the entry's query.
    fn entry_of(&mut self, path: &mut QueryPath, var: &Var) -> Option<RangeTblEntry> {
        path.leave(var.varlevelsup);
        let at = usize::try_from(var.varno - 1).ok()?;
        match path.inner.last() {
            Some(query) => query.rtable.get(at).cloned(),
            None => self.level_up(path.up).rtable.get(at).cloned(),
        }
    }

    /// The expression that defines a column of a sub-select, join or WITH query. Moves `path` to
    /// that query.
    fn record_origin(
        &mut self,
        path: &mut QueryPath,
        rte: RangeTblEntry,
        column: AttrNo,
    ) -> Option<Expr> {
        let at = usize::try_from(column - 1).ok()?;
        let query = match rte.kind {
            RteKind::Subquery { subquery, .. } => subquery.into_inner(),
            RteKind::Cte { ctename, ctelevelsup, .. } => {
                path.leave(ctelevelsup);
                let list = match path.inner.last() {
                    Some(query) => &query.cte_list,
                    None => &self.level_up(path.up).ctes,
                };
                (*list.iter().find(|c| c.ctename == ctename)?.query).clone()
            }
            RteKind::Join { joinaliasvars, .. } => return joinaliasvars.get(at).cloned(),
            _ => return None,
        };
        let expr = query.result_columns().nth(at)?.expr.clone();
        path.inner.push(query);
        Some(expr)
    }
}
