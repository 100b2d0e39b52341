//! The planner's interface to the session, and the parts of planning that need no estimates:
//! properties and transformations of queries and expressions. Counterpart: optimizer/prep/,
//! optimizer/util/.
//!
//! Reading order: `host` (the interface), `relids` (sets of relations), `vars` (columns in
//! expressions), `privileges`; `pullup` (sub-selects turned into joins, subqueries and views pulled
//! up) and `values`; `quals` (the join problem) and `factor` (OR clauses); `rollup` (grouping
//! sets); `path` (path model), `stage` (descriptions of upper stages) and `member` (expressions of
//! a parent over a member's columns); `pattern` and `crosstype` (constants of conditions), `stored`
//! (sizes of stored values); `refs` (references to the outputs of child plans), `prune` (conditions
//! on partition keys), `unused` (columns of subqueries that are not used), `cursor` (rows of
//! cursors).
//!
//! INVARIANT: as in the planner, nothing is looked up by name.

#![forbid(unsafe_code)]

pub mod crosstype;
pub mod cursor;
pub mod factor;
pub mod host;
mod member;
pub mod path;
pub mod pattern;
pub mod privileges;
pub mod prune;
pub mod pullup;
pub mod quals;
pub mod refs;
pub mod relids;
pub mod rollup;
pub mod stage;
pub mod stored;
pub mod unused;
pub mod values;
pub mod vars;
