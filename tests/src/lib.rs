//! The one test binary.

#![forbid(unsafe_code)]

#[cfg(test)]
mod crash;
#[cfg(test)]
mod floors;
#[cfg(test)]
mod interchange;
#[cfg(test)]
mod style;
