//! The integration tests, in a single test binary.

#![forbid(unsafe_code)]

#[cfg(test)]
mod bitmaps;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod copy_from;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damaged;
#[cfg(test)]
mod damaged_start;
#[cfg(test)]
mod damaged_values;
#[cfg(test)]
mod ddl;
#[cfg(test)]
mod declarations;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod dumps;
#[cfg(test)]
mod estimates;
#[cfg(test)]
mod first_rows;
#[cfg(test)]
mod functions;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod interchange;
#[cfg(test)]
mod invalid_database;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod log;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod new_cluster;
#[cfg(test)]
mod openpgp;
#[cfg(test)]
mod pair;
#[cfg(test)]
mod pgbench;
#[cfg(test)]
mod planning;
#[cfg(test)]
mod prepared;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod random_sql;
#[cfg(test)]
mod received;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod regress;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod script;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod shutdown;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod statistics;
#[cfg(test)]
mod style;
#[cfg(test)]
mod temporary;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod unsupported_settings;
#[cfg(test)]
mod wire;
