//! Reading the log forwards, from any record to its end.
//!
//! The log ends where the next record is not valid. This is how a log ends after a crash, so it is
//! not an error, but the reason is kept. An I/O error is an error.
//!
//! A record may continue on following pages, and the header of each such page has a flag for it. If
//! the server crashed within such a record, it later continues at the page that should have held
//! the rest, and sets the flag OVERWRITE_CONTRECORD in that page's header: the reader then drops
//! the incomplete record and continues there.
//!
//! Counterpart: xlogreader.c.

use crate::layout::{
    Layout, PAGE_MAGIC, PageHeader, WAL_PAGE, XLP_ALL_FLAGS, XLP_FIRST_IS_CONTRECORD,
    XLP_FIRST_IS_OVERWRITE_CONTRECORD, le32, maxalign,
};
use crate::record::{RECORD_HEADER, record_crc};
use crate::{DecodedRecord, RecordHeader, RmgrId};
use ids::Lsn;
use pgerror::Result;
use std::io::ErrorKind;
use sync::Arc;
use vfs::{Disk, File, OpenMode};

/// `XLOG_SWITCH`: the rest of the segment is empty.
pub(crate) const XLOG_SWITCH: u8 = 0x40;
/// Bytes of one read.
const CHUNK: usize = 128 * 1024;
/// Longest record (1020 MB): larger than any record of tuples, which are limited to 1 GB.
const MAX_RECORD: u32 = 1020 * 1024 * 1024;

/// Why a read stopped.
enum Stop {
    End(String),
    Fault(pgerror::PgError),
}

impl From<String> for Stop {
    fn from(reason: String) -> Stop {
        Stop::End(reason)
    }
}

/// Reads records in order. See the module documentation.
pub struct WalReader {
    disk: Arc<dyn Disk>,
    /// Directory of the segments, with a slash at the end.
    directory: String,
    layout: Layout,
    timeline: u32,
    system_id: Option<u64>,
    /// Position of the next record.
    next: Lsn,
    /// Start of the last record read.
    last: Lsn,
    /// After a seek: the next record's prev link is only checked to point backwards.
    random: bool,
    /// Only record headers are wanted.
    headers_only: bool,
    header: RecordHeader,
    record: DecodedRecord,
    bytes: Vec<u8>,
    end_reason: String,
    /// The segment of the next page does not exist.
    missing: bool,
    aborted: Option<(Lsn, Lsn)>,
    overwritten: Option<Lsn>,
    /// Last page whose header was checked, and its timeline.
    latest_page: (Lsn, u32),
    segment: Option<(u64, Arc<dyn File>)>,
    /// Last page loaded and checked; it is in the chunk.
    page_checked: Lsn,
    page_header: PageHeader,
    chunk: Box<[u8]>,
    chunk_start: Lsn,
    chunk_len: usize,
}

impl WalReader {
    /// Makes a reader of the log in `pg_wal`. With `system_id`, long page headers must carry it,
    /// and no record is returned that ends on a page of another timeline.
    pub fn new(
        disk: Arc<dyn Disk>,
        segment_size: u32,
        timeline: u32,
        system_id: Option<u64>,
    ) -> WalReader {
        WalReader {
            disk,
            directory: "pg_wal/".to_owned(),
            layout: Layout::new(segment_size),
            timeline,
            system_id,
            next: Lsn::INVALID,
            last: Lsn::INVALID,
            random: true,
            headers_only: false,
            header: RecordHeader::default(),
            record: DecodedRecord::default(),
            bytes: Vec::new(),
            end_reason: String::new(),
            missing: false,
            aborted: None,
            overwritten: None,
            latest_page: (Lsn::INVALID, 0),
            segment: None,
            page_checked: Lsn::MAX,
            page_header: PageHeader::default(),
            chunk: vec![0; CHUNK].into_boxed_slice(),
            chunk_start: Lsn::INVALID,
            chunk_len: 0,
        }
    }

    /// Reads segments from this directory of the disk (with a slash at the end) instead of
    /// `pg_wal`.
    pub fn read_from_directory(&mut self, directory: &str) {
        directory.clone_into(&mut self.directory);
    }

