//! The stored form: a word with the number of dimensions and a flag, then coordinates.
//!
//! ```text
//! u32 0x80000000 | dimensions     the flag: a point, of which only one corner is stored
//! f64 coordinates[…]              of one corner, then of the opposite one
//! ```

use values::datum::{Datum, DatumRef};

pub(super) const DIMENSIONS_MAX: usize = 100;
pub(super) const POINT: u32 = 0x8000_0000;
pub(super) const DIMENSIONS_MASK: u32 = 0x7fff_ffff;

/// A box: two opposite corners, in any order of each coordinate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cube {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    /// Only one corner is stored.
    pub is_point: bool,
}

impl Cube {
    pub(super) fn read(d: DatumRef<'_>) -> Cube {
        let bytes = d.as_bytes();
        let header = bytes.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
        let dimensions = (header & DIMENSIONS_MASK) as usize;
        let is_point = header & POINT != 0;
        let numbers = bytes.get(4..).unwrap_or_default().chunks_exact(8);
        let numbers: Vec<f64> = numbers
            .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
            .collect();
        let corner = |from: usize| numbers.get(from..from + dimensions).unwrap_or_default();
        let first = corner(0).to_vec();
        let second = if is_point { first.clone() } else { corner(dimensions).to_vec() };
        Cube { first, second, is_point }
    }

    /// A box with these corners, which becomes a point if they are equal.
    pub(super) fn new(first: Vec<f64>, second: Vec<f64>) -> Cube {
        let is_point = first.iter().zip(&second).all(|(a, b)| a == b);
        Cube { first, second, is_point }
    }

    pub(super) fn point(corner: Vec<f64>) -> Cube {
        Cube { second: corner.clone(), first: corner, is_point: true }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.first.len()
    }

    /// The lesser coordinate of a dimension; 0 where the box has no such dimension.
    pub(super) fn low(&self, i: usize) -> f64 {
        match (self.first.get(i), self.second.get(i)) {
            (Some(&a), Some(&b)) => min(a, b),
            _ => 0.0,
        }
    }

    /// As [`Cube::low`], the greater one.
    pub(super) fn high(&self, i: usize) -> f64 {
        match (self.first.get(i), self.second.get(i)) {
            (Some(&a), Some(&b)) => max(a, b),
            _ => 0.0,
        }
    }

    /// Whether both corners are equal, also if both are stored.
    pub(super) fn has_equal_corners(&self) -> bool {
        self.is_point || self.first.iter().zip(&self.second).all(|(a, b)| a == b)
    }

    pub(super) fn datum(&self) -> Datum {
        let flag = if self.is_point { POINT } else { 0 };
        let mut out = (self.dimensions() as u32 | flag).to_le_bytes().to_vec();
        let second = if self.is_point { &[][..] } else { &self.second };
        for number in self.first.iter().chain(second) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        Datum::bytes(out)
    }
}

/// The lesser number; the second one if they cannot be compared.
pub(super) fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater number; the second one if they cannot be compared.
pub(super) fn max(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
