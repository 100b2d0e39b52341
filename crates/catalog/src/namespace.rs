//! Schemas and the search path: resolution of unqualified and qualified names.
//!
//! Counterpart: namespace.c.

use crate::cache::{self, Key, Row};
use crate::cx::{CatCx, undefined};
use crate::rows::{Name, PgOperator, PgProc, Text};
use crate::session::SearchPath;
use ids::Oid;
pub use ids::builtin::namespace::{PG_CATALOG, PG_TOAST, PUBLIC};
use ids::code::OprKind;
use pgerror::{PgError, Result, SqlState};
use sync::Arc;

/// A candidate function of a call. Counterpart: `FuncCandidateList`.
#[derive(Clone, Debug)]
pub struct FuncCandidate {
    pub row: Row<PgProc>,
    /// Position of its schema in the search path; 0 where the name was qualified.
    pub path_position: usize,
    /// Argument types in call order, with the variadic array expanded and omitted defaults removed.
    pub args: Vec<Oid>,
    /// Number of arguments that the variadic array was expanded to.
    pub variadic_count: usize,
    /// Number of omitted arguments that take their defaults.
    pub default_count: usize,
    /// With named arguments: for each element of `args`, the declared position (0-based).
    pub arg_numbers: Option<Vec<usize>>,
}

/// A candidate operator of an expression.
#[derive(Clone, Debug)]
pub struct OperCandidate {
    pub row: Row<PgOperator>,
    pub path_position: usize,
}

