//! Function calls: resolution of the function and construction of its expression node. Counterpart:
//! parser/parse_func.c.

use crate::candidates::Candidate;
use crate::coerce::{Context, Path};
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use crate::typename::dotted;
use ids::Oid;
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{
    AggSplit, Aggref, ArrayExpr, CoercionForm, Expr, FieldSelect, FuncExpr, Location, WindowFunc,
};

/// The result of function lookup by name and arguments.
pub enum FuncDetail {
    NotFound,
    Ambiguous,
    /// A cast written as a call; the target type.
    Coercion(Oid),
    Found(Box<FoundFunction>),
}

pub struct FoundFunction {
    pub oid: Oid,
    /// `pg_proc.prokind`
    pub kind: u8,
    pub rettype: Oid,
    pub retset: bool,
    /// Number of arguments that the variadic array gathers.
    pub nvargs: usize,
    pub vatype: Oid,
    /// Declared parameter types in the order of the call, those of defaulted parameters last.
    pub declared: Vec<Oid>,
    pub defaults: Vec<Expr>,
    pub argnumbers: Option<Vec<usize>>,
}

impl Analyzer<'_> {
    /// Counterpart: `func_get_detail`. Without `allow_coercion`, a cast in function notation is not
    /// considered.
    #[allow(clippy::too_many_arguments)]
    pub fn func_detail(
        &mut self,
        names: &[ast::Name],
        argnames: &[&str],
        input: &[Oid],
        expand_variadic: bool,
        expand_defaults: bool,
        allow_coercion: bool,
        proc_call: bool,
    ) -> Result<FuncDetail> {
        let (schema, name) = self.deconstruct(names)?;
        let candidates = self.function_candidates(
            schema,
            name,
            input.len(),
            argnames,
            expand_variadic,
            expand_defaults,
            proc_call,
        )?;
        let mut best = candidates.iter().find(|c| c.args[..input.len()] == *input).cloned();
        if best.is_none() {
            if allow_coercion
                && input.len() == 1
                && argnames.is_empty()
                && let Some(target) = self.cast_as_call(schema, name, input[0])?
            {
                return Ok(FuncDetail::Coercion(target));
            }
            let fitting = self.match_argtypes(input, candidates)?;
            best = match fitting.len() {
                0 => return Ok(FuncDetail::NotFound),
                1 => fitting.into_iter().next(),
                _ => match self.select_candidate(input, fitting)? {
                    Some(best) => Some(best),
                    None => return Ok(FuncDetail::Ambiguous),
                },
            };
        }
        let Some(best) = best else { return Ok(FuncDetail::NotFound) };
        if !best.oid.is_valid() {
            return Ok(FuncDetail::Ambiguous);
        }
        self.describe(best, input.len())
    }

    fn describe(&mut self, best: Candidate, nargs: usize) -> Result<FuncDetail> {
        let proc = self.cat.proc_row(best.oid)?.ok_or_else(|| {
            pg_err!(INTERNAL_ERROR, "cache lookup failed for function {}", best.oid)
        })?;
        let all = (proc.prokind == b'p').then(|| crate::candidates::with_outputs(&proc)).flatten();
        let proc: &catalog::rows::PgProc = all.as_ref().unwrap_or(&proc);
        let mut defaults = Vec::new();
        if best.defaults > 0 {
            let text = proc.proargdefaults.as_ref().map_or("", |t| t.as_str());
            let all = crate::stored::exprs(self.cat, text)?;
            let pronargs = proc.pronargs as usize;
            let first = pronargs - all.len();
            match &best.argnumbers {
                // The parameters that the call omits, in the order of the candidate's argument
                // list.
                Some(numbers) => {
                    for &parameter in &numbers[nargs..] {
                        defaults.push(all[parameter - first].clone());
                    }
                }
                None => defaults.extend(all[all.len() - best.defaults..].iter().cloned()),
            }
        }
        Ok(FuncDetail::Found(Box::new(FoundFunction {
            oid: best.oid,
            kind: proc.prokind,
            rettype: proc.prorettype,
            retset: proc.proretset,
            nvargs: best.variadic,
            vatype: proc.provariadic,
            declared: best.args,
            defaults,
            argnumbers: best.argnumbers,
        })))
    }

    /// The target type if `typename(x)` is a cast without a cast function. (A cast function has the
    /// name of the type and is found before.)
    fn cast_as_call(
        &mut self,
        schema: Option<&str>,
        name: &str,
        source: Oid,
    ) -> Result<Option<Oid>> {
        let row = match schema {
            Some(schema) => {
                let namespace = self.namespace(schema)?;
                self.cat.type_named(name, namespace)?
            }
            None => self.non_temp_type_in_path(name)?,
        };
        let Some(row) = row else { return Ok(None) };
        // Composite types only if they are not the row type of a table.
        if row.typtype == b'c' && row.typrelid.is_valid() {
            let standalone =
                self.cat.relation(row.typrelid)?.is_some_and(|r| r.class.relkind == b'c');
            if !standalone {
                return Ok(None);
            }
        }
        let target = row.oid;
        let is_cast = if source == ty::UNKNOWN {
            true
        } else {
            match self.coercion_path(target, source, Context::Explicit)? {
                Some(Path::Relabel) => true,
                Some(Path::Io) => !(self.is_rowtype(source)? && self.category(target)?.0 == b'S'),
                _ => false,
            }
        };
        Ok(is_cast.then_some(target))
    }

    /// A function call. Without `call`, a column reference in attribute notation, which is `None`
    /// if no function matches. Counterpart: `ParseFuncOrColumn`.
    pub fn func_or_column(
        &mut self,
        names: &[ast::Name],
        mut args: Vec<Expr>,
        call: Option<&ast::FuncCall>,
        proc_call: bool,
        location: i32,
    ) -> Result<Option<Expr>> {
        let text = dotted(names);
        let star = call.is_some_and(|c| c.agg_star);
        let distinct = call.is_some_and(|c| c.agg_distinct);
        let within = call.is_some_and(|c| c.agg_within_group);
        let over = call.and_then(|c| c.over.as_deref());
        let mut variadic = call.is_some_and(|c| c.func_variadic);
        let has_order = call.is_some_and(|c| !c.agg_order.is_empty());
        let form = call.map_or(CoercionForm::ExplicitCall, |c| match c.funcformat {
            ast::CoercionForm::SqlSyntax => CoercionForm::SqlSyntax,
            ast::CoercionForm::ExplicitCast => CoercionForm::ExplicitCast,
            ast::CoercionForm::ImplicitCast => CoercionForm::ImplicitCast,
            ast::CoercionForm::ExplicitCall => CoercionForm::ExplicitCall,
        });
        let filter = match call.and_then(|c| c.agg_filter.as_ref()) {
            Some(filter) => Some(self.with_kind(ExprKind::Filter, |cx| {
                let e = cx.expr(filter)?;
                cx.coerce_to_boolean(e, "FILTER")
            })?),
            None => None,
        };
        if args.len() > 100 {
            let e =
                pg_err!(TOO_MANY_ARGUMENTS, "cannot pass more than 100 arguments to a function");
            return Err(self.at(e, location));
        }
        // A parameter of type void stands for an OUT argument. Some drivers pass such parameters
        // because they do not know which arguments are OUT.
        if call.is_some() && !within {
            args.retain(|a| !matches!(a, Expr::Param(_)) || a.type_oid() != ty::VOID);
        }
        let actual: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let owned_names = self.argument_names(&args)?;
        let argnames: Vec<&str> = owned_names.iter().map(String::as_str).collect();
        let projection = args.len() == 1
            && !proc_call
            && !has_order
            && filter.is_none()
            && !star
            && !distinct
            && over.is_none()
            && !variadic
            && argnames.is_empty()
            && names.len() == 1
            && self.is_rowtype(actual[0])?;
        if projection && call.is_none() {
            match self.complex_projection(&names[0], args.remove(0), location)? {
                Ok(found) => return Ok(Some(found)),
                Err(back) => args.push(back),
            }
        }
        let detail = self.func_detail(names, &argnames, &actual, !variadic, true, true, proc_call);
        let detail = self.with_position(detail, location)?;
        let func = match detail {
            FuncDetail::Found(func) => *func,
            FuncDetail::Coercion(target) => {
                self.no_aggregate_decoration(&text, call, filter.is_some(), location)?;
                let arg = args.remove(0);
                return self
                    .coerce_type(
                        arg,
                        target,
                        -1,
                        Context::Explicit,
                        CoercionForm::ExplicitCall,
                        Location(location),
                    )
                    .map(Some);
            }
            FuncDetail::Ambiguous => {
                if call.is_none() {
                    return Ok(None);
                }
                let signature = self.signature(&text, &owned_names, &actual);
                let what = if proc_call { "procedure" } else { "function" };
                let e = pg_err!(AMBIGUOUS_FUNCTION, "{what} {signature} is not unique").hint(format!(
                    "Could not choose a best candidate {what}. You might need to add explicit type \
                     casts."
                ));
                return Err(self.at(e, location));
            }
            FuncDetail::NotFound => {
                if call.is_none() {
                    return Ok(None);
                }
                if projection {
                    match self.complex_projection(&names[0], args.remove(0), location)? {
                        Ok(found) => return Ok(Some(found)),
                        Err(back) => args.push(back),
                    }
                }
                let keys = call.filter(|_| !within).map_or(0, |c| c.agg_order.len());
                let e = self.not_found(&text, &owned_names, &actual, proc_call, keys);
                return Err(self.at(e, location));
            }
        };
        if proc_call != (func.kind == b'p') {
            let signature = self.signature(&text, &owned_names, &actual);
            let e = if proc_call {
                pg_err!(WRONG_OBJECT_TYPE, "{signature} is not a procedure")
                    .hint("To call a function, use SELECT.")
            } else {
                pg_err!(WRONG_OBJECT_TYPE, "{signature} is a procedure")
                    .hint("To call a procedure, use CALL.")
            };
            return Err(self.at(e, location));
        }
        match func.kind {
            b'a' => self.check_aggregate_call(&text, &func, call, &args, location)?,
            b'w' => {
                if over.is_none() {
                    let e = pg_err!(
                        WRONG_OBJECT_TYPE,
                        "window function {text} requires an OVER clause"
                    );
                    return Err(self.at(e, location));
                }
                if within {
                    let e = pg_err!(
                        WRONG_OBJECT_TYPE,
                        "window function {text} cannot have WITHIN GROUP"
                    );
                    return Err(self.at(e, location));
                }
            }
            _ => self.no_aggregate_decoration(&text, call, filter.is_some(), location)?,
        }

        // Parameter numbers for arguments given by name, then the defaults.
        if let Some(numbers) = &func.argnumbers {
            for (arg, &number) in args.iter_mut().zip(numbers) {
                if let Expr::NamedArg(named) = arg {
                    named.argnumber = number as i32;
                }
            }
        }
        let mut actual = actual;
        let nargs = args.len();
        for (i, default) in func.defaults.into_iter().enumerate() {
            actual.push(default.type_oid());
            // A `NamedArg` with an empty name marks a default, so that stored expressions omit it
            // and keep the call as written.
            let number = func.argnumbers.as_ref().map_or(nargs + i, |numbers| numbers[nargs + i]);
            args.push(Expr::NamedArg(Box::new(plan::expr::NamedArgExpr {
                arg: default,
                name: String::new(),
                argnumber: number as i32,
                location: Location::UNKNOWN,
            })));
        }
        let mut declared = func.declared;
        if let (b'a', Some(call)) = (func.kind, call)
            && self.cat.aggregate(func.oid)?.is_some_and(|a| a.aggkind == b'h')
        {
            let signature = self.signature(&text, &owned_names, &actual);
            let done = self.unify_hypothetical(
                (&text, &signature),
                &mut args,
                &declared,
                call.agg_order.len(),
            );
            self.with_position(done, location)?;
            actual = args.iter().map(Expr::type_oid).collect();
        }
        let rettype = self.enforce_generics(&actual, &mut declared, func.rettype, false)?;
        let mut args = self.coerce_arguments(args, &actual, &declared)?;
        if func.nvargs > 0 && func.vatype != ty::ANY {
            args = self.gather_variadic(args, func.nvargs, location)?;
            variadic = true;
        }
        if variadic && func.vatype == ty::ANY {
            let last = args.last().map(|a| (a.type_oid(), a.location()));
            if let Some((ty, place)) = last
                && !self.base_element_type(ty)?.is_valid()
            {
                let e = pg_err!(DATATYPE_MISMATCH, "VARIADIC argument must be an array");
                return Err(self.at(e, place));
            }
        }
        if func.retset {
            self.check_srf(location)?;
        }
        match (func.kind, over, call) {
            (b'a', None, Some(call)) => {
                let agg = Aggref {
                    aggfnoid: func.oid,
                    aggtype: rettype,
                    aggcollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    aggtranstype: Oid::INVALID,
                    aggargtypes: Vec::new(),
                    aggdirectargs: Vec::new(),
                    args: Vec::new(),
                    aggorder: Vec::new(),
                    aggdistinct: Vec::new(),
                    aggfilter: filter,
                    aggstar: star,
                    aggvariadic: variadic,
                    aggkind: b'n',
                    agglevelsup: 0,
                    aggsplit: AggSplit::Simple,
                    aggno: -1,
                    aggtransno: -1,
                    location: Location(location),
                };
                self.aggregate_call(agg, args, call).map(Some)
            }
            (_, Some(over), Some(call)) => {
                let e = if distinct {
                    Some("DISTINCT is not implemented for window functions")
                } else if has_order {
                    Some("aggregate ORDER BY is not implemented for window functions")
                } else if func.kind != b'a' && filter.is_some() {
                    Some("FILTER is not implemented for non-aggregate window functions")
                } else {
                    None
                };
                if let Some(message) = e {
                    return Err(self.at(
                        PgError::new(pgerror::SqlState::FEATURE_NOT_SUPPORTED, message),
                        location,
                    ));
                }
                if func.retset {
                    let e =
                        pg_err!(INVALID_FUNCTION_DEFINITION, "window functions cannot return sets");
                    return Err(self.at(e, location));
                }
                let window = WindowFunc {
                    winfnoid: func.oid,
                    wintype: rettype,
                    wincollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    args,
                    aggfilter: filter,
                    winref: 0,
                    winstar: call.agg_star,
                    winagg: func.kind == b'a',
                    location: Location(location),
                };
                self.window_call(window, over).map(Some)
            }
            _ => Ok(Some(Expr::FuncExpr(Box::new(FuncExpr {
                funcid: func.oid,
                funcresulttype: rettype,
                funcretset: func.retset,
                funcvariadic: variadic,
                funcformat: form,
                funccollid: Oid::INVALID,
                inputcollid: Oid::INVALID,
                args,
                location: Location(location),
            })))),
        }
    }

    /// The names of named arguments. They must follow the positional ones, and each may occur once.
    fn argument_names(&mut self, args: &[Expr]) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for arg in args {
            match arg {
                Expr::NamedArg(named) => {
                    if names.contains(&named.name) {
                        let e = pg_err!(
                            SYNTAX_ERROR,
                            "argument name \"{}\" used more than once",
                            named.name
                        );
                        return Err(self.at(e, named.location));
                    }
                    names.push(named.name.clone());
                }
                other if !names.is_empty() => {
                    let e =
                        pg_err!(SYNTAX_ERROR, "positional argument cannot follow named argument");
                    return Err(self.at(e, other));
                }
                _ => {}
            }
        }
        Ok(names)
    }

    /// Gathers the last arguments into the array of a variadic parameter.
    fn gather_variadic(
        &mut self,
        mut args: Vec<Expr>,
        count: usize,
        location: i32,
    ) -> Result<Vec<Expr>> {
        let elements = args.split_off(args.len() - count);
        let element_typeid = elements[0].type_oid();
        let array_typeid = self.array_type(element_typeid)?;
        if !array_typeid.is_valid() {
            let name = self.format_type(element_typeid);
            let e = pg_err!(UNDEFINED_OBJECT, "could not find array type for data type {name}");
            return Err(self.at(e, location));
        }
        let location = elements.iter().map(|e| e.location()).find(|l| l.0 >= 0).unwrap_or_default();
        args.push(Expr::Array(Box::new(ArrayExpr {
            array_typeid,
            array_collid: Oid::INVALID,
            element_typeid,
            elements,
            multidims: false,
            location,
        })));
        Ok(args)
    }

    fn no_aggregate_decoration(
        &mut self,
        name: &str,
        call: Option<&ast::FuncCall>,
        has_filter: bool,
        location: i32,
    ) -> Result<()> {
        let Some(call) = call else { return Ok(()) };
        let e = if call.agg_star {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "{name}(*) specified, but {name} is not an aggregate function"
            )
        } else if call.agg_distinct {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "DISTINCT specified, but {name} is not an aggregate function"
            )
        } else if call.agg_within_group {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "WITHIN GROUP specified, but {name} is not an aggregate function"
            )
        } else if !call.agg_order.is_empty() {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "ORDER BY specified, but {name} is not an aggregate function"
            )
        } else if has_filter {
            pg_err!(WRONG_OBJECT_TYPE, "FILTER specified, but {name} is not an aggregate function")
        } else if call.over.is_some() {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "OVER specified, but {name} is not a window function nor an aggregate function"
            )
        } else {
            return Ok(());
        };
        Err(self.at(e, location))
    }

    /// Coerces each hypothetical direct argument and its column of WITHIN GROUP to a common type.
    /// The column's type is preferred. Counterpart: `unify_hypothetical_args`.
    fn unify_hypothetical(
        &mut self,
        (name, signature): (&str, &str),
        args: &mut [Expr],
        declared: &[Oid],
        columns: usize,
    ) -> Result<()> {
        let direct = args.len().saturating_sub(columns);
        if direct < columns || (direct > columns && declared.first() == Some(&ty::ANY)) {
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "function {signature} does not exist"
            )
            .hint(format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct \
                 arguments (here {direct}) must match the number of ordering columns (here \
                 {columns})."
            )));
        }
        for i in 0..columns {
            let (hypothetical, column) = (direct - columns + i, direct + i);
            if declared.get(column) != Some(&ty::ANY) {
                continue;
            }
            let pair = [args[column].clone(), args[hypothetical].clone()];
            let target = self.select_common_type(&pair, Some("WITHIN GROUP"))?;
            for (at, e) in [column, hypothetical].into_iter().zip(pair) {
                args[at] = self.coerce_to_common(e, target, "WITHIN GROUP")?;
            }
        }
        Ok(())
    }

    fn check_aggregate_call(
        &mut self,
        name: &str,
        func: &FoundFunction,
        call: Option<&ast::FuncCall>,
        args: &[Expr],
        location: i32,
    ) -> Result<()> {
        let Some(call) = call else { return Ok(()) };
        let kind = self.cat.aggregate(func.oid)?.map_or(b'n', |a| a.aggkind);
        let e = if kind != b'n' {
            if !call.agg_within_group {
                Some(pg_err!(
                    WRONG_OBJECT_TYPE,
                    "WITHIN GROUP is required for ordered-set aggregate {name}"
                ))
            } else if call.over.is_some() {
                Some(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "OVER is not supported for ordered-set aggregate {name}"
                ))
            } else {
                None
            }
        } else if call.agg_within_group {
            Some(pg_err!(
                WRONG_OBJECT_TYPE,
                "{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
            ))
        } else if args.is_empty() && !call.agg_star {
            Some(pg_err!(
                WRONG_OBJECT_TYPE,
                "{name}(*) must be used to call a parameterless aggregate function"
            ))
        } else if args.iter().any(|a| matches!(a, Expr::NamedArg(_))) {
            Some(pg_err!(FEATURE_NOT_SUPPORTED, "aggregates cannot use named arguments"))
        } else if func.retset {
            Some(pg_err!(INVALID_FUNCTION_DEFINITION, "aggregates cannot return sets"))
        } else {
            None
        };
        match e {
            Some(e) => Err(self.at(e, location)),
            None => Ok(()),
        }
    }

    fn signature(&mut self, name: &str, argnames: &[String], types: &[Oid]) -> String {
        let positional = types.len() - argnames.len();
        let mut parts = Vec::with_capacity(types.len());
        for (i, &ty) in types.iter().enumerate() {
            let ty = self.format_type(ty);
            parts.push(match i.checked_sub(positional) {
                Some(named) => format!("{} => {ty}", argnames[named]),
                None => ty,
            });
        }
        format!("{name}({})", parts.join(", "))
    }

    fn not_found(
        &mut self,
        name: &str,
        argnames: &[String],
        types: &[Oid],
        proc_call: bool,
        order_keys: usize,
    ) -> PgError {
        let signature = self.signature(name, argnames, types);
        if order_keys > 1 {
            return pg_err!(UNDEFINED_FUNCTION, "function {signature} does not exist").hint(
                "No aggregate function matches the given name and argument types. Perhaps you \
                 misplaced ORDER BY; ORDER BY must appear after all regular arguments of the \
                 aggregate.",
            );
        }
        let what = if proc_call { "procedure" } else { "function" };
        pg_err!(UNDEFINED_FUNCTION, "{what} {signature} does not exist").hint(format!(
            "No {what} matches the given name and argument types. You might need to add explicit \
             type casts."
        ))
    }

    /// The field of a composite value; the inner `Err` returns the argument if there is no such
    /// field. Counterpart: `ParseComplexProjection`.
    pub fn complex_projection(
        &mut self,
        name: &str,
        arg: Expr,
        location: i32,
    ) -> Result<std::result::Result<Expr, Expr>> {
        // For a whole-row reference the column is looked up by the names of the FROM item.
        if let Expr::Var(v) = &arg
            && v.varattno == 0
        {
            let (rtindex, up) = (v.varno, v.varlevelsup);
            let item = self.level_up(up).namespace.iter().find(|n| n.rtindex == rtindex).cloned();
            let found = match item {
                Some(item) => self.column_of_item(&item, up, name, location)?,
                None => None,
            };
            return Ok(found.ok_or(arg));
        }
        let columns = self.rowtype_columns(&arg)?;
        let Some(columns) = columns else { return Ok(Err(arg)) };
        for (i, column) in columns.iter().enumerate() {
            if column.name == name && !column.dropped {
                return Ok(Ok(Expr::FieldSelect(Box::new(FieldSelect {
                    arg,
                    fieldnum: (i + 1) as i16,
                    resulttype: column.ty,
                    resulttypmod: column.typmod,
                    resultcollid: column.collation,
                }))));
            }
        }
        Ok(Err(arg))
    }

    /// Refuses a set-returning function in clauses that do not allow one. Counterpart:
    /// `check_srf_call_placement`.
    pub fn check_srf(&mut self, location: i32) -> Result<()> {
        self.level().srf_calls += 1;
        let kind = self.kind();
        match kind {
            ExprKind::Other | ExprKind::FromFunction => return Ok(()),
            // Window clauses too are part of the target list.
            ExprKind::WindowPartition
            | ExprKind::WindowOrder
            | ExprKind::SelectTarget
            | ExprKind::InsertTarget
            | ExprKind::GroupBy
            | ExprKind::OrderBy
            | ExprKind::DistinctOn
            | ExprKind::ValuesSingle => {
                self.level().has_target_srfs = true;
                return Ok(());
            }
            _ => {}
        }
        let place = match kind {
            ExprKind::None => return Ok(()),
            ExprKind::JoinOn | ExprKind::JoinUsing => "JOIN conditions",
            ExprKind::WindowFrameRange
            | ExprKind::WindowFrameRows
            | ExprKind::WindowFrameGroups => "window definitions",
            ExprKind::MergeWhen => "MERGE WHEN conditions",
            other => other.phrase(),
        };
        let e =
            pg_err!(FEATURE_NOT_SUPPORTED, "set-returning functions are not allowed in {place}");
        Err(self.at(e, location))
    }
}

