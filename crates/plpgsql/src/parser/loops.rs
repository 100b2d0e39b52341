//! Loops. Counterpart: `stmt_loop`, `stmt_while`, `stmt_for`, `stmt_foreach_a` of pl_gram.y.

use super::Parser;
use crate::tree::{
    ForEach, ForInteger, ForQuery, LabelKind, RowField, RowSource, SqlMode, Stmt, StmtKind,
    VarKind, VarNo, VarType,
};
use parse::tokens::{Kind, Token};
use pgerror::{PgError, Result, SqlState, pg_err};
use types::oids;

/// The names between FOR and IN.
struct LoopVariable {
    name: String,
    token: Token,
    line: u32,
    /// The known scalar variable of that name.
    scalar: Option<VarNo>,
    /// The known record, or the list of variables.
    row: Option<VarNo>,
}

impl Parser<'_> {
    /// Reads a loop, at whose first word the next token is.
    pub(super) fn loop_statement(&mut self, label: Option<String>) -> Result<StmtKind> {
        self.open_scope(label.as_deref(), LabelKind::Loop);
        let token = self.scan.next()?;
        let kind = match () {
            () if self.scan.is(token, "loop") => {
                let body = self.loop_body(label.as_deref())?;
                StmtKind::Loop { label, condition: None, body }
            }
            () if self.scan.is(token, "while") => {
                let condition = Some(self.expression_until("loop")?);
                let body = self.loop_body(label.as_deref())?;
                StmtKind::Loop { label, condition, body }
            }
            () if self.scan.is(token, "for") => self.for_loop(label)?,
            () if self.scan.is(token, "foreach") => self.foreach(label)?,
            () => return Err(self.scan.syntax_error(token)),
        };
        self.close_scope();
        Ok(kind)
    }

    /// Reads the statements of a loop after LOOP, up to the semicolon.
    fn loop_body(&mut self, label: Option<&str>) -> Result<Vec<Stmt>> {
        let body = self.statements()?;
        self.scan.expect("end")?;
        self.scan.expect("loop")?;
        self.end_label(label)?;
        self.scan.expect_op(";")?;
        Ok(body)
    }

    fn loop_variable(&mut self) -> Result<LoopVariable> {
        let token = self.scan.peek()?;
        let line = self.scan.line_of(token.start);
        let (names, tokens) = self.dotted()?;
        let Some(name) = names.last().cloned() else {
            return Err(self.scan.syntax_error(token));
        };
        let Some(found) = self.resolve(&names) else {
            let after = self.scan.peek_at(tokens)?;
            if tokens > 1 || after.kind == Kind::Char(b',') {
                return Err(self.not_a_variable()?);
            }
            self.scan.next()?;
            return Ok(LoopVariable { name, token, line, scalar: None, row: None });
        };
        for _ in 0..found.tokens {
            self.scan.next()?;
        }
        let name = self.shown(token, found.var);
        if self.is_row_or_record(found.var) {
            return Ok(LoopVariable { name, token, line, scalar: None, row: Some(found.var) });
        }
        let row = match self.scan.at_op(",")? {
            true => Some(self.scalar_list(found.var, token)?),
            false => None,
        };
        Ok(LoopVariable { name, token, line, scalar: Some(found.var), row })
    }

    fn for_loop(&mut self, label: Option<String>) -> Result<StmtKind> {
        let variable = self.loop_variable()?;
        self.scan.expect("in")?;
        let token = self.scan.peek()?;
        if self.scan.accept("execute")? {
            return self.for_dynamic(label, &variable);
        }
        if let Some(found) = self.reference()?
            && self.is_cursor(found.var)
        {
            for _ in 0..found.tokens {
                self.scan.next()?;
            }
            return self.for_cursor(label, &variable, (found.var, token));
        }
        let reverse = self.scan.accept("reverse")?;
        let (text, at, is_range) = self.range_or_query()?;
        if is_range {
            return self.for_range(label, &variable, (text, at), reverse);
        }
        if reverse {
            let e = pg_err!(SYNTAX_ERROR, "cannot specify REVERSE in query FOR loop");
            return Err(self.error_at(token, e));
        }
        let query = self.add_sql(text, SqlMode::Statement, at)?;
        let target = self.row_target(&variable, false)?;
        let body = self.loop_body(label.as_deref())?;
        let source = RowSource::Query(query);
        Ok(StmtKind::ForQuery(Box::new(ForQuery { label, target, source, body })))
    }

    fn is_cursor(&self, var: VarNo) -> bool {
        matches!(&self.vars[var].kind, VarKind::Scalar { ty, .. } if ty.oid == oids::REFCURSOR)
    }

    /// The record or list of variables of a loop over rows.
    fn row_target(&mut self, variable: &LoopVariable, is_dynamic: bool) -> Result<VarNo> {
        match (variable.row, variable.scalar) {
            (Some(row), _) => {
                self.check_assignable(row, variable.token)?;
                Ok(row)
            }
            (None, Some(var)) => {
                self.check_assignable(var, variable.token)?;
                let name = variable.name.clone();
                Ok(self.row(vec![RowField { name, var }]))
            }
            (None, None) => {
                let code = match is_dynamic {
                    true => SqlState::DATATYPE_MISMATCH,
                    false => SqlState::SYNTAX_ERROR,
                };
                let e = PgError::new(
                    code,
                    "loop variable of loop over rows must be a record variable or list of scalar \
                     variables",
                );
                Err(self.error_at(variable.token, e))
            }
        }
    }

    fn for_dynamic(&mut self, label: Option<String>, variable: &LoopVariable) -> Result<StmtKind> {
        let ends = Parser::ends(&["loop", "using"], "LOOP or USING");
        let (query, end) = self.expression(&ends)?;
        let target = self.row_target(variable, true)?;
        let mut params = Vec::new();
        if self.scan.is(end, "using") {
            params = self.parameters(&[",", "loop"], ", or LOOP")?.0;
        }
        let body = self.loop_body(label.as_deref())?;
        let source = RowSource::Dynamic { query, params };
        Ok(StmtKind::ForQuery(Box::new(ForQuery { label, target, source, body })))
    }

    fn for_cursor(
        &mut self,
        label: Option<String>,
        variable: &LoopVariable,
        (cursor, token): (VarNo, Token),
    ) -> Result<StmtKind> {
        if variable.scalar.is_some() && variable.row.is_some() {
            let e = pg_err!(SYNTAX_ERROR, "cursor FOR loop must have only one target variable");
            return Err(self.error_at(variable.token, e));
        }
        if !matches!(&self.vars[cursor].kind, VarKind::Scalar { cursor: Some(_), .. }) {
            let e = pg_err!(SYNTAX_ERROR, "cursor FOR loop must use a bound cursor variable");
            return Err(self.error_at(token, e));
        }
        let args = self.cursor_arguments(cursor, "loop")?;
        let target = self.record(&variable.name, variable.line, VarType::record(), true);
        let body = self.loop_body(label.as_deref())?;
        let source = RowSource::Cursor { cursor, args };
        Ok(StmtKind::ForQuery(Box::new(ForQuery { label, target, source, body })))
    }

    fn for_range(
        &mut self,
        label: Option<String>,
        variable: &LoopVariable,
        (text, at): (String, usize),
        reverse: bool,
    ) -> Result<StmtKind> {
        let lower = self.add_sql(text, SqlMode::Expression, at)?;
        let (upper, end) = self.expression(&Parser::ends(&["loop", "by"], "LOOP"))?;
        let step = match self.scan.is(end, "by") {
            true => Some(self.expression_until("loop")?),
            false => None,
        };
        if variable.scalar.is_some() && variable.row.is_some() {
            let e = pg_err!(SYNTAX_ERROR, "integer FOR loop must have only one target variable");
            return Err(self.error_at(variable.token, e));
        }
        let ty = VarType::scalar(oids::INT4);
        let var = self.scalar(&variable.name, variable.line, ty, true);
        let body = self.loop_body(label.as_deref())?;
        let stmt = ForInteger { label, var, lower, upper, step, reverse, body };
        Ok(StmtKind::ForInteger(Box::new(stmt)))
    }

    fn foreach(&mut self, label: Option<String>) -> Result<StmtKind> {
        let variable = self.loop_variable()?;
        let mut slice = 0;
        if self.scan.accept("slice")? {
            let token = self.scan.next()?;
            if token.kind != Kind::Integer {
                return Err(self.scan.syntax_error(token));
            }
            let text = token.text(self.scan.text());
            slice = text.parse().map_err(|_| self.scan.syntax_error(token))?;
        }
        self.scan.expect("in")?;
        self.scan.expect("array")?;
        let array = self.expression_until("loop")?;
        let Some(target) = variable.row.or(variable.scalar) else {
            let e = pg_err!(
                SYNTAX_ERROR,
                "loop variable of FOREACH must be a known variable or list of variables"
            );
            return Err(self.error_at(variable.token, e));
        };
        self.check_assignable(target, variable.token)?;
        let body = self.loop_body(label.as_deref())?;
        Ok(StmtKind::ForEach(Box::new(ForEach { label, target, slice, array, body })))
    }
}
