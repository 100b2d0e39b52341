//! Syntax that the newer grammar accepts and PostgreSQL 15's does not: it is reported as a syntax
//! error at the token at which PostgreSQL 15 stops. The grammar also accepts parameters (`$1`) in
//! positions where PostgreSQL requires a literal, so that it can parse normalized statements.

use crate::ast::{
    AlterTableCmd, AlterTableType, CoercionForm, ColumnDef, ConstrType, Constraint,
    CreateStatsStmt, CreateStmt, DefElem, FuncCall, GrantRoleStmt, MergeStmt, Node, RangeSubselect,
    ReindexObjectType, ReindexStmt, TypeCast, VacuumRelation, VariableSetStmt,
};
use crate::error::position;
use crate::lexical::Scan;
use pgerror::{PgError, pg_err};

/// The token at which PostgreSQL 15 stops. Locations are byte offsets in the text.
#[derive(Clone, Copy)]
enum Stop {
    /// The token that begins at this location.
    At(i32),
    /// The last of these words, where they first follow each other after the location.
    Words(i32, &'static [&'static str]),
    /// The token after these words and an optional CONCURRENTLY.
    After(i32, &'static [&'static str]),
    /// The token after these words, unless it is the given one.
    AfterUnless(i32, &'static [&'static str], &'static str),
    /// The token after the first parentheses after the location.
    AfterParentheses(i32),
    /// A subquery in FROM without an alias.
    MissingAlias,
}

/// The first construct of a statement that is newer than version 15.
#[derive(Default)]
pub(super) struct NewerSyntax(Option<Stop>);

impl NewerSyntax {
    /// The error of a statement that begins at `start`, if it has newer syntax.
    pub(super) fn error(&self, sql: &str, start: i32, conforming: bool) -> Option<PgError> {
        let stop = self.0?;
        if let Stop::MissingAlias = stop {
            return missing_alias(sql, usize::try_from(start).unwrap_or(0), conforming);
        }
        let (from, words): (i32, &[&str]) = match stop {
            Stop::At(at) | Stop::AfterParentheses(at) => (at, &[]),
            Stop::MissingAlias => (start, &[]),
            Stop::Words(at, words) | Stop::After(at, words) => (at, words),
            Stop::AfterUnless(at, words, _) => (at, words),
        };
        let from = usize::try_from(from.max(start).max(0)).unwrap_or(0);
        let mut scan = Scan::new(sql, from);
        let mut next = || scan.token(conforming);
        let mut token = next();
        let mut matched = 0;
        while matched < words.len() {
            let (begin, end) = token?;
            match sql[begin..end].eq_ignore_ascii_case(words[matched]) {
                true => matched += 1,
                false => matched = 0,
            }
            if matched < words.len() || matches!(stop, Stop::After(..) | Stop::AfterUnless(..)) {
                token = next();
            }
        }
        let follows = |word: &str| {
            token.is_some_and(|(begin, end)| sql[begin..end].eq_ignore_ascii_case(word))
        };
        if matches!(stop, Stop::After(..)) && follows("concurrently") {
            token = next();
        }
        if let Stop::AfterParentheses(_) = stop {
            let mut depth = 0;
            loop {
                let (begin, end) = token?;
                let word = &sql[begin..end];
                match word {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ => {}
                }
                token = next();
                if depth == 0 && word == ")" {
                    break;
                }
            }
        }
        if let (Stop::AfterUnless(.., fine), Some((begin, end))) = (stop, token)
            && sql[begin..end].eq_ignore_ascii_case(fine)
        {
            return None;
        }
        Some(match token {
            Some((begin, end)) => {
                pg_err!(SYNTAX_ERROR, "syntax error at or near \"{}\"", &sql[begin..end])
                    .at(char_position(sql, begin))
            }
            None => pg_err!(SYNTAX_ERROR, "syntax error at end of input")
                .at(char_position(sql, sql.len())),
        })
    }

    fn stop(&mut self, stop: Stop) {
        self.0.get_or_insert(stop);
    }

    fn parameter(&mut self, node: &Node) {
        if let Node::ParamRef(p) = node {
            self.stop(Stop::At(p.location));
        }
    }

    /// `date $1`
    pub(super) fn cast(&mut self, cast: &TypeCast) {
        if cast.location < 0 {
            self.parameter(&cast.arg);
        }
    }

    /// `EXTRACT($1 FROM x)`, `x AT LOCAL`
    pub(super) fn call(&mut self, call: &FuncCall) {
        if call.funcformat != CoercionForm::SqlSyntax {
            return;
        }
        match (call.funcname.last().map(|n| &**n), &call.args[..]) {
            (Some("extract"), [field, _]) => self.parameter(field),
            (Some("timezone"), [_]) => self.stop(Stop::Words(0, &["at", "local"])),
            _ => {}
        }
    }

