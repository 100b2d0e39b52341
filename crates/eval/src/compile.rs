//! Compiles an analysed expression to a [`Program`]. Counterpart: execExpr.c.

use crate::batch;
use crate::depth::{DEPTH_MAX, too_deep};
use crate::elements::Elements;
use crate::facts::{Callee, Facts, FnFacts, TypeIo};
use crate::program::{
    Call, CaseArm, DomainNames, DomainTest, Elem, HstoreSubscript, IoCall, JsonbStep,
    JsonbSubscript, Node, Program, RowPair, Slot, SubscriptUse,
};
use crate::relabel::{self, OPAQUE_VALUE, is_opaque};
use crate::volatility::computes_itself;
use ids::Oid;
use ids::code::Volatility;
use pgerror::{PgError, Result};
use plan::expr::{
    Aggref, ArrayCoerceExpr, BoolOp, CaseExpr, CoerceToDomain, CoerceViaIo, CoercionForm, Const,
    Expr, FuncExpr, GroupingFunc, Location, MinMaxExpr, OpExpr, ParamKind, RowCompareExpr, RowExpr,
    ScalarArrayOpExpr, SubPlan, SubscriptingRef, Var, WindowFunc,
};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;
use types::builtin::ScalarFn;
use types::fn_context::{RowColumn, RowDesc};
use types::{Datum, oids};

/// The error (42P22) for a function that needs a collation where the operands' collations conflict.
/// `what` is "comparison" or "hashing".
pub fn undetermined(what: &str) -> PgError {
    pgerror::pg_err!(
        INDETERMINATE_COLLATION,
        "could not determine which collation to use for string {what}"
    )
    .hint("Use the COLLATE clause to set the collation explicitly.")
}

/// True for functions that read only the dimensions and bounds of an array.
fn reads_header(f: &FnFacts) -> bool {
    f.oid < Oid::FIRST_NORMAL
        && matches!(
            &*f.name,
            "array_length"
                | "array_upper"
                | "array_lower"
                | "array_ndims"
                | "array_dims"
                | "cardinality"
                | "array_cardinality"
        )
}

/// True for functions that compare text and raise an error without a collation. Counterpart:
/// `check_collation_set`.
fn needs_collation(function: &str) -> bool {
    const COMPARISONS: [&str; 49] = [
        "texteq",
        "textne",
        "text_lt",
        "text_le",
        "text_gt",
        "text_ge",
        "text_larger",
        "text_smaller",
        "bttextcmp",
        "starts_with",
        "bpchareq",
        "bpcharne",
        "bpcharlt",
        "bpcharle",
        "bpchargt",
        "bpcharge",
        "bpcharcmp",
        "bpchar_larger",
        "bpchar_smaller",
        "nameeqtext",
        "namenetext",
        "namelttext",
        "nameletext",
        "namegttext",
        "namegetext",
        "texteqname",
        "textnename",
        "textltname",
        "textlename",
        "textgtname",
        "textgename",
        "position",
        "strpos",
        "replace",
        "split_part",
        "array_eq",
        "array_ne",
        "array_lt",
        "array_le",
        "array_gt",
        "array_ge",
        "array_larger",
        "array_smaller",
        "btarraycmp",
        "arrayoverlap",
        "arraycontains",
        "arraycontained",
        "array_position",
        "array_positions",
    ];
    COMPARISONS.contains(&function)
}

/// True if the node computes a value from constants. Such a node is left in a plan only if its
/// value, or one that it is computed from, is long.
fn is_constant(node: &Node) -> bool {
    let (args, by_val): (&[Node], _) = match node {
        Node::Call(call) => (&call.args, call.result_by_val != Some(false)),
        Node::CoerceIo { arg, by_val, .. } => (std::slice::from_ref(arg), *by_val != Some(false)),
        Node::ArrayCoerce { arg, .. } => (std::slice::from_ref(arg), false),
        _ => return false,
    };
    let is_once = |arg: &Node| matches!(arg, Node::Once { .. });
    args.iter().all(|arg| matches!(arg, Node::Const(_)) || is_once(arg))
        && (!by_val || args.iter().any(is_once))
}

