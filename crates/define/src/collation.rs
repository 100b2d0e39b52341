//! CREATE COLLATION and ALTER COLLATION … REFRESH VERSION.
//!
//! Counterpart: collationcmds.c, pg_collation.c (`CollationCreate`).

use crate::typerow::new_name;
use catalog::collations::{ANY_ENCODING, actual_version, check_encoding};
use catalog::rows::{Name, PgCollation, PgNamespace, Text, indexes};
use catalog::{ObjectAddress, encoding};
use ids::Oid;
use ids::code::{CollProvider, DepType};
use parse::ast::{self, DefElem, DefineStmt};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{names, options};

/// The attributes of CREATE COLLATION.
#[derive(Default)]
struct Attributes<'a> {
    from: Option<&'a DefElem>,
    locale: Option<&'a DefElem>,
    collate: Option<&'a DefElem>,
    ctype: Option<&'a DefElem>,
    provider: Option<&'a DefElem>,
    deterministic: Option<&'a DefElem>,
    version: Option<&'a DefElem>,
}

impl<'a> Attributes<'a> {
    fn read(defs: &'a [DefElem], sql: &str) -> Result<Attributes<'a>> {
        let mut out = Attributes::default();
        for d in defs {
            let known = match &*d.defname {
                "from" => &mut out.from,
                "locale" => &mut out.locale,
                "lc_collate" => &mut out.collate,
                "lc_ctype" => &mut out.ctype,
                "provider" => &mut out.provider,
                "deterministic" => &mut out.deterministic,
                "version" => &mut out.version,
                other => {
                    let e = pg_err!(SYNTAX_ERROR, "collation attribute \"{other}\" not recognized");
                    return Err(e.at(parse::position(sql, d.location)));
                }
            };
            if known.replace(d).is_some() {
                return Err(redundant().at(parse::position(sql, d.location)));
            }
        }
        if out.locale.is_some() && (out.collate.is_some() || out.ctype.is_some()) {
            return Err(redundant()
                .detail("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE."));
        }
        if out.from.is_some() && defs.len() != 1 {
            return Err(
                redundant().detail("FROM cannot be specified together with any other options.")
            );
        }
        Ok(out)
    }
}

fn redundant() -> PgError {
    pg_err!(SYNTAX_ERROR, "conflicting or redundant options")
}

fn invalid(message: String) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// CREATE COLLATION.
pub fn create(host: &mut dyn CommandHost, stmt: &DefineStmt, sql: &str) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let attributes = Attributes::read(&stmt.definition, sql)?;
    let mut row = match attributes.from {
        Some(from) => copied(host, from)?,
        None => described(host, &attributes)?,
    };
    row.collname = Name::new(&name);
    row.collnamespace = schema;
    row.collowner = names::user(host);
    row.collversion = match attributes.version {
        Some(d) if attributes.from.is_none() => Some(Text::from(options::text(d)?)),
        _ => {
            let locale = row.colliculocale.as_ref().or(row.collcollate.as_ref());
            actual_version(row.collprovider, locale.map_or("", Text::as_str)).map(Text::from)
        }
    };
    if let Some(e) = duplicate(host, &row)? {
        if !stmt.if_not_exists {
            return Err(e);
        }
        host.notice(notice(pg_err!(DUPLICATE_OBJECT, "{}, skipping", e.message())));
        return Ok(());
    }
    let mut cat = host.catalog();
    row.oid = cat.new_oid(indexes::PG_COLLATION_OID_INDEX)?;
    cat.insert(&row)?;
    let this = ObjectAddress::of::<PgCollation>(row.oid);
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.record_owner(this, row.collowner)?;
    cat.increment_command_counter()?;
    // The locale must exist on this machine.
    cat.locale(row.oid).map(drop)
}

/// A copy of the collation that FROM names.
fn copied(host: &mut dyn CommandHost, from: &DefElem) -> Result<PgCollation> {
    let name = options::qualified(from)?;
    let source = named(host, &name)?;
    let row = host.catalog().collation(source)?;
    if row.collprovider == CollProvider::Default {
        return Err(invalid("collation \"default\" cannot be copied".to_owned()));
    }
    Ok(row.row.clone())
}

