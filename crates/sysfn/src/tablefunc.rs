//! The functions of the extension tablefunc: pivoted tables and trees. The texts of values are
//! what is compared and returned.
//!
//! Counterpart: contrib/tablefunc/tablefunc.c.

use crate::function::{ResultRow, SysCall, SysFn, text};
use crate::host::SystemHost;
use crate::query::{self, Selected};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::collections::HashMap;
use types::string::quote::quote_literal;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "normal_rand", call: SysCall::Set(normal_rand) },
    SysFn { name: "crosstab", call: SysCall::Rows(crosstab) },
    SysFn { name: "crosstab_hash", call: SysCall::Rows(crosstab_hash) },
    SysFn { name: "connectby_text", call: SysCall::Rows(|h, a, r| connect_by(h, a, r, false)) },
    SysFn {
        name: "connectby_text_serial",
        call: SysCall::Rows(|h, a, r| connect_by(h, a, r, true)),
    },
];

type Texts = Vec<Option<Vec<u8>>>;

/// Bytes of the name of a category that count.
const NAME_BYTES: usize = 62;

/// `normal_rand(count, mean, standard deviation)`: random numbers of a normal distribution, by the
/// polar method.
fn normal_rand(host: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let count = usize::try_from(args[0].as_i32())
        .map_err(|_| pg_err!(INVALID_PARAMETER_VALUE, "number of rows cannot be negative"))?;
    let (mean, deviation) = (args[1].as_f64(), args[2].as_f64());
    let cx = host.functions();
    let mut out = Vec::new();
    while out.len() < count {
        if out.len().is_multiple_of(1024) {
            cx.check_interrupts()?;
        }
        let (x, y) = normal_pair(cx);
        out.push(vec![Datum::float8(mean + deviation * x)]);
        if out.len() < count {
            out.push(vec![Datum::float8(mean + deviation * y)]);
        }
    }
    Ok(out)
}

/// Two independent numbers with mean 0 and standard deviation 1.
fn normal_pair(cx: &mut dyn types::FnContext) -> (f64, f64) {
    loop {
        let (a, b) = (2.0 * cx.random() - 1.0, 2.0 * cx.random() - 1.0);
        let s = a * a + b * b;
        if s == 0.0 {
            return (0.0, 0.0);
        }
        if s < 1.0 {
            let factor = (-2.0 * s.ln() / s).sqrt();
            return (a * factor, b * factor);
        }
    }
}

/// The columns of the result of a call, for functions that return what the call asks for.
fn asked(host: &mut dyn SystemHost, result: &ResultRow<'_>) -> Result<Vec<(Oid, i32)>> {
    match result.columns(host)? {
        Some(columns) => Ok(columns),
        None => Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "materialize mode required, but it is not allowed in this context"
        )),
    }
}

/// `crosstab(sql)`: for each value of the first column of the query one row, with the values of the
/// third column in the order in which they come.
fn crosstab(
    host: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    result: &ResultRow<'_>,
) -> Result<Vec<Vec<Datum>>> {
    let Some(found) = query::select(host, &text(args[0]))?.filter(|f| !f.rows.is_empty()) else {
        return Ok(Vec::new());
    };
    if found.columns.len() != 3 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid source data SQL statement")
            .detail("The provided SQL must return 3 columns: rowid, category, and values."));
    }
    let Some(columns) = result.columns(host)? else {
        return Err(match result.ty {
            oids::RECORD => pg_err!(
                FEATURE_NOT_SUPPORTED,
                "function returning record called in context that cannot accept type record"
            ),
            _ => pg_err!(DATATYPE_MISMATCH, "return type must be a row type"),
        });
    };
    check_crosstab(&columns, &found.columns)?;
    let mut out = Vec::new();
    let mut current: Option<(Option<Vec<u8>>, Texts)> = None;
    for row in &found.rows {
        let id = query::text_of(host, found.columns[0].0, row[0].as_ref())?;
        let value = query::text_of(host, found.columns[2].0, row[2].as_ref())?;
        match &mut current {
            Some((same, values)) if *same == id => {
                if values.len() < columns.len() {
                    values.push(value);
                }
            }
            _ => {
                if let Some((_, values)) = current.take() {
                    out.push(filled(host, &columns, values)?);
                }
                current = Some((id.clone(), vec![id, value]));
            }
        }
    }
    if let Some((_, values)) = current {
        out.push(filled(host, &columns, values)?);
    }
    Ok(out)
}

/// A row of these texts; the rest is NULL.
fn filled(
    host: &mut dyn SystemHost,
    columns: &[(Oid, i32)],
    mut texts: Texts,
) -> Result<Vec<Datum>> {
    texts.resize(columns.len(), None);
    query::row_of_texts(host, columns, &texts)
}

fn check_crosstab(wanted: &[(Oid, i32)], found: &[(Oid, i32)]) -> Result<()> {
    let incompatible =
        || Err(pg_err!(SYNTAX_ERROR, "return and sql tuple descriptions are incompatible"));
    if wanted.len() < 2 {
        return incompatible();
    }
    if wanted[0].0 != found[0].0 {
        return Err(pg_err!(DATATYPE_MISMATCH, "invalid return type")
            .detail("SQL rowid datatype does not match return rowid datatype."));
    }
    match wanted[1..].iter().all(|(ty, _)| *ty == found[2].0) {
        true => Ok(()),
        false => incompatible(),
    }
}