/// True for text types and arrays of them, whose comparison needs a collation.
pub fn compares_text(ty: Oid) -> bool {
    matches!(
        ty,
        oids::TEXT
            | oids::VARCHAR
            | oids::BPCHAR
            | oids::TEXT_ARRAY
            | oids::VARCHAR_ARRAY
            | oids::BPCHAR_ARRAY
    )
}

fn is_text(arg: &Expr) -> bool {
    compares_text(arg.type_oid())
}

/// Resolves the columns of an expression to slots of the input rows.
pub trait Resolve {
    /// A plain or system column.
    fn var(&mut self, var: &Var) -> Result<Slot>;

    /// The columns of a whole-row reference, with their description.
    fn whole_row(&mut self, var: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let _ = var;
        Err(PgError::internal("whole-row reference in an expression without a row"))
    }

    /// The slot of an aggregate's result in the enclosing Agg node.
    fn aggref(&mut self, agg: &Aggref) -> Result<Slot> {
        let _ = agg;
        Err(PgError::internal("aggregate outside an Agg node"))
    }

    fn grouping(&mut self, g: &GroupingFunc) -> Result<Slot> {
        let _ = g;
        Err(PgError::internal("GROUPING outside an Agg node"))
    }

    fn window_func(&mut self, w: &WindowFunc) -> Result<Slot> {
        let _ = w;
        Err(PgError::internal("window function outside a WindowAgg node"))
    }
}

/// Resolver for expressions without columns.
pub struct NoColumns;

impl Resolve for NoColumns {
    fn var(&mut self, _: &Var) -> Result<Slot> {
        Err(PgError::internal("column reference in an expression without a row"))
    }
}

/// Compiles expressions. Its methods may be called for several expressions with the same columns.
pub struct Compiler<'a> {
    facts: &'a mut dyn Facts,
    resolve: &'a mut dyn Resolve,
    sites: usize,
    depth: u32,
    /// The column that `CaseTest` refers to in the conditions of a CASE over a column.
    case_column: Option<Slot>,
}

