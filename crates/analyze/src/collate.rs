//! Collation assignment: every node that compares or returns strings gets a collation. Counterpart:
//! parser/parse_collate.c.

use crate::state::Analyzer;
use crate::ty;
use ids::Oid;
use ids::code::AggKind;
use pgerror::{Result, pg_err};
use plan::expr::{
    Aggref, CaseExpr, CoercionForm, Expr, FieldSelect, Location, RelabelType, RowCompareExpr,
    SubLink, SubLinkKind, SubscriptingRef, TargetEntry,
};
use plan::query::{JoinTreeNode, Query, RteKind};

/// The derivation strength of an expression's collation, in ascending order; the stronger collation
/// takes precedence.
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

    /// The collation; invalid if there is a conflict.
    fn known(&self) -> Oid {
        if self.strength == Strength::Conflict { Oid::INVALID } else { self.collation }
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
            "You can choose the collation by applying the COLLATE clause to one or both \
             expressions.",
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
                // Any other collation takes precedence over the database's default.
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
        let ty = expr.type_oid();
        let location = self.location_of_collation(expr, ty)?;
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
            Expr::FieldSelect(f) => self.collate_field(f, location)?,
            Expr::RowCompare(compare) => self.collate_row_comparison(compare)?,
            Expr::CoerceToDomain(n) => {
                let input = self.collate(&mut n.arg)?;
                // A domain may have a collation of its own.
                let state = self.domain_result(&input, ty, location)?;
                n.resultcollid = state.known();
                state
            }
            Expr::SubLink(link) => self.collate_sublink(link, location)?,
            Expr::Case(case) => self.collate_case(case, ty, location)?,
            Expr::Aggref(agg) => self.collate_aggregate(agg, ty, location)?,
            Expr::WindowFunc(w) => {
                self.collate_each(w.aggfilter.as_mut_slice())?;
                let (input, result) = self.collate_call(&mut w.args, ty, location)?;
                (w.inputcollid, w.wincollid) = (input, result.known());
                result
            }
            Expr::FuncExpr(f) => {
                let (input, result) = self.collate_call(&mut f.args, ty, location)?;
                (f.inputcollid, f.funccollid) = (input, result.known());
                result
            }
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => {
                let (input, result) = self.collate_call(&mut o.args, ty, location)?;
                (o.inputcollid, o.opcollid) = (input, result.known());
                result
            }
            Expr::ScalarArrayOp(o) => {
                o.inputcollid = self.merge_all(&mut o.args)?.known();
                State::NONE
            }
            Expr::MinMax(m) => {
                let (input, result) = self.collate_call(&mut m.args, ty, location)?;
                (m.inputcollid, m.minmaxcollid) = (input, result.known());
                result
            }
            Expr::Coalesce(c) => {
                let (_, result) = self.collate_call(&mut c.args, ty, location)?;
                c.coalescecollid = result.known();
                result
            }
            Expr::Array(a) => {
                let (_, result) = self.collate_call(&mut a.elements, ty, location)?;
                a.array_collid = result.known();
                result
            }
            Expr::SubscriptingRef(s) => self.collate_subscripts(s, ty, location)?,
            Expr::Relabel(n) => {
                let result = self.collate_conversion(&mut n.arg, ty, location)?;
                n.resultcollid = result.known();
                result
            }
            Expr::CoerceViaIo(n) => {
                let result = self.collate_conversion(&mut n.arg, ty, location)?;
                n.resultcollid = result.known();
                result
            }
            Expr::ArrayCoerce(n) => {
                let result = self.collate_conversion(&mut n.arg, ty, location)?;
                n.resultcollid = result.known();
                result
            }
            // A default argument does not affect the collation.
            Expr::NamedArg(n) if !n.name.is_empty() => self.collate(&mut n.arg)?,
            Expr::Row(_)
            | Expr::FieldStore(_)
            | Expr::NamedArg(_)
            | Expr::ConvertRowtype(_)
            | Expr::Bool(_)
            | Expr::NullTest(_)
            | Expr::BooleanTest(_)
            | Expr::GroupingFunc(_)
            | Expr::SubPlan(_) => {
                self.collate_separately(expr)?;
                State::NONE
            }
        })
    }

    /// The location to report for a conflict of collations. Only a type with a collation can have
    /// one, and the search for the location descends through the whole expression.
    fn location_of_collation(&mut self, expr: &Expr, ty: Oid) -> Result<Location> {
        Ok(match expr {
            Expr::Var(_) | Expr::Const(_) | Expr::Param(_) => expr.location(),
            _ if self.type_collation(ty)?.is_valid() => expr.location(),
            _ => Location::UNKNOWN,
        })
    }

    /// Expressions without a collation of their own, whose parts do not affect each other.
    fn collate_separately(&mut self, expr: &mut Expr) -> Result<()> {
        match expr {
            Expr::Row(row) => self.collate_each(&mut row.args),
            Expr::FieldStore(f) => {
                self.collate(&mut f.arg)?;
                self.collate_each(&mut f.newvals)
            }
            Expr::NamedArg(n) => self.collate(&mut n.arg).map(drop),
            Expr::ConvertRowtype(n) => self.collate(&mut n.arg).map(drop),
            Expr::Bool(b) => self.collate_each(&mut b.args),
            Expr::NullTest(n) => self.collate(&mut n.arg).map(drop),
            Expr::BooleanTest(n) => self.collate(&mut n.arg).map(drop),
            // The arguments are compared with the grouping expressions, which have their
            // collations already.
            Expr::GroupingFunc(g) => self.collate_each(&mut g.args),
            _ => Ok(()),
        }
    }

    fn collate_each(&mut self, exprs: &mut [Expr]) -> Result<()> {
        exprs.iter_mut().try_for_each(|e| self.collate(e).map(drop))
    }

    /// A node whose result depends on all arguments: their collation and that of the result.
    fn collate_call(
        &mut self,
        args: &mut [Expr],
        ty: Oid,
        location: Location,
    ) -> Result<(Oid, State)> {
        let state = self.merge_all(args)?;
        let result = self.result(&state, ty, location)?;
        Ok((state.known(), result))
    }

    fn collate_conversion(&mut self, arg: &mut Expr, ty: Oid, location: Location) -> Result<State> {
        let state = self.collate(arg)?;
        self.result(&state, ty, location)
    }

    fn collate_field(&mut self, f: &mut FieldSelect, location: Location) -> Result<State> {
        self.collate(&mut f.arg)?;
        if !(f.resultcollid.is_valid() && self.is_complex(f.arg.type_oid())?) {
            let own = self.type_collation(f.resulttype)?;
            if !f.resultcollid.is_valid() {
                f.resultcollid = own;
            }
        }
        Ok(State::implicit(f.resultcollid, location))
    }

    /// The collations of the column pairs are determined independently.
    fn collate_row_comparison(&mut self, compare: &mut RowCompareExpr) -> Result<State> {
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
        Ok(State::NONE)
    }

    fn collate_sublink(&mut self, link: &mut SubLink, location: Location) -> Result<State> {
        if let Some(test) = &mut link.testexpr {
            self.collate(test)?;
        }
        Ok(match link.kind {
            SubLinkKind::Expr | SubLinkKind::Array => {
                let column = link.subselect.result_columns().next();
                let collation = column.map_or(Oid::INVALID, |t| t.expr.collation());
                State::implicit(collation, location)
            }
            _ => State::NONE,
        })
    }

    /// The test expression got its collation when the conditions were analysed, and does not affect
    /// the collation of the result.
    fn collate_case(&mut self, case: &mut CaseExpr, ty: Oid, location: Location) -> Result<State> {
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
        case.casecollid = result.known();
        Ok(result)
    }

    fn collate_aggregate(
        &mut self,
        agg: &mut Aggref,
        ty: Oid,
        location: Location,
    ) -> Result<State> {
        if let Some(filter) = &mut agg.aggfilter {
            self.collate(filter)?;
        }
        let mut state = State::NONE;
        let ordered = agg.aggkind != AggKind::Normal;
        // The last direct arguments of a hypothetical-set aggregate are paired with the sort keys.
        let keys = if agg.aggkind == AggKind::Hypothetical { agg.args.len() } else { 0 };
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
        let single = agg.args.len() == 1 && agg.aggkind == AggKind::OrderedSet;
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
        agg.inputcollid = state.known();
        let result = self.result(&state, ty, location)?;
        agg.aggcollid = result.known();
        Ok(result)
    }

    fn collate_subscripts(
        &mut self,
        s: &mut SubscriptingRef,
        ty: Oid,
        location: Location,
    ) -> Result<State> {
        for index in s.refupperindexpr.iter_mut().chain(&mut s.reflowerindexpr).flatten() {
            self.collate(index)?;
        }
        let mut state = self.collate(&mut s.refexpr)?;
        if let Some(value) = &mut s.refassgnexpr {
            let child = self.collate(value)?;
            self.merge(&mut state, child)?;
        }
        let result = self.result(&state, ty, location)?;
        s.refcollid = result.known();
        Ok(result)
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
        for action in &mut query.merge_actions {
            let list = action.target_list.iter_mut().map(|t| &mut t.expr);
            for e in action.condition.iter_mut().chain(list) {
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
