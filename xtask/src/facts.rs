//! `xtask facts`: writes the contents of the catalogs of a new PostgreSQL 15 cluster as text
//! tables.
//!
//! A scratch cluster is created by PostgreSQL's `initdb`, but from this project's view definitions
//! (`crates/catalog/sql/system_views.sql`, `information_schema.sql`, `norsu_views.sql`) and bodies
//! of SQL functions (`system_functions.sql`). So the output contains names, numbers, types and
//! flags, PostgreSQL's descriptions of objects (`NOTICE`), and the server's parse trees of this
//! project's texts. SQL functions without a body here are omitted and printed. Also omitted are
//! the collations of this machine's locales.
//!
//! Each table is `crates/catalog/facts/<catalog>.tsv` in COPY's text format after a line of column
//! names; `reg…` columns are numbers. Rows have the physical order that `initdb` leaves them in:
//! queries without ORDER BY show it. The row structs of `catalog::rows` and the constants of
//! `ids::builtin` are generated from the same source.

mod builtin;
mod multibyte;
mod rows;
mod statistics;

use crate::scratch::{Result, SHARE, Scratch};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A column of a catalog (`pg_attribute`).
pub struct Column {
    pub name: String,
    pub type_name: String,
    pub not_null: bool,
}

/// A table created by `initdb`.
pub struct Table {
    pub schema: String,
    pub name: String,
    pub oid: u32,
    pub columns: Vec<Column>,
}

/// Tables whose rows are created by `init` itself.
const EMPTY: &[&str] = &["pg_shdepend"];

/// The first OID that `initdb` assigns to objects that are not in the catalog's source files.
const FIRST_UNPINNED: u32 = 12_000;

pub fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sql = root.join("crates/catalog/sql");
    let read = |p: PathBuf| fs::read_to_string(&p).map_err(|e| format!("{}: {e}", p.display()));

    let functions = format!(
        "{}\n\nUPDATE pg_proc SET prosrc = '?', prosqlbody = NULL WHERE prolang = 14;\n\n{}\n\n\
         DELETE FROM pg_proc WHERE prolang = 14 AND prosrc = '?';\n\n",
        read(Path::new(SHARE).join("system_functions.sql"))?,
        read(sql.join("system_functions.sql"))?,
    );
    // The last file that initdb reads.
    let last = format!(
        "{}\n\n{}",
        read(sql.join("information_schema.sql"))?,
        read(sql.join("norsu_views.sql"))?
    );
    let mut scratch = Scratch::init(
        "facts",
        &[
            ("system_functions.sql", functions),
            ("system_views.sql", read(sql.join("system_views.sql"))?),
            ("information_schema.sql", last),
            ("sql_features.txt", features(&read(Path::new(SHARE).join("sql_features.txt"))?)),
        ],
    )?;
    scratch.start()?;

    let tables = tables(&scratch)?;
    let facts = root.join("crates/catalog/facts");
    fs::create_dir_all(&facts).map_err(|e| e.to_string())?;
    for table in &tables {
        let text = dump(&scratch, table)?;
        let file = match table.schema.as_str() {
            "pg_catalog" => format!("{}.tsv", table.name),
            schema => format!("{schema}.{}.tsv", table.name),
        };
        fs::write(facts.join(&file), text).map_err(|e| format!("{file}: {e}"))?;
    }
    let generated = root.join("crates/catalog/src");
    fs::write(generated.join("rows/tables.rs"), rows::structs(&tables)?)
        .map_err(|e| e.to_string())?;
    fs::write(generated.join("facts/files.rs"), rows::files(&tables)).map_err(|e| e.to_string())?;
    let constants = builtin::source(&facts)?;
    fs::write(root.join("crates/ids/src/builtin.rs"), constants).map_err(|e| e.to_string())?;
    let indexes = scratch.query(
        "SELECT t.relname, i.relname, i.oid, (SELECT string_agg(attname, ',' ORDER BY place) \
           FROM unnest(indkey::int2[]) WITH ORDINALITY k(number, place) \
           JOIN pg_attribute ON attrelid = indrelid AND attnum = number) \
         FROM pg_index JOIN pg_class t ON t.oid = indrelid JOIN pg_class i ON i.oid = indexrelid \
         WHERE t.relnamespace = 'pg_catalog'::regnamespace ORDER BY 1, 2",
    )?;
    fs::write(generated.join("rows/indexes.rs"), rows::indexes(&indexes)?)
        .map_err(|e| e.to_string())?;
    let tokens = scratch.query("COPY (SELECT * FROM ts_token_type('default')) TO STDOUT")?;
    fs::write(facts.join("tokens.txt"), tokens).map_err(|e| e.to_string())?;
    let references = scratch.query(
        "COPY (SELECT fktable::oid, array_to_string(fkcols, ','), pktable::oid, \
           array_to_string(pkcols, ','), is_array, is_opt \
         FROM pg_get_catalog_foreign_keys()) TO STDOUT",
    )?;
    fs::write(facts.join("foreign_keys.txt"), references).map_err(|e| e.to_string())?;
    drop(scratch);
    let mut reference = Scratch::init("reference", &[])?;
    reference.start()?;
    fs::write(facts.join("encodings.txt"), encodings(&reference)?).map_err(|e| e.to_string())?;
    for encoding in multibyte::ENCODINGS {
        let path = facts.join(format!("multibyte/{encoding}.map"));
        fs::write(path, multibyte::map(&reference, encoding)?).map_err(|e| e.to_string())?;
    }
    compare(&root, &reference)
}

