//! The source of COPY FROM: the client, a file or a program, converted to the database's encoding.
//! Counterpart: `CopyGetData` and `CopyConvertBuf` of copyfromparse.c.

use crate::program::Program;
use crate::progress::Progress;
use catalog::conversion::Conversion;
use parse::ast::CopyStmt;
use pgerror::{PgError, Result};
use std::sync::Arc;
use utility::host::CommandHost;
use vfs::OpenMode;
use vfs::program::PipeEnd;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 65_536;

enum Origin {
    Client,
    File { file: Arc<dyn vfs::File>, at: u64, path: String },
    Program { program: Program, ended: bool },
}

/// What is copied.
pub(crate) struct Source {
    origin: Origin,
    pub progress: Progress,
    /// `None` if the data is in the database's encoding.
    conversion: Option<Conversion>,
    /// Bytes that are not converted yet.
    raw: Vec<u8>,
    /// The error in the data after what has been converted.
    failed: Option<PgError>,
}

impl Source {
    /// Opens the source that the statement names; `columns` is the number of its columns.
    pub(crate) fn open(
        host: &mut dyn CommandHost,
        stmt: &CopyStmt,
        (binary, columns): (bool, usize),
        conversion: Option<Conversion>,
        progress: Progress,
    ) -> Result<Source> {
        let origin = match &stmt.filename {
            None => {
                host.transport()?.begin_in(binary, columns)?;
                Origin::Client
            }
            Some(command) if stmt.is_program => {
                let program = Program::start(host, command, PipeEnd::Output)?;
                Origin::Program { program, ended: false }
            }
            Some(path) => {
                let disk = host.backend().storage().env.disk.clone();
                let file = disk.open(path, OpenMode::Read).map_err(|e| {
                    let what = format!("could not open file \"{path}\" for reading");
                    vfs::io_error_with(&what, &e).hint(
                        "COPY FROM instructs the PostgreSQL server process to read a file. You \
                         may want a client-side facility such as psql's \\copy.",
                    )
                })?;
                let bytes = file.len().map_err(|e| vfs::io_error("stat file", path, &e))?;
                progress.set_bytes_total(bytes);
                Origin::File { file, at: 0, path: path.to_string() }
            }
        };
        Ok(Source { origin, progress, conversion, raw: Vec::new(), failed: None })
    }

    /// True if the data is converted to the encoding of the database.
    pub(crate) fn converts(&self) -> bool {
        self.conversion.is_some()
    }

    /// True if the data after the end marker must be read.
    pub(crate) fn is_client(&self) -> bool {
        matches!(self.origin, Origin::Client)
    }

    /// Appends more data; false at its end.
    pub(crate) fn more(&mut self, host: &mut dyn CommandHost, out: &mut Vec<u8>) -> Result<bool> {
        let Some(conversion) = self.conversion else {
            let before = out.len();
            let more = self.origin.more(host, out)?;
            self.progress.add_bytes(out.len() - before);
            return Ok(more);
        };
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        let unread = self.raw.len();
        let more = self.origin.more(host, &mut self.raw)?;
        self.progress.add_bytes(self.raw.len() - unread);
        let before = out.len();
        match conversion.append(&self.raw, out) {
            Ok(converted) => drop(self.raw.drain(..converted)),
            // The lines before it come first.
            Err(e) if out.len() > before => self.failed = Some(e),
            Err(e) => return Err(e),
        }
        if !more && !self.raw.is_empty() {
            // A character that is not complete is an error.
            catalog::conversion::verify(&self.raw, catalog::encoding::UTF8)?;
        }
        Ok(more || out.len() > before)
    }

    /// Closes the source after all rows have been read.
    pub(crate) fn finish(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        match &mut self.origin {
            Origin::Program { program, ended } => program.finish_reading(host, *ended),
            _ => Ok(()),
        }
    }
}

impl Origin {
    fn more(&mut self, host: &mut dyn CommandHost, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Origin::Client => host.transport()?.read(out),
            Origin::File { file, at, path } => {
                let mut piece = vec![0; PIECE_BYTES];
                let n = file
                    .read_at(&mut piece, *at)
                    .map_err(|e| vfs::io_error("read from COPY file", path, &e))?;
                *at += n as u64;
                out.extend_from_slice(&piece[..n]);
                Ok(n > 0)
            }
            Origin::Program { program, ended } => {
                let mut piece = vec![0; PIECE_BYTES];
                let n = program.read(host, &mut piece)?;
                *ended = n == 0;
                out.extend_from_slice(&piece[..n]);
                Ok(n > 0)
            }
        }
    }
}
