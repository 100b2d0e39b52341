//! Generates `ids::builtin`: the OIDs of built-in objects as constants, by catalog.

use super::FIRST_UNPINNED;
use crate::scratch::Result;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Catalogs of which all pinned objects get a constant: module, comment, catalog, column of the
/// name, prefix of the name that the constant omits.
const WHOLE: &[(&str, &str, &str, &str, &str)] = &[
    ("am", "Access methods.", "pg_am", "amname", ""),
    ("collation", "Collations.", "pg_collation", "collname", ""),
    ("language", "Languages.", "pg_language", "lanname", ""),
    ("namespace", "Schemas.", "pg_namespace", "nspname", ""),
    ("parser", "Text search parsers.", "pg_ts_parser", "prsname", ""),
    ("role", "Roles.", "pg_authid", "rolname", "pg_"),
    ("tablespace", "Tablespaces.", "pg_tablespace", "spcname", "pg_"),
];

/// Functions with a constant, by `prosrc`.
const FUNCTIONS: &[&str] = &[
    "RI_FKey_cascade_del",
    "RI_FKey_cascade_upd",
    "RI_FKey_check_ins",
    "RI_FKey_check_upd",
    "RI_FKey_noaction_del",
    "RI_FKey_noaction_upd",
    "RI_FKey_restrict_del",
    "RI_FKey_restrict_upd",
    "RI_FKey_setdefault_del",
    "RI_FKey_setdefault_upd",
    "RI_FKey_setnull_del",
    "RI_FKey_setnull_upd",
    "array_cat",
    "array_in",
    "array_out",
    "array_recv",
    "array_send",
    "array_subscript_handler",
    "array_typanalyze",
    "array_unnest",
    "domain_in",
    "domain_recv",
    "enum_in",
    "enum_out",
    "enum_recv",
    "enum_send",
    "int8inc",
    "multirange_in",
    "multirange_out",
    "multirange_recv",
    "multirange_send",
    "multirange_typanalyze",
    "nextval_oid",
    "ordered_set_transition",
    "ordered_set_transition_multi",
    "pg_column_compression",
    "pg_column_size",
    "pg_typeof",
    "range_in",
    "range_out",
    "range_recv",
    "range_send",
    "range_typanalyze",
    "raw_array_subscript_handler",
    "record_in",
    "record_out",
    "record_recv",
    "record_send",
    "satisfies_hash_partition",
    "shell_in",
    "shell_out",
    "suppress_redundant_updates_trigger",
    "ts_typanalyze",
    "tsm_bernoulli_handler",
    "tsm_system_handler",
    "unique_key_recheck",
    "varchar",
    "window_dense_rank",
    "window_rank",
    "window_row_number",
];

/// Aggregates with a constant: its name, `proname` and `proargtypes`.
const AGGREGATES: &[(&str, &str, &str)] =
    &[("COUNT_ANY", "count", "2276"), ("COUNT_STAR", "count", "")];

/// Operators with a constant: its name, `oprname` and the operands' type.
const OPERATORS: &[(&str, &str, &str)] =
    &[("BOOL_EQ", "=", "bool"), ("RECORD_EQ", "=", "record"), ("TID_EQ", "=", "tid")];

/// Operator families with a constant: its name, access method, `opfname`.
const FAMILIES: &[(&str, &str, &str)] = &[("BTREE_INTEGER_OPS", "btree", "integer_ops")];