/// The upper halves of single-byte encodings: one line each with the name and 128 code points in
/// hexadecimal, `-` for an unassigned code.
fn encodings(reference: &Scratch) -> Result<String> {
    reference.query(
        "CREATE FUNCTION pg_temp.point(b int, e text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN \
           RETURN to_hex(ascii(convert_from(set_byte('\\x00', 0, b), e))); \
         EXCEPTION WHEN others THEN RETURN '-'; END $$; \
         SELECT pg_encoding_to_char(n) || ' ' || string_agg(pg_temp.point(b, \
           pg_encoding_to_char(n)), ' ' ORDER BY b) \
         FROM generate_series(8, 34) n, generate_series(128, 255) b GROUP BY n ORDER BY n",
    )
}

/// The feature list without PostgreSQL's comments.
fn features(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let _ = writeln!(out, "{}\t", columns[..columns.len().min(5)].join("\t"));
    }
    out
}

fn tables(scratch: &Scratch) -> Result<Vec<Table>> {
    let rows = scratch.query(
        "SELECT n.nspname, c.relname, c.oid, a.attname, t.typname, a.attnotnull \
         FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
         JOIN pg_attribute a ON attrelid = c.oid JOIN pg_type t ON t.oid = atttypid \
         WHERE c.oid < 16384 AND relkind = 'r' AND attnum > 0 ORDER BY 1 DESC, 2, attnum",
    )?;
    let mut tables: Vec<Table> = Vec::new();
    for row in rows.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [schema, name, oid, column, type_name, not_null] = fields[..] else {
            return Err(format!("unexpected row: {row}"));
        };
        let oid = oid.parse().map_err(|_| format!("unexpected row: {row}"))?;
        if tables.last().is_none_or(|t| t.oid != oid) {
            let (schema, name) = (schema.to_owned(), name.to_owned());
            tables.push(Table { schema, name, oid, columns: Vec::new() });
        }
        let table = tables.last_mut().expect("pushed above");
        table.columns.push(Column {
            name: column.to_owned(),
            type_name: type_name.to_owned(),
            not_null: not_null == "t",
        });
    }
    Ok(tables)
}

/// The rows of a table after a line of column names.
fn dump(scratch: &Scratch, table: &Table) -> Result<String> {
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    let mut text = names.join("\t") + "\n";
    if EMPTY.contains(&table.name.as_str()) {
        return Ok(text);
    }
    let is_statistic = table.name == "pg_statistic";
    let values: Vec<String> = table
        .columns
        .iter()
        .map(|c| match c.type_name.as_str() {
            _ if is_statistic => statistics::expression(&c.name),
            "regproc" => format!("{}::oid::text", c.name),
            // Locations of nodes in the source text are not needed.
            "pg_node_tree" => {
                format!("regexp_replace({}::text, ':location \\d+', ':location -1', 'g')", c.name)
            }
            // Recent minor releases store the LSN of a column's creation here.
            _ if c.name == "attoptions" => {
                "nullif(array_to_string(ARRAY(SELECT o FROM unnest(attoptions) o \
                 WHERE o NOT LIKE 'pg_attver=%'), ','), '')"
                    .to_owned()
            }
            _ => format!("{}::text", c.name),
        })
        .collect();
    let filter = match table.name.as_str() {
        "pg_collation" => format!("WHERE oid < {FIRST_UNPINNED} OR collname = 'ucs_basic'"),
        // `init` describes the collations of its machine itself.
        "pg_description" => format!(
            "WHERE classoid <> 'pg_collation'::regclass OR objoid < {FIRST_UNPINNED} \
             OR objoid = (SELECT oid FROM pg_collation WHERE collname = 'ucs_basic')"
        ),
        _ => String::new(),
    };
    let functions = if is_statistic { statistics::FUNCTIONS } else { "" };
    let rows = scratch.query(&format!(
        "{functions}COPY (SELECT {} FROM {}.{} {filter} ORDER BY ctid) TO STDOUT",
        values.join(", "),
        table.schema,
        table.name,
    ))?;
    let acl: Vec<bool> = table.columns.iter().map(|c| c.type_name == "_aclitem").collect();
    if acl.contains(&true) {
        let roles = scratch.query("SELECT rolname, oid FROM pg_authid")?;
        let roles: Vec<(&str, &str)> = roles.lines().filter_map(|l| l.split_once('\t')).collect();
        for line in rows.lines() {
            let fields = line.split('\t').zip(&acl);
            let fields: Vec<String> = fields
                .map(|(field, acl)| if *acl { numbered(field, &roles) } else { field.to_owned() })
                .collect();
            let _ = writeln!(text, "{}", fields.join("\t"));
        }
    } else {
        text.push_str(&rows);
    }
    Ok(text)
}

