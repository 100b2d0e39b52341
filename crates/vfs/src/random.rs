//! Random numbers: the operating system's, or seeded for tests.

use sync::atomic::{AtomicU64, Ordering};

pub trait Random: Send + Sync {
    fn fill(&self, buf: &mut [u8]);

    fn u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// The operating system's cryptographic source.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    fn fill(&self, mut buf: &mut [u8]) {
        while !buf.is_empty() {
            // SAFETY: the pointer and length are those of a live buffer.
            let n = unsafe { libc::getrandom(buf.as_mut_ptr().cast(), buf.len(), 0) };
            match usize::try_from(n) {
                Ok(n) => buf = &mut buf[n..],
                Err(_) => {
                    let error = std::io::Error::last_os_error();
                    // Secrets must not be generated without randomness.
                    assert!(
                        error.kind() == std::io::ErrorKind::Interrupted,
                        "the system gives no random bytes: {error}"
                    );
                }
            }
        }
    }
}

/// A reproducible generator (SplitMix64), not for secrets.
#[derive(Debug)]
pub struct SeededRandom {
    state: AtomicU64,
}

impl SeededRandom {
    pub fn new(seed: u64) -> SeededRandom {
        SeededRandom { state: AtomicU64::new(seed) }
    }

    pub fn next(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (0 if the bound is 0).
    pub fn below(&self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

impl Random for SeededRandom {
    fn fill(&self, buf: &mut [u8]) {
        for chunk in buf.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }

    fn u64(&self) -> u64 {
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_numbers_are_splitmix64() {
        // The generator's published first outputs for seed 1234567.
        let random = SeededRandom::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn system_randomness_differs_each_time() {
        assert_ne!(OsRandom.u64(), OsRandom.u64());
    }
}
