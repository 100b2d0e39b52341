//! The [`Lookup`] of a session: rows come from the catalog caches, values from the session's type
//! functions, and table locks from the lock manager.

use crate::lookup::{
    ConstraintInfo, FunctionLookup, Lookup, OperatorCache, RelationLookup, TransitionTable,
    TypeLookup, ViewRule,
};
use crate::{stored, ty};
use catalog::rows::{
    CatalogRow, PgAggregate, PgAmop, PgCast, PgClass, PgCollation, PgConstraint, PgOpclass,
    PgOperator, PgProc, PgRange, PgType, indexes,
};
use catalog::unsupported::Change;
use catalog::{CatCx, RelDesc as Relation, Row, cache};
use ids::code::{AmopPurpose, ConType, DepType};
use ids::{AttrNo, Oid, RelKind, StrategyNumber};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use types::fn_context::FnContext;
use types::{Datum, DatumRef};

/// What analysis needs from a session.
pub trait Host {
    fn catalog(&mut self) -> CatCx<'_>;

    /// The context of type input and output functions.
    fn functions(&mut self) -> &mut dyn FnContext;

    /// Locks a relation (lock mode number) and processes pending invalidation messages.
    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()>;

    fn database_name(&mut self) -> Result<String>;

    /// Gives an analysed query its identity for statistics, if identifiers are computed.
    fn identify_statement(&mut self, query: &mut plan::Query, sql: &str) {
        let _ = (query, sql);
    }

    /// Whether `restrict_nonsystem_relation_kind` forbids the expansion of user-defined views.
    fn views_are_restricted(&mut self) -> bool {
        false
    }

    /// The transition table of this name, in a query of a trigger function.
    fn transition_table(&mut self, _name: &str) -> Option<TransitionTable> {
        None
    }

    /// `transform_null_equals`.
    fn transform_null_equals(&mut self) -> bool {
        false
    }

    /// The session clears it when catalogs or the search path change.
    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        None
    }
}

/// [`Lookup`] over a session.
pub struct SessionLookup<'a> {
    pub host: &'a mut dyn Host,
    path: Option<Arc<[Oid]>>,
}

impl<'a> SessionLookup<'a> {
    /// Look-ups of the session behind `host`.
    pub fn new(host: &'a mut dyn Host) -> SessionLookup<'a> {
        SessionLookup { host, path: None }
    }

    fn builtin(&mut self, function: Oid) -> Result<types::builtin::ScalarFn> {
        let name = match self.host.catalog().find_function(function)? {
            Some(row) => row.prosrc.as_str().to_string(),
            None => {
                return Err(PgError::internal(format!(
                    "cache lookup failed for function {function}"
                )));
            }
        };
        types::builtin::scalar(&name)
            .ok_or_else(|| PgError::unsupported(format!("function {name}")))
    }
}

impl TypeLookup for SessionLookup<'_> {
    fn type_row(&mut self, oid: Oid) -> Result<Option<Row<PgType>>> {
        self.host.catalog().find_type(oid)
    }

    fn type_named(&mut self, name: &str, namespace: Oid) -> Result<Option<Row<PgType>>> {
        self.host.catalog().search(cache::TYPENAMENSP, &[name.into(), namespace.into()])
    }

    fn cast(&mut self, source: Oid, target: Oid) -> Result<Option<Row<PgCast>>> {
        self.host.catalog().cast(source, target)
    }

    fn type_ops(&mut self, ty: Oid) -> Result<catalog::lookup::TypeOps> {
        self.host.catalog().type_ops(ty)
    }

    fn range_of(&mut self, range_type: Oid) -> Result<Option<Row<PgRange>>> {
        self.host.catalog().range(range_type)
    }

    fn range_of_multirange(&mut self, multirange_type: Oid) -> Result<Option<Oid>> {
        Ok(self.host.catalog().range_of_multirange(multirange_type)?.map(|r| r.rngtypid))
    }

