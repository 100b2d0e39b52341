//! Deparses window functions and WINDOW clauses. Counterpart: ruleutils.c (`get_windowfunc_expr`,
//! `get_rule_windowspec`).

use crate::Deparser;
use pgerror::{PgError, Result};
use plan::expr::{Expr, TargetEntry, WindowFunc};
use plan::query::{Query, WindowClause};

// PostgreSQL's FRAMEOPTION bits.
const NONDEFAULT: i32 = 0x00001;
const RANGE: i32 = 0x00002;
const ROWS: i32 = 0x00004;
const GROUPS: i32 = 0x00008;
const BETWEEN: i32 = 0x00010;
const START_UNBOUNDED_PRECEDING: i32 = 0x00020;
const END_UNBOUNDED_FOLLOWING: i32 = 0x00100;
const START_CURRENT_ROW: i32 = 0x00200;
const END_CURRENT_ROW: i32 = 0x00400;
const START_OFFSET_PRECEDING: i32 = 0x00800;
const END_OFFSET_PRECEDING: i32 = 0x01000;
const START_OFFSET_FOLLOWING: i32 = 0x02000;
const END_OFFSET_FOLLOWING: i32 = 0x04000;
const EXCLUDE_CURRENT_ROW: i32 = 0x08000;
const EXCLUDE_GROUP: i32 = 0x10000;
const EXCLUDE_TIES: i32 = 0x20000;

impl Deparser<'_> {
    pub(super) fn window_function(&mut self, w: &WindowFunc) -> Result<()> {
        let (name, _) = self.function_name(w.winfnoid, false)?;
        self.put(&name);
        self.put("(");
        if w.winstar {
            self.put("*");
        }
        self.list(&w.args, true)?;
        if let Some(filter) = &w.aggfilter {
            self.put(") FILTER (WHERE ");
            self.expr(filter, false)?;
        }
        self.put(") OVER ");
        // A plan has no window clauses.
        let scope = match self.scopes.last() {
            Some(scope) if self.position.is_none() => scope,
            _ => {
                self.put("(?)");
                return Ok(());
            }
        };
        let Some(clause) = scope.windows.iter().find(|c| c.winref == w.winref).cloned() else {
            return Err(PgError::internal(format!("could not find window clause {}", w.winref)));
        };
        match &clause.name {
            Some(name) => self.put_name(name),
            None => {
                let targets = scope.targets.clone();
                self.window_spec(&clause, &targets)?;
            }
        }
        Ok(())
    }

    /// Writes the WINDOW clause: the windows with names.
    pub(super) fn window_clause(&mut self, query: &Query) -> Result<()> {
        let mut first = true;
        for clause in &query.window_clause {
            let Some(name) = &clause.name else { continue };
            if first {
                self.keyword(" WINDOW ", -crate::STD, crate::STD, 1);
            } else {
                self.put(", ");
            }
            first = false;
            self.put_name(name);
            self.put(" AS ");
            self.window_spec(clause, &query.target_list)?;
        }
        Ok(())
    }

    fn window_spec(&mut self, w: &WindowClause, targets: &[TargetEntry]) -> Result<()> {
        let mut space = false;
        let mut gap = |d: &mut Self| {
            if space {
                d.out.push(' ');
            }
            space = true;
        };
        self.put("(");
        if let Some(name) = &w.refname {
            gap(self);
            self.put_name(name);
        }
        // The clauses of a referenced window are not repeated.
        if !w.partition_clause.is_empty() && w.refname.is_none() {
            gap(self);
            self.put("PARTITION BY ");
            for (i, key) in w.partition_clause.iter().enumerate() {
                if i > 0 {
                    self.put(", ");
                }
                self.sort_key(key.tle_sort_group_ref, targets, false)?;
            }
        }
        if !w.order_clause.is_empty() && !w.copied_order {
            gap(self);
            self.put("ORDER BY ");
            self.order_by(&w.order_clause, targets, false)?;
        }
        if w.frame_options & NONDEFAULT != 0 {
            gap(self);
            self.frame(w)?;
        }
        self.put(")");
        Ok(())
    }

    fn frame(&mut self, w: &WindowClause) -> Result<()> {
        let has = |bit: i32| w.frame_options & bit != 0;
        self.put(match () {
            () if has(RANGE) => "RANGE ",
            () if has(ROWS) => "ROWS ",
            () if has(GROUPS) => "GROUPS ",
            () => return Err(PgError::internal("window frame without a mode")),
        });
        if has(BETWEEN) {
            self.put("BETWEEN ");
        }
        if has(START_UNBOUNDED_PRECEDING) {
            self.put("UNBOUNDED PRECEDING ");
        } else if has(START_CURRENT_ROW) {
            self.put("CURRENT ROW ");
        } else if has(START_OFFSET_PRECEDING | START_OFFSET_FOLLOWING) {
            self.offset(w.start_offset.as_ref())?;
            self.put(if has(START_OFFSET_PRECEDING) { " PRECEDING " } else { " FOLLOWING " });
        }
        if has(BETWEEN) {
            self.put("AND ");
            if has(END_UNBOUNDED_FOLLOWING) {
                self.put("UNBOUNDED FOLLOWING ");
            } else if has(END_CURRENT_ROW) {
                self.put("CURRENT ROW ");
            } else if has(END_OFFSET_PRECEDING | END_OFFSET_FOLLOWING) {
                self.offset(w.end_offset.as_ref())?;
                self.put(if has(END_OFFSET_PRECEDING) { " PRECEDING " } else { " FOLLOWING " });
            }
        }
        if has(EXCLUDE_CURRENT_ROW) {
            self.put("EXCLUDE CURRENT ROW ");
        } else if has(EXCLUDE_GROUP) {
            self.put("EXCLUDE GROUP ");
        } else if has(EXCLUDE_TIES) {
            self.put("EXCLUDE TIES ");
        }
        self.out.pop();
        Ok(())
    }

    fn offset(&mut self, e: Option<&Expr>) -> Result<()> {
        match e {
            Some(e) => self.expr(e, false),
            None => Ok(()),
        }
    }
}
