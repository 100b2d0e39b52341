//! Type names: lookup of types by name, and the SQL names of types. Counterpart:
//! parser/parse_type.c, utils/adt/format_type.c.

use crate::lookup::Lookup;
use crate::state::Analyzer;
use crate::ty;
use catalog::Row;
use catalog::rows::PgType;
use ids::Oid;
use ids::code::{ColumnStorage, TypCategory, TypType};
use parse::ast::{self, Node};
use parse::quote_identifier;
use pgerror::{Result, pg_err};

/// Whether the type is a true array type, not a fixed-length type that can be subscripted.
pub fn is_true_array(row: &PgType) -> bool {
    row.typsubscript == ty::ARRAY_SUBSCRIPT_HANDLER && row.typelem.is_valid()
}

impl Analyzer<'_> {
    /// The row of a type that must exist.
    pub fn type_row(&mut self, oid: Oid) -> Result<Row<PgType>> {
        self.cat
            .type_row(oid)?
            .ok_or_else(|| pg_err!(INTERNAL_ERROR, "cache lookup failed for type {oid}"))
    }

    /// The default collation of a type, invalid if it has none.
    pub fn type_collation(&mut self, oid: Oid) -> Result<Oid> {
        match oid {
            ty::INT4 | ty::BOOL | ty::INT8 | ty::UNKNOWN => Ok(Oid::INVALID),
            Oid::INVALID => Ok(Oid::INVALID),
            _ => Ok(self.type_row(oid)?.typcollation),
        }
    }

    /// Element type of a true array type, else invalid.
    pub fn element_type(&mut self, oid: Oid) -> Result<Oid> {
        let Some(row) = self.cat.type_row(oid)? else { return Ok(Oid::INVALID) };
        Ok(if is_true_array(&row) { row.typelem } else { Oid::INVALID })
    }

    /// Element type, looking through domains.
    pub fn base_element_type(&mut self, oid: Oid) -> Result<Oid> {
        let base = self.base_type(oid)?;
        self.element_type(base)
    }

    /// The array type over an element type, else invalid.
    pub fn array_type(&mut self, oid: Oid) -> Result<Oid> {
        Ok(self.cat.type_row(oid)?.map_or(Oid::INVALID, |t| t.typarray))
    }

    /// The base type of a domain; for other types, the type itself.
    pub fn base_type(&mut self, oid: Oid) -> Result<Oid> {
        Ok(self.base_type_and_typmod(oid, -1)?.0)
    }

    /// The base type of a domain and the type modifier that applies to it.
    pub fn base_type_and_typmod(&mut self, mut oid: Oid, mut typmod: i32) -> Result<(Oid, i32)> {
        loop {
            let row = self.type_row(oid)?;
            if row.typtype != TypType::Domain {
                return Ok((oid, typmod));
            }
            typmod = row.typtypmod;
            oid = row.typbasetype;
        }
    }

    /// The type category, and whether the type is preferred in it.
    pub fn category(&mut self, oid: Oid) -> Result<(TypCategory, bool)> {
        let row = self.type_row(oid)?;
        Ok((row.typcategory, row.typispreferred))
    }

    /// The relation of a composite type, looking through domains; invalid if the type is not
    /// composite.
    pub fn composite_relation(&mut self, oid: Oid) -> Result<Oid> {
        let base = self.base_type(oid)?;
        let row = self.type_row(base)?;
        Ok(if row.typtype == TypType::Composite { row.typrelid } else { Oid::INVALID })
    }

    /// Whether the type is composite, or a domain over a composite type.
    pub fn is_complex(&mut self, oid: Oid) -> Result<bool> {
        Ok(self.composite_relation(oid)?.is_valid())
    }

    /// Composite or anonymous record.
    pub fn is_rowtype(&mut self, oid: Oid) -> Result<bool> {
        Ok(oid == ty::RECORD || self.is_complex(oid)?)
    }

    /// A type by unqualified name, looked up along the search path. `pg_temp` comes first, as for
    /// tables.
    pub fn type_in_path(&mut self, name: &str) -> Result<Option<Row<PgType>>> {
        for &namespace in self.cat.search_path()?.iter() {
            if let Some(row) = self.cat.type_named(name, namespace)? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// As [`Self::type_in_path`], without the temporary schema. A cast in function notation finds a
    /// temporary type only by its qualified name.
    pub fn non_temp_type_in_path(&mut self, name: &str) -> Result<Option<Row<PgType>>> {
        let temp = self.cat.temp_namespace()?;
        for &namespace in self.cat.search_path()?.iter().filter(|n| **n != temp) {
            if let Some(row) = self.cat.type_named(name, namespace)? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// OID of a schema that must exist.
    pub fn namespace(&mut self, name: &str) -> Result<Oid> {
        if name == "pg_temp" {
            let temp = self.cat.temp_namespace()?;
            if temp.is_valid() {
                return Ok(temp);
            }
        }
        self.cat
            .namespace_named(name)?
            .ok_or_else(|| pg_err!(UNDEFINED_SCHEMA, "schema \"{name}\" does not exist"))
    }

    /// Splits `[database.][schema.]name`. The database must be the current one.
    pub fn deconstruct<'n>(
        &mut self,
        names: &'n [ast::Name],
    ) -> Result<(Option<&'n str>, &'n str)> {
        match names {
            [name] => Ok((None, name)),
            [schema, name] => Ok((Some(schema), name)),
            [database, schema, name] => {
                if **database != *self.cat.database_name()? {
                    return Err(pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cross-database references are not implemented: {}",
                        dotted(names)
                    ));
                }
                Ok((Some(schema), name))
            }
            _ => Err(pg_err!(
                SYNTAX_ERROR,
                "improper qualified name (too many dotted names): {}",
                dotted(names)
            )),
        }
    }

    /// The type that a name refers to, without modifiers; `None` if there is none.
    pub fn lookup_type(&mut self, name: &ast::TypeName) -> Result<Option<Row<PgType>>> {
        let row = if name.pct_type {
            let found = self.percent_type(name)?;
            if let Some(row) = &found {
                let (text, shown) = (type_name_text(name), self.format_type(row.oid));
                let notice =
                    pg_err!(SUCCESSFUL_COMPLETION, "type reference {text} converted to {shown}");
                self.cat.notice(notice.severity(pgerror::Severity::Notice));
            }
            found
        } else {
            let (schema, type_name) = self.deconstruct(&name.names)?;
            match schema {
                Some(schema) => match self.namespace_quiet(schema)? {
                    Some(namespace) => self.cat.type_named(type_name, namespace)?,
                    None => None,
                },
                None => self.type_in_path(type_name)?,
            }
        };
        let Some(row) = row else { return Ok(None) };
        if name.array_bounds.is_empty() {
            return Ok(Some(row));
        }
        if !row.typarray.is_valid() {
            return Ok(None);
        }
        self.cat.type_row(row.typarray)
    }

    fn namespace_quiet(&mut self, name: &str) -> Result<Option<Oid>> {
        if name == "pg_temp" {
            return Ok(self.cat.temp_namespace()?.valid());
        }
        self.cat.namespace_named(name)
    }

    /// `table.column%TYPE`
    fn percent_type(&mut self, name: &ast::TypeName) -> Result<Option<Row<PgType>>> {
        let (column, table) = match name.names.split_last() {
            Some((column, table)) if !table.is_empty() => (column, table),
            _ => {
                return Err(pg_err!(
                    SYNTAX_ERROR,
                    "improper %TYPE reference (too few dotted names): {}",
                    dotted(&name.names)
                ));
            }
        };
        let (schema, table) = self.deconstruct(table)?;
        let Some(oid) = self.cat.range_var(schema, table, 0)? else {
            return Err(pg_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", table));
        };
        let relation = self.cat.relation(oid)?;
        let ty = relation.as_ref().and_then(|r| r.column(column)).map(|a| a.atttypid);
        match ty {
            Some(ty) => self.cat.type_row(ty),
            None => Err(pg_err!(
                UNDEFINED_COLUMN,
                "column \"{column}\" of relation \"{table}\" does not exist"
            )),
        }
    }

    /// Type and type modifier of a name as written; errors if there is no such type.
    pub fn typename(&mut self, name: &ast::TypeName) -> Result<(Row<PgType>, i32)> {
        let row = self.lookup_type(name);
        let row = self.with_position(row, name.location)?;
        let Some(row) = row else {
            if let ([schema, _] | [_, schema, _], false) = (&name.names[..], name.pct_type) {
                let there = self.namespace(schema);
                self.with_position(there, name.location)?;
            }
            let e = pg_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", type_name_text(name));
            return Err(self.at(e, name.location));
        };
        if !row.typisdefined {
            let e = pg_err!(UNDEFINED_OBJECT, "type \"{}\" is only a shell", type_name_text(name));
            return Err(self.at(e, name.location));
        }
        let typmod = self.type_modifier(name, &row);
        Ok((row, self.with_position(typmod, name.location)?))
    }

    /// The OID of the type that a name refers to; errors if there is no such type.
    pub fn typename_oid(&mut self, name: &ast::TypeName) -> Result<Oid> {
        Ok(self.typename(name)?.0.oid)
    }

    fn type_modifier(&mut self, name: &ast::TypeName, row: &PgType) -> Result<i32> {
        if name.typmods.is_empty() {
            return Ok(-1);
        }
        if !row.typmodin.is_valid() {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "type modifier is not allowed for type \"{}\"",
                type_name_text(name)
            ));
        }
        let mut texts = Vec::with_capacity(name.typmods.len());
        for modifier in &name.typmods {
            let text = match modifier {
                Node::AConst(c) => match &c.val {
                    ast::Value::Integer(n) => Some(n.to_string()),
                    ast::Value::Float(s) | ast::Value::String(s) => Some(s.to_string()),
                    _ => None,
                },
                Node::ColumnRef(c) => match &c.fields[..] {
                    [Node::String(s)] => Some(s.to_string()),
                    _ => None,
                },
                _ => None,
            };
            texts.push(text.ok_or_else(|| {
                pg_err!(SYNTAX_ERROR, "type modifiers must be simple constants or identifiers")
            })?);
        }
        let typmod = self.cat.typmod_in(row, &texts)?;
        self.warn_about_precision(name, row, &texts);
        Ok(typmod)
    }

    /// Warns if the precision of seconds is reduced to six digits.
    fn warn_about_precision(&mut self, name: &ast::TypeName, row: &PgType, modifiers: &[String]) {
        let (shown, zone) = match row.oid {
            types::oids::TIME => ("TIME", ""),
            types::oids::TIMETZ => ("TIME", " WITH TIME ZONE"),
            types::oids::TIMESTAMP => ("TIMESTAMP", ""),
            types::oids::TIMESTAMPTZ => ("TIMESTAMP", " WITH TIME ZONE"),
            // The first modifier is the set of fields.
            types::oids::INTERVAL if modifiers.len() == 2 => ("INTERVAL", ""),
            _ => return,
        };
        let digits = modifiers.last().and_then(|m| m.parse::<i32>().ok());
        if let Some(digits) = digits.filter(|d| *d > 6) {
            let warning = pg_err!(
                INVALID_PARAMETER_VALUE,
                "{shown}({digits}){zone} precision reduced to maximum allowed, 6"
            );
            let warning = self.at(warning.severity(pgerror::Severity::Warning), name.location);
            self.cat.notice(warning);
        }
    }

    /// A collation by name.
    pub fn collation(&mut self, names: &[ast::Name], location: i32) -> Result<Oid> {
        let found = self.find_collation(names);
        let found = self.with_position(found, location)?;
        found.ok_or_else(|| {
            let e = pg_err!(
                UNDEFINED_OBJECT,
                "collation \"{}\" for encoding \"UTF8\" does not exist",
                dotted(names)
            );
            self.at(e, location)
        })
    }

    fn find_collation(&mut self, names: &[ast::Name]) -> Result<Option<Oid>> {
        let (schema, name) = self.deconstruct(names)?;
        if let Some(schema) = schema {
            let namespace = self.namespace(schema)?;
            return self.cat.collation_named(name, namespace);
        }
        let temp = self.cat.temp_namespace()?;
        for &namespace in self.cat.search_path()?.iter().filter(|n| **n != temp) {
            if let Some(oid) = self.cat.collation_named(name, namespace)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// A type name for error messages.
    pub fn format_type(&mut self, oid: Oid) -> String {
        format_type(self.cat, oid, None).unwrap_or_else(|_| "???".into())
    }
}

/// Names joined by dots, unquoted.
pub fn dotted(names: &[ast::Name]) -> String {
    names.join(".")
}

/// A type name as written, for errors about types that do not exist.
pub fn type_name_text(name: &ast::TypeName) -> String {
    let mut text = dotted(&name.names);
    if name.pct_type {
        text.push_str("%TYPE");
    }
    if !name.array_bounds.is_empty() {
        text.push_str("[]");
    }
    text
}

/// The SQL name of a type. With `typmod` the name includes the modifier; -1 means that the type has
/// none, which some types show. Counterpart: `format_type_extended`.
pub fn format_type(cat: &mut dyn Lookup, oid: Oid, typmod: Option<i32>) -> Result<String> {
    if !oid.is_valid() {
        return Ok("-".into());
    }
    let Some(mut row) = cat.type_row(oid)? else { return Ok("???".into()) };
    let is_array = is_true_array(&row) && row.typstorage != ColumnStorage::Plain;
    if is_array {
        let element = row.typelem;
        match cat.type_row(element)? {
            Some(element) => row = element,
            None => return Ok("???[]".into()),
        }
    }
    let with_typmod = typmod.is_some_and(|m| m >= 0);
    let given = typmod.is_some();
    let typmod = typmod.unwrap_or(-1);
    let modified = |cat: &mut dyn Lookup, name: &str| -> Result<String> {
        if !with_typmod {
            return Ok(name.to_string());
        }
        // `typmodout` formats the modifier.
        let out = cat.typmod_out(&row, typmod)?;
        Ok(format!("{name}{out}"))
    };
    let special = match row.oid {
        ty::BIT if with_typmod => Some(modified(cat, "bit")?),
        // With a type modifier of -1 the name is not BIT, which would mean BIT(1).
        ty::BIT if !given => Some("bit".into()),
        ty::BOOL => Some("boolean".into()),
        ty::BPCHAR if with_typmod => Some(modified(cat, "character")?),
        ty::BPCHAR if !given => Some("character".into()),
        ty::FLOAT4 => Some("real".into()),
        ty::FLOAT8 => Some("double precision".into()),
        ty::INT2 => Some("smallint".into()),
        ty::INT4 => Some("integer".into()),
        ty::INT8 => Some("bigint".into()),
        ty::NUMERIC => Some(modified(cat, "numeric")?),
        ty::INTERVAL => Some(modified(cat, "interval")?),
        ty::TIME => Some(time_name("time", "without", with_typmod.then_some(typmod))),
        ty::TIMETZ => Some(time_name("time", "with", with_typmod.then_some(typmod))),
        ty::TIMESTAMP => Some(time_name("timestamp", "without", with_typmod.then_some(typmod))),
        ty::TIMESTAMPTZ => Some(time_name("timestamp", "with", with_typmod.then_some(typmod))),
        ty::VARBIT => Some(modified(cat, "bit varying")?),
        ty::VARCHAR => Some(modified(cat, "character varying")?),
        _ => None,
    };
    let mut text = match special {
        Some(text) => text,
        None => {
            let name = if type_is_visible(cat, &row)? {
                quote_identifier(row.typname.as_str()).into_owned()
            } else {
                let schema = cat.namespace_name(row.typnamespace)?;
                parse::keywords::quote_qualified(schema.as_deref(), row.typname.as_str())
            };
            modified(cat, &name)?
        }
    };
    if is_array {
        text.push_str("[]");
    }
    Ok(text)
}

fn time_name(name: &str, zone: &str, precision: Option<i32>) -> String {
    match precision {
        Some(p) => format!("{name}({p}) {zone} time zone"),
        None => format!("{name} {zone} time zone"),
    }
}

fn type_is_visible(cat: &mut dyn Lookup, row: &PgType) -> Result<bool> {
    for &namespace in cat.search_path()?.iter() {
        if namespace == row.typnamespace {
            return Ok(true);
        }
        if cat.type_named(row.typname.as_str(), namespace)?.is_some() {
            return Ok(false);
        }
    }
    Ok(false)
}
