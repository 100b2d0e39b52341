//! PGLZ, PostgreSQL's own LZ compression, used for TOAST values and page images.
//!
//! ```text
//! control byte: 8 items, lowest bit first; 0 = literal byte, 1 = back reference
//! reference:    oooo llll  oooo oooo  [length - 18]   offset 1..4094, length 3..273
//!               (high 4 bits of the offset, length - 3; 15 there means a third byte follows)
//! ```
//!
//! The search for matches has PostgreSQL's policy (newest first; the longer the search, the shorter
//! the match that ends it), so that the compressed bytes are the same. Counterpart:
//! pg_lzcompress.c.

/// Limits of the input, and effort of the search.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Shorter input is not compressed.
    pub min_input: usize,
    /// Longer input is not compressed.
    pub max_input: usize,
    /// Least saving in percent.
    pub min_saving_percent: usize,
    /// Give up if there is no match within this many bytes of output.
    pub first_success_by: usize,
    /// A match of this length ends the search.
    pub good_match: usize,
    /// Percentage by which the good length shrinks with each candidate.
    pub good_drop_percent: usize,
}

impl Strategy {
    pub const DEFAULT: Strategy = Strategy {
        min_input: 32,
        max_input: i32::MAX as usize,
        min_saving_percent: 25,
        first_success_by: 1024,
        good_match: 128,
        good_drop_percent: 10,
    };
    pub const ALWAYS: Strategy = Strategy {
        min_input: 0,
        max_input: i32::MAX as usize,
        min_saving_percent: 0,
        first_success_by: i32::MAX as usize,
        good_match: 128,
        good_drop_percent: 6,
    };
}

const MAX_MATCH: usize = 273;
const MAX_OFFSET: usize = 0x0fff;
const HISTORY: usize = 4096;

const HEADS_MAX: usize = 8192;

/// Positions seen so far, chained by hash. It can be reused for another input without clearing: a
/// position is stored plus `base` plus one, where `base` grows by each input's length; entries not
/// above `base` belong to an earlier input.
pub struct History {
    /// Heads of the chains; a number that depends on the input's length is in use.
    heads: [u32; HEADS_MAX],
    mask: usize,
    /// Previous position in the chain; only entries reachable from a head are valid.
    previous: [u32; HISTORY],
    base: u32,
    /// The base for the next input.
    next_base: u32,
}

impl Default for History {
    fn default() -> History {
        let (heads, previous) = ([0; HEADS_MAX], [0; HISTORY]);
        History { heads, mask: 0, previous, base: 0, next_base: 0 }
    }
}

impl History {
    /// Starts an input of `input_len` bytes: earlier positions become invalid.
    fn begin(&mut self, input_len: usize) {
        let size = match input_len {
            0..128 => 512,
            128..256 => 1024,
            256..512 => 2048,
            512..1024 => 4096,
            _ => HEADS_MAX,
        };
        self.mask = size - 1;
        // Inputs are shorter than 2 GB.
        let len = input_len as u32;
        let end = self.next_base.checked_add(len);
        self.base = if end.is_some() { self.next_base } else { 0 };
        if end.is_none() {
            self.heads.fill(0);
        }
        self.next_base = self.base + len;
    }

    /// The head of the chain for the bytes at the front of `rest`.
    #[inline]
    fn head(&self, rest: &[u8]) -> usize {
        // Bytes are signed, as `char` on x86-64: this decides which positions share a chain.
        let signed = |byte: u8| i32::from(byte as i8);
        let hash = match rest {
            [a, b, c, d, ..] => signed(*a) << 6 ^ signed(*b) << 4 ^ signed(*c) << 2 ^ signed(*d),
            [a, ..] => signed(*a),
            [] => 0,
        };
        self.slot(hash)
    }

    #[inline]
    fn slot(&self, hash: i32) -> usize {
        hash as usize & self.mask & (HEADS_MAX - 1)
    }