    fn collation_row(&mut self, oid: Oid) -> Result<Option<Row<PgCollation>>> {
        self.host.catalog().search(cache::COLLOID, &[oid.into()])
    }

    fn collation_named(&mut self, name: &str, namespace: Oid) -> Result<Option<Oid>> {
        let mut catalog = self.host.catalog();
        for encoding in [catalog.session.encoding, -1] {
            let keys = [name.into(), encoding.into(), namespace.into()];
            if let Some(found) = catalog.search(cache::COLLNAMEENCNSP, &keys)? {
                return Ok(Some(found.oid));
            }
        }
        Ok(None)
    }

    fn input(&mut self, ty: &PgType, text: &str, typmod: i32) -> Result<Datum> {
        self.host.functions().type_input(ty.oid, text.as_bytes(), typmod)
    }

    fn typmod_in(&mut self, ty: &PgType, modifiers: &[String]) -> Result<i32> {
        let f = self.builtin(ty.typmodin)?;
        let array = cstring_array(modifiers);
        let typmod = f(self.host.functions(), &[DatumRef::Bytes(&array)])?;
        match typmod {
            Datum::Word(word) => Ok(word as i32),
            _ => Err(pg_err!(INTERNAL_ERROR, "typmod_in of type {} returned no number", ty.oid)),
        }
    }

    fn typmod_out(&mut self, ty: &PgType, typmod: i32) -> Result<String> {
        if !ty.typmodout.is_valid() {
            return Ok(if typmod < 0 { String::new() } else { format!("({typmod})") });
        }
        Ok(catalog::format_type::modifier_text(ty.oid, typmod))
    }

    fn output(&mut self, ty: &PgType, value: &Datum) -> Result<String> {
        let text = self.host.functions().type_output(ty.oid, value.as_ref())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl FunctionLookup for SessionLookup<'_> {
    fn proc_row(&mut self, oid: Oid) -> Result<Option<Row<PgProc>>> {
        self.host.catalog().find_function(oid)
    }

    fn procs_named(&mut self, name: &str) -> Result<Vec<Row<PgProc>>> {
        Ok(self.host.catalog().functions_named(name)?.to_vec())
    }

    fn operator_row(&mut self, oid: Oid) -> Result<Option<Row<PgOperator>>> {
        self.host.catalog().find_operator_row(oid)
    }

    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        self.host.operator_cache()
    }

    fn operators_named(&mut self, name: &str) -> Result<Vec<Row<PgOperator>>> {
        Ok(self.host.catalog().operators_named(name)?.to_vec())
    }

    fn aggregate(&mut self, proc: Oid) -> Result<Option<Row<PgAggregate>>> {
        self.host.catalog().find_aggregate(proc)
    }

    fn opclass_row(&mut self, oid: Oid) -> Result<Option<Row<PgOpclass>>> {
        self.host.catalog().search(cache::CLAOID, &[oid.into()])
    }

    fn opclass_named(
        &mut self,
        am: Oid,
        name: &str,
        namespace: Oid,
    ) -> Result<Option<Row<PgOpclass>>> {
        let keys = [am.into(), name.into(), namespace.into()];
        self.host.catalog().search(cache::CLAAMNAMENSP, &keys)
    }

    fn amops_of_operator(&mut self, operator: Oid) -> Result<Vec<PgAmop>> {
        let rows = self.host.catalog().operator_families(operator)?;
        Ok(rows
            .iter()
            .filter(|r| r.amoppurpose == AmopPurpose::Search)
            .map(|r| r.row.clone())
            .collect())
    }

    fn opfamily_member(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        strategy: StrategyNumber,
    ) -> Result<Option<Oid>> {
        self.host.catalog().family_member(family, left, right, strategy)
    }

    fn opfamily_proc(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        number: i16,
    ) -> Result<Option<Oid>> {
        self.host.catalog().family_proc(family, left, right, number)
    }

