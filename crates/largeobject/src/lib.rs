//! Large objects: data of up to 4 TB with an OID, which sessions read and write in parts.
//!
//! The data are rows of the catalog `pg_largeobject`, one for each chunk of 2048 bytes. A chunk
//! that was never written has no row and reads as zeros; the row of a chunk may be shorter than the
//! chunk. Owner and privileges are in `pg_largeobject_metadata`, which has a row even for an empty
//! object.
//!
//! ```text
//! object  4242, 5000 bytes      pageno 0: bytes    0 .. 2047
//!                               pageno 2: bytes 4096 .. 4999    (pageno 1: a hole)
//! ```
//!
//! All changes are transactional. A descriptor opened for reading has the snapshot of the statement
//! that opened it; one opened for writing reads the latest committed data.
//!
//! Reading order: `object` (creation, privileges), `data` (reading and writing), `descriptors` (the
//! open objects of a transaction). The SQL functions are in the crate `sysfn`.
//!
//! Counterpart: storage/large_object/inv_api.c, catalog/pg_largeobject.c.

#![forbid(unsafe_code)]

mod data;
mod descriptors;
mod object;

pub use data::{SIZE_MAX, Whence, delete_data};
pub use descriptors::Descriptors;
pub use object::{LargeObject, Opening, READ, WRITE, check_owner, create, exists};
