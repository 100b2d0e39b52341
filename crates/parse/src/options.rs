//! Settings of the parser, and limits of the trees that it builds.

/// Limit of the tree's depth, in bytes of stack that PostgreSQL would use for it (the default of
/// `max_stack_depth`). Deeper statements are refused with 54001, so the depth of every recursion
/// over a tree is bounded.
pub const DEPTH_BYTES_MAX: u32 = 2 << 20;

/// Statements with more levels of nodes than this need more stack than a session has.
pub const DEEP_NODES: u32 = 500;

/// The kind of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Statements separated by semicolons.
    #[default]
    Statements,
    /// The name of a type; the result is a single [`Node::TypeName`].
    TypeName,
    /// An expression of PL/pgSQL: the part of a SELECT after the word SELECT.
    PlpgsqlExpr,
    /// An assignment of PL/pgSQL, whose target has up to this number of leading names (1 to 3) that
    /// identify a variable; the result is a [`Node::PlAssignStmt`].
    PlpgsqlAssign(u8),
}

/// Settings that the lexer reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    pub mode: Mode,
    /// `standard_conforming_strings`
    pub standard_conforming_strings: bool,
    /// `backslash_quote` is not `off`.
    pub backslash_quote: bool,
    pub escape_string_warning: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Statements,
            standard_conforming_strings: true,
            backslash_quote: true,
            escape_string_warning: true,
        }
    }
}

impl Options {
    /// The options as the parser's bit mask.
    pub(crate) fn bits(self) -> i32 {
        let mode = match self.mode {
            Mode::Statements => 0,
            Mode::TypeName => 1,
            Mode::PlpgsqlExpr => 2,
            Mode::PlpgsqlAssign(names) => 2 + i32::from(names.clamp(1, 3)),
        };
        let quote = if self.backslash_quote { 0 } else { 16 };
        let conforming = if self.standard_conforming_strings { 0 } else { 32 };
        // 64: no escape string warnings; `lexical` reports them.
        mode | quote | conforming | 64
    }
}
