//! Programs that the server runs with a pipe to or from them. Counterpart: `OpenPipeStream` of
//! fd.c, `wait_result_to_str` of wait_error.c.

use crate::process::{self, Signal};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A pipe is ready for this number of bytes, or not at all (`PIPE_BUF`).
const PIPE_BYTES: usize = 4096;

/// Which end of the pipe the program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipeEnd {
    /// The server reads what the program prints.
    Output,
    /// The program reads what the server writes.
    Input,
}

/// A shell command that runs in its own process group. When it is dropped, the pipe is closed, and
/// the end of the command is awaited.
pub struct Program {
    child: Child,
    output: Option<ChildStdout>,
    input: Option<ChildStdin>,
}

impl Program {
    /// Starts a command of the shell in a directory.
    pub fn start(command: &str, directory: &str, end: PipeEnd) -> io::Result<Program> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command).current_dir(directory).process_group(0);
        match end {
            PipeEnd::Output => shell.stdin(Stdio::null()).stdout(Stdio::piped()),
            PipeEnd::Input => shell.stdin(Stdio::piped()),
        };
        // SAFETY: the closure runs in the child between fork and exec, and calls only functions
        // that are safe for signals; it allocates nothing.
        unsafe { shell.pre_exec(process::restore_signals) };
        let mut child = shell.spawn()?;
        let (output, input) = (child.stdout.take(), child.stdin.take());
        Ok(Program { child, output, input })
    }

    /// Reads what the program has printed, at the end 0 bytes; `None` if there is nothing within
    /// the time.
    pub fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        let Some(output) = &mut self.output else { return Ok(Some(0)) };
        match is_ready(output.as_fd(), libc::POLLIN, wait)? {
            true => output.read(buffer).map(Some),
            false => Ok(None),
        }
    }

    /// Writes a part of the bytes and returns its length; `None` if the pipe stays full for the
    /// time.
    pub fn write(&mut self, bytes: &[u8], wait: Duration) -> io::Result<Option<usize>> {
        let Some(input) = &mut self.input else { return Ok(Some(bytes.len())) };
        match is_ready(input.as_fd(), libc::POLLOUT, wait)? {
            true => input.write(&bytes[..bytes.len().min(PIPE_BYTES)]).map(Some),
            false => Ok(None),
        }
    }

    /// Closes the pipe.
    pub fn close(&mut self) {
        self.output = None;
        self.input = None;
    }

    /// How the program has ended; `None` while it runs.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits for the end of the program.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.close();
        self.child.wait()
    }

    /// Sends SIGINT to the program and its children, as to a session's process group.
    pub fn interrupt(&self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // It may have ended.
            let _ = process::send_signal(-group, Signal::Interrupt);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.close();
        // An error cannot be reported here.
        let _ = self.child.wait();
    }
}

/// Waits until a pipe can be read or written, or its other end is closed.
fn is_ready(pipe: BorrowedFd<'_>, event: libc::c_short, wait: Duration) -> io::Result<bool> {
    let mut polled = libc::pollfd { fd: pipe.as_raw_fd(), events: event, revents: 0 };
    let millis = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one descriptor structure, which lives during the call; the descriptor is borrowed.
    match unsafe { libc::poll(&mut polled, 1, millis) } {
        -1 => {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) }
        }
        ready => Ok(ready > 0),
    }
}

/// The text for the end of a program; `None` if it was successful.
pub fn failure(status: ExitStatus) -> Option<String> {
    if let Some(signal) = status.signal() {
        let name = signal_name(signal);
        return Some(format!("child process was terminated by signal {signal}: {name}"));
    }
    match status.code()? {
        0 => None,
        126 => Some("command not executable".to_owned()),
        127 => Some("command not found".to_owned()),
        code => Some(format!("child process exited with exit code {code}")),
    }
}

/// True if the program was ended by a write to a pipe that has no reader. A shell reports the end
/// of its last command by its own exit code.
pub fn ended_by_closed_pipe(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGPIPE) || status.code() == Some(128 + libc::SIGPIPE)
}

/// The C library's description of a signal.
fn signal_name(signal: i32) -> String {
    let known = [
        (libc::SIGHUP, "Hangup"),
        (libc::SIGINT, "Interrupt"),
        (libc::SIGQUIT, "Quit"),
        (libc::SIGILL, "Illegal instruction"),
        (libc::SIGTRAP, "Trace/breakpoint trap"),
        (libc::SIGABRT, "Aborted"),
        (libc::SIGBUS, "Bus error"),
        (libc::SIGFPE, "Floating point exception"),
        (libc::SIGKILL, "Killed"),
        (libc::SIGUSR1, "User defined signal 1"),
        (libc::SIGSEGV, "Segmentation fault"),
        (libc::SIGUSR2, "User defined signal 2"),
        (libc::SIGPIPE, "Broken pipe"),
        (libc::SIGALRM, "Alarm clock"),
        (libc::SIGTERM, "Terminated"),
        (libc::SIGXCPU, "CPU time limit exceeded"),
        (libc::SIGXFSZ, "File size limit exceeded"),
    ];
    let name = known.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| format!("Unknown signal {signal}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(60);

    fn end(program: &mut Program) -> Option<String> {
        program.close();
        loop {
            if let Some(status) = program.ended().expect("a child can be waited for") {
                return failure(status);
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn output_of_a_program_is_read() {
        let mut program = Program::start("pwd; echo two; exit 3", "/", PipeEnd::Output).unwrap();
        let (mut text, mut piece) = (Vec::new(), [0; 16]);
        while let Some(n @ 1..) = program.read(&mut piece, WAIT).unwrap() {
            text.extend_from_slice(&piece[..n]);
        }
        assert_eq!(text, b"/\ntwo\n");
        assert_eq!(end(&mut program).as_deref(), Some("child process exited with exit code 3"));
    }

    #[test]
    fn input_of_a_program_is_written() {
        let command = "read word; test \"$word\" = abc || exit 9; exit 0";
        let mut program = Program::start(command, "/", PipeEnd::Input).unwrap();
        assert_eq!(program.write(b"abc\n", WAIT).unwrap(), Some(4));
        assert_eq!(end(&mut program), None);
    }

    #[test]
    fn an_interrupt_ends_a_program() {
        let mut program = Program::start("kill -INT $$", "/", PipeEnd::Output).unwrap();
        let text = "child process was terminated by signal 2: Interrupt";
        assert_eq!(end(&mut program).as_deref(), Some(text));
        let mut sleeping = Program::start("exec sleep 600", "/", PipeEnd::Output).unwrap();
        sleeping.interrupt();
        assert_eq!(end(&mut sleeping).as_deref(), Some(text));
        let mut unknown = Program::start("exec /nonexistent/program", "/", PipeEnd::Input).unwrap();
        assert_eq!(end(&mut unknown).as_deref(), Some("command not found"));
    }
}
