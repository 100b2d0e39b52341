//! Function calls: from the raw call to its expression node. The function itself is found by
//! `func`. Counterpart: parser/parse_func.c, `ParseFuncOrColumn`.

use crate::coerce::Context;
use crate::func::{FoundFunction, FuncDetail};
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use crate::typename::dotted;
use ids::Oid;
use ids::code::{AggKind, ProKind};
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{
    AggSplit, Aggref, ArrayExpr, CoercionForm, Expr, FuncExpr, Location, NamedArgExpr, WindowFunc,
};

/// The properties of a call besides its arguments.
struct CallSite<'a> {
    names: &'a [ast::Name],
    /// The function's name as written.
    text: String,
    /// `None`: a column reference in attribute notation.
    call: Option<&'a ast::FuncCall>,
    /// The call is the procedure call of a CALL statement.
    proc_call: bool,
    location: i32,
    filter: Option<Expr>,
    /// The names of the last arguments, which are given by name.
    argnames: Vec<String>,
    /// The call may be a column reference in functional notation.
    is_projection: bool,
}

impl CallSite<'_> {
    fn has(&self, property: impl Fn(&ast::FuncCall) -> bool) -> bool {
        self.call.is_some_and(property)
    }

    fn within_group(&self) -> bool {
        self.has(|c| c.agg_within_group)
    }

    fn form(&self) -> CoercionForm {
        self.call.map_or(CoercionForm::ExplicitCall, |c| match c.funcformat {
            ast::CoercionForm::SqlSyntax => CoercionForm::SqlSyntax,
            ast::CoercionForm::ExplicitCast => CoercionForm::ExplicitCast,
            ast::CoercionForm::ImplicitCast => CoercionForm::ImplicitCast,
            ast::CoercionForm::ExplicitCall => CoercionForm::ExplicitCall,
        })
    }
}

impl Analyzer<'_> {
    /// The procedure of a CALL statement, and the arguments in the order of its parameters, those
    /// of output parameters included.
    pub fn procedure_call(&mut self, stmt: &ast::CallStmt) -> Result<(Oid, Vec<Expr>)> {
        let call = &stmt.funccall;
        let mut args = Vec::with_capacity(call.args.len());
        for node in &call.args {
            args.push(self.expr_in(node, ExprKind::CallArgument)?);
        }
        let found = self.with_kind(ExprKind::CallArgument, |cx| {
            cx.func_or_column(&call.funcname, args, Some(call), true, call.location)
        })?;
        let Some(Expr::FuncExpr(f)) = found else {
            return Err(PgError::internal("CALL of a function that is not a procedure"));
        };
        let mut placed: Vec<Option<Expr>> = vec![None; f.args.len()];
        for (i, arg) in f.args.into_iter().enumerate() {
            let (place, mut e) = match arg {
                Expr::NamedArg(n) => (n.argnumber as usize, n.arg),
                other => (i, other),
            };
            self.assign_collations(&mut e)?;
            if let Some(slot) = placed.get_mut(place) {
                *slot = Some(e);
            }
        }
        let args: Option<Vec<Expr>> = placed.into_iter().collect();
        let args = args.ok_or_else(|| PgError::internal("CALL without a value for a parameter"))?;
        Ok((f.funcid, args))
    }
}

/// The meaning of a call.
enum Meaning {
    Function(Box<FoundFunction>),
    /// A cast or a column in functional notation.
    Expr(Expr),
    /// A column reference that no function matches.
    NoFunction,
}

/// A call whose arguments have been coerced.
struct TypedCall {
    function: FoundFunction,
    args: Vec<Expr>,
    rettype: Oid,
    variadic: bool,
}

