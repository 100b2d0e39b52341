//! Pieces of SQL in a function: where they end, their texts, and the check of their syntax.
//! Counterpart: `read_sql_construct`, `make_execsql_stmt` of pl_gram.y.

use super::Parser;
use crate::tree::{RowField, Sql, SqlMode, SqlNo, SqlStmt, VarNo};
use parse::Mode;
use parse::tokens::{Kind, Token};
use pgerror::{PgError, Result, pg_err};

/// A token that ends a piece of SQL, with the name of all such tokens for errors.
pub(super) struct Ends<'e> {
    pub tokens: &'e [&'e str],
    pub shown: &'e str,
}

pub(super) const SEMICOLON: Ends<'static> = Ends { tokens: &[";"], shown: ";" };

impl Parser<'_> {
    /// True if the token is this word or special token.
    pub(super) fn is_token(&self, token: Token, text: &str) -> bool {
        match text.as_bytes()[0].is_ascii_alphabetic() {
            true => self.scan.is(token, text),
            false => self.scan.is_op(token, text),
        }
    }

    /// Reads up to one of the ending tokens outside parentheses, and skips that token; returns the
    /// text's start and end and the ending token.
    fn extent(&mut self, ends: &Ends<'_>, is_expression: bool) -> Result<(usize, usize, Token)> {
        let first = self.scan.peek()?;
        let mut depth = 0u32;
        let mut end = first.start;
        loop {
            self.note_field()?;
            let token = self.scan.next()?;
            // With less than three ending tokens, the end of the text ends the piece too.
            let at_end = token.kind == Kind::End && ends.tokens.len() < 3;
            let ended =
                depth == 0 && (at_end || ends.tokens.iter().any(|t| self.is_token(token, t)));
            if ended {
                if token.start == first.start {
                    let what = if is_expression { "expression" } else { "SQL statement" };
                    return Err(self.scan.error(token, &format!("missing {what}")));
                }
                return Ok((first.start, end, token));
            }
            match token.kind {
                Kind::Char(b'(' | b'[') => depth += 1,
                Kind::Char(b')' | b']') => {
                    depth = depth
                        .checked_sub(1)
                        .ok_or_else(|| self.scan.error(token, "mismatched parentheses"))?;
                }
                Kind::End | Kind::Char(b';') if depth > 0 => {
                    return Err(self.scan.error(token, "mismatched parentheses"));
                }
                Kind::End | Kind::Char(b';') => {
                    let what = if is_expression { "expression" } else { "statement" };
                    let shown = ends.shown;
                    let e = pg_err!(SYNTAX_ERROR, "missing \"{shown}\" at end of SQL {what}");
                    return Err(self.error_at(token, e));
                }
                _ => {}
            }
            end = token.end;
        }
    }

    /// Adds the variable of the field that the next tokens name, if they name one.
    fn note_field(&mut self) -> Result<()> {
        if self.records == 0 || self.scan.peek_at(1)?.kind != Kind::Char(b'.') {
            return Ok(());
        }
        let is_part = self.scan.previous().is_some_and(|t| t.kind == Kind::Char(b'.'));
        if !is_part {
            self.reference()?;
        }
        Ok(())
    }

    /// Adds a piece of SQL that starts at this offset; its syntax is checked.
    pub(super) fn add_sql(&mut self, text: String, mode: SqlMode, at: usize) -> Result<SqlNo> {
        self.check_syntax(&text, mode, at)?;
        Ok(self.push_sql(Sql { text: text.into(), mode, scope: self.innermost }))
    }

    /// Reads an expression.
    pub(super) fn expression(&mut self, ends: &Ends<'_>) -> Result<(SqlNo, Token)> {
        let (start, end, token) = self.extent(ends, true)?;
        let text = self.scan.text()[start..end].to_owned();
        Ok((self.add_sql(text, SqlMode::Expression, start)?, token))
    }

    /// Reads an expression that ends with a semicolon.
    pub(super) fn expression_to_end(&mut self) -> Result<SqlNo> {
        self.expression(&SEMICOLON).map(|(sql, _)| sql)
    }

    /// Reads an expression that ends with this word.
    pub(super) fn expression_until(&mut self, word: &str) -> Result<SqlNo> {
        let shown = word.to_ascii_uppercase();
        self.expression(&Ends { tokens: &[word], shown: &shown }).map(|(sql, _)| sql)
    }

    /// Reads an expression as text, without adding it; its syntax is checked.
    pub(super) fn expression_text(&mut self, ends: &Ends<'_>) -> Result<(String, Token)> {
        let (start, end, token) = self.extent(ends, true)?;
        let text = self.scan.text()[start..end].to_owned();
        self.check_syntax(&text, SqlMode::Expression, start)?;
        Ok((text, token))
    }

    /// Reads a statement of SQL that ends with a semicolon.
    pub(super) fn statement_to_end(&mut self) -> Result<SqlNo> {
        let (start, end, _) = self.extent(&SEMICOLON, false)?;
        let text = self.scan.text()[start..end].to_owned();
        self.add_sql(text, SqlMode::Statement, start)
    }

    /// Reads an assignment, whose target is at the next token and has this number of names.
    pub(super) fn assignment(&mut self, names: usize) -> Result<SqlNo> {
        let (start, end, _) = self.extent(&SEMICOLON, false)?;
        let text = self.scan.text()[start..end].to_owned();
        self.add_sql(text, SqlMode::Assignment(names as u8), start)
    }

    /// Reads the query of PERFORM, at which the next token is, as a SELECT.
    pub(super) fn perform(&mut self) -> Result<SqlNo> {
        let (start, end, _) = self.extent(&SEMICOLON, false)?;
        let text = self.scan.text()[start..end].to_owned();
        let text = format!("SELECT{}", &text["PERFORM".len()..]);
        // SELECT is one character shorter.
        self.add_sql(text, SqlMode::Statement, start + 1)
    }

    /// Reads the part of a FOR loop up to `..` or LOOP; true if it ends with `..`. The caller adds
    /// the text.
    pub(super) fn range_or_query(&mut self) -> Result<(String, usize, bool)> {
        let ends = Ends { tokens: &["..", "loop"], shown: "LOOP" };
        let (start, end, token) = self.extent(&ends, true)?;
        let is_range = self.scan.is_op(token, "..");
        Ok((self.scan.text()[start..end].to_owned(), start, is_range))
    }

    /// Adds an expression that the parser has composed.
    pub(super) fn composed(&mut self, text: String) -> SqlNo {
        self.push_sql(Sql { text: text.into(), mode: SqlMode::Expression, scope: self.innermost })
    }

    /// Error for a piece of SQL that the SQL parser does not accept, with its position in the text
    /// of the function. `at`: offset of the piece.
    fn check_syntax(&mut self, text: &str, mode: SqlMode, at: usize) -> Result<()> {
        if !self.source.is_new {
            return Ok(());
        }
        let options = parse::Options { mode: mode.parser(), ..self.settings.lexer };
        let mut notices = Vec::new();
        let parsed = parse::parse_with_notices(text, options, &mut notices);
        for notice in notices {
            let notice = self.moved(notice, at);
            self.types.warn(notice);
        }
        match parsed {
            Ok(_) => Ok(()),
            Err(e) => Err(self.moved(e, at)),
        }
    }

    /// The error of a piece of text with its position in the text of the function.
    pub(super) fn moved(&self, mut e: PgError, at: usize) -> PgError {
        let before = self.scan.position(at).saturating_sub(1);
        if let Some(position) = &mut e.fields_mut().position {
            *position += before;
        }
        e
    }

    /// Reads a statement of SQL with INTO, whose first token is `first`, the token before the next
    /// one.
    pub(super) fn sql_statement(&mut self, first: Token) -> Result<SqlStmt> {
        let mut shape = Shape::new(self.scan.is(first, "create"));
        let imports = self.scan.is(first, "import");
        let mut into: Option<(usize, usize, VarNo, bool)> = None;
        let mut previous = first;
        let semicolon = loop {
            self.note_field()?;
            let token = self.scan.next()?;
            if let Some(found) = &mut into
                && found.1 == 0
            {
                found.1 = token.start;
            }
            if shape.ends(self, token) {
                break token;
            }
            if token.kind == Kind::End {
                return Err(self.scan.end_of_function(token));
            }
            let is_target = self.scan.is(token, "into")
                && !self.scan.is(previous, "insert")
                && !self.scan.is(previous, "merge")
                && !imports;
            if is_target {
                if into.is_some() {
                    return Err(self.scan.error(token, "INTO specified more than once"));
                }
                let strict = self.scan.accept("strict")?;
                let target = self.into_target()?;
                into = Some((token.start, 0, target, strict));
            }
            previous = token;
        };
        let source = self.scan.text();
        let end = source[..semicolon.start].trim_end().len();
        let mut text = String::new();
        match into {
            Some((from, to, ..)) => {
                // Spaces keep the positions in the rest of the statement.
                text.push_str(&source[first.start..from]);
                text.extend(source[from..to].chars().map(|_| ' '));
                text.push_str(&source[to..semicolon.start]);
                text.truncate(text.trim_end().len());
            }
            None => text.push_str(&source[first.start..end]),
        }
        let sql = self.add_sql(text, SqlMode::Statement, first.start)?;
        let strict = into.is_some_and(|i| i.3);
        Ok(SqlStmt { sql, into: into.map(|i| i.2), strict })
    }

    /// Reads the variables after INTO: a record, or a list of scalar variables.
    pub(super) fn into_target(&mut self) -> Result<VarNo> {
        let (var, token) = self.expect_variable()?;
        if !self.is_row_or_record(var) {
            return self.scalar_list(var, token);
        }
        self.check_assignable(var, token)?;
        let next = self.scan.peek()?;
        if next.kind == Kind::Char(b',') {
            let e =
                pg_err!(SYNTAX_ERROR, "record variable cannot be part of multiple-item INTO list");
            return Err(self.error_at(next, e));
        }
        Ok(var)
    }

    /// Reads the rest of a list of scalar variables, whose first one has been read.
    pub(super) fn scalar_list(&mut self, first: VarNo, token: Token) -> Result<VarNo> {
        self.check_assignable(first, token)?;
        let mut fields = vec![RowField { name: self.shown(token, first), var: first }];
        while self.scan.accept_op(",")? {
            let (var, token) = self.expect_variable()?;
            self.check_assignable(var, token)?;
            let name = self.shown(token, var);
            if self.is_row_or_record(var) {
                let e = pg_err!(SYNTAX_ERROR, "\"{name}\" is not a scalar variable");
                return Err(self.error_at(token, e));
            }
            fields.push(RowField { name, var });
        }
        Ok(self.row(fields))
    }
}

