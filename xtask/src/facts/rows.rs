//! Generates Rust code from the catalogs: one row struct per catalog, and the list of embedded
//! files.

use super::Table;
use crate::scratch::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Converts `pg_ts_config_map` to `PgTsConfigMap`.
fn struct_name(table: &str) -> String {
    table
        .split('_')
        .map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + chars.as_str())
        })
        .collect()
}

/// The Rust type of a catalog column.
fn field_type(type_name: &str) -> Result<&'static str> {
    Ok(match type_name {
        "oid" | "regproc" | "regtype" => "Oid",
        "name" => "Name",
        "bool" => "bool",
        "int2" => "i16",
        "int4" => "i32",
        "int8" | "timestamptz" => "i64",
        "float4" => "f32",
        "float8" => "f64",
        "xid" => "Xid",
        "pg_lsn" => "Lsn",
        "text" | "pg_node_tree" | "bytea" | "pg_ndistinct" | "pg_dependencies" | "pg_mcv_list" => {
            "Text"
        }
        "int2vector" => "Int2Vector",
        "oidvector" => "OidVector",
        "_int2" => "Vec<i16>",
        "_oid" => "Vec<Oid>",
        "_float4" => "Vec<f32>",
        "_text" => "Vec<Text>",
        "_aclitem" => "Vec<AclItem>",
        "anyarray" | "_pg_statistic" => "AnyArray",
        other => return Err(format!("no Rust type for a catalog column of type {other}")),
    })
}

/// The type of `ids::code` for a column of type `"char"`.
fn code_type(table: &str, column: &str) -> &'static str {
    match column {
        "contype" => "ConType",
        "confupdtype" | "confdeltype" => "FkAction",
        "confmatchtype" => "FkMatch",
        "deptype" if table == "pg_shdepend" => "SharedDepType",
        "deptype" => "DepType",
        "amtype" => "AmType",
        "amoppurpose" => "AmopPurpose",
        "castcontext" => "CastContext",
        "castmethod" => "CastMethod",
        "relreplident" => "ReplicaIdentity",
        "collprovider" | "datlocprovider" => "CollProvider",
        "defaclobjtype" => "DefAclObject",
        "evtenabled" | "ev_enabled" | "tgenabled" => "Firing",
        "partstrat" => "PartStrategy",
        "attidentity" => "ColumnIdentity",
        "attgenerated" => "ColumnGenerated",
        "typcategory" => "TypCategory",
        "aggkind" => "AggKind",
        "aggfinalmodify" | "aggmfinalmodify" => "FinalModify",
        "oprkind" => "OprKind",
        "prokind" => "ProKind",
        "provolatile" => "Volatility",
        "proparallel" => "ParallelSafety",
        "proargmodes" => "ArgMode",
        "typalign" | "attalign" => "Align",
        "typstorage" | "attstorage" => "ColumnStorage",
        "relkind" => "RelKind",
        "typtype" => "TypType",
        "relpersistence" => "Persistence",
        _ => "u8",
    }
}

/// Generates `catalog::rows::tables`: one `row!` per catalog.
pub fn structs(tables: &[Table]) -> Result<String> {
    let mut rows = String::new();
    let mut codes = BTreeSet::new();
    for table in tables.iter().filter(|t| t.schema == "pg_catalog") {
        let _ = write!(
            rows,
            "\nsuper::row! {{\n    {} = \"{}\" {} {{\n",
            struct_name(&table.name),
            table.name,
            table.oid
        );
        for column in &table.columns {
            let code = code_type(&table.name, &column.name);
            let ty = match column.type_name.as_str() {
                "char" => code.to_owned(),
                "_char" => format!("Vec<{code}>"),
                "int2" if column.name == "amopstrategy" => "StrategyNumber".to_owned(),
                other => field_type(other)?.to_owned(),
            };
            if ty.contains(code) && code != "u8" {
                codes.insert(code);
            }
            let ty = if column.not_null { ty } else { format!("Option<{ty}>") };
            let _ = writeln!(rows, "        {}: {ty},", column.name);
        }
        rows.push_str("    }\n}\n");
    }
    let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
    Ok(format!(
        "//! One struct per catalog. Written by `cargo run -p xtask -- facts`; do not edit.\n\n\
         use super::values::{{AclItem, AnyArray, Int2Vector, Name, OidVector, Text}};\n\
         use ids::code::{{{codes}}};\nuse ids::{{Lsn, Oid, StrategyNumber, Xid}};\n{rows}"
    ))
}

/// Generates `catalog::facts::files`: the embedded text tables.
pub fn files(tables: &[Table]) -> String {
    let mut out = String::from(
        "//! The text tables. Written by `cargo run -p xtask -- facts`; do not edit.\n\n\
         /// OID, schema, name and rows of each table.\n\
         pub const FILES: &[(u32, &str, &str, &str)] = &[\n",
    );
    for table in tables {
        let file = match table.schema.as_str() {
            "pg_catalog" => format!("{}.tsv", table.name),
            schema => format!("{schema}.{}.tsv", table.name),
        };
        let _ = writeln!(
            out,
            "    (\n        {},\n        {:?},\n        {:?},\n        \
             include_str!(\"../../facts/{file}\"),\n    ),",
            table.oid, table.schema, table.name
        );
    }
    out.push_str("];\n");
    out
}

/// Generates `catalog::rows::indexes`: the catalogs' indexes, from lines of table, name, OID and
/// columns.
pub fn indexes(rows: &str) -> Result<String> {
    let mut out = String::from(
        "//! The catalogs' indexes. Written by `cargo run -p xtask -- facts`; do not edit.\n\n\
         use super::Index;\n",
    );
    let tables = rows.lines().filter_map(|row| row.split('\t').next()).map(struct_name);
    let tables: BTreeSet<String> = tables.collect();
    let tables: Vec<String> = tables.into_iter().collect();
    let _ = writeln!(out, "use super::tables::{{{}}};\n", tables.join(", "));
    for row in rows.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [table, name, oid, columns] = fields[..] else {
            return Err(format!("unexpected row: {row}"));
        };
        let table = struct_name(table);
        let columns: Vec<String> = columns.split(',').map(|c| format!("{table}::{c}")).collect();
        let _ = writeln!(
            out,
            "pub const {}: Index<{table}> = Index::new({oid}, &[{}]);",
            name.to_ascii_uppercase(),
            columns.join(", ")
        );
    }
    Ok(out)
}