    /// Adds `count` positions from `at` on.
    #[inline]
    fn add(&mut self, input: &[u8], at: usize, count: usize) {
        let rest = &input[at..];
        let mut done = 0;
        if let [a, b, c, after @ ..] = rest {
            // A rolling hash: of the four bytes the first is removed and the next added.
            let signed = |byte: u8| i32::from(byte as i8);
            let mut three = signed(*a) << 4 ^ signed(*b) << 2 ^ signed(*c);
            for (first, last) in rest.iter().zip(after).take(count) {
                let hash = three << 2 ^ signed(*last);
                self.link(self.slot(hash), at + done);
                three = hash ^ signed(*first) << 6;
                done += 1;
            }
        }
        for n in done..count {
            self.link(self.head(&rest[n..]), at + n);
        }
    }

    #[inline]
    fn link(&mut self, head: usize, at: usize) {
        self.previous[at % HISTORY] = self.heads[head];
        self.heads[head] = self.base + at as u32 + 1;
    }

    /// Length and offset of the best match for the bytes at `at`.
    fn find(&self, input: &[u8], at: usize, strategy: &Strategy) -> Option<(usize, usize)> {
        let mut good = strategy.good_match.clamp(17, MAX_MATCH);
        let drop = strategy.good_drop_percent.min(100);
        // The good length at which shrinking stops.
        let good_min = 99 / drop.max(1);
        let limit = (input.len() - at).min(MAX_MATCH);
        let wanted = &input[at..at + limit];
        let (mut best, mut best_offset) = (0, 0);
        // The byte after the best match so far, with which a better one must agree.
        let mut next_byte = wanted[0];
        let mut link = self.heads[self.head(&input[at..])];
        while link > self.base {
            let candidate = (link - self.base) as usize - 1;
            let offset = at - candidate;
            if offset >= MAX_OFFSET {
                break;
            }
            link = self.previous[candidate % HISTORY];
            // Only a candidate that agrees in this byte can be better.
            if input[candidate + best] == next_byte {
                let same = common_prefix(&input[candidate..candidate + limit], wanted);
                if same > best {
                    (best, best_offset) = (same, offset);
                    match wanted.get(best) {
                        Some(next) => next_byte = *next,
                        // The match has the largest length.
                        None => break,
                    }
                }
            }
            if best >= good {
                break;
            }
            if good > good_min {
                good -= good * drop / 100;
            }
        }
        (best > 2).then_some((best, best_offset))
    }
}

