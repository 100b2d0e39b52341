//! Construction of an array of text without a value for each element, for functions that split a
//! long text into many short parts.

use super::payload::{builtin_info, count_of, empty, too_many_bytes, write_element};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::{FnContext, TypeInfo};
use crate::limits::ALLOCATION_BYTES_MAX;
use crate::{memory, oids};
use pgerror::Result;

/// Bytes before the elements in a payload of one dimension without a bitmap of NULLs.
const HEADER_BYTES: usize = 20;

/// A one-dimensional text[] with lower bound 1 to which elements are appended.
pub struct TextArray {
    elem: TypeInfo,
    out: Vec<u8>,
    count: usize,
    /// One bit for each element, set if it is not NULL; empty as long as there is no NULL.
    not_null: Vec<u8>,
}

impl Default for TextArray {
    fn default() -> TextArray {
        TextArray {
            elem: builtin_info(oids::TEXT),
            out: vec![0; HEADER_BYTES],
            count: 0,
            not_null: Vec::new(),
        }
    }
}

impl TextArray {
    /// Appends an element; `None` is a NULL. Checks for interrupts from time to time. An error if
    /// the array exceeds 1 GB or the session's memory limit.
    pub fn push(&mut self, part: Option<&[u8]>, cx: &dyn FnContext) -> Result<()> {
        if self.count % 4096 == 4095 {
            cx.check_interrupts()?;
        }
        let (byte, bit) = (self.count / 8, 1 << (self.count % 8));
        if part.is_none() && self.not_null.is_empty() {
            self.not_null = vec![0xff; byte + 1];
            self.not_null[byte] = bit - 1;
        }
        if !self.not_null.is_empty() {
            self.not_null.resize(byte + 1, 0);
            self.not_null[byte] |= if part.is_some() { bit } else { 0 };
        }
        self.count += 1;
        let Some(part) = part else { return Ok(()) };
        // The length word and up to three bytes of padding.
        let more = part.len() + 7;
        if self.out.len() + more > ALLOCATION_BYTES_MAX {
            return Err(too_many_bytes());
        }
        memory::reserve(&mut self.out, more)?;
        write_element(&self.elem, &mut self.out, HEADER_BYTES, DatumRef::Bytes(part));
        Ok(())
    }

    /// The array.
    pub fn finish(mut self) -> Result<Datum> {
        if self.count == 0 {
            return Ok(empty(oids::TEXT));
        }
        count_of(&[self.count as i32])?;
        let mut data_offset = 0;
        if !self.not_null.is_empty() {
            data_offset = (HEADER_BYTES + 4 + self.count.div_ceil(8)).next_multiple_of(8);
            self.not_null.resize(data_offset - HEADER_BYTES - 4, 0);
            if self.out.len() + self.not_null.len() > ALLOCATION_BYTES_MAX {
                return Err(too_many_bytes());
            }
            memory::reserve(&mut self.out, self.not_null.len())?;
            self.out.splice(HEADER_BYTES..HEADER_BYTES, self.not_null);
        }
        let header = [1, data_offset as u32, oids::TEXT.0, self.count as u32, 1];
        for (field, value) in self.out.chunks_exact_mut(4).zip(header) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        Ok(Datum::bytes(self.out))
    }
}
