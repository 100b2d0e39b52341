//! Results of statements: their command tags, rows that are kept for cursors, and the rows of
//! utility commands.

use plan::query::CmdType;
use types::Batch;

/// Materialized rows, for scrollable cursors and for cursors WITH HOLD.
#[derive(Default)]
pub struct StoredRows {
    batches: Vec<Batch>,
    /// For each batch, the number of its first row.
    starts: Vec<usize>,
    /// Number of rows up to the end of the last batch. The first rows may have been discarded.
    rows: usize,
}

impl StoredRows {
    /// No rows yet; the first `count` rows have been discarded.
    pub fn after(count: usize) -> StoredRows {
        StoredRows { rows: count, ..StoredRows::default() }
    }

    /// Number of rows, including those that have been discarded.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a batch.
    pub fn push(&mut self, batch: Batch) {
        self.starts.push(self.rows);
        self.rows += batch.len;
        self.batches.push(batch);
    }

    /// The batch of row `at` (from 0), and the row's index in it.
    pub fn find(&self, at: usize) -> Option<(&Batch, usize)> {
        let after = self.starts.partition_point(|start| *start <= at);
        let (batch, start) = (self.batches.get(after.checked_sub(1)?)?, self.starts[after - 1]);
        (at - start < batch.len).then_some((batch, at - start))
    }
}

/// Rows of a utility command as encoded messages that have not been sent.
#[derive(Default)]
pub struct UtilityRows {
    bytes: Vec<u8>,
    used: usize,
    /// The command's tag.
    tag: String,
}

impl UtilityRows {
    pub fn new(bytes: Vec<u8>, tag: String) -> UtilityRows {
        UtilityRows { bytes, used: 0, tag }
    }

    /// Sends up to `limit` rows (0: all) and the command tag, which counts the rows of this call.
    /// If exactly `limit` rows were sent, the portal is suspended even if no row is left.
    pub fn send(&mut self, limit: u64, out: &mut Vec<u8>) {
        let mut sent = 0;
        while limit == 0 || sent < limit {
            let rest = &self.bytes[self.used..];
            let Some(length) = rest.get(1..).and_then(|b| b.first_chunk::<4>()) else { break };
            let message = &rest[..1 + u32::from_be_bytes(*length) as usize];
            out.extend_from_slice(message);
            self.used += message.len();
            sent += u64::from(message[0] == b'D');
        }
        if limit > 0 && sent == limit {
            return wire::backend::portal_suspended(out);
        }
        let tag = match self.tag.rsplit_once(' ') {
            Some((verb, count)) if count.parse::<u64>().is_ok() => format!("{verb} {sent}"),
            _ => self.tag.clone(),
        };
        wire::backend::command_complete(out, &tag);
    }
}

fn verb(command: CmdType) -> &'static str {
    match command {
        CmdType::Insert => "INSERT 0",
        CmdType::Update => "UPDATE",
        CmdType::Delete => "DELETE",
        CmdType::Merge => "MERGE",
        _ => "SELECT",
    }
}

/// The command tag of a query.
pub fn query_tag(command: CmdType, rows: u64) -> String {
    format!("{} {rows}", verb(command))
}

/// Sends the command tag of a query.
pub fn write_tag(out: &mut Vec<u8>, command: CmdType, rows: u64) {
    wire::backend::command_complete_count(out, verb(command), rows);
}
