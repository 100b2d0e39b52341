//! The state of one analysis: a stack of query levels, each with its range table and namespace, and
//! the kinds of clauses that contain expressions.
//!
//! Counterpart: parser/parse_node.h (`ParseState`); the levels are a stack instead of a chain of
//! pointers, so the number of an outer level is its distance from the top.

use crate::lookup::Lookup;
use crate::scope::ParamScope;
use crate::ty;
use ids::{AttrNo, Oid};
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{Expr, Location, Param, ParamKind, Var};
use plan::query::{CommonTableExpr, JoinTreeNode, RangeTblEntry};
use stdx::stack::deep;

/// The clause that an expression belongs to; errors name it. Counterpart: `ParseExprKind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExprKind {
    #[default]
    None,
    Other,
    JoinOn,
    JoinUsing,
    FromSubselect,
    FromFunction,
    Where,
    Having,
    Filter,
    WindowPartition,
    WindowOrder,
    WindowFrameRange,
    WindowFrameRows,
    WindowFrameGroups,
    SelectTarget,
    InsertTarget,
    UpdateSource,
    UpdateTarget,
    MergeWhen,
    GroupBy,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Returning,
    Values,
    ValuesSingle,
    CheckConstraint,
    DomainCheck,
    ColumnDefault,
    FunctionDefault,
    IndexExpression,
    IndexPredicate,
    StatsExpression,
    AlterColTransform,
    ExecuteParameter,
    TriggerWhen,
    Policy,
    PartitionBound,
    PartitionExpression,
    CallArgument,
    CopyWhere,
    GeneratedColumn,
    CycleMark,
}

impl ExprKind {
    /// The clause's name in messages such as "argument of … must not return a set". Counterpart:
    /// `ParseExprKindName`.
    pub fn name(self) -> &'static str {
        match self {
            ExprKind::None => "invalid expression context",
            ExprKind::Other => "extension expression",
            ExprKind::JoinOn => "JOIN/ON",
            ExprKind::JoinUsing => "JOIN/USING",
            ExprKind::FromSubselect => "sub-SELECT in FROM",
            ExprKind::FromFunction => "function in FROM",
            ExprKind::Where => "WHERE",
            ExprKind::Policy => "POLICY",
            ExprKind::Having => "HAVING",
            ExprKind::Filter => "FILTER",
            ExprKind::WindowPartition => "window PARTITION BY",
            ExprKind::WindowOrder => "window ORDER BY",
            ExprKind::WindowFrameRange => "window RANGE",
            ExprKind::WindowFrameRows => "window ROWS",
            ExprKind::WindowFrameGroups => "window GROUPS",
            ExprKind::SelectTarget => "SELECT",
            ExprKind::InsertTarget => "INSERT",
            ExprKind::UpdateSource | ExprKind::UpdateTarget => "UPDATE",
            ExprKind::MergeWhen => "MERGE WHEN",
            ExprKind::GroupBy => "GROUP BY",
            ExprKind::OrderBy => "ORDER BY",
            ExprKind::DistinctOn => "DISTINCT ON",
            ExprKind::Limit => "LIMIT",
            ExprKind::Offset => "OFFSET",
            ExprKind::Returning => "RETURNING",
            ExprKind::Values | ExprKind::ValuesSingle => "VALUES",
            ExprKind::CheckConstraint | ExprKind::DomainCheck => "CHECK",
            ExprKind::ColumnDefault | ExprKind::FunctionDefault => "DEFAULT",
            ExprKind::IndexExpression => "index expression",
            ExprKind::IndexPredicate => "index predicate",
            ExprKind::StatsExpression => "statistics expression",
            ExprKind::AlterColTransform => "USING",
            ExprKind::ExecuteParameter => "EXECUTE",
            ExprKind::TriggerWhen => "WHEN",
            ExprKind::PartitionBound => "partition bound",
            ExprKind::PartitionExpression => "PARTITION BY",
            ExprKind::CallArgument => "CALL",
            ExprKind::CopyWhere => "WHERE",
            ExprKind::GeneratedColumn => "GENERATED AS",
            ExprKind::CycleMark => "CYCLE",
        }
    }
}

/// A column of a namespace item.
#[derive(Clone, Debug)]
pub struct NsColumn {
    pub varno: i32,
    /// 0: the column was dropped or must not be used.
    pub varattno: AttrNo,
    pub vartype: Oid,
    pub vartypmod: i32,
    pub varcollid: Oid,
    /// Not part of `*`.
    pub hidden: bool,
}

impl NsColumn {
    /// The entry of a dropped column.
    pub const DROPPED: NsColumn = NsColumn {
        varno: 0,
        varattno: 0,
        vartype: Oid::INVALID,
        vartypmod: -1,
        varcollid: Oid::INVALID,
        hidden: false,
    };
}