    fn access_method_name(&mut self, oid: Oid) -> Result<Option<String>> {
        let row = self.host.catalog().search(cache::AMOID, &[oid.into()])?;
        Ok(row.map(|r| r.amname.to_string()))
    }

    fn tablesample_handler(&mut self, names: &[&str]) -> Result<Option<Oid>> {
        let Some(name) = names.last() else { return Ok(None) };
        let rows = self.host.catalog().functions_named(name)?;
        let handler = rows.iter().find(|p| {
            p.prorettype == ty::TSM_HANDLER
                && p.proargtypes.len() == 1
                && p.proargtypes[0] == ty::INTERNAL
        });
        Ok(handler.map(|p| p.oid))
    }
}

impl RelationLookup for SessionLookup<'_> {
    fn views_are_restricted(&mut self) -> bool {
        self.host.views_are_restricted()
    }

    fn transition_table(&mut self, name: &str) -> Option<TransitionTable> {
        self.host.transition_table(name)
    }

    fn range_var(&mut self, schema: Option<&str>, name: &str, lock: i32) -> Result<Option<Oid>> {
        let mut found = self.host.catalog().find_relation(schema, name)?;
        // The name may refer to another table after the wait for the lock, so it is resolved again.
        while let (Some(oid), true) = (found, lock > 0) {
            self.host.lock_relation(oid, lock)?;
            let again = self.host.catalog().find_relation(schema, name)?;
            if again == found {
                break;
            }
            found = again;
        }
        Ok(found)
    }

    fn lock_relation(&mut self, oid: Oid, mode: i32) -> Result<()> {
        self.host.lock_relation(oid, mode)
    }

    fn relation(&mut self, oid: Oid) -> Result<Option<Arc<Relation>>> {
        if !oid.is_valid() {
            return Ok(None);
        }
        self.host.catalog().try_relation(oid)
    }

    fn check_published(&mut self, relation: &Relation, change: Change) -> Result<()> {
        self.host.catalog().check_published(relation, change)
    }

    fn check_privileges(&mut self, relation: &Relation, required: u32) -> Result<()> {
        let mut cat = self.host.catalog();
        let user = cat.session.user;
        match cat.relation_privileges(user, &relation.class, required)? & required == required {
            true => Ok(()),
            false => Err(catalog::acl::relation_denied(&relation.class)),
        }
    }

    fn check_new_rows(&mut self, relation: &Relation) -> Result<()> {
        self.host.catalog().check_new_rows(relation)
    }

    fn inherits_from(&mut self, child: Oid, parent: Oid) -> Result<bool> {
        let mut catalog = self.host.catalog();
        let mut open = vec![child];
        let mut seen: Vec<Oid> = Vec::new();
        while let Some(oid) = open.pop() {
            for row in catalog.scan(indexes::PG_INHERITS_RELID_SEQNO_INDEX, &[oid.into()])? {
                if row.inhparent == parent {
                    return Ok(true);
                }
                if !seen.contains(&row.inhparent) {
                    seen.push(row.inhparent);
                    open.push(row.inhparent);
                }
            }
        }
        Ok(false)
    }

    fn view_rule(&mut self, relation: Oid) -> Result<Option<Arc<ViewRule>>> {
        let Some(desc) = self.relation(relation)? else { return Ok(None) };
        let Some(rule) = desc.rules.iter().find(|r| r.ev_type == b'1' && r.is_instead) else {
            return Ok(None);
        };
        let query = match desc.view_query.get() {
            Some(query) => query.clone(),
            None => {
                let mut queries = stored::queries(self, rule.ev_action.as_str())?.into_iter();
                let Some(query) = queries.next() else {
                    bail!(INTERNAL_ERROR, "expected just one rule action")
                };
                desc.view_query.get_or_init(|| Arc::new(query)).clone()
            }
        };
        let option = |name: &str| {
            desc.class.reloptions.iter().flatten().any(|o| {
                o.as_str()
                    .split_once('=')
                    .is_some_and(|(n, v)| n == name && matches!(v, "true" | "on" | "yes" | "1"))
            })
        };
        Ok(Some(Arc::new(ViewRule {
            query,
            security_barrier: option("security_barrier"),
            security_invoker: option("security_invoker"),
        })))
    }

    fn column_default(&mut self, relation: Oid, column: AttrNo) -> Result<Option<String>> {
        let Some(desc) = self.relation(relation)? else { return Ok(None) };
        Ok(desc.default(column).map(|t| t.as_str().to_string()))
    }

    fn constraint_named(&mut self, relation: Oid, name: &str) -> Result<Option<ConstraintInfo>> {
        let rows = self
            .host
            .catalog()
            .scan(indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX, &[relation.into()])?;
        Ok(rows.iter().find(|c| c.conname == name).map(|c| constraint_info(c)))
    }

    fn primary_key(&mut self, relation: Oid) -> Result<Option<ConstraintInfo>> {
        let rows = self
            .host
            .catalog()
            .scan(indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX, &[relation.into()])?;
        Ok(rows.iter().find(|c| c.contype == ConType::PrimaryKey).map(|c| constraint_info(c)))
    }

    fn identity_sequence(&mut self, relation: Oid, column: AttrNo) -> Result<Option<Oid>> {
        // The sequence depends internally on its column.
        let rows = self.host.catalog().scan(
            indexes::PG_DEPEND_REFERENCE_INDEX,
            &[PgClass::RELATION.into(), relation.into(), i32::from(column).into()],
        )?;
        for row in rows {
            if row.classid == PgClass::RELATION
                && row.deptype == DepType::Internal
                && row.objsubid == 0
            {
                let class = self.host.catalog().find_class(row.objid)?;
                if class.is_some_and(|c| c.relkind == RelKind::Sequence) {
                    return Ok(Some(row.objid));
                }
            }
        }
        Ok(None)
    }
}

