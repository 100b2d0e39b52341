//! The stored form of a tsquery: operators and operands in prefix order, the right operand before
//! the left one. Counterpart: tsearch/ts_type.h.
//!
//! ```text
//! number of items u32
//! operand, 12 bytes: 1 | weights u8 | prefix u8 | 0 | checksum i32 | length (12 bits), offset (20)
//! operator, 12 bytes: 2 | operator u8 | distance i16 | items up to the left operand u32 | 0 u32
//! the operands' texts, each with a terminating zero
//! ```
//!
//! All numbers are little-endian. The right operand of an operator is the next item.

use pgerror::{PgError, Result, pg_err};
use std::sync::LazyLock;
use values::settings::Settings;

/// An operator of a query, by its number in the stored form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operator {
    Not = 1,
    And = 2,
    Or = 3,
    Phrase = 4,
}

impl Operator {
    /// The operator with this number.
    pub fn of_number(number: u8) -> Option<Operator> {
        Some(match number {
            1 => Operator::Not,
            2 => Operator::And,
            3 => Operator::Or,
            4 => Operator::Phrase,
            _ => return None,
        })
    }

    /// How strongly the operator binds.
    pub fn priority(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Phrase => 3,
            Operator::Not => 4,
        }
    }
}

/// A word that a query looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Weights that the word must have: bit `1 << weight`. All if zero.
    pub weights: u8,
    /// Whether lexemes match that begin with the word.
    pub prefix: bool,
    pub checksum: i32,
    pub len: u16,
    /// Offset of the text.
    pub at: u32,
}

/// An item of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Operand(Operand),
    /// `distance` is that of the phrase operator. The left operand is `left` items further.
    Operator {
        operator: Operator,
        distance: i16,
        left: u32,
    },
    /// A stop word. Only while a query is built.
    Stop,
}

/// Size of an item in bytes.
pub(crate) const ITEM_BYTES: usize = 12;

impl Item {
    fn read(b: &[u8; ITEM_BYTES]) -> Item {
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        match Operator::of_number(b[1]) {
            Some(operator) if b[0] == 2 => Item::Operator {
                operator,
                distance: i16::from_le_bytes([b[2], b[3]]),
                left: word(4),
            },
            _ if b[0] == 1 => Item::Operand(Operand {
                weights: b[1],
                prefix: b[2] != 0,
                checksum: word(4) as i32,
                len: (word(8) & 0xfff) as u16,
                at: word(8) >> 12,
            }),
            _ => Item::Stop,
        }
    }

    fn write(self) -> [u8; ITEM_BYTES] {
        let mut b = [0; ITEM_BYTES];
        match self {
            Item::Operand(o) => {
                b[..3].copy_from_slice(&[1, o.weights, u8::from(o.prefix)]);
                b[4..8].copy_from_slice(&o.checksum.to_le_bytes());
                b[8..].copy_from_slice(&(u32::from(o.len) | o.at << 12).to_le_bytes());
            }
            Item::Operator { operator, distance, left } => {
                b[..2].copy_from_slice(&[2, operator as u8]);
                b[2..4].copy_from_slice(&distance.to_le_bytes());
                b[4..8].copy_from_slice(&left.to_le_bytes());
            }
            Item::Stop => b[0] = 3,
        }
        b
    }
}

/// A view of a tsquery's payload.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    payload: &'a [u8],
    count: usize,
}

impl<'a> Query<'a> {
    /// A view of `payload`. A damaged payload has fewer items.
    pub fn new(payload: &'a [u8]) -> Query<'a> {
        let count = payload.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b) as usize);
        let fits = payload.len().saturating_sub(4) / ITEM_BYTES;
        Query { payload, count: count.min(fits) }
    }

    /// An error if the payload is damaged: then items or texts are missing, or an operator lacks
    /// an operand.
    pub fn check(self) -> Result<()> {
        let stored = self.payload.first_chunk::<4>().map(|b| u32::from_le_bytes(*b) as usize);
        let mut operands = 0usize;
        let whole = (0..self.count).rev().all(|i| match self.item(i) {
            Item::Operand(o) => {
                operands += 1;
                self.text().len() > o.at as usize + usize::from(o.len)
            }
            Item::Operator { operator: Operator::Not, .. } => operands >= 1,
            Item::Operator { left, .. } => {
                operands = operands.wrapping_sub(1);
                operands >= 1 && operands < self.count && i + (left as usize) < self.count
            }
            Item::Stop => false,
        });
        match stored == Some(self.count) && whole && operands == usize::from(self.count > 0) {
            true => Ok(()),
            false => Err(pg_err!(DATA_CORRUPTED, "stored value is truncated")),
        }
    }

    /// Number of items.
    pub fn len(self) -> usize {
        self.count
    }

    /// Whether the query looks for nothing.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The item with number `i` from 0; [`Item::Stop`] if there is none.
    #[inline]
    pub fn item(self, i: usize) -> Item {
        let at = 4 + ITEM_BYTES * i;
        match self.payload.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) if i < self.count => Item::read(bytes),
            _ => Item::Stop,
        }
    }

    fn text(self) -> &'a [u8] {
        self.payload.get(4 + ITEM_BYTES * self.count..).unwrap_or_default()
    }

    /// The text of an operand.
    #[inline]
    pub fn word(self, operand: &Operand) -> &'a [u8] {
        let at = operand.at as usize;
        self.text().get(at..at + usize::from(operand.len)).unwrap_or_default()
    }

    /// The operands with the numbers of their items.
    pub fn operands(self) -> impl Iterator<Item = (usize, Operand)> + 'a {
        (0..self.count).filter_map(move |i| match self.item(i) {
            Item::Operand(o) => Some((i, o)),
            _ => None,
        })
    }
}

