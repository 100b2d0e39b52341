//! COPY. This module: options, column list and privileges.
//!
//! Reading order: `from` (rows into a table), with `source` (where the data comes from), `lines`,
//! `fields`, `binary` (the formats) and `input` (values of columns); `to` (rows to the client, a
//! file or a program); `program`, `progress`.
//!
//! Counterpart: copy.c.

#![forbid(unsafe_code)]

mod binary;
mod fields;
mod from;
mod input;
mod lines;
mod partitions;
mod program;
mod progress;
mod source;
mod to;

use catalog::{RelDesc, acl};
use ids::code::ColumnGenerated;
use ids::{AttrNo, RelKind};
use parse::ast::{self, CopyStmt, DefElem, Node};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::CommandHost;
use utility::{names, options};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Header {
    No,
    Yes,
    Match,
}

/// The options of COPY with defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub csv: bool,
    pub binary: bool,
    pub freeze: bool,
    pub delimiter: u8,
    pub null: Vec<u8>,
    pub header: Header,
    pub quote: u8,
    pub escape: u8,
    pub force_quote: Vec<String>,
    pub force_quote_all: bool,
    pub force_not_null: Vec<String>,
    pub force_null: Vec<String>,
    /// The columns whose fields are read by COPY FROM; `None`: all.
    pub convert_selectively: Option<Vec<String>>,
    /// The encoding of the data; `None`: that of the client.
    pub encoding: Option<i32>,
}

/// COPY in either direction; returns the number of rows.
pub fn copy(host: &mut dyn CommandHost, stmt: &CopyStmt, sql: &str) -> Result<u64> {
    if stmt.filename.is_some() {
        check_file(host, stmt)?;
    }
    let copied = match stmt.is_from {
        true => from::copy_from(host, stmt, sql),
        false => to::copy_to(host, stmt, sql),
    };
    host.backend().stats.end_progress();
    copied
}

/// Error 42501 unless the user may access files or programs: superusers and members of predefined
/// roles.
/// The encoding of data in text format: by default, that of the client.
fn data_encoding(host: &mut dyn CommandHost, format: &Format) -> i32 {
    let database = host.catalog().session.encoding;
    format.encoding.unwrap_or_else(|| {
        let client = catalog::encoding::number(&host.setting("client_encoding"));
        client.filter(|&n| n != catalog::encoding::SQL_ASCII).unwrap_or(database)
    })
}

fn check_file(host: &mut dyn CommandHost, stmt: &CopyStmt) -> Result<()> {
    let user = names::user(host);
    let (role, name, what) = match (stmt.is_program, stmt.is_from) {
        (true, _) => (4571, "pg_execute_server_program", "to or from an external program"),
        (false, true) => (4569, "pg_read_server_files", "from a file"),
        (false, false) => (4570, "pg_write_server_files", "to a file"),
    };
    if !names::is_superuser(host)? && !host.catalog().is_member(user, ids::Oid(role), true)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "must be superuser or have privileges of the {name} role to COPY {what}"
        )
        .hint(
            "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.",
        ));
    }
    Ok(())
}

fn column_list(def: &DefElem) -> Result<Vec<String>> {
    match &def.arg {
        Some(Node::List(list)) => {
            Ok(list.iter().filter_map(Node::as_str).map(str::to_string).collect())
        }
        _ => bail!(
            INVALID_PARAMETER_VALUE,
            "argument to option \"{}\" must be a list of column names",
            def.defname
        ),
    }
}

fn header(def: &DefElem) -> Result<Header> {
    let as_header = |b: bool| if b { Header::Yes } else { Header::No };
    match &def.arg {
        None => Ok(Header::Yes),
        Some(Node::String(s)) if s.eq_ignore_ascii_case("match") => Ok(Header::Match),
        Some(_) => match options::boolean(def) {
            Ok(b) => Ok(as_header(b)),
            Err(_) => bail!(SYNTAX_ERROR, "{} requires a Boolean value or \"match\"", def.defname),
        },
    }
}

/// The options as given; `None` where an option is absent.
#[derive(Default)]
struct GivenOptions {
    csv: bool,
    binary: bool,
    freeze: bool,
    header: Option<Header>,
    delimiter: Option<String>,
    null: Option<String>,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<Vec<String>>,
    force_quote_all: bool,
    force_not_null: Option<Vec<String>>,
    force_null: Option<Vec<String>>,
    convert_selectively: Option<Vec<String>>,
    encoding: Option<i32>,
}

