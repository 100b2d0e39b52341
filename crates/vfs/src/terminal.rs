//! Input of passwords on a terminal. In this crate because the calls need `unsafe`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;

/// Prints the prompt and reads a line that is not shown while it is typed. Uses the controlling
/// terminal, or standard input and standard error if there is none. The line has no terminator.
///
/// Counterpart: `simple_prompt`.
pub fn read_hidden(prompt: &str) -> io::Result<String> {
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        eprint!("{prompt}");
        let _hidden = Hidden::of(&io::stdin());
        return first_line(&mut io::stdin().lock()).inspect(|_| eprintln!());
    };
    let mut out: &File = &terminal;
    out.write_all(prompt.as_bytes())?;
    let hidden = Hidden::of(&terminal);
    let line = first_line(&mut BufReader::new(&terminal))?;
    drop(hidden);
    out.write_all(b"\n")?;
    Ok(line)
}

fn first_line(input: &mut dyn BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(line)
}

/// Characters typed are not shown; restored on drop.
struct Hidden {
    terminal: i32,
    before: libc::termios,
}

impl Hidden {
    /// `None` if it is not a terminal.
    fn of(terminal: &impl AsRawFd) -> Option<Hidden> {
        let terminal = terminal.as_raw_fd();
        // SAFETY: the structure is plain data, which the first call fills.
        unsafe {
            let mut state: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(terminal, &mut state) != 0 {
                return None;
            }
            let before = state;
            state.c_lflag &= !libc::ECHO;
            libc::tcsetattr(terminal, libc::TCSAFLUSH, &state);
            Some(Hidden { terminal, before })
        }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // SAFETY: the state was filled by `tcgetattr`.
        unsafe {
            libc::tcsetattr(self.terminal, libc::TCSAFLUSH, &self.before);
        }
    }
}
