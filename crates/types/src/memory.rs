//! Memory that a client can make large: asked for before it is allocated, refused with 53200.
//!
//! The rule and the counts are in [`sync::memory`]. Code that builds a value, a message or a set of
//! rows of unknown size calls [`admit`] or [`reserve`] before a large allocation; what grows in
//! small steps is bounded by [`check`], which is part of every check for interrupts.

use crate::limits;
use pgerror::{PgError, Result, pg_err};
use sync::memory::Refused;

/// The error of a refused request.
#[cold]
fn out_of_memory(refused: Refused) -> PgError {
    pg_err!(OUT_OF_MEMORY, "out of memory").detail(refused.to_string())
}

/// May the session allocate `bytes` more at once? Requests below 64 kB are always granted.
#[inline]
pub fn admit(bytes: usize) -> Result<()> {
    sync::memory::admit(bytes).map_err(out_of_memory)
}

/// An error where the session holds more than its share.
#[inline]
pub fn check() -> Result<()> {
    sync::memory::check().map_err(out_of_memory)
}

/// Bytes that the session may still allocate.
pub fn available() -> usize {
    sync::memory::available()
}

/// Room for `additional` more entries, as `Vec::reserve` makes it, but with an error where it is
/// not to be had.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    if additional <= vec.capacity() - vec.len() {
        return Ok(());
    }
    grow(vec, additional)
}

/// Doubles the vector if that is granted, else makes it as long as it must be.
#[cold]
fn grow<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    let bytes = |entries: usize| entries.saturating_mul(size_of::<T>());
    let needed = vec.len().saturating_add(additional);
    let doubled = needed.max(vec.capacity().saturating_mul(2));
    // While a large vector moves, the old one and the new one are there.
    let granted = match admit(bytes(doubled)) {
        Ok(()) => doubled,
        Err(_) => {
            admit(bytes(needed))?;
            needed
        }
    };
    vec.try_reserve_exact(granted - vec.len()).map_err(|_| limits::out_of_memory(bytes(granted)))
}

/// An empty vector with room for `entries`.
pub fn with_capacity<T>(entries: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    let bytes = entries.saturating_mul(size_of::<T>());
    admit(bytes)?;
    vec.try_reserve_exact(entries).map_err(|_| limits::out_of_memory(bytes))?;
    Ok(vec)
}

/// Appends bytes, as `Vec::extend_from_slice`, with an error where there is no room for them.
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
    fn room_that_cannot_be_had_is_an_error() {
        let mut vec = vec![0u64; 4];
        assert!(reserve(&mut vec, 1000).is_ok() && vec.capacity() >= 1004);
        assert_eq!(vec.len(), 4);
        let error = reserve(&mut vec, usize::MAX).unwrap_err();
        assert_eq!(error.fields().code, SqlState::OUT_OF_MEMORY);
        assert!(with_capacity::<u8>(usize::MAX).is_err());
        assert!(with_capacity::<u8>(10).is_ok_and(|v| v.capacity() >= 10));
    }
}
