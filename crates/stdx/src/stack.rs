//! Growing stacks for recursion whose depth depends on the input.
//!
//! A thread's stack is small, since there are many threads. A recursive function over queries,
//! plans or parse trees runs each level through [`deep`], which continues on a new stack segment if
//! little is left of the present one. Segments are memory mappings, so only touched pages cost
//! memory, and are released when the call returns.

/// Stack that must be left to continue on the present segment. Recursions without calls of `deep`
/// (copies, comparisons and walks of one expression) must fit it.
const RED_ZONE_BYTES: usize = 3 << 20;

/// Size of a new segment.
const SEGMENT_BYTES: usize = 32 << 20;

/// Stack for statements with deeply nested expressions: each of a few thousand levels may take some
/// kilobytes.
const WIDE_BYTES: usize = 96 << 20;

/// Runs `f` with enough stack for one more level.
#[inline]
pub fn deep<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, f)
}

/// Runs `f` with enough stack for walks of expressions with thousands of levels.
pub fn wide<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(WIDE_BYTES - RED_ZONE_BYTES, WIDE_BYTES, f)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_recursion_may_be_deeper_than_the_stack() {
        fn depth(n: u32) -> u64 {
            let frame = std::hint::black_box([u64::from(n); 128]);
            match n {
                0 => 0,
                _ => super::deep(|| depth(n - 1)) + frame[17] / u64::from(n),
            }
        }
        let thread = std::thread::Builder::new().stack_size(4 << 20);
        let sum = thread.spawn(|| depth(100_000)).unwrap().join().unwrap();
        assert_eq!(sum, 100_000);
    }
}
