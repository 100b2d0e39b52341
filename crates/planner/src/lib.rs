//! Plans queries: cost-based optimization of an analysed query. Counterpart: optimizer/. See
//! `README.md` for the algorithm.
//!
//! The interface to the session and the transformations of queries that need no estimates are in
//! the crate `querytree`.
//!
//! 1. Preparation: `prep` (`WITH` queries, sub-selects turned into joins, subqueries and views
//!    pulled up by `querytree::pullup`, expressions folded), `inlineset`; `reduce` and `removal`
//!    (outer joins simplified or removed).
//! 2. Base relations: `rel` (sizes), `pushdown` (conditions pushed into subqueries),
//!    `selectivity`, `readable` and `joinsel`, `constants` and `equivalence` (equivalence classes).
//! 3. Paths (their model is `querytree::path`): `scan`, `bitmap`, `tid`, `derive` and `rowcond`
//!    (scans), `joinpath`, `hashcost` and `merge` (join methods), `exprcost` (costs of
//!    expressions), `clause` (join clauses), `search` (join order), `specialjoin` (semi, anti and
//!    left joins in the search), `need` (columns needed above); `partwise`, `partappend` and
//!    `childpath` (joins partition by partition).
//! 4. Upper stages: `upper` (order of the stages; `querytree::stage` describes them), `group`,
//!    `groups` (numbers of groups), `groupingsets` (GROUPING SETS), `minmax`, `partgroup` (grouping
//!    partition by partition), `window`, `runcond`, `distinct`, `sorting` (ORDER BY, LIMIT),
//!    `postpone`; `setop` (set operations), `appendrel` and `appendparam` (UNION ALL); `expand`,
//!    `exclusion` and `inherit` (tables with members); `subselect` (sub-selects); `modify` (INSERT,
//!    UPDATE, DELETE).
//! 5. Plan creation: `create`, `createscan`, `createjoin`, `createset` and `project` turn the
//!    chosen path into a plan; `querytree::refs` replaces columns by references to the children's
//!    outputs.
//!
//! INVARIANT: the planner looks nothing up by name, and never changes the input query in place: the
//! caller may plan it again.

#![forbid(unsafe_code)]

// The host of the tests names the crate as its users do.
#[cfg(test)]
extern crate self as planner;

#[cfg(test)]
#[path = "../tests/host/mod.rs"]
mod test_host;

mod appendparam;
mod appendrel;
mod arraysel;
mod barrier;
mod bitmap;
mod childpath;
mod clause;
mod constants;
mod create;
mod createjoin;
mod createscan;
mod createset;
mod depsel;
mod derive;
mod distinct;
mod equivalence;
mod exclusion;
mod expand;
mod exprcost;
mod extsel;
mod gincost;
mod group;
mod groupingsets;
mod groups;
mod hashcost;
mod inherit;
mod inlineset;
mod join;
mod joinpath;
mod joinsel;
mod matchsel;
mod merge;
mod minmax;
mod modify;
mod need;
mod partappend;
mod partgroup;
mod partwise;
mod postpone;
mod prep;
mod project;
mod pushdown;
mod readable;
mod reduce;
mod rel;
mod removal;
mod rowcond;
mod runcond;
mod scalarsel;
mod scan;
mod search;
mod selectivity;
mod setop;
mod sorting;
mod specialjoin;
mod state;
mod subselect;
mod tid;
mod upper;
mod variable;
mod width;
mod window;

pub use querytree::cursor::{RowIdentities, RowIdentity, add_row_identity, supports_backward_scan};
pub use querytree::host::{
    AggregateInfo, Collapse, ColumnInfo, ColumnStats, ConstraintExclusion, CostSettings,
    DefaultOperators, ExpressionHost, ExtendedStats, FunctionLookup, IndexInfo, IndexKey,
    OperatorInfo, OperatorLookup, OrderingInfo, PlannerHost, RelationInfo, RelationLookup,
};
pub use querytree::vars::offset_query;
pub use state::plan_query;