impl ExprKind {
    /// The clause's name for the message "… are not allowed in …".
    pub fn phrase(self) -> &'static str {
        match self {
            ExprKind::JoinOn | ExprKind::JoinUsing => "JOIN conditions",
            ExprKind::FromFunction => "functions in FROM",
            ExprKind::Policy => "policy expressions",
            ExprKind::MergeWhen => "MERGE WHEN conditions",
            ExprKind::CheckConstraint | ExprKind::DomainCheck => "check constraints",
            ExprKind::ColumnDefault | ExprKind::FunctionDefault => "DEFAULT expressions",
            ExprKind::IndexExpression => "index expressions",
            ExprKind::IndexPredicate => "index predicates",
            ExprKind::StatsExpression => "statistics expressions",
            ExprKind::AlterColTransform => "transform expressions",
            ExprKind::ExecuteParameter => "EXECUTE parameters",
            ExprKind::TriggerWhen => "trigger WHEN conditions",
            ExprKind::PartitionBound => "partition bound",
            ExprKind::PartitionExpression => "partition key expressions",
            ExprKind::CallArgument => "CALL arguments",
            ExprKind::CopyWhere => "COPY FROM WHERE conditions",
            ExprKind::GeneratedColumn => "column generation expressions",
            other => other.name(),
        }
    }
}
