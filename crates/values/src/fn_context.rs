//! The call context of functions ([`FnContext`]): everything besides their arguments.

use crate::datum::{Datum, DatumRef};
use crate::range::RangeType;
use crate::settings::Settings;
use ids::Oid;
use ids::code::{Align, TypCategory, TypType};
use locale::Locale;
use pgerror::{PgError, Result, pg_err};
use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

/// Properties of a type (`pg_type`) that functions need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    pub oid: Oid,
    /// `typlen`: bytes, -1 varlena, -2 cstring.
    pub len: i16,
    pub by_val: bool,
    pub align: Align,
    pub delim: u8,
    /// Element type of an array type, true or of fixed length (`typelem`).
    pub elem: Oid,
    /// The array type of this type (`typarray`).
    pub array: Oid,
    pub kind: TypType,
    pub category: TypCategory,
    /// `typbasetype` of a domain.
    pub base: Oid,
    /// `typrelid` of a composite type.
    pub relid: Oid,
}

/// A column of a row type.
#[derive(Clone, Debug)]
pub struct RowColumn {
    pub name: String,
    pub ty: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub dropped: Option<Dropped>,
}

/// Storage properties (`attlen`, `attbyval`, `attalign`) of a dropped column, which older rows
/// still contain.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    pub len: i16,
    pub by_val: bool,
    pub align: Align,
}

impl RowColumn {
    /// Whether the column was dropped.
    pub fn is_dropped(&self) -> bool {
        self.dropped.is_some()
    }

    /// The storage properties of the column, also if it is dropped.
    pub fn type_info(&self, cx: &mut dyn FnContext) -> Result<TypeInfo> {
        match self.dropped {
            None => cx.type_info(self.ty),
            Some(d) => Ok(TypeInfo {
                len: d.len,
                by_val: d.by_val,
                align: d.align,
                ..cx.type_info(ids::builtin::ty::INT4)?
            }),
        }
    }
}

/// The columns of a row type.
#[derive(Clone, Debug, Default)]
pub struct RowDesc {
    pub columns: Vec<RowColumn>,
    /// The largest LSN at which the definition of a column's type was changed; 0 if the columns'
    /// types have no such version.
    pub version: u64,
    types: OnceLock<Box<[TypeInfo]>>,
}

impl RowDesc {
    /// `columns` are in order of their numbers; see [`RowDesc::version`].
    pub fn new(columns: Vec<RowColumn>, version: u64) -> RowDesc {
        RowDesc { columns, version, types: OnceLock::new() }
    }

    /// Storage properties of the columns. They never change, so they are looked up once and cached.
    pub fn types(&self, cx: &mut dyn FnContext) -> Result<&[TypeInfo]> {
        if let Some(types) = self.types.get() {
            return Ok(types);
        }
        let types = self.columns.iter().map(|c| c.type_info(cx)).collect::<Result<_>>()?;
        Ok(self.types.get_or_init(|| types))
    }
}

/// The columns of a column definition list with which a function in FROM is called. They are in
/// [`FnContext::extra`] when the call begins.
#[derive(Clone, Debug)]
pub struct DefinedRow(pub Arc<RowDesc>);

/// The `reg*` types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegKind {
    Proc,
    Procedure,
    Oper,
    Operator,
    Class,
    Collation,
    Type,
    Role,
    Namespace,
    Config,
    Dictionary,
}

/// The functions of a type: those that its row in `pg_type` names, and those of its default
/// operator classes.
pub trait TypeFunctions {
    /// Properties of a type; an error if it does not exist.
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo>;

    /// Converts to text by the type's output function. `value` is not NULL.
    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>>;

