//! The implementation of the traits of functions on values: settings, clocks, type conversions,
//! object names.

use crate::state::State;
use eval::{
    CallContext, Callee, Compiler, EvalState, Facts, FnFacts, HostCall, NoColumns, RowInput, RowRef,
};
use ids::Oid;
use ids::code::TypType;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoerceToDomain, CoercionForm, Const, Expr, Location};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;
use types::fn_context::{
    FnContext, RegKind, RowDesc, SessionContext, TypeCatalog, TypeFunctions, TypeInfo,
};
use types::random::Random;
use types::{Datum, DatumRef, RangeType, Settings, oids};

impl State {
    /// Calls an input, output, send or receive function.
    fn call_type_function(
        &mut self,
        f: &FnFacts,
        args: &[DatumRef<'_>],
        arg_types: &[Oid],
        result: Oid,
    ) -> Result<Datum> {
        if f.strict && args.iter().any(|a| a.is_null()) {
            return Ok(Datum::Null);
        }
        let collation = Oid::INVALID;
        self.call_support(
            f,
            HostCall { function: f.oid, collation, result_type: result, arg_types, args },
        )
    }

    /// Calls a support function: directly if it is built in, else by the function manager. The
    /// caller has checked its arguments for NULLs.
    fn call_support(&mut self, f: &FnFacts, call: HostCall<'_>) -> Result<Datum> {
        match f.callee {
            Callee::Scalar(plain) => {
                let locale = match f.collated {
                    Some(f) => self.cat().locale(f.collation(call.collation))?,
                    None => None,
                };
                let collated = f.collated.zip(locale).and_then(|(c, locale)| c.under(&locale));
                let fp = collated.unwrap_or(plain);
                let mut cx = CallContext {
                    host: self,
                    collation: call.collation,
                    arg_types: call.arg_types,
                    result_type: call.result_type,
                    variadic_array: false,
                    extra: &mut None,
                };
                fp(&mut cx, call.args)
            }
            Callee::Host => crate::function::call(self, &call),
            _ => Err(PgError::unsupported(format!("function {}", f.name))),
        }
    }

    /// Coerces a value of the base type to a domain, with the domain's checks.
    fn as_domain(&mut self, domain: Oid, base: Oid, value: Datum) -> Result<Datum> {
        let info = self.type_facts(base)?;
        let arg = Expr::Const(Const {
            consttype: base,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: info.len,
            constbyval: info.by_val,
            value,
            location: Location::UNKNOWN,
        });
        let e = Expr::CoerceToDomain(Box::new(CoerceToDomain {
            arg,
            resulttype: domain,
            resulttypmod: -1,
            resultcollid: Oid::INVALID,
            coercionformat: CoercionForm::ImplicitCast,
            location: Location::UNKNOWN,
        }));
        let program = Compiler::new(self, &mut NoColumns).compile(&e)?;
        let mut state = EvalState::default();
        let input = RowInput::scan(RowRef::Owned(&[]));
        Ok(program.eval_row(&mut state, self, &input)?.into_owned())
    }

    /// NULL as a value of the type, with the checks of a domain.
    pub(crate) fn null_input(&mut self, ty: Oid) -> Result<Datum> {
        match self.cat().base_type(ty)? {
            (base, _) if base == ty => Ok(Datum::Null),
            (base, _) => self.as_domain(ty, base, Datum::Null),
        }
    }

    fn bytes_of(d: Datum) -> Vec<u8> {
        match d {
            Datum::Bytes(b) => b.into_vec(),
            _ => Vec::new(),
        }
    }
}

impl FnContext for State {
    fn collation(&self) -> Oid {
        Oid::INVALID
    }

    fn arg_type(&self, _: usize) -> Oid {
        Oid::INVALID
    }

