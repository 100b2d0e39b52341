//! The trigger manager: the queue of row events, the modes of deferrable constraints, and the calls
//! of trigger functions. Foreign keys and deferrable unique constraints are trigger functions like
//! others, found through their rows of `pg_trigger`.
//!
//! Before a statement and before each row, triggers are called at once ([`statement_event`],
//! [`before_row`]). A changed row queues an event for each trigger that it concerns
//! ([`row_event`]). At the end of the statement the triggers fire ([`after_statement`]); those of
//! deferred constraints before the commit ([`before_commit`]).
//!
//! Reading order: `host` (what is needed of the session), `call`, `descriptor`, `condition` (WHEN),
//! `queue`, `rows`, `transition` (transition tables), `fire`, `registry` (built-in functions), `ri`
//! (foreign keys), `unique`, `redundant`, `stats` (EXPLAIN ANALYZE), `event` (the state of event
//! triggers).
//!
//! Counterpart: commands/trigger.c.

#![forbid(unsafe_code)]

mod call;
mod condition;
mod descriptor;
mod event;
mod fire;
mod host;
mod queue;
mod redundant;
mod registry;
mod ri;
mod rows;
mod stats;
mod transition;
mod unique;

pub use call::{NamedRows, TriggerCall};
pub use descriptor::describe;
pub use event::{
    ChangedObject, CollectedCommand, CommandEvent, DroppedObject, ObjectIdentity, RunningCommand,
    RunningCommands,
};
pub use fire::{
    after_statement, after_statement_counted, before_commit, before_row, row_event,
    set_constraints, start_counting, statement_event,
};
pub use host::TriggerHost;
pub use queue::TriggerManager;
pub use ri::{check_no_references, validate as validate_foreign_key};
pub use rows::system_columns;
pub use stats::TriggerStats;
pub use transition::capture;
