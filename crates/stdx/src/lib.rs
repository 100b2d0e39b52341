//! Additions to std: stacks that grow, boxes that can be nested deeply without overflowing the
//! stack, prefixes of strings, PostgreSQL's quicksort.

#![forbid(unsafe_code)]

mod nested;
pub mod quicksort;
pub mod stack;

pub use nested::Nested;

/// The longest prefix of `text` with at most `bytes_max` bytes that ends at a character boundary.
pub fn clip(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
