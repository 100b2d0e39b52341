//! Operators: resolution and construction of their expression nodes. Counterpart:
//! parser/parse_oper.c.

use crate::candidates::Candidate;
use crate::coerce::{self, Context};
use crate::state::Analyzer;
use crate::ty;
use crate::typename::dotted;
use catalog::Row;
use catalog::rows::PgOperator;
use ids::Oid;
use ids::code::OprKind;
use parse::ast;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoercionForm, Expr, Location, OpExpr, ScalarArrayOpExpr};
use plan::query::SortGroupClause;

/// Operators for sorting and grouping a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct SortOperators {
    pub lt: Oid,
    pub eq: Oid,
    pub gt: Oid,
    pub hashable: bool,
}

impl SortOperators {
    /// How a set operation compares a column of type `ty`. A recursive UNION must hash its columns,
    /// so anonymous rows are assumed to be hashable; the executor reports an error if they are not.
    pub fn set_operation_clause(&self, ty: Oid, recursive: bool) -> SortGroupClause {
        let row = matches!(ty, ty::RECORD | ty::RECORD_ARRAY);
        SortGroupClause {
            tle_sort_group_ref: 0,
            eqop: self.eq,
            sortop: self.lt,
            nulls_first: false,
            hashable: self.hashable || (recursive && row),
        }
    }
}

enum Outcome {
    Found(Row<PgOperator>),
    NotFound,
    Ambiguous,
}

