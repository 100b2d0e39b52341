//! COPY with a program: the pipe, and what is reported about the program's end. Counterpart:
//! `ClosePipeFromProgram` and `ClosePipeToProgram` of copyfrom.c and copyto.c.

use pgerror::{PgError, Result, pg_err};
use std::process::ExitStatus;
use std::time::Duration;
use utility::host::CommandHost;
use vfs::program::{self, PipeEnd};

/// Interval of checks for interrupts while the pipe is not ready.
const WAIT: Duration = Duration::from_millis(50);
/// First interval of checks whether the program has ended; it doubles up to [`WAIT`].
const END_WAIT: Duration = Duration::from_micros(200);

/// The program of a COPY.
pub(crate) struct Program {
    program: program::Program,
    command: String,
    /// The statement has been cancelled, and the program was sent SIGINT. The exit status decides
    /// which error is reported.
    cancelled: Option<PgError>,
}

impl Program {
    /// Starts the program in the data directory.
    pub(crate) fn start(
        host: &mut dyn CommandHost,
        command: &str,
        end: PipeEnd,
    ) -> Result<Program> {
        let directory = host.backend().storage().env.disk.full_path("");
        let program = program::Program::start(command, &directory, end).map_err(|e| {
            vfs::io_error_with(&format!("could not execute command \"{command}\""), &e)
        })?;
        Ok(Program { program, command: command.to_owned(), cancelled: None })
    }

    /// Interrupts the program if the statement is cancelled.
    fn check_interrupts(&mut self, host: &mut dyn CommandHost) {
        if self.cancelled.is_none()
            && let Err(e) = host.backend().check_interrupts()
        {
            self.program.interrupt();
            self.cancelled = Some(e);
        }
    }

    /// The error for a cancelled statement.
    fn raise(&mut self) -> Result<()> {
        self.cancelled.take().map_or(Ok(()), Err)
    }

    /// Reads a part of what the program prints; 0 bytes at its end.
    pub(crate) fn read(&mut self, host: &mut dyn CommandHost, piece: &mut [u8]) -> Result<usize> {
        loop {
            let read = self.program.read(piece, WAIT);
            let read = read.map_err(|e| vfs::io_error_with("could not read from COPY program", &e));
            match read? {
                Some(0) => return Ok(0),
                Some(n) => {
                    self.check_interrupts(host);
                    return self.raise().map(|()| n);
                }
                None => self.check_interrupts(host),
            }
        }
    }

    /// Writes all bytes.
    pub(crate) fn write(&mut self, host: &mut dyn CommandHost, bytes: &[u8]) -> Result<()> {
        let Err(e) = self.put(host, bytes)? else { return Ok(()) };
        if e.kind() != std::io::ErrorKind::BrokenPipe {
            return Err(vfs::io_error_with("could not write to COPY program", &e));
        }
        // An error by the program's exit status is more specific.
        self.end(host)?;
        let reason = vfs::strerror(&e);
        Err(PgError::internal(format!("could not write to COPY program: {reason}")))
    }

    /// Writes the last bytes, which the program need not read, and waits for its end.
    pub(crate) fn finish_writing(
        &mut self,
        host: &mut dyn CommandHost,
        bytes: &[u8],
    ) -> Result<()> {
        // A failed write is no error if the program is successful.
        let _ = self.put(host, bytes)?;
        self.end(host)
    }

    /// Writes all bytes, or returns the pipe's error.
    fn put(
        &mut self,
        host: &mut dyn CommandHost,
        bytes: &[u8],
    ) -> Result<std::result::Result<(), std::io::Error>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.program.write(rest, WAIT) {
                Ok(Some(n)) => rest = &rest[n..],
                Ok(None) => {
                    self.check_interrupts(host);
                    if self.cancelled.is_some() {
                        // An error by the program's exit status is more specific.
                        self.end(host)?;
                    }
                }
                Err(e) => return Ok(Err(e)),
            }
        }
        Ok(Ok(()))
    }

    /// Ends reading. A program may fail because its output was not read to the end.
    pub(crate) fn finish_reading(
        &mut self,
        host: &mut dyn CommandHost,
        reached_end: bool,
    ) -> Result<()> {
        let status = self.wait(host)?;
        match !reached_end && program::ended_by_closed_pipe(status) {
            true => Ok(()),
            false => self.check_success(status),
        }
    }

    /// Closes the pipe and waits for the end of the program, which must be successful.
    fn end(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let status = self.wait(host)?;
        self.check_success(status)
    }

    fn wait(&mut self, host: &mut dyn CommandHost) -> Result<ExitStatus> {
        self.program.close();
        let failed = |e| vfs::io_error_with("could not close pipe to external command", &e);
        let mut pause = END_WAIT;
        while self.cancelled.is_none() {
            if let Some(status) = self.program.ended().map_err(failed)? {
                return Ok(status);
            }
            self.check_interrupts(host);
            if self.cancelled.is_none()
                && let Err(e) = host.pause(pause)
            {
                self.program.interrupt();
                self.cancelled = Some(e);
            }
            pause = (pause * 2).min(WAIT);
        }
        self.program.wait().map_err(failed)
    }

    /// 38000 if the program was not successful.
    fn check_success(&mut self, status: ExitStatus) -> Result<()> {
        let Some(failure) = program::failure(status) else { return self.raise() };
        let command = &self.command;
        Err(pg_err!(EXTERNAL_ROUTINE_EXCEPTION, "program \"{command}\" failed").detail(failure))
    }
}