impl<'a> Compiler<'a> {
    /// A compiler that looks up functions and types in `facts` and columns in `resolve`.
    pub fn new(facts: &'a mut dyn Facts, resolve: &'a mut dyn Resolve) -> Compiler<'a> {
        Compiler { facts, resolve, sites: 0, depth: 0, case_column: None }
    }

    /// Compiles an expression. Fails with 54001 if it is nested too deeply.
    pub fn compile(&mut self, expr: &Expr) -> Result<Program> {
        self.sites = 0;
        let root = self.node(expr)?;
        let type_oid = expr.type_oid();
        let by_val = self.facts.type_info(type_oid)?.by_val;
        Ok(Program { root, sites: self.sites, type_oid, by_val })
    }

    /// Compiles a list of conditions that are implicitly ANDed, such as WHERE; an empty list is
    /// true. Unlike in an AND, the first condition that is NULL decides: later ones are not
    /// evaluated for that row. Counterpart: `ExecInitQual`.
    pub fn compile_all(&mut self, quals: &[Expr]) -> Result<Program> {
        self.sites = 0;
        let mut nodes = Vec::with_capacity(quals.len());
        for q in quals {
            nodes.push(self.node(q)?);
        }
        let root = match nodes.len() {
            0 => Node::Const(Datum::bool(true)),
            1 => nodes.pop().expect("one node"),
            _ => Node::Quals(nodes),
        };
        Ok(Program { root, sites: self.sites, type_oid: oids::BOOL, by_val: true })
    }

    /// A value that is cast to one of the types of [`is_opaque`]. Only whether it is NULL can be
    /// observed, so a value of the pseudo-type's physical form replaces it.
    fn opaque(&mut self, arg: &Expr) -> Result<Node> {
        let arm = CaseArm {
            cond: Node::NullTest { arg: self.boxed(arg)?, is_not: true, row: false },
            result: Node::Const(OPAQUE_VALUE),
        };
        Ok(Node::Case { arg: None, arms: vec![arm], default: None, by_val: None })
    }

    fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites - 1
    }

    fn nodes(&mut self, exprs: &[Expr]) -> Result<Vec<Node>> {
        exprs.iter().map(|e| self.node(e)).collect()
    }

    fn boxed(&mut self, expr: &Expr) -> Result<Box<Node>> {
        Ok(Box::new(self.node(expr)?))
    }

    fn optional(&mut self, expr: Option<&Expr>) -> Result<Option<Box<Node>>> {
        expr.map(|e| self.boxed(e)).transpose()
    }

    fn node(&mut self, expr: &Expr) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.depth = 0;
            return Err(too_deep());
        }
        let node = self.node_inner(expr);
        self.depth = self.depth.saturating_sub(1);
        match node? {
            node if is_constant(&node) && computes_itself(expr, self.facts)? => {
                Ok(Node::Once { node: Arc::new(node), site: self.site() })
            }
            node => Ok(node),
        }
    }

    fn node_inner(&mut self, expr: &Expr) -> Result<Node> {
        Ok(match expr {
            Expr::Var(n) if n.varattno == 0 => {
                let (slots, desc) = self.resolve.whole_row(n)?;
                Node::WholeRow { slots, desc, type_oid: n.vartype }
            }
            Expr::Var(n) => Node::Slot(self.resolve.var(n)?),
            Expr::Const(n) if is_opaque(n.consttype) && !n.value.is_null() => {
                Node::Const(OPAQUE_VALUE)
            }
            Expr::Const(n) => Node::Const(n.value.clone()),
            Expr::Param(n) => match n.paramkind {
                ParamKind::Extern => Node::ExternParam(n.paramid),
                ParamKind::Exec => Node::ExecParam(n.paramid),
                kind => return Err(PgError::internal(format!("unplanned parameter {kind:?}"))),
            },
            Expr::Aggref(n) => Node::Slot(self.resolve.aggref(n)?),
            Expr::GroupingFunc(n) => Node::Slot(self.resolve.grouping(n)?),
            Expr::WindowFunc(n) => Node::Slot(self.resolve.window_func(n)?),
            // pg_typeof (OID 1619): its result is known at compile time.
            Expr::FuncExpr(n) if n.funcid == ids::builtin::proc::PG_TYPEOF && n.args.len() == 1 => {
                Node::Const(Datum::oid(n.args[0].type_oid()))
            }
            Expr::FuncExpr(n) => self.function(n)?,
            Expr::OpExpr(n) => {
                let f = self.operator(n.opno, n.opfuncid)?;
                self.call(&f, &n.args, n.inputcollid, n.opresulttype)?
            }
            Expr::Distinct(n) => self.comparison(n, Node::Distinct)?,
            Expr::NullIf(n) => self.comparison(n, Node::NullIf)?,
            Expr::ScalarArrayOp(n) => self.scalar_array(n)?,
            Expr::Bool(n) => match n.boolop {
                BoolOp::And => Node::And(self.nodes(&n.args)?),
                BoolOp::Or => Node::Or(self.nodes(&n.args)?),
                BoolOp::Not => match n.args.first() {
                    Some(arg) => Node::Not(self.boxed(arg)?),
                    None => return Err(PgError::internal("NOT without an argument")),
                },
            },
            Expr::SubLink(_) => return Err(PgError::internal("unplanned sub-select")),
            Expr::SubPlan(n) => self.subplan(n)?,
            Expr::SubscriptingRef(n) => self.subscript(n)?,
            Expr::FieldSelect(n) => Node::FieldSelect {
                arg: self.boxed(&n.arg)?,
                field: n.fieldnum,
                result_type: n.resulttype,
            },
            Expr::FieldStore(n) => {
                let arg = self.boxed(&n.arg)?;
                let vals = self.nodes(&n.newvals)?;
                let fields = n.fieldnums.iter().copied().zip(vals).collect();
                Node::FieldStore { arg, fields, row_type: n.resulttype }
            }
            Expr::Relabel(n) if is_opaque(n.resulttype) => self.opaque(&n.arg)?,
            Expr::Relabel(n) => match relabel::extension(n, self.facts)? {
                Some(signed) => Node::Extend { arg: self.boxed(&n.arg)?, signed },
                None => self.node(&n.arg)?,
            },
            Expr::Collate(n) => self.node(&n.arg)?,
            Expr::NamedArg(n) => self.node(&n.arg)?,
            Expr::CoerceViaIo(n) => self.coerce_io(n)?,
            Expr::ArrayCoerce(n) => self.array_coerce(n)?,
            Expr::ConvertRowtype(n) => {
                Node::ConvertRow { arg: self.boxed(&n.arg)?, result_type: n.resulttype }
            }
            Expr::Case(n) => self.case(n)?,
            Expr::CaseTest(_) => self.case_column.map_or(Node::Placeholder, Node::Slot),
            Expr::CoerceToDomainValue(_) => Node::Placeholder,
            Expr::Array(n) => Node::Array {
                elements: self.nodes(&n.elements)?,
                elem: self.elem(n.element_typeid)?,
                multidims: n.multidims,
            },
            Expr::Row(n) => self.row(n)?,
            Expr::RowCompare(n) => self.row_compare(n)?,
            Expr::Coalesce(n) => Node::Coalesce {
                args: self.nodes(&n.args)?,
                by_val: self.facts.type_info(n.coalescetype)?.by_val,
            },
            Expr::MinMax(n) => self.min_max(n)?,
            Expr::SqlValue(n) => {
                Node::SqlValue { kind: n.op, type_oid: n.typeid, typmod: n.typmod }
            }
            Expr::NullTest(n) => {
                Node::NullTest { arg: self.boxed(&n.arg)?, is_not: n.is_not, row: n.argisrow }
            }
            Expr::BooleanTest(n) => {
                Node::BoolTest { arg: self.boxed(&n.arg)?, kind: n.booltesttype }
            }
            Expr::CoerceToDomain(n) => self.domain(n)?,
            Expr::SetToDefault(_) => return Err(PgError::internal("unexpanded DEFAULT")),
            Expr::Xml(_) => return Err(PgError::unsupported("an expression of SQL/XML")),
            Expr::CurrentOf(_) => return Err(PgError::unsupported("WHERE CURRENT OF here")),
            Expr::NextValue(n) => Node::NextValue { sequence: n.seqid, type_oid: n.typeid },
        })
    }

    /// The node that `make` makes of the call of an equality.
    fn comparison(&mut self, n: &OpExpr, make: fn(Box<Call>) -> Node) -> Result<Node> {
        let f = self.operator(n.opno, n.opfuncid)?;
        if let Callee::Host = f.callee {
            let types = n.args.iter().map(Expr::type_oid).collect();
            let args = SmallVec::from_vec(self.nodes(&n.args)?);
            return Ok(make(self.hosted_call(&f, args, types, n.inputcollid)));
        }
        Ok(match self.builtin_call(&f, &n.args, n.inputcollid, oids::BOOL)? {
            Some(call) => make(call),
            None => Node::Missing { name: f.name.clone() },
        })
    }

    /// The call of an operator's function that the session runs.
    fn hosted_call(
        &mut self,
        f: &FnFacts,
        args: SmallVec<[Node; 2]>,
        arg_types: SmallVec<[Oid; 2]>,
        collation: Oid,
    ) -> Box<Call> {
        Box::new(Call {
            f: |_, _| Err(PgError::internal("call of a function that the session runs")),
            hosted: Some(f.oid),
            kernel: None,
            words: None,
            args,
            arg_types,
            strict: f.strict,
            reads_header: false,
            collation,
            result_type: oids::BOOL,
            result_by_val: None,
            variadic_array: false,
            site: self.site(),
        })
    }

    fn function(&mut self, n: &FuncExpr) -> Result<Node> {
        let f = self.facts.function(n.funcid)?;
        let args = arguments(&n.args, &f)?;
        let mut node = self.call(&f, &args, n.inputcollid, n.funcresulttype)?;
        if let Node::Call(call) = &mut node {
            call.variadic_array = n.funcvariadic;
        }
        Ok(node)
    }

    fn row(&mut self, n: &RowExpr) -> Result<Node> {
        let columns = n
            .args
            .iter()
            .enumerate()
            .map(|(i, a)| RowColumn {
                name: n.colnames.get(i).cloned().unwrap_or_else(|| format!("f{}", i + 1)),
                ty: a.type_oid(),
                typmod: a.typmod(),
                collation: a.collation(),
                dropped: None,
            })
            .collect();
        let desc = Arc::new(RowDesc::new(columns, 0));
        Ok(Node::Row { args: self.nodes(&n.args)?, desc, type_oid: n.row_typeid })
    }

    fn min_max(&mut self, n: &MinMaxExpr) -> Result<Node> {
        if !n.inputcollid.is_valid() && n.args.iter().any(is_text) && n.args.len() > 1 {
            return Err(undetermined("comparison"));
        }
        Ok(Node::MinMax {
            args: self.nodes(&n.args)?,
            greatest: n.greatest,
            cmp: self.facts.type_compare(n.minmaxtype, n.inputcollid)?,
            collation: n.inputcollid,
        })
    }

    fn operator(&mut self, opno: Oid, opfuncid: Oid) -> Result<Arc<FnFacts>> {
        let funcid = match opfuncid.valid() {
            Some(f) => f,
            None => self.facts.operator_function(opno)?,
        };
        self.facts.function(funcid)
    }

    fn call(
        &mut self,
        f: &FnFacts,
        args: &[Expr],
        collation: Oid,
        result_type: Oid,
    ) -> Result<Node> {
        Ok(match f.callee {
            Callee::Host => Node::HostCall {
                function: f.oid,
                strict: f.strict,
                collation,
                result_type,
                arg_types: args.iter().map(Expr::type_oid).collect(),
                args: self.nodes(args)?,
            },
            Callee::Srf(_) | Callee::HostSet => {
                return Err(pgerror::pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "set-valued function called in context that cannot accept a set"
                ));
            }
            Callee::Missing | Callee::Window(_) => Node::Missing { name: f.name.clone() },
            Callee::Scalar(_) => match self.builtin_call(f, args, collation, result_type)? {
                Some(call) => Node::Call(call),
                None => Node::Missing { name: f.name.clone() },
            },
        })
    }

    fn builtin_call(
        &mut self,
        f: &FnFacts,
        args: &[Expr],
        collation: Oid,
        result_type: Oid,
    ) -> Result<Option<Box<Call>>> {
        let Callee::Scalar(plain) = f.callee else { return Ok(None) };
        let collated = self.collated(f, collation)?;
        if !collation.is_valid() && needs_collation(&f.name) && args.iter().any(is_text) {
            return self.undetermined_call(f, args, result_type).map(Some);
        }
        let site = self.site();
        let nodes = self.nodes(args)?;
        let result_by_val = match f.volatility {
            Volatility::Volatile => None,
            _ => Some(self.facts.type_info(result_type)?.by_val),
        };
        Ok(Some(Box::new(Call {
            f: collated.unwrap_or(plain),
            hosted: None,
            kernel: f.kernel.filter(|_| nodes.len() == 2 && collated.is_none()),
            words: f.words.filter(|_| nodes.len() == 2 && collated.is_none()),
            args: SmallVec::from_vec(nodes),
            arg_types: args.iter().map(Expr::type_oid).collect(),
            strict: f.strict,
            reads_header: reads_header(f),
            collation,
            result_type,
            result_by_val,
            variadic_array: false,
            site,
        })))
    }

    /// The function that takes the place of a built-in one under the collation.
    fn collated(&mut self, f: &FnFacts, collation: Oid) -> Result<Option<ScalarFn>> {
        let Some(collated) = f.collated else { return Ok(None) };
        let collation = collated.collation(collation);
        if !collation.is_valid() {
            return Ok(None);
        }
        let locale = self.facts.collation_locale(collation)?;
        Ok(locale.and_then(|locale| collated.under(&locale)))
    }

    /// A comparison of texts whose collations conflict. The error is raised when it is called, not
    /// at compile time: there may be no rows, or the arguments may be NULL.
    fn undetermined_call(
        &mut self,
        f: &FnFacts,
        args: &[Expr],
        result_type: Oid,
    ) -> Result<Box<Call>> {
        Ok(Box::new(Call {
            f: |_, _| Err(undetermined("comparison")),
            hosted: None,
            kernel: None,
            words: None,
            arg_types: args.iter().map(Expr::type_oid).collect(),
            args: SmallVec::from_vec(self.nodes(args)?),
            strict: f.strict,
            reads_header: false,
            collation: Oid::INVALID,
            result_type,
            result_by_val: None,
            variadic_array: false,
            site: self.site(),
        }))
    }

    fn elem(&mut self, ty: Oid) -> Result<Elem> {
        Ok(Elem { ty, info: self.facts.type_info(ty)? })
    }

    /// The element type of an array type, or of a domain whose base type is an array type.
    fn elem_of(&mut self, array_type: Oid) -> Result<Elem> {
        let (base, _) = self.facts.base_type(array_type)?;
        let elem = self.facts.type_info(base)?.elem;
        self.elem(elem)
    }

    fn scalar_array(&mut self, n: &ScalarArrayOpExpr) -> Result<Node> {
        let f = self.operator(n.opno, n.opfuncid)?;
        let [scalar, array] = n.args.as_slice() else {
            return Err(PgError::internal("array comparison without two arguments"));
        };
        let elem = self.elem_of(array.type_oid())?;
        let fp = match f.callee {
            Callee::Scalar(fp) => fp,
            Callee::Host => {
                let args = SmallVec::from([self.node(scalar)?, self.node(array)?]);
                let types = SmallVec::from([scalar.type_oid(), elem.ty]);
                let call = self.hosted_call(&f, args, types, n.inputcollid);
                return Ok(Node::ScalarArray { call, use_or: n.use_or, elem, elements: None });
            }
            _ => return Ok(Node::Missing { name: f.name.clone() }),
        };
        let collated = self.collated(&f, n.inputcollid)?;
        let conflict = !n.inputcollid.is_valid() && needs_collation(&f.name) && is_text(scalar);
        let fp: ScalarFn =
            if conflict { |_, _| Err(undetermined("comparison")) } else { collated.unwrap_or(fp) };
        let site = self.site();
        let args = [self.node(scalar)?, self.node(array)?];
        let call = Box::new(Call {
            f: fp,
            hosted: None,
            kernel: None,
            words: f.words,
            args: SmallVec::from(args),
            arg_types: SmallVec::from([scalar.type_oid(), elem.ty]),
            strict: f.strict,
            reads_header: false,
            collation: n.inputcollid,
            result_type: oids::BOOL,
            result_by_val: None,
            variadic_array: false,
            site,
        });
        let elements = match &call.args[1] {
            Node::Const(array) if !array.is_null() => {
                // Without a collation the function must be called, because it raises the error;
                // under some collations, equal texts have different bytes.
                let known = (!conflict && collated.is_none()).then_some(&*f);
                Some(Elements::new(array, &elem, known, n.use_or)?)
            }
            _ => None,
        };
        Ok(Node::ScalarArray { call, use_or: n.use_or, elem, elements })
    }

    fn subplan(&mut self, n: &SubPlan) -> Result<Node> {
        let args = self.nodes(&n.args)?;
        let test = self.optional(n.testexpr.as_ref())?;
        let mut outer = Vec::new();
        if n.use_hash_table {
            let mut parts = Vec::new();
            n.testexpr.iter().for_each(|t| hashed_parts(t, &mut parts));
            for op in parts {
                outer.push(self.node(&op.args[0])?);
            }
        }
        let mut plan = n.clone();
        plan.args = Vec::new();
        let args = n.par_param.iter().copied().zip(args).collect();
        Ok(Node::SubPlan { plan: Arc::new(plan), args, test, outer })
    }

    fn subscript(&mut self, n: &SubscriptingRef) -> Result<Node> {
        if n.refcontainertype == oids::JSONB {
            return self.jsonb_subscript(n);
        }
        if !n.refelemtype.is_valid() {
            return self.hstore_subscript(n);
        }
        let container = self.boxed(&n.refexpr)?;
        let mut upper = Vec::with_capacity(n.refupperindexpr.len());
        for e in &n.refupperindexpr {
            upper.push(e.as_ref().map(|e| self.node(e)).transpose()?);
        }
        let mut lower = Vec::with_capacity(n.reflowerindexpr.len());
        for e in &n.reflowerindexpr {
            lower.push(e.as_ref().map(|e| self.node(e)).transpose()?);
        }
        let slice = !lower.is_empty();
        let usage = match (&n.refassgnexpr, slice) {
            (None, false) => SubscriptUse::Fetch,
            (None, true) => SubscriptUse::Slice,
            (Some(e), false) => SubscriptUse::Assign(self.boxed(e)?),
            (Some(e), true) => SubscriptUse::AssignSlice(self.boxed(e)?),
        };
        let array_len = self.facts.type_info(n.refcontainertype)?.len;
        let elem = self.elem(n.refelemtype)?;
        Ok(Node::Subscript { container, upper, lower, elem, array_len, usage })
    }

    fn jsonb_subscript(&mut self, n: &SubscriptingRef) -> Result<Node> {
        let mut path = Vec::with_capacity(n.refupperindexpr.len());
        for e in n.refupperindexpr.iter().flatten() {
            path.push(JsonbStep { value: self.node(e)?, is_index: e.type_oid() == oids::INT4 });
        }
        Ok(Node::JsonbSubscript(Box::new(JsonbSubscript {
            container: self.node(&n.refexpr)?,
            path,
            assigned: n.refassgnexpr.as_ref().map(|e| self.node(e)).transpose()?,
        })))
    }

    fn hstore_subscript(&mut self, n: &SubscriptingRef) -> Result<Node> {
        let Some(key) = n.refupperindexpr.iter().flatten().next() else {
            return Err(PgError::internal("hstore without a subscript"));
        };
        Ok(Node::HstoreSubscript(Box::new(HstoreSubscript {
            container: self.node(&n.refexpr)?,
            key: self.node(key)?,
            assigned: n.refassgnexpr.as_ref().map(|e| self.node(e)).transpose()?,
        })))
    }

    fn io_call(&mut self, f: &FnFacts, types: [Oid; 3]) -> Result<IoCall> {
        let Callee::Scalar(fp) = f.callee else {
            return Err(PgError::unsupported(format!("function {}", f.name)));
        };
        Ok(IoCall { f: fp, strict: f.strict, types, site: self.site(), textual: false })
    }

    fn coerce_io(&mut self, n: &CoerceViaIo) -> Result<Node> {
        let from = self.facts.type_io(n.arg.type_oid())?;
        let to = self.facts.type_io(n.resulttype)?;
        if [&from.output, &to.input].iter().any(|f| matches!(f.callee, Callee::Host)) {
            return self.node(&coercion_calls(n, &from, &to));
        }
        let mut output = self.io_call(&from.output, [from.info.oid, Oid::INVALID, Oid::INVALID])?;
        let mut input = self.io_call(&to.input, [oids::CSTRING, to.io_param, oids::INT4])?;
        output.textual = matches!(&*from.output.name, "textout" | "varcharout");
        input.textual = &*to.input.name == "textin";
        let volatile =
            [&from.output, &to.input].iter().any(|f| f.volatility == Volatility::Volatile);
        let by_val = (!volatile).then_some(to.info.by_val);
        Ok(Node::CoerceIo { arg: self.boxed(&n.arg)?, output, input, by_val })
    }

    /// In a CASE over a column the conditions read the column. Any other argument is computed once
    /// and pushed as a placeholder while the conditions are evaluated.
    fn case(&mut self, n: &CaseExpr) -> Result<Node> {
        let mut arg = self.optional(n.arg.as_ref())?;
        let outer = self.case_column;
        if let Some(Node::Slot(slot)) = arg.as_deref() {
            self.case_column = Some(*slot);
            arg = None;
        } else if arg.is_some() {
            self.case_column = None;
        }
        let mut arms = Vec::with_capacity(n.args.len());
        for w in &n.args {
            arms.push(CaseArm { cond: self.node(&w.expr)?, result: self.node(&w.result)? });
        }
        self.case_column = outer;
        let default = self.optional(n.defresult.as_ref())?;
        let by_val = match arg.is_none() && batch::is_case_by_column(&arms, default.as_deref()) {
            true => Some(self.facts.type_info(n.casetype)?.by_val),
            false => None,
        };
        Ok(Node::Case { arg, arms, default, by_val })
    }

    fn array_coerce(&mut self, n: &ArrayCoerceExpr) -> Result<Node> {
        let from = self.elem_of(n.arg.type_oid())?;
        let to = self.elem_of(n.resulttype)?;
        let arg = self.boxed(&n.arg)?;
        // In `elemexpr`, `CaseTest` refers to an array element.
        let outer = self.case_column.take();
        let elem_expr = self.boxed(&n.elemexpr)?;
        self.case_column = outer;
        Ok(Node::ArrayCoerce { arg, elem_expr, from, to })
    }

    fn row_compare(&mut self, n: &RowCompareExpr) -> Result<Node> {
        let mut pairs = Vec::with_capacity(n.largs.len());
        for (i, (l, r)) in n.largs.iter().zip(&n.rargs).enumerate() {
            let family = n.opfamilies.get(i).copied().unwrap_or_default();
            let collation = n.inputcollids.get(i).copied().unwrap_or_default();
            pairs.push(RowPair {
                left: self.node(l)?,
                right: self.node(r)?,
                cmp: self.facts.family_compare(family, l.type_oid(), r.type_oid(), collation)?,
                collation,
            });
        }
        Ok(Node::RowCompare { kind: n.rctype, pairs })
    }

    fn domain(&mut self, n: &CoerceToDomain) -> Result<Node> {
        let checks = self.facts.domain_checks(n.resulttype)?;
        let arg = self.boxed(&n.arg)?;
        let mut tests = Vec::with_capacity(checks.len());
        for c in checks.iter() {
            self.facts.may_call(&c.calls)?;
            tests.push(match &c.check {
                None => DomainTest::NotNull,
                Some(e) => DomainTest::Check { name: c.name.clone(), cond: self.node(e)? },
            });
        }
        let shown = self.facts.type_name(n.resulttype)?;
        let (schema, name) = self.facts.type_schema_and_name(n.resulttype)?;
        Ok(Node::Domain { arg, named: Box::new(DomainNames { shown, schema, name }), tests })
    }
}

