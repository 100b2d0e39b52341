//! Collation assignment: every node that compares or returns strings gets a collation. Counterpart:
//! parser/parse_collate.c.

use crate::state::Analyzer;
use crate::ty;
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::expr::{CoercionForm, Expr, Location, RelabelType, SubLinkKind, TargetEntry};
use plan::query::{JoinTreeNode, Query, RteKind};

/// The derivation strength of an expression's collation. Ordered: the stronger one wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Strength {
    None,
    Implicit,
    Conflict,
    Explicit,
}

#[derive(Clone, Copy)]
struct State {
    collation: Oid,
    strength: Strength,
    location: Location,
    /// The other collation of a conflict.
    other: Oid,
    other_location: Location,
}

impl State {
    const NONE: State = State {
        collation: Oid::INVALID,
        strength: Strength::None,
        location: Location::UNKNOWN,
        other: Oid::INVALID,
        other_location: Location::UNKNOWN,
    };

    fn implicit(collation: Oid, location: Location) -> State {
        let strength = if collation.is_valid() { Strength::Implicit } else { Strength::None };
        State { collation, strength, location, ..State::NONE }
    }
}

impl Analyzer<'_> {
    /// Assigns collations within an expression.
    pub fn assign_collations(&mut self, expr: &mut Expr) -> Result<()> {
        self.collate(expr).map(|_| ())
    }

    /// The common collation of a list of expressions, for set operations and VALUES. A conflict
    /// gives an invalid OID, or an error if `none_ok` is false.
    pub fn select_common_collation(&mut self, exprs: &mut [Expr], none_ok: bool) -> Result<Oid> {
        let mut state = State::NONE;
        for e in exprs {
            let child = self.collate(e)?;
            self.merge(&mut state, child)?;
        }
        if state.strength == Strength::Conflict {
            if none_ok {
                return Ok(Oid::INVALID);
            }
            return Err(self.collation_conflict(&state)?);
        }
        Ok(state.collation)
    }

    fn collation_name(&mut self, oid: Oid) -> Result<String> {
        Ok(self.cat.collation_row(oid)?.map_or_else(|| oid.to_string(), |c| c.collname.to_string()))
    }

    fn collation_conflict(&mut self, state: &State) -> Result<pgerror::PgError> {
        let (a, b) = (self.collation_name(state.collation)?, self.collation_name(state.other)?);
        let e = pg_err!(
            COLLATION_MISMATCH,
            "collation mismatch between implicit collations \"{a}\" and \"{b}\""
        )
        .hint(
            "You can choose the collation by applying the COLLATE clause to one or both expressions.",
        );
        Ok(self.at(e, state.other_location))
    }

    /// Merges the collation state of a child into that of its parent.
    fn merge(&mut self, state: &mut State, child: State) -> Result<()> {
        if child.strength > state.strength {
            *state = child;
            return Ok(());
        }
        if child.strength < state.strength || child.collation == state.collation {
            return Ok(());
        }
        match child.strength {
            Strength::Implicit => {
                // The database's default yields to any other.
                if state.collation == ty::DEFAULT_COLLATION {
                    *state = child;
                } else if child.collation != ty::DEFAULT_COLLATION {
                    state.strength = Strength::Conflict;
                    state.other = child.collation;
                    state.other_location = child.location;
                }
            }
            Strength::Explicit => {
                let a = self.collation_name(state.collation)?;
                let b = self.collation_name(child.collation)?;
                let e = pg_err!(
                    COLLATION_MISMATCH,
                    "collation mismatch between explicit collations \"{a}\" and \"{b}\""
                );
                return Err(self.at(e, child.location));
            }
            Strength::None | Strength::Conflict => {}
        }
        Ok(())
    }

    fn merge_all(&mut self, exprs: &mut [Expr]) -> Result<State> {
        let mut state = State::NONE;
        for e in exprs {
            let child = self.collate(e)?;
            self.merge(&mut state, child)?;
        }
        Ok(state)
    }

    /// The collation state of a node's result, from the merged state of its inputs.
    fn result(&mut self, input: &State, ty: Oid, location: Location) -> Result<State> {
        let default = self.type_collation(ty)?;
        if !default.is_valid() {
            return Ok(State::NONE);
        }
        Ok(match input.strength {
            // No input has a collation: the result has the default of its type, as an implicit one.
            Strength::None => State::implicit(default, location),
            Strength::Conflict => *input,
            strength => {
                State { collation: input.collation, strength, location: input.location, ..*input }
            }
        })
    }

    fn collate(&mut self, expr: &mut Expr) -> Result<State> {
        self.cat.check_interrupts()?;
        stdx::stack::deep(|| self.collate_node(expr))
    }

    fn collate_node(&mut self, expr: &mut Expr) -> Result<State> {
        let location = expr.location();
        let ty = expr.type_oid();
        let known =
            |s: &State| if s.strength == Strength::Conflict { Oid::INVALID } else { s.collation };
        Ok(match expr {
            Expr::Collate(c) => {
                self.collate(&mut c.arg)?;
                State {
                    collation: c.coll_oid,
                    strength: Strength::Explicit,
                    location: c.location,
                    ..State::NONE
                }
            }
            Expr::Var(_)
            | Expr::Const(_)
            | Expr::Param(_)
            | Expr::CaseTest(_)
            | Expr::SetToDefault(_)
            | Expr::CoerceToDomainValue(_)
            | Expr::SqlValue(_)
            | Expr::Xml(_)
            | Expr::CurrentOf(_)
            | Expr::NextValue(_) => State::implicit(expr.collation(), location),
            Expr::FieldSelect(f) => {
                self.collate(&mut f.arg)?;
                if f.resultcollid.is_valid() && self.is_complex(f.arg.type_oid())? {
                    State::implicit(f.resultcollid, location)
                } else {
                    let state = State::implicit(self.type_collation(f.resulttype)?, location);
                    if !f.resultcollid.is_valid() {
                        f.resultcollid = state.collation;
                    }
                    State::implicit(f.resultcollid, location)
                }
            }
            // Rows and row comparisons: each column on its own.
            Expr::Row(row) => {
                for arg in &mut row.args {
                    self.collate(arg)?;
                }
                State::NONE
            }
            Expr::RowCompare(compare) => {
                compare.inputcollids.clear();
                for i in 0..compare.largs.len() {
                    let mut state = self.collate(&mut compare.largs[i])?;
                    let right = self.collate(&mut compare.rargs[i])?;
                    self.merge(&mut state, right)?;
                    if state.strength == Strength::Conflict {
                        return Err(self.collation_conflict(&state)?);
                    }
                    compare.inputcollids.push(state.collation);
                }
                State::NONE
            }
            Expr::CoerceToDomain(n) => {
                let input = self.collate(&mut n.arg)?;
                // A domain may have a collation of its own.
                let state = self.domain_result(&input, ty, location)?;
                n.resultcollid = known(&state);
                state
            }
            Expr::SubLink(link) => {
                if let Some(test) = &mut link.testexpr {
                    self.collate(test)?;
                }
                match link.kind {
                    SubLinkKind::Expr | SubLinkKind::Array => {
                        let collation = link
                            .subselect
                            .result_columns()
                            .next()
                            .map_or(Oid::INVALID, |t| t.expr.collation());
                        State::implicit(collation, location)
                    }
                    _ => State::NONE,
                }
            }
            // The test expression got its collation when the conditions were analysed, and does not
            // affect the collation of the result.
            Expr::Case(case) => {
                let mut state = State::NONE;
                for when in &mut case.args {
                    self.collate(&mut when.expr)?;
                    let child = self.collate(&mut when.result)?;
                    self.merge(&mut state, child)?;
                }
                if let Some(default) = &mut case.defresult {
                    let child = self.collate(default)?;
                    self.merge(&mut state, child)?;
                }
                let result = self.result(&state, ty, location)?;
                case.casecollid = known(&result);
                result
            }
            Expr::Aggref(agg) => {
                if let Some(filter) = &mut agg.aggfilter {
                    self.collate(filter)?;
                }
                let mut state = State::NONE;
                let ordered = agg.aggkind != b'n';
                // The last direct arguments of a hypothetical-set aggregate are paired with the
                // sort keys.
                let keys = if agg.aggkind == b'h' { agg.args.len() } else { 0 };
                let own = agg.aggdirectargs.len().saturating_sub(keys);
                let mut pairs = Vec::with_capacity(keys);
                for (i, arg) in agg.aggdirectargs.iter_mut().enumerate() {
                    let child = self.collate(arg)?;
                    if i < own {
                        self.merge(&mut state, child)?;
                    } else {
                        pairs.push(child);
                    }
                }
                let mut pairs = pairs.into_iter();
                let single = agg.args.len() == 1 && agg.aggkind == b'o';
                for target in &mut agg.args {
                    let child = self.collate_target(target)?;
                    if let Some(mut pair) = pairs.next() {
                        self.merge(&mut pair, child)?;
                        self.collate_pair(&pair, &mut target.expr)?;
                        continue;
                    }
                    // Sort keys of an aggregate do not decide its collation, arguments do.
                    if !target.resjunk && (!ordered || single) {
                        self.merge(&mut state, child)?;
                    }
                }
                agg.inputcollid = known(&state);
                let result = self.result(&state, ty, location)?;
                agg.aggcollid = known(&result);
                result
            }
            Expr::WindowFunc(w) => {
                if let Some(filter) = &mut w.aggfilter {
                    self.collate(filter)?;
                }
                let state = self.merge_all(&mut w.args)?;
                w.inputcollid = known(&state);
                let result = self.result(&state, ty, location)?;
                w.wincollid = known(&result);
                result
            }
            Expr::FuncExpr(f) => {
                let state = self.merge_all(&mut f.args)?;
                f.inputcollid = known(&state);
                let result = self.result(&state, ty, location)?;
                f.funccollid = known(&result);
                result
            }
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => {
                let state = self.merge_all(&mut o.args)?;
                o.inputcollid = known(&state);
                let result = self.result(&state, ty, location)?;
                o.opcollid = known(&result);
                result
            }
            Expr::ScalarArrayOp(o) => {
                let state = self.merge_all(&mut o.args)?;
                o.inputcollid = known(&state);
                State::NONE
            }
            Expr::MinMax(m) => {
                let state = self.merge_all(&mut m.args)?;
                m.inputcollid = known(&state);
                let result = self.result(&state, ty, location)?;
                m.minmaxcollid = known(&result);
                result
            }
            Expr::Coalesce(c) => {
                let state = self.merge_all(&mut c.args)?;
                let result = self.result(&state, ty, location)?;
                c.coalescecollid = known(&result);
                result
            }
            Expr::Array(a) => {
                let state = self.merge_all(&mut a.elements)?;
                let result = self.result(&state, ty, location)?;
                a.array_collid = known(&result);
                result
            }
            Expr::SubscriptingRef(s) => {
                for index in s.refupperindexpr.iter_mut().chain(&mut s.reflowerindexpr).flatten() {
                    self.collate(index)?;
                }
                let mut state = self.collate(&mut s.refexpr)?;
                if let Some(value) = &mut s.refassgnexpr {
                    let child = self.collate(value)?;
                    self.merge(&mut state, child)?;
                }
                let result = self.result(&state, ty, location)?;
                s.refcollid = known(&result);
                result
            }
            Expr::FieldStore(f) => {
                self.collate(&mut f.arg)?;
                for value in &mut f.newvals {
                    self.collate(value)?;
                }
                State::NONE
            }
            // A default argument does not affect the collation.
            Expr::NamedArg(n) if n.name.is_empty() => {
                self.collate(&mut n.arg)?;
                State::NONE
            }
            Expr::NamedArg(n) => self.collate(&mut n.arg)?,
            Expr::Relabel(n) => {
                let state = self.collate(&mut n.arg)?;
                let result = self.result(&state, ty, location)?;
                n.resultcollid = known(&result);
                result
            }
            Expr::CoerceViaIo(n) => {
                let state = self.collate(&mut n.arg)?;
                let result = self.result(&state, ty, location)?;
                n.resultcollid = known(&result);
                result
            }
            Expr::ArrayCoerce(n) => {
                let state = self.collate(&mut n.arg)?;
                let result = self.result(&state, ty, location)?;
                n.resultcollid = known(&result);
                result
            }
            Expr::ConvertRowtype(n) => {
                self.collate(&mut n.arg)?;
                State::NONE
            }
            Expr::Bool(b) => {
                for arg in &mut b.args {
                    self.collate(arg)?;
                }
                State::NONE
            }
            Expr::NullTest(n) => {
                self.collate(&mut n.arg)?;
                State::NONE
            }
            Expr::BooleanTest(n) => {
                self.collate(&mut n.arg)?;
                State::NONE
            }
            // The arguments are compared with the grouping expressions, which have their collations
            // already.
            Expr::GroupingFunc(g) => {
                for arg in &mut g.args {
                    self.collate(arg)?;
                }
                State::NONE
            }
            Expr::SubPlan(_) => State::NONE,
        })
    }

    fn domain_result(&mut self, input: &State, ty: Oid, location: Location) -> Result<State> {
        let own = self.type_collation(ty)?;
        if !own.is_valid() {
            return Ok(State::NONE);
        }
        if own == ty::DEFAULT_COLLATION {
            return self.result(input, ty, location);
        }
        if input.strength == Strength::Explicit {
            return Ok(*input);
        }
        Ok(State::implicit(own, location))
    }

    /// Assigns the collations of all expressions of a query, except those of its sub-queries, which
    /// have them already.
    /// Counterpart: `assign_query_collations`.
    pub fn assign_query_collations(&mut self, query: &mut Query) -> Result<()> {
        for target in query.target_list.iter_mut().chain(&mut query.returning_list) {
            self.collate_target(target)?;
        }
        let mut from = std::mem::take(&mut query.jointree);
        for item in &mut from.fromlist {
            self.collate_jointree(item)?;
        }
        if let Some(quals) = &mut from.quals {
            self.collate(quals)?;
        }
        query.jointree = from;
        let single = [&mut query.having_qual, &mut query.limit_offset, &mut query.limit_count];
        for e in single.into_iter().flatten() {
            self.collate(e)?;
        }
        for window in &mut query.window_clause {
            for e in [&mut window.start_offset, &mut window.end_offset].into_iter().flatten() {
                self.collate(e)?;
            }
        }
        if let Some(conflict) = &mut query.on_conflict {
            for elem in &mut conflict.arbiter_elems {
                self.collate(&mut elem.expr)?;
            }
            for target in &mut conflict.on_conflict_set {
                self.collate(&mut target.expr)?;
            }
            let quals = [&mut conflict.arbiter_where, &mut conflict.on_conflict_where];
            for e in quals.into_iter().flatten() {
                self.collate(e)?;
            }
        }
        for rte in &mut query.rtable {
            if let RteKind::Values { values_lists, .. } = &mut rte.kind {
                for e in values_lists.iter_mut().flatten() {
                    self.collate(e)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a sort key of a hypothetical-set aggregate the common collation of the key and its
    /// direct argument. Counterpart: `assign_hypothetical_collations`.
    fn collate_pair(&mut self, pair: &State, key: &mut Expr) -> Result<()> {
        if pair.strength == Strength::Conflict {
            return Err(self.collation_conflict(pair)?);
        }
        if pair.collation.is_valid() && pair.collation != key.collation() {
            let arg = key.clone();
            let (resulttype, resulttypmod) = (arg.type_oid(), arg.typmod());
            *key = Expr::Relabel(Box::new(RelabelType {
                arg,
                resulttype,
                resulttypmod,
                resultcollid: pair.collation,
                relabelformat: CoercionForm::ImplicitCast,
                location: Location::UNKNOWN,
            }));
        }
        Ok(())
    }

    /// A sort or group key must have one collation.
    fn collate_target(&mut self, target: &mut TargetEntry) -> Result<State> {
        let state = self.collate(&mut target.expr)?;
        if state.strength == Strength::Conflict && target.ressortgroupref != 0 {
            return Err(self.collation_conflict(&state)?);
        }
        Ok(state)
    }

    fn collate_jointree(&mut self, node: &mut JoinTreeNode) -> Result<()> {
        match node {
            JoinTreeNode::Rtr(_) => {}
            JoinTreeNode::Join(join) => {
                self.collate_jointree(&mut join.larg)?;
                self.collate_jointree(&mut join.rarg)?;
                if let Some(quals) = &mut join.quals {
                    self.collate(quals)?;
                }
            }
            JoinTreeNode::From(from) => {
                for item in &mut from.fromlist {
                    self.collate_jointree(item)?;
                }
                if let Some(quals) = &mut from.quals {
                    self.collate(quals)?;
                }
            }
        }
        Ok(())
    }
}
