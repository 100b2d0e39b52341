//! Statements about cursors. Counterpart: `stmt_open`, `read_cursor_args`, `read_fetch_direction`
//! of pl_gram.y.

use super::Parser;
use crate::tree::{Direction, Fetch, Open, OpenSource, SqlNo, StmtKind, VarKind, VarNo};
use parse::tokens::Kind;
use pgerror::{Result, pg_err};
use types::oids;

/// The number of rows that stands for ALL.
const ALL_ROWS: i64 = i64::MAX;

impl Parser<'_> {
    /// Reads a variable of type refcursor.
    pub(super) fn cursor_variable(&mut self) -> Result<VarNo> {
        let (var, token) = self.expect_variable()?;
        let is_element = self.scan.at_op("[")?;
        let e = match &self.vars[var].kind {
            VarKind::Scalar { ty, .. } if !is_element => match ty.oid {
                oids::REFCURSOR => return Ok(var),
                _ => {
                    let name = self.shown(token, var);
                    pg_err!(
                        DATATYPE_MISMATCH,
                        "variable \"{name}\" must be of type cursor or refcursor"
                    )
                }
            },
            _ => pg_err!(DATATYPE_MISMATCH, "cursor variable must be a simple variable"),
        };
        Err(self.error_at(token, e))
    }

    pub(super) fn open_statement(&mut self) -> Result<StmtKind> {
        let cursor = self.cursor_variable()?;
        if matches!(&self.vars[cursor].kind, VarKind::Scalar { cursor: Some(_), .. }) {
            let args = self.cursor_arguments(cursor, ";")?;
            let source = OpenSource::Bound { args };
            return Ok(StmtKind::Open(Box::new(Open { cursor, scroll: None, source })));
        }
        let mut scroll = None;
        if self.scan.accept("no")? {
            if self.scan.accept("scroll")? {
                scroll = Some(false);
            }
        } else if self.scan.accept("scroll")? {
            scroll = Some(true);
        }
        let token = self.scan.next()?;
        if !self.scan.is(token, "for") {
            return Err(self.scan.error(token, "syntax error, expected \"FOR\""));
        }
        let source = if self.scan.accept("execute")? {
            let (query, end) = self.expression(&Parser::ends(&["using", ";"], "USING or ;"))?;
            let mut params = Vec::new();
            if self.scan.is(end, "using") {
                params = self.parameters(&[",", ";"], ", or ;")?.0;
            }
            OpenSource::Dynamic { query, params }
        } else {
            OpenSource::Query(self.statement_to_end()?)
        };
        Ok(StmtKind::Open(Box::new(Open { cursor, scroll, source })))
    }

    /// Reads the arguments of a bound cursor and the token that must follow; returns an expression
    /// whose columns are the arguments in order.
    pub(super) fn cursor_arguments(&mut self, cursor: VarNo, until: &str) -> Result<Option<SqlNo>> {
        let name = self.vars[cursor].name.clone();
        let row = match &self.vars[cursor].kind {
            VarKind::Scalar { cursor: Some(bound), .. } => bound.args,
            _ => None,
        };
        let fields: Vec<String> = match row.map(|row| &self.vars[row].kind) {
            Some(VarKind::Row(fields)) => fields.iter().map(|f| f.name.clone()).collect(),
            _ => Vec::new(),
        };
        let token = self.scan.next()?;
        let opens = token.kind == Kind::Char(b'(');
        if fields.is_empty() {
            if opens {
                let e = pg_err!(SYNTAX_ERROR, "cursor \"{name}\" has no arguments");
                return Err(self.error_at(token, e));
            }
            return match self.is_token(token, until) {
                true => Ok(None),
                false => Err(self.scan.syntax_error(token)),
            };
        }
        if !opens {
            let e = pg_err!(SYNTAX_ERROR, "cursor \"{name}\" has arguments");
            return Err(self.error_at(token, e));
        }
        let (values, any_named) = self.argument_texts(&name, &fields)?;
        let list: Vec<String> = values
            .into_iter()
            .zip(&fields)
            .map(|(value, field)| match any_named {
                true => format!("{value} AS {}", parse::quote_identifier(field)),
                false => value,
            })
            .collect();
        let sql = self.composed(list.join(", "));
        let token = self.scan.next()?;
        if !self.is_token(token, until) {
            return Err(self.scan.syntax_error(token));
        }
        Ok(Some(sql))
    }

    /// The texts of a cursor's arguments in the order of its parameters; true if any has a name.
    fn argument_texts(&mut self, cursor: &str, fields: &[String]) -> Result<(Vec<String>, bool)> {
        let mut values: Vec<Option<String>> = vec![None; fields.len()];
        let mut any_named = false;
        for count in 0..fields.len() {
            let first = self.scan.peek()?;
            let second = self.scan.peek_at(1)?;
            let mut at = count;
            if self.scan.is_name(first) && self.scan.is_op(second, ":=") {
                let arg = self.scan.name_of(first);
                self.scan.next()?;
                self.scan.next()?;
                any_named = true;
                let Some(found) = fields.iter().position(|f| *f == arg) else {
                    let e = pg_err!(
                        SYNTAX_ERROR,
                        "cursor \"{cursor}\" has no argument named \"{arg}\""
                    );
                    return Err(self.error_at(first, e));
                };
                at = found;
            }
            if values[at].is_some() {
                let e = pg_err!(
                    SYNTAX_ERROR,
                    "value for parameter \"{}\" of cursor \"{cursor}\" specified more than once",
                    fields[at]
                );
                return Err(self.error_at(first, e));
            }
            let ends = Parser::ends(&[",", ")"], ",\" or \")");
            let (text, end) = self.expression_text(&ends)?;
            values[at] = Some(text);
            let is_last = count + 1 == fields.len();
            let refused = match (end.kind == Kind::Char(b')'), is_last) {
                (true, false) => Some("not enough"),
                (false, true) => Some("too many"),
                _ => None,
            };
            if let Some(what) = refused {
                let e = pg_err!(SYNTAX_ERROR, "{what} arguments for cursor \"{cursor}\"");
                return Err(self.error_at(end, e));
            }
        }
        Ok((values.into_iter().flatten().collect(), any_named))
    }

    pub(super) fn fetch_statement(&mut self, is_move: bool) -> Result<StmtKind> {
        let start = self.scan.previous().unwrap_or(self.scan.peek()?);
        let mut fetch = Fetch {
            cursor: 0,
            direction: Direction::Forward,
            count: 1,
            count_sql: None,
            is_move,
            target: None,
        };
        let several = self.fetch_direction(&mut fetch)?;
        fetch.cursor = self.cursor_variable()?;
        if !is_move {
            self.scan.expect("into")?;
            fetch.target = Some(self.into_target()?);
        }
        self.scan.expect_op(";")?;
        if several && !is_move {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "FETCH statement cannot return multiple rows");
            return Err(self.error_at(start, e));
        }
        Ok(StmtKind::Fetch(Box::new(fetch)))
    }

    /// Reads the direction of FETCH and FROM or IN; true if several rows may be returned.
    fn fetch_direction(&mut self, fetch: &mut Fetch) -> Result<bool> {
        let token = self.scan.peek()?;
        if token.kind == Kind::End {
            return Err(self.scan.end_of_function(token));
        }
        let word = match token.kind {
            Kind::Word => self.scan.name_of(token),
            _ => String::new(),
        };
        let is_variable = self.reference()?.is_some();
        let (direction, count) = match &*word {
            "from" | "in" => {
                self.scan.next()?;
                return Ok(false);
            }
            _ if is_variable => return Ok(false),
            "next" => (Direction::Forward, 1),
            "prior" => (Direction::Backward, 1),
            "first" => (Direction::Absolute, 1),
            "last" => (Direction::Absolute, -1),
            "absolute" | "relative" => {
                self.scan.next()?;
                fetch.direction = match &*word {
                    "absolute" => Direction::Absolute,
                    _ => Direction::Relative,
                };
                fetch.count_sql = Some(self.fetch_count()?);
                return Ok(false);
            }
            "all" => (Direction::Forward, ALL_ROWS),
            "forward" | "backward" => {
                self.scan.next()?;
                if word == "backward" {
                    fetch.direction = Direction::Backward;
                }
                return self.complete_direction(fetch);
            }
            _ => {
                fetch.count_sql = Some(self.fetch_count()?);
                return Ok(true);
            }
        };
        self.scan.next()?;
        (fetch.direction, fetch.count) = (direction, count);
        self.expect_from()?;
        Ok(count == ALL_ROWS)
    }

    fn complete_direction(&mut self, fetch: &mut Fetch) -> Result<bool> {
        if self.scan.accept("from")? || self.scan.accept("in")? {
            return Ok(false);
        }
        if self.scan.accept("all")? {
            fetch.count = ALL_ROWS;
            self.expect_from()?;
            return Ok(true);
        }
        fetch.count_sql = Some(self.fetch_count()?);
        Ok(true)
    }

    fn fetch_count(&mut self) -> Result<SqlNo> {
        self.expression(&Parser::ends(&["from", "in"], "FROM or IN")).map(|(sql, _)| sql)
    }

    fn expect_from(&mut self) -> Result<()> {
        let token = self.scan.next()?;
        if self.scan.is(token, "from") || self.scan.is(token, "in") {
            return Ok(());
        }
        Err(self.scan.error(token, "expected FROM or IN"))
    }
}
