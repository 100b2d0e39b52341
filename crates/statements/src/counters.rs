//! Counters of one statement.
//!
//! Counterpart: `Counters` in pg_stat_statements.c.

use bufmgr::BufferUsage;
use std::time::Duration;
use wal::WalUsage;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Plan = 0,
    Execution = 1,
}

/// Calls and their times in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Times {
    pub calls: u64,
    pub total: f64,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// The sum of the squares of the differences from the mean.
    variance_sum: f64,
}

impl Times {
    /// Welford's method.
    fn add(&mut self, ms: f64) {
        self.calls += 1;
        self.total += ms;
        if self.calls == 1 {
            (self.min, self.max, self.mean) = (ms, ms, ms);
            return;
        }
        let before = self.mean;
        self.mean += (ms - before) / self.calls as f64;
        self.variance_sum += (ms - before) * (ms - self.mean);
        self.min = self.min.min(ms);
        self.max = self.max.max(ms);
    }

    /// Adds the calls of another set, by the method of Chan, Golub and LeVeque.
    fn merge(&mut self, other: &Times) {
        if other.calls == 0 {
            return;
        }
        if self.calls == 0 {
            *self = *other;
            return;
        }
        let (n, m) = (self.calls as f64, other.calls as f64);
        let delta = other.mean - self.mean;
        self.mean += delta * m / (n + m);
        self.variance_sum += other.variance_sum + delta * delta * n * m / (n + m);
        self.calls += other.calls;
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The standard deviation of the population.
    pub fn deviation(&self) -> f64 {
        match self.calls {
            0 | 1 => 0.0,
            calls => (self.variance_sum / calls as f64).sqrt(),
        }
    }
}

/// What an execution has used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    pub buffers: BufferUsage,
    pub wal: WalUsage,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.buffers += other.buffers;
        self.wal += other.wal;
    }
}

impl std::ops::Sub for Usage {
    type Output = Usage;

    fn sub(self, earlier: Usage) -> Usage {
        Usage { buffers: self.buffers - earlier.buffers, wal: self.wal - earlier.wal }
    }
}

/// The counters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counters {
    /// By [`Phase`].
    pub times: [Times; 2],
    pub rows: u64,
    pub usage: Usage,
    /// Calls, of which older ones count less.
    pub(crate) weight: f64,
}

/// Numbers in a file: those of both phases, rows, six of buffers, three of WAL, the weight.
pub(crate) const WORDS: usize = 2 * 6 + 1 + 6 + 3 + 1;

impl Counters {
    pub fn plans(&self) -> &Times {
        &self.times[Phase::Plan as usize]
    }

    pub fn executions(&self) -> &Times {
        &self.times[Phase::Execution as usize]
    }

    /// True if the statement has never been planned or executed.
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(|t| t.calls == 0)
    }

    pub(crate) fn add(&mut self, phase: Phase, spent: Duration, rows: u64, usage: &Usage) {
        self.times[phase as usize].add(spent.as_secs_f64() * 1000.0);
        self.rows += rows;
        self.usage += *usage;
        self.weight += 1.0;
    }

    pub(crate) fn merge(&mut self, other: &Counters) {
        for (own, other) in self.times.iter_mut().zip(&other.times) {
            own.merge(other);
        }
        self.rows += other.rows;
        self.usage += other.usage;
        self.weight += other.weight;
    }

    pub(crate) fn to_words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        for (n, t) in self.times.iter().enumerate() {
            let floats = [t.total, t.min, t.max, t.mean, t.variance_sum];
            words[n * 6] = t.calls;
            words[n * 6 + 1..n * 6 + 6].copy_from_slice(&floats.map(f64::to_bits));
        }
        let (b, w) = (self.usage.buffers, self.usage.wal);
        words[12] = self.rows;
        let buffers = [b.hit, b.read, b.dirtied, b.written, b.read_time_us, b.write_time_us];
        words[13..19].copy_from_slice(&buffers);
        words[19..22].copy_from_slice(&[w.records, w.images, w.bytes]);
        words[22] = self.weight.to_bits();
        words
    }

    pub(crate) fn from_words(words: &[u64; WORDS]) -> Counters {
        let times = |at: usize| Times {
            calls: words[at],
            total: f64::from_bits(words[at + 1]),
            min: f64::from_bits(words[at + 2]),
            max: f64::from_bits(words[at + 3]),
            mean: f64::from_bits(words[at + 4]),
            variance_sum: f64::from_bits(words[at + 5]),
        };
        let buffers = BufferUsage {
            hit: words[13],
            read: words[14],
            dirtied: words[15],
            written: words[16],
            read_time_us: words[17],
            write_time_us: words[18],
        };
        let wal = WalUsage { records: words[19], images: words[20], bytes: words[21] };
        Counters {
            times: [times(0), times(6)],
            rows: words[12],
            usage: Usage { buffers, wal },
            weight: f64::from_bits(words[22]),
        }
    }
}
