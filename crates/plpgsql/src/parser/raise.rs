//! RAISE. Counterpart: `stmt_raise` of pl_gram.y.

use super::Parser;
use crate::tree::{Raise, RaiseCondition, RaiseOption, SqlNo, StmtKind};
use parse::tokens::{Kind, Token};
use pgerror::{Result, Severity, pg_err};

impl Parser<'_> {
    pub(super) fn raise_statement(&mut self) -> Result<StmtKind> {
        let mut raise = Raise {
            level: Severity::Error,
            condition: None,
            message: None,
            params: Vec::new(),
            options: Vec::new(),
        };
        let mut token = self.raise_token()?;
        if token.kind == Kind::Char(b';') {
            return Ok(StmtKind::Raise(Box::new(raise)));
        }
        if let Some(level) = self.level(token) {
            raise.level = level;
            token = self.raise_token()?;
        }
        if token.kind == Kind::String {
            raise.message = Some(self.scan.string_of(token));
            token = self.scan.next()?;
            while self.scan.is_op(token, ",") {
                let ends = Parser::ends(&[",", ";", "using"], ", or ; or USING");
                let (param, end) = self.expression(&ends)?;
                raise.params.push(param);
                token = end;
            }
        } else if !self.scan.is(token, "using") {
            raise.condition = Some(self.raise_condition(token)?);
            token = self.scan.next()?;
        }
        if self.scan.is(token, "using") {
            raise.options = self.raise_options()?;
        } else if token.kind != Kind::Char(b';') {
            return Err(self.scan.syntax_error(token));
        }
        check_parameters(&raise)?;
        Ok(StmtKind::Raise(Box::new(raise)))
    }

    fn raise_token(&mut self) -> Result<Token> {
        let token = self.scan.next()?;
        match token.kind {
            Kind::End => Err(self.scan.end_of_function(token)),
            _ => Ok(token),
        }
    }

    fn level(&self, token: Token) -> Option<Severity> {
        let levels = [
            ("exception", Severity::Error),
            ("warning", Severity::Warning),
            ("notice", Severity::Notice),
            ("info", Severity::Info),
            ("log", Severity::Log),
            ("debug", Severity::Debug),
        ];
        levels.iter().find(|(word, _)| self.scan.is(token, word)).map(|(_, level)| *level)
    }

    fn raise_condition(&mut self, token: Token) -> Result<RaiseCondition> {
        if self.scan.is(token, "sqlstate") {
            let token = self.scan.next()?;
            if token.kind != Kind::String {
                return Err(self.scan.syntax_error(token));
            }
            let name = self.scan.string_of(token);
            return match crate::conditions::literal(&name) {
                Some(code) => Ok(RaiseCondition { name, code }),
                None => Err(self.scan.error(token, "invalid SQLSTATE code")),
            };
        }
        if !self.scan.is_name(token) {
            return Err(self.scan.syntax_error(token));
        }
        let name = self.scan.name_of(token);
        let code = crate::conditions::named(&name)?[0];
        Ok(RaiseCondition { name, code })
    }

    fn raise_options(&mut self) -> Result<Vec<(RaiseOption, SqlNo)>> {
        let mut options = Vec::new();
        loop {
            let token = self.raise_token()?;
            let name = self.scan.name_of(token);
            let Some(option) = option(&name).filter(|_| token.kind == Kind::Word) else {
                return Err(self.scan.error(token, "unrecognized RAISE statement option"));
            };
            let equals = self.scan.next()?;
            if !self.scan.is_op(equals, "=") && !self.scan.is_op(equals, ":=") {
                return Err(self.scan.error(equals, "syntax error, expected \"=\""));
            }
            let (sql, end) = self.expression(&Parser::ends(&[",", ";"], ", or ;"))?;
            options.push((option, sql));
            if self.scan.is_op(end, ";") {
                return Ok(options);
            }
        }
    }
}

fn option(name: &str) -> Option<RaiseOption> {
    Some(match name {
        "errcode" => RaiseOption::Errcode,
        "message" => RaiseOption::Message,
        "detail" => RaiseOption::Detail,
        "hint" => RaiseOption::Hint,
        "column" => RaiseOption::Column,
        "constraint" => RaiseOption::Constraint,
        "datatype" => RaiseOption::Datatype,
        "table" => RaiseOption::Table,
        "schema" => RaiseOption::Schema,
        _ => return None,
    })
}

/// Error 42601 unless there are as many parameters as placeholders in the message.
fn check_parameters(raise: &Raise) -> Result<()> {
    let Some(message) = &raise.message else { return Ok(()) };
    let mut expected = 0;
    let mut rest = message.bytes().peekable();
    while let Some(b) = rest.next() {
        if b == b'%' && rest.next_if_eq(&b'%').is_none() {
            expected += 1;
        }
    }
    match raise.params.len().cmp(&expected) {
        std::cmp::Ordering::Less => {
            Err(pg_err!(SYNTAX_ERROR, "too few parameters specified for RAISE"))
        }
        std::cmp::Ordering::Greater => {
            Err(pg_err!(SYNTAX_ERROR, "too many parameters specified for RAISE"))
        }
        std::cmp::Ordering::Equal => Ok(()),
    }
}
