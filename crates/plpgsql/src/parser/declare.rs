//! Declarations of variables, and types. Counterpart: `decl_sect` of pl_gram.y,
//! `read_datatype`.

use super::Parser;
use super::fragment::Ends;
use crate::tree::{Cursor, LabelKind, RowField, TypeKind, VarKind, VarNo, VarType};
use parse::tokens::{Kind, Token};
use pgerror::{PgError, Result, Severity, pg_err};
use types::oids;

impl Parser<'_> {
    /// Reads the declarations of a block up to BEGIN; returns the declared variables.
    pub(super) fn declarations(&mut self) -> Result<Vec<VarNo>> {
        let mut vars = Vec::new();
        while !self.scan.at_word("begin")? {
            if self.scan.accept("declare")? {
                continue;
            }
            let token = self.scan.peek()?;
            if self.scan.is_op(token, "<<") {
                let e =
                    pg_err!(SYNTAX_ERROR, "block label must be placed before DECLARE, not after");
                return Err(self.error_at(token, e));
            }
            vars.extend(self.declaration()?);
        }
        Ok(vars)
    }

    /// Reads one declaration; returns the variable unless it is an alias.
    fn declaration(&mut self) -> Result<Option<VarNo>> {
        let (name, token) = self.scan.name()?;
        let line = self.scan.line_of(token.start);
        self.check_new_name(&name, token)?;
        if self.scan.at_word("alias")? {
            self.scan.next()?;
            self.scan.expect("for")?;
            self.alias(&name)?;
            return Ok(None);
        }
        if let Some(scroll) = self.cursor_follows()? {
            return self.cursor(&name, line, scroll).map(Some);
        }
        let constant = self.scan.accept("constant")?;
        let ty = self.data_type()?;
        let ty = self.with_collation(ty)?;
        let not_null = self.scan.peek()?;
        let is_not_null = self.scan.accept("not")?;
        if is_not_null {
            self.scan.expect("null")?;
        }
        let default = self.default()?;
        let var = self.variable(&name, line, ty, true);
        let variable = &mut self.vars[var];
        (variable.constant, variable.not_null) = (constant, is_not_null);
        variable.default = default;
        if is_not_null && default.is_none() {
            let e = pg_err!(
                NULL_VALUE_NOT_ALLOWED,
                "variable \"{name}\" must have a default value, since it's declared NOT NULL"
            );
            return Err(self.error_at(not_null, e));
        }
        Ok(Some(var))
    }

    /// Error for a name that the block declares already; a warning or error, if it is enabled, for
    /// one that hides an outer one.
    fn check_new_name(&mut self, name: &str, token: Token) -> Result<()> {
        if self.find(&[name], true).is_some() {
            return Err(self.scan.error(token, "duplicate declaration"));
        }
        let extra = self.settings.extra;
        let wanted = extra.warnings.shadowed_variables || extra.errors.shadowed_variables;
        // As in PostgreSQL, DO is not checked.
        if !wanted || !self.source.is_new || self.source.kind == crate::tree::CodeKind::Inline {
            return Ok(());
        }
        if self.find(&[name], false).is_none() {
            return Ok(());
        }
        let e =
            pg_err!(DUPLICATE_ALIAS, "variable \"{name}\" shadows a previously defined variable");
        let e = self.error_at(token, e);
        if extra.errors.shadowed_variables {
            return Err(e);
        }
        self.types.warn(e.severity(Severity::Warning));
        Ok(())
    }

    fn alias(&mut self, name: &str) -> Result<()> {
        let token = self.scan.peek()?;
        let (names, tokens) = self.dotted()?;
        if names.is_empty() {
            return Err(self.scan.syntax_error(token));
        }
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = self.find(&list, false).filter(|(_, used)| *used == list.len());
        let Some((kind, _)) = found else {
            let shown = names.join(".");
            let e = pg_err!(UNDEFINED_OBJECT, "variable \"{shown}\" does not exist");
            return Err(self.error_at(token, e));
        };
        for _ in 0..tokens {
            self.scan.next()?;
        }
        self.scan.expect_op(";")?;
        let outer = self.innermost;
        self.push_name(crate::tree::NameItem { name: name.to_owned(), kind, outer });
        Ok(())
    }

    /// Skips `[[NO] SCROLL] CURSOR`; `None` if something else follows. The value is whether the
    /// cursor can scroll, if that is declared.
    fn cursor_follows(&mut self) -> Result<Option<Option<bool>>> {
        let words = [self.scan.peek()?, self.scan.peek_at(1)?, self.scan.peek_at(2)?];
        let is = |at: usize, word: &str| self.scan.is(words[at], word);
        let (scroll, skipped) = match () {
            () if is(0, "cursor") => (None, 1),
            () if is(0, "scroll") && is(1, "cursor") => (Some(true), 2),
            () if is(0, "no") && is(1, "scroll") && is(2, "cursor") => (Some(false), 3),
            () => return Ok(None),
        };
        for _ in 0..skipped {
            self.scan.next()?;
        }
        Ok(Some(scroll))
    }

    /// Reads the rest of the declaration of a bound cursor.
    fn cursor(&mut self, name: &str, line: u32, scroll: Option<bool>) -> Result<VarNo> {
        self.open_scope(Some(name), LabelKind::Other);
        let mut fields = Vec::new();
        if self.scan.accept_op("(")? {
            loop {
                let (arg, token) = self.scan.name()?;
                let line = self.scan.line_of(token.start);
                self.check_new_name(&arg, token)?;
                let ty = self.data_type()?;
                let var = self.variable(&arg, line, ty, true);
                fields.push(RowField { name: arg, var });
                if !self.scan.accept_op(",")? {
                    break;
                }
            }
            self.scan.expect_op(")")?;
        }
        let token = self.scan.next()?;
        if !self.scan.is(token, "is") && !self.scan.is(token, "for") {
            return Err(self.scan.syntax_error(token));
        }
        let query = self.statement_to_end()?;
        self.close_scope();
        let args = if fields.is_empty() { None } else { Some(self.row(fields)) };
        let ty = VarType::scalar(oids::REFCURSOR);
        let var = self.variable(name, line, ty.clone(), true);
        let literal = parse::keywords::quote_literal(name);
        let default = self.composed(format!("{literal}::pg_catalog.refcursor"));
        let cursor = Some(Box::new(Cursor { query, args, scroll }));
        self.vars[var].kind = VarKind::Scalar { ty, cursor };
        self.vars[var].default = Some(default);
        Ok(var)
    }

    fn default(&mut self) -> Result<Option<crate::tree::SqlNo>> {
        let token = self.scan.next()?;
        if token.kind == Kind::Char(b';') {
            return Ok(None);
        }
        let starts = self.scan.is_op(token, ":=")
            || self.scan.is_op(token, "=")
            || self.scan.is(token, "default");
        if !starts {
            return Err(self.scan.syntax_error(token));
        }
        self.expression_to_end().map(Some)
    }

    fn with_collation(&mut self, ty: VarType) -> Result<VarType> {
        if !self.scan.accept("collate")? {
            return Ok(ty);
        }
        let token = self.scan.peek()?;
        let (names, tokens) = self.dotted()?;
        if names.is_empty() {
            return Err(self.scan.syntax_error(token));
        }
        for _ in 0..tokens {
            self.scan.next()?;
        }
        let collation = self.types.collation(&names).map_err(|e| self.unplaced(e))?;
        if !ty.collation.is_valid() {
            let shown = self.types.name_of(ty.oid)?;
            let e = pg_err!(DATATYPE_MISMATCH, "collations are not supported by type {shown}");
            return Err(self.error_at(token, e));
        }
        Ok(VarType { collation, ..ty })
    }

    /// The error without its position, which is not one in the text of the function.
    fn unplaced(&self, mut e: PgError) -> PgError {
        e.fields_mut().position = None;
        e
    }

    /// Reads a type.
    pub(super) fn data_type(&mut self) -> Result<VarType> {
        if let Some(ty) = self.type_of_object()? {
            return Ok(ty);
        }
        let first = self.scan.peek()?;
        let mut depth = 0;
        let mut end = first.start;
        loop {
            let token = self.scan.peek()?;
            match token.kind {
                Kind::End if depth > 0 => {
                    return Err(self.scan.error(token, "mismatched parentheses"));
                }
                Kind::End => {
                    return Err(self.scan.error(token, "incomplete data type declaration"));
                }
                Kind::Char(b';') => break,
                Kind::Char(b',' | b')') if depth == 0 => break,
                Kind::Char(b'(') => depth += 1,
                Kind::Char(b')') => depth -= 1,
                _ => {
                    let ends = ["collate", "not", "default", "=", ":="];
                    if ends.iter().any(|text| self.is_token(token, text)) {
                        break;
                    }
                }
            }
            end = token.end;
            self.scan.next()?;
        }
        if end == first.start {
            let token = self.scan.peek()?;
            return Err(self.scan.error(token, "missing data type declaration"));
        }
        let text = &self.scan.text()[first.start..end];
        let ty = self.types.named(text).map_err(|e| self.moved(e, first.start))?;
        if ty.kind == TypeKind::Pseudo {
            let shown = self.types.name_of(ty.oid)?;
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "variable has pseudo-type {shown}"));
        }
        Ok(ty)
    }

    /// Reads `name%TYPE` and `name%ROWTYPE`; `None` if the next tokens are another type.
    fn type_of_object(&mut self) -> Result<Option<VarType>> {
        let (names, tokens) = self.dotted()?;
        if names.is_empty() {
            return Ok(None);
        }
        let percent = self.scan.peek_at(tokens)?;
        if !self.scan.is_op(percent, "%") {
            return Ok(None);
        }
        let word = self.scan.peek_at(tokens + 1)?;
        let found = if self.scan.is(word, "type") {
            match self.type_of_variable(&names) {
                Some(ty) => Some(ty),
                None => self.types.of_column(&names).map_err(|e| self.unplaced(e))?,
            }
        } else if self.scan.is(word, "rowtype") {
            Some(self.types.of_row(&names).map_err(|e| self.unplaced(e))?)
        } else {
            None
        };
        if found.is_some() {
            for _ in 0..tokens + 2 {
                self.scan.next()?;
            }
        }
        Ok(found)
    }

    fn type_of_variable(&mut self, names: &[String]) -> Option<VarType> {
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        let (kind, used) = self.find(&list, false)?;
        if used != list.len() {
            return None;
        }
        let (crate::tree::NameKind::Scalar(var) | crate::tree::NameKind::Record(var)) = kind else {
            return None;
        };
        match &self.vars[var].kind {
            VarKind::Scalar { ty, .. } | VarKind::Record { ty, .. } => Some(ty.clone()),
            _ => None,
        }
    }

    /// The end of an expression that a word or a special token ends.
    pub(super) fn ends<'e>(tokens: &'e [&'e str], shown: &'e str) -> Ends<'e> {
        Ends { tokens, shown }
    }
}