impl Analyzer<'_> {
    /// Operators of a name in the order of the search path.
    fn operators(
        &mut self,
        names: &[ast::Name],
        kind: OprKind,
    ) -> Result<Vec<(usize, Row<PgOperator>)>> {
        let (schema, name) = self.deconstruct(names)?;
        let namespace = schema.map(|s| self.namespace(s)).transpose()?;
        let path = self.cat.search_path()?;
        let temp = self.cat.temp_namespace()?;
        let mut found = Vec::new();
        for op in self.cat.operators_named(name)? {
            if op.oprkind != kind {
                continue;
            }
            let path_position = match namespace {
                Some(namespace) => (op.oprnamespace == namespace).then_some(0),
                None if temp.is_valid() && op.oprnamespace == temp => None,
                None => path.iter().position(|&n| n == op.oprnamespace),
            };
            if let Some(path_position) = path_position {
                found.push((path_position, op));
            }
        }
        found.sort_by_key(|f| f.0);
        Ok(found)
    }

    fn select_operator(
        &mut self,
        all: &[(usize, Row<PgOperator>)],
        input: &[Oid],
    ) -> Result<Outcome> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for (path_position, op) in all {
            let args = match input.len() {
                1 => vec![op.oprright],
                _ => vec![op.oprleft, op.oprright],
            };
            // An operator hides those with the same operand types in later schemas of the search
            // path.
            if candidates.iter().any(|c| c.args == args) {
                continue;
            }
            candidates.push(Candidate {
                oid: op.oid,
                args,
                path: *path_position,
                variadic: 0,
                defaults: 0,
                argnumbers: None,
            });
        }
        let candidates = self.match_argtypes(input, candidates)?;
        let best = match candidates.len() {
            0 => return Ok(Outcome::NotFound),
            1 => candidates.into_iter().next(),
            _ => self.select_candidate(input, candidates)?,
        };
        Ok(match best {
            Some(best) => match all.iter().find(|(_, op)| op.oid == best.oid) {
                Some((_, op)) => Outcome::Found(op.clone()),
                None => Outcome::NotFound,
            },
            None => Outcome::Ambiguous,
        })
    }

    fn find_binary(&mut self, names: &[ast::Name], left: Oid, right: Oid) -> Result<Outcome> {
        // A name cannot contain a zero byte.
        let key = names.iter().map(|n| &**n).collect::<Vec<_>>().join("\0");
        if let Some(cache) = self.cat.operator_cache()
            && let Some(op) = cache.get(&key, left, right)
        {
            return Ok(Outcome::Found(op));
        }
        let outcome = self.resolve_binary(names, left, right)?;
        if let Outcome::Found(op) = &outcome
            && let Some(cache) = self.cat.operator_cache()
        {
            cache.put(key, left, right, op.clone());
        }
        Ok(outcome)
    }

    fn resolve_binary(&mut self, names: &[ast::Name], left: Oid, right: Oid) -> Result<Outcome> {
        let all = self.operators(names, OprKind::Binary)?;
        let exact = |l: Oid, r: Oid| {
            all.iter().find(|(_, op)| op.oprleft == l && op.oprright == r).map(|(_, op)| op.clone())
        };
        // An unknown literal next to a typed operand is first assumed to have that type.
        let (l, r, was_unknown) = match (left == ty::UNKNOWN, right == ty::UNKNOWN) {
            (true, false) if right.is_valid() => (right, right, true),
            (false, true) if left.is_valid() => (left, left, true),
            _ => (left, right, false),
        };
        if let Some(op) = exact(l, r) {
            return Ok(Outcome::Found(op));
        }
        if was_unknown {
            let base = self.base_type(l)?;
            if base != l
                && let Some(op) = exact(base, base)
            {
                return Ok(Outcome::Found(op));
            }
        }
        self.select_operator(&all, &[left, right])
    }

    /// The operator for these operand types; errors if there is none or no best one.
    pub fn binary_operator(
        &mut self,
        names: &[ast::Name],
        left: Oid,
        right: Oid,
        location: i32,
    ) -> Result<Row<PgOperator>> {
        let found = self.find_binary(names, left, right);
        match self.with_position(found, location)? {
            Outcome::Found(op) => Ok(op),
            other => {
                let e = self.operator_error(names, Some(left), right, &other);
                Err(self.at(e, location))
            }
        }
    }

    /// As [`Self::binary_operator`], but `None` if there is no such operator.
    pub fn try_binary_operator(
        &mut self,
        names: &[ast::Name],
        left: Oid,
        right: Oid,
    ) -> Result<Option<Row<PgOperator>>> {
        Ok(match self.find_binary(names, left, right)? {
            Outcome::Found(op) => Some(op),
            _ => None,
        })
    }

    /// The operator with exactly these operand types; 42883 if there is none. Counterpart:
    /// `LookupOperName`.
    pub fn exact_operator(&mut self, names: &[ast::Name], left: Oid, right: Oid) -> Result<Oid> {
        let all = self.operators(names, OprKind::Binary)?;
        let found = all.iter().find(|(_, op)| op.oprleft == left && op.oprright == right);
        if let Some((_, op)) = found {
            return Ok(op.oid);
        }
        let signature = self.operator_signature(names, Some(left), right);
        Err(pg_err!(UNDEFINED_FUNCTION, "operator does not exist: {signature}"))
    }

    /// An operator whose operand types are binary coercible from these types. Counterpart:
    /// `compatible_oper`.
    pub fn compatible_operator(
        &mut self,
        names: &[ast::Name],
        left: Oid,
        right: Oid,
    ) -> Result<Row<PgOperator>> {
        let op = self.binary_operator(names, left, right, -1)?;
        if self.binary_coercible(left, op.oprleft)? && self.binary_coercible(right, op.oprright)? {
            return Ok(op);
        }
        let signature = self.operator_signature(names, Some(left), right);
        Err(pg_err!(UNDEFINED_FUNCTION, "operator requires run-time type coercion: {signature}"))
    }

    fn prefix_operator(
        &mut self,
        names: &[ast::Name],
        right: Oid,
        location: i32,
    ) -> Result<Row<PgOperator>> {
        let all = self.operators(names, OprKind::Prefix);
        let all = self.with_position(all, location)?;
        if let Some((_, op)) = all.iter().find(|(_, op)| op.oprright == right) {
            return Ok(op.clone());
        }
        match self.select_operator(&all, &[right])? {
            Outcome::Found(op) => Ok(op),
            other => {
                let e = self.operator_error(names, None, right, &other);
                Err(self.at(e, location))
            }
        }
    }

    fn operator_signature(&mut self, names: &[ast::Name], left: Option<Oid>, right: Oid) -> String {
        let right = self.format_type(right);
        match left {
            Some(left) => format!("{} {} {right}", self.format_type(left), dotted(names)),
            None => format!("{} {right}", dotted(names)),
        }
    }

    fn operator_error(
        &mut self,
        names: &[ast::Name],
        left: Option<Oid>,
        right: Oid,
        outcome: &Outcome,
    ) -> PgError {
        let signature = self.operator_signature(names, left, right);
        if matches!(outcome, Outcome::Ambiguous) {
            return pg_err!(AMBIGUOUS_FUNCTION, "operator is not unique: {signature}").hint(
                "Could not choose a best candidate operator. You might need to add explicit type \
                 casts.",
            );
        }
        let hint = match left {
            None => {
                "No operator matches the given name and argument type. You might need to add an \
                 explicit type cast."
            }
            Some(_) => {
                "No operator matches the given name and argument types. You might need to add \
                 explicit type casts."
            }
        };
        pg_err!(UNDEFINED_FUNCTION, "operator does not exist: {signature}").hint(hint)
    }

    /// An operator expression with its operands coerced. Without a left operand it is a prefix
    /// operator.
    pub fn make_op(
        &mut self,
        names: &[ast::Name],
        left: Option<Expr>,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let right_type = right.type_oid();
        let (op, args, actual, mut declared) = match left {
            Some(left) => {
                let left_type = left.type_oid();
                let op = self.binary_operator(names, left_type, right_type, location)?;
                let declared = vec![op.oprleft, op.oprright];
                (op, vec![left, right], vec![left_type, right_type], declared)
            }
            None => {
                let op = self.prefix_operator(names, right_type, location)?;
                let declared = vec![op.oprright];
                (op, vec![right], vec![right_type], declared)
            }
        };
        if !op.oprcode.is_valid() {
            let signature =
                self.operator_signature(names, (args.len() > 1).then(|| actual[0]), right_type);
            let e = pg_err!(UNDEFINED_FUNCTION, "operator is only a shell: {signature}");
            return Err(self.at(e, location));
        }
        let opresulttype = self.enforce_generics(&actual, &mut declared, op.oprresult, false)?;
        let args = self.coerce_arguments(args, &actual, &declared)?;
        let opretset = match self.cat.proc_row(op.oprcode)? {
            Some(proc) => proc.proretset,
            None => false,
        };
        if opretset {
            self.check_srf(location)?;
        }
        Ok(Expr::OpExpr(Box::new(OpExpr {
            opno: op.oid,
            opfuncid: op.oprcode,
            opresulttype,
            opretset,
            opcollid: Oid::INVALID,
            inputcollid: Oid::INVALID,
            args,
            location: Location(location),
        })))
    }

    /// `x op ANY (array)` and `x op ALL (array)`. Counterpart: `make_scalar_array_op`.
    pub fn make_scalar_array_op(
        &mut self,
        names: &[ast::Name],
        use_or: bool,
        left: Expr,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let (left_type, array_type) = (left.type_oid(), right.type_oid());
        let element = if array_type == ty::UNKNOWN {
            ty::UNKNOWN
        } else {
            let element = self.base_element_type(array_type)?;
            if !element.is_valid() {
                let e =
                    pg_err!(WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side");
                return Err(self.at(e, location));
            }
            element
        };
        let op = self.binary_operator(names, left_type, element, location)?;
        let actual = [left_type, element];
        let mut declared = [op.oprleft, op.oprright];
        let result = self.enforce_generics(&actual, &mut declared, op.oprresult, false);
        let result = self.with_position(result, location)?;
        if result != ty::BOOL {
            let e =
                pg_err!(WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator to yield boolean");
            return Err(self.at(e, location));
        }
        if self.cat.proc_row(op.oprcode)?.is_some_and(|p| p.proretset) {
            let e = pg_err!(
                WRONG_OBJECT_TYPE,
                "op ANY/ALL (array) requires operator not to return a set"
            );
            return Err(self.at(e, location));
        }
        let declared_array = if ty::is_polymorphic(declared[1]) {
            array_type
        } else {
            let array = self.array_type(declared[1])?;
            if !array.is_valid() {
                let name = self.format_type(declared[1]);
                let e = pg_err!(UNDEFINED_OBJECT, "could not find array type for data type {name}");
                return Err(self.at(e, location));
            }
            array
        };
        let args = self.coerce_arguments(
            vec![left, right],
            &[left_type, array_type],
            &[declared[0], declared_array],
        )?;
        Ok(Expr::ScalarArrayOp(Box::new(ScalarArrayOpExpr {
            opno: op.oid,
            opfuncid: op.oprcode,
            hashfuncid: Oid::INVALID,
            negfuncid: Oid::INVALID,
            use_or,
            inputcollid: Oid::INVALID,
            args,
            location: Location(location),
        })))
    }

    /// Coerces arguments to the declared types. Counterpart: `make_fn_arguments`.
    pub fn coerce_arguments(
        &mut self,
        args: Vec<Expr>,
        actual: &[Oid],
        declared: &[Oid],
    ) -> Result<Vec<Expr>> {
        let mut out = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            let target = declared.get(i).copied().unwrap_or(ty::ANY);
            if actual[i] == target {
                out.push(arg);
                continue;
            }
            let form = CoercionForm::ImplicitCast;
            out.push(match arg {
                Expr::NamedArg(mut named) => {
                    let inner = std::mem::replace(
                        &mut named.arg,
                        coerce::null_const(ty::UNKNOWN, -2, false),
                    );
                    named.arg = self.coerce_type(
                        inner,
                        target,
                        -1,
                        Context::Implicit,
                        form,
                        Location::UNKNOWN,
                    )?;
                    Expr::NamedArg(named)
                }
                arg => {
                    self.coerce_type(arg, target, -1, Context::Implicit, form, Location::UNKNOWN)?
                }
            });
        }
        Ok(out)
    }

    /// The default ordering and equality operators of a type. Counterpart:
    /// `get_sort_group_operators`.
    pub fn sort_operators(&mut self, oid: Oid) -> Result<SortOperators> {
        let ops = self.cat.type_ops(oid)?;
        Ok(SortOperators { lt: ops.lt, eq: ops.eq, gt: ops.gt, hashable: ops.hash.is_valid() })
    }

    /// As [`Self::sort_operators`], with an error if a required operator is missing.
    pub fn need_sort_operators(
        &mut self,
        oid: Oid,
        need_lt: bool,
        need_eq: bool,
        need_gt: bool,
    ) -> Result<SortOperators> {
        let ops = self.sort_operators(oid)?;
        if (need_lt && !ops.lt.is_valid()) || (need_gt && !ops.gt.is_valid()) {
            let name = self.format_type(oid);
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "could not identify an ordering operator for type {name}"
            )
            .hint("Use an explicit ordering operator or modify the query."));
        }
        if need_eq && !ops.eq.is_valid() {
            let name = self.format_type(oid);
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "could not identify an equality operator for type {name}"
            ));
        }
        Ok(ops)
    }
}