impl Lookup for SessionLookup<'_> {
    fn namespace_named(&mut self, name: &str) -> Result<Option<Oid>> {
        self.host.catalog().usable_namespace(name)
    }

    fn namespace_name(&mut self, oid: Oid) -> Result<Option<String>> {
        Ok(self.host.catalog().namespace_name(oid)?.map(|n| n.to_string()))
    }

    fn search_path(&mut self) -> Result<Arc<[Oid]>> {
        if let Some(path) = &self.path {
            return Ok(path.clone());
        }
        let path: Arc<[Oid]> = self.host.catalog().search_path()?.schemas.as_slice().into();
        self.path = Some(path.clone());
        Ok(path)
    }

    fn temp_namespace(&mut self) -> Result<Oid> {
        Ok(self.host.catalog().session.temp_namespace)
    }

    fn database_name(&mut self) -> Result<String> {
        self.host.database_name()
    }

    fn check_interrupts(&mut self) -> Result<()> {
        self.host.functions().check_interrupts()
    }

    fn transform_null_equals(&mut self) -> bool {
        self.host.transform_null_equals()
    }

    fn notice(&mut self, notice: PgError) {
        self.host.functions().notice(notice);
    }
}

fn constraint_info(row: &PgConstraint) -> ConstraintInfo {
    ConstraintInfo {
        oid: row.oid,
        relation: row.conrelid,
        keys: row.conkey.clone().unwrap_or_default(),
        deferrable: row.condeferrable,
    }
}

/// A `cstring[]` in array format. Five little-endian words: number of dimensions (1), data offset
/// (0: no NULLs), element type, length, lower bound (1). Then the strings, each with a terminating
/// zero byte.
fn cstring_array(items: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [1, 0, ty::CSTRING.0, items.len() as u32, 1] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for item in items {
        out.extend_from_slice(item.as_bytes());
        out.push(0);
    }
    out
}