/// An `aclitem[]` with OIDs instead of role names.
fn numbered(acl: &str, roles: &[(&str, &str)]) -> String {
    let Some(items) = acl.strip_prefix('{').and_then(|a| a.strip_suffix('}')) else {
        return acl.to_owned();
    };
    fn number<'a>(name: &'a str, roles: &[(&str, &'a str)]) -> &'a str {
        roles.iter().find(|r| r.0 == name).map_or(name, |r| r.1)
    }
    let item = |item: &str| match item.split_once('=').map(|(g, r)| (g, r.split_once('/'))) {
        Some((grantee, Some((rights, grantor)))) => {
            format!("{}={rights}/{}", number(grantee, roles), number(grantor, roles))
        }
        _ => item.to_owned(),
    };
    format!("{{{}}}", items.split(',').map(item).collect::<Vec<_>>().join(","))
}

/// Prints the views and functions of PostgreSQL that are missing here or have other columns.
fn compare(root: &Path, real: &Scratch) -> Result<()> {
    let facts = root.join("crates/catalog/facts");
    let read = |f: &str| fs::read_to_string(facts.join(f)).map_err(|e| format!("{f}: {e}"));

    let mut ours = std::collections::BTreeMap::new();
    let classes = read("pg_class.tsv")?;
    for line in classes.lines().skip(1) {
        let f: Vec<&str> = line.split('\t').collect();
        if f[16] == "v" {
            ours.insert(f[0].to_owned(), (f[1].to_owned(), Vec::new()));
        }
    }
    for line in read("pg_attribute.tsv")?.lines().skip(1) {
        let f: Vec<&str> = line.split('\t').collect();
        if let Some((_, columns)) = ours.get_mut(f[0]) {
            let number: i32 = f[5].parse().map_err(|_| "attnum".to_owned())?;
            columns.push((number, format!("{} {}", f[1], f[2])));
        }
    }
    let ours: std::collections::BTreeMap<String, String> = ours
        .into_values()
        .map(|(name, mut columns)| {
            columns.sort();
            let columns: Vec<String> = columns.into_iter().map(|c| c.1).collect();
            (name, columns.join(", "))
        })
        .collect();
    let theirs = real.query(
        "SELECT c.relname, string_agg(attname || ' ' || CASE WHEN atttypid < 12000 \
           THEN atttypid::text ELSE '?' END, ', ' ORDER BY attnum) \
         FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid \
         WHERE relkind = 'v' AND attnum > 0 AND c.oid < 16384 GROUP BY 1 ORDER BY 1",
    )?;
    let (mut missing, mut different) = (Vec::new(), 0);
    for row in theirs.lines() {
        let (name, columns) = row.split_once('\t').unwrap_or((row, ""));
        match ours.get(name) {
            None => missing.push(name),
            // The OIDs of information_schema's domains depend on the order of creation.
            Some(mine) if strip(mine) != strip(columns) => {
                different += 1;
                println!("view {name} differs:\n  ours    {mine}\n  theirs  {columns}");
            }
            Some(_) => {}
        }
    }
    println!("{} views, {different} differ; missing: {}", ours.len(), missing.join(" "));

    let procs: std::collections::HashSet<String> = read("pg_proc.tsv")?
        .lines()
        .filter_map(|l| l.split_once('\t').map(|(oid, _)| oid.to_owned()))
        .collect();
    let theirs = real
        .query("SELECT p.oid, p.oid::regprocedure FROM pg_proc p WHERE p.oid < 12000 ORDER BY 1")?;
    for row in theirs.lines() {
        let (oid, name) = row.split_once('\t').unwrap_or((row, ""));
        if !procs.contains(oid) {
            println!("function left out: {name}");
        }
    }
    Ok(())
}

fn strip(columns: &str) -> String {
    let unpinned = |word: &str| word.parse::<u32>().is_ok_and(|n| n >= FIRST_UNPINNED);
    let one = |column: &str| match column.rsplit_once(' ') {
        Some((name, oid)) if oid == "?" || unpinned(oid) => format!("{name} ?"),
        _ => column.to_owned(),
    };
    columns.split(", ").map(one).collect::<Vec<_>>().join(", ")
}