    /// `FROM (SELECT 1)`
    pub(super) fn derived(&mut self, derived: &RangeSubselect) {
        if derived.alias.is_none() {
            self.stop(Stop::MissingAlias);
        }
    }

    /// `SET work_mem = $1`
    pub(super) fn set(&mut self, set: &VariableSetStmt) {
        for node in &set.args {
            self.parameter(node);
        }
    }

    /// `CREATE ROLE a PASSWORD $1`
    pub(super) fn option(&mut self, option: &DefElem) {
        if let Some(node) = &option.arg {
            self.parameter(node);
        }
    }

    /// `WITH ADMIN OPTION` is the only option of a role membership in version 15.
    pub(super) fn membership(&mut self, grant: &GrantRoleStmt) {
        let is_admin = |o: &DefElem| &*o.defname == "admin";
        for option in &grant.opt {
            match (is_admin(option), grant.is_grant) {
                (true, true) if grant.opt.len() > 1 => {
                    self.stop(Stop::After(option.location, &["admin", "option"]));
                }
                // The tree does not distinguish ADMIN OPTION from ADMIN TRUE.
                (true, true) => {
                    self.stop(Stop::AfterUnless(option.location, &["admin"], "option"));
                }
                (false, true) => self.stop(Stop::At(option.location)),
                (false, false) => self.stop(Stop::Words(option.location, &["option"])),
                (true, false) => {}
            }
        }
    }

    /// `a int STORAGE plain`, `a int GENERATED ALWAYS AS (b) VIRTUAL`
    pub(super) fn column(&mut self, column: &ColumnDef) {
        if column.storage_name.is_some() {
            self.stop(Stop::Words(column.location, &["storage"]));
        }
    }

    /// NOT ENFORCED, WITHOUT OVERLAPS, and virtual generated columns.
    pub(super) fn constraint(&mut self, constraint: &Constraint) {
        let at = constraint.location;
        match constraint.contype {
            ConstrType::Generated if constraint.generated_kind != b's' => {
                self.stop(Stop::AfterParentheses(at));
            }
            ConstrType::AttrEnforced | ConstrType::AttrNotEnforced => {
                self.stop(Stop::Words(at, &["enforced"]));
            }
            ConstrType::Check | ConstrType::Foreign if !constraint.is_enforced => {
                self.stop(Stop::Words(at, &["enforced"]));
            }
            ConstrType::NotNull if constraint.is_no_inherit => {
                self.stop(Stop::Words(at, &["no"]));
            }
            _ if constraint.without_overlaps => self.stop(Stop::Words(at, &["without"])),
            _ if constraint.fk_with_period => self.stop(Stop::Words(at, &["period"])),
            _ => {}
        }
    }

    /// NOT NULL as a table constraint.
    pub(super) fn table(&mut self, table: &CreateStmt) {
        table.table_elts.iter().for_each(|node| self.table_constraint(node));
    }

    fn table_constraint(&mut self, node: &Node) {
        match node {
            Node::Constraint(c) if c.contype == ConstrType::NotNull => {
                self.stop(Stop::Words(c.location, &["not"]));
            }
            _ => {}
        }
    }

    pub(super) fn alter_table(&mut self, command: &AlterTableCmd) {
        match (command.subtype, &command.def) {
            (AlterTableType::AddConstraint, Some(def)) => self.table_constraint(def),
            (AlterTableType::SetExpression, _) => self.stop(Stop::Words(0, &["set", "expression"])),
            (AlterTableType::SetStatistics, None) => {
                self.stop(Stop::Words(0, &["set", "statistics", "default"]));
            }
            (AlterTableType::SetStorage, _) => {
                // DEFAULT is a reserved word, so the name can come from this syntax only.
                if matches!(&command.def, Some(Node::String(s)) if &**s == "default") {
                    self.stop(Stop::Words(0, &["set", "storage", "default"]));
                }
            }
            (AlterTableType::SetAccessMethod, _) if command.name.is_none() => {
                self.stop(Stop::Words(0, &["access", "method", "default"]));
            }
            _ => {}
        }
    }

    /// RETURNING with names for the old and the new row.
    pub(super) fn returning(&mut self) {
        self.stop(Stop::Words(0, &["returning", "with"]));
    }

    /// MERGE with RETURNING.
    pub(super) fn merge(&mut self, merge: &MergeStmt) {
        if !merge.returning_list.is_empty() {
            self.stop(Stop::Words(0, &["returning"]));
        }
    }

    /// CREATE STATISTICS without a name.
    pub(super) fn statistics(&mut self, statistics: &CreateStatsStmt) {
        if statistics.defnames.is_empty() {
            self.stop(Stop::After(0, &["create", "statistics"]));
        }
    }

    /// REINDEX DATABASE and SYSTEM without a name.
    pub(super) fn reindex(&mut self, reindex: &ReindexStmt) {
        match reindex.kind {
            _ if reindex.name.is_some() => {}
            ReindexObjectType::Database => self.stop(Stop::After(0, &["database"])),
            ReindexObjectType::System => self.stop(Stop::After(0, &["system"])),
            _ => {}
        }
    }

