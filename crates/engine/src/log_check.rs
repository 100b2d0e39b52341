//! Checks the log for records that replay does not support, before recovery writes anything: a
//! directory that only PostgreSQL can recover is left unchanged. First, threads read the record
//! headers of separate segments. The log is read completely only if a header does not prove that
//! its record is supported.

use crate::engine::Engine;
use crate::recovery::{FIRST_POSTGRES, Start, log_reader, seek};
use crate::redo::{check_replayable, may_be_unreplayable};
use ids::Lsn;
use pgerror::{PgError, Result};
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, JoinHandle};
use wal::WalReader;

/// A check of the log, which runs in its own threads.
pub(crate) struct LogCheck {
    start: Start,
    reader: WalReader,
    /// Result of the calling thread, if there are no others.
    may_be_unsupported: bool,
    threads: Vec<JoinHandle<Result<bool>>>,
}

impl LogCheck {
    /// Starts the check with the number of threads that replay uses. Without such threads, the
    /// check runs in this thread.
    pub(crate) fn start(engine: &Engine, start: Start) -> Result<LogCheck> {
        let size = u64::from(engine.control.get().wal_segment_size);
        let next = Arc::new(AtomicU64::new(0));
        let header_check = || HeaderCheck { reader: log_reader(engine), next: next.clone(), size };
        let reader = log_reader(engine);
        let mut check = LogCheck { start, reader, may_be_unsupported: false, threads: Vec::new() };
        if engine.config.redo_workers == 0 {
            check.may_be_unsupported = header_check().may_have_unsupported(&start)?;
        }
        for index in 0..engine.config.redo_workers {
            let mut header_check = header_check();
            let body = move || header_check.may_have_unsupported(&start);
            let thread = sync::spawn(format!("log check {index}"), body)
                .map_err(|e| PgError::internal(format!("could not start a thread: {e}")))?;
            check.threads.push(thread);
        }
        Ok(check)
    }

    /// Waits for the result. Error: 0A000 for a record that replay does not support.
    pub(crate) fn finish(mut self) -> Result<()> {
        let mut may_be_unsupported = self.may_be_unsupported;
        for thread in self.threads.drain(..) {
            let lost = |_| PgError::internal("a thread that checks the log has panicked");
            may_be_unsupported |= thread.join().map_err(lost)??;
        }
        if may_be_unsupported { self.read_all() } else { Ok(()) }
    }

    /// Reads the log completely: a record that may be unsupported may be after the end of the valid
    /// log, or have images of all its pages.
    fn read_all(&mut self) -> Result<()> {
        let reader = &mut self.reader;
        seek(reader, &self.start);
        while reader.read()?.is_some() {
            check_replayable(reader.record()).map_err(|e| e.hint(FIRST_POSTGRES))?;
        }
        Ok(())
    }
}

/// The part of the check that one thread runs.
struct HeaderCheck {
    reader: WalReader,
    /// Number of the next segment to check, counted from the segment where replay starts.
    next: Arc<AtomicU64>,
    /// Bytes of a segment.
    size: u64,
}

impl HeaderCheck {
    /// True if the segments of this thread contain a record whose header does not prove that replay
    /// supports it.
    fn may_have_unsupported(&mut self, start: &Start) -> Result<bool> {
        let reader = &mut self.reader;
        seek(reader, start);
        let origin = reader.next_lsn();
        let first = origin.0 / self.size;
        loop {
            let segment = first + self.next.fetch_add(1, Ordering::Relaxed);
            let begin = Lsn(segment * self.size);
            let end = begin + self.size;
            if begin <= origin {
                reader.seek(origin);
            } else if !reader.seek_from_page(begin)? {
                return Ok(false);
            }
            while reader.next_lsn() < end
                && let Some(header) = reader.read_header()?
            {
                if may_be_unreplayable(&header) {
                    return Ok(true);
                }
            }
        }
    }
}
