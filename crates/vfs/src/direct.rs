//! A buffer for writes to files opened with [`crate::OpenMode::Direct`].

use crate::DIRECT_ALIGN;

/// Bytes whose address is a multiple of [`DIRECT_ALIGN`].
#[derive(Default)]
pub struct DirectBuffer {
    /// Larger than the capacity, so that the start can be aligned.
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl DirectBuffer {
    /// Empty; `capacity` in bytes.
    pub fn with_capacity(capacity: usize) -> DirectBuffer {
        let memory = vec![0; capacity + DIRECT_ALIGN];
        let start = memory.as_ptr().align_offset(DIRECT_ALIGN);
        DirectBuffer { memory, start, len: 0 }
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns the next `bytes` to be filled; their contents are those of earlier use. Panics
    /// beyond the capacity.
    pub fn extend(&mut self, bytes: usize) -> &mut [u8] {
        let at = self.start + self.len;
        self.len += bytes;
        &mut self.memory[at..at + bytes]
    }
}

impl std::ops::Deref for DirectBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}