/// Counterpart: `ProcessCopyOptions`.
fn format(defs: &[DefElem], is_from: bool, sql: &str) -> Result<Format> {
    let mut given = GivenOptions::default();
    for (i, d) in defs.iter().enumerate() {
        let at = |e: PgError| e.at(parse::position(sql, d.location));
        if defs[..i].iter().any(|e| e.defname == d.defname) {
            return Err(at(pg_err!(SYNTAX_ERROR, "conflicting or redundant options")));
        }
        given.read(d, at)?;
    }
    given.check_binary()?;
    let header = given.header.unwrap_or(Header::No);
    let csv = given.csv;
    let delimiter = given.delimiter.clone();
    let delimiter = delimiter.unwrap_or_else(|| if csv { "," } else { "\t" }.to_string());
    let null = given.null.clone();
    let null = null.unwrap_or_else(|| if csv { "" } else { "\\N" }.to_string());
    if csv {
        given.quote = given.quote.or_else(|| Some("\"".to_string()));
        given.escape = given.escape.or_else(|| given.quote.clone());
    }
    check_delimiter(&delimiter, &null, csv)?;
    given.check_quote(&delimiter)?;
    given.check_forces(is_from)?;
    if null.contains(&delimiter) {
        bail!(FEATURE_NOT_SUPPORTED, "COPY delimiter must not appear in the NULL specification");
    }
    if given.quote.as_ref().is_some_and(|q| csv && null.contains(q.as_str())) {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "CSV quote character must not appear in the NULL specification"
        );
    }
    if header == Header::Match && !is_from {
        bail!(FEATURE_NOT_SUPPORTED, "cannot use \"match\" with HEADER in COPY TO");
    }
    let byte = |s: &Option<String>| s.as_ref().and_then(|s| s.bytes().next()).unwrap_or(b'"');
    Ok(Format {
        csv,
        binary: given.binary,
        freeze: given.freeze,
        delimiter: delimiter.as_bytes()[0],
        null: null.into_bytes(),
        header,
        quote: byte(&given.quote),
        escape: byte(&given.escape),
        force_quote: given.force_quote.unwrap_or_default(),
        force_quote_all: given.force_quote_all,
        force_not_null: given.force_not_null.unwrap_or_default(),
        force_null: given.force_null.unwrap_or_default(),
        convert_selectively: given.convert_selectively,
        encoding: given.encoding,
    })
}

/// Checks the delimiter and the representation of NULL.
fn check_delimiter(delimiter: &str, null: &str, csv: bool) -> Result<()> {
    if delimiter.len() != 1 {
        bail!(FEATURE_NOT_SUPPORTED, "COPY delimiter must be a single one-byte character");
    }
    if delimiter.contains(['\r', '\n']) {
        bail!(INVALID_PARAMETER_VALUE, "COPY delimiter cannot be newline or carriage return");
    }
    if null.contains(['\r', '\n']) {
        bail!(
            INVALID_PARAMETER_VALUE,
            "COPY null representation cannot use newline or carriage return"
        );
    }
    if !csv && "\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(delimiter) {
        bail!(INVALID_PARAMETER_VALUE, "COPY delimiter cannot be \"{delimiter}\"");
    }
    Ok(())
}