/// The comparisons in the test expression of a hashed sub-select, in order: `outer value = column`.
pub fn hashed_parts<'e>(test: &'e Expr, out: &mut Vec<&'e OpExpr>) {
    match test {
        Expr::OpExpr(op) => out.push(op),
        Expr::Bool(b) => b.args.iter().for_each(|a| hashed_parts(a, out)),
        _ => {}
    }
}

/// The arguments of a call in the order of the parameters, with defaults for omitted ones. Stored
/// expressions keep calls as they were written. Counterpart: `expand_function_arguments`.
pub fn arguments<'a>(args: &'a [Expr], f: &FnFacts) -> Result<Cow<'a, [Expr]>> {
    if are_ordered(args, f) {
        return Ok(Cow::Borrowed(args));
    }
    ordered_arguments(args.to_vec(), f).map(Cow::Owned)
}

/// As [`arguments`], by value: copying the arguments of deeply nested calls would be quadratic.
pub(crate) fn ordered_arguments(args: Vec<Expr>, f: &FnFacts) -> Result<Vec<Expr>> {
    if are_ordered(&args, f) {
        return Ok(args);
    }
    let mut ordered: Vec<Option<Expr>> = vec![None; f.parameters.max(args.len())];
    for (i, arg) in args.into_iter().enumerate() {
        let (at, arg) = match arg {
            Expr::NamedArg(n) => (n.argnumber as usize, n.arg),
            arg => (i, arg),
        };
        if let Some(parameter) = ordered.get_mut(at) {
            *parameter = Some(arg);
        }
    }
    let first = ordered.len().saturating_sub(f.defaults.len());
    for (parameter, default) in ordered[first..].iter_mut().zip(f.defaults.iter()) {
        parameter.get_or_insert_with(|| default.clone());
    }
    let missing = || PgError::internal(format!("not enough default arguments of {}", f.name));
    ordered.into_iter().collect::<Option<_>>().ok_or_else(missing)
}

