//! Type coercion: the coercion pathways, the contexts that allow them, and the expression nodes
//! that apply them. Also the common type of several expressions.
//!
//! Counterpart: parser/parse_coerce.c; the polymorphic types are in `polymorphic`.

use crate::state::Analyzer;
use crate::ty;
use crate::typename::is_true_array;
use ids::Oid;
use ids::code::{CastContext, CastMethod, TypCategory, TypType};
use pgerror::{Result, pg_err};
use plan::expr::{
    ArrayCoerceExpr, CaseTestExpr, CoerceToDomain, CoerceViaIo, CoercionForm, CollateExpr, Const,
    ConvertRowtypeExpr, Expr, FuncExpr, Location, RelabelType, RowExpr,
};
use types::Datum;

/// The context of a coercion, ordered from the strictest to the most permissive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Context {
    Implicit,
    Assignment,
    /// An assignment to a variable of PL/pgSQL: as `Assignment`, but by I/O conversion if there is
    /// no other pathway.
    Plpgsql,
    Explicit,
}

/// A coercion pathway from one type to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    Func(Oid),
    Relabel,
    Array,
    Io,
}

/// Marks the outermost coercion as implicit, so that it is not deparsed.
fn hide_coercion(node: &mut Expr) {
    let hidden = CoercionForm::ImplicitCast;
    match node {
        Expr::FuncExpr(n) => n.funcformat = hidden,
        Expr::Relabel(n) => n.relabelformat = hidden,
        Expr::CoerceViaIo(n) => n.coerceformat = hidden,
        Expr::ArrayCoerce(n) => n.coerceformat = hidden,
        Expr::ConvertRowtype(n) => n.convertformat = hidden,
        Expr::Row(n) => n.row_format = hidden,
        Expr::CoerceToDomain(n) => n.coercionformat = hidden,
        _ => {}
    }
}

/// Whether the expression returns a set.
pub fn returns_set(expr: &Expr) -> bool {
    set_in(expr).is_some()
}

/// The location of a set-returning call in the expression.
pub fn set_in(expr: &Expr) -> Option<Location> {
    let mut found = None;
    plan::walk::any(expr, &mut |e| {
        let set = match e {
            Expr::FuncExpr(f) => f.funcretset,
            Expr::OpExpr(o) => o.opretset,
            _ => false,
        };
        if set {
            found = Some(e.location());
        }
        set
    });
    found
}