/// The bytes of a category's name by which it is found.
fn category_key(name: &[u8]) -> Vec<u8> {
    name[..name.len().min(NAME_BYTES)].to_vec()
}

fn no_categories() -> PgError {
    pg_err!(SYNTAX_ERROR, "provided \"categories\" SQL must return 1 column of at least one row")
}

/// The categories that a query returns, with their order.
fn categories(host: &mut dyn SystemHost, sql: &str) -> Result<HashMap<Vec<u8>, usize>> {
    let mut out = HashMap::new();
    let Some(found) = query::select(host, sql)?.filter(|f| !f.rows.is_empty()) else {
        return Ok(out);
    };
    let [(ty, _)] = found.columns[..] else { return Err(no_categories()) };
    for (i, row) in found.rows.iter().enumerate() {
        let Some(name) = query::text_of(host, ty, row[0].as_ref())? else {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "provided \"categories\" SQL must not return NULL values"
            ));
        };
        if out.insert(category_key(&name), i).is_some() {
            return Err(pg_err!(DUPLICATE_OBJECT, "duplicate category name"));
        }
    }
    Ok(out)
}

/// `crosstab(sql, categories)`: as [`crosstab`], with each value in the column of its category.
fn crosstab_hash(
    host: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    result: &ResultRow<'_>,
) -> Result<Vec<Vec<Datum>>> {
    let columns = asked(host, result)?;
    if columns.len() < 2 {
        return Err(pg_err!(
            SYNTAX_ERROR,
            "query-specified return tuple and crosstab function are not compatible"
        ));
    }
    let categories = categories(host, &text(args[1]))?;
    let Some(found) = query::select(host, &text(args[0]))?.filter(|f| !f.rows.is_empty()) else {
        return Ok(Vec::new());
    };
    if categories.is_empty() {
        return Err(no_categories());
    }
    let sources = found.columns.len();
    if sources < 3 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid source data SQL statement")
            .detail("The provided SQL must return 3  columns; rowid, category, and values."));
    }
    let width = sources - 2 + categories.len();
    if columns.len() != width {
        return Err(pg_err!(SYNTAX_ERROR, "invalid return type").detail(format!(
            "Query-specified return tuple has {} columns but crosstab returns {width}.",
            columns.len()
        )));
    }
    pivot(host, &columns, &found, &categories)
}

/// One row for each run of rows with equal first columns.
fn pivot(
    host: &mut dyn SystemHost,
    columns: &[(Oid, i32)],
    found: &Selected,
    categories: &HashMap<Vec<u8>, usize>,
) -> Result<Vec<Vec<Datum>>> {
    let fixed = found.columns.len() - 2;
    let mut out = Vec::new();
    let mut current: Option<Texts> = None;
    for row in &found.rows {
        let id = query::text_of(host, found.columns[0].0, row[0].as_ref())?;
        if current.as_ref().is_none_or(|texts| texts[0] != id) {
            if let Some(texts) = current.take() {
                out.push(filled(host, columns, texts)?);
            }
            let mut texts = vec![None; columns.len()];
            texts[0] = id;
            for i in 1..fixed {
                texts[i] = query::text_of(host, found.columns[i].0, row[i].as_ref())?;
            }
            current = Some(texts);
        }
        let category = query::text_of(host, found.columns[fixed].0, row[fixed].as_ref())?;
        let place = category.and_then(|name| categories.get(&category_key(&name)));
        if let (Some(place), Some(texts)) = (place, current.as_mut()) {
            let (ty, value) = (found.columns[fixed + 1].0, row[fixed + 1].as_ref());
            texts[fixed + place] = query::text_of(host, ty, value)?;
        }
    }
    if let Some(texts) = current {
        out.push(filled(host, columns, texts)?);
    }
    Ok(out)
}

/// A call of `connectby`.
struct Tree<'a> {
    table: String,
    key: String,
    parent: String,
    /// By what the children of a node are sorted; `None`: no serial numbers are returned.
    order: Option<String>,
    depth_max: i32,
    delimiter: String,
    with_branch: bool,
    columns: &'a [(Oid, i32)],
    serial: i32,
    out: Vec<Vec<Datum>>,
}

fn connect_by(
    host: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    result: &ResultRow<'_>,
    ordered: bool,
) -> Result<Vec<Vec<Datum>>> {
    let columns = asked(host, result)?;
    let start_at = if ordered { 4 } else { 3 };
    let delimiter = args.get(start_at + 2).map(|d| text(*d));
    let mut tree = Tree {
        table: text(args[0]),
        key: text(args[1]),
        parent: text(args[2]),
        order: ordered.then(|| text(args[3])),
        depth_max: args[start_at + 1].as_i32(),
        with_branch: delimiter.is_some(),
        delimiter: delimiter.unwrap_or_else(|| "~".to_owned()),
        columns: &columns,
        serial: 1,
        out: Vec::new(),
    };
    tree.check_columns(host)?;
    let start = text(args[start_at]);
    tree.add(host, [Some(start.clone()), None], 0, &start)?;
    tree.descend(host, &start, &start, 1)?;
    Ok(tree.out)
}

