//! The implementation of the traits of expression compilation.

use crate::function::sql;
use crate::state::State;
use eval::{Callee, DomainCheck, Facts, FnFacts, TypeIo};
use ids::Oid;
use ids::builtin::language::{C, SQL};
use ids::code::TypType;
use pgerror::{PgError, Result, pg_err};
use plan::expr::FuncExpr;
use std::sync::Arc;
use types::compare::{self, Comparer};
use types::fn_context::TypeInfo;

/// True if the operand type is a pseudo-type for a class of types (enums, rows, arrays, ranges).
fn is_pseudo_operand(ty: Oid) -> bool {
    use types::oids::{ANYARRAY, ANYENUM, ANYMULTIRANGE, ANYRANGE, RECORD};
    matches!(ty, ANYENUM | RECORD | ANYARRAY | ANYRANGE | ANYMULTIRANGE)
}

impl State {
    fn make_function(&mut self, oid: Oid) -> Result<FnFacts> {
        let row = self.cat().function(oid)?;
        let callee = crate::function::callee(self, &row)?;
        let defaults = match &row.proargdefaults {
            Some(text) => plan::nodetree::read_exprs(text.as_str())?,
            None => Vec::new(),
        };
        let is_kernel = matches!(callee, Callee::Scalar(_)) && row.prolang != C;
        let builtin = if is_kernel { row.prosrc.as_str() } else { "" };
        Ok(FnFacts {
            oid,
            name: row.proname.as_str().to_string(),
            callee,
            kernel: eval::kernels::lookup(builtin),
            collated: types::collated::function(builtin),
            words: eval::kernels::lookup_words(builtin),
            strict: row.proisstrict,
            volatility: row.provolatile,
            cost: f64::from(row.procost),
            may_inline: row.prolang == SQL && sql::may_inline(&row),
            returns_set: row.proretset,
            result_type: row.prorettype,
            parameters: row.pronargs.max(0) as usize,
            defaults: defaults.into(),
        })
    }

    /// The properties of a type that functions need.
    pub(crate) fn type_facts(&mut self, ty: Oid) -> Result<TypeInfo> {
        if let Some(t) = types::builtin_types::get(ty) {
            return Ok(t.info);
        }
        let state = self.catalog.catalog_state();
        if let Some(known) = self.caches.created.at(state).types.get(&ty) {
            return Ok(*known);
        }
        let row = self.cat().find_type(ty)?.ok_or_else(|| State::no_type(ty))?;
        let info = TypeInfo {
            oid: ty,
            len: row.typlen,
            by_val: row.typbyval,
            align: row.typalign,
            delim: row.typdelim,
            elem: row.typelem,
            array: row.typarray,
            kind: row.typtype,
            category: row.typcategory,
            base: row.typbasetype,
            relid: row.typrelid,
        };
        self.caches.created.at(state).types.insert(ty, info);
        Ok(info)
    }

    /// The comparison function of a B-tree operator, for operands of that type under a collation.
    pub(crate) fn operand_compare(
        &mut self,
        r: &catalog::rows::PgAmop,
        ty: Oid,
        collation: Oid,
    ) -> Result<Comparer> {
        let (left, right) = (r.amoplefttype, r.amoprighttype);
        if !is_pseudo_operand(left) {
            return self.family_compare(r.amopfamily, left, right, collation);
        }
        let (ty, _) = self.cat().base_type(ty)?;
        match self.cat().family_proc(r.amopfamily, left, right, 1)? {
            Some(proc) => self.compare_function(proc, ty, collation),
            None => Facts::type_compare(self, ty, collation),
        }
    }

    /// The comparison function with this `pg_proc` OID, for values of that type under a collation.
    pub(crate) fn compare_function(
        &mut self,
        proc: Oid,
        ty: Oid,
        collation: Oid,
    ) -> Result<Comparer> {
        let row = self.cat().function(proc)?;
        let name = row.prosrc.as_str();
        let found = match types::datetime::zoned(name, &self.values.types.time_zone) {
            Some(c) => Some(c),
            None => self.cat().comparer(name, ty, collation)?,
        };
        found.ok_or_else(|| PgError::unsupported(format!("comparison by {}", row.proname.as_str())))
    }

    /// The hash function of a type, or the extended one with a seed. Counterpart:
    /// `lookup_type_cache`.
    pub(crate) fn hash_function(&mut self, ty: Oid, seeded: bool) -> Result<Arc<FnFacts>> {
        let state = self.catalog.catalog_state();
        if let Some(f) = self.caches.created.at(state).hash_functions.get(&(ty, seeded)) {
            return Ok(f.clone());
        }
        // The caller has checked that rows are hashable as far as possible; otherwise the type of a
        // column reports the error.
        let (base, _) = self.cat().base_type(ty)?;
        let ops = self.cat().type_ops_unchecked(base)?;
        let Some(proc) = ops.hash.valid() else {
            let name = self.cat().format_type(ty)?;
            let what = if seeded { "an extended hash function" } else { "a hash function" };
            return Err(pg_err!(UNDEFINED_FUNCTION, "could not identify {what} for type {name}"));
        };
        let proc = match seeded {
            false => proc,
            true => self
                .cat()
                .family_proc(ops.hash_family, ops.hash_input, ops.hash_input, 2)?
                .ok_or_else(|| PgError::internal("missing extended hash function"))?,
        };
        let f = Facts::function(self, proc)?;
        self.caches.created.at(state).hash_functions.insert((ty, seeded), f.clone());
        Ok(f)
    }
}