impl Analyzer<'_> {
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
        if call.is_some_and(|c| !c.agg_within_group) {
            args.retain(|a| !matches!(a, Expr::Param(_)) || a.type_oid() != ty::VOID);
        }
        let actual: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let argnames = self.argument_names(&args)?;
        let is_projection = args.len() == 1
            && !proc_call
            && filter.is_none()
            && call.is_none_or(|c| {
                let is_plain = !c.agg_star && !c.agg_distinct && c.agg_order.is_empty();
                is_plain && c.over.is_none() && !c.func_variadic
            })
            && argnames.is_empty()
            && names.len() == 1
            && self.is_rowtype(actual[0])?;
        let text = dotted(names);
        let site =
            CallSite { names, text, call, proc_call, location, filter, argnames, is_projection };
        let function = match self.call_meaning(&site, &mut args, &actual)? {
            Meaning::Function(function) => function,
            Meaning::Expr(e) => return Ok(Some(e)),
            Meaning::NoFunction => return Ok(None),
        };
        self.check_kind_of_function(&site, &function, &args, &actual)?;
        let typed = self.typed_call(&site, *function, args, actual)?;
        if typed.function.retset {
            self.check_srf(location)?;
        }
        self.call_node(site, typed).map(Some)
    }

    /// Determines the meaning of a call. Counterpart: the first part of `ParseFuncOrColumn`.
    fn call_meaning(
        &mut self,
        site: &CallSite<'_>,
        args: &mut Vec<Expr>,
        actual: &[Oid],
    ) -> Result<Meaning> {
        let CallSite { names, text, call, proc_call, location, .. } = site;
        if site.is_projection && call.is_none() {
            match self.complex_projection(&names[0], args.remove(0), *location)? {
                Ok(found) => return Ok(Meaning::Expr(found)),
                Err(back) => args.push(back),
            }
        }
        let argnames: Vec<&str> = site.argnames.iter().map(String::as_str).collect();
        let expand_variadic = !site.has(|c| c.func_variadic);
        let detail =
            self.func_detail(names, &argnames, actual, expand_variadic, true, true, *proc_call);
        match self.with_position(detail, *location)? {
            FuncDetail::Found(function) => Ok(Meaning::Function(function)),
            FuncDetail::Coercion(target) => {
                self.no_aggregate_decoration(text, *call, site.filter.is_some(), *location)?;
                let cast = self.coerce_type(
                    args.remove(0),
                    target,
                    -1,
                    Context::Explicit,
                    CoercionForm::ExplicitCall,
                    Location(*location),
                )?;
                Ok(Meaning::Expr(cast))
            }
            FuncDetail::Ambiguous | FuncDetail::NotFound if call.is_none() => {
                Ok(Meaning::NoFunction)
            }
            FuncDetail::Ambiguous => {
                let signature = self.signature(text, &site.argnames, actual);
                let what = if *proc_call { "procedure" } else { "function" };
                let e = pg_err!(AMBIGUOUS_FUNCTION, "{what} {signature} is not unique");
                let e = e.hint(format!(
                    "Could not choose a best candidate {what}. You might need to add explicit \
                     type casts."
                ));
                Err(self.at(e, *location))
            }
            FuncDetail::NotFound => {
                if site.is_projection {
                    match self.complex_projection(&names[0], args.remove(0), *location)? {
                        Ok(found) => return Ok(Meaning::Expr(found)),
                        Err(back) => args.push(back),
                    }
                }
                let keys = call.filter(|_| !site.within_group()).map_or(0, |c| c.agg_order.len());
                let e = self.not_found(text, &site.argnames, actual, *proc_call, keys);
                Err(self.at(e, *location))
            }
        }
    }

    /// Errors if a function of this kind cannot be called in this way.
    fn check_kind_of_function(
        &mut self,
        site: &CallSite<'_>,
        function: &FoundFunction,
        args: &[Expr],
        actual: &[Oid],
    ) -> Result<()> {
        let CallSite { text, call, proc_call, location, .. } = site;
        if *proc_call != (function.kind == ProKind::Procedure) {
            let signature = self.signature(text, &site.argnames, actual);
            let e = if *proc_call {
                pg_err!(WRONG_OBJECT_TYPE, "{signature} is not a procedure")
                    .hint("To call a function, use SELECT.")
            } else {
                pg_err!(WRONG_OBJECT_TYPE, "{signature} is a procedure")
                    .hint("To call a procedure, use CALL.")
            };
            return Err(self.at(e, *location));
        }
        match function.kind {
            ProKind::Aggregate => self.check_aggregate_call(text, function, *call, args, *location),
            ProKind::Window if !site.has(|c| c.over.is_some()) => {
                let e =
                    pg_err!(WRONG_OBJECT_TYPE, "window function {text} requires an OVER clause");
                Err(self.at(e, *location))
            }
            ProKind::Window if site.within_group() => {
                let e =
                    pg_err!(WRONG_OBJECT_TYPE, "window function {text} cannot have WITHIN GROUP");
                Err(self.at(e, *location))
            }
            ProKind::Window => Ok(()),
            _ => self.no_aggregate_decoration(text, *call, site.filter.is_some(), *location),
        }
    }

    /// Adds the defaults and coerces all arguments to the types of the parameters.
    fn typed_call(
        &mut self,
        site: &CallSite<'_>,
        mut function: FoundFunction,
        mut args: Vec<Expr>,
        mut actual: Vec<Oid>,
    ) -> Result<TypedCall> {
        add_defaults(&mut function, &mut args, &mut actual);
        let mut declared = std::mem::take(&mut function.declared);
        if let (ProKind::Aggregate, Some(call)) = (function.kind, site.call)
            && self.cat.aggregate(function.oid)?.is_some_and(|a| a.aggkind == AggKind::Hypothetical)
        {
            let signature = self.signature(&site.text, &site.argnames, &actual);
            let name = (site.text.as_str(), signature.as_str());
            let done = self.unify_hypothetical(name, &mut args, &declared, call.agg_order.len());
            self.with_position(done, site.location)?;
            actual = args.iter().map(Expr::type_oid).collect();
        }
        let rettype = self.enforce_generics(&actual, &mut declared, function.rettype, false)?;
        let mut args = self.coerce_arguments(args, &actual, &declared)?;
        let mut variadic = site.has(|c| c.func_variadic);
        if function.nvargs > 0 && function.vatype != ty::ANY {
            args = self.gather_variadic(args, function.nvargs, site.location)?;
            variadic = true;
        }
        if variadic && function.vatype == ty::ANY {
            let last = args.last().map(|a| (a.type_oid(), a.location()));
            if let Some((ty, location)) = last
                && !self.base_element_type(ty)?.is_valid()
            {
                let e = pg_err!(DATATYPE_MISMATCH, "VARIADIC argument must be an array");
                return Err(self.at(e, location));
            }
        }
        Ok(TypedCall { function, args, rettype, variadic })
    }

    /// The expression node of a call: an aggregate, a window function or a plain function.
    fn call_node(&mut self, site: CallSite<'_>, typed: TypedCall) -> Result<Expr> {
        let location = Location(site.location);
        match (typed.function.kind, site.call.and_then(|c| c.over.as_deref()), site.call) {
            (ProKind::Aggregate, None, Some(call)) => {
                let agg = Aggref {
                    aggfnoid: typed.function.oid,
                    aggtype: typed.rettype,
                    aggcollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    aggtranstype: Oid::INVALID,
                    aggargtypes: Vec::new(),
                    aggdirectargs: Vec::new(),
                    args: Vec::new(),
                    aggorder: Vec::new(),
                    aggdistinct: Vec::new(),
                    aggfilter: site.filter,
                    aggstar: call.agg_star,
                    aggvariadic: typed.variadic,
                    aggkind: AggKind::Normal,
                    agglevelsup: 0,
                    aggsplit: AggSplit::Simple,
                    aggno: -1,
                    aggtransno: -1,
                    location,
                };
                self.aggregate_call(agg, typed.args, call)
            }
            (_, Some(over), Some(call)) => {
                self.check_window_call(&site, call, &typed.function)?;
                let window = WindowFunc {
                    winfnoid: typed.function.oid,
                    wintype: typed.rettype,
                    wincollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    args: typed.args,
                    aggfilter: site.filter,
                    winref: 0,
                    winstar: call.agg_star,
                    winagg: typed.function.kind == ProKind::Aggregate,
                    location,
                };
                self.window_call(window, over)
            }
            _ => Ok(Expr::FuncExpr(Box::new(FuncExpr {
                funcid: typed.function.oid,
                funcresulttype: typed.rettype,
                funcretset: typed.function.retset,
                funcvariadic: typed.variadic,
                funcformat: site.form(),
                funccollid: Oid::INVALID,
                inputcollid: Oid::INVALID,
                args: typed.args,
                location,
            }))),
        }
    }

    fn check_window_call(
        &mut self,
        site: &CallSite<'_>,
        call: &ast::FuncCall,
        function: &FoundFunction,
    ) -> Result<()> {
        let unsupported = if call.agg_distinct {
            Some("DISTINCT is not implemented for window functions")
        } else if !call.agg_order.is_empty() {
            Some("aggregate ORDER BY is not implemented for window functions")
        } else if function.kind != ProKind::Aggregate && site.filter.is_some() {
            Some("FILTER is not implemented for non-aggregate window functions")
        } else {
            None
        };
        if let Some(message) = unsupported {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "{message}");
            return Err(self.at(e, site.location));
        }
        if function.retset {
            let e = pg_err!(INVALID_FUNCTION_DEFINITION, "window functions cannot return sets");
            return Err(self.at(e, site.location));
        }
        Ok(())
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
}

/// Sets the parameter numbers of the arguments given by name, and appends the defaults.
fn add_defaults(function: &mut FoundFunction, args: &mut Vec<Expr>, actual: &mut Vec<Oid>) {
    if let Some(numbers) = &function.argnumbers {
        for (arg, &number) in args.iter_mut().zip(numbers) {
            if let Expr::NamedArg(named) = arg {
                named.argnumber = number as i32;
            }
        }
    }
    let nargs = args.len();
    for (i, default) in std::mem::take(&mut function.defaults).into_iter().enumerate() {
        actual.push(default.type_oid());
        // A `NamedArg` with an empty name marks a default, so that stored expressions omit it and
        // keep the call as written.
        let number = function.argnumbers.as_ref().map_or(nargs + i, |numbers| numbers[nargs + i]);
        args.push(Expr::NamedArg(Box::new(NamedArgExpr {
            arg: default,
            name: String::new(),
            argnumber: number as i32,
            location: Location::UNKNOWN,
        })));
    }
}
