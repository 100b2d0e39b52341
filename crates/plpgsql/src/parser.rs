//! Compiles the text of a function: a recursive-descent parser that resolves the names of variables
//! while it reads. Pieces of SQL are kept as text; their names are resolved when they are analysed,
//! in the namespace of their place.
//!
//! Reading order: this file (variables and names), `fragment` (pieces of SQL), `declare`,
//! `statements`, `loops`, `raise`, `cursors`. Counterpart: pl_gram.y, pl_comp.c.

mod cursors;
mod declare;
mod fragment;
mod loops;
mod raise;
mod statements;

use crate::scanner::Scanner;
use crate::source::{Settings, Source, TypeSource};
use crate::tree::{
    CodeKind, Condition, Function, LabelKind, Mentions, NameItem, NameKind, RowField, Sql, SqlNo,
    Stmt, StmtKind, TypeKind, VarKind, VarNo, VarType, Variable,
};
use analyze::NameConflict;
use ids::Oid;
use parse::tokens::{Kind, Token};
use pgerror::{PgError, Result, pg_err};
use types::oids;

/// Compiles a function. Positions of errors are positions in its text; an error without a position
/// has a context with the line.
pub fn compile(
    source: &Source<'_>,
    settings: &Settings,
    types: &mut dyn TypeSource,
) -> Result<Function> {
    let mut parser = Parser::new(source, settings, types);
    let result = parser.function();
    let line = parser.scan.latest_line();
    result.map_err(|e| match e.fields().position {
        Some(_) if source.is_new => e,
        _ => e.context(format!(
            "compilation of PL/pgSQL function \"{}\" near line {line}",
            source.name
        )),
    })
}

/// A parser with the parts of the function that it has built.
pub(crate) struct Parser<'a> {
    scan: Scanner<'a>,
    source: &'a Source<'a>,
    settings: &'a Settings,
    types: &'a mut dyn TypeSource,
    vars: Vec<Variable>,
    records: usize,
    sql: Vec<Sql>,
    names: Vec<NameItem>,
    /// The innermost item of the namespace.
    innermost: Option<usize>,
    out: Option<VarNo>,
    conflict: NameConflict,
    print_strict_params: bool,
    /// Number of variables for the values after CASE.
    case_variables: usize,
}

/// A variable that a name in the text denotes.
#[derive(Clone, Copy)]
pub(crate) struct Reference {
    var: VarNo,
    /// Number of tokens, and the number of names.
    tokens: usize,
    names: usize,
}

