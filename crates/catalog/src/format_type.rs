//! Type names as PostgreSQL displays them.
//!
//! Counterpart: format_type.c.

use crate::cx::CatCx;
use ids::Oid;
use ids::builtin::proc::ARRAY_SUBSCRIPT_HANDLER;
use ids::code::ColumnStorage;
use pgerror::Result;
use types::oids;

impl CatCx<'_> {
    /// As in messages: `integer`, `character varying`, `public.t[]`. Counterpart: `format_type_be`.
    pub fn format_type(&mut self, oid: Oid) -> Result<String> {
        self.format_type_with(oid, None, false)
    }

    /// With the type modifier: `numeric(10,2)`. Counterpart: `format_type_with_typemod`.
    pub fn format_type_mod(&mut self, oid: Oid, typmod: i32) -> Result<String> {
        self.format_type_with(oid, Some(typmod), false)
    }

    /// Always schema-qualified, except for SQL standard names. Counterpart:
    /// `format_type_be_qualified`.
    pub fn format_type_qualified(&mut self, oid: Oid) -> Result<String> {
        self.format_type_with(oid, None, true)
    }

    fn format_type_with(&mut self, oid: Oid, typmod: Option<i32>, qualify: bool) -> Result<String> {
        if !oid.is_valid() {
            return Ok("-".to_owned());
        }
        let Some(mut row) = self.find_type(oid)? else { return Ok("???".to_owned()) };
        let is_array =
            row.typsubscript == ARRAY_SUBSCRIPT_HANDLER && row.typstorage != ColumnStorage::Plain;
        if is_array {
            match self.find_type(row.typelem)? {
                Some(element) => row = element,
                None => return Ok("???[]".to_owned()),
            }
        }
        let modifier = typmod.filter(|&m| m >= 0);
        let name = match standard_name(row.oid, typmod) {
            Some((name, suffix)) => {
                let m = modifier.map_or_else(String::new, |m| modifier_text(row.oid, m));
                format!("{name}{m}{suffix}")
            }
            None => {
                let schema = if !qualify && self.is_type_visible(row.oid)? {
                    None
                } else {
                    self.namespace_name_or_temp(row.typnamespace)?
                };
                let schema = schema.as_ref().map(|s| s.as_str());
                let m = modifier.map_or_else(String::new, |m| modifier_text(row.oid, m));
                self.session.quoting.qualified(schema, row.typname.as_str()) + &m
            }
        };
        Ok(if is_array { name + "[]" } else { name })
    }
}

/// The SQL standard name, and the suffix that follows the modifier.
fn standard_name(oid: Oid, typmod: Option<i32>) -> Option<(&'static str, &'static str)> {
    let modified = typmod.is_some_and(|m| m >= 0);
    Some(match oid {
        oids::BIT if modified || typmod.is_none() => ("bit", ""),
        // Without a modifier, BIT means bit(1) and CHARACTER means character(1).
        oids::BIT => ("\"bit\"", ""),
        oids::BOOL => ("boolean", ""),
        oids::BPCHAR if modified || typmod.is_none() => ("character", ""),
        oids::BPCHAR => return None,
        oids::FLOAT4 => ("real", ""),
        oids::FLOAT8 => ("double precision", ""),
        oids::INT2 => ("smallint", ""),
        oids::INT4 => ("integer", ""),
        oids::INT8 => ("bigint", ""),
        oids::NUMERIC => ("numeric", ""),
        oids::INTERVAL => ("interval", ""),
        oids::TIME => ("time", " without time zone"),
        oids::TIMETZ => ("time", " with time zone"),
        oids::TIMESTAMP => ("timestamp", " without time zone"),
        oids::TIMESTAMPTZ => ("timestamp", " with time zone"),
        oids::VARBIT => ("bit varying", ""),
        oids::VARCHAR => ("character varying", ""),
        _ => return None,
    })
}

/// The text of a built-in type's modifier. Counterpart: the `typmodout` functions.
pub fn modifier_text(oid: Oid, typmod: i32) -> String {
    match oid {
        oids::BPCHAR | oids::VARCHAR if typmod > 4 => format!("({})", typmod - 4),
        oids::BIT | oids::VARBIT => format!("({typmod})"),
        oids::TIME | oids::TIMETZ | oids::TIMESTAMP | oids::TIMESTAMPTZ => format!("({typmod})"),
        oids::NUMERIC if typmod >= 4 => {
            let packed = typmod - 4;
            let scale = ((packed & 0x7ff) ^ 1024) - 1024;
            format!("({},{scale})", packed >> 16 & 0xffff)
        }
        oids::INTERVAL => interval_modifier(typmod),
        _ => String::new(),
    }
}

fn interval_modifier(typmod: i32) -> String {
    let bit = |n: i32| 1 << n;
    let (month, year, day, hour, minute, second) =
        (bit(1), bit(2), bit(3), bit(10), bit(11), bit(12));
    let (fields, precision) = (typmod >> 16 & 0x7fff, typmod & 0xffff);
    let name = match fields {
        f if f == year => " year",
        f if f == month => " month",
        f if f == day => " day",
        f if f == hour => " hour",
        f if f == minute => " minute",
        f if f == second => " second",
        f if f == year | month => " year to month",
        f if f == day | hour => " day to hour",
        f if f == day | hour | minute => " day to minute",
        f if f == day | hour | minute | second => " day to second",
        f if f == hour | minute => " hour to minute",
        f if f == hour | minute | second => " hour to second",
        f if f == minute | second => " minute to second",
        _ => "",
    };
    match precision {
        0xffff => name.to_owned(),
        p => format!("{name}({p})"),
    }
}

/// How identifiers and literals are quoted in SQL texts that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quoting {
    /// `quote_all_identifiers`.
    pub all_identifiers: bool,
    /// A backslash is an escape character in a literal: `standard_conforming_strings` is off.
    pub escapes: bool,
}

impl Quoting {
    /// As [`quote_identifier`]; always quoted if the setting demands it.
    pub fn identifier(self, name: &str) -> String {
        match self.all_identifiers {
            true => quoted(name),
            false => quote_identifier(name),
        }
    }

    /// The text as a string literal. Counterpart: `simple_quote_literal`.
    pub fn literal(self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self.escapes {
            true => format!("'{}'", text.replace('\\', "\\\\")),
            false => format!("'{text}'"),
        }
    }

    /// The quoted name, qualified by the schema if one is given.
    pub fn qualified(self, schema: Option<&str>, name: &str) -> String {
        match schema {
            Some(s) => format!("{}.{}", self.identifier(s), self.identifier(name)),
            None => self.identifier(name),
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The identifier, quoted unless it consists of lower-case letters, digits and underscores and is
/// not a reserved word. Counterpart: `quote_identifier`.
pub fn quote_identifier(name: &str) -> String {
    let mut chars = name.bytes();
    let plain = chars.next().is_some_and(|c| c.is_ascii_lowercase() || c == b'_')
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
        && !crate::keywords::needs_quotes(name);
    if plain { name.to_owned() } else { quoted(name) }
}
