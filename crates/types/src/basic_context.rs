//! A context of function calls without catalogs.

use crate::{builtin, compare};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;
use values::builtin_types;
use values::datum::{Datum, DatumRef};
use values::fn_context::{
    FnContext, RegKind, SessionContext, TypeCatalog, TypeFunctions, TypeInfo,
};
use values::range::RangeType;
use values::settings::Settings;

/// A context for functions of built-in types without catalogs, for bootstrap, constants in
/// configuration files, and tests. Its clock is constant, and its random numbers have a fixed seed,
/// so they must not be used for secrets.
pub struct BasicContext {
    pub settings: Settings,
    pub collation: Oid,
    pub arg_types: Vec<Oid>,
    pub result_type: Oid,
    pub now: i64,
    pub notices: Vec<PgError>,
    /// For tests: the number of checks for interrupts before one reports a cancelled query; `None`:
    /// never.
    pub checks_left: Cell<Option<u32>>,
    extra: Option<Box<dyn Any + Send>>,
    seed: u64,
}

impl Default for BasicContext {
    fn default() -> Self {
        BasicContext {
            settings: Settings::default(),
            collation: ids::builtin::collation::DEFAULT,
            arg_types: Vec::new(),
            result_type: Oid::INVALID,
            now: 0,
            notices: Vec::new(),
            checks_left: Cell::new(None),
            extra: None,
            seed: 0x9E37_79B9_7F4A_7C15,
        }
    }
}

impl BasicContext {
    /// A context with these settings.
    pub fn new(settings: Settings) -> BasicContext {
        BasicContext { settings, ..BasicContext::default() }
    }

    /// Clears the call site's cache and sets the types for the next call.
    pub fn reset_call(&mut self, arg_types: &[Oid], result_type: Oid) {
        self.extra = None;
        self.arg_types = arg_types.to_vec();
        self.result_type = result_type;
    }

    fn next_word(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn call(&mut self, prosrc: &str, args: &[DatumRef<'_>]) -> Result<Datum> {
        let f = builtin::scalar(prosrc).ok_or_else(|| PgError::unsupported(prosrc))?;
        f(self, args)
    }
}

fn basic_type(ty: Oid) -> Result<&'static builtin_types::BuiltinType> {
    builtin_types::get(ty)
        .ok_or_else(|| pg_err!(INTERNAL_ERROR, "cache lookup failed for type {ty}"))
}

impl FnContext for BasicContext {
    fn collation(&self) -> Oid {
        self.collation
    }

    fn arg_type(&self, i: usize) -> Oid {
        self.arg_types.get(i).copied().unwrap_or(Oid::INVALID)
    }

    fn result_type(&self) -> Oid {
        self.result_type
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        &mut self.extra
    }
}

impl TypeFunctions for BasicContext {
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        Ok(basic_type(ty)?.info)
    }

    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        let saved = std::mem::replace(&mut self.arg_types, vec![ty]);
        let out = self.call(basic_type(ty)?.output, &[value]);
        self.arg_types = saved;
        Ok(out?.as_ref().as_bytes().to_vec())
    }

    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum> {
        let t = basic_type(ty)?;
        let param = if t.info.elem.is_valid() { t.info.elem } else { ty };
        let typmod = Datum::int4(typmod);
        let args = [DatumRef::Bytes(text), DatumRef::Word(param.0.into()), typmod.as_ref()];
        self.call(t.input, &args)
    }

    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        let out = self.call(basic_type(ty)?.send, &[value])?;
        Ok(out.as_ref().as_bytes().to_vec())
    }

    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum> {
        let t = basic_type(ty)?;
        let param = if t.info.elem.is_valid() { t.info.elem } else { ty };
        let typmod = Datum::int4(typmod);
        let args = [DatumRef::Bytes(bytes), DatumRef::Word(param.0.into()), typmod.as_ref()];
        self.call(t.receive, &args)
    }

    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering> {
        match compare::of_type(ty) {
            Some(cmp) => Ok(cmp(a, b, collation)),
            None => {
                let name = self.type_name(ty, None)?;
                Err(pg_err!(
                    UNDEFINED_FUNCTION,
                    "could not identify a comparison function for type {name}"
                ))
            }
        }
    }

    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64> {
        let name = match crate::hash_functions::function_of_type(ty) {
            Some(name) => name,
            None => {
                let name = self.type_name(ty, None)?;
                let msg = format!("could not identify a hash function for type {name}");
                return Err(PgError::new(pgerror::SqlState::UNDEFINED_FUNCTION, msg));
            }
        };
        let saved = std::mem::replace(&mut self.collation, collation);
        let out = match seed {
            None => self.call(name, &[v]).map(|h| h.as_ref().word() as u32 as u64),
            Some(seed) => {
                let extended = values::hash::extended_name(name);
                self.call(&extended, &[v, DatumRef::Word(seed)]).map(|h| h.as_ref().word())
            }
        };
        self.collation = saved;
        out
    }

    fn type_name(&mut self, ty: Oid, _typmod: Option<i32>) -> Result<String> {
        Ok(basic_type(ty)?.format_name.to_string())
    }
}

impl TypeCatalog for BasicContext {
    fn range_type(&mut self, ty: Oid) -> Result<Arc<RangeType>> {
        let missing = || PgError::internal(format!("type {ty} is not a range type"));
        crate::range::builtin(ty).ok_or_else(missing)
    }

    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        match kind {
            RegKind::Type => Ok(builtin_types::by_name(name).map(|t| t.info.oid)),
            _ => Err(PgError::unsupported(format!("name look-up of kind {kind:?}"))),
        }
    }

    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        match kind {
            RegKind::Type => Ok(builtin_types::get(oid).map(|t| t.format_name.to_string())),
            _ => Ok(None),
        }
    }
}

impl SessionContext for BasicContext {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn transaction_timestamp(&self) -> i64 {
        self.now
    }

    fn statement_timestamp(&self) -> i64 {
        self.now
    }

    fn clock_timestamp(&self) -> i64 {
        self.now
    }

    fn random(&mut self) -> f64 {
        (self.next_word() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn set_seed(&mut self, seed: f64) {
        self.seed = seed.to_bits();
    }

    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()> {
        for chunk in out.chunks_mut(8) {
            let word = self.next_word().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }

    fn notice(&mut self, notice: PgError) {
        self.notices.push(notice);
    }

    fn check_interrupts(&self) -> Result<()> {
        let Some(left) = self.checks_left.get() else { return Ok(()) };
        self.checks_left.set(Some(left.saturating_sub(1)));
        match left {
            0 => Err(pg_err!(QUERY_CANCELED, "canceling statement due to user request")),
            _ => Ok(()),
        }
    }
}