/// True if the arguments are positional and complete.
fn are_ordered(args: &[Expr], f: &FnFacts) -> bool {
    args.len() >= f.parameters && !args.iter().any(|a| matches!(a, Expr::NamedArg(_)))
}

/// A coercion through text with functions that the session runs, as calls of these functions.
fn coercion_calls(n: &CoerceViaIo, from: &TypeIo, to: &TypeIo) -> Expr {
    let constant = |ty: Oid, value: Datum| {
        Expr::Const(Const {
            consttype: ty,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: 4,
            constbyval: true,
            value,
            location: Location::UNKNOWN,
        })
    };
    let call = |f: &FnFacts, result: Oid, args: Vec<Expr>| {
        Expr::FuncExpr(Box::new(FuncExpr {
            funcid: f.oid,
            funcresulttype: result,
            funcretset: false,
            funcvariadic: false,
            funcformat: CoercionForm::ExplicitCall,
            funccollid: Oid::INVALID,
            inputcollid: Oid::INVALID,
            args,
            location: Location::UNKNOWN,
        }))
    };
    let text = call(&from.output, oids::CSTRING, vec![n.arg.clone()]);
    let param = constant(oids::OID, Datum::oid(to.io_param));
    let typmod = constant(oids::INT4, Datum::int4(-1));
    call(&to.input, n.resulttype, vec![text, param, typmod])
}
