//! Reading the log: from any record on, until it ends.
//!
//! The end of the log is where the next record does not check out: that is how a log ends after a
//! crash, so it is no error, but the reason is kept. A failing disk is an error.
//!
//! A record may go on on following pages, each of which then says so in its header. If the server
//! crashed within such a record, it later writes on at the page that should have held the rest,
//! whose header says OVERWRITE_CONTRECORD: the reader then drops the half record and goes on there.
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
/// Bytes read at once.
const CHUNK: usize = 128 * 1024;
/// No record is longer (1020 MB), since tuples and their lists are bounded by 1 GB.
const MAX_RECORD: u32 = 1020 * 1024 * 1024;

/// Why reading stopped.
enum Stop {
    End(String),
    Fault(pgerror::PgError),
}

impl From<String> for Stop {
    fn from(reason: String) -> Stop {
        Stop::End(reason)
    }
}

/// Reads records one after the other. See the module text.
pub struct WalReader {
    disk: Arc<dyn Disk>,
    /// Where segments lie, with a slash at the end.
    directory: String,
    layout: Layout,
    timeline: u32,
    system_id: Option<u64>,
    /// Where the next record is looked for.
    next: Lsn,
    /// Start of the last record read.
    last: Lsn,
    /// The next record's prev link is only known to point backwards (after a seek).
    random: bool,
    /// Only headers are wanted.
    skimming: bool,
    header: RecordHeader,
    record: DecodedRecord,
    bytes: Vec<u8>,
    end_reason: String,
    /// The last segment looked for is not there.
    missing: bool,
    aborted: Option<(Lsn, Lsn)>,
    overwritten: Option<Lsn>,
    /// Last page whose header was checked, and its timeline.
    latest_page: (Lsn, u32),
    segment: Option<(u64, Arc<dyn File>)>,
    /// Last page loaded and found good; it is in the chunk.
    page_checked: Lsn,
    page_header: PageHeader,
    chunk: Box<[u8]>,
    chunk_start: Lsn,
    chunk_len: usize,
}

impl WalReader {
    /// A reader of the log below `pg_wal`. With `system_id`, long page headers must carry it, and
    /// no record is read that ends on a page of another timeline.
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
            skimming: false,
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

    /// Segments lie in this directory of the disk (with a slash at the end) instead of `pg_wal`.
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

    /// Forgets what was read of the files, for reading on in a log that grows.
    pub fn refresh(&mut self) {
        self.chunk_len = 0;
        self.page_checked = Lsn::MAX;
    }

    /// The next record; `None` at the end of the log, whose reason [`WalReader::end_reason`] tells.
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

    /// The header of the next record, of which nothing else is looked at, not even its CRC: never
    /// short of what [`WalReader::read`] finds, but perhaps beyond the end of the log.
    pub fn skim(&mut self) -> Result<Option<RecordHeader>> {
        self.skimming = true;
        let found = self.read().map(|record| record.is_some());
        self.skimming = false;
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

    /// Is it because there is no further segment?
    pub fn is_out_of_segments(&self) -> bool {
        self.missing
    }

    /// Where the next record is looked for: after the end of the log, where to write on.
    pub fn next_lsn(&self) -> Lsn {
        self.next
    }

    /// Start of the last record read.
    pub fn last_lsn(&self) -> Lsn {
        self.last
    }

    /// If the log ends within a record that goes over pages: its start, and the page that lacks the
    /// rest.
    pub fn aborted_contrecord(&self) -> Option<(Lsn, Lsn)> {
        self.aborted
    }

    /// If half a record was passed over before the last record read: its start.
    pub fn overwritten_contrecord(&self) -> Option<Lsn> {
        self.overwritten
    }

    /// Start of the first record at or after `lsn`, which may be anywhere; `None` at the end.
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

    /// As [`WalReader::seek`], to the first record that begins on or after the page of `lsn`; false
    /// if there is no such page in the log.
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

    /// Start of the first record that begins on or after the page of `lsn`.
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
                Some((void, overwriting_page)) => {
                    self.overwritten = Some(void);
                    at = overwriting_page;
                }
            }
        }
    }

    /// Reads the record at `at`; `Some((start, page))` if the page that should hold its rest says
    /// that the record, which starts behind the page's header if `at` is the page, is void and what
    /// follows begins there.
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
        if self.skimming && take == total_len {
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

    /// CRC, decoding, and the new position.
    fn finish(&mut self, at: Lsn, next: Lsn, bytes: &mut Vec<u8>) -> Result<(), String> {
        let header = RecordHeader::read(bytes);
        if !self.skimming {
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

    /// Nothing but this protects the timeline of a page header, which no CRC covers.
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

    /// Where the next record may start, behind one that ends at `end`.
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

    /// Appends what `page` holds of the record at `at`; where that ends, or `None` if the page says
    /// that it is void.
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

    /// The chunk, and where in it the loaded page begins.
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
            // A recycled file may hold good-looking old pages; its first page tells.
            let first = self.layout.segment_start(segment);
            self.fetch(first)?;
            self.check_page(first)?;
        }
        self.fetch(page)?;
        self.page_header = self.check_page(page)?;
        self.page_checked = page;
        Ok(self.page_header)
    }

    /// Reads the page's bytes into the chunk unless they are there.
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
        let place = || {
            let name = self.layout.file_name(self.timeline, self.layout.segment_of(page));
            format!("in log segment {name}, offset {offset}")
        };
        if header.magic != PAGE_MAGIC {
            return Err(format!("invalid magic number {:04X} {}", header.magic, place()));
        }
        if header.info & !XLP_ALL_FLAGS != 0 {
            return Err(format!("invalid info bits {:04X} {}", header.info, place()));
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
                return Err(format!("invalid info bits {:04X} {}", header.info, place()));
            }
            None => {}
        }
        if header.page_addr != page {
            return Err(format!("unexpected pageaddr {} {}", header.page_addr, place()));
        }
        let (latest, latest_timeline) = self.latest_page;
        if page > latest && header.timeline < latest_timeline {
            return Err(format!(
                "out-of-sequence timeline ID {} (after {latest_timeline}) {}",
                header.timeline,
                place()
            ));
        }
        self.latest_page = (page, header.timeline);
        Ok(header)
    }
}

fn too_short(at: Lsn, total: u32) -> String {
    format!("invalid record length at {at}: wanted {RECORD_HEADER}, got {total}")
}