/// The rows of a text table, with access by column name.
struct Table {
    name: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(facts: &Path, name: &str) -> Result<Table> {
        let path = facts.join(format!("{name}.tsv"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut lines = text.lines().map(|l| l.split('\t').map(str::to_owned).collect());
        let columns = lines.next().ok_or_else(|| format!("{name} is empty"))?;
        Ok(Table { name: name.to_owned(), columns, rows: lines.collect() })
    }

    /// The values of the columns in each row, sorted by OID; the OID comes first.
    fn values<const N: usize>(&self, columns: [&str; N]) -> Result<Vec<(u32, [&str; N])>> {
        let place = |column: &str| {
            let found = self.columns.iter().position(|c| c == column);
            found.ok_or_else(|| format!("{} has no column {column}", self.name))
        };
        let oid = place("oid")?;
        let mut places = [0; N];
        for (place_of, column) in places.iter_mut().zip(columns) {
            *place_of = place(column)?;
        }
        let mut out = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let oid = row[oid].parse().map_err(|_| format!("{}: {row:?}", self.name))?;
            out.push((oid, places.map(|p| row[p].as_str())));
        }
        out.sort_by_key(|r| r.0);
        Ok(out)
    }
}

fn constant(out: &mut String, name: &str, oid: u32) {
    let _ = writeln!(out, "    pub const {name}: Oid = Oid({oid});");
}

fn module(out: &mut String, name: &str, comment: &str, catalog: &str) {
    let _ = writeln!(
        out,
        "\n/// {comment} Source: `{catalog}`.\npub mod {name} {{\n    use crate::Oid;\n"
    );
}

/// The text of `ids::builtin` for the tables in the directory `facts`.
pub fn source(facts: &Path) -> Result<String> {
    let mut out = String::from(
        "//! OIDs of built-in objects. Written by `cargo run -p xtask -- facts`; do not edit.\n",
    );
    for &(name, comment, catalog, column, prefix) in WHOLE {
        module(&mut out, name, comment, catalog);
        for (oid, [object]) in Table::read(facts, catalog)?.values([column])? {
            let object = object.strip_prefix(prefix).unwrap_or(object);
            match object {
                _ if oid >= FIRST_UNPINNED => {}
                "postgres" => constant(&mut out, "BOOTSTRAP_SUPERUSER", oid),
                _ => constant(&mut out, &object.to_uppercase(), oid),
            }
        }
        out.push_str("}\n");
    }
    functions(facts, &mut out)?;
    operators(facts, &mut out)?;
    families(facts, &mut out)?;
    types(facts, &mut out)?;
    Ok(out)
}

fn functions(facts: &Path, out: &mut String) -> Result<()> {
    module(out, "proc", "Functions, by `prosrc`.", "pg_proc");
    let table = Table::read(facts, "pg_proc")?;
    let rows = table.values(["prosrc"])?;
    for wanted in FUNCTIONS {
        let found: Vec<u32> = rows.iter().filter(|r| r.1 == [*wanted]).map(|r| r.0).collect();
        let [oid] = found[..] else {
            return Err(format!("{} functions have the prosrc {wanted}", found.len()));
        };
        constant(out, &wanted.to_uppercase(), oid);
    }
    let rows = table.values(["proname", "proargtypes"])?;
    for &(name, aggregate, arguments) in AGGREGATES {
        let found = rows.iter().find(|r| r.1 == [aggregate, arguments]);
        let (oid, _) = found.ok_or_else(|| format!("there is no aggregate for {name}"))?;
        constant(out, name, *oid);
    }
    out.push_str("}\n");
    Ok(())
}

fn operators(facts: &Path, out: &mut String) -> Result<()> {
    module(out, "operator", "Operators.", "pg_operator");
    let types = Table::read(facts, "pg_type")?;
    let types = types.values(["typname"])?;
    let table = Table::read(facts, "pg_operator")?;
    let rows = table.values(["oprname", "oprleft", "oprright"])?;
    for &(name, operator, operand) in OPERATORS {
        let operand = types.iter().find(|t| t.1 == [operand]).map_or(0, |t| t.0).to_string();
        let found = rows.iter().find(|r| r.1 == [operator, &operand, &operand]);
        let (oid, _) = found.ok_or_else(|| format!("there is no operator for {name}"))?;
        constant(out, name, *oid);
    }
    out.push_str("}\n");
    Ok(())
}

fn families(facts: &Path, out: &mut String) -> Result<()> {
    module(out, "opfamily", "Operator families.", "pg_opfamily");
    let methods = Table::read(facts, "pg_am")?;
    let methods = methods.values(["amname"])?;
    let table = Table::read(facts, "pg_opfamily")?;
    let rows = table.values(["opfmethod", "opfname"])?;
    for &(name, method, family) in FAMILIES {
        let method = methods.iter().find(|m| m.1 == [method]).map_or(0, |m| m.0).to_string();
        let found = rows.iter().find(|r| r.1 == [&method, family]);
        let (oid, _) = found.ok_or_else(|| format!("there is no operator family for {name}"))?;
        constant(out, name, *oid);
    }
    out.push_str("}\n");
    Ok(())
}

/// All types except row types and domains. The constant of an array type is that of its element
/// type with `_ARRAY`.
fn types(facts: &Path, out: &mut String) -> Result<()> {
    module(out, "ty", "Types.", "pg_type");
    let table = Table::read(facts, "pg_type")?;
    for (oid, [name, kind, element]) in table.values(["typname", "typtype", "typelem"])? {
        if oid >= FIRST_UNPINNED || matches!(kind, "c" | "d") {
            continue;
        }
        let name = match name.strip_prefix('_') {
            Some(of) if element != "0" && is_constant(&table, element)? => {
                format!("{}_ARRAY", of.to_uppercase())
            }
            Some(_) => continue,
            None => name.to_uppercase(),
        };
        constant(out, &name, oid);
    }
    out.push_str("}\n");
    Ok(())
}

/// True if the type with this OID has a constant.
fn is_constant(table: &Table, oid: &str) -> Result<bool> {
    let rows = table.values(["typtype"])?;
    Ok(rows.iter().any(|(o, [kind])| o.to_string() == oid && !matches!(*kind, "c" | "d")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_constants_are_those_of_the_facts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let expected = super::source(&root.join("crates/catalog/facts")).unwrap();
        let found = std::fs::read_to_string(root.join("crates/ids/src/builtin.rs")).unwrap();
        assert_eq!(found, expected, "run `cargo run -p xtask -- facts`");
    }
}
