//! What the compilation of a function gets from the session: its declaration, settings, and the
//! types that its text names.

use crate::tree::{CodeKind, Extra, ResultType, VarType};
use analyze::NameConflict;
use ids::Oid;
use pgerror::Result;
use types::oids;

/// The declaration and the text of a function.
pub struct Source<'a> {
    /// The name without arguments.
    pub name: &'a str,
    /// Name and argument types, for contexts of errors.
    pub signature: &'a str,
    pub text: &'a str,
    pub kind: CodeKind,
    /// The parameters in their order.
    pub args: Vec<Argument<'a>>,
    pub result: ResultType,
    /// The result is declared with a polymorphic type.
    pub polymorphic_result: bool,
    /// The function must not write.
    pub read_only: bool,
    /// The function is being created: the syntax of its SQL is checked.
    pub is_new: bool,
}

/// A parameter of a function.
pub struct Argument<'a> {
    /// Empty if it has none.
    pub name: &'a str,
    pub ty: VarType,
    pub is_input: bool,
    pub is_output: bool,
}

/// Settings that compilation reads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub lexer: parse::Options,
    /// `plpgsql.variable_conflict`
    pub conflict: NameConflict,
    /// `plpgsql.print_strict_params`
    pub print_strict_params: bool,
    /// `plpgsql.extra_warnings` and `plpgsql.extra_errors`
    pub extra: Extra,
}

/// Look-ups of types by name.
pub trait TypeSource {
    /// The type that this text names. Positions of errors are positions in the text.
    fn named(&mut self, text: &str) -> Result<VarType>;

    /// The type of a column, given by the names of relation and column; `None` if there is no such
    /// relation or column.
    fn of_column(&mut self, names: &[String]) -> Result<Option<VarType>>;

    /// The row type of a relation, or the composite type, with these names. An error if there is
    /// none.
    fn of_row(&mut self, names: &[String]) -> Result<VarType>;

    /// The collation with these names.
    fn collation(&mut self, names: &[String]) -> Result<Oid>;

    /// The name of a type in messages.
    fn name_of(&mut self, ty: Oid) -> Result<String>;

    /// Reports a warning of compilation.
    fn warn(&mut self, warning: pgerror::PgError);
}

/// The type by which a new function with a parameter of a polymorphic type is checked.
pub fn sample(ty: Oid) -> Oid {
    match ty {
        oids::ANYELEMENT | oids::ANYNONARRAY | oids::ANYENUM => oids::INT4,
        oids::ANYCOMPATIBLE | oids::ANYCOMPATIBLENONARRAY => oids::INT4,
        oids::ANYARRAY | oids::ANYCOMPATIBLEARRAY => oids::INT4_ARRAY,
        oids::ANYRANGE | oids::ANYCOMPATIBLERANGE => oids::INT4RANGE,
        oids::ANYMULTIRANGE | oids::ANYCOMPATIBLEMULTIRANGE => oids::INT4MULTIRANGE,
        other => other,
    }
}