impl<'a> Parser<'a> {
    fn new(
        source: &'a Source<'a>,
        settings: &'a Settings,
        types: &'a mut dyn TypeSource,
    ) -> Parser<'a> {
        Parser {
            scan: Scanner::new(source.text, settings.lexer.standard_conforming_strings),
            source,
            settings,
            types,
            vars: Vec::new(),
            records: 0,
            sql: Vec::new(),
            names: Vec::new(),
            innermost: None,
            out: None,
            conflict: settings.conflict,
            print_strict_params: settings.print_strict_params,
            case_variables: 0,
        }
    }

    fn function(&mut self) -> Result<Function> {
        self.open_scope(Some(self.source.name), LabelKind::Block);
        let args = self.arguments()?;
        self.trigger_variables();
        let found = self.scalar("found", 0, VarType::scalar(oids::BOOL), true);
        self.options()?;
        let mut body = self.block()?;
        self.scan.accept_op(";")?;
        let end = self.scan.next()?;
        if end.kind != Kind::End {
            return Err(self.scan.syntax_error(end));
        }
        let outputs = self.out.is_some();
        if outputs || self.source.result.ty.oid == oids::VOID || self.source.result.is_set {
            add_return(&mut body, self.out);
        }
        Ok(Function {
            signature: self.source.signature.into(),
            kind: self.source.kind,
            result: self.source.result.clone(),
            read_only: self.source.read_only,
            vars: std::mem::take(&mut self.vars),
            records: self.records,
            sql: std::mem::take(&mut self.sql),
            names: std::mem::take(&mut self.names),
            args,
            out: self.out,
            found,
            conflict: self.conflict,
            print_strict_params: self.print_strict_params,
            extra: self.settings.extra,
            mentions: Mentions::of(self.source.text),
            body,
        })
    }

    /// Creates the variables of the arguments; returns those of the input arguments.
    fn arguments(&mut self) -> Result<Vec<VarNo>> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let source = self.source;
        for (i, arg) in source.args.iter().enumerate() {
            let number = format!("${}", i + 1);
            if arg.ty.kind == TypeKind::Pseudo {
                let shown = self.types.name_of(arg.ty.oid)?;
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "PL/pgSQL functions cannot accept type {shown}"
                ));
            }
            let name = if arg.name.is_empty() { &number } else { arg.name };
            let var = self.variable(name, 0, arg.ty.clone(), false);
            if arg.is_input {
                inputs.push(var);
            }
            if arg.is_output {
                outputs.push(RowField { name: self.vars[var].name.clone(), var });
            }
            self.declare_name(&number, var);
            if !arg.name.is_empty() {
                if self.find(&[arg.name], true).is_some() {
                    return Err(pg_err!(
                        INVALID_FUNCTION_DEFINITION,
                        "parameter name \"{}\" used more than once",
                        arg.name
                    ));
                }
                self.declare_name(arg.name, var);
            }
        }
        let row = outputs.len() > 1 || (outputs.len() == 1 && source.kind == CodeKind::Procedure);
        self.out = match outputs.first() {
            Some(_) if row => Some(self.row(outputs)),
            Some(only) => Some(only.var),
            None => None,
        };
        if self.out.is_none() && source.polymorphic_result {
            // Its type is named `$0%TYPE`.
            self.variable("$0", 0, source.result.ty.clone(), true);
        }
        Ok(inputs)
    }

    /// Creates the variables that describe the event of a trigger.
    fn trigger_variables(&mut self) {
        let text = VarType::text();
        let name = VarType { collation: ids::builtin::collation::C, ..VarType::scalar(oids::NAME) };
        let list = VarType { oid: oids::TEXT_ARRAY, ..text.clone() };
        let scalars: &[(&str, VarType)] = match self.source.kind {
            CodeKind::Trigger => {
                self.record("new", 0, VarType::record(), true);
                self.record("old", 0, VarType::record(), true);
                &[
                    ("tg_name", name.clone()),
                    ("tg_when", text.clone()),
                    ("tg_level", text.clone()),
                    ("tg_op", text),
                    ("tg_relid", VarType::scalar(oids::OID)),
                    ("tg_relname", name.clone()),
                    ("tg_table_name", name.clone()),
                    ("tg_table_schema", name),
                    ("tg_nargs", VarType::scalar(oids::INT4)),
                    ("tg_argv", list),
                ]
            }
            CodeKind::EventTrigger => &[("tg_event", text.clone()), ("tg_tag", text)],
            _ => &[],
        };
        for (name, ty) in scalars {
            self.scalar(name, 0, ty.clone(), true);
        }
    }

    /// `#option` lines before the outermost block.
    fn options(&mut self) -> Result<()> {
        while self.scan.accept_op("#")? {
            let (option, token) = self.scan.name()?;
            let value = match &*option {
                "option" => {
                    self.scan.expect("dump")?;
                    continue;
                }
                "print_strict_params" | "variable_conflict" => {
                    let token = self.scan.next()?;
                    (self.scan.name_of(token), token)
                }
                _ => return Err(self.scan.syntax_error(token)),
            };
            match (&*option, &*value.0) {
                ("print_strict_params", "on") => self.print_strict_params = true,
                ("print_strict_params", "off") => self.print_strict_params = false,
                ("print_strict_params", other) => {
                    return Err(PgError::internal(format!(
                        "unrecognized print_strict_params option {other}"
                    )));
                }
                (_, "error") => self.conflict = NameConflict::Error,
                (_, "use_variable") => self.conflict = NameConflict::UseVariable,
                (_, "use_column") => self.conflict = NameConflict::UseColumn,
                _ => return Err(self.scan.syntax_error(value.1)),
            }
        }
        Ok(())
    }

    /// Opens a level of the namespace.
    fn open_scope(&mut self, label: Option<&str>, kind: LabelKind) {
        let name = label.unwrap_or_default().to_owned();
        self.push_name(NameItem { name, kind: NameKind::Label(kind), outer: self.innermost });
    }

    /// Closes the innermost level.
    fn close_scope(&mut self) {
        while let Some(at) = self.innermost {
            self.innermost = self.names[at].outer;
            if let NameKind::Label(_) = self.names[at].kind {
                return;
            }
        }
    }

    fn push_name(&mut self, item: NameItem) {
        self.innermost = Some(self.names.len());
        self.names.push(item);
    }

    fn declare_name(&mut self, name: &str, var: VarNo) {
        let kind = match self.vars[var].kind {
            VarKind::Record { .. } => NameKind::Record(var),
            _ => NameKind::Scalar(var),
        };
        self.push_name(NameItem { name: name.to_owned(), kind, outer: self.innermost });
    }

    fn add(&mut self, name: &str, line: u32, kind: VarKind) -> VarNo {
        self.vars.push(Variable {
            name: name.to_owned(),
            line,
            kind,
            constant: false,
            not_null: false,
            default: None,
        });
        self.vars.len() - 1
    }

    /// Creates a variable of a type that variables can have; with `named`, its name is visible.
    fn variable(&mut self, name: &str, line: u32, ty: VarType, named: bool) -> VarNo {
        match ty.kind {
            TypeKind::Row => self.record(name, line, ty, named),
            _ => self.scalar(name, line, ty, named),
        }
    }

    fn scalar(&mut self, name: &str, line: u32, ty: VarType, named: bool) -> VarNo {
        let var = self.add(name, line, VarKind::Scalar { ty, cursor: None });
        if named {
            self.declare_name(name, var);
        }
        var
    }

    fn record(&mut self, name: &str, line: u32, ty: VarType, named: bool) -> VarNo {
        let record = self.records;
        self.records += 1;
        let var = self.add(name, line, VarKind::Record { ty, record });
        if named {
            self.declare_name(name, var);
        }
        var
    }

    fn row(&mut self, fields: Vec<RowField>) -> VarNo {
        self.add("(unnamed row)", 0, VarKind::Row(fields))
    }

    /// The variable that a field of a record is.
    fn field(&mut self, record: VarNo, name: &str) -> VarNo {
        let same = |v: &Variable| match &v.kind {
            VarKind::Field { record: r, name: n } => *r == record && n == name,
            _ => false,
        };
        if let Some(known) = self.vars.iter().position(same) {
            return known;
        }
        let shown = format!("{}.{name}", self.vars[record].name);
        self.add(&shown, 0, VarKind::Field { record, name: name.to_owned() })
    }

    fn find(&self, names: &[&str], innermost_only: bool) -> Option<(NameKind, usize)> {
        crate::names::find(&self.names, self.innermost, names, innermost_only)
    }

    /// The names `a`, `a.b` or `a.b.c` at the next token, and the number of their tokens. The words
    /// after a dot may be reserved.
    fn dotted(&mut self) -> Result<(Vec<String>, usize)> {
        let first = self.scan.peek()?;
        let mut names = Vec::new();
        let mut tokens = 0;
        if !self.scan.is_name(first) && first.kind != Kind::Param {
            return Ok((names, tokens));
        }
        loop {
            let token = self.scan.peek_at(tokens)?;
            names.push(self.scan.name_of(token));
            tokens += 1;
            let dot = self.scan.peek_at(tokens)?;
            let next = self.scan.peek_at(tokens + 1)?;
            let more = dot.kind == Kind::Char(b'.')
                && names.len() < 3
                && matches!(next.kind, Kind::Word | Kind::Quoted);
            if !more {
                return Ok((names, tokens));
            }
            tokens += 1;
        }
    }

    /// The variable at the next token. Counterpart: T_DATUM.
    fn reference(&mut self) -> Result<Option<Reference>> {
        let (names, _) = self.dotted()?;
        Ok(self.resolve(&names))
    }

    fn resolve(&mut self, names: &[String]) -> Option<Reference> {
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        if list.is_empty() {
            return None;
        }
        let (kind, used) = self.find(&list, false)?;
        let found = |var, names: usize| Some(Reference { var, tokens: 2 * names - 1, names });
        match kind {
            NameKind::Scalar(var) if used == list.len() => found(var, used),
            NameKind::Record(var) if used == list.len() => found(var, used),
            // Further names are fields of the field.
            NameKind::Record(var) => {
                let field = self.field(var, list[used]);
                found(field, used + 1)
            }
            _ => None,
        }
    }

    /// Reads a variable, or an error that names what is there instead.
    fn expect_variable(&mut self) -> Result<(VarNo, Token)> {
        let token = self.scan.peek()?;
        match self.reference()? {
            Some(found) => {
                for _ in 0..found.tokens {
                    self.scan.next()?;
                }
                Ok((found.var, token))
            }
            None => Err(self.not_a_variable()?),
        }
    }

    /// The error for names at the next token that denote no variable.
    fn not_a_variable(&mut self) -> Result<PgError> {
        let token = self.scan.peek()?;
        let (names, _) = self.dotted()?;
        Ok(match names.is_empty() {
            true => self.scan.syntax_error(token),
            false => {
                let shown = names.join(".");
                pg_err!(SYNTAX_ERROR, "\"{shown}\" is not a known variable")
                    .at(self.scan.position(token.start))
            }
        })
    }

    /// The name of a variable, as in errors. Counterpart: `NameOfDatum`.
    fn shown(&self, token: Token, var: VarNo) -> String {
        match &self.vars[var].kind {
            VarKind::Field { .. } => self.vars[var].name.clone(),
            _ => self.scan.name_of(token),
        }
    }

    /// Error 22005 for a constant.
    fn check_assignable(&self, var: VarNo, at: Token) -> Result<()> {
        let owner = match self.vars[var].kind {
            VarKind::Field { record, .. } => record,
            _ => var,
        };
        let variable = &self.vars[owner];
        if !variable.constant {
            return Ok(());
        }
        let name = &variable.name;
        Err(pg_err!(ERROR_IN_ASSIGNMENT, "variable \"{name}\" is declared CONSTANT")
            .at(self.scan.position(at.start)))
    }

    fn is_row_or_record(&self, var: VarNo) -> bool {
        matches!(self.vars[var].kind, VarKind::Record { .. } | VarKind::Row(_))
    }

    fn error_at(&self, token: Token, e: PgError) -> PgError {
        e.at(self.scan.position(token.start))
    }

    fn push_sql(&mut self, sql: Sql) -> SqlNo {
        self.sql.push(sql);
        self.sql.len() - 1
    }

    /// The conditions that a name in an exception handler denotes.
    fn conditions(name: &str) -> Result<Vec<Condition>> {
        if name == "others" {
            return Ok(vec![Condition::Others]);
        }
        let codes = crate::conditions::named(name)?;
        Ok(codes.into_iter().map(Condition::Code).collect())
    }
}

