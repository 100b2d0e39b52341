//! Memory from which files opened with [`crate::OpenMode::Direct`] can be written.

use crate::DIRECT_ALIGN;

/// Bytes that begin at a multiple of [`DIRECT_ALIGN`] in memory.
#[derive(Default)]
pub struct DirectBuffer {
    /// With room for moving the start.
    room: Vec<u8>,
    start: usize,
    len: usize,
}

impl DirectBuffer {
    /// Empty; `capacity` in bytes.
    pub fn with_capacity(capacity: usize) -> DirectBuffer {
        let room = vec![0; capacity + DIRECT_ALIGN];
        let start = room.as_ptr().align_offset(DIRECT_ALIGN);
        DirectBuffer { room, start, len: 0 }
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Lends the next `bytes` to be filled; what they hold is from earlier use. Panics beyond the
    /// capacity.
    pub fn extend(&mut self, bytes: usize) -> &mut [u8] {
        let at = self.start + self.len;
        self.len += bytes;
        &mut self.room[at..at + bytes]
    }
}

impl std::ops::Deref for DirectBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[self.start..self.start + self.len]
    }
}