/// 42804: the call asks for other columns.
fn invalid_type(detail: impl Into<String>) -> PgError {
    pg_err!(DATATYPE_MISMATCH, "invalid return type").detail(detail)
}

impl Tree<'_> {
    fn check_columns(&self, host: &mut dyn SystemHost) -> Result<()> {
        let wanted = 3 + usize::from(self.with_branch) + usize::from(self.order.is_some());
        if self.columns.len() != wanted {
            return Err(invalid_type("Query-specified return tuple has wrong number of columns."));
        }
        let ty = |i: usize| self.columns[i].0;
        if ty(0) != ty(1) {
            return Err(invalid_type("First two columns must be the same type."));
        }
        if ty(2) != oids::INT4 {
            return Err(invalid_type("Third column must be type integer."));
        }
        if self.with_branch && ty(3) != oids::TEXT {
            return Err(invalid_type("Fourth column must be type text."));
        }
        let last = wanted - 1;
        if self.order.is_some() && ty(last) != oids::INT4 {
            let name = host.functions().type_name(oids::INT4, None)?;
            let ordinal = if self.with_branch { "fifth" } else { "fourth" };
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "query-specified return tuple not valid for Connectby: {ordinal} column must be \
                 type {name}"
            ));
        }
        Ok(())
    }

    /// Adds the row of a node with its parent.
    fn add(
        &mut self,
        host: &mut dyn SystemHost,
        keys: [Option<String>; 2],
        level: i32,
        branch: &str,
    ) -> Result<()> {
        let mut texts: Texts = keys.into_iter().map(|k| k.map(String::into_bytes)).collect();
        texts.push(Some(level.to_string().into_bytes()));
        if self.with_branch {
            texts.push(Some(branch.as_bytes().to_vec()));
        }
        if self.order.is_some() {
            texts.push(Some(self.serial.to_string().into_bytes()));
            self.serial += 1;
        }
        self.out.push(query::row_of_texts(host, self.columns, &texts)?);
        Ok(())
    }

    /// Adds what is below a node.
    fn descend(
        &mut self,
        host: &mut dyn SystemHost,
        start: &str,
        branch: &str,
        level: i32,
    ) -> Result<()> {
        if self.depth_max > 0 && level > self.depth_max {
            return Ok(());
        }
        host.functions().check_interrupts()?;
        let (key, parent, table) = (&self.key, &self.parent, &self.table);
        let literal = quote_literal(start.as_bytes());
        let literal = String::from_utf8_lossy(&literal);
        let mut sql = format!(
            "SELECT {key}, {parent} FROM {table} WHERE {parent} = {literal} AND {key} IS NOT NULL \
             AND {key} <> {parent}"
        );
        if let Some(order) = &self.order {
            sql.push_str(" ORDER BY ");
            sql.push_str(order);
        }
        let Some(found) = query::select(host, &sql)?.filter(|f| !f.rows.is_empty()) else {
            return Ok(());
        };
        self.check_query(host, &found.columns)?;
        let delimiter = self.delimiter.clone();
        let path = format!("{delimiter}{branch}{delimiter}");
        for row in &found.rows {
            let mut keys = [None, None];
            for (i, out) in keys.iter_mut().enumerate() {
                let text = query::text_of(host, found.columns[i].0, row[i].as_ref())?;
                *out = text.map(|t| String::from_utf8_lossy(&t).into_owned());
            }
            let Some(key) = keys[0].clone() else {
                self.add(host, keys, level, branch)?;
                continue;
            };
            if path.contains(&format!("{delimiter}{key}{delimiter}")) {
                return Err(pg_err!(INVALID_RECURSION, "infinite recursion detected"));
            }
            let below = format!("{branch}{delimiter}{key}");
            self.add(host, keys, level, &below)?;
            stdx::stack::deep(|| self.descend(host, &key, &below, level + 1))?;
        }
        Ok(())
    }

    /// The first two columns of the query must have the types of the result's.
    fn check_query(&self, host: &mut dyn SystemHost, found: &[(Oid, i32)]) -> Result<()> {
        if found.len() < 2 {
            return Err(invalid_type("Query must return at least two columns."));
        }
        for (i, what) in ["key", "parent key"].into_iter().enumerate() {
            let (wanted, given) = (self.columns[i], found[i]);
            if wanted.0 != given.0 || (wanted.1 >= 0 && wanted.1 != given.1) {
                let mut name = |c: (Oid, i32)| host.functions().type_name(c.0, Some(c.1));
                let (wanted, given) = (name(wanted)?, name(given)?);
                return Err(invalid_type(format!(
                    "SQL {what} field type {wanted} does not match return {what} field type \
                     {given}."
                )));
            }
        }
        Ok(())
    }
}
