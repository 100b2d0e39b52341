//! Function calls: resolution of the function and construction of its expression node. Counterpart:
//! parser/parse_func.c.

use crate::candidates::Candidate;
use crate::coerce::{Context, Path};
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use ids::code::{AggKind, ProKind, TypCategory, TypType};
use ids::{Oid, RelKind};
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{Expr, FieldSelect};

/// The result of function lookup by name and arguments.
pub enum FuncDetail {
    NotFound,
    Ambiguous,
    /// A cast written as a call; the target type.
    Coercion(Oid),
    Found(Box<FoundFunction>),
}

/// A function, aggregate or procedure that was found for a call.
pub struct FoundFunction {
    pub oid: Oid,
    pub kind: ProKind,
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
        let all = (proc.prokind == ProKind::Procedure)
            .then(|| crate::candidates::with_outputs(&proc))
            .flatten();
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
        if row.typtype == TypType::Composite && row.typrelid.is_valid() {
            let standalone = self
                .cat
                .relation(row.typrelid)?
                .is_some_and(|r| r.class.relkind == RelKind::CompositeType);
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
                Some(Path::Io) => {
                    !(self.is_rowtype(source)? && self.category(target)?.0 == TypCategory::STRING)
                }
                _ => false,
            }
        };
        Ok(is_cast.then_some(target))
    }

    pub(crate) fn no_aggregate_decoration(
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
    pub(crate) fn unify_hypothetical(
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

    pub(crate) fn check_aggregate_call(
        &mut self,
        name: &str,
        func: &FoundFunction,
        call: Option<&ast::FuncCall>,
        args: &[Expr],
        location: i32,
    ) -> Result<()> {
        let Some(call) = call else { return Ok(()) };
        let kind = self.cat.aggregate(func.oid)?.map_or(AggKind::Normal, |a| a.aggkind);
        let e = if kind != AggKind::Normal {
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

    pub(crate) fn signature(&mut self, name: &str, argnames: &[String], types: &[Oid]) -> String {
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

    /// `name(type, …)` for messages.
    pub fn function_signature(&mut self, name: &str, types: &[Oid]) -> String {
        self.signature(name, &[], types)
    }

    pub(crate) fn not_found(
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
        let clause = match kind {
            ExprKind::None => return Ok(()),
            ExprKind::JoinOn | ExprKind::JoinUsing => "JOIN conditions",
            ExprKind::WindowFrameRange
            | ExprKind::WindowFrameRows
            | ExprKind::WindowFrameGroups => "window definitions",
            ExprKind::MergeWhen => "MERGE WHEN conditions",
            other => other.phrase(),
        };
        let e =
            pg_err!(FEATURE_NOT_SUPPORTED, "set-returning functions are not allowed in {clause}");
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
