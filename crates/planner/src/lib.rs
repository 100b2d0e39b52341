//! From query to plan. Counterpart: optimizer/.
//!
//! 1. `prep`: `WITH` queries, sub-selects in conditions turned into joins, subqueries and views
//!    pulled up, expressions folded; `reduce` and `removal`: outer joins made simpler or left out.
//! 2. `rel`: sizes of relations, conditions given to subqueries (`pushdown`) and columns not asked
//!    of them (`unused`), selectivity of conditions (`selectivity`); `equal`: what follows from
//!    equalities; `factor`: what follows from OR-clauses.
//! 3. `scan` and `derive`: ways to read one relation; `join` and `merge`: ways to join them, by
//!    the conditions of `clause`;
//!    `search`: in which order; `filters`: joins that may come before or after others; `ties`:
//!    columns that equal each other; `minmax`: ends of indexes. `path`: what a way is worth;
//!    `relids`: sets of relations; `need`: what is asked of them from above.
//! 4. `upper`: grouping (`group`), windows, DISTINCT, ORDER BY, LIMIT; `setop`: UNION and its kin;
//!    `modify`: INSERT, UPDATE, DELETE.
//! 5. `create`: the cheapest path becomes a plan; `refs` turns its columns into references to
//!    children.
//!
//! **Invariant:** nothing is looked up by name, and the input query is never changed in place: the
//! caller may keep it for planning again.

#![forbid(unsafe_code)]

mod clause;
mod create;
mod crosstype;
mod cursor;
mod derive;
mod equal;
mod factor;
mod facts;
mod filters;
mod glob;
mod group;
mod inlineset;
mod join;
mod late;
mod merge;
mod minmax;
mod modify;
mod need;
mod path;
mod pattern;
mod prep;
mod pullup;
mod pushdown;
mod quals;
mod reduce;
mod refs;
mod rel;
mod relids;
mod removal;
mod rights;
mod rowcond;
mod runcond;
mod scan;
mod search;
mod selectivity;
mod setop;
mod streamed;
mod subselect;
mod tid;
mod ties;
mod unused;
mod upper;
mod vars;

pub use cursor::{RowIdentities, RowIdentity, add_row_identity, supports_backward_scan};
pub use facts::*;
pub use glob::plan_query;
pub use vars::offset_query;