    fn result_type(&self) -> Oid {
        Oid::INVALID
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        &mut self.extra
    }
}

impl TypeFunctions for State {
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        self.type_facts(ty)
    }

    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        let io = Facts::type_io(self, ty)?;
        let out = self.call_type_function(&io.output, &[value], &[ty], oids::CSTRING)?;
        Ok(State::bytes_of(out))
    }

    fn type_to_json(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Option<Datum>> {
        let cast = self.cat().cast(ty, oids::JSON)?.map(|cast| cast.castfunc);
        let Some(function) = cast.filter(|f| f.is_valid()) else { return Ok(None) };
        let f = Facts::function(self, function)?;
        // The typmod and whether the cast is explicit, if the function takes them.
        let args = [value, DatumRef::Word(u64::MAX), DatumRef::Word(1)];
        let types = [ty, oids::INT4, oids::BOOL];
        let count = f.parameters.min(args.len());
        match self.call_type_function(&f, &args[..count], &types[..count], oids::JSON)? {
            Datum::Null => {
                let number = function.0;
                Err(PgError::internal(format!("function {number} returned NULL")))
            }
            json => Ok(Some(json)),
        }
    }

    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum> {
        let io = Facts::type_io(self, ty)?;
        if io.input.name == "domain_in" {
            let (base, typmod) = self.cat().base_type(ty)?;
            let value = self.type_input(base, text, typmod)?;
            return self.as_domain(ty, base, value);
        }
        let param = Datum::oid(io.io_param);
        let typmod = Datum::int4(typmod);
        let args = [DatumRef::Bytes(text), param.as_ref(), typmod.as_ref()];
        let types = [oids::CSTRING, io.io_param, oids::INT4];
        self.call_type_function(&io.input, &args, &types, ty)
    }

    fn type_domain(&mut self, domain: Oid, value: Datum) -> Result<Datum> {
        let (base, _) = self.cat().base_type(domain)?;
        self.as_domain(domain, base, value)
    }

    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        let row = self.cat().find_type(ty)?.ok_or_else(|| State::no_type(ty))?;
        let Some(send) = row.typsend.valid() else {
            let name = self.cat().format_type(ty)?;
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "no binary output function available for type {name}"
            ));
        };
        let f = Facts::function(self, send)?;
        Ok(State::bytes_of(self.call_type_function(&f, &[value], &[ty], oids::BYTEA)?))
    }

    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum> {
        let row = self.cat().find_type(ty)?.ok_or_else(|| State::no_type(ty))?;
        let Some(recv) = row.typreceive.valid() else {
            let name = self.cat().format_type(ty)?;
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "no binary input function available for type {name}"
            ));
        };
        if row.typtype == TypType::Domain {
            let (base, typmod) = self.cat().base_type(ty)?;
            let length = self.cat().find_type(base)?.map_or(-1, |row| row.typlen);
            return match (self.type_recv(base, bytes, typmod), usize::try_from(length)) {
                // The constraints of the domain are checked before the error about extra bytes is
                // reported.
                (Err(e), Ok(n)) if types::type_io::is_excess_data(&e) && n < bytes.len() => {
                    let value = self.type_recv(base, &bytes[..n], typmod)?;
                    self.as_domain(ty, base, value)?;
                    Err(e)
                }
                (value, _) => self.as_domain(ty, base, value?),
            };
        }
        let f = Facts::function(self, recv)?;
        let io_param = if row.typelem.is_valid() { row.typelem } else { ty };
        let param = Datum::oid(io_param);
        let typmod = Datum::int4(typmod);
        let args = [DatumRef::Bytes(bytes), param.as_ref(), typmod.as_ref()];
        let value =
            self.call_type_function(&f, &args, &[oids::INTERNAL, io_param, oids::INT4], ty)?;
        // A fixed-length value consists of that number of bytes, except for type name and
        // enumerations, whose values are sent as text.
        let is_text = ty == oids::NAME || row.typtype == TypType::Enum;
        if !is_text && usize::try_from(row.typlen).is_ok_and(|n| bytes.len() > n) {
            let wrong = pgerror::SqlState::INVALID_BINARY_REPRESENTATION;
            return Err(PgError::new(wrong, types::type_io::EXCESS_DATA));
        }
        Ok(value)
    }

    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering> {
        let cmp = Facts::type_compare(self, ty, collation)?;
        Ok(cmp.order(a, b, collation))
    }

    fn type_equal(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<bool> {
        if let Some(cmp) = types::compare::of_type(ty)
            && (collation < Oid::FIRST_UNPINNED || self.cat().is_deterministic(collation)?)
        {
            return Ok(cmp(a, b, collation).is_eq());
        }
        let ops = self.cat().type_ops(ty)?;
        if ops.cmp.is_valid() {
            return Ok(TypeFunctions::type_compare(self, ty, a, b, collation)?.is_eq());
        }
        // Types without an order may have an equality operator, for hashing.
        let Some(eq) = ops.eq.valid() else {
            let name = self.cat().format_type(ty)?;
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "could not identify an equality operator for type {name}"
            ));
        };
        let proc = Facts::operator_function(self, eq)?;
        let f = Facts::function(self, proc)?;
        Ok(self.call_type_function(&f, &[a, b], &[ty, ty], oids::BOOL)?.as_ref().as_bool())
    }

    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64> {
        let f = self.hash_function(ty, seed.is_some())?;
        let args = [v, DatumRef::Word(seed.unwrap_or_default())];
        let call = HostCall {
            function: f.oid,
            collation,
            result_type: oids::INT4,
            arg_types: &[ty],
            args: if seed.is_some() { &args } else { &args[..1] },
        };
        let hash = self.call_support(&f, call)?.as_ref().word();
        Ok(if seed.is_some() { hash } else { u64::from(hash as u32) })
    }

    fn type_name(&mut self, ty: Oid, typmod: Option<i32>) -> Result<String> {
        match typmod {
            Some(m) => self.cat().format_type_mod(ty, m),
            None => self.cat().format_type(ty),
        }
    }
}