/// Length of the common prefix of two slices of the same length.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (whole_a, rest_a) = a.as_chunks::<8>();
    let (whole_b, rest_b) = b.as_chunks::<8>();
    let mut at = 0;
    for (x, y) in whole_a.iter().zip(whole_b) {
        let differs = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differs != 0 {
            return at + differs.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + rest_a.iter().zip(rest_b).take_while(|(x, y)| x == y).count()
}

/// Appends `input` compressed to `out` and returns the compressed size; `None`, with `out`
/// unchanged, if it does not save enough.
pub fn compress(input: &[u8], strategy: &Strategy, out: &mut Vec<u8>) -> Option<usize> {
    compress_with(&mut History::default(), input, strategy, out)
}

/// As [`compress`], with a reusable history.
pub fn compress_with(
    history: &mut History,
    input: &[u8],
    strategy: &Strategy,
    out: &mut Vec<u8>,
) -> Option<usize> {
    let base = out.len();
    if input.len() < strategy.min_input || input.len() > strategy.max_input {
        return None;
    }
    let keep = 100 - strategy.min_saving_percent.min(99);
    let result_max = if input.len() > i32::MAX as usize / 100 {
        input.len() / 100 * keep
    } else {
        input.len() * keep / 100
    };
    history.begin(input.len());
    let (mut control_at, mut items) = (0, 8);
    let mut found = false;
    let mut at = 0;
    while at < input.len() {
        let so_far = out.len() - base;
        if so_far >= result_max || (!found && so_far >= strategy.first_success_by) {
            out.truncate(base);
            return None;
        }
        if items == 8 {
            control_at = out.len();
            out.push(0);
            items = 0;
        }
        let step = match history.find(input, at, strategy) {
            Some((len, offset)) => {
                found = true;
                out[control_at] |= 1 << items;
                let high = (offset >> 4 & 0xf0) as u8;
                out.extend_from_slice(&[high | (len - 3).min(15) as u8, offset as u8]);
                if len >= 18 {
                    out.push((len - 18) as u8);
                }
                len
            }
            None => {
                out.push(input[at]);
                1
            }
        };
        items += 1;
        history.add(input, at, step);
        at += step;
    }
    let len = out.len() - base;
    if len >= result_max {
        out.truncate(base);
        return None;
    }
    Some(len)
}

/// Decompresses into `out`, at most its length; returns the number of bytes. With `complete`, input
/// and output must end together. `None` if the input is damaged.
pub fn decompress(input: &[u8], out: &mut [u8], complete: bool) -> Option<usize> {
    let (mut at, mut end) = (0, 0);
    while at < input.len() && end < out.len() {
        let mut control = input[at];
        at += 1;
        for _ in 0..8 {
            if at >= input.len() || end >= out.len() {
                break;
            }
            if control & 1 == 0 {
                out[end] = input[at];
                at += 1;
                end += 1;
            } else {
                let (first, second) = (input[at], *input.get(at + 1)?);
                at += 2;
                let mut len = (first & 0x0f) as usize + 3;
                if len == 18 {
                    len += *input.get(at)? as usize;
                    at += 1;
                }
                let offset = (first as usize & 0xf0) << 4 | second as usize;
                if offset == 0 || offset > end {
                    return None;
                }
                len = len.min(out.len() - end);
                if offset >= len {
                    out.copy_within(end - offset..end - offset + len, end);
                } else {
                    for i in end..end + len {
                        out[i] = out[i - offset];
                    }
                }
                end += len;
            }
            control >>= 1;
        }
    }
    if complete && (end != out.len() || at != input.len()) {
        return None;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(input: &[u8]) -> Option<usize> {
        let mut packed = Vec::new();
        let len = compress(input, &Strategy::ALWAYS, &mut packed)?;
        let mut out = vec![0; input.len()];
        assert_eq!(decompress(&packed, &mut out, true), Some(input.len()));
        assert_eq!(out, input);
        Some(len)
    }

    #[test]
    fn round_trips() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        for len in [0, 1, 2, 3, 4, 17, 31, 127, 255, 1000, 8192, 20_000] {
            for alphabet in [1, 2, 4, 256] {
                let input: Vec<u8> = (0..len).map(|_| (random() % alphabet) as u8).collect();
                let packed = round(&input);
                if alphabet == 1 && len > 31 {
                    assert!(packed.is_some_and(|n| n < len / 8 + 8));
                }
            }
        }
    }

    #[test]
    fn a_reused_history_gives_the_same_bytes() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        let mut history = History::default();
        let mut wraps = 0;
        for round in 0..400 {
            if round % 100 == 50 {
                history.next_base = u32::MAX - 10_000;
            }
            let (len, alphabet) = (random() % 9000, 1 + random() % 20);
            let input: Vec<u8> = (0..len).map(|_| (random() % alphabet * 97) as u8).collect();
            let (mut fresh, mut again) = (Vec::new(), Vec::new());
            for strategy in [Strategy::DEFAULT, Strategy::ALWAYS] {
                let before = history.next_base;
                let got = compress_with(&mut history, &input, &strategy, &mut again);
                wraps += usize::from(history.next_base < before);
                assert_eq!(got, compress(&input, &strategy, &mut fresh));
                assert_eq!(again, fresh);
            }
        }
        assert!(wraps >= 3, "{wraps}");
    }

    #[test]
    fn damaged_input_is_refused() {
        for bad in [&[1u8][..], &[1, 0], &[1, 0x0f, 1], &[1, 0x00, 0x00], &[3, b'a', 0xff, 0xff]] {
            let mut out = [0; 64];
            assert_eq!(decompress(bad, &mut out, true), None, "{bad:?}");
        }
    }

    /// PostgreSQL 15 stored these bytes (seen through pageinspect) for `repeat('abc', 20)`.
    #[test]
    fn same_bytes_as_postgresql() {
        let mut packed = Vec::new();
        let input = "abc".repeat(20);
        assert_eq!(compress(input.as_bytes(), &Strategy::ALWAYS, &mut packed), Some(7));
        assert_eq!(packed, [0x08, b'a', b'b', b'c', 0x0f, 0x03, 57 - 18]);
    }
}
