//! Busy-waits for the next message of a client before the session's thread sleeps.
//!
//! A client often sends its next message within microseconds after a response. Waking a sleeping
//! thread then costs more than the statement itself, above all on virtual machines. A session
//! therefore polls its socket for `norsu.client_spin` microseconds, under two conditions:
//!
//! - At most half of the processors have awake sessions, so that polling takes no time from others.
//! - Polling has been useful: each failure doubles the number of messages for which the session
//!   sleeps without polling.

use crate::net::Stream;
use session::{ClientOutput, Transport};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Number of sessions in this process that are not asleep waiting for their clients.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Maximum number of messages without polling after failures.
const SLEEPS_MAX: u32 = 255;

/// A connection with adaptive busy-waiting.
pub(crate) struct SpinningStream {
    stream: Stream,
    span: Duration,
    /// Remaining messages without polling.
    sleeps_left: u32,
    /// Number of messages without polling after the last failure.
    sleeps: u32,
}

impl SpinningStream {
    pub(crate) fn new(stream: Stream) -> SpinningStream {
        AWAKE.fetch_add(1, Relaxed);
        SpinningStream { stream, span: Duration::ZERO, sleeps_left: 0, sleeps: 0 }
    }

    /// True if this read should poll the socket.
    fn should_spin(&mut self) -> bool {
        if self.span.is_zero() || AWAKE.load(Relaxed) > processors() / 2 {
            return false;
        }
        if self.sleeps_left > 0 {
            self.sleeps_left -= 1;
            return false;
        }
        true
    }

    /// Polls for input; `None` after the time limit.
    fn spin_read(&mut self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        let begun = Instant::now();
        loop {
            match self.stream.read_now(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => {
                    self.sleeps = 0;
                    return Some(done);
                }
            }
            if begun.elapsed() >= self.span {
                self.sleeps = (2 * self.sleeps + 1).min(SLEEPS_MAX);
                self.sleeps_left = self.sleeps;
                return None;
            }
            std::hint::spin_loop();
        }
    }
}

fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl Drop for SpinningStream {
    fn drop(&mut self) {
        AWAKE.fetch_sub(1, Relaxed);
    }
}

impl Transport for SpinningStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.should_spin()
            && let Some(result) = self.spin_read(buf)
        {
            return result;
        }
        AWAKE.fetch_sub(1, Relaxed);
        let result = self.stream.read(buf);
        AWAKE.fetch_add(1, Relaxed);
        result
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)
    }

    fn set_spin(&mut self, span: Duration) {
        self.span = span;
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        self.stream.hangup()
    }

    fn client_output(&self) -> Option<ClientOutput> {
        self.stream.client_output()
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        self.stream.peer()
    }

    fn local(&self) -> Option<(IpAddr, u16)> {
        self.stream.local()
    }

    fn shut_down_writing(&mut self) {
        self.stream.shut_down_writing();
    }

    fn peer_user(&self) -> Option<String> {
        self.stream.peer_user()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    /// The client writes long after the session has gone to sleep.
    fn late(session: &mut SpinningStream, client: &mut UnixStream) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                client.write_all(b"x").unwrap();
            });
            assert_eq!(session.read(&mut [0; 8]).unwrap(), 1);
        });
    }

    #[test]
    fn failed_spins_back_off() {
        let (server, mut client) = UnixStream::pair().unwrap();
        let mut session = SpinningStream::new(Stream::unix(server));
        session.set_spin(Duration::from_micros(1));
        if processors() < 2 {
            return;
        }
        let mut skips = Vec::new();
        for _ in 0..4 {
            late(&mut session, &mut client);
            skips.push((session.sleeps_left, session.sleeps));
        }
        assert_eq!(skips, [(1, 1), (0, 1), (3, 3), (2, 3)]);
        session.sleeps_left = 0;
        client.write_all(b"y").unwrap();
        assert_eq!(session.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!((session.sleeps_left, session.sleeps), (0, 0), "it was there");
        drop(client);
        assert_eq!(session.read(&mut [0; 8]).unwrap(), 0, "the end");
    }
}