impl Analyzer<'_> {
    /// Whether every type of `from` can be coerced to the type of the same index in `to`.
    pub fn can_coerce(&mut self, from: &[Oid], to: &[Oid], context: Context) -> Result<bool> {
        let mut generics = false;
        for (&input, &target) in from.iter().zip(to) {
            if input == target || target == ty::ANY {
                continue;
            }
            if ty::is_polymorphic(target) {
                generics = true;
                continue;
            }
            // A literal or parameter must not become a value of type internal, which functions
            // trust.
            let is_open = input == ty::UNKNOWN && target != ty::INTERNAL;
            if is_open || self.coercion_path(target, input, context)?.is_some() {
                continue;
            }
            if input == ty::RECORD && self.is_complex(target)? {
                continue;
            }
            if target == ty::RECORD && self.is_complex(input)? {
                continue;
            }
            if target == ty::RECORD_ARRAY {
                let element = self.element_type(input)?;
                if element.is_valid() && self.is_complex(element)? {
                    continue;
                }
            }
            if self.type_inherits(input, target)? {
                continue;
            }
            return Ok(false);
        }
        Ok(!generics || self.generic_types_consistent(from, to)?)
    }

    /// Whether the relation of composite type `child` inherits from the relation of `parent`.
    fn type_inherits(&mut self, child: Oid, parent: Oid) -> Result<bool> {
        let child = self.composite_relation(child)?;
        if !child.is_valid() {
            return Ok(false);
        }
        let parent = self.type_row(parent)?;
        if parent.typtype != TypType::Composite {
            return Ok(false);
        }
        if self.cat.inherits_from(child, parent.typrelid)? {
            return Ok(true);
        }
        // A typed table is a child of its composite type.
        let relation = self.cat.relation(child)?;
        Ok(relation.is_some_and(|r| r.class.reloftype == parent.oid))
    }

    /// The coercion pathway from `source` to `target` that the context allows. Counterpart:
    /// `find_coercion_pathway`.
    pub fn coercion_path(
        &mut self,
        target: Oid,
        source: Oid,
        context: Context,
    ) -> Result<Option<Path>> {
        let path = self.declared_path(target, source, context)?;
        Ok(path.or((context == Context::Plpgsql).then_some(Path::Io)))
    }

    fn declared_path(
        &mut self,
        target: Oid,
        source: Oid,
        context: Context,
    ) -> Result<Option<Path>> {
        let source = if source.is_valid() { self.base_type(source)? } else { source };
        let target = if target.is_valid() { self.base_type(target)? } else { target };
        if source == target {
            return Ok(Some(Path::Relabel));
        }
        if let Some(cast) = self.cat.cast(source, target)? {
            let needed = match cast.castcontext {
                CastContext::Implicit => Context::Implicit,
                CastContext::Assignment => Context::Assignment,
                CastContext::Explicit => Context::Explicit,
            };
            if context < needed {
                return Ok(None);
            }
            return Ok(Some(match cast.castmethod {
                CastMethod::Function => Path::Func(cast.castfunc),
                CastMethod::InOut => Path::Io,
                CastMethod::Binary => Path::Relabel,
            }));
        }
        // Arrays whose element types can be coerced. The vector types cannot be targets: they have
        // no typmod and only one dimension.
        if target != ty::OIDVECTOR && target != ty::INT2VECTOR {
            let target_element = self.element_type(target)?;
            if target_element.is_valid() {
                let source_element = self.element_type(source)?;
                if source_element.is_valid()
                    && self.coercion_path(target_element, source_element, context)?.is_some()
                {
                    return Ok(Some(Path::Array));
                }
            }
        }
        // I/O conversion: to string types in assignments, from string types by explicit casts.
        if context >= Context::Assignment && self.category(target)?.0 == TypCategory::STRING {
            return Ok(Some(Path::Io));
        }
        if context >= Context::Explicit && self.category(source)?.0 == TypCategory::STRING {
            return Ok(Some(Path::Io));
        }
        Ok(None)
    }

    /// The function that applies a type modifier to a value of the type, if there is one.
    fn typmod_path(&mut self, oid: Oid) -> Result<Option<Path>> {
        let row = self.type_row(oid)?;
        let array = is_true_array(&row);
        let element = if array { row.typelem } else { oid };
        match self.cat.cast(element, element)? {
            Some(cast) if cast.castfunc.is_valid() => {
                Ok(Some(if array { Path::Array } else { Path::Func(cast.castfunc) }))
            }
            _ => Ok(None),
        }
    }

    /// Coerces to a type and modifier; `None` if this context allows no coercion.
    pub fn coerce_to_target(
        &mut self,
        expr: Expr,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Option<Expr>> {
        let from = expr.type_oid();
        if !self.can_coerce(&[from], &[target], context)? {
            return Ok(None);
        }
        // COLLATE stays the outermost node.
        let mut collate = None;
        let mut inner = expr;
        while let Expr::Collate(c) = inner {
            collate.get_or_insert((c.coll_oid, c.location));
            inner = c.arg;
        }
        let from = inner.type_oid();
        let result = self.coerce_type(inner, target, typmod, context, format, location)?;
        let changed = from != target && !matches!(result, Expr::Const(_));
        let result =
            self.coerce_typmod(result, target, typmod, context, format, location, changed)?;
        if let Some((coll_oid, location)) = collate
            && self.type_collation(target)?.is_valid()
        {
            return Ok(Some(Expr::Collate(Box::new(CollateExpr {
                arg: result,
                coll_oid,
                location,
            }))));
        }
        Ok(Some(result))
    }

    /// As [`Self::coerce_to_target`], for callers that know that a coercion exists. Type modifiers
    /// are not applied, except by input functions of literals that need them.
    pub fn coerce_type(
        &mut self,
        node: Expr,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Expr> {
        let input = node.type_oid();
        if target == input {
            return Ok(node);
        }
        match target {
            ty::ANY
            | ty::ANYELEMENT
            | ty::ANYNONARRAY
            | ty::ANYCOMPATIBLE
            | ty::ANYCOMPATIBLENONARRAY => return Ok(node),
            ty::ANYARRAY
            | ty::ANYENUM
            | ty::ANYRANGE
            | ty::ANYMULTIRANGE
            | ty::ANYCOMPATIBLEARRAY
            | ty::ANYCOMPATIBLERANGE
            | ty::ANYCOMPATIBLEMULTIRANGE
                if input != ty::UNKNOWN =>
            {
                // The function gets the base type of the domain.
                let base = self.base_type(input)?;
                if base == input {
                    return Ok(node);
                }
                return Ok(relabel(node, base, -1, format, location));
            }
            _ => {}
        }
        if input == ty::UNKNOWN {
            match node {
                Expr::Const(c) => {
                    return self.coerce_literal(c, target, typmod, context, format, location);
                }
                Expr::Param(p) => {
                    if let Some(p) = self.infer_param(p.clone(), target, location)? {
                        return Ok(p);
                    }
                    let p = Expr::Param(p);
                    return self.coerce_by_path(p, target, typmod, context, format, location);
                }
                _ => {}
            }
        }
        if let Expr::Collate(c) = node {
            let arg = self.coerce_type(c.arg, target, typmod, context, format, location)?;
            let (coll_oid, location) = (c.coll_oid, c.location);
            return Ok(Expr::Collate(Box::new(CollateExpr { arg, coll_oid, location })));
        }
        self.coerce_by_path(node, target, typmod, context, format, location)
    }

    /// Coerces by the pathway that the context allows. A cast function with a length parameter gets
    /// the type modifier in the same call.
    fn coerce_by_path(
        &mut self,
        node: Expr,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Expr> {
        let input = node.type_oid();
        match self.coercion_path(target, input, context)? {
            Some(Path::Relabel) => {
                let (base, base_typmod) = self.base_type_and_typmod(target, -1)?;
                if base != target {
                    return self.coerce_to_domain(
                        node,
                        (base, base_typmod),
                        target,
                        context,
                        format,
                        location,
                        false,
                    );
                }
                return Ok(relabel(node, target, -1, format, location));
            }
            Some(path) => {
                let (base, base_typmod) = self.base_type_and_typmod(target, typmod)?;
                let result =
                    self.apply_path(node, path, base, base_typmod, context, format, location)?;
                if base != target {
                    return self.coerce_to_domain(
                        result,
                        (base, base_typmod),
                        target,
                        context,
                        format,
                        location,
                        true,
                    );
                }
                return Ok(result);
            }
            None => {}
        }
        if input == ty::RECORD && self.is_complex(target)? {
            return self.coerce_record(node, target, context, format, location);
        }
        if target == ty::RECORD && self.is_complex(input)? {
            return Ok(node);
        }
        if target == ty::RECORD_ARRAY && self.element_type(input)?.is_valid() {
            return Ok(node);
        }
        if self.type_inherits(input, target)? {
            let base = self.base_type(input)?;
            let arg = if base == input {
                node
            } else {
                relabel(node, base, -1, CoercionForm::ImplicitCast, location)
            };
            return Ok(Expr::ConvertRowtype(Box::new(ConvertRowtypeExpr {
                arg,
                resulttype: target,
                convertformat: format,
                location,
            })));
        }
        let (from, to) = (self.format_type(input), self.format_type(target));
        Err(pg_err!(INTERNAL_ERROR, "failed to find conversion function from {from} to {to}"))
    }

    /// Converts a literal of unknown type by the type's input function.
    fn coerce_literal(
        &mut self,
        literal: Const,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Expr> {
        let (base, base_typmod) = self.base_type_and_typmod(target, typmod)?;
        // The length coercion that follows truncates or reports an error. Only interval literals
        // are read with their type modifier.
        let input_typmod = if base == ty::INTERVAL { base_typmod } else { -1 };
        let row = self.type_row(base)?;
        let value = match &literal.value {
            Datum::Bytes(text) => {
                let text = String::from_utf8_lossy(text);
                let value = self.cat.input(&row, &text, input_typmod);
                self.with_position(value, literal.location)?
            }
            _ => Datum::Null,
        };
        let node = Expr::Const(Const {
            consttype: base,
            consttypmod: input_typmod,
            constcollid: row.typcollation,
            constlen: row.typlen,
            constbyval: row.typbyval,
            value,
            location: literal.location,
        });
        if base == target {
            return Ok(node);
        }
        self.coerce_to_domain(node, (base, base_typmod), target, context, format, location, false)
    }

    /// The first use of a parameter of unknown type decides its type.
    fn infer_param(
        &mut self,
        mut param: plan::expr::Param,
        target: Oid,
        location: Location,
    ) -> Result<Option<Expr>> {
        let crate::state::Params::Variable(types) = &mut self.params else { return Ok(None) };
        if param.paramkind != plan::expr::ParamKind::Extern {
            return Ok(None);
        }
        let Some(slot) = types.get_mut(param.paramid as usize - 1) else { return Ok(None) };
        if *slot == ty::UNKNOWN || !slot.is_valid() {
            *slot = target;
        } else if *slot != target {
            let (had, has) = (*slot, target);
            let detail = format!("{} versus {}", self.format_type(had), self.format_type(has));
            let e = pg_err!(
                AMBIGUOUS_PARAMETER,
                "inconsistent types deduced for parameter ${}",
                param.paramid
            )
            .detail(detail);
            return Err(self.at(e, param.location));
        }
        param.paramtype = target;
        param.paramtypmod = -1;
        param.paramcollid = self.type_collation(target)?;
        param.location = leftmost(param.location, location);
        Ok(Some(Expr::Param(param)))
    }

    /// Builds the expression nodes for a pathway. `target` is not a domain.
    #[allow(clippy::too_many_arguments)]
    fn apply_path(
        &mut self,
        node: Expr,
        path: Path,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Expr> {
        match path {
            Path::Func(funcid) => {
                let nargs = self.cat.proc_row(funcid)?.map_or(1, |p| p.pronargs);
                let mut args = vec![node];
                if nargs >= 2 {
                    args.push(int4_const(typmod));
                }
                if nargs >= 3 {
                    args.push(bool_const(context == Context::Explicit));
                }
                Ok(Expr::FuncExpr(Box::new(FuncExpr {
                    funcid,
                    funcresulttype: target,
                    funcretset: false,
                    funcvariadic: false,
                    funcformat: format,
                    funccollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    args,
                    location,
                })))
            }
            Path::Relabel => Ok(relabel(node, target, typmod, format, location)),
            Path::Array => {
                let from = self.base_element_type(node.type_oid())?;
                let element = Expr::CaseTest(CaseTestExpr {
                    typeid: from,
                    typmod: node.typmod(),
                    collation: Oid::INVALID,
                });
                let to = self.element_type(target)?;
                let elemexpr = self
                    .coerce_to_target(element, to, typmod, context, format, location)?
                    .ok_or_else(|| {
                        pg_err!(INTERNAL_ERROR, "failed to coerce array element type as expected")
                    })?;
                Ok(Expr::ArrayCoerce(Box::new(ArrayCoerceExpr {
                    arg: node,
                    resulttypmod: elemexpr.typmod(),
                    elemexpr,
                    resulttype: target,
                    resultcollid: Oid::INVALID,
                    coerceformat: format,
                    location,
                })))
            }
            Path::Io => Ok(Expr::CoerceViaIo(Box::new(CoerceViaIo {
                arg: node,
                resulttype: target,
                resultcollid: Oid::INVALID,
                coerceformat: format,
                location,
            }))),
        }
    }

    /// Applies a type modifier to a value that already has the type.
    #[allow(clippy::too_many_arguments)]
    pub fn coerce_typmod(
        &mut self,
        mut node: Expr,
        target: Oid,
        typmod: i32,
        context: Context,
        format: CoercionForm,
        location: Location,
        hide_input: bool,
    ) -> Result<Expr> {
        if typmod == node.typmod() {
            return Ok(node);
        }
        if hide_input {
            hide_coercion(&mut node);
        }
        // A cast without a modifier computes nothing, but its result must not inherit the
        // argument's modifier.
        let path = if typmod < 0 { None } else { self.typmod_path(target)? };
        Ok(match path {
            Some(path) => {
                return self.apply_path(node, path, target, typmod, context, format, location);
            }
            None => relabel_merged(node, target, typmod, format, location),
        })
    }

    /// Converts a value of the domain's base type and type modifier to the domain.
    pub fn coerce_to_domain(
        &mut self,
        mut arg: Expr,
        (base, base_typmod): (Oid, i32),
        domain: Oid,
        context: Context,
        format: CoercionForm,
        location: Location,
        hide_input: bool,
    ) -> Result<Expr> {
        if base == domain {
            return Ok(arg);
        }
        if hide_input {
            hide_coercion(&mut arg);
        }
        let arg = self.coerce_typmod(
            arg,
            base,
            base_typmod,
            // The context decides whether a value that is too long is truncated.
            context,
            CoercionForm::ImplicitCast,
            location,
            false,
        )?;
        Ok(Expr::CoerceToDomain(Box::new(CoerceToDomain {
            arg,
            resulttype: domain,
            resulttypmod: -1,
            resultcollid: Oid::INVALID,
            coercionformat: format,
            location,
        })))
    }

    /// Coerces an anonymous row to a composite type, column by column.
    fn coerce_record(
        &mut self,
        node: Expr,
        target: Oid,
        context: Context,
        format: CoercionForm,
        location: Location,
    ) -> Result<Expr> {
        let (base, base_typmod) = self.base_type_and_typmod(target, -1)?;
        let cannot = |cx: &mut Self, detail: Option<String>| {
            let (from, to) = (cx.format_type(ty::RECORD), cx.format_type(target));
            let mut e = pg_err!(CANNOT_COERCE, "cannot cast type {from} to {to}");
            if let Some(detail) = detail {
                e = e.detail(detail);
            }
            cx.at(e, location)
        };
        let args = match node {
            Expr::Row(row) => row.args,
            // A whole-row reference to a sub-select or another FROM item without a named row type.
            Expr::Var(v) if v.varattno == 0 => {
                let level = self.level_up(v.varlevelsup);
                let rte = level.rte(v.varno).clone();
                self.expand_rte_vars(&rte, v.varno, v.varlevelsup, v.location.0)?
                    .into_iter()
                    .map(|(_, e)| e)
                    .collect()
            }
            _ => return Err(cannot(self, None)),
        };
        let relid = self.composite_relation(base)?;
        let relation = self.cat.relation(relid)?;
        let Some(relation) = relation else { return Err(cannot(self, None)) };
        let mut out = Vec::with_capacity(relation.attributes.len());
        let mut args = args.into_iter();
        for (i, attribute) in relation.attributes.iter().enumerate() {
            if attribute.attisdropped {
                out.push(null_const(ty::INT4, 4, true));
                continue;
            }
            let Some(arg) = args.next() else {
                return Err(cannot(self, Some("Input has too few columns.".into())));
            };
            let from = arg.type_oid();
            let coerced = self.coerce_to_target(
                arg,
                attribute.atttypid,
                attribute.atttypmod,
                context,
                CoercionForm::ImplicitCast,
                Location::UNKNOWN,
            )?;
            match coerced {
                Some(coerced) => out.push(coerced),
                None => {
                    let (from, to) = (self.format_type(from), self.format_type(attribute.atttypid));
                    let detail = format!("Cannot cast type {from} to {to} in column {}.", i + 1);
                    return Err(cannot(self, Some(detail)));
                }
            }
        }
        if args.next().is_some() {
            return Err(cannot(self, Some("Input has too many columns.".into())));
        }
        let row = Expr::Row(Box::new(RowExpr {
            args: out,
            row_typeid: base,
            row_format: if base == target { format } else { CoercionForm::ImplicitCast },
            colnames: Vec::new(),
            location,
        }));
        if base == target {
            return Ok(row);
        }
        self.coerce_to_domain(row, (base, base_typmod), target, context, format, location, false)
    }

    /// Coerces a condition to boolean. `construct` names the clause in errors.
    pub fn coerce_to_boolean(&mut self, node: Expr, construct: &str) -> Result<Expr> {
        let node = self.coerce_to_specific(node, ty::BOOL, construct)?;
        Ok(node)
    }

    /// Coerces an argument to the only type that the construct accepts.
    pub fn coerce_to_specific(&mut self, node: Expr, target: Oid, construct: &str) -> Result<Expr> {
        self.coerce_to_specific_typmod(node, target, -1, construct)
    }

    /// As [`Self::coerce_to_specific`], with a type modifier.
    pub fn coerce_to_specific_typmod(
        &mut self,
        node: Expr,
        target: Oid,
        typmod: i32,
        construct: &str,
    ) -> Result<Expr> {
        let location = node.location();
        let from = node.type_oid();
        let node = if from == target {
            node
        } else {
            let coerced = self.coerce_to_target(
                node,
                target,
                typmod,
                Context::Assignment,
                CoercionForm::ImplicitCast,
                Location::UNKNOWN,
            )?;
            match coerced {
                Some(node) => node,
                None => {
                    let (to, from) = (self.format_type(target), self.format_type(from));
                    let e = pg_err!(
                        DATATYPE_MISMATCH,
                        "argument of {construct} must be type {to}, not type {from}"
                    );
                    return Err(self.at(e, location));
                }
            }
        };
        if returns_set(&node) {
            let e = pg_err!(DATATYPE_MISMATCH, "argument of {construct} must not return a set");
            return Err(self.at(e, location));
        }
        Ok(node)
    }

    /// The common type of several expressions. `construct` names the clause in the error; without
    /// it the result is `Oid::INVALID` if there is no common type.
    pub fn select_common_type(&mut self, exprs: &[Expr], construct: Option<&str>) -> Result<Oid> {
        let types: Vec<(Oid, Location)> =
            exprs.iter().map(|e| (e.type_oid(), e.location())).collect();
        self.select_common_type_of(&types, construct)
    }

    /// As [`Self::select_common_type`], from the types and locations of the expressions.
    pub fn select_common_type_of(
        &mut self,
        types: &[(Oid, Location)],
        construct: Option<&str>,
    ) -> Result<Oid> {
        let first = types[0].0;
        // If all types are equal, the type is kept even if it is a domain.
        if first != ty::UNKNOWN && types.iter().all(|t| t.0 == first) {
            return Ok(first);
        }
        let mut best = self.base_type(first)?;
        let (mut category, mut preferred) = self.category(best)?;
        for &(next, location) in &types[1..] {
            let next = self.base_type(next)?;
            if next == ty::UNKNOWN || next == best {
                continue;
            }
            let (next_category, next_preferred) = self.category(next)?;
            if best == ty::UNKNOWN {
                (best, category, preferred) = (next, next_category, next_preferred);
            } else if next_category != category {
                let Some(construct) = construct else { return Ok(Oid::INVALID) };
                let (a, b) = (self.format_type(best), self.format_type(next));
                let e =
                    pg_err!(DATATYPE_MISMATCH, "{construct} types {a} and {b} cannot be matched");
                return Err(self.at(e, location));
            } else if !preferred
                && self.can_coerce(&[best], &[next], Context::Implicit)?
                && !self.can_coerce(&[next], &[best], Context::Implicit)?
            {
                (best, category, preferred) = (next, next_category, next_preferred);
            }
        }
        Ok(if best == ty::UNKNOWN { ty::TEXT } else { best })
    }

    /// Coerces an expression to the common type.
    pub fn coerce_to_common(&mut self, node: Expr, target: Oid, construct: &str) -> Result<Expr> {
        let from = node.type_oid();
        if from == target {
            return Ok(node);
        }
        if self.can_coerce(&[from], &[target], Context::Implicit)? {
            return self.coerce_type(
                node,
                target,
                -1,
                Context::Implicit,
                CoercionForm::ImplicitCast,
                Location::UNKNOWN,
            );
        }
        let (from, to) = (self.format_type(from), self.format_type(target));
        let e = pg_err!(CANNOT_COERCE, "{construct} could not convert type {from} to {to}");
        Err(self.at(e, &node))
    }

    /// The modifier that all expressions share, if they have the common type.
    pub fn common_typmod(exprs: &[Expr], ty: Oid) -> i32 {
        let mut typmod = -1;
        for (i, e) in exprs.iter().enumerate() {
            if e.type_oid() != ty || (i > 0 && e.typmod() != typmod) {
                return -1;
            }
            typmod = e.typmod();
        }
        typmod
    }

    /// Whether `source` is binary coercible to `target`.
    pub fn binary_coercible(&mut self, source: Oid, target: Oid) -> Result<bool> {
        if source == target || target == ty::ANY || target == ty::ANYELEMENT {
            return Ok(true);
        }
        if target == ty::ANYCOMPATIBLE {
            return Ok(true);
        }
        let source = if source.is_valid() { self.base_type(source)? } else { source };
        if source == target {
            return Ok(true);
        }
        let row = self.type_row(source)?;
        match target {
            ty::ANYARRAY | ty::ANYCOMPATIBLEARRAY if is_true_array(&row) => return Ok(true),
            ty::ANYNONARRAY | ty::ANYCOMPATIBLENONARRAY if !is_true_array(&row) => return Ok(true),
            ty::ANYENUM if row.typtype == TypType::Enum => return Ok(true),
            ty::ANYRANGE | ty::ANYCOMPATIBLERANGE if row.typtype == TypType::Range => {
                return Ok(true);
            }
            ty::ANYMULTIRANGE | ty::ANYCOMPATIBLEMULTIRANGE
                if row.typtype == TypType::Multirange =>
            {
                return Ok(true);
            }
            ty::RECORD if row.typtype == TypType::Composite => return Ok(true),
            ty::RECORD_ARRAY if is_true_array(&row) && self.is_complex(row.typelem)? => {
                return Ok(true);
            }
            _ => {}
        }
        Ok(self.cat.cast(source, target)?.is_some_and(|c| {
            c.castmethod == CastMethod::Binary && c.castcontext == CastContext::Implicit
        }))
    }
}

/// A binary-compatible relabelling.
pub fn relabel(arg: Expr, ty: Oid, typmod: i32, format: CoercionForm, location: Location) -> Expr {
    Expr::Relabel(Box::new(RelabelType {
        arg,
        resulttype: ty,
        resulttypmod: typmod,
        resultcollid: Oid::INVALID,
        relabelformat: format,
        location,
    }))
}

/// As [`relabel`] with the argument's collation. A `RelabelType` or constant below is merged into
/// the new node, so that equal expressions compare equal.
fn relabel_merged(
    arg: Expr,
    ty: Oid,
    typmod: i32,
    format: CoercionForm,
    location: Location,
) -> Expr {
    let collation = arg.collation();
    let mut arg = arg;
    while let Expr::Relabel(n) = arg {
        arg = n.arg;
    }
    if let Expr::Const(c) = &mut arg {
        c.value = std::mem::take(&mut c.value).relabelled(ty);
        (c.consttype, c.consttypmod, c.constcollid) = (ty, typmod, collation);
        return arg;
    }
    if arg.type_oid() == ty && arg.typmod() == typmod && arg.collation() == collation {
        return arg;
    }
    let mut out = relabel(arg, ty, typmod, format, location);
    if let Expr::Relabel(n) = &mut out {
        n.resultcollid = collation;
    }
    out
}

/// An `int4` constant.
pub fn int4_const(value: i32) -> Expr {
    Expr::Const(Const {
        consttype: ty::INT4,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 4,
        constbyval: true,
        value: Datum::int4(value),
        location: Location::UNKNOWN,
    })
}

/// A `bool` constant.
pub fn bool_const(value: bool) -> Expr {
    Expr::Const(Const {
        consttype: ty::BOOL,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 1,
        constbyval: true,
        value: Datum::bool(value),
        location: Location::UNKNOWN,
    })
}

/// A NULL constant of a type. Counterpart: `makeNullConst`.
pub fn null_const(consttype: Oid, constlen: i16, constbyval: bool) -> Expr {
    Expr::Const(Const {
        consttype,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen,
        constbyval,
        value: Datum::Null,
        location: Location::UNKNOWN,
    })
}

/// Whether the expression is a NULL constant.
pub fn is_null_const(expr: &Expr) -> bool {
    matches!(expr, Expr::Const(c) if c.value.is_null())
}

fn leftmost(a: Location, b: Location) -> Location {
    match (a.0 >= 0, b.0 >= 0) {
        (true, true) => Location(a.0.min(b.0)),
        (true, false) => a,
        _ => b,
    }
}
