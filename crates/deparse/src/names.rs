//! Namespaces for deparsing: the names of a query's tables, and the present names of their columns.
//! Counterpart: ruleutils.c (`set_deparse_for_query`, `set_rtable_names`).

use crate::columns::{Columns, Naming};
use analyze::session::Host;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::query::{Query, RteKind, WindowClause};
use std::sync::Arc;

/// Maximum length of a name in bytes. Counterpart: `NAMEDATALEN`, less its terminating zero byte.
const NAME_BYTES_MAX: usize = 63;

/// The names of one range table entry.
#[derive(Clone, Default)]
pub(super) struct Entry {
    /// `None` for a join without an alias.
    pub refname: Option<String>,
    pub columns: Columns,
    /// The alias variables of a join without an alias.
    pub join_columns: Vec<Expr>,
}

/// The names of one query level.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub entries: Vec<Entry>,
    pub ctes: Vec<String>,
    pub windows: Vec<WindowClause>,
    /// The target list that the windows' clauses refer to.
    pub targets: Vec<TargetEntry>,
    /// The query itself, in which the defining expressions of anonymous rows are searched.
    pub query: Option<Arc<Query>>,
}

impl Scope {
    /// The names of relations with optional aliases.
    pub fn of_relations(host: &mut dyn Host, relations: &[(Option<&str>, Oid)]) -> Result<Scope> {
        let mut entries = Vec::new();
        for &(alias, oid) in relations {
            let desc = host.catalog().relation(oid)?;
            let refname = Some(alias.unwrap_or(desc.name()).to_owned());
            let columns = Columns::named(real_columns(&desc));
            entries.push(Entry { refname, columns, ..Entry::default() });
        }
        Ok(Scope { entries, ..Scope::default() })
    }

    /// Names of relations and columns that the caller determines.
    pub fn of_names(names: Vec<(Option<String>, Vec<String>)>) -> Scope {
        let entries = names.into_iter().map(|(refname, columns)| Entry {
            refname,
            columns: Columns::named(columns.into_iter().map(Some).collect()),
            ..Entry::default()
        });
        Scope { entries: entries.collect(), ..Scope::default() }
    }

    /// Counterpart: `set_deparse_for_query`.
    pub fn of_query(host: &mut dyn Host, query: &Query, outer: &[Scope]) -> Result<Scope> {
        let mut used: Vec<String> =
            outer.iter().flat_map(|s| s.entries.iter()).filter_map(|e| e.refname.clone()).collect();
        let mut naming = Naming::new(query);
        let mut entries: Vec<Entry> = Vec::with_capacity(query.rtable.len());
        for (at, rte) in query.rtable.iter().enumerate() {
            let mut entry = Entry::default();
            let name = |c: &String| (!c.is_empty()).then(|| c.clone());
            let mut real: Vec<Option<String>> = rte.eref.colnames.iter().map(name).collect();
            let mut wanted = Some(rte.eref.aliasname.clone());
            match &rte.kind {
                RteKind::Relation { relid, .. } => {
                    let desc = host.catalog().relation(*relid)?;
                    real = real_columns(&desc);
                    wanted = Some(desc.name().to_owned());
                }
                RteKind::Join { joinaliasvars, .. } if rte.alias.is_none() => {
                    wanted = None;
                    entry.join_columns = joinaliasvars.clone();
                }
                _ => {}
            }
            if let Some(alias) = &rte.alias {
                wanted = Some(alias.aliasname.clone());
            }
            entry.refname = wanted.map(|name| unused_name(name, &mut used));
            naming.name_columns(at, &real);
            entry.columns = naming.of(at).clone();
            entries.push(entry);
        }
        Ok(Scope {
            entries,
            ctes: query.cte_list.iter().map(|c| c.ctename.clone()).collect(),
            windows: query.window_clause.clone(),
            targets: match query.window_clause.is_empty() {
                true => Vec::new(),
                false => query.target_list.clone(),
            },
            query: Some(Arc::new(query.clone())),
        })
    }
}

fn real_columns(desc: &catalog::RelDesc) -> Vec<Option<String>> {
    let name = |a: &catalog::rows::PgAttribute| a.attname.as_str().to_owned();
    desc.attributes.iter().map(|a| (!a.attisdropped).then(|| name(a))).collect()
}

/// The name, with a number appended if it is in use.
fn unused_name(name: String, used: &mut Vec<String>) -> String {
    let out = unused(&name, |name| !used.iter().any(|u| u == name));
    used.push(out.clone());
    out
}

/// The name, or the first of `name_1`, `name_2`, … that is not in use. The name is shortened if the
/// number would make it too long.
pub fn unused(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    if is_free(name) {
        return name.to_owned();
    }
    (1..).map(|n| numbered(name, n)).find(|name| is_free(name)).expect("numbers do not end")
}

fn numbered(name: &str, n: u64) -> String {
    let number = format!("_{n}");
    format!("{}{number}", stdx::clip(name, NAME_BYTES_MAX - number.len()))
}
