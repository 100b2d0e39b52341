//! Statements for objects of any kind. The properties of each class of objects are in
//! `catalog::object`, those of each kind in statements in `kind`.

pub mod address;
pub mod alter;
pub mod comment;
pub mod kind;
pub mod owner;