impl CatCx<'_> {
    /// The current search path.
    pub fn search_path(&mut self) -> Result<Arc<SearchPath>> {
        // The creation, renaming or dropping of a schema changes the state.
        let state = self.session.catalog_state();
        if let Some((path, at)) = &self.session.path
            && *at == state
        {
            return Ok(path.clone());
        }
        let path = Arc::new(self.compute_path()?);
        self.session.path = Some((path.clone(), state));
        Ok(path)
    }

    fn compute_path(&mut self) -> Result<SearchPath> {
        let setting = self.session.search_path().to_owned();
        let names = split_identifiers(&setting).ok_or_else(|| {
            PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("invalid value for parameter \"search_path\": \"{setting}\""),
            )
        })?;
        let temp = self.session.temp_namespace;
        let mut path =
            SearchPath { schemas: Vec::new(), creation: Oid::INVALID, temp_creation: false };
        let mut first = true;
        for name in names {
            let schema = match name.as_str() {
                "$user" => {
                    let role = self.search(cache::AUTHOID, &[self.session.user.into()])?;
                    match role {
                        Some(role) => self.find_namespace_bytes(role.rolname.as_bytes())?,
                        None => None,
                    }
                }
                "pg_temp" => {
                    if !temp.is_valid() && first {
                        path.temp_creation = true;
                        first = false;
                    }
                    temp.valid()
                }
                name => self.find_namespace(name)?,
            };
            let Some(schema) = schema else { continue };
            if path.schemas.contains(&schema) || !self.may_use_namespace(schema)? {
                continue;
            }
            if first {
                path.creation = schema;
                first = false;
            }
            path.schemas.push(schema);
        }
        if !path.schemas.contains(&PG_CATALOG) {
            path.schemas.insert(0, PG_CATALOG);
        }
        if temp.is_valid() && !path.schemas.contains(&temp) {
            path.schemas.insert(0, temp);
        }
        Ok(path)
    }

    /// OID of the schema with this name; `pg_temp` is the session's own temporary schema.
    pub fn find_namespace(&mut self, name: &str) -> Result<Option<Oid>> {
        if name == "pg_temp" {
            return Ok(self.session.temp_namespace.valid());
        }
        self.find_namespace_bytes(name.as_bytes())
    }

    fn find_namespace_bytes(&mut self, name: &[u8]) -> Result<Option<Oid>> {
        Ok(self.search(cache::NAMESPACENAME, &[Key::Name(name)])?.map(|n| n.oid))
    }

    /// Like [`CatCx::usable_namespace`]; 3F000 where it does not exist.
    pub fn namespace(&mut self, name: &str) -> Result<Oid> {
        self.usable_namespace(name)?.ok_or_else(|| {
            undefined(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
        })
    }

    /// The schema of a qualified name; 42501 without USAGE on it. Counterpart:
    /// `LookupExplicitNamespace`.
    pub fn usable_namespace(&mut self, name: &str) -> Result<Option<Oid>> {
        let Some(oid) = self.find_namespace(name)? else { return Ok(None) };
        if !self.may_use_namespace(oid)? {
            return Err(PgError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied for schema {name}"),
            ));
        }
        Ok(Some(oid))
    }

    /// The name of a schema; `None` where it does not exist.
    pub fn namespace_name(&mut self, oid: Oid) -> Result<Option<Name>> {
        Ok(self.search(cache::NAMESPACEOID, &[oid.into()])?.map(|n| n.nspname))
    }

    /// As [`Self::namespace_name`], `pg_temp` for the session's temporary schema.
    pub fn namespace_name_or_temp(&mut self, oid: Oid) -> Result<Option<Name>> {
        match oid == self.session.temp_namespace && oid.is_valid() {
            true => Ok(Some(Name::new("pg_temp"))),
            false => self.namespace_name(oid),
        }
    }

    fn may_use_namespace(&mut self, oid: Oid) -> Result<bool> {
        let user = self.session.user;
        Ok(self.schema_privileges(user, oid, crate::acl::USAGE)? != 0)
    }

    /// The schema for new objects: the given one, else the first of the path (3F000 where there is
    /// none).
    pub fn creation_namespace(&mut self, schema: Option<&str>) -> Result<Oid> {
        if let Some(schema) = schema {
            return self.namespace(schema);
        }
        let path = self.search_path()?;
        path.creation.valid().ok_or_else(|| {
            PgError::new(SqlState::UNDEFINED_SCHEMA, "no schema has been selected to create in")
        })
    }

    // Relations

    /// Counterpart: `RangeVarGetRelid` without lock and with `missing_ok`. A missing schema gives
    /// `None` too.
    pub fn find_relation(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        if let Some(schema) = schema {
            if self.find_namespace(schema)?.is_none() {
                return Ok(None);
            }
            let schema = self.namespace(schema)?;
            return self.relation_in(schema, name);
        }
        for &schema in &self.search_path()?.schemas {
            if let Some(oid) = self.relation_in(schema, name)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// OID of the relation; 42P01 where it does not exist.
    pub fn relation_oid(&mut self, schema: Option<&str>, name: &str) -> Result<Oid> {
        self.find_relation(schema, name)?.ok_or_else(|| {
            let name = qualified(schema, name);
            undefined(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
        })
    }

    /// OID of the relation with this name in a schema.
    pub fn relation_in(&mut self, schema: Oid, name: &str) -> Result<Option<Oid>> {
        Ok(self.search(cache::RELNAMENSP, &[name.into(), schema.into()])?.map(|c| c.oid))
    }

    /// Whether the unqualified name of the relation finds it along the search path. Counterpart:
    /// `RelationIsVisible`.
    pub fn is_relation_visible(&mut self, oid: Oid) -> Result<bool> {
        let Some(row) = self.search(cache::RELOID, &[oid.into()])? else { return Ok(false) };
        for &schema in &self.search_path()?.schemas {
            let found = self.search(cache::RELNAMENSP, &[(&row.relname).into(), schema.into()])?;
            if let Some(found) = found {
                return Ok(found.oid == oid);
            }
        }
        Ok(false)
    }

    // Types

    /// OID of the type with this name; `None` where the schema or type does not exist.
    pub fn find_type_by_name(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        if let Some(schema) = schema {
            let Some(schema) = self.usable_namespace(schema)? else { return Ok(None) };
            return self.type_in(schema, name);
        }
        for &schema in &self.search_path()?.schemas {
            if let Some(oid) = self.type_in(schema, name)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// OID of the type with this name in a schema.
    pub fn type_in(&mut self, schema: Oid, name: &str) -> Result<Option<Oid>> {
        Ok(self.search(cache::TYPENAMENSP, &[name.into(), schema.into()])?.map(|t| t.oid))
    }

    /// Whether the unqualified name of the type finds it along the search path. Counterpart:
    /// `TypeIsVisible`.
    pub fn is_type_visible(&mut self, oid: Oid) -> Result<bool> {
        let Some(row) = self.search(cache::TYPEOID, &[oid.into()])? else { return Ok(false) };
        for &schema in &self.search_path()?.schemas {
            let found = self.search(cache::TYPENAMENSP, &[(&row.typname).into(), schema.into()])?;
            if let Some(found) = found {
                return Ok(found.oid == oid);
            }
        }
        Ok(false)
    }

    // Functions

    /// The functions with this name that can be called with `arg_count` arguments (`None`: any
    /// number). `arg_names` are the names of the trailing arguments. Of candidates with equal
    /// argument types only the first in the path is kept. Counterpart: `FuncnameGetCandidates`.
    pub fn function_candidates(
        &mut self,
        schema: Option<&str>,
        name: &str,
        arg_count: Option<usize>,
        arg_names: &[&str],
        expand_variadic: bool,
        expand_defaults: bool,
    ) -> Result<Vec<FuncCandidate>> {
        let schema = match schema {
            Some(schema) => Some(self.namespace(schema)?),
            None => None,
        };
        let rows = self.list(cache::PROCNAMEARGSNSP, &[name.into()])?;
        let path = self.search_path()?;
        let temp = self.session.temp_namespace;
        let mut found: Vec<FuncCandidate> = Vec::new();
        for row in rows.iter() {
            let path_position = match schema {
                Some(schema) if row.pronamespace != schema => continue,
                Some(_) => 0,
                None => match path.without_temp(temp).position(|s| s == row.pronamespace) {
                    Some(position) => position + 1,
                    None => continue,
                },
            };
            let candidate = match_call(row, arg_count, arg_names, expand_variadic, expand_defaults);
            if let Some(mut candidate) = candidate {
                candidate.path_position = path_position;
                add_candidate(&mut found, candidate, arg_count.is_some());
            }
        }
        Ok(found)
    }

    /// Whether the unqualified name of the function finds it along the search path. Counterpart:
    /// `FunctionIsVisible`.
    pub fn is_function_visible(&mut self, oid: Oid) -> Result<bool> {
        let Some(row) = self.search(cache::PROCOID, &[oid.into()])? else { return Ok(false) };
        let args = row.proargtypes.clone();
        let path = self.search_path()?;
        let temp = self.session.temp_namespace;
        for schema in path.without_temp(temp) {
            let keys = [(&row.proname).into(), (&args).into(), schema.into()];
            if let Some(found) = self.search(cache::PROCNAMEARGSNSP, &keys)? {
                return Ok(found.oid == oid);
            }
        }
        Ok(false)
    }

    // Operators

    /// The operator with exactly these operand types (0: no left operand). Counterpart:
    /// `OpernameGetOprid`.
    pub fn find_operator(
        &mut self,
        schema: Option<&str>,
        name: &str,
        left: Oid,
        right: Oid,
    ) -> Result<Option<Oid>> {
        let schemas = match schema {
            Some(schema) => match self.usable_namespace(schema)? {
                Some(schema) => vec![schema],
                None => return Ok(None),
            },
            None => {
                let temp = self.session.temp_namespace;
                self.search_path()?.without_temp(temp).collect()
            }
        };
        let rows = self.list(cache::OPERNAMENSP, &[name.into(), left.into(), right.into()])?;
        let in_schema = |schema: &Oid| rows.iter().find(|r| r.oprnamespace == *schema);
        Ok(schemas.iter().find_map(in_schema).map(|r| r.oid))
    }

    /// The operators of a kind with this name. Counterpart:
    /// `OpernameGetCandidates`.
    pub fn operator_candidates(
        &mut self,
        schema: Option<&str>,
        name: &str,
        kind: OprKind,
    ) -> Result<Vec<OperCandidate>> {
        let schema = match schema {
            Some(schema) => Some(self.namespace(schema)?),
            None => None,
        };
        let rows = self.list(cache::OPERNAMENSP, &[name.into()])?;
        let path = self.search_path()?;
        let temp = self.session.temp_namespace;
        let mut found: Vec<OperCandidate> = Vec::new();
        for row in rows.iter().filter(|r| r.oprkind == kind) {
            let path_position = match schema {
                Some(schema) if row.oprnamespace != schema => continue,
                Some(_) => 0,
                None => match path.without_temp(temp).position(|s| s == row.oprnamespace) {
                    Some(position) => position + 1,
                    None => continue,
                },
            };
            let same = found
                .iter_mut()
                .find(|c| c.row.oprleft == row.oprleft && c.row.oprright == row.oprright);
            match same {
                Some(earlier) if earlier.path_position <= path_position => {}
                Some(later) => *later = OperCandidate { row: row.clone(), path_position },
                None => found.push(OperCandidate { row: row.clone(), path_position }),
            }
        }
        Ok(found)
    }

    /// Whether the unqualified name of the operator finds it along the search path. Counterpart:
    /// `OperatorIsVisible`.
    pub fn is_operator_visible(&mut self, oid: Oid) -> Result<bool> {
        let Some(row) = self.search(cache::OPEROID, &[oid.into()])? else { return Ok(false) };
        let name = row.oprname;
        Ok(self.find_operator(None, name.as_str(), row.oprleft, row.oprright)? == Some(oid))
    }

    // Collations, operator classes and families, statistics, conversions, text search objects

    /// OID of a collation that is valid for the database encoding. Counterpart: `get_collation_oid`
    /// with `missing_ok`.
    pub fn find_collation(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        let schemas = self.schemas_for(schema)?;
        let encoding = self.session.encoding;
        for schema in schemas {
            for encoding in [encoding, -1] {
                let keys = [name.into(), encoding.into(), schema.into()];
                if let Some(found) = self.search(cache::COLLNAMEENCNSP, &keys)? {
                    return Ok(Some(found.oid));
                }
            }
        }
        Ok(None)
    }

    /// The schemas of the search path without the temporary one. Only relations and types are found
    /// in the temporary schema by an unqualified name.
    pub fn persistent_schemas(&mut self) -> Result<Vec<Oid>> {
        let temp = self.session.temp_namespace;
        Ok(self.search_path()?.without_temp(temp).collect())
    }

    /// Whether the unqualified name finds this statistics object along the search path.
    /// Counterpart: `StatisticsObjIsVisible`.
    pub fn is_visible_statistics(&mut self, oid: Oid, name: &str) -> Result<bool> {
        for schema in self.schemas_for(None)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::STATEXTNAMENSP, &keys)? {
                return Ok(found.oid == oid);
            }
        }
        Ok(false)
    }

    /// As [`CatCx::find_collation`]; 42704 where it does not exist.
    pub fn collation_oid(&mut self, schema: Option<&str>, name: &str) -> Result<Oid> {
        let found = self.find_collation(schema, name)?;
        found.ok_or_else(|| {
            let encoding = crate::encoding::name(self.session.encoding);
            let name = qualified(schema, name);
            undefined(
                SqlState::UNDEFINED_OBJECT,
                format!("collation \"{name}\" for encoding \"{encoding}\" does not exist"),
            )
        })
    }

    /// OID of an operator class of an access method; `None` where the schema or class does not
    /// exist.
    pub fn find_opclass(
        &mut self,
        am: Oid,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [am.into(), name.into(), schema.into()];
            if let Some(found) = self.search(cache::CLAAMNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of an operator family of an access method; `None` where the schema or family does not
    /// exist.
    pub fn find_opfamily(
        &mut self,
        am: Oid,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [am.into(), name.into(), schema.into()];
            if let Some(found) = self.search(cache::OPFAMILYAMNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of a conversion; `None` where the schema or conversion does not exist.
    pub fn find_conversion(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::CONNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of a text search configuration; `None` where the schema or configuration does not exist.
    pub fn find_ts_config(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::TSCONFIGNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of a text search dictionary; `None` where the schema or dictionary does not exist.
    pub fn find_ts_dict(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::TSDICTNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of a text search parser; `None` where the schema or parser does not exist.
    pub fn find_ts_parser(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::TSPARSERNAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// OID of a text search template; `None` where the schema or template does not exist.
    pub fn find_ts_template(&mut self, schema: Option<&str>, name: &str) -> Result<Option<Oid>> {
        for schema in self.schemas_for(schema)? {
            let keys = [name.into(), schema.into()];
            if let Some(found) = self.search(cache::TSTEMPLATENAMENSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    /// The schemas searched for a name of an object that is not a relation or type.
    fn schemas_for(&mut self, schema: Option<&str>) -> Result<Vec<Oid>> {
        match schema {
            Some(schema) => Ok(vec![self.namespace(schema)?]),
            None => self.persistent_schemas(),
        }
    }
}

/// `schema.name` as displayed in messages.
pub fn qualified(schema: Option<&str>, name: &str) -> String {
    schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"))
}

/// The candidate, if the function can be called with this number of arguments and these argument
/// names.
fn match_call(
    row: &Row<PgProc>,
    arg_count: Option<usize>,
    arg_names: &[&str],
    expand_variadic: bool,
    expand_defaults: bool,
) -> Option<FuncCandidate> {
    let declared = row.proargtypes.len();
    let defaults = row.pronargdefaults as usize;
    let mut candidate = FuncCandidate {
        row: row.clone(),
        path_position: 0,
        args: row.proargtypes.to_vec(),
        variadic_count: 0,
        default_count: 0,
        arg_numbers: None,
    };
    let Some(count) = arg_count else { return Some(candidate) };
    if !arg_names.is_empty() {
        // Named notation does not allow the expansion of a variadic array.
        if expand_variadic && row.provariadic.is_valid() && count > declared {
            return None;
        }
        if count > declared
            || (count < declared && !(expand_defaults && count + defaults >= declared))
        {
            return None;
        }
        let numbers = match_named(row, count, arg_names)?;
        candidate.args = numbers.iter().map(|&n| row.proargtypes[n]).collect();
        candidate.default_count = declared - count;
        candidate.arg_numbers = Some(numbers);
        return Some(candidate);
    }
    if expand_variadic && row.provariadic.is_valid() && count >= declared {
        let expanded = count + 1 - declared;
        candidate.args.pop();
        candidate.args.extend(std::iter::repeat_n(row.provariadic, expanded));
        candidate.variadic_count = expanded;
        return Some(candidate);
    }
    if count > declared {
        return None;
    }
    if count < declared {
        if !(expand_defaults && count + defaults >= declared) {
            return None;
        }
        candidate.args.truncate(count);
        candidate.default_count = declared - count;
    }
    Some(candidate)
}

/// Declared positions of the arguments of a call whose trailing ones are named, followed by those
/// that take defaults.
fn match_named(row: &PgProc, count: usize, arg_names: &[&str]) -> Option<Vec<usize>> {
    let declared = row.proargtypes.len();
    let names = row.proargnames.as_ref()?;
    let is_input =
        |i: usize| row.proargmodes.as_ref().is_none_or(|m| m.get(i).is_some_and(|m| m.is_input()));
    let inputs: Vec<&Text> =
        names.iter().enumerate().filter(|(i, _)| is_input(*i)).map(|(_, n)| n).collect();
    let positional = count - arg_names.len();
    let mut numbers: Vec<usize> = (0..positional).collect();
    for name in arg_names {
        let at = inputs.iter().position(|n| **n == *name)?;
        if numbers.contains(&at) {
            return None;
        }
        numbers.push(at);
    }
    // The remaining parameters must have defaults, in declared order.
    let first_default = declared - row.pronargdefaults as usize;
    for i in 0..declared {
        if !numbers.contains(&i) {
            if i < first_default {
                return None;
            }
            numbers.push(i);
        }
    }
    Some(numbers)
}

/// Adds a candidate unless there is one with the same argument types. The one earlier in the path
/// is kept; within a schema, the one that is not variadic-expanded.
fn add_candidate(found: &mut Vec<FuncCandidate>, new: FuncCandidate, compare: bool) {
    if !compare {
        // Without an argument count all overloads are kept, except those hidden by an earlier
        // schema.
        let hidden = found.iter_mut().find(|c| c.args == new.args);
        match hidden {
            Some(old) if old.path_position <= new.path_position => {}
            Some(old) => *old = new,
            None => found.push(new),
        }
        return;
    }
    let effective = |c: &FuncCandidate| {
        let given = c.args.len() - if c.arg_numbers.is_some() { c.default_count } else { 0 };
        c.args[..given].to_vec()
    };
    let args = effective(&new);
    match found.iter_mut().find(|c| effective(c) == args) {
        None => found.push(new),
        Some(old) => {
            let rank = |c: &FuncCandidate| (c.path_position, c.variadic_count > 0, c.default_count);
            if rank(&new) < rank(old) {
                *old = new;
            }
        }
    }
}

/// Splits a list of identifiers at commas.
pub fn split_identifiers(text: &str) -> Option<Vec<String>> {
    types::string::split_identifiers_at(text, ',')
}
