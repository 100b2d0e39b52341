//! The clocks: wall-clock time and monotonic time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sync::Mutex;

pub trait Clock: Send + Sync {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    fn unix_micros(&self) -> i64;
    /// Time since a fixed point; never decreases.
    fn monotonic(&self) -> Duration;
    fn sleep(&self, span: Duration);

    /// Microseconds since 2000-01-01 00:00:00 UTC: PostgreSQL's `TimestampTz`.
    fn pg_micros(&self) -> i64 {
        self.unix_micros() - PG_EPOCH_UNIX_SECONDS * 1_000_000
    }

    /// Seconds since 1970: PostgreSQL's `pg_time_t`.
    fn unix_seconds(&self) -> i64 {
        self.unix_micros().div_euclid(1_000_000)
    }
}

/// 2000-01-01 00:00:00 UTC as seconds since 1970.
const PG_EPOCH_UNIX_SECONDS: i64 = 946_684_800;

#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    pub fn new() -> SystemClock {
        SystemClock { started: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn unix_micros(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(span) => i64::try_from(span.as_micros()).unwrap_or(i64::MAX),
            Err(e) => -i64::try_from(e.duration().as_micros()).unwrap_or(i64::MAX),
        }
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, span: Duration) {
        std::thread::sleep(span);
    }
}

/// A clock that only `advance` and `sleep` move.
#[derive(Debug)]
pub struct ManualClock {
    elapsed: Mutex<Duration>,
}

impl ManualClock {
    /// Start of its wall-clock time: 2024-01-01 00:00:00 UTC.
    pub const START_UNIX_SECONDS: i64 = 1_704_067_200;

    pub fn new() -> ManualClock {
        ManualClock { elapsed: Mutex::new(Duration::ZERO) }
    }

    pub fn advance(&self, span: Duration) {
        *self.elapsed.lock() += span;
    }
}

impl Default for ManualClock {
    fn default() -> ManualClock {
        ManualClock::new()
    }
}

impl Clock for ManualClock {
    fn unix_micros(&self) -> i64 {
        Self::START_UNIX_SECONDS * 1_000_000 + self.monotonic().as_micros() as i64
    }

    fn monotonic(&self) -> Duration {
        *self.elapsed.lock()
    }

    fn sleep(&self, span: Duration) {
        self.advance(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_epoch_is_10957_days_after_the_unix_epoch() {
        assert_eq!(PG_EPOCH_UNIX_SECONDS, 10_957 * 86_400);
        let clock = ManualClock::new();
        clock.sleep(Duration::from_millis(1500));
        // select extract(epoch from timestamptz '2024-01-01 00:00:01.5+00' - timestamptz
        // '2000-01-01 00:00+00')
        assert_eq!(clock.pg_micros(), 757_382_401_500_000);
        assert_eq!(clock.unix_seconds(), 1_704_067_201);
    }
}
