//! Parameters with names: the arguments of a function and the variables of a procedural language,
//! which a statement refers to like columns.
//!
//! Counterpart: the hooks `p_pre_columnref_hook` and `p_post_columnref_hook`, functions.c
//! (`sql_fn_post_column_ref`).

use crate::expr::op_name;
use crate::state::{Analyzer, Params};
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::expr::{Expr, Location, Param, ParamKind};

/// The meaning of a name that both a column and a variable have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameConflict {
    /// Error 42702.
    Error,
    UseVariable,
    UseColumn,
}

/// A parameter that was found by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The number of the parameter.
    pub number: i32,
    pub ty: Oid,
    /// The type modifier; -1 if it has none.
    pub typmod: i32,
    /// The collation; the invalid OID for that of the type.
    pub collation: Oid,
    /// The number of leading names of the reference that identify the variable. The names after
    /// them are fields.
    pub names: usize,
}

/// The parameters that a statement may refer to, by number or by name.
pub trait ParamScope: std::fmt::Debug {
    /// The type of `$number`; `None` if there is no such parameter.
    fn numbered(&self, number: i32) -> Option<Oid>;

    /// The collation of `$number`; the invalid OID for that of its type.
    fn collation_of(&self, _number: i32) -> Oid {
        Oid::INVALID
    }

    /// The variable that the first of these names (there is at least one) identify. An error if
    /// they identify one that has no value of a known type.
    fn named(&self, names: &[&str]) -> Result<Option<Variable>>;

    fn conflict(&self) -> NameConflict {
        NameConflict::UseColumn
    }

    /// The detail of the error where a name is ambiguous.
    fn conflict_detail(&self) -> &'static str {
        "It could refer to either a variable or a table column."
    }
}

/// The arguments of an SQL function: `argument`, `function.argument`, and fields of these.
#[derive(Debug)]
pub(crate) struct FunctionArguments<'a> {
    pub(crate) function: &'a str,
    pub(crate) types: &'a [Oid],
    /// The collation of the call, which is that of arguments of types with a collation.
    pub(crate) collation: Oid,
    /// Empty for an argument without a name; may be shorter than `types`.
    pub(crate) names: &'a [String],
}

impl FunctionArguments<'_> {
    fn find(&self, name: &str, names: usize) -> Option<Variable> {
        let at = self.names.iter().position(|n| n == name && !name.is_empty())?;
        let ty = self.types.get(at).copied()?;
        let collation = self.collation;
        Some(Variable { number: at as i32 + 1, ty, typmod: -1, collation, names })
    }
}

impl ParamScope for FunctionArguments<'_> {
    fn collation_of(&self, _: i32) -> Oid {
        self.collation
    }

    fn numbered(&self, number: i32) -> Option<Oid> {
        self.types.get(usize::try_from(number - 1).ok()?).copied().filter(|t| t.is_valid())
    }

    fn named(&self, names: &[&str]) -> Result<Option<Variable>> {
        Ok(match *names {
            [function, name, _] if function == self.function => self.find(name, 2),
            [function, name] if function == self.function => {
                self.find(name, 2).or_else(|| self.find(function, 1))
            }
            [name] | [name, _] => self.find(name, 1),
            _ => None,
        })
    }
}

impl Analyzer<'_> {
    /// The value of the variable that a reference names, if variables take precedence over columns.
    pub(crate) fn variable_before_column(
        &mut self,
        names: &[&str],
        location: i32,
    ) -> Result<Option<Expr>> {
        match self.params {
            Params::Scope(scope) if scope.conflict() == NameConflict::UseVariable => {
                self.variable(names, location)
            }
            _ => Ok(None),
        }
    }

    /// The value of the variable that a reference names, after columns have been looked up.
    /// `is_column`: the reference also names a column or table.
    pub(crate) fn variable_after_column(
        &mut self,
        names: &[&str],
        is_column: bool,
        location: i32,
    ) -> Result<Option<Expr>> {
        let Params::Scope(scope) = self.params else { return Ok(None) };
        if is_column && scope.conflict() != NameConflict::Error {
            return Ok(None);
        }
        let found = self.variable(names, location)?;
        if is_column && found.is_some() {
            let name = names.join(".");
            let e = pg_err!(AMBIGUOUS_COLUMN, "column reference \"{name}\" is ambiguous");
            return Err(self.at(e.detail(scope.conflict_detail()), location));
        }
        Ok(found)
    }

    fn variable(&mut self, names: &[&str], location: i32) -> Result<Option<Expr>> {
        let Params::Scope(scope) = self.params else { return Ok(None) };
        let Some(found) = scope.named(names)? else { return Ok(None) };
        let mut value = Expr::Param(Param {
            paramkind: ParamKind::Extern,
            paramid: found.number,
            paramtype: found.ty,
            paramtypmod: found.typmod,
            paramcollid: match self.type_collation(found.ty)? {
                own if own.is_valid() && found.collation.is_valid() => found.collation,
                own => own,
            },
            location: Location(location),
        });
        for field in names.iter().skip(found.names) {
            match self.func_or_column(&op_name(field), vec![value], None, false, location)? {
                Some(field) => value = field,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}