    /// `VACUUM ONLY t`
    pub(super) fn vacuum(&mut self, relation: &VacuumRelation) {
        if relation.relation.as_ref().is_some_and(|r| !r.inh) {
            self.stop(Stop::Words(0, &["only"]));
        }
    }
}

fn char_position(sql: &str, at: usize) -> u32 {
    i32::try_from(at).map_or(0, |at| position(sql, at))
}

/// An open parenthesis.
struct Open {
    begin: usize,
    /// It is at the position of a FROM item.
    is_item: bool,
    /// It is the first token within the enclosing parenthesis.
    is_first: bool,
    /// It contains a query, directly or within a parenthesis that is its first token.
    is_query: bool,
}

/// Words that are followed by a table.
const BEFORE_ITEM: &[&str] = &["from", "join", "lateral", "using", "into"];
/// Words that begin a query.
const QUERY: &[&str] = &["select", "values", "with", "table"];
/// Words that end FROM.
const AFTER_FROM: &[&str] = &[
    "where",
    "group",
    "having",
    "window",
    "union",
    "intersect",
    "except",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "on",
    "when",
    "select",
    "values",
    "set",
    "returning",
];

/// Tokens that may follow a parenthesized query that is a part of another query.
const IN_QUERY: &[&str] =
    &[")", "union", "intersect", "except", "order", "limit", "offset", "fetch", "for"];

/// The error for a subquery in FROM without an alias; of several, for the one whose closing
/// parenthesis comes first, as the grammar reduces that one first.
fn missing_alias(sql: &str, start: usize, conforming: bool) -> Option<PgError> {
    let mut scan = Scan::new(sql, start);
    let is = |token: (usize, usize), words: &[&str]| {
        words.iter().any(|w| w.eq_ignore_ascii_case(&sql[token.0..token.1]))
    };
    let mut token = scan.token(conforming);
    let mut open: Vec<Open> = Vec::new();
    // For each nesting level: within FROM a comma is followed by a table.
    let mut in_from = vec![false];
    let mut expects_item = false;
    let mut word = "";
    while let Some(now) = token {
        token = scan.token(conforming);
        let last = std::mem::replace(&mut word, &sql[now.0..now.1]);
        match word {
            "(" => {
                let is_query = token.is_some_and(|t| is(t, QUERY));
                let is_first = last == "(";
                open.push(Open { begin: now.0, is_item: expects_item, is_first, is_query });
                in_from.push(expects_item);
                // The next parenthesis may be the subquery, or a table of a join.
                continue;
            }
            ")" => {
                let closed = open.pop()?;
                in_from.pop();
                let named = token.is_some_and(|t| {
                    let first = sql.as_bytes()[t.0];
                    let name = first == b'"' || first == b'_' || first.is_ascii_alphabetic();
                    name && (is(t, &["as"]) || may_be_alias(&sql[t.0..t.1]))
                });
                // Of nested parentheses the outermost ones delimit the subquery.
                let continues_query = token.is_some_and(|t| is(t, IN_QUERY));
                if let Some(enclosing) = open.last_mut()
                    && continues_query
                    && enclosing.is_item
                    && closed.is_first
                    && closed.is_query
                {
                    enclosing.is_query = true;
                } else if closed.is_item && closed.is_query && !named {
                    let (what, example) = match is_values(sql, closed.begin, conforming) {
                        true => ("VALUES", "FROM (VALUES ...) [AS] foo"),
                        false => ("subquery", "FROM (SELECT ...) [AS] foo"),
                    };
                    let e = pg_err!(SYNTAX_ERROR, "{what} in FROM must have an alias");
                    let e = e.hint(format!("For example, {example}."));
                    return Some(e.at(char_position(sql, closed.begin)));
                }
                expects_item = false;
                continue;
            }
            "," => expects_item = in_from.last() == Some(&true),
            _ if is(now, BEFORE_ITEM) => {
                expects_item = true;
                *in_from.last_mut()? = true;
            }
            _ if is(now, AFTER_FROM) => {
                expects_item = false;
                *in_from.last_mut()? = false;
            }
            _ => expects_item = false,
        }
    }
    None
}

fn may_be_alias(word: &str) -> bool {
    use crate::keywords::Category;
    let category = crate::keywords::category(&word.to_ascii_lowercase());
    matches!(category, None | Some(Category::Unreserved | Category::ColName))
}

/// Whether VALUES is the first word after these parentheses.
fn is_values(sql: &str, from: usize, conforming: bool) -> bool {
    let mut scan = Scan::new(sql, from);
    while let Some((begin, end)) = scan.token(conforming) {
        match &sql[begin..end] {
            "(" => {}
            word => return word.eq_ignore_ascii_case("values"),
        }
    }
    false
}