    /// Converts to json by the function of a cast from the type, if there is one. `value` is not
    /// NULL.
    fn type_to_json(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Option<Datum>> {
        let _ = (ty, value);
        Ok(None)
    }

    /// Converts from text by the type's input function.
    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum>;

    /// Converts to binary by the type's send function.
    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>>;

    /// Converts from binary by the type's receive function.
    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum>;

    /// Compares by the type's default B-tree operator class.
    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering>;

    /// Tests equality by the type's default operator class.
    fn type_equal(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<bool> {
        Ok(self.type_compare(ty, a, b, collation)? == Ordering::Equal)
    }

    /// Hashes by the type's default hash operator class; 32 bits if `seed` is `None`.
    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64>;

    /// A value of a domain's base type as a value of the domain. An error if it violates a
    /// constraint.
    fn type_domain(&mut self, domain: Oid, value: Datum) -> Result<Datum> {
        let _ = value;
        Err(PgError::unsupported(format!("domain {domain}")))
    }

    /// The type's name as `format_type` writes it.
    fn type_name(&mut self, ty: Oid, typmod: Option<i32>) -> Result<String>;
}

/// Catalog look-ups of types, and of the objects that `reg*` values refer to. The default bodies
/// are for contexts without catalogs.
pub trait TypeCatalog {
    /// The range type with this OID, or whose multirange type has this OID. Error XX000 if it is
    /// neither.
    fn range_type(&mut self, ty: Oid) -> Result<Arc<RangeType>> {
        Err(PgError::internal(format!("type {ty} is not a range type")))
    }

    /// The difference of two values of a range type's subtype by its `subtype_diff` function, which
    /// it must have.
    fn range_difference(
        &mut self,
        ty: &RangeType,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
    ) -> Result<f64> {
        let _ = (a, b);
        Err(PgError::unsupported(format!("function {}", ty.subdiff)))
    }

    /// The locale of a collation; `None` if it orders by bytes and has no letters of its own.
    fn locale(&mut self, collation: Oid) -> Result<Option<Arc<Locale>>> {
        let _ = collation;
        Ok(None)
    }

    /// The type below all domains, and its type modifier.
    fn domain_base(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        Ok((ty, -1))
    }

    /// The columns of a composite type, or of a registered record type (`ty` is record and the
    /// typmod identifies it).
    fn row_desc(&mut self, ty: Oid, typmod: i32) -> Result<Arc<RowDesc>> {
        let _ = typmod;
        Err(PgError::unsupported(format!("row type {ty}")))
    }

    /// Registers an anonymous row type and returns its typmod.
    fn register_row(&mut self, desc: Arc<RowDesc>) -> Result<i32> {
        let _ = desc;
        Err(PgError::unsupported("anonymous row type"))
    }

    /// The labels of an enum type in order, each with its OID.
    fn enum_values(&mut self, ty: Oid) -> Result<Arc<Vec<(Oid, String)>>> {
        Err(PgError::unsupported(format!("enum type {ty}")))
    }

    /// Whether the enum value is safe to use: the transaction that added it has committed.
    fn enum_value_is_safe(&mut self, value: Oid) -> Result<bool> {
        let _ = value;
        Ok(true)
    }

    /// The enum type that a value belongs to.
    fn enum_type_of(&mut self, value: Oid) -> Result<Oid> {
        Err(PgError::unsupported(format!("enum value {value}")))
    }

    /// Resolves the name of a `reg*` type's object; `None` if there is no such object.
    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        let _ = name;
        Err(PgError::unsupported(format!("name look-up of kind {kind:?}")))
    }

    /// The name under which a `reg*` type shows an object; `None` if there is no such object.
    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        let _ = (kind, oid);
        Ok(None)
    }
}

/// The session in which a function is called: its parameters, clock, random numbers, notices and
/// interrupts.
pub trait SessionContext {
    fn settings(&self) -> &Settings;

    /// Start of the transaction: microseconds since 2000-01-01 00:00 UTC.
    fn transaction_timestamp(&self) -> i64;

    /// Arrival of the statement: microseconds since 2000-01-01 00:00 UTC.
    fn statement_timestamp(&self) -> i64;

    /// The clock: microseconds since 2000-01-01 00:00 UTC.
    fn clock_timestamp(&self) -> i64;

    /// The next number of the session's random number generator, in [0, 1).
    fn random(&mut self) -> f64;

    /// `setseed`.
    fn set_seed(&mut self, seed: f64);

    /// Fills `out` with cryptographically strong random bytes.
    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()>;

    /// Reports a notice or warning (the error value has the severity).
    fn notice(&mut self, notice: PgError);