impl Facts for State {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>> {
        if let Some(f) = self.caches.functions.get(&oid) {
            return Ok(f.clone());
        }
        let state = self.catalog.catalog_state();
        if let Some(f) = self.caches.created.at(state).functions.get(&oid) {
            return Ok(f.clone());
        }
        let f = Arc::new(self.make_function(oid)?);
        match oid < Oid::FIRST_NORMAL {
            true => self.caches.functions.insert(oid, f.clone()),
            false => self.caches.created.at(state).functions.insert(oid, f.clone()),
        };
        Ok(f)
    }

    fn inline(&mut self, call: &FuncExpr) -> Result<Option<Arc<eval::Inline>>> {
        sql::inline(self, call)
    }

    fn operator_function(&mut self, opno: Oid) -> Result<Oid> {
        Ok(self.cat().operator(opno)?.oprcode)
    }

    fn negator(&mut self, opno: Oid) -> Result<Oid> {
        Ok(self.cat().operator(opno)?.oprnegate)
    }

    fn collation_locale(&mut self, collation: Oid) -> Result<Option<Arc<locale::Locale>>> {
        self.cat().locale(collation)
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        self.type_facts(ty)
    }

    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>> {
        if let Some(io) = self.caches.type_ios.get(&ty) {
            return Ok(io.clone());
        }
        let row = self.cat().find_type(ty)?.ok_or_else(|| State::no_type(ty))?;
        let info = self.type_facts(ty)?;
        let input = (*self.function(row.typinput)?).clone();
        let output = (*self.function(row.typoutput)?).clone();
        let io_param = if row.typelem.is_valid() { row.typelem } else { ty };
        let io = Arc::new(TypeIo { info, io_param, input, output });
        // Built-in types never change.
        if ty < Oid::FIRST_NORMAL {
            self.caches.type_ios.insert(ty, io.clone());
        }
        Ok(io)
    }

    fn type_name(&mut self, ty: Oid) -> Result<String> {
        self.cat().format_type(ty)
    }

    fn type_schema_and_name(&mut self, ty: Oid) -> Result<(String, String)> {
        let row = self.cat().find_type(ty)?.ok_or_else(|| State::no_type(ty))?;
        let schema = self.cat().namespace_name(row.typnamespace)?;
        let schema = schema.map_or(String::new(), |s| s.as_str().to_owned());
        Ok((schema, row.typname.as_str().to_owned()))
    }

    fn type_compare(&mut self, ty: Oid, collation: Oid) -> Result<Comparer> {
        if let Some(cmp) = compare::of_type(ty) {
            return match self.cat().locale(types::collated::collation_of(ty, collation))? {
                None => Ok(cmp.into()),
                Some(_) => self
                    .cat()
                    .default_comparer(ty, collation)?
                    .ok_or_else(|| PgError::internal("a built-in type without a comparison")),
            };
        }
        let ops = self.cat().type_ops(ty)?;
        match ops.cmp.valid() {
            Some(proc) => self.compare_function(proc, ty, collation),
            None => {
                let name = self.cat().format_type(ty)?;
                Err(pgerror::pg_err!(
                    UNDEFINED_FUNCTION,
                    "could not identify a comparison function for type {name}"
                ))
            }
        }
    }

    fn family_compare(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        collation: Oid,
    ) -> Result<Comparer> {
        match self.cat().family_proc(family, left, right, 1)? {
            Some(proc) => self.compare_function(proc, left, collation),
            None => Facts::type_compare(self, left, collation),
        }
    }

    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        if ty < Oid::FIRST_UNPINNED {
            return Ok((ty, -1));
        }
        let state = self.catalog.catalog_state();
        if let Some(known) = self.caches.created.at(state).base_types.get(&ty) {
            return Ok(*known);
        }
        let base = self.cat().base_type(ty)?;
        self.caches.created.at(state).base_types.insert(ty, base);
        Ok(base)
    }

    fn may_call(&mut self, functions: &[Oid]) -> Result<()> {
        crate::privileges::check_calls(self, functions)
    }

    fn domain_checks(&mut self, ty: Oid) -> Result<Arc<[DomainCheck]>> {
        let state = self.catalog.catalog_state();
        if let Some(checks) = self.caches.created.at(state).domain_checks.get(&ty) {
            return Ok(checks.clone());
        }
        let (mut out, mut not_null) = (Vec::new(), false);
        let mut at = ty;
        loop {
            let row = self.cat().find_type(at)?.ok_or_else(|| State::no_type(at))?;
            if row.typtype != TypType::Domain {
                break;
            }
            not_null |= row.typnotnull;
            let mut own = Vec::new();
            for c in self
                .cat()
                .scan(catalog::rows::indexes::PG_CONSTRAINT_CONTYPID_INDEX, &[at.into()])?
            {
                if let Some(text) = &c.conbin {
                    let check = plan::nodetree::read_expr(text.as_str())?;
                    let calls = eval::called([&check], self)?;
                    let (name, check) = (c.conname.as_str().to_string(), Some(check));
                    own.push(DomainCheck { name, check, calls });
                }
            }
            own.sort_by(|a, b| a.name.cmp(&b.name));
            // The constraints of the base domains are checked first.
            own.append(&mut out);
            out = own;
            at = row.typbasetype;
        }
        if not_null {
            out.insert(0, DomainCheck { name: String::new(), check: None, calls: Box::default() });
        }
        let checks: Arc<[DomainCheck]> = out.into();
        self.caches.created.at(state).domain_checks.insert(ty, checks.clone());
        Ok(checks)
    }
}