impl TypeCatalog for State {
    fn locale(&mut self, collation: Oid) -> Result<Option<Arc<locale::Locale>>> {
        self.cat().locale(collation)
    }

    fn range_type(&mut self, ty: Oid) -> Result<Arc<RangeType>> {
        self.cat().range_type(ty)
    }

    fn range_difference(
        &mut self,
        ty: &RangeType,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
    ) -> Result<f64> {
        let f = Facts::function(self, ty.subdiff)?;
        let (collation, result_type) = (ty.collation, oids::FLOAT8);
        let (function, arg_types, args) = (f.oid, &[ty.elem.oid; 2][..], &[a, b][..]);
        let call = HostCall { function, collation, result_type, arg_types, args };
        Ok(self.call_support(&f, call)?.as_ref().as_f64())
    }

    fn domain_base(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        self.cat().base_type(ty)
    }

    fn row_desc(&mut self, ty: Oid, typmod: i32) -> Result<Arc<RowDesc>> {
        if ty == oids::RECORD {
            return usize::try_from(typmod)
                .ok()
                .and_then(|i| self.caches.row_types.get(i))
                .cloned()
                .ok_or_else(|| pg_err!(WRONG_OBJECT_TYPE, "record type has not been registered"));
        }
        let state = self.catalog.catalog_state();
        if let Some(known) = self.caches.created.at(state).rows.get(&ty) {
            return Ok(known.clone());
        }
        let (base, _) = Facts::base_type(self, ty)?;
        let relid = self.type_facts(base)?.relid;
        let Some(relid) = relid.valid() else {
            let name = self.cat().format_type(ty)?;
            return Err(pg_err!(WRONG_OBJECT_TYPE, "type {name} is not composite"));
        };
        let desc = self.cat().relation(relid)?.row_desc();
        self.caches.created.at(state).rows.insert(ty, desc.clone());
        Ok(desc)
    }

    fn register_row(&mut self, desc: Arc<RowDesc>) -> Result<i32> {
        let same = |a: &RowDesc, b: &RowDesc| {
            a.columns.len() == b.columns.len()
                && a.columns
                    .iter()
                    .zip(&b.columns)
                    .all(|(x, y)| x.name == y.name && x.ty == y.ty && x.typmod == y.typmod)
        };
        if let Some(i) =
            self.caches.row_types.iter().position(|d| Arc::ptr_eq(d, &desc) || same(d, &desc))
        {
            return Ok(i as i32);
        }
        let number = self.caches.row_types.len() as i32;
        let columns: Vec<(Oid, Oid)> = desc.columns.iter().map(|c| (c.ty, c.collation)).collect();
        self.caches.row_types.push(desc);
        self.cat().register_record_order(number, &columns)?;
        Ok(number)
    }

    fn enum_values(&mut self, ty: Oid) -> Result<Arc<Vec<(Oid, String)>>> {
        let rows = self.cat().enum_values(ty)?;
        let mut list: Vec<_> = rows.iter().collect();
        list.sort_by(|a, b| a.enumsortorder.total_cmp(&b.enumsortorder));
        let pairs = list.iter().map(|r| (r.oid, r.enumlabel.as_str().to_string()));
        Ok(Arc::new(pairs.collect()))
    }

    fn enum_value_is_safe(&mut self, value: Oid) -> Result<bool> {
        Ok(!self.catalog.overlay.is_new_enum_value(value))
    }

    fn enum_type_of(&mut self, value: Oid) -> Result<Oid> {
        let row = self.cat().enum_value(value)?;
        row.map(|r| r.enumtypid).ok_or_else(|| {
            pg_err!(INVALID_BINARY_REPRESENTATION, "invalid internal value for enum: {value}")
        })
    }

    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        sysfn::reg::lookup_name(self, kind, name)
    }

    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        sysfn::reg::name_of(self, kind, oid)
    }
}

impl SessionContext for State {
    fn settings(&self) -> &Settings {
        &self.values.types
    }

    fn transaction_timestamp(&self) -> i64 {
        self.transaction.start
    }

    fn statement_timestamp(&self) -> i64 {
        self.transaction.statement_start
    }

    fn clock_timestamp(&self) -> i64 {
        self.now()
    }

    fn random(&mut self) -> f64 {
        self.random.unit()
    }

    fn set_seed(&mut self, seed: f64) {
        self.random = Random::of_seed(seed);
    }

    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()> {
        self.backend.storage().env.random.fill(out);
        Ok(())
    }

    fn notice(&mut self, notice: PgError) {
        self.add_notice(notice);
    }

    fn check_interrupts(&self) -> Result<()> {
        self.backend.check_interrupts()
    }
}