    /// An error if the query was cancelled. Long loops must call it.
    fn check_interrupts(&self) -> Result<()> {
        Ok(())
    }
}

/// The context of a function call: the call itself, the session and the types.
pub trait FnContext: TypeFunctions + TypeCatalog + SessionContext {
    /// The call's collation; the invalid OID if the function does not depend on one.
    fn collation(&self) -> Oid;

    /// Type of argument `i` (0-based) after analysis; the invalid OID if it is not known.
    fn arg_type(&self, i: usize) -> Oid;

    /// The call's result type; the invalid OID if it is not known.
    fn result_type(&self) -> Oid;

    /// Whether the call was written with VARIADIC, so that the last argument is an array of
    /// arguments. Only VARIADIC "any" functions read this.
    fn variadic_array(&self) -> bool {
        false
    }

    /// State that the function keeps between its calls at this call site, such as a compiled
    /// pattern; `None` before the first call. Counterpart: `fn_extra`.
    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>>;
}

/// Counts the iterations of a loop and checks for interrupts after every 1,024 of them.
#[derive(Default)]
pub struct InterruptTicker(u32);

impl InterruptTicker {
    /// Counts an iteration. Fails if the query was cancelled or uses too much memory.
    #[inline]
    pub fn tick(&mut self, cx: &dyn FnContext) -> Result<()> {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(1024) { cx.check_interrupts() } else { Ok(()) }
    }
}

/// An [`InterruptTicker`] with its context, for code that uses the context for nothing else.
pub struct InterruptChecker<'a> {
    cx: &'a dyn SessionContext,
    rounds: Cell<u32>,
}

