//! Random expressions over the functions, operators and casts of the catalog.

use super::facts::{self, POSITIVE, SHORT, TableFacts};
use catalog::facts::rows;
use catalog::rows::PgCast;
use ids::code::{CastMethod, ProKind, Volatility};
use ids::{AttrNo, Oid};
use plan::Expr;
use plan::expr::{
    ArrayExpr, BoolExpr, BoolOp, BoolTestKind, BooleanTest, CaseExpr, CaseTestExpr, CaseWhen,
    CoalesceExpr, CoerceToDomain, CoerceViaIo, CoercionForm, Const, FieldSelect, FuncExpr,
    Location, MinMaxExpr, NextValueExpr, NullTest, OpExpr, Param, ParamKind, RelabelType,
    RowCompareExpr, RowCompareKind, RowExpr, ScalarArrayOpExpr, SubscriptingRef, Var,
};
use std::collections::HashMap;
use types::fn_context::TypeFunctions;
use types::{BasicContext, Datum, builtin, builtin_types, oids};

/// A generator of pseudo-random numbers (SplitMix64).
pub(super) struct Rng(pub u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Types of values, with literals of each.
const LITERALS: &[(Oid, &[&str])] = &[
    (oids::BOOL, &["t", "f"]),
    (oids::INT2, &["0", "1", "-1", "7", "32767", "-32768"]),
    (oids::INT4, &["0", "1", "-1", "2", "3", "7", "40000", "2147483647", "-2147483648"]),
    (oids::INT8, &["0", "1", "-3", "5000000000", "9223372036854775807", "-9223372036854775808"]),
    (oids::FLOAT4, &["0", "-0", "1.5", "1e30", "NaN", "-Infinity"]),
    (oids::FLOAT8, &["0", "-0", "1", "-2.5", "1e300", "1e-300", "NaN", "Infinity"]),
    (oids::NUMERIC, &["0", "1", "-1.50", "3.14159", "1e20", "0.000001", "NaN", "-Infinity"]),
    (oids::TEXT, &["", "a", "b", "Ab c", " 12 ", "1", "x%", "^a", "{1,2}", "äß", "2020-02-29"]),
    (oids::VARCHAR, &["", "a", "Zz", "17", "t"]),
    (oids::BPCHAR, &["", "a", "a  ", "b "]),
    (oids::NAME, &["", "a", "pg_class"]),
    (oids::CHAR, &["", "a", "z"]),
    (oids::BYTEA, &["", "\\x00", "\\xff00", "abc"]),
    (oids::DATE, &["2000-01-01", "1999-12-31", "2024-02-29", "infinity"]),
    (oids::TIME, &["00:00", "12:34:56.789", "24:00"]),
    (oids::TIMETZ, &["00:00+00", "12:34:56-08"]),
    (oids::TIMESTAMP, &["2000-01-01", "2024-02-29 12:00", "-infinity", "1900-01-01 00:00:01"]),
    (oids::TIMESTAMPTZ, &["2000-01-01 00:00+00", "2024-03-31 01:59:59+00", "infinity"]),
    (oids::INTERVAL, &["0", "1 mon", "-1 day 02:03", "1 year 2 mons 3 days 04:05:06.7"]),
    (oids::OID, &["0", "1", "16", "4294967295"]),
    (oids::UUID, &["00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    (oids::JSON, &["1", "{\"a\": [1, null]}", "\"x\""]),
    (oids::JSONB, &["1", "null", "[1, \"a\", {\"b\": 2}]", "{\"a\": 1, \"b\": {}}"]),
    (oids::INET, &["10.0.0.1", "192.168.1.0/24", "::1"]),
    (oids::CIDR, &["10.0.0.0/8", "::/0"]),
    (oids::BIT, &["1", "0"]),
    (oids::VARBIT, &["", "1011", "0000000011"]),
    (oids::INT4_ARRAY, &["{}", "{1,2,3}", "{NULL,-1}", "{{1,2},{3,4}}"]),
    (oids::INT8_ARRAY, &["{}", "{1,5000000000}"]),
    (oids::TEXT_ARRAY, &["{}", "{a,b,NULL}", "{\"\"}"]),
    (oids::NUMERIC_ARRAY, &["{1,2.50}", "{NULL}"]),
];

/// Actual types for the polymorphic ones: element and array.
const POLYMORPHIC: &[(Oid, Oid)] = &[
    (oids::INT4, oids::INT4_ARRAY),
    (oids::TEXT, oids::TEXT_ARRAY),
    (oids::NUMERIC, oids::NUMERIC_ARRAY),
];

/// Functions whose results or running times can be very large, and functions of files and sizes.
const EXCLUDED: &str = "repeat lpad rpad array_fill factorial numeric_fac numeric_power power pow \
    exp numeric_exp dpow pg_sleep to_char dexp numeric_ln numeric_log log ln set_bit \
    set_byte bitfromint4 bitfromint8 bit varbit";

fn is_excluded(name: &str) -> bool {
    EXCLUDED.split(' ').any(|n| n == name)
}

/// Comparisons `=`, `<>`, `<`, `<=`, `>`, `>=` as PostgreSQL numbers the kinds of row comparisons.
const KINDS: [RowCompareKind; 6] = [
    RowCompareKind::Lt,
    RowCompareKind::Le,
    RowCompareKind::Eq,
    RowCompareKind::Ge,
    RowCompareKind::Gt,
    RowCompareKind::Ne,
];

/// A B-tree operator family and a type of it.
const FAMILIES: &[(Oid, Oid)] = &[
    (oids::INT4, Oid(1976)),
    (oids::INT8, Oid(1976)),
    (oids::TEXT, Oid(1994)),
    (oids::NUMERIC, Oid(1988)),
    (oids::FLOAT8, Oid(1970)),
    (oids::DATE, Oid(434)),
    (oids::BOOL, Oid(424)),
];

/// A function or operator with its argument types.
struct Candidate {
    function: Oid,
    operator: Option<Oid>,
    args: Vec<Oid>,
}

/// A conversion to a type.
enum Conversion {
    Relabel(Oid),
    Function(Oid, Oid),
}

pub(super) struct Generator {
    pub rng: Rng,
    /// Values of each type.
    values: HashMap<Oid, Vec<Datum>>,
    /// Functions and operators by result type.
    calls: HashMap<Oid, Vec<Candidate>>,
    /// Operators that return bool, by the type of both operands.
    comparisons: HashMap<Oid, Vec<(Oid, Oid)>>,
    equalities: HashMap<Oid, (Oid, Oid)>,
    conversions: HashMap<Oid, Vec<Conversion>>,
    /// Types of the columns of the input.
    pub columns: Vec<Oid>,
    /// The value that enclosing CASE expressions test, innermost last.
    tested: Vec<Oid>,
    /// Generated expressions may contain volatile functions.
    pub volatile: bool,
}

fn substituted(ty: Oid, elem: Oid, array: Oid) -> Oid {
    match ty.0 {
        // anyelement, anynonarray, anycompatible, anycompatiblenonarray
        2283 | 2776 | 5077 | 5079 => elem,
        // anyarray, anycompatiblearray
        2277 | 5078 => array,
        _ => ty,
    }
}

impl Generator {
    pub(super) fn new(facts: &TableFacts, seed: u64) -> Generator {
        let mut cx = BasicContext::default();
        let mut values = HashMap::new();
        for &(ty, texts) in LITERALS {
            if builtin_types::get(ty).is_none() {
                continue;
            }
            let parsed = texts.iter().map(|t| {
                let v = cx.type_input(ty, t.as_bytes(), -1);
                v.unwrap_or_else(|e| panic!("{t} as a value of type {ty}: {}", e.message()))
            });
            values.insert(ty, parsed.collect());
        }
        let mut new = Generator {
            rng: Rng(seed),
            values,
            calls: HashMap::new(),
            comparisons: HashMap::new(),
            equalities: HashMap::new(),
            conversions: HashMap::new(),
            columns: Vec::new(),
            tested: Vec::new(),
            volatile: false,
        };
        new.add_calls(facts);
        new.add_conversions();
        new
    }

    fn add_calls(&mut self, facts: &TableFacts) {
        for p in &facts.procs {
            let known = builtin::scalar(p.prosrc.as_str()).is_some();
            let plain = p.prokind == ProKind::Function
                && !p.proretset
                && p.provolatile != Volatility::Volatile;
            let excluded = is_excluded(p.prosrc.as_str()) || is_excluded(p.proname.as_str());
            if !known || !plain || excluded || p.provariadic.is_valid() {
                continue;
            }
            self.add_call(p.oid, None, &p.proargtypes, p.prorettype);
        }
        let usable: HashMap<Oid, _> = facts.procs.iter().map(|p| (p.oid, p)).collect();
        for o in &facts.operators {
            let Some(p) = usable.get(&o.oprcode) else { continue };
            let known = builtin::scalar(p.prosrc.as_str()).is_some();
            if !known || is_excluded(p.prosrc.as_str()) || p.proretset {
                continue;
            }
            let operands: Vec<Oid> =
                [o.oprleft, o.oprright].into_iter().filter(|t| t.is_valid()).collect();
            self.add_call(o.oprcode, Some(o.oid), &operands, o.oprresult);
            let same = operands.len() == 2 && operands[0] == operands[1];
            if same && o.oprresult == oids::BOOL && self.values.contains_key(&operands[0]) {
                self.comparisons.entry(operands[0]).or_default().push((o.oid, o.oprcode));
                if o.oprname.as_str() == "=" {
                    self.equalities.insert(operands[0], (o.oid, o.oprcode));
                }
            }
        }
    }

    fn add_call(&mut self, function: Oid, operator: Option<Oid>, args: &[Oid], result: Oid) {
        let polymorphic = args.iter().any(|&t| substituted(t, oids::INT4, oids::INT4_ARRAY) != t);
        let choices = if polymorphic { POLYMORPHIC } else { &POLYMORPHIC[..1] };
        for &(elem, array) in choices {
            let args: Vec<Oid> = args.iter().map(|&t| substituted(t, elem, array)).collect();
            let result = substituted(result, elem, array);
            if args.iter().chain([&result]).all(|t| self.values.contains_key(t)) {
                let call = Candidate { function, operator, args };
                self.calls.entry(result).or_default().push(call);
            }
        }
    }

    fn add_conversions(&mut self) {
        for c in rows::<PgCast>() {
            let known = |t: &Oid| self.values.contains_key(t);
            if !known(&c.castsource) || !known(&c.casttarget) || c.castsource == c.casttarget {
                continue;
            }
            let conversion = match c.castfunc.valid() {
                None if c.castmethod == CastMethod::Binary => Conversion::Relabel(c.castsource),
                Some(f) => Conversion::Function(c.castsource, f),
                None => continue,
            };
            self.conversions.entry(c.casttarget).or_default().push(conversion);
        }
    }

    /// A random type; the frequent ones are more likely.
    pub(super) fn some_type(&mut self) -> Oid {
        const FREQUENT: [Oid; 8] = [
            oids::BOOL,
            oids::INT4,
            oids::INT8,
            oids::TEXT,
            oids::NUMERIC,
            oids::FLOAT8,
            oids::DATE,
            oids::TIMESTAMP,
        ];
        if self.rng.percent(60) {
            return *self.rng.pick(&FREQUENT);
        }
        loop {
            let ty = self.rng.pick(LITERALS).0;
            if self.values.contains_key(&ty) {
                return ty;
            }
        }
    }

    /// A random value or NULL.
    pub(super) fn value(&mut self, ty: Oid) -> Datum {
        if self.rng.percent(15) {
            return Datum::Null;
        }
        self.rng.pick(&self.values[&ty]).clone()
    }

    fn collation(&mut self, ty: Oid) -> Oid {
        match ty {
            oids::TEXT | oids::VARCHAR | oids::BPCHAR | oids::TEXT_ARRAY => {
                // Rarely no collation, as in a comparison of operands whose collations conflict.
                if self.rng.below(200) == 0 { Oid::INVALID } else { Oid(100) }
            }
            oids::NAME => Oid(950),
            _ => Oid::INVALID,
        }
    }

    fn input_collation(&mut self, args: &[Oid]) -> Oid {
        let mut found = Oid::INVALID;
        for &ty in args {
            if !found.is_valid() {
                found = self.collation(ty);
            }
        }
        found
    }

    /// An expression of this type, with at most `depth` levels of calls.
    pub(super) fn expr(&mut self, ty: Oid, depth: u32) -> Expr {
        if self.volatile && ty == oids::INT8 && self.rng.percent(20) {
            return Expr::NextValue(NextValueExpr { seqid: Oid(1), typeid: ty });
        }
        if depth == 0 || self.rng.percent(8) {
            return self.leaf(ty);
        }
        match self.rng.below(20) {
            0..=8 => self.call(ty, depth),
            9 | 10 => self.case(ty, depth),
            11 => self.coalesce(ty, depth),
            12 => self.min_max(ty, depth),
            13 => self.null_if(ty, depth),
            14 | 15 => self.conversion(ty, depth),
            16 => self.of_element_or_field(ty, depth),
            17 if ty == oids::BOOL => self.row_comparison(depth),
            _ if ty == oids::BOOL => self.condition(depth),
            _ => self.call(ty, depth),
        }
    }

    fn leaf(&mut self, ty: Oid) -> Expr {
        let column = self.columns.iter().position(|c| *c == ty);
        match (self.rng.below(10), column) {
            (0..=5, Some(i)) => {
                // Several columns may have the type.
                let all: Vec<usize> =
                    (i..self.columns.len()).filter(|&c| self.columns[c] == ty).collect();
                let column = *self.rng.pick(&all);
                self.column(column)
            }
            (6, _) => self.parameter(ty),
            (7, _) if self.tested.last() == Some(&ty) => {
                let collation = self.collation(ty);
                Expr::CaseTest(CaseTestExpr { typeid: ty, typmod: -1, collation })
            }
            _ => {
                let value = self.value(ty);
                constant(ty, value)
            }
        }
    }

    fn column(&mut self, column: usize) -> Expr {
        let ty = self.columns[column];
        Expr::Var(Var {
            varno: 1,
            varattno: column as AttrNo + 1,
            vartype: ty,
            vartypmod: -1,
            varcollid: self.collation(ty),
            varlevelsup: 0,
            location: Location::UNKNOWN,
        })
    }

    /// A parameter; the host has one of each kind for each entry of [`LITERALS`].
    fn parameter(&mut self, ty: Oid) -> Expr {
        let at = LITERALS.iter().position(|l| l.0 == ty).unwrap_or_default() as i32;
        let paramkind = *self.rng.pick(&[ParamKind::Extern, ParamKind::Exec]);
        let paramid = if paramkind == ParamKind::Extern { at + 1 } else { at };
        Expr::Param(Param {
            paramkind,
            paramid,
            paramtype: ty,
            paramtypmod: -1,
            paramcollid: self.collation(ty),
            location: Location::UNKNOWN,
        })
    }

    /// Values for all parameters.
    pub(super) fn parameters(&mut self) -> Vec<Datum> {
        let types: Vec<Oid> = LITERALS.iter().map(|l| l.0).collect();
        let known = |t: &Oid| self.values.contains_key(t);
        let known: Vec<(Oid, bool)> = types.iter().map(|t| (*t, known(t))).collect();
        known.iter().map(|&(t, k)| if k { self.value(t) } else { Datum::Null }).collect()
    }

    fn call(&mut self, ty: Oid, depth: u32) -> Expr {
        let Some(candidates) = self.calls.get(&ty) else { return self.leaf(ty) };
        let Candidate { function, operator, args } = self.rng.pick(candidates);
        let (function, operator, types) = (*function, *operator, args.clone());
        let args = types.iter().map(|&t| self.expr(t, depth - 1)).collect();
        let inputcollid = self.input_collation(&types);
        let collation = self.collation(ty);
        match operator {
            Some(opno) => Expr::OpExpr(Box::new(OpExpr {
                opno,
                opfuncid: if self.rng.percent(50) { function } else { Oid::INVALID },
                opresulttype: ty,
                opretset: false,
                opcollid: collation,
                inputcollid,
                args,
                location: Location::UNKNOWN,
            })),
            None => function_call(function, ty, collation, inputcollid, args),
        }
    }

    fn case(&mut self, ty: Oid, depth: u32) -> Expr {
        let tested = match self.rng.percent(40) {
            true => Some(*self.rng.pick(&[oids::INT4, oids::TEXT, oids::BOOL, oids::INT8])),
            false => None,
        };
        let arg = tested.map(|t| self.expr(t, depth - 1));
        let mut args = Vec::new();
        for _ in 0..=self.rng.below(3) {
            self.tested.extend(tested);
            let expr = match tested {
                None => self.expr(oids::BOOL, depth - 1),
                Some(t) => self.comparison_with_test(t, depth),
            };
            self.tested.truncate(self.tested.len() - usize::from(tested.is_some()));
            let result = self.outside_case(ty, depth);
            args.push(CaseWhen { expr, result, location: Location::UNKNOWN });
        }
        let defresult = match self.rng.percent(70) {
            true => Some(self.outside_case(ty, depth)),
            false => None,
        };
        Expr::Case(Box::new(CaseExpr {
            casetype: ty,
            casecollid: self.collation(ty),
            arg,
            args,
            defresult,
            location: Location::UNKNOWN,
        }))
    }

    /// An expression that does not refer to the value that an enclosing CASE tests. (In a plan,
    /// only conditions refer to it, and not the conditions of a CASE within them.)
    fn outside_case(&mut self, ty: Oid, depth: u32) -> Expr {
        let tested = std::mem::take(&mut self.tested);
        let expr = self.expr(ty, depth - 1);
        self.tested = tested;
        expr
    }

    fn comparison_with_test(&mut self, ty: Oid, depth: u32) -> Expr {
        let collation = self.collation(ty);
        let left = Expr::CaseTest(CaseTestExpr { typeid: ty, typmod: -1, collation });
        let right = self.outside_case(ty, depth);
        let (opno, opfuncid) = *self.rng.pick(&self.comparisons[&ty]);
        Expr::OpExpr(Box::new(OpExpr {
            opno,
            opfuncid,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: collation,
            args: vec![left, right],
            location: Location::UNKNOWN,
        }))
    }

    fn list(&mut self, ty: Oid, depth: u32, least: usize) -> Vec<Expr> {
        let count = least + self.rng.below(3);
        (0..count).map(|_| self.expr(ty, depth - 1)).collect()
    }

    fn coalesce(&mut self, ty: Oid, depth: u32) -> Expr {
        Expr::Coalesce(Box::new(CoalesceExpr {
            coalescetype: ty,
            coalescecollid: self.collation(ty),
            args: self.list(ty, depth, 1),
            location: Location::UNKNOWN,
        }))
    }

    fn min_max(&mut self, ty: Oid, depth: u32) -> Expr {
        if types::compare::of_type(ty).is_none() {
            return self.leaf(ty);
        }
        Expr::MinMax(Box::new(MinMaxExpr {
            minmaxtype: ty,
            minmaxcollid: self.collation(ty),
            inputcollid: self.collation(ty),
            greatest: self.rng.percent(50),
            args: self.list(ty, depth, 1),
            location: Location::UNKNOWN,
        }))
    }

    /// Two operands of this type under its equality.
    fn equality(&mut self, ty: Oid, depth: u32) -> Option<Box<OpExpr>> {
        let (opno, opfuncid) = *self.equalities.get(&ty)?;
        Some(Box::new(OpExpr {
            opno,
            opfuncid,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: self.collation(ty),
            args: vec![self.expr(ty, depth - 1), self.expr(ty, depth - 1)],
            location: Location::UNKNOWN,
        }))
    }

    fn null_if(&mut self, ty: Oid, depth: u32) -> Expr {
        match self.equality(ty, depth) {
            Some(op) => Expr::NullIf(op),
            None => self.leaf(ty),
        }
    }

    fn conversion(&mut self, ty: Oid, depth: u32) -> Expr {
        let domain = match ty {
            oids::INT4 => Some(POSITIVE),
            oids::TEXT => Some(SHORT),
            _ => None,
        };
        if let Some(domain) = domain.filter(|_| self.rng.percent(30)) {
            return self.through_domain(ty, domain, depth);
        }
        let count = self.conversions.get(&ty).map_or(0, Vec::len);
        if count == 0 || self.rng.percent(35) {
            let is_text = |t: Oid| [oids::TEXT, oids::VARCHAR, oids::BPCHAR].contains(&t);
            let from = if is_text(ty) { self.some_type() } else { oids::TEXT };
            return Expr::CoerceViaIo(Box::new(CoerceViaIo {
                arg: self.expr(from, depth - 1),
                resulttype: ty,
                resultcollid: self.collation(ty),
                coerceformat: CoercionForm::ExplicitCast,
                location: Location::UNKNOWN,
            }));
        }
        match self.conversions[&ty][self.rng.below(count)] {
            Conversion::Relabel(from) => {
                let arg = self.expr(from, depth - 1);
                self.relabelled(arg, ty)
            }
            Conversion::Function(from, funcid) => {
                let mut args = vec![self.expr(from, depth - 1)];
                // A cast function may also take the type modifier and whether it is explicit.
                for extra in Self::cast_extras(funcid) {
                    args.push(extra);
                }
                let inputcollid = self.collation(from);
                let collation = self.collation(ty);
                function_call(funcid, ty, collation, inputcollid, args)
            }
        }
    }

    fn cast_extras(funcid: Oid) -> Vec<Expr> {
        // The functions of two and three parameters among those of `pg_cast` between these types.
        const WITH_TYPMOD: &[u32] = &[668, 669, 1683, 1685, 1687, 2075, 2076, 1724];
        let typmod = |typmod| constant(oids::INT4, Datum::int4(typmod));
        let explicit = || constant(oids::BOOL, Datum::bool(true));
        match funcid.0 {
            2075 | 2076 => vec![typmod(5)],
            id if WITH_TYPMOD.contains(&id) => vec![typmod(-1), explicit()],
            _ => Vec::new(),
        }
    }

    fn through_domain(&mut self, ty: Oid, domain: Oid, depth: u32) -> Expr {
        let checked = Expr::CoerceToDomain(Box::new(CoerceToDomain {
            arg: self.expr(ty, depth - 1),
            resulttype: domain,
            resulttypmod: -1,
            resultcollid: self.collation(ty),
            coercionformat: CoercionForm::ExplicitCast,
            location: Location::UNKNOWN,
        }));
        self.relabelled(checked, ty)
    }

    fn relabelled(&mut self, arg: Expr, ty: Oid) -> Expr {
        Expr::Relabel(Box::new(RelabelType {
            arg,
            resulttype: ty,
            resulttypmod: -1,
            resultcollid: self.collation(ty),
            relabelformat: CoercionForm::ExplicitCast,
            location: Location::UNKNOWN,
        }))
    }

    /// An array, an element of an array or a slice, or a field of a row.
    fn of_element_or_field(&mut self, ty: Oid, depth: u32) -> Expr {
        let info = facts::type_info(ty).expect("a built-in type");
        if info.elem.is_valid() && info.len == -1 && self.values.contains_key(&info.elem) {
            if self.rng.percent(60) {
                return self.array(ty, info.elem, depth, 0);
            }
            let index = |g: &mut Generator| {
                let omitted = g.rng.percent(20);
                (!omitted).then(|| g.expr(oids::INT4, depth - 1))
            };
            let (lower, upper) = (index(self), index(self));
            return self.subscript(ty, info.elem, ty, depth, vec![upper], vec![lower]);
        }
        if self.values.contains_key(&info.array) && self.rng.percent(50) {
            let index = Some(self.expr(oids::INT4, depth - 1));
            return self.subscript(info.array, ty, ty, depth, vec![index], Vec::new());
        }
        let fields = 1 + self.rng.below(3);
        let field = self.rng.below(fields);
        let args: Vec<Expr> = (0..fields)
            .map(|i| {
                let ty = if i == field { ty } else { self.some_type() };
                self.expr(ty, depth - 1)
            })
            .collect();
        Expr::FieldSelect(Box::new(FieldSelect {
            arg: row(args),
            fieldnum: field as AttrNo + 1,
            resulttype: ty,
            resulttypmod: -1,
            resultcollid: self.collation(ty),
        }))
    }

    fn array(&mut self, ty: Oid, elem: Oid, depth: u32, least: usize) -> Expr {
        Expr::Array(Box::new(ArrayExpr {
            array_typeid: ty,
            array_collid: self.collation(ty),
            element_typeid: elem,
            elements: self.list(elem, depth, least),
            multidims: false,
            location: Location::UNKNOWN,
        }))
    }

    fn subscript(
        &mut self,
        container: Oid,
        elem: Oid,
        result: Oid,
        depth: u32,
        upper: Vec<Option<Expr>>,
        lower: Vec<Option<Expr>>,
    ) -> Expr {
        Expr::SubscriptingRef(Box::new(SubscriptingRef {
            refcontainertype: container,
            refelemtype: elem,
            refrestype: result,
            reftypmod: -1,
            refcollid: self.collation(result),
            refupperindexpr: upper,
            reflowerindexpr: lower,
            refexpr: self.expr(container, depth - 1),
            refassgnexpr: None,
        }))
    }

    /// A comparison of two rows, by columns or as values.
    fn row_comparison(&mut self, depth: u32) -> Expr {
        let columns: Vec<(Oid, Oid)> =
            (0..=self.rng.below(3)).map(|_| *self.rng.pick(FAMILIES)).collect();
        let side = |g: &mut Generator| -> Vec<Expr> {
            columns.iter().map(|c| g.expr(c.0, depth - 1)).collect()
        };
        let (largs, rargs) = (side(self), side(self));
        if self.rng.percent(30) {
            let arg = row(largs);
            let is_not = self.rng.percent(50);
            return Expr::NullTest(Box::new(NullTest {
                arg,
                is_not,
                argisrow: true,
                location: Location::UNKNOWN,
            }));
        }
        Expr::RowCompare(Box::new(RowCompareExpr {
            rctype: *self.rng.pick(&KINDS),
            opnos: columns.iter().map(|_| Oid::INVALID).collect(),
            opfamilies: columns.iter().map(|c| c.1).collect(),
            inputcollids: columns
                .iter()
                .map(|c| if c.0 == oids::TEXT { Oid(100) } else { Oid::INVALID })
                .collect(),
            largs,
            rargs,
        }))
    }

    fn condition(&mut self, depth: u32) -> Expr {
        let location = Location::UNKNOWN;
        let ty = self.some_type();
        match self.rng.below(10) {
            kind @ 0..=3 => {
                let boolop = [BoolOp::And, BoolOp::Or, BoolOp::And, BoolOp::Not][kind];
                let args = match boolop {
                    BoolOp::Not => vec![self.expr(oids::BOOL, depth - 1)],
                    _ => self.list(oids::BOOL, depth, 2),
                };
                Expr::Bool(Box::new(BoolExpr { boolop, args, location }))
            }
            4 => Expr::NullTest(Box::new(NullTest {
                arg: self.expr(ty, depth - 1),
                is_not: self.rng.percent(50),
                argisrow: false,
                location,
            })),
            5 => Expr::BooleanTest(Box::new(BooleanTest {
                arg: self.expr(oids::BOOL, depth - 1),
                booltesttype: *self.rng.pick(&[
                    BoolTestKind::IsTrue,
                    BoolTestKind::IsNotTrue,
                    BoolTestKind::IsFalse,
                    BoolTestKind::IsNotFalse,
                    BoolTestKind::IsUnknown,
                    BoolTestKind::IsNotUnknown,
                ]),
                location,
            })),
            // Most of these are true, so that conditions select some rows.
            6..=8 => match self.equality(ty, depth) {
                Some(op) => Expr::Distinct(op),
                None => self.leaf(oids::BOOL),
            },
            _ => self.in_list(depth),
        }
    }

    /// `x op ANY (array)` or `x op ALL (array)`; the array is often a constant, and sometimes long.
    fn in_list(&mut self, depth: u32) -> Expr {
        const ARRAYS: &[(Oid, Oid)] = &[
            (oids::INT4, oids::INT4_ARRAY),
            (oids::INT8, oids::INT8_ARRAY),
            (oids::TEXT, oids::TEXT_ARRAY),
            (oids::NUMERIC, oids::NUMERIC_ARRAY),
        ];
        let (elem, array) = *self.rng.pick(ARRAYS);
        let (opno, opfuncid) = *self.rng.pick(&self.comparisons[&elem]);
        let list = match self.rng.below(4) {
            0 => self.expr(array, depth - 1),
            1 => self.array(array, elem, depth, 1),
            _ => {
                let count = self.rng.below(14);
                let values: Vec<Datum> = (0..count).map(|_| self.value(elem)).collect();
                let info = facts::type_info(elem).expect("a built-in type");
                let list = types::array::build_1d(&info, &values).expect("a short array");
                constant(array, list)
            }
        };
        Expr::ScalarArrayOp(Box::new(ScalarArrayOpExpr {
            opno,
            opfuncid,
            hashfuncid: Oid::INVALID,
            negfuncid: Oid::INVALID,
            use_or: self.rng.percent(50),
            inputcollid: self.collation(elem),
            args: vec![self.expr(elem, depth - 1), list],
            location: Location::UNKNOWN,
        }))
    }
}

pub(super) fn constant(ty: Oid, value: Datum) -> Expr {
    let info = facts::type_info(ty).expect("a built-in type");
    Expr::Const(Const {
        consttype: ty,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: info.len,
        constbyval: info.by_val,
        value,
        location: Location::UNKNOWN,
    })
}

fn row(args: Vec<Expr>) -> Expr {
    Expr::Row(Box::new(RowExpr {
        colnames: (1..=args.len()).map(|i| format!("f{i}")).collect(),
        args,
        row_typeid: oids::RECORD,
        row_format: CoercionForm::ImplicitCast,
        location: Location::UNKNOWN,
    }))
}

pub(super) fn function_call(
    funcid: Oid,
    result: Oid,
    funccollid: Oid,
    inputcollid: Oid,
    args: Vec<Expr>,
) -> Expr {
    Expr::FuncExpr(Box::new(FuncExpr {
        funcid,
        funcresulttype: result,
        funcretset: false,
        funcvariadic: false,
        funcformat: CoercionForm::ExplicitCall,
        funccollid,
        inputcollid,
        args,
        location: Location::UNKNOWN,
    }))
}
