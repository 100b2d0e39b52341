//! Admission control for memory whose amount a client can make large: it is requested before it is
//! allocated, and refused with 53200.
//!
//! The limits and the counters are in [`sync::memory`]. Code that builds a value, a message or a
//! set of rows of unknown size calls [`admit`] or [`reserve`] before a large allocation;
//! allocations in small steps are bounded by [`check`], which is part of every check for
//! interrupts.

use crate::limits;
use pgerror::{PgError, Result, pg_err};
use sync::memory::Refused;

/// The error of a refused request.
#[cold]
fn out_of_memory(refused: Refused) -> PgError {
    pg_err!(OUT_OF_MEMORY, "out of memory").detail(refused.to_string())
}

/// Requests `bytes` for one allocation. Requests below 64 kB are always granted.
#[inline]
pub fn admit(bytes: usize) -> Result<()> {
    sync::memory::admit(bytes).map_err(out_of_memory)
}

/// An error if the session uses more memory than its share.
#[inline]
pub fn check() -> Result<()> {
    sync::memory::check().map_err(out_of_memory)
}

/// Number of bytes that the session may still allocate.
pub fn available() -> usize {
    sync::memory::available()
}

/// Reserves capacity for `additional` entries like `Vec::reserve`, with an error if it is not
/// available.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    if additional <= vec.capacity() - vec.len() {
        return Ok(());
    }
    grow(vec, additional)
}

/// Doubles the capacity if the memory is granted, else reserves exactly what is needed.
#[cold]
fn grow<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    let bytes = |entries: usize| entries.saturating_mul(size_of::<T>());
    let needed = vec.len().saturating_add(additional);
    let doubled = needed.max(vec.capacity().saturating_mul(2));
    // While a large vector is reallocated, the old and the new memory exist at the same time.
    let granted = match admit(bytes(doubled)) {
        Ok(()) => doubled,
        Err(_) => {
            admit(bytes(needed))?;
            needed
        }
    };
    vec.try_reserve_exact(granted - vec.len()).map_err(|_| limits::out_of_memory(bytes(granted)))
}

/// An empty vector with capacity for `entries`.
pub fn with_capacity<T>(entries: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    let bytes = entries.saturating_mul(size_of::<T>());
    admit(bytes)?;
    vec.try_reserve_exact(entries).map_err(|_| limits::out_of_memory(bytes))?;
    Ok(vec)
}

/// Appends bytes like `Vec::extend_from_slice`, with an error if memory is not available.
#[inline]
pub fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    reserve(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgerror::SqlState;

    #[test]
    fn unavailable_memory_is_an_error() {
        let mut vec = vec![0u64; 4];
        assert!(reserve(&mut vec, 1000).is_ok() && vec.capacity() >= 1004);
        assert_eq!(vec.len(), 4);
        let error = reserve(&mut vec, usize::MAX).unwrap_err();
        assert_eq!(error.fields().code, SqlState::OUT_OF_MEMORY);
        assert!(with_capacity::<u8>(usize::MAX).is_err());
        assert!(with_capacity::<u8>(10).is_ok_and(|v| v.capacity() >= 10));
    }
}