/// A namespace item: a named FROM item whose columns can be referred to. Counterpart:
/// `ParseNamespaceItem`.
#[derive(Clone, Debug)]
pub struct NsItem {
    pub name: String,
    pub colnames: Vec<String>,
    /// Range-table index at its own level.
    pub rtindex: i32,
    pub columns: Vec<NsColumn>,
    /// OID of a plain relation, for schema-qualified references.
    pub relid: Oid,
    /// The name is an alias, which cannot be schema-qualified.
    pub aliased: bool,
    pub rel_visible: bool,
    pub cols_visible: bool,
    pub lateral_only: bool,
    pub lateral_ok: bool,
}

/// One query level.
#[derive(Default)]
pub struct Level {
    pub rtable: Vec<RangeTblEntry>,
    pub joinlist: Vec<JoinTreeNode>,
    pub namespace: Vec<NsItem>,
    pub lateral_active: bool,
    pub ctes: Vec<CommonTableExpr>,
    /// Names of CTEs of this level that cannot be referred to yet.
    pub future_ctes: Vec<String>,
    /// The CTE of the level above whose query this level is.
    pub in_cte: Option<usize>,
    /// Whether the query of each of `ctes` has been analysed.
    pub ctes_done: Vec<bool>,
    pub target: Option<Target>,
    pub is_insert: bool,
    pub windows: Vec<ast::WindowDef>,
    pub expr_kind: ExprKind,
    pub next_resno: AttrNo,
    pub multiassigns: Vec<plan::expr::TargetEntry>,
    pub locking: Vec<ast::LockingClause>,
    pub locked_from_parent: bool,
    pub resolve_unknowns: bool,
    pub has_aggs: bool,
    pub has_window_funcs: bool,
    pub has_target_srfs: bool,
    pub has_sub_links: bool,
    pub has_modifying_cte: bool,
    /// Number of set-returning calls so far, for placement checks.
    pub srf_calls: u32,
    /// The value of `VALUE` in the CHECK constraint of a domain.
    pub domain_value: Option<Expr>,
}

/// The relation that an INSERT, UPDATE or DELETE changes.
#[derive(Clone)]
pub struct Target {
    pub rtindex: i32,
    pub relation: std::sync::Arc<crate::lookup::Relation>,
    pub nsitem: NsItem,
}

/// The parameters of a statement.
#[derive(Clone, Debug)]
pub enum Params<'a> {
    /// The types are given; other parameters are errors.
    Fixed(Vec<Oid>),
    /// Invalid or unknown entries are inferred from their use.
    Variable(Vec<Oid>),
    /// They have names too.
    Scope(&'a dyn ParamScope),
}

/// Maximum number of columns of a row. Counterpart: `MaxTupleAttributeNumber`.
pub(crate) const ROW_COLUMNS_MAX: ids::AttrNo = 1664;
/// Maximum nesting depth of queries.
const LEVELS_MAX: u32 = 5_000;

/// The largest number of a parameter, and the largest number for which PostgreSQL allocates the
/// array of types.
const PARAMETERS_MAX: i32 = i32::MAX / 4;
const ALLOCATED_PARAMETERS_MAX: i32 = (1 << 28) - 1;

/// The state of the analysis of one statement. Counterpart: `ParseState`.
pub struct Analyzer<'a> {
    pub cat: &'a mut dyn Lookup,
    /// The statement text, for error positions; empty if unknown.
    pub sql: &'a str,
    pub params: Params<'a>,
    pub levels: Vec<Level>,
    /// The current nesting depth, at most `LEVELS_MAX`.
    pub(crate) depth: u32,
}

impl<'a> Analyzer<'a> {
    /// Starts the analysis of the statement `sql` with a single query level.
    pub fn new(cat: &'a mut dyn Lookup, sql: &'a str, params: Params<'a>) -> Analyzer<'a> {
        Analyzer { cat, sql, params, levels: vec![Level::new()], depth: 0 }
    }

    /// The innermost level.
    pub fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("an analysis has a level")
    }

    /// The innermost query level.
    pub fn level_ref(&self) -> &Level {
        self.levels.last().expect("an analysis has a level")
    }

    /// The level `up` levels above the innermost one.
    pub fn level_up(&mut self, up: u32) -> &mut Level {
        let at = self.levels.len() - 1 - up as usize;
        &mut self.levels[at]
    }

    /// The kind of the expression under analysis.
    pub fn kind(&self) -> ExprKind {
        self.level_ref().expr_kind
    }