impl<'a> InterruptChecker<'a> {
    /// A checker for the interrupts of the session of `cx`.
    pub fn new(cx: &'a dyn SessionContext) -> InterruptChecker<'a> {
        InterruptChecker { cx, rounds: Cell::new(0) }
    }

    /// Counts an iteration. Fails if the query was cancelled or uses too much memory.
    #[inline]
    pub fn tick(&self) -> Result<()> {
        let rounds = self.rounds.get().wrapping_add(1);
        self.rounds.set(rounds);
        if rounds.is_multiple_of(1024) { self.cx.check_interrupts() } else { Ok(()) }
    }

    /// The session's `max_stack_depth` in kB.
    pub fn max_stack_kb(&self) -> u32 {
        self.cx.settings().max_stack_kb
    }

    /// Whether a value may have this many levels of nesting. `most` is the limit for the default of
    /// `max_stack_depth`; with a smaller setting it is proportional.
    pub fn allows_depth(&self, depth: u32, most: u32) -> bool {
        let kb = self.max_stack_kb().min(Settings::MAX_STACK_KB);
        u64::from(depth) <= u64::from(most) * u64::from(kb) / u64::from(Settings::MAX_STACK_KB)
    }

    /// 54001: a value is nested too deeply.
    #[cold]
    pub fn too_deep(&self) -> PgError {
        let kb = self.max_stack_kb();
        pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(format!(
            "Increase the configuration parameter \"max_stack_depth\" (currently {kb}kB), after \
             ensuring the platform's stack depth limit is adequate."
        ))
    }

    /// Checks for interrupts at once, after a step that takes longer than an ordinary iteration.
    pub fn check(&self) -> Result<()> {
        self.cx.check_interrupts()
    }
}

/// Implements the traits of a [`FnContext`] that do not depend on the called function by forwarding
/// to another context: `delegate_fn_context! { CallContext<'_>, self, self.host }`, where `host` is
/// a reference or a box.
#[macro_export]
macro_rules! delegate_fn_context {
    ($context:ty, $self:ident, $to:expr) => {
        impl $crate::fn_context::TypeFunctions for $context {
            $crate::fn_context::delegate_fn_context! { @ $self, $to, TypeFunctions,
                type_info(ty: ids::Oid) -> $crate::fn_context::TypeInfo;
                type_output(ty: ids::Oid, value: $crate::datum::DatumRef<'_>) -> Vec<u8>;
                type_to_json(ty: ids::Oid, value: $crate::datum::DatumRef<'_>)
                    -> Option<$crate::datum::Datum>;
                type_input(ty: ids::Oid, text: &[u8], typmod: i32) -> $crate::datum::Datum;
                type_send(ty: ids::Oid, value: $crate::datum::DatumRef<'_>) -> Vec<u8>;
                type_recv(ty: ids::Oid, bytes: &[u8], typmod: i32) -> $crate::datum::Datum;
                type_compare(
                    ty: ids::Oid, a: $crate::datum::DatumRef<'_>, b: $crate::datum::DatumRef<'_>,
                    collation: ids::Oid
                ) -> std::cmp::Ordering;
                type_equal(
                    ty: ids::Oid, a: $crate::datum::DatumRef<'_>, b: $crate::datum::DatumRef<'_>,
                    collation: ids::Oid
                ) -> bool;
                type_hash(
                    ty: ids::Oid, v: $crate::datum::DatumRef<'_>, collation: ids::Oid,
                    seed: Option<u64>
                ) -> u64;
                type_domain(domain: ids::Oid, value: $crate::datum::Datum) -> $crate::datum::Datum;
                type_name(ty: ids::Oid, typmod: Option<i32>) -> String;
            }
        }

        impl $crate::fn_context::TypeCatalog for $context {
            $crate::fn_context::delegate_fn_context! { @ $self, $to, TypeCatalog,
                range_type(ty: ids::Oid) -> std::sync::Arc<$crate::range::RangeType>;
                range_difference(
                    ty: &$crate::range::RangeType, a: $crate::datum::DatumRef<'_>,
                    b: $crate::datum::DatumRef<'_>
                ) -> f64;
                locale(collation: ids::Oid) -> Option<std::sync::Arc<$crate::locale::Locale>>;
                domain_base(ty: ids::Oid) -> (ids::Oid, i32);
                row_desc(ty: ids::Oid, typmod: i32) -> std::sync::Arc<$crate::fn_context::RowDesc>;
                register_row(desc: std::sync::Arc<$crate::fn_context::RowDesc>) -> i32;
                enum_values(ty: ids::Oid) -> std::sync::Arc<Vec<(ids::Oid, String)>>;
                enum_value_is_safe(value: ids::Oid) -> bool;
                enum_type_of(value: ids::Oid) -> ids::Oid;
                reg_lookup(kind: $crate::fn_context::RegKind, name: &str) -> Option<ids::Oid>;
                reg_name(kind: $crate::fn_context::RegKind, oid: ids::Oid) -> Option<String>;
            }
        }

        impl $crate::fn_context::SessionContext for $context {
            $crate::fn_context::delegate_fn_context! { @ $self, $to, SessionContext,
                random_bytes(out: &mut [u8]) -> ();
            }

            fn settings(&$self) -> &$crate::settings::Settings {
                $crate::fn_context::SessionContext::settings(&*$to)
            }

            fn transaction_timestamp(&$self) -> i64 {
                $crate::fn_context::SessionContext::transaction_timestamp(&*$to)
            }

            fn statement_timestamp(&$self) -> i64 {
                $crate::fn_context::SessionContext::statement_timestamp(&*$to)
            }

            fn clock_timestamp(&$self) -> i64 {
                $crate::fn_context::SessionContext::clock_timestamp(&*$to)
            }

            fn random(&mut $self) -> f64 {
                $crate::fn_context::SessionContext::random(&mut *$to)
            }

            fn set_seed(&mut $self, seed: f64) {
                $crate::fn_context::SessionContext::set_seed(&mut *$to, seed);
            }

            fn notice(&mut $self, notice: pgerror::PgError) {
                $crate::fn_context::SessionContext::notice(&mut *$to, notice);
            }

            fn check_interrupts(&$self) -> pgerror::Result<()> {
                $crate::fn_context::SessionContext::check_interrupts(&*$to)
            }
        }
    };
    (@ $self:ident, $to:expr, $trait:ident,
     $($method:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(
            fn $method(&mut $self, $($arg: $ty),*) -> pgerror::Result<$result> {
                $crate::fn_context::$trait::$method(&mut *$to, $($arg),*)
            }
        )*
    };
}

/// Re-exported so that the macro can call itself by the path of this module.
pub use delegate_fn_context;