impl GivenOptions {
    /// Reads one option; `at` adds its position to an error.
    fn read(&mut self, d: &DefElem, at: impl Fn(PgError) -> PgError) -> Result<()> {
        match &*d.defname {
            "format" => match options::text(d)?.as_str() {
                "text" => {}
                "csv" => self.csv = true,
                "binary" => self.binary = true,
                other => {
                    return Err(at(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "COPY format \"{other}\" not recognized"
                    )));
                }
            },
            "freeze" => self.freeze = options::boolean(d)?,
            "delimiter" => self.delimiter = Some(options::text(d)?),
            "null" => self.null = Some(options::text(d)?),
            "header" => self.header = Some(header(d)?),
            "quote" => self.quote = Some(options::text(d)?),
            "escape" => self.escape = Some(options::text(d)?),
            "force_quote" => match &d.arg {
                Some(Node::AStar) => self.force_quote_all = true,
                _ => self.force_quote = Some(column_list(d).map_err(at)?),
            },
            "force_not_null" => self.force_not_null = Some(column_list(d).map_err(at)?),
            "force_null" => self.force_null = Some(column_list(d).map_err(at)?),
            "encoding" => {
                let name = options::text(d)?;
                let number = catalog::encoding::number(&name);
                self.encoding = Some(number.ok_or_else(|| {
                    at(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "argument to option \"encoding\" must be a valid encoding name"
                    ))
                })?);
            }
            // Without a list all columns are converted.
            "convert_selectively" if d.arg.is_none() => {}
            "convert_selectively" => {
                self.convert_selectively = Some(column_list(d).map_err(at)?);
            }
            other => {
                return Err(at(pg_err!(SYNTAX_ERROR, "option \"{other}\" not recognized")));
            }
        }
        Ok(())
    }

    fn check_binary(&self) -> Result<()> {
        if !self.binary {
            return Ok(());
        }
        let texts = [(self.delimiter.is_some(), "DELIMITER"), (self.null.is_some(), "NULL")];
        if let Some((_, word)) = texts.iter().find(|(given, _)| *given) {
            bail!(SYNTAX_ERROR, "cannot specify {word} in BINARY mode");
        }
        if self.header.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "cannot specify HEADER in BINARY mode");
        }
        Ok(())
    }

    /// Checks the quote and the escape character.
    fn check_quote(&self, delimiter: &str) -> Result<()> {
        let (quote, escape) = (&self.quote, &self.escape);
        if !self.csv && quote.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "COPY quote available only in CSV mode");
        }
        if self.csv && quote.as_ref().is_some_and(|q| q.len() != 1) {
            bail!(FEATURE_NOT_SUPPORTED, "COPY quote must be a single one-byte character");
        }
        if self.csv && quote.as_deref() == Some(delimiter) {
            bail!(INVALID_PARAMETER_VALUE, "COPY delimiter and quote must be different");
        }
        if !self.csv && escape.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "COPY escape available only in CSV mode");
        }
        if self.csv && escape.as_ref().is_some_and(|q| q.len() != 1) {
            bail!(FEATURE_NOT_SUPPORTED, "COPY escape must be a single one-byte character");
        }
        Ok(())
    }

    /// Checks the FORCE options, which exist only for CSV and for one direction each.
    fn check_forces(&self, is_from: bool) -> Result<()> {
        let quote = self.force_quote.is_some() || self.force_quote_all;
        let (not_null, null) = (self.force_not_null.is_some(), self.force_null.is_some());
        if !self.csv && quote {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force quote available only in CSV mode");
        }
        if quote && is_from {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force quote only available using COPY TO");
        }
        if !self.csv && not_null {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force not null available only in CSV mode");
        }
        if not_null && !is_from {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force not null only available using COPY FROM");
        }
        if !self.csv && null {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force null available only in CSV mode");
        }
        if null && !is_from {
            bail!(FEATURE_NOT_SUPPORTED, "COPY force null only available using COPY FROM");
        }
        Ok(())
    }
}

/// Error 42809 for an index or a composite type. Counterpart: `table_openrv`.
fn check_has_rows(rel: &RelDesc) -> Result<()> {
    match rel.kind() {
        RelKind::Index | RelKind::PartitionedIndex => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is an index", rel.name())
        }
        RelKind::CompositeType => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is a composite type", rel.name())
        }
        _ => Ok(()),
    }
}

/// Attribute numbers of the copied columns, in order. Counterpart: `CopyGetAttnums`.
fn columns_of(rel: &RelDesc, list: &[ast::Name]) -> Result<Vec<AttrNo>> {
    if list.is_empty() {
        let all = rel
            .attributes
            .iter()
            .filter(|a| !a.attisdropped && a.attgenerated == ColumnGenerated::No);
        return Ok(all.map(|a| a.attnum).collect());
    }
    let mut out = Vec::new();
    for name in list {
        let Some(a) = rel.column(name) else {
            bail!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                rel.name()
            )
        };
        if a.attgenerated != ColumnGenerated::No {
            return Err(pg_err!(
                INVALID_COLUMN_REFERENCE,
                "column \"{name}\" is a generated column"
            )
            .detail("Generated columns cannot be used in COPY."));
        }
        if out.contains(&a.attnum) {
            bail!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once");
        }
        out.push(a.attnum);
    }
    Ok(out)
}

/// The columns of a FORCE option, which must be among the copied ones.
fn forced(rel: &RelDesc, list: &[String], copied: &[AttrNo], what: &str) -> Result<Vec<AttrNo>> {
    let mut out = Vec::new();
    for name in list {
        let Some(a) = rel.column(name) else {
            bail!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                rel.name()
            )
        };
        if !copied.contains(&a.attnum) {
            bail!(INVALID_COLUMN_REFERENCE, "{what} column \"{name}\" not referenced by COPY");
        }
        out.push(a.attnum);
    }
    Ok(out)
}

/// Error 42501 without the privilege on the table or on each column.
fn check_privileges(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    columns: &[AttrNo],
    right: u32,
) -> Result<()> {
    let user = names::user(host);
    let owner = rel.class.relowner;
    host.catalog().check_row_security(user, &rel.class.row)?;
    if host.catalog().relation_privileges(user, &rel.class, right)? == right {
        return Ok(());
    }
    for c in columns {
        let list = rel.attribute(*c).and_then(|a| a.attacl.as_deref());
        let may = match list {
            Some(list) => {
                host.catalog().has_privilege(user, owner, Some(list), acl::Kind::Column, right)?
            }
            None => false,
        };
        if !may {
            let what = names::relation_noun(rel.kind());
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for {what} {}", rel.name());
        }
    }
    Ok(())
}
