//! A client that has just been answered often asks again within microseconds. A session that sleeps
//! then pays for being woken (on a virtual machine more than for the statement itself); one that
//! looks for the message a little longer does not. So `norsu.client_spin` microseconds are spent
//! looking, under two conditions:
//!
//! - At most half of the processors have sessions that are awake: looking takes nobody's turn.
//! - Looking has been worth it: after each time that it was not, twice as many messages are waited
//!   for asleep.

use crate::net::Stream;
use session::{Outlet, Transport};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sessions of this process that do not wait for their clients asleep.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Most messages that are waited for asleep before looking is tried again.
const SKIPPED_MAX: u32 = 255;

/// See the module's text.
pub(crate) struct Attentive {
    stream: Stream,
    span: Duration,
    /// Messages yet to be waited for asleep.
    skip: u32,
    /// How many they were after the last failure.
    skipped: u32,
}

impl Attentive {
    pub(crate) fn new(stream: Stream) -> Attentive {
        AWAKE.fetch_add(1, Relaxed);
        Attentive { stream, span: Duration::ZERO, skip: 0, skipped: 0 }
    }

    /// Is there a processor for looking?
    fn may_look(&mut self) -> bool {
        if self.span.is_zero() || AWAKE.load(Relaxed) > processors() / 2 {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        true
    }

    /// Looks for bytes; `None` if none came in time.
    fn look(&mut self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        let begun = Instant::now();
        loop {
            match self.stream.read_now(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => {
                    self.skipped = 0;
                    return Some(done);
                }
            }
            if begun.elapsed() >= self.span {
                self.skipped = (2 * self.skipped + 1).min(SKIPPED_MAX);
                self.skip = self.skipped;
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

impl Drop for Attentive {
    fn drop(&mut self) {
        AWAKE.fetch_sub(1, Relaxed);
    }
}

impl Transport for Attentive {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.may_look()
            && let Some(result) = self.look(buf)
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

    fn outlet(&self) -> Option<Outlet> {
        self.stream.outlet()
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        self.stream.peer()
    }

    fn local(&self) -> Option<(IpAddr, u16)> {
        self.stream.local()
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

    /// The client writes when the session has long gone to sleep.
    fn late(session: &mut Attentive, client: &mut UnixStream) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                client.write_all(b"x").unwrap();
            });
            assert_eq!(session.read(&mut [0; 8]).unwrap(), 1);
        });
    }

    #[test]
    fn looking_in_vain_is_done_ever_less_often() {
        let (server, mut client) = UnixStream::pair().unwrap();
        let mut session = Attentive::new(Stream::unix(server));
        session.set_spin(Duration::from_micros(1));
        if processors() < 2 {
            return;
        }
        let mut skips = Vec::new();
        for _ in 0..4 {
            late(&mut session, &mut client);
            skips.push((session.skip, session.skipped));
        }
        assert_eq!(skips, [(1, 1), (0, 1), (3, 3), (2, 3)]);
        session.skip = 0;
        client.write_all(b"y").unwrap();
        assert_eq!(session.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!((session.skip, session.skipped), (0, 0), "it was there");
        drop(client);
        assert_eq!(session.read(&mut [0; 8]).unwrap(), 0, "the end");
    }
}
