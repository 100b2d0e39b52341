//! The pseudo-random numbers of `random()`: xoroshiro128**, seeded by splitmix64 (Blackman and
//! Vigna). A seed given by `setseed()` must give the same numbers as in PostgreSQL. Counterpart:
//! pg_prng.c.

/// The state of the generator; not zero.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    a: u64,
    b: u64,
}

impl Random {
    /// A generator whose state is derived from a word.
    pub fn of_word(seed: u64) -> Random {
        let mut counter = seed;
        let mut next = || {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (counter ^ counter >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        let (a, b) = (next(), next());
        Random { a, b: if a | b == 0 { 1 } else { b } }
    }

    /// The generator for a seed of `setseed()`, from -1 to 1.
    pub fn of_seed(seed: f64) -> Random {
        let scale = ((1u64 << 52) - 1) as f64;
        Random::of_word((scale * seed) as i64 as u64)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        let out = self.a.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let mixed = self.b ^ self.a;
        self.a = self.a.rotate_left(24) ^ mixed ^ mixed << 16;
        self.b = mixed.rotate_left(37);
        out
    }

    /// The next number from 0 (inclusive) to 1 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 12) as f64 / (1u64 << 52) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn seeds_give_the_numbers_of_postgresql() {
        let mut random = Random::of_seed(0.5);
        assert_eq!(random.unit(), 0.9851677175347999);
        assert_eq!(random.unit(), 0.825301858027981);
        assert_eq!(Random::of_seed(0.0).unit(), 0.8702553105818676);
    }
}