    /// Runs `f` with another expression kind.
    pub fn with_kind<T>(
        &mut self,
        kind: ExprKind,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.level().expr_kind, kind);
        let result = f(self);
        self.level().expr_kind = before;
        result
    }

    /// Runs `f`, which analyses a sub-query, in a new query level.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.cat.check_interrupts()?;
        self.depth += 1;
        if self.depth > LEVELS_MAX {
            return Err(eval::too_deep());
        }
        self.levels.push(Level::new());
        let result = deep(|| f(self)).and_then(|done| self.check_length().map(|()| done));
        self.levels.pop();
        self.depth -= 1;
        result
    }

    /// Error 54011 if the target list of the level has more columns than a row can have.
    pub(crate) fn check_length(&self) -> Result<()> {
        if self.level_ref().next_resno - 1 > ROW_COLUMNS_MAX {
            return Err(pg_err!(
                TOO_MANY_COLUMNS,
                "target lists can have at most {ROW_COLUMNS_MAX} entries"
            ));
        }
        Ok(())
    }

    /// The error with its position set to a location in the statement text.
    pub fn at(&self, error: PgError, location: impl Into<ErrorLocation>) -> PgError {
        error.at(parse::position(self.sql, location.into().0))
    }

    /// Sets the position of an error that has none.
    pub fn with_position<T>(
        &self,
        result: Result<T>,
        location: impl Into<ErrorLocation>,
    ) -> Result<T> {
        result.map_err(|e| self.at(e, location))
    }

    /// A reference to parameter `$number`. With [`Params::Variable`], a parameter of unknown type
    /// gets its type at its first use.
    pub fn param(&mut self, number: i32, location: i32) -> Result<Expr> {
        let missing = || pg_err!(UNDEFINED_PARAMETER, "there is no parameter ${number}");
        let ok = (1..=PARAMETERS_MAX).contains(&number);
        let is_call_argument = self.kind() == ExprKind::CallArgument;
        let known = match &mut self.params {
            _ if !ok => None,
            Params::Fixed(types) => {
                types.get(number as usize - 1).copied().filter(|t| t.is_valid())
            }
            Params::Scope(scope) => scope.numbered(number),
            Params::Variable(types) => {
                let index = number as usize - 1;
                if number > ALLOCATED_PARAMETERS_MAX {
                    let bytes = 4 * i64::from(number);
                    let what = format!("invalid memory alloc request size {bytes}");
                    return Err(PgError::internal(what));
                }
                if types.len() <= index {
                    let more = index + 1 - types.len();
                    if types.try_reserve(more).is_err() {
                        return Err(pg_err!(OUT_OF_MEMORY, "out of memory"));
                    }
                    types.resize(index + 1, Oid::INVALID);
                }
                // A driver that calls procedures and functions alike passes void for an OUT
                // argument.
                if !types[index].is_valid() || is_call_argument && types[index] == ty::VOID {
                    types[index] = ty::UNKNOWN;
                }
                Some(types[index])
            }
        };
        let paramtype = known.ok_or_else(|| self.at(missing(), location))?;
        let own = match &self.params {
            Params::Scope(scope) => scope.collation_of(number),
            _ => Oid::INVALID,
        };
        let paramcollid = match self.type_collation(paramtype)? {
            of_type if of_type.is_valid() && own.is_valid() => own,
            of_type => of_type,
        };
        Ok(Expr::Param(Param {
            paramkind: ParamKind::Extern,
            paramid: number,
            paramtype,
            paramtypmod: -1,
            paramcollid,
            location: Location(location),
        }))
    }

    /// A reference to a namespace column.
    pub fn var(&self, column: &NsColumn, levelsup: u32, location: i32) -> Var {
        Var {
            varno: column.varno,
            varattno: column.varattno,
            vartype: column.vartype,
            vartypmod: column.vartypmod,
            varcollid: column.varcollid,
            varlevelsup: levelsup,
            location: Location(location),
        }
    }
}

impl Level {
    /// An empty query level.
    pub fn new() -> Level {
        Level { next_resno: 1, resolve_unknowns: true, ..Level::default() }
    }

    /// The range table entry with this index, from 1.
    pub fn rte(&self, rtindex: i32) -> &RangeTblEntry {
        &self.rtable[rtindex as usize - 1]
    }

    /// The range table entry with this index, from 1.
    pub fn rte_mut(&mut self, rtindex: i32) -> &mut RangeTblEntry {
        &mut self.rtable[rtindex as usize - 1]
    }
}

/// A location (byte offset, -1 if unknown) from the raw or the analysed tree.
pub struct ErrorLocation(pub i32);

impl From<i32> for ErrorLocation {
    fn from(offset: i32) -> ErrorLocation {
        ErrorLocation(offset)
    }
}

impl From<Location> for ErrorLocation {
    fn from(location: Location) -> ErrorLocation {
        ErrorLocation(location.0)
    }
}

impl From<&Expr> for ErrorLocation {
    fn from(expr: &Expr) -> ErrorLocation {
        ErrorLocation(expr.location().0)
    }
}