/// The row for the attributes, without name and version.
fn described(host: &mut dyn CommandHost, a: &Attributes<'_>) -> Result<PgCollation> {
    let text = |d: Option<&DefElem>| d.map(options::text).transpose();
    let provider = match text(a.provider)? {
        None => CollProvider::Libc,
        Some(name) if name.eq_ignore_ascii_case("icu") => CollProvider::Icu,
        Some(name) if name.eq_ignore_ascii_case("libc") => CollProvider::Libc,
        Some(name) => return Err(invalid(format!("unrecognized collation provider: {name}"))),
    };
    let deterministic = a.deterministic.map_or(Ok(true), options::boolean)?;
    let locale = text(a.locale)?;
    let (mut collate, mut ctype) = (text(a.collate)?, text(a.ctype)?);
    let needs = |name: &str| invalid(format!("parameter \"{name}\" must be specified"));
    let icu = match provider {
        CollProvider::Icu => Some(locale.ok_or_else(|| needs("locale"))?),
        _ => {
            collate = Some(collate.or(locale.clone()).ok_or_else(|| needs("lc_collate"))?);
            ctype = Some(ctype.or(locale).ok_or_else(|| needs("lc_ctype"))?);
            None
        }
    };
    if !deterministic && provider != CollProvider::Icu {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "nondeterministic collations not supported with this provider"
        );
    }
    let own = host.catalog().session.encoding;
    let collencoding = if provider == CollProvider::Icu {
        // Of the encodings that a database may have here, ICU is called for this one only.
        if own != encoding::UTF8 {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "current database's encoding is not supported with this provider"
            );
        }
        ANY_ENCODING
    } else {
        let superuser = names::is_superuser(host)?;
        for (name, word) in [(&ctype, "LC_CTYPE"), (&collate, "LC_COLLATE")] {
            check_encoding(name.as_deref().unwrap_or_default(), word, own, superuser)?;
        }
        own
    };
    Ok(PgCollation {
        oid: Oid::INVALID,
        collname: Name::default(),
        collnamespace: Oid::INVALID,
        collowner: Oid::INVALID,
        collprovider: provider,
        collisdeterministic: deterministic,
        collencoding,
        collcollate: collate.map(Text::from),
        collctype: ctype.map(Text::from),
        colliculocale: icu.map(Text::from),
        collversion: None,
    })
}

/// The error if the schema has a collation of this name for the encoding or for all encodings.
fn duplicate(host: &mut dyn CommandHost, row: &PgCollation) -> Result<Option<PgError>> {
    let own = host.catalog().session.encoding;
    let name = row.collname.as_str();
    let mut exists = |number: i32| -> Result<bool> {
        let keys = [name.into(), number.into(), row.collnamespace.into()];
        let found =
            host.catalog().scan::<PgCollation>(indexes::PG_COLLATION_NAME_ENC_NSP_INDEX, &keys)?;
        Ok(!found.is_empty())
    };
    let for_all = row.collencoding == ANY_ENCODING;
    if exists(row.collencoding)? && !for_all {
        let shown = encoding::name(row.collencoding);
        return Ok(Some(pg_err!(
            DUPLICATE_OBJECT,
            "collation \"{name}\" for encoding \"{shown}\" already exists"
        )));
    }
    if exists(ANY_ENCODING)? || for_all && exists(own)? {
        return Ok(Some(pg_err!(DUPLICATE_OBJECT, "collation \"{name}\" already exists")));
    }
    Ok(None)
}

/// The collation of this name.
fn named(host: &mut dyn CommandHost, name: &[ast::Name]) -> Result<Oid> {
    let list: Vec<&str> = name.iter().map(|part| &**part).collect();
    let rv = names::range_var_of(&list)?;
    names::check_database(host, &rv)?;
    host.catalog().collation_oid(rv.schemaname.as_deref(), &rv.relname)
}

/// Stores the present version of the collation's provider.
pub fn refresh_version(host: &mut dyn CommandHost, name: &[ast::Name]) -> Result<()> {
    let oid = named(host, name)?;
    let row = host.catalog().collation(oid)?;
    if !names::is_owner(host, row.collowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of collation {}", name.join("."));
    }
    let locale = match row.collprovider {
        CollProvider::Icu => &row.colliculocale,
        _ => &row.collcollate,
    };
    let Some(locale) = locale else {
        return Err(PgError::internal("unexpected null in pg_collation"));
    };
    let new = actual_version(row.collprovider, locale.as_str());
    let old = row.collversion.as_ref().map(Text::as_str);
    if changes_version(host, old, new.as_deref())? {
        let collversion = new.map(Text::from);
        host.catalog().update(&row, &PgCollation { collversion, ..row.row.clone() })?;
    }
    Ok(())
}

/// Reports to the client what REFRESH VERSION does. True if the recorded version changes.
pub fn changes_version(
    host: &mut dyn CommandHost,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<bool> {
    let message = match (old, new) {
        (Some(old), Some(new)) if old != new => format!("changing version from {old} to {new}"),
        (Some(_), Some(_)) | (None, None) => "version has not changed".to_owned(),
        _ => return Err(PgError::internal("invalid collation version change")),
    };
    host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
    Ok(old != new)
}

/// Error 0A000 for an operator class that compares bytes, under a collation that takes texts of
/// different bytes as equal.
pub fn check_deterministic(host: &mut dyn CommandHost, opclass: Oid, collation: Oid) -> Result<()> {
    const BYTEWISE: [(Oid, &str); 3] = [
        (Oid(4217), "text_pattern_ops"),
        (Oid(4218), "varchar_pattern_ops"),
        (Oid(4219), "bpchar_pattern_ops"),
    ];
    if let Some((_, name)) = BYTEWISE.iter().find(|(oid, _)| *oid == opclass)
        && !host.catalog().is_deterministic(collation)?
    {
        let what = format!("operator class \"{name}\"");
        return Err(types::collated::nondeterministic(&what));
    }
    Ok(())
}
