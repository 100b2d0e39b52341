//! The quicksort of Bentley and McIlroy ("Engineering a Sort Function", Software: Practice and
//! Experience 23, 1993), with which PostgreSQL sorts in memory. It is not stable, so the order of
//! equal elements is a property of the algorithm. Where that order is visible, it is used, so that
//! equal elements have the same order as in PostgreSQL: in small results, whose order SQL does not
//! specify, and in lists of the planner.
//!
//! One addition to the paper is PostgreSQL's: a part that is already sorted is left as it is.

use std::cmp::Ordering;

/// Parts with fewer rows are sorted by insertion.
const INSERTION_ROWS_END: usize = 7;

/// Parts with more rows take the pivot from nine rows instead of three.
const NINTHER_ROWS: usize = 40;

/// Sorts row numbers by the order of their rows.
pub fn sort(mut rows: &mut [u32], compare: &impl Fn(u32, u32) -> Ordering) {
    loop {
        if rows.is_sorted_by(|a, b| compare(*a, *b).is_le()) {
            return;
        }
        if rows.len() < INSERTION_ROWS_END {
            return insert(rows, compare);
        }
        let pivot = pivot(rows, compare);
        rows.swap(0, pivot);
        let (smaller, larger) = partition(rows, compare);
        let (low, high) = rows.split_at_mut(smaller);
        let skipped = high.len() - larger;
        let high = &mut high[skipped..];
        let (short, long) = if low.len() <= high.len() { (low, high) } else { (high, low) };
        sort(short, compare);
        rows = long;
    }
}

fn insert(rows: &mut [u32], compare: &impl Fn(u32, u32) -> Ordering) {
    for end in 1..rows.len() {
        let mut at = end;
        while at > 0 && compare(rows[at - 1], rows[at]).is_gt() {
            rows.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The position of the pivot: the middle row of a small part, else a median.
fn pivot(rows: &[u32], compare: &impl Fn(u32, u32) -> Ordering) -> usize {
    let n = rows.len();
    let median = |a, b, c| median(rows, [a, b, c], compare);
    let (first, middle, last) = (0, n / 2, n - 1);
    if n == INSERTION_ROWS_END {
        middle
    } else if n > NINTHER_ROWS {
        let d = n / 8;
        median(
            median(first, first + d, first + 2 * d),
            median(middle - d, middle, middle + d),
            median(last - 2 * d, last - d, last),
        )
    } else {
        median(first, middle, last)
    }
}

fn median(rows: &[u32], [a, b, c]: [usize; 3], compare: &impl Fn(u32, u32) -> Ordering) -> usize {
    let order = |x: usize, y: usize| compare(rows[x], rows[y]);
    if order(a, b).is_lt() {
        match order(b, c).is_lt() {
            true => b,
            false if order(a, c).is_lt() => c,
            false => a,
        }
    } else {
        match order(b, c).is_gt() {
            true => b,
            false if order(a, c).is_lt() => a,
            false => c,
        }
    }
}

/// Divides the rows into those smaller than the first one, those equal to it, and the larger ones;
/// returns the numbers of smaller and of larger rows.
///
/// ```text
///  equal   smaller   not yet seen   larger   equal
/// 0      left      from           to       right    n
/// ```
///
/// At the end the equal rows are swapped into the middle.
fn partition(rows: &mut [u32], compare: &impl Fn(u32, u32) -> Ordering) -> (usize, usize) {
    let n = rows.len();
    let pivot = rows[0];
    let (mut left, mut from, mut to, mut right) = (1, 1, n, n);
    loop {
        while from < to {
            match compare(rows[from], pivot) {
                Ordering::Greater => break,
                Ordering::Equal => {
                    rows.swap(left, from);
                    left += 1;
                }
                Ordering::Less => {}
            }
            from += 1;
        }
        while from < to {
            match compare(rows[to - 1], pivot) {
                Ordering::Less => break,
                Ordering::Equal => {
                    rows.swap(to - 1, right - 1);
                    right -= 1;
                }
                Ordering::Greater => {}
            }
            to -= 1;
        }
        if from >= to {
            break;
        }
        rows.swap(from, to - 1);
        from += 1;
        to -= 1;
    }
    let (smaller, larger) = (from - left, right - from);
    swap_ranges(rows, 0, from, left.min(smaller));
    swap_ranges(rows, from, n, (n - right).min(larger));
    (smaller, larger)
}

/// Swaps the `count` rows from `start` with the `count` rows before `end`.
fn swap_ranges(rows: &mut [u32], start: usize, end: usize, count: usize) {
    for i in 0..count {
        rows.swap(start + i, end - count + i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        let mut state = 1_u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for n in 0..300 {
            let keys: Vec<u64> = (0..n).map(|_| random(1 + n / 3)).collect();
            let mut rows: Vec<u32> = (0..n as u32).collect();
            sort(&mut rows, &|a, b| keys[a as usize].cmp(&keys[b as usize]));
            let sorted: Vec<u64> = rows.iter().map(|r| keys[*r as usize]).collect();
            assert!(sorted.is_sorted(), "{keys:?}");
            rows.sort_unstable();
            assert!(rows.iter().copied().eq(0..n as u32));
        }
    }
}
