//! Statements for objects of any kind. The properties of the classes of objects are in
//! `catalog::object`, those of the object types in statements are in `kind`.

pub mod address;
pub mod by_text;
pub mod comment;
pub mod depends;
pub mod kind;
pub mod owner;
