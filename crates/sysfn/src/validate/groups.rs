//! The members of an operator family for each pair of types, and what is missing.

use super::rules::{
    BTREE_COMPARE, BTREE_IN_RANGE, GIN_CONSISTENT, GIN_TRI_CONSISTENT, Pairs, Support,
};
use super::{Check, STRATEGY_COUNTED_MAX};
use catalog::Row;
use catalog::rows::{PgAmop, PgAmproc};
use ids::Oid;
use pgerror::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The strategies and the numbers of support functions of a pair of types, as bits.
#[derive(Clone, Copy, Default)]
struct Group {
    strategies: u64,
    functions: u64,
}

/// The groups of a family by their types.
pub(super) struct Groups {
    by_types: BTreeMap<(Oid, Oid), Group>,
    /// The strategies that any type has with itself.
    strategies: u64,
    /// The numbers of all support functions that are valid.
    functions: u64,
}

/// All five strategies of B-tree indexes.
const BTREE_STRATEGIES: u64 = 0b11_1110;
const EQUAL: u64 = 1 << 1;

fn bit(number: i16) -> u64 {
    u64::from(u16::try_from(number).is_ok_and(|n| n <= STRATEGY_COUNTED_MAX)) << (number & 63)
}

impl Groups {
    pub(super) fn new(operators: &[Row<PgAmop>], functions: &[Row<PgAmproc>]) -> Groups {
        let mut by_types: BTreeMap<_, Group> = BTreeMap::new();
        let mut strategies = 0;
        for o in operators {
            let strategy = o.amopstrategy.0;
            let group = by_types.entry((o.amoplefttype, o.amoprighttype)).or_default();
            if (1..=STRATEGY_COUNTED_MAX).contains(&strategy) {
                group.strategies |= 1 << strategy;
                if o.amoplefttype == o.amoprighttype {
                    strategies |= 1 << strategy;
                }
            }
        }
        for f in functions {
            let group = by_types.entry((f.amproclefttype, f.amprocrighttype)).or_default();
            group.functions |= bit(f.amprocnum);
        }
        Groups { by_types, strategies, functions: 0 }
    }

    /// Notes that the family has a valid support function with this number.
    pub(super) fn seen(&mut self, number: i16) {
        self.functions |= bit(number);
    }

    /// Lets a pair of types have a support function.
    pub(super) fn add_function(&mut self, left: Oid, right: Oid, number: i16) {
        self.by_types.entry((left, right)).or_default().functions |= bit(number);
    }
}

impl Check<'_> {
    /// Reports what is missing. `hashable` is the number of types that have hash functions.
    pub(super) fn groups(&mut self, groups: &Groups, hashable: usize) -> Result<()> {
        let (mut used, mut types) = (0, BTreeSet::new());
        let input = self.class.opcintype;
        let mut own = None;
        for (&(left, right), group) in &groups.by_types {
            if self.rules.pairs == Pairs::BTree {
                // Support functions for RANGE alone need no operators.
                if group.strategies == 0 && group.functions == bit(BTREE_IN_RANGE) {
                    continue;
                }
                types.extend([left, right]);
            }
            used += 1;
            if (left, right) == (input, input) {
                own = Some(*group);
            }
            self.group((left, right), *group, groups)?;
        }
        let count = match self.rules.pairs {
            Pairs::BTree => types.len(),
            Pairs::Hash => hashable,
            _ => return self.own_group(own, groups),
        };
        self.own_group(own, groups)?;
        if used != count * count {
            self.family_fault("is missing cross-type operator(s)");
        }
        Ok(())
    }

    fn group(&mut self, types: (Oid, Oid), group: Group, groups: &Groups) -> Result<()> {
        let needed = match self.rules.pairs {
            Pairs::Any => return Ok(()),
            Pairs::BTree => BTREE_STRATEGIES,
            Pairs::Hash => EQUAL,
            Pairs::SpGist => group.strategies,
            // Operators of two types may have no functions of their own.
            Pairs::Brin if group.functions == 0 && types.0 != types.1 => return Ok(()),
            Pairs::Brin => groups.strategies,
        };
        let pair = {
            let mut cat = self.core.catalog();
            format!("for types {} and {}", cat.format_type(types.0)?, cat.format_type(types.1)?)
        };
        let empty = self.rules.pairs == Pairs::SpGist && group.strategies == 0;
        if group.strategies != needed || empty {
            self.family_fault(&format!("is missing operator(s) {pair}"));
        }
        match self.rules.pairs {
            Pairs::BTree if group.functions & bit(BTREE_COMPARE) == 0 => {
                self.family_fault(&format!("is missing support function {pair}"));
            }
            Pairs::Brin if group.functions != groups.functions => {
                self.family_fault(&format!("is missing support function(s) {pair}"));
            }
            Pairs::SpGist if types.0 == types.1 => {
                let ty = self.core.catalog().format_type(types.0)?;
                for number in self.absent(group) {
                    self.family_fault(&format!(
                        "is missing support function {number} for type {ty}"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The numbers of the required support functions that a group does not have.
    fn absent(&self, group: Group) -> Vec<i16> {
        let lacks = |s: &&Support| s.required && group.functions & bit(s.number) == 0;
        self.rules.support.iter().filter(lacks).map(|s| s.number).collect()
    }

    /// Checks the operator class's own members.
    fn own_group(&mut self, own: Option<Group>, groups: &Groups) -> Result<()> {
        let incomplete = match self.rules.pairs {
            Pairs::Any => false,
            Pairs::Brin => own.is_none_or(|own| own.strategies != groups.strategies),
            _ => own.is_none(),
        };
        if incomplete {
            self.class_fault("is missing operator(s)");
        }
        if matches!(self.rules.pairs, Pairs::Any | Pairs::Brin) {
            for number in self.absent(own.unwrap_or_default()) {
                self.class_fault(&format!("is missing support function {number}"));
            }
        }
        let either = bit(GIN_CONSISTENT) | bit(GIN_TRI_CONSISTENT);
        if self.rules.name == "gin" && own.is_none_or(|own| own.functions & either == 0) {
            self.class_fault(&format!(
                "is missing support function {GIN_CONSISTENT} or {GIN_TRI_CONSISTENT}"
            ));
        }
        Ok(())
    }
}
