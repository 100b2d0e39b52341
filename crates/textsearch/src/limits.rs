//! Limits of lexemes, vectors and queries.

/// Longest lexeme in bytes, plus one. Counterpart: `MAXSTRLEN`.
pub const LEXEME_BYTES_LIMIT: usize = (1 << 11) - 1;

/// Largest offset in the text area of a vector or query. Counterpart: `MAXSTRPOS`.
pub const TEXT_BYTES_MAX: usize = (1 << 20) - 1;

/// Positions in a document are below this number. Counterpart: `MAXENTRYPOS`.
pub const POSITION_LIMIT: u32 = 1 << 14;

/// Most positions of a lexeme. Counterpart: `MAXNUMPOS`.
pub const POSITIONS_MAX: usize = 256;

/// A position as it is stored: at most the largest one.
pub(crate) fn limited(position: u32) -> u16 {
    position.min(POSITION_LIMIT - 1) as u16
}
