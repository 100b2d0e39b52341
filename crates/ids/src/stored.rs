//! Columns of a table scan that describe how the value of another column is stored. Their numbers
//! are below those of the system columns.

use crate::AttrNo;

/// The property of a stored value that such a column contains; NULL if the value is NULL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredFacet {
    /// The size in bytes, with the header; of a value in the TOAST table the size there. The result
    /// of `pg_column_size`, type int4.
    Size,
    /// The name of the compression method, or NULL if the value is not compressed. The result of
    /// `pg_column_compression`, type text.
    Compression,
}

/// A table has at most 1600 columns.
const RANGE: AttrNo = 2000;
const SIZES: AttrNo = -2000;
const COMPRESSIONS: AttrNo = -5000;

/// The number of the column that describes user column `column`.
pub const fn number(facet: StoredFacet, column: AttrNo) -> AttrNo {
    match facet {
        StoredFacet::Size => SIZES - column,
        StoredFacet::Compression => COMPRESSIONS - column,
    }
}

/// What the column describes, and the user column; `None` for all other columns.
pub const fn described(number: AttrNo) -> Option<(StoredFacet, AttrNo)> {
    if number < SIZES && number > SIZES - RANGE {
        Some((StoredFacet::Size, SIZES - number))
    } else if number < COMPRESSIONS && number > COMPRESSIONS - RANGE {
        Some((StoredFacet::Compression, COMPRESSIONS - number))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_the_described_columns() {
        for facet in [StoredFacet::Size, StoredFacet::Compression] {
            for column in [1, 2, 1600] {
                assert_eq!(described(number(facet, column)), Some((facet, column)));
            }
        }
        for other in [-7, -1, 0, 1, 1600, -2000, -4500, -5000, -7000] {
            assert_eq!(described(other), None);
        }
    }
}
