//! Average widths of values, for estimates. Counterpart: `get_typavgwidth` of lsyscache.c.

use ids::Oid;
use ids::builtin::ty::{BIT, BPCHAR, NUMERIC, VARBIT, VARCHAR};

/// Width of a value whose length is not known.
pub const WIDTH_DEFAULT: i32 = 32;
/// Largest number of bytes of a character in UTF8.
const CHARACTER_MAX: i32 = 4;

/// Average width of a value of a type, from `pg_type.typlen` and a type modifier. A length limit is
/// an upper bound; most strings are shorter.
pub fn average_width(typlen: i16, ty: Oid, typmod: i32) -> i32 {
    if typlen > 0 {
        return i32::from(typlen);
    }
    match width_max(ty, typmod) {
        None => WIDTH_DEFAULT,
        Some(most) if ty == BPCHAR || most <= WIDTH_DEFAULT => most,
        Some(most) => WIDTH_DEFAULT + (most.min(1000) - WIDTH_DEFAULT) / 2,
    }
}

/// The largest width that the type modifier allows, with the length word. Counterpart:
/// `type_maximum_size`.
fn width_max(ty: Oid, typmod: i32) -> Option<i32> {
    if typmod < 0 {
        return None;
    }
    let modifier = typmod - 4;
    match ty {
        BPCHAR | VARCHAR => Some(modifier.saturating_mul(CHARACTER_MAX).saturating_add(4)),
        // Digits are stored in groups of four; the decimal point may split one group.
        NUMERIC if modifier >= 0 => Some(8 + 2 * (((modifier >> 16) & 0xffff) + 6).div_euclid(4)),
        BIT | VARBIT => Some((typmod + 7) / 8 + 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ids::builtin::ty::{INT4, TEXT};

    #[test]
    fn widths_follow_the_type_modifier() {
        for (typlen, ty, typmod, width) in [
            (4, INT4, -1, 4),
            (-1, TEXT, -1, 32),
            (-1, VARCHAR, -1, 32),
            (-1, VARCHAR, 4 + 5, 24),
            (-1, VARCHAR, 4 + 100, 218),
            (-1, VARCHAR, 4 + 1000, 516),
            (-1, BPCHAR, 4 + 10, 44),
            (-1, BPCHAR, 4 + 1000, 4004),
            (-1, NUMERIC, 4 + (10 << 16) + 2, 16),
            (-1, BIT, 16, 10),
        ] {
            assert_eq!(average_width(typlen, ty, typmod), width, "{ty:?} {typmod}");
        }
    }
}
