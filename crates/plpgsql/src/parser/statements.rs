//! Blocks and statements. Counterpart: `pl_block`, `proc_stmt` of pl_gram.y.

use super::Parser;
use crate::tree::{
    Block, Case, CodeKind, Condition, Diagnostic, DynamicSql, Exceptions, Handler, If, LabelKind,
    ReturnQuery, RowSource, SqlNo, Stmt, StmtKind, VarKind, VarNo, VarType,
};
use parse::tokens::{Kind, Token};
use pgerror::{Result, pg_err};
use stdx::stack::deep;
use types::oids;

impl Parser<'_> {
    /// Reads a label: `<<name>>`.
    fn label(&mut self) -> Result<Option<String>> {
        if !self.scan.accept_op("<<")? {
            return Ok(None);
        }
        let (name, _) = self.scan.name()?;
        self.scan.expect_op(">>")?;
        Ok(Some(name))
    }

    /// Reads a block up to its END and label.
    pub(super) fn block(&mut self) -> Result<Block> {
        let label = self.label()?;
        self.block_with(label)
    }

    fn block_with(&mut self, label: Option<String>) -> Result<Block> {
        self.open_scope(label.as_deref(), LabelKind::Block);
        let declares = self.scan.accept("declare")?;
        let vars = if declares { self.declarations()? } else { Vec::new() };
        let begin = self.scan.expect("begin")?;
        let line = self.scan.line_of(begin.start);
        let body = self.statements()?;
        let exceptions = match self.scan.accept("exception")? {
            true => Some(self.exceptions()?),
            false => None,
        };
        self.scan.expect("end")?;
        self.end_label(label.as_deref())?;
        self.close_scope();
        Ok(Block { label, line, body, vars, exceptions })
    }

    /// Reads the label after END, which must be that of the block.
    pub(super) fn end_label(&mut self, label: Option<&str>) -> Result<()> {
        let token = self.scan.peek()?;
        if !self.scan.is_name(token) {
            return Ok(());
        }
        self.scan.next()?;
        let name = self.scan.name_of(token);
        match label {
            Some(label) if label == name => Ok(()),
            Some(label) => Err(self.error_at(
                token,
                pg_err!(
                    SYNTAX_ERROR,
                    "end label \"{name}\" differs from block's label \"{label}\""
                ),
            )),
            None => Err(self.error_at(
                token,
                pg_err!(SYNTAX_ERROR, "end label \"{name}\" specified for unlabeled block"),
            )),
        }
    }

    fn exceptions(&mut self) -> Result<Exceptions> {
        let token = self.scan.previous().unwrap_or(self.scan.peek()?);
        let line = self.scan.line_of(token.start);
        let sqlstate = self.scalar("sqlstate", line, VarType::text(), true);
        let sqlerrm = self.scalar("sqlerrm", line, VarType::text(), true);
        self.vars[sqlstate].constant = true;
        self.vars[sqlerrm].constant = true;
        let mut handlers = Vec::new();
        loop {
            let when = self.scan.expect("when")?;
            let line = self.scan.line_of(when.start);
            let mut conditions = self.condition()?;
            while self.scan.accept("or")? {
                conditions.extend(self.condition()?);
            }
            self.scan.expect("then")?;
            let body = self.statements()?;
            handlers.push(Handler { line, conditions, body });
            if !self.scan.at_word("when")? {
                return Ok(Exceptions { sqlstate, sqlerrm, handlers });
            }
        }
    }

    fn condition(&mut self) -> Result<Vec<Condition>> {
        let (name, _) = self.scan.name()?;
        if name != "sqlstate" {
            return Parser::conditions(&name);
        }
        let token = self.scan.next()?;
        if token.kind != Kind::String {
            return Err(self.scan.syntax_error(token));
        }
        match crate::conditions::literal(&self.scan.string_of(token)) {
            Some(code) => Ok(vec![Condition::Code(code)]),
            None => Err(self.scan.error(token, "invalid SQLSTATE code")),
        }
    }

    /// Reads statements up to a word that ends them.
    pub(super) fn statements(&mut self) -> Result<Vec<Stmt>> {
        let mut list = Vec::new();
        loop {
            let token = self.scan.peek()?;
            let ends = ["end", "exception", "when", "else", "elsif", "elseif"];
            if ends.iter().any(|word| self.scan.is(token, word)) && !self.is_assigned()? {
                return Ok(list);
            }
            list.push(deep(|| self.statement())?);
        }
    }

    /// True if the next tokens are an assignment to a variable with one name.
    fn is_assigned(&mut self) -> Result<bool> {
        let after = self.scan.peek_at(1)?;
        let assigned = self.scan.is_op(after, ":=")
            || self.scan.is_op(after, "=")
            || self.scan.is_op(after, "[");
        Ok(assigned && self.reference()?.is_some())
    }

    fn statement(&mut self) -> Result<Stmt> {
        let token = self.scan.peek()?;
        let line = self.scan.line_of(token.start);
        let kind = self.statement_kind(token)?;
        Ok(Stmt::new(line, kind))
    }

    fn statement_kind(&mut self, token: Token) -> Result<StmtKind> {
        let starts_block = self.scan.is_op(token, "<<")
            || self.scan.is(token, "declare")
            || self.scan.is(token, "begin");
        if starts_block {
            let label = self.label()?;
            return self.labelled(label);
        }
        if let Some(found) = self.reference()?
            && (found.names > 1 || self.is_assigned()?)
        {
            self.check_assignable(found.var, token)?;
            let value = self.assignment(found.names)?;
            return Ok(StmtKind::Assign { target: found.var, value });
        }
        if token.kind == Kind::Word {
            let word = token.text(self.scan.text()).to_ascii_lowercase();
            self.scan.next()?;
            if let Some(kind) = self.keyword_statement(&word, token)? {
                return Ok(kind);
            }
            self.scan.back();
        }
        if !self.scan.is_name(token) {
            return Err(self.scan.syntax_error(token));
        }
        let (_, tokens) = self.dotted()?;
        let after = self.scan.peek_at(tokens)?;
        let assigned = ["=", ":=", "[", "."].iter().any(|op| self.scan.is_op(after, op));
        if assigned || tokens > 1 {
            return Err(self.not_a_variable()?);
        }
        self.scan.next()?;
        Ok(StmtKind::Sql(Box::new(self.sql_statement(token)?)))
    }

    /// A statement that begins with a word of PL/pgSQL, which has been read.
    fn keyword_statement(&mut self, word: &str, token: Token) -> Result<Option<StmtKind>> {
        Ok(Some(match word {
            "if" => self.if_statement()?,
            "case" => self.case_statement()?,
            "loop" | "while" | "for" | "foreach" => {
                self.scan.back();
                self.labelled(None)?
            }
            "exit" | "continue" => self.exit(token, word == "exit")?,
            "return" => self.return_statement(token)?,
            "raise" => self.raise_statement()?,
            "assert" => self.assert_statement()?,
            "execute" => self.execute_statement()?,
            "perform" => {
                self.scan.back();
                StmtKind::Perform(self.perform()?)
            }
            "call" | "do" => {
                self.scan.back();
                StmtKind::Call { sql: self.statement_to_end()?, is_call: word == "call" }
            }
            "get" => self.get_diagnostics(token)?,
            "open" => self.open_statement()?,
            "fetch" | "move" => self.fetch_statement(word == "move")?,
            "close" => {
                let cursor = self.cursor_variable()?;
                self.scan.expect_op(";")?;
                StmtKind::Close(cursor)
            }
            "null" => {
                self.scan.expect_op(";")?;
                StmtKind::Null
            }
            "commit" => StmtKind::Commit { chain: self.chain()? },
            "rollback" => StmtKind::Rollback { chain: self.chain()? },
            // The SQL command of this name begins with a word of PL/pgSQL for other places.
            "table" => return Err(self.scan.syntax_error(token)),
            _ => return Ok(None),
        }))
    }

    fn labelled(&mut self, label: Option<String>) -> Result<StmtKind> {
        let token = self.scan.peek()?;
        if self.scan.is(token, "declare") || self.scan.is(token, "begin") {
            let block = self.block_with(label)?;
            self.scan.expect_op(";")?;
            return Ok(StmtKind::Block(Box::new(block)));
        }
        self.loop_statement(label)
    }

    fn if_statement(&mut self) -> Result<StmtKind> {
        let mut arms = Vec::new();
        let mut line = 0;
        loop {
            let condition = self.expression_until("then")?;
            arms.push((condition, line, self.statements()?));
            let token = self.scan.next()?;
            if self.scan.is(token, "elsif") || self.scan.is(token, "elseif") {
                line = self.scan.line_of(token.start);
                continue;
            }
            let mut otherwise = Vec::new();
            let mut end = token;
            if self.scan.is(token, "else") {
                otherwise = self.statements()?;
                end = self.scan.next()?;
            }
            if !self.scan.is(end, "end") {
                return Err(self.scan.syntax_error(end));
            }
            self.scan.expect("if")?;
            self.scan.expect_op(";")?;
            return Ok(StmtKind::If(Box::new(If { arms, otherwise })));
        }
    }

    fn case_statement(&mut self) -> Result<StmtKind> {
        let mut test = None;
        if !self.scan.at_word("when")? {
            let (value, _) = self.expression(&Parser::ends(&["when"], "WHEN"))?;
            self.scan.back();
            self.case_variables += 1;
            let name = format!("__Case__Variable_{}__", self.case_variables);
            let var = self.scalar(&name, 0, VarType::scalar(oids::INT4), true);
            test = Some((value, var));
        }
        let mut arms = Vec::new();
        while self.scan.at_word("when")? {
            let when = self.scan.next()?;
            let line = self.scan.line_of(when.start);
            let condition = match test {
                None => self.expression_until("then")?,
                Some((_, var)) => {
                    let (text, _) = self.expression_text(&Parser::ends(&["then"], "THEN"))?;
                    let name = self.vars[var].name.clone();
                    self.composed(format!("\"{name}\" IN ({text})"))
                }
            };
            arms.push((condition, line, self.statements()?));
        }
        if arms.is_empty() {
            let token = self.scan.peek()?;
            return Err(self.scan.syntax_error(token));
        }
        let otherwise = match self.scan.accept("else")? {
            true => Some(self.statements()?),
            false => None,
        };
        self.scan.expect("end")?;
        self.scan.expect("case")?;
        self.scan.expect_op(";")?;
        Ok(StmtKind::Case(Box::new(Case { test, arms, otherwise })))
    }

    fn exit(&mut self, start: Token, is_exit: bool) -> Result<StmtKind> {
        let token = self.scan.peek()?;
        let mut label = None;
        if self.scan.is_name(token) {
            self.scan.next()?;
            let name = self.scan.name_of(token);
            let kind = crate::names::find_label(&self.names, self.innermost, &name);
            let refused = match kind {
                None => Some(pg_err!(
                    SYNTAX_ERROR,
                    "there is no label \"{name}\" attached to any block or loop enclosing this \
                     statement"
                )),
                Some(kind) if !is_exit && kind != LabelKind::Loop => {
                    Some(pg_err!(SYNTAX_ERROR, "block label \"{name}\" cannot be used in CONTINUE"))
                }
                Some(_) => None,
            };
            if let Some(e) = refused {
                return Err(self.error_at(token, e));
            }
            label = Some(name);
        } else if !crate::names::is_in_loop(&self.names, self.innermost) {
            let e = match is_exit {
                true => pg_err!(
                    SYNTAX_ERROR,
                    "EXIT cannot be used outside a loop, unless it has a label"
                ),
                false => pg_err!(SYNTAX_ERROR, "CONTINUE cannot be used outside a loop"),
            };
            return Err(self.error_at(start, e));
        }
        let condition = if self.scan.accept_op(";")? {
            None
        } else {
            self.scan.expect("when")?;
            Some(self.expression_to_end()?)
        };
        Ok(StmtKind::Exit { is_exit, label, condition })
    }

    fn return_statement(&mut self, start: Token) -> Result<StmtKind> {
        let token = self.scan.peek()?;
        if token.kind == Kind::End {
            return Err(self.scan.end_of_function(token));
        }
        if self.scan.accept("next")? {
            return self.return_next(start);
        }
        if self.scan.accept("query")? {
            return self.return_query(start);
        }
        let is_void = self.source.result.ty.oid == oids::VOID;
        let refused = if self.source.result.is_set {
            Some(
                pg_err!(
                    DATATYPE_MISMATCH,
                    "RETURN cannot have a parameter in function returning set"
                )
                .hint("Use RETURN NEXT or RETURN QUERY."),
            )
        } else if is_void && self.source.kind == CodeKind::Procedure {
            Some(pg_err!(SYNTAX_ERROR, "RETURN cannot have a parameter in a procedure"))
        } else if is_void {
            Some(pg_err!(
                DATATYPE_MISMATCH,
                "RETURN cannot have a parameter in function returning void"
            ))
        } else if self.out.is_some() {
            Some(pg_err!(
                DATATYPE_MISMATCH,
                "RETURN cannot have a parameter in function with OUT parameters"
            ))
        } else {
            None
        };
        if let Some(e) = refused {
            let token = self.scan.next()?;
            if token.kind != Kind::Char(b';') {
                return Err(self.error_at(token, e));
            }
            return Ok(StmtKind::Return { value: None, var: self.out });
        }
        let (value, var) = self.returned()?;
        Ok(StmtKind::Return { value, var })
    }

    /// Reads the value of RETURN: a variable, or an expression.
    fn returned(&mut self) -> Result<(Option<SqlNo>, Option<VarNo>)> {
        if let Some(found) = self.reference()? {
            let after = self.scan.peek_at(found.tokens)?;
            let is_field = matches!(self.vars[found.var].kind, VarKind::Field { .. });
            if after.kind == Kind::Char(b';') && !is_field {
                for _ in 0..=found.tokens {
                    self.scan.next()?;
                }
                return Ok((None, Some(found.var)));
            }
        }
        Ok((Some(self.expression_to_end()?), None))
    }

    fn return_next(&mut self, start: Token) -> Result<StmtKind> {
        if !self.source.result.is_set {
            let e = pg_err!(DATATYPE_MISMATCH, "cannot use RETURN NEXT in a non-SETOF function");
            return Err(self.error_at(start, e));
        }
        if self.out.is_some() {
            let token = self.scan.next()?;
            if token.kind != Kind::Char(b';') {
                let e = pg_err!(
                    DATATYPE_MISMATCH,
                    "RETURN NEXT cannot have a parameter in function with OUT parameters"
                );
                return Err(self.error_at(token, e));
            }
            return Ok(StmtKind::ReturnNext { value: None, var: self.out });
        }
        let (value, var) = self.returned()?;
        Ok(StmtKind::ReturnNext { value, var })
    }

    fn return_query(&mut self, start: Token) -> Result<StmtKind> {
        if !self.source.result.is_set {
            let e = pg_err!(DATATYPE_MISMATCH, "cannot use RETURN QUERY in a non-SETOF function");
            return Err(self.error_at(start, e));
        }
        if !self.scan.accept("execute")? {
            let source = RowSource::Query(self.statement_to_end()?);
            return Ok(StmtKind::ReturnQuery(Box::new(ReturnQuery { source })));
        }
        let (query, end) = self.expression(&Parser::ends(&[";", "using"], "; or USING"))?;
        let mut params = Vec::new();
        if self.scan.is(end, "using") {
            params = self.parameters(&[",", ";"], ", or ;")?.0;
        }
        let source = RowSource::Dynamic { query, params };
        Ok(StmtKind::ReturnQuery(Box::new(ReturnQuery { source })))
    }

    /// Reads expressions after USING, separated by commas, up to another token of `ends`.
    pub(super) fn parameters(&mut self, ends: &[&str], shown: &str) -> Result<(Vec<SqlNo>, Token)> {
        let mut params = Vec::new();
        loop {
            let (sql, end) = self.expression(&Parser::ends(ends, shown))?;
            params.push(sql);
            if !self.scan.is_op(end, ",") {
                return Ok((params, end));
            }
        }
    }

    fn assert_statement(&mut self) -> Result<StmtKind> {
        let (condition, end) = self.expression(&Parser::ends(&[",", ";"], ", or ;"))?;
        let message = match self.scan.is_op(end, ",") {
            true => Some(self.expression_to_end()?),
            false => None,
        };
        Ok(StmtKind::Assert { condition, message })
    }

    fn execute_statement(&mut self) -> Result<StmtKind> {
        let ends = Parser::ends(&["into", "using", ";"], "INTO or USING or ;");
        let (query, mut end) = self.expression(&ends)?;
        let (mut into, mut strict, mut params) = (None, false, Vec::new());
        loop {
            if self.scan.is(end, "into") && into.is_none() {
                strict = self.scan.accept("strict")?;
                into = Some(self.into_target()?);
                end = self.scan.next()?;
            } else if self.scan.is(end, "using") && params.is_empty() {
                (params, end) = self.parameters(&[",", ";", "into"], ", or ; or INTO")?;
            } else if end.kind == Kind::Char(b';') {
                let stmt = DynamicSql { query, into, strict, params };
                return Ok(StmtKind::DynamicSql(Box::new(stmt)));
            } else {
                return Err(self.scan.syntax_error(end));
            }
        }
    }

    fn get_diagnostics(&mut self, start: Token) -> Result<StmtKind> {
        let is_stacked = self.scan.accept("stacked")?;
        if !is_stacked {
            self.scan.accept("current")?;
        }
        self.scan.expect("diagnostics")?;
        let mut items = Vec::new();
        loop {
            let var = self.diagnostics_target()?;
            if !self.scan.accept_op("=")? {
                self.scan.expect_op(":=")?;
            }
            let token = self.scan.next()?;
            let Some(item) = diagnostic(&self.scan.name_of(token)) else {
                return Err(self.scan.error(token, "unrecognized GET DIAGNOSTICS item"));
            };
            items.push((var, item));
            if !self.scan.accept_op(",")? {
                break;
            }
        }
        self.scan.expect_op(";")?;
        for (_, item) in &items {
            let of_stacked = match item {
                Diagnostic::Context => continue,
                Diagnostic::RowCount => false,
                _ => true,
            };
            if of_stacked != is_stacked {
                let kind = if is_stacked { "STACKED" } else { "CURRENT" };
                let name = item.name();
                let e = pg_err!(
                    SYNTAX_ERROR,
                    "diagnostics item {name} is not allowed in GET {kind} DIAGNOSTICS"
                );
                return Err(self.error_at(start, e));
            }
        }
        Ok(StmtKind::GetDiagnostics { is_stacked, items })
    }

    fn diagnostics_target(&mut self) -> Result<VarNo> {
        let (var, token) = self.expect_variable()?;
        if self.is_row_or_record(var) || self.scan.at_op("[")? {
            let name = self.shown(token, var);
            let e = pg_err!(SYNTAX_ERROR, "\"{name}\" is not a scalar variable");
            return Err(self.error_at(token, e));
        }
        self.check_assignable(var, token)?;
        Ok(var)
    }

    fn chain(&mut self) -> Result<bool> {
        let mut chain = false;
        if self.scan.accept("and")? {
            chain = !self.scan.accept("no")?;
            self.scan.expect("chain")?;
        }
        self.scan.expect_op(";")?;
        Ok(chain)
    }
}

fn diagnostic(name: &str) -> Option<Diagnostic> {
    Some(match name {
        "row_count" => Diagnostic::RowCount,
        "pg_context" => Diagnostic::Context,
        "pg_exception_detail" => Diagnostic::ErrorDetail,
        "pg_exception_hint" => Diagnostic::ErrorHint,
        "pg_exception_context" => Diagnostic::ErrorContext,
        "column_name" => Diagnostic::ColumnName,
        "constraint_name" => Diagnostic::ConstraintName,
        "pg_datatype_name" => Diagnostic::DatatypeName,
        "message_text" => Diagnostic::MessageText,
        "table_name" => Diagnostic::TableName,
        "schema_name" => Diagnostic::SchemaName,
        "returned_sqlstate" => Diagnostic::ReturnedSqlstate,
        _ => return None,
    })
}