impl SqlMode {
    /// The mode of the SQL parser.
    pub(crate) fn parser(self) -> Mode {
        match self {
            SqlMode::Statement => Mode::Statements,
            SqlMode::Expression => Mode::PlpgsqlExpr,
            SqlMode::Assignment(names) => Mode::PlpgsqlAssign(names),
        }
    }
}

/// Recognizes the semicolon that ends a statement: not one in parentheses (CREATE RULE) or in the
/// body of a routine.
struct Shape {
    /// The first words of a statement that begins with CREATE, as letters.
    words: Vec<u8>,
    creates: bool,
    in_routine: bool,
    parentheses: i32,
    blocks: u32,
}

impl Shape {
    fn new(creates: bool) -> Shape {
        Shape { words: Vec::new(), creates, in_routine: false, parentheses: 0, blocks: 0 }
    }

    fn ends(&mut self, parser: &Parser<'_>, token: Token) -> bool {
        if self.creates && self.words.len() < 3 {
            let words: [(&str, u8); 4] =
                [("or", b'o'), ("replace", b'r'), ("function", b'f'), ("procedure", b'f')];
            let known = words.iter().find(|(word, _)| parser.scan.is(token, word));
            self.words.push(known.map_or(b'x', |(_, letter)| *letter));
            self.in_routine |= matches!(&self.words[..], [b'f'] | [b'o', b'r', b'f']);
        }
        match token.kind {
            Kind::Char(b'(') => self.parentheses += 1,
            Kind::Char(b')') => self.parentheses -= 1,
            Kind::Word if self.in_routine && self.parentheses == 0 => {
                if parser.scan.is(token, "begin") || parser.scan.is(token, "case") {
                    self.blocks += 1;
                } else if parser.scan.is(token, "end") {
                    self.blocks = self.blocks.saturating_sub(1);
                }
            }
            _ => {}
        }
        token.kind == Kind::Char(b';') && self.parentheses == 0 && self.blocks == 0
    }
}