/// Adds the RETURN that a function needs which may end without one.
fn add_return(body: &mut crate::tree::Block, out: Option<VarNo>) {
    if body.exceptions.is_some() || body.label.is_some() {
        let inner = crate::tree::Block {
            label: None,
            line: 0,
            body: Vec::new(),
            vars: Vec::new(),
            exceptions: None,
        };
        let inner = std::mem::replace(body, inner);
        body.body.push(Stmt::new(0, StmtKind::Block(Box::new(inner))));
    }
    let ends = matches!(body.body.last(), Some(Stmt { kind: StmtKind::Return { .. }, .. }));
    if !ends {
        body.body.push(Stmt::new(0, StmtKind::Return { value: None, var: out }));
    }
}

impl VarType {
    /// A type without modifier and collation.
    pub fn scalar(oid: Oid) -> VarType {
        VarType { oid, typmod: -1, collation: Oid::INVALID, kind: TypeKind::Scalar }
    }

    /// Type text, with the default collation.
    pub fn text() -> VarType {
        VarType { collation: ids::builtin::collation::DEFAULT, ..VarType::scalar(oids::TEXT) }
    }

    /// The type of a record variable without a declared structure.
    pub fn record() -> VarType {
        VarType { kind: TypeKind::Row, ..VarType::scalar(oids::RECORD) }
    }
}