/// Builds a query from items in prefix order.
#[derive(Default)]
pub(crate) struct QueryBuilder {
    pub items: Vec<Item>,
    pub text: Vec<u8>,
}

impl QueryBuilder {
    /// Adds an operand with its text.
    pub fn operand(&mut self, operand: Operand, word: &[u8]) {
        self.items.push(Item::Operand(Operand { at: self.text.len() as u32, ..operand }));
        self.text.extend(word);
        self.text.push(0);
    }

    /// Sets the offsets of the left operands. An error if an operator lacks an operand, if there
    /// is more than one expression, or if the expression has more than `depth_max` levels.
    pub fn link(&mut self, kb: u32) -> Result<()> {
        let depth_max = LEVELS_PER_KB * kb;
        // Of each expression that begins after the present item: number of items, levels.
        let mut done: Vec<(u32, u32)> = Vec::new();
        for item in self.items.iter_mut().rev() {
            let next = match item {
                Item::Operand(_) | Item::Stop => (1, 1),
                Item::Operator { operator, left, .. } => {
                    let (right, below) = done.pop().ok_or_else(missing)?;
                    *left = 1;
                    match operator {
                        Operator::Not => (right + 1, below + 1),
                        _ => {
                            let (other, levels) = done.pop().ok_or_else(missing)?;
                            *left = right + 1;
                            (right + other + 1, below.max(levels) + 1)
                        }
                    }
                }
            };
            if next.1 > depth_max {
                return Err(too_deep(kb));
            }
            done.push(next);
        }
        match done.len() {
            0 | 1 => Ok(()),
            _ => Err(PgError::internal("malformed tsquery: extra nodes")),
        }
    }

    /// The payload.
    pub fn finish(self) -> Vec<u8> {
        let size = 4 + ITEM_BYTES * self.items.len() + self.text.len();
        let mut out = Vec::with_capacity(size);
        out.extend((self.items.len() as u32).to_le_bytes());
        self.items.iter().for_each(|item| out.extend(item.write()));
        out.extend(self.text);
        out
    }
}

fn missing() -> PgError {
    PgError::internal("malformed tsquery: operand not found")
}

/// Levels of a query for each kB of `max_stack_depth`, about as many as PostgreSQL can process.
const LEVELS_PER_KB: u32 = 20;

/// 54001: a query has too many levels. `kb` is `max_stack_depth`.
#[cold]
pub(crate) fn too_deep(kb: u32) -> PgError {
    pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(format!(
        "Increase the configuration parameter \"max_stack_depth\" (currently {kb}kB), after \
         ensuring the platform's stack depth limit is adequate."
    ))
}

/// 54001 if `levels` levels are too many.
pub(crate) fn check_levels(settings: &Settings, levels: usize) -> Result<()> {
    match levels > (LEVELS_PER_KB * settings.max_stack_kb) as usize {
        true => Err(too_deep(settings.max_stack_kb)),
        false => Ok(()),
    }
}

static CHECKSUMS: LazyLock<[u32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        (0..8).fold(i as u32, |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
});

/// The checksum of an operand's text: CRC-32 with the table for bits in reverse order, but bytes in
/// forward order. Counterpart: `COMP_LEGACY_CRC32`.
pub(crate) fn checksum(text: &[u8]) -> i32 {
    let crc = text
        .iter()
        .fold(!0u32, |crc, b| CHECKSUMS[(crc >> 24 ^ u32::from(*b)) as usize] ^ crc << 8);
    !crc as i32
}
