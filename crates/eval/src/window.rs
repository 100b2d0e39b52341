//! The names of the built-in window functions.

/// A built-in window function that is not an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowKind {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
}

impl WindowKind {
    /// The function with this `prosrc`; the forms of `lag` and `lead` differ in the number of
    /// arguments only.
    pub fn named(prosrc: &str) -> Option<WindowKind> {
        Some(match prosrc.strip_prefix("window_")? {
            "row_number" => WindowKind::RowNumber,
            "rank" => WindowKind::Rank,
            "dense_rank" => WindowKind::DenseRank,
            "percent_rank" => WindowKind::PercentRank,
            "cume_dist" => WindowKind::CumeDist,
            "ntile" => WindowKind::Ntile,
            "lag" | "lag_with_offset" | "lag_with_offset_and_default" => WindowKind::Lag,
            "lead" | "lead_with_offset" | "lead_with_offset_and_default" => WindowKind::Lead,
            "first_value" => WindowKind::FirstValue,
            "last_value" => WindowKind::LastValue,
            "nth_value" => WindowKind::NthValue,
            _ => return None,
        })
    }
}