    /// The next record read is the one at `lsn`, which must be a record's start or a page boundary.
    pub fn seek(&mut self, lsn: Lsn) {
        self.next = lsn;
        self.last = Lsn::INVALID;
        self.random = true;
        self.latest_page = (Lsn::INVALID, 0);
    }

    /// Discards buffered pages, for reading on in a log that grows.
    pub fn refresh(&mut self) {
        self.chunk_len = 0;
        self.page_checked = Lsn::MAX;
    }

    /// Reads the next record; `None` at the end of the log, for the reason
    /// [`WalReader::end_reason`].
    pub fn read(&mut self) -> Result<Option<&DecodedRecord>> {
        self.missing = false;
        self.aborted = None;
        self.overwritten = None;
        match self.read_next() {
            Ok(()) => Ok(Some(&self.record)),
            Err(Stop::End(reason)) => {
                self.end_reason = reason;
                self.page_checked = Lsn::MAX;
                self.chunk_len = 0;
                Ok(None)
            }
            Err(Stop::Fault(error)) => Err(error),
        }
    }

    /// Reads only the header of the next record and checks nothing else, not even the CRC. It finds
    /// at least the records that [`WalReader::read`] finds, but may go past the end of the log.
    pub fn read_header(&mut self) -> Result<Option<RecordHeader>> {
        self.headers_only = true;
        let found = self.read().map(|record| record.is_some());
        self.headers_only = false;
        Ok(found?.then_some(self.header))
    }

    /// The record at `lsn`.
    pub fn read_at(&mut self, lsn: Lsn) -> Result<Option<&DecodedRecord>> {
        self.seek(lsn);
        self.read()
    }

    /// The record read last.
    pub fn record(&self) -> &DecodedRecord {
        &self.record
    }

    /// Why the last call of [`WalReader::read`] found nothing.
    pub fn end_reason(&self) -> &str {
        &self.end_reason
    }

    /// True if the last read found nothing because the segment does not exist.
    pub fn is_out_of_segments(&self) -> bool {
        self.missing
    }

    /// Position of the next record; at the end of the log, the position at which to continue
    /// writing.
    pub fn next_lsn(&self) -> Lsn {
        self.next
    }

    /// Start of the last record read.
    pub fn last_lsn(&self) -> Lsn {
        self.last
    }

    /// If the log ends within a record that spans pages: the record's start, and the page that
    /// lacks the rest.
    pub fn aborted_contrecord(&self) -> Option<(Lsn, Lsn)> {
        self.aborted
    }

    /// If an incomplete record was dropped before the last record read: its start.
    pub fn overwritten_contrecord(&self) -> Option<Lsn> {
        self.overwritten
    }

    /// Start of the first record at or after `lsn`, which need not be a record's start; `None` at
    /// the end.
    pub fn find_next_record(&mut self, lsn: Lsn) -> Result<Option<Lsn>> {
        match self.skip_to_record(lsn) {
            Ok(mut at) => {
                self.seek(at);
                loop {
                    let Some(record) = self.read()? else { return Ok(None) };
                    at = record.start;
                    if at >= lsn {
                        self.seek(at);
                        return Ok(Some(at));
                    }
                }
            }
            Err(Stop::End(reason)) => {
                self.end_reason = reason;
                Ok(None)
            }
            Err(Stop::Fault(error)) => Err(error),
        }
    }

    /// As [`WalReader::seek`], to the first record that begins on the page of `lsn` or after it.
    /// False if the log has no such page.
    pub fn seek_from_page(&mut self, lsn: Lsn) -> Result<bool> {
        match self.skip_to_record(lsn) {
            Ok(at) => {
                self.seek(at);
                Ok(true)
            }
            Err(Stop::End(_)) => Ok(false),
            Err(Stop::Fault(error)) => Err(error),
        }
    }

