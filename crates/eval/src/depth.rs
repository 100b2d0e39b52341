//! The limit of the nesting of expressions.

/// Deepest nesting of an expression, in nodes; deeper ones fail with 54001. Statements near the
/// limit run on a larger stack ([`stdx::stack::wide`]); the parser's own limit is lower for most
/// nodes.
pub const DEPTH_MAX: u32 = 12_000;

/// The error for nesting beyond [`DEPTH_MAX`].
pub fn too_deep() -> pgerror::PgError {
    pgerror::pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after \
         ensuring the platform's stack depth limit is adequate.",
    )
}
