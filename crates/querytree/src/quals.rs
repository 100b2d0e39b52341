//! The join problem: items whose join order is free, with their conditions, each at the lowest
//! level at which it may be tested. Counterpart: initsplan.c.
//!
//! Inner joins are flattened into one list of items; an outer, semi or anti join is an item whose
//! two sides are problems of their own. A list that would exceed a collapse limit is divided.

use crate::factor::factored;
use crate::host::Collapse;
use crate::relids::Relids;
use crate::vars::node_relids;
use crate::vars::{conjuncts, relids_of};
use plan::expr::Expr;
use plan::query::{FromExpr, JoinTreeNode, JoinType};
use std::slice::SliceIndex;

#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub items: Vec<Item>,
    /// Conditions on the items, ANDed.
    pub quals: Vec<Expr>,
    /// Sublists by the collapse limits, inner ones first: the items with these relations are joined
    /// with each other before they are joined with others.
    pub lists: Vec<Relids>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Rel(i32),
    Join(Box<JoinItem>),
}

#[derive(Clone, Debug)]
pub struct JoinItem {
    /// Left, Full, Semi or Anti.
    pub jointype: JoinType,
    pub left: Problem,
    pub right: Problem,
    /// Conditions of the ON clause that were not pushed down.
    pub quals: Vec<Expr>,
    pub relids: Relids,
}

impl JoinItem {
    /// True if the join only removes rows of its left side.
    pub fn is_semi_or_anti(&self) -> bool {
        matches!(self.jointype, JoinType::Semi | JoinType::Anti)
    }
}

pub fn is_true(e: &Expr) -> bool {
    matches!(e, Expr::Const(c) if !c.is_null() && c.value.as_ref().as_bool())
}

/// Adds the conjuncts of a condition, without those that are constant true.
fn restrict(q: &Expr, out: &mut Vec<Expr>) {
    let at = out.len();
    conjuncts(factored(q.clone()), out);
    let mut i = at;
    while i < out.len() {
        if is_true(&out[i]) {
            out.remove(i);
        } else {
            i += 1;
        }
    }
}

fn relids_of_items(items: &[Item]) -> Relids {
    let mut out = Relids::new();
    for item in items {
        match item {
            Item::Rel(r) => {
                out.insert(*r);
            }
            Item::Join(j) => out.add(&j.relids),
        }
    }
    out
}

impl Problem {
    pub fn of(from: &FromExpr, limits: Collapse) -> Problem {
        let mut p = Problem::default();
        p.add_from(from, limits);
        p.with_pushed_quals()
    }

    fn of_node(node: &JoinTreeNode, limits: Collapse) -> Problem {
        let mut p = Problem::default();
        p.add_node(node, limits);
        p.with_pushed_quals()
    }

    /// The problem with its conditions pushed down.
    fn with_pushed_quals(mut self) -> Problem {
        let quals = std::mem::take(&mut self.quals);
        self.push_down(quals);
        self
    }

    /// Adds the items of a FROM clause. Returns the length of its list: a sublist counts as one.
    fn add_from(&mut self, from: &FromExpr, limits: Collapse) -> usize {
        let mut length = 0;
        for (i, node) in from.fromlist.iter().enumerate() {
            let start = self.items.len();
            let added = self.add_node(node, limits);
            let remaining = from.fromlist.len() - i - 1;
            length += match added {
                2.. if length + added + remaining > limits.from => self.add_list(start..),
                _ => added,
            };
        }
        if let Some(q) = &from.quals {
            restrict(q, &mut self.quals);
        }
        length
    }

    /// Makes the items of that range a separate list. Returns its length in the outer list.
    fn add_list(&mut self, items: impl SliceIndex<[Item], Output = [Item]>) -> usize {
        self.lists.push(relids_of_items(&self.items[items]));
        1
    }

    /// Adds the items of a node, and returns the length of its list. Counterpart:
    /// `deconstruct_recurse`.
    fn add_node(&mut self, node: &JoinTreeNode, limits: Collapse) -> usize {
        match node {
            JoinTreeNode::Rtr(rti) => self.items.push(Item::Rel(*rti)),
            JoinTreeNode::From(f) => return self.add_from(f, limits),
            JoinTreeNode::Join(j) if j.jointype == JoinType::Inner => {
                let start = self.items.len();
                let left = self.add_node(&j.larg, limits);
                let middle = self.items.len();
                let right = self.add_node(&j.rarg, limits);
                if let Some(q) = &j.quals {
                    restrict(q, &mut self.quals);
                }
                if left + right <= limits.join {
                    return left + right;
                }
                if left > 1 {
                    self.add_list(start..middle);
                }
                if right > 1 {
                    self.add_list(middle..);
                }
                return 2;
            }
            JoinTreeNode::Join(j) => {
                let mut item = JoinItem {
                    jointype: j.jointype,
                    left: stdx::stack::deep(|| Problem::of_node(&j.larg, limits)),
                    right: stdx::stack::deep(|| Problem::of_node(&j.rarg, limits)),
                    quals: Vec::new(),
                    relids: node_relids(node),
                };
                let mut on = Vec::new();
                if let Some(q) = &j.quals {
                    restrict(q, &mut on);
                }
                // Conditions of a LATERAL subquery that refer to the other side can only be tested
                // by the join.
                if item.jointype != JoinType::Full {
                    let whole = item.relids.clone();
                    on.extend(item.right.take_foreign(|need| need.is_subset(&whole)));
                    self.quals.extend(item.left.take_foreign(|_| true));
                }
                let left = item.left.relids();
                let right = item.right.relids();
                for q in on {
                    let need = relids_of(&q);
                    let only_right = !need.is_empty() && need.is_subset(&right);
                    let only_left = !need.is_empty() && need.is_subset(&left);
                    match item.jointype {
                        JoinType::Left | JoinType::Semi | JoinType::Anti if only_right => {
                            item.right.push_down(vec![q]);
                        }
                        JoinType::Semi if only_left => item.left.push_down(vec![q]),
                        _ => item.quals.push(q),
                    }
                }
                self.items.push(Item::Join(Box::new(item)));
            }
        }
        1
    }

    pub fn relids(&self) -> Relids {
        relids_of_items(&self.items)
    }

    /// Removes and returns the conditions that refer to relations outside the problem.
    fn take_foreign(&mut self, wanted: impl Fn(&Relids) -> bool) -> Vec<Expr> {
        let own = self.relids();
        let (go, stay) = std::mem::take(&mut self.quals).into_iter().partition(|q| {
            let need = relids_of(q);
            !need.is_subset(&own) && wanted(&need)
        });
        self.quals = stay;
        go
    }

    /// True if [`Problem::push_down`] would move a condition on that relation to its scan.
    pub fn reaches(&self, rti: i32) -> bool {
        self.items.iter().any(|item| match item {
            Item::Rel(r) => *r == rti,
            Item::Join(j) => j.jointype != JoinType::Full && j.left.reaches(rti),
        })
    }

    /// Adds conditions; one that refers only to the left side of an outer, semi or anti join moves
    /// into that side.
    pub fn push_down(&mut self, quals: Vec<Expr>) {
        'next: for q in quals {
            let need = relids_of(&q);
            if !need.is_empty() {
                for item in &mut self.items {
                    if let Item::Join(j) = item
                        && j.jointype != JoinType::Full
                        && need.is_subset(&j.left.relids())
                    {
                        j.left.push_down(vec![q]);
                        continue 'next;
                    }
                }
            }
            self.quals.push(q);
        }
    }
}