    /// Start of the first record that begins on the page of `lsn` or after it.
    fn skip_to_record(&mut self, lsn: Lsn) -> Result<Lsn, Stop> {
        self.seek(lsn);
        let mut page = Lsn(lsn.0 - lsn.0 % WAL_PAGE as u64);
        loop {
            let header = self.load(page)?;
            let size = header.size() as u64;
            if header.info & XLP_FIRST_IS_CONTRECORD == 0 {
                return Ok(page + size);
            }
            let rest = maxalign(u64::from(header.rem_len));
            if rest < WAL_PAGE as u64 - size {
                return Ok(page + size + rest);
            }
            page = page + WAL_PAGE as u64;
        }
    }

    fn read_next(&mut self) -> Result<(), Stop> {
        let mut at = self.next;
        if !at.is_valid() {
            return Err(format!("invalid record offset at {at}").into());
        }
        loop {
            match self.read_record(at)? {
                None => return Ok(()),
                Some((start, overwriting_page)) => {
                    self.overwritten = Some(start);
                    at = overwriting_page;
                }
            }
        }
    }

    /// Reads the record at `at`. `Some((start, page))` if the record is void, because the page that
    /// should hold its rest has OVERWRITE_CONTRECORD; reading continues at `page`. `start` is the
    /// record's start, after the page header if `at` is a page boundary.
    fn read_record(&mut self, mut at: Lsn) -> Result<Option<(Lsn, Lsn)>, Stop> {
        let mut page = Lsn(at.0 - at.0 % WAL_PAGE as u64);
        let header = self.load(page)?;
        let size = header.size();
        let mut offset = (at.0 % WAL_PAGE as u64) as usize;
        if offset == 0 {
            at = at + size as u64;
            offset = size;
        } else if offset < size || !offset.is_multiple_of(8) {
            return Err(format!("invalid record offset at {at}").into());
        }
        if header.info & XLP_FIRST_IS_CONTRECORD != 0 && offset == size {
            return Err(format!("contrecord is requested by {at}").into());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let (first, in_page) = self.page_bytes(page);
        let rest_of_page = &in_page[first + offset..first + WAL_PAGE];
        let total = le32(rest_of_page, 0);
        let mut checked = false;
        if rest_of_page.len() >= RECORD_HEADER {
            self.check_header(at, &RecordHeader::read(rest_of_page))?;
            checked = true;
        } else if (total as usize) < RECORD_HEADER {
            return Err(too_short(at, total).into());
        }
        if total > MAX_RECORD {
            return Err(format!("record length {total} at {at} too long").into());
        }
        let total_len = total as usize;
        let take = total_len.min(rest_of_page.len());
        if self.headers_only && take == total_len {
            let header = RecordHeader::read(rest_of_page);
            self.bytes = bytes;
            self.advance(at, at + maxalign(take as u64), header);
            return Ok(None);
        }
        bytes.extend_from_slice(&rest_of_page[..take]);
        let mut next = at + maxalign(take as u64);
        while bytes.len() < total_len {
            page = page + WAL_PAGE as u64;
            match self.append_rest(at, page, total_len, &mut bytes) {
                Ok(Some(after)) => next = after,
                Ok(None) => {
                    self.bytes = bytes;
                    return Ok(Some((at, page)));
                }
                Err(stop) => {
                    self.bytes = bytes;
                    self.aborted = Some((at, page));
                    return Err(stop);
                }
            }
            if !checked && bytes.len() >= RECORD_HEADER {
                if let Err(reason) = self.check_header(at, &RecordHeader::read(&bytes)) {
                    self.bytes = bytes;
                    self.aborted = Some((at, page));
                    return Err(reason.into());
                }
                checked = true;
            }
        }
        let result = self.finish(at, next, &mut bytes);
        self.bytes = bytes;
        if result.is_err() && total_len > take && self.check_timeline().is_ok() {
            self.aborted = Some((at, page));
        }
        result.map(|()| None).map_err(Stop::End)
    }

    /// Checks the CRC, decodes the record and advances the position.
    fn finish(&mut self, at: Lsn, next: Lsn, bytes: &mut Vec<u8>) -> Result<(), String> {
        let header = RecordHeader::read(bytes);
        if !self.headers_only {
            if record_crc(bytes) != header.crc {
                return Err(format!("incorrect resource manager data checksum in record at {at}"));
            }
            self.record.swap_bytes(bytes);
            self.record.decode(at, self.after(next, &header))?;
            self.check_timeline()?;
        }
        self.advance(at, next, header);
        Ok(())
    }

    /// The timeline in a page header is covered by no CRC; this is the only check of it.
    fn check_timeline(&self) -> Result<(), String> {
        let found = self.page_header.timeline;
        if self.system_id.is_none() || found == self.timeline {
            return Ok(());
        }
        let page = self.page_checked;
        let name = self.layout.file_name(self.timeline, self.layout.segment_of(page));
        let offset = self.layout.offset_in_segment(page);
        Err(format!("unexpected timeline ID {found} in log segment {name}, offset {offset}"))
    }

    /// Start of the next record after one that ends at `end`.
    fn after(&self, end: Lsn, header: &RecordHeader) -> Lsn {
        if header.rmid == RmgrId::Xlog as u8 && header.rmgr_info() == XLOG_SWITCH {
            Lsn(end.0.next_multiple_of(self.layout.segment_size()))
        } else {
            end
        }
    }

    fn advance(&mut self, at: Lsn, end: Lsn, header: RecordHeader) {
        self.next = self.after(end, &header);
        self.last = at;
        self.random = false;
        self.header = header;
    }

    /// Appends the part on `page` of the record at `at`; returns where that part ends, or `None` if
    /// the page has OVERWRITE_CONTRECORD.
    fn append_rest(
        &mut self,
        at: Lsn,
        page: Lsn,
        total: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Lsn>, Stop> {
        let header = self.load(page)?;
        if header.info & XLP_FIRST_IS_OVERWRITE_CONTRECORD != 0 {
            return Ok(None);
        }
        if header.info & XLP_FIRST_IS_CONTRECORD == 0 {
            return Err(format!("there is no contrecord flag at {at}").into());
        }
        let missing = total - bytes.len();
        if header.rem_len == 0 || header.rem_len as usize != missing {
            return Err(format!(
                "invalid contrecord length {} (expected {missing}) at {at}",
                header.rem_len
            )
            .into());
        }
        let size = header.size();
        let take = missing.min(WAL_PAGE - size);
        let (first, in_page) = self.page_bytes(page);
        bytes.extend_from_slice(&in_page[first + size..first + size + take]);
        Ok(Some(page + size as u64 + maxalign(take as u64)))
    }

    fn check_header(&self, at: Lsn, header: &RecordHeader) -> Result<(), String> {
        if (header.total_len as usize) < RECORD_HEADER {
            return Err(too_short(at, header.total_len));
        }
        if !RmgrId::is_valid_number(header.rmid) {
            return Err(format!("invalid resource manager ID {} at {at}", header.rmid));
        }
        let good = if self.random { header.prev < at } else { header.prev == self.last };
        if !good {
            return Err(format!("record with incorrect prev-link {} at {at}", header.prev));
        }
        Ok(())
    }

    /// The chunk, and the offset in it of the loaded page.
    fn page_bytes(&self, page: Lsn) -> (usize, &[u8]) {
        ((page - self.chunk_start) as usize, &self.chunk)
    }

    /// Makes the page at `page` available and checks its header.
    #[inline]
    fn load(&mut self, page: Lsn) -> Result<PageHeader, Stop> {
        if self.page_checked == page { Ok(self.page_header) } else { self.load_other(page) }
    }

    fn load_other(&mut self, page: Lsn) -> Result<PageHeader, Stop> {
        let segment = self.layout.segment_of(page);
        let loaded = self.segment.as_ref().is_some_and(|(open, _)| *open == segment);
        if !loaded && self.layout.offset_in_segment(page) != 0 {
            // A recycled file holds old pages that are valid in themselves. The address in its
            // first page shows it.
            let first = self.layout.segment_start(segment);
            self.fetch(first)?;
            self.check_page(first)?;
        }
        self.fetch(page)?;
        self.page_header = self.check_page(page)?;
        self.page_checked = page;
        Ok(self.page_header)
    }

    /// Reads the page into the chunk unless it is there.
    fn fetch(&mut self, page: Lsn) -> Result<(), Stop> {
        let end = page + WAL_PAGE as u64;
        if page >= self.chunk_start && end.0 <= self.chunk_start.0 + self.chunk_len as u64 {
            return Ok(());
        }
        let segment = self.layout.segment_of(page);
        let name = self.layout.file_name(self.timeline, segment);
        if self.segment.as_ref().is_none_or(|(open, _)| *open != segment) {
            let path = format!("{}{name}", self.directory);
            let file = self.disk.open(&path, OpenMode::Read).map_err(|e| match e.kind() {
                ErrorKind::NotFound => {
                    self.missing = true;
                    Stop::End(format!("could not open file \"{path}\": {}", vfs::strerror(&e)))
                }
                _ => Stop::Fault(vfs::io_error("open file", &path, &e)),
            })?;
            self.segment = Some((segment, file));
        }
        let Some((_, file)) = &self.segment else { unreachable!("opened above") };
        let offset = self.layout.offset_in_segment(page);
        let want = CHUNK.min((self.layout.segment_size() - offset) as usize);
        self.chunk_len = 0;
        self.page_checked = Lsn::MAX;
        self.chunk_start = page;
        let mut got = 0;
        while got < want {
            let n = file.read_at(&mut self.chunk[got..want], offset + got as u64).map_err(|e| {
                Stop::Fault(vfs::io_error_with(
                    &format!("could not read from log segment {name}, offset {offset}"),
                    &e,
                ))
            })?;
            if n == 0 {
                break;
            }
            got += n;
        }
        self.chunk_len = got;
        if got < WAL_PAGE {
            return Err(Stop::End(format!(
                "could not read from log segment {name}, offset {offset}: read {got} of {WAL_PAGE}"
            )));
        }
        Ok(())
    }

    fn check_page(&mut self, page: Lsn) -> Result<PageHeader, String> {
        let (at, bytes) = self.page_bytes(page);
        let header = PageHeader::read(&bytes[at..]);
        let offset = self.layout.offset_in_segment(page);
        let location = || {
            let name = self.layout.file_name(self.timeline, self.layout.segment_of(page));
            format!("in log segment {name}, offset {offset}")
        };
        if header.magic != PAGE_MAGIC {
            return Err(format!("invalid magic number {:04X} {}", header.magic, location()));
        }
        if header.info & !XLP_ALL_FLAGS != 0 {
            return Err(format!("invalid info bits {:04X} {}", header.info, location()));
        }
        let foreign = "WAL file is from different database system";
        match header.long {
            Some((system_id, segment_size, page_size)) => {
                if let Some(ours) = self.system_id
                    && ours != system_id
                {
                    return Err(format!(
                        "{foreign}: WAL file database system identifier is {system_id}, \
                         pg_control database system identifier is {ours}"
                    ));
                }
                if u64::from(segment_size) != self.layout.segment_size() {
                    return Err(format!("{foreign}: incorrect segment size in page header"));
                }
                if page_size as usize != WAL_PAGE {
                    return Err(format!("{foreign}: incorrect XLOG_BLCKSZ in page header"));
                }
            }
            None if offset == 0 => {
                return Err(format!("invalid info bits {:04X} {}", header.info, location()));
            }
            None => {}
        }
        if header.page_addr != page {
            return Err(format!("unexpected pageaddr {} {}", header.page_addr, location()));
        }
        let (latest, latest_timeline) = self.latest_page;
        if page > latest && header.timeline < latest_timeline {
            return Err(format!(
                "out-of-sequence timeline ID {} (after {latest_timeline}) {}",
                header.timeline,
                location()
            ));
        }
        self.latest_page = (page, header.timeline);
        Ok(header)
    }
}

fn too_short(at: Lsn, total: u32) -> String {
    format!("invalid record length at {at}: wanted {RECORD_HEADER}, got {total}")
}
