//! Input, output, receive and send functions of tsquery. Counterpart: tsquery.c.

use crate::limits::{LEXEME_BYTES_LIMIT, TEXT_BYTES_MAX};
use crate::query::{Item, Operand, Operator, Query, QueryBuilder, checksum};
use crate::query_tree::without_negation;
use crate::vector_io::{push_quoted, receive_text};
use pgerror::{PgError, Result};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::limits::TextBuffer;
use values::type_io::Reader;

/// Writes items in prefix order as text, with the operators between their operands.
struct Writer<'a> {
    query: Query<'a>,
    items: &'a [Item],
    next: usize,
}

impl Writer<'_> {
    fn operand(&self, out: &mut TextBuffer, operand: &Operand) {
        push_quoted(out, self.query.word(operand));
        if operand.weights == 0 && !operand.prefix {
            return;
        }
        out.push(b':');
        if operand.prefix {
            out.push(b'*');
        }
        for (weight, letter) in [(3, b'A'), (2, b'B'), (1, b'C'), (0, b'D')] {
            if operand.weights >> weight & 1 != 0 {
                out.push(letter);
            }
        }
    }

    /// Writes the next expression, which is an operand of an operator with priority `above`.
    /// `right_of_phrase`: a nested phrase operator needs parentheses there, because the operator is
    /// left-associative.
    fn expression(&mut self, out: &mut TextBuffer, above: u8, right_of_phrase: bool) -> Result<()> {
        let item = self.items.get(self.next).copied().unwrap_or(Item::Stop);
        self.next += 1;
        let (operator, distance) = match item {
            Item::Operand(operand) => {
                self.operand(out, &operand);
                return Ok(());
            }
            Item::Operator { operator, distance, .. } => (operator, distance),
            Item::Stop => {
                return Err(pgerror::pg_err!(DATA_CORRUPTED, "stored value is truncated"));
            }
        };
        let priority = operator.priority();
        let phrase = operator == Operator::Phrase;
        let parentheses = priority < above || phrase && right_of_phrase;
        if parentheses {
            out.extend_from_slice(b"( ");
        }
        if operator == Operator::Not {
            out.push(b'!');
            stdx::stack::deep(|| self.expression(out, priority, false))?;
        } else {
            // The right operand is stored first.
            let mut right = TextBuffer::new();
            stdx::stack::deep(|| self.expression(&mut right, priority, phrase))?;
            stdx::stack::deep(|| self.expression(out, priority, false))?;
            match operator {
                Operator::Or => out.extend_from_slice(b" | "),
                Operator::And => out.extend_from_slice(b" & "),
                _ if distance == 1 => out.extend_from_slice(b" <-> "),
                _ => out.extend_from_slice(format!(" <{distance}> ").as_bytes()),
            }
            out.extend_from_slice(&right.into_bytes()?);
        }
        if parentheses {
            out.extend_from_slice(b" )");
        }
        Ok(())
    }
}

fn items_text(query: Query<'_>, items: &[Item]) -> Result<Vec<u8>> {
    let mut out = TextBuffer::new();
    if !items.is_empty() {
        Writer { query, items, next: 0 }.expression(&mut out, 0, false)?;
    }
    out.into_bytes()
}

/// The text of a query; an error if its payload is damaged.
pub fn query_text(payload: &[u8]) -> Result<Vec<u8>> {
    let query = Query::new(payload);
    query.check()?;
    let items: Vec<Item> = (0..query.len()).map(|i| query.item(i)).collect();
    items_text(query, &items)
}

/// The text of the part of the query that an index is searched for: `T` for all of the index.
pub(crate) fn query_tree_text(payload: &[u8]) -> Result<Vec<u8>> {
    let query = Query::new(payload);
    let items = without_negation(query);
    match items.is_empty() && !query.is_empty() {
        true => Ok(b"T".to_vec()),
        false => items_text(query, &items),
    }
}

pub(crate) fn send(cx: &dyn FnContext, payload: &[u8]) -> Result<Datum> {
    let query = Query::new(payload);
    let mut out = (query.len() as u32).to_be_bytes().to_vec();
    for i in 0..query.len() {
        match query.item(i) {
            Item::Operand(o) => {
                out.extend([1, o.weights, u8::from(o.prefix)]);
                out.extend_from_slice(&values::text::for_client(cx, query.word(&o))?);
                out.push(0);
            }
            Item::Operator { operator, distance, .. } => {
                out.extend([2, operator as u8]);
                if operator == Operator::Phrase {
                    out.extend(distance.to_be_bytes());
                }
            }
            Item::Stop => return Err(PgError::internal("unrecognized tsquery node type: 3")),
        }
    }
    Ok(Datum::bytes(out))
}

fn receive_operand(
    cx: &dyn FnContext,
    reader: &mut Reader<'_>,
    out: &mut QueryBuilder,
) -> Result<()> {
    let weights = reader.u8()?;
    let prefix = reader.u8()? != 0;
    let text = receive_text(cx, reader)?;
    if weights > 0xf {
        return Err(PgError::internal("invalid tsquery: invalid weight bitmap"));
    }
    if text.is_empty() {
        return Err(PgError::internal("invalid tsquery: empty operand"));
    }
    if text.len() > LEXEME_BYTES_LIMIT {
        return Err(PgError::internal("invalid tsquery: operand too long"));
    }
    if out.text.len() > TEXT_BYTES_MAX {
        return Err(PgError::internal("invalid tsquery: total operand length exceeded"));
    }
    let (checksum, len) = (checksum(&text), text.len() as u16);
    out.operand(Operand { weights, prefix, checksum, len, at: 0 }, &text);
    Ok(())
}

pub(crate) fn receive(cx: &dyn FnContext, message: DatumRef<'_>) -> Result<Datum> {
    const DISTANCE_MAX: i16 = 1 << 14;
    const ITEMS_MAX: u32 = 0x3fff_ffff / crate::query::ITEM_BYTES as u32;
    let mut reader = Reader::new(message.as_bytes());
    let count = reader.u32()?;
    if count > ITEMS_MAX {
        return Err(PgError::internal("invalid size of tsquery"));
    }
    let mut out = QueryBuilder::default();
    for i in 0..count {
        match reader.u8()? as i8 {
            1 => receive_operand(cx, &mut reader, &mut out)?,
            2 => {
                let number = reader.u8()?;
                let Some(operator) = Operator::of_number(number) else {
                    return Err(PgError::internal(format!(
                        "invalid tsquery: unrecognized operator type {}",
                        number as i8
                    )));
                };
                if i == count - 1 {
                    return Err(PgError::internal("invalid pointer to right operand"));
                }
                let distance = if operator == Operator::Phrase { reader.i16()? } else { 0 };
                if !(0..=DISTANCE_MAX).contains(&distance) {
                    return Err(PgError::internal(format!(
                        "invalid tsquery: invalid phrase distance {}",
                        distance as u16
                    )));
                }
                out.items.push(Item::Operator { operator, distance, left: 0 });
            }
            other => {
                let message = format!("unrecognized tsquery node type: {other}");
                return Err(PgError::internal(message));
            }
        }
    }
    reader.end()?;
    if count == 0 {
        return Err(PgError::internal("malformed tsquery: operand not found"));
    }
    out.link(cx.settings().max_stack_kb)?;
    Ok(Datum::bytes(out.finish()))
}
