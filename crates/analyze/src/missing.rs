//! Errors for references to tables and columns that are not found, with hints. Counterpart:
//! parser/parse_relation.c (`errorMissingRTE`, `errorMissingColumn`, `searchRangeTableForCol`).

use crate::state::Analyzer;
use pgerror::{PgError, pg_err};
use plan::query::RteKind;

impl Analyzer<'_> {
    /// The error for a reference to a table that is not in the namespace.
    pub fn missing_table(&mut self, schema: Option<&str>, name: &str, location: i32) -> PgError {
        // The table may exist but be invisible here, or be hidden by its alias.
        let mut hidden = None;
        for level in self.levels.iter().rev() {
            for rte in &level.rtable {
                if rte.eref.aliasname == name {
                    hidden = Some((rte.eref.aliasname.clone(), false));
                    break;
                }
            }
        }
        if hidden.is_none() {
            let relid = self.cat.range_var(schema, name, 0).ok().flatten();
            for level in self.levels.iter().rev() {
                for rte in &level.rtable {
                    if let RteKind::Relation { relid: id, .. } = rte.kind
                        && Some(id) == relid
                        && rte.alias.is_some()
                        && hidden.is_none()
                    {
                        hidden = Some((rte.eref.aliasname.clone(), true));
                    }
                }
            }
        }
        let e = match hidden {
            Some((alias, by_alias)) => {
                let e = pg_err!(
                    UNDEFINED_TABLE,
                    "invalid reference to FROM-clause entry for table \"{name}\""
                );
                if by_alias {
                    e.hint(format!("Perhaps you meant to reference the table alias \"{alias}\"."))
                } else {
                    e.hint(format!(
                        "There is an entry for table \"{alias}\", but it cannot be referenced from \
                         this part of the query."
                    ))
                }
            }
            None => pg_err!(UNDEFINED_TABLE, "missing FROM-clause entry for table \"{name}\""),
        };
        self.at(e, location)
    }

    /// The error for a missing column, with the columns of similar names as a hint.
    pub fn missing_column(&mut self, table: Option<&str>, name: &str, location: i32) -> PgError {
        let e = match table {
            Some(table) => pg_err!(UNDEFINED_COLUMN, "column {table}.{name} does not exist"),
            None => pg_err!(UNDEFINED_COLUMN, "column \"{name}\" does not exist"),
        };
        let e = match self.nearest_column(table, name) {
            Nearest::Exact(alias, column) => e.hint(format!(
                "There is a column named \"{column}\" in table \"{alias}\", but it cannot be \
                 referenced from this part of the query."
            )),
            Nearest::One(alias, column) => {
                e.hint(format!("Perhaps you meant to reference the column \"{alias}.{column}\"."))
            }
            Nearest::Two(a, b) => e.hint(format!(
                "Perhaps you meant to reference the column \"{}.{}\" or the column \"{}.{}\".",
                a.0, a.1, b.0, b.1
            )),
            Nearest::None => e,
        };
        self.at(e, location)
    }

    /// The columns with the smallest edit distance to the name.
    fn nearest_column(&self, table: Option<&str>, name: &str) -> Nearest {
        const DISTANCE_MAX: usize = 3;
        let mut best = DISTANCE_MAX + 1;
        let mut found: Vec<(String, String)> = Vec::new();
        for level in self.levels.iter().rev() {
            for rte in &level.rtable {
                // The columns of a join entry are those of its inputs, which have entries of their
                // own.
                if matches!(rte.kind, RteKind::Join { .. }) {
                    continue;
                }
                let penalty = table.map_or(0, |t| distance(t, &rte.eref.aliasname, DISTANCE_MAX));
                for column in rte.eref.colnames.iter().filter(|c| !c.is_empty()) {
                    let edit_distance = distance(name, column, DISTANCE_MAX);
                    if edit_distance == 0 && penalty == 0 {
                        return Nearest::Exact(rte.eref.aliasname.clone(), column.clone());
                    }
                    // More than half of the name differs: not a likely misspelling.
                    if edit_distance > name.len() / 2 {
                        continue;
                    }
                    let far = edit_distance + penalty;
                    let entry = (rte.eref.aliasname.clone(), column.clone());
                    if far < best {
                        best = far;
                        found = vec![entry];
                    } else if far == best && far <= DISTANCE_MAX {
                        found.push(entry);
                    }
                }
            }
        }
        match &found[..] {
            [one] => Nearest::One(one.0.clone(), one.1.clone()),
            [a, b] => Nearest::Two(a.clone(), b.clone()),
            _ => Nearest::None,
        }
    }
}

/// The columns with the names most similar to that of a missing column. Each has the alias of its
/// table and its name.
enum Nearest {
    /// A column of that name, which is not visible here.
    Exact(String, String),
    One(String, String),
    Two((String, String), (String, String)),
    None,
}

/// Levenshtein distance, limited to `most + 1`.
fn distance(a: &str, b: &str, most: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()].min(most + 1)
}
