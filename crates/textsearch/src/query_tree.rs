//! Queries as trees from which parts are removed: stop words, and negated parts for the query tree
//! of an index. Counterpart: tsquery_cleanup.c.

use crate::query::{Item, Operator, Query, QueryBuilder};

/// A number of a node.
type Id = usize;

struct Node {
    item: Item,
    /// Left operand; absent for operands and for the operator NOT.
    left: Option<Id>,
    right: Option<Id>,
}

/// What remains of an expression.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// Its root; `None` if it was removed.
    root: Option<Id>,
    /// How much wider the gap to the phrase operator on its left and its right becomes, because
    /// words were removed. Equal if the whole expression was removed.
    left_gap: i32,
    right_gap: i32,
}

/// Reduces a query given as its items in prefix order. `reduce` gets an item and what remains of
/// its right and its left operand (the left one only if the operator has two), and the nodes.
fn reduce(
    items: impl DoubleEndedIterator<Item = Item>,
    mut reduce: impl FnMut(&mut Vec<Node>, Item, Rest, Option<Rest>) -> Rest,
) -> (Vec<Node>, Option<Id>) {
    let mut nodes = Vec::new();
    let mut done: Vec<Rest> = Vec::new();
    for item in items.rev() {
        let rest = match item {
            Item::Operand(_) => {
                nodes.push(Node { item, left: None, right: None });
                Rest { root: Some(nodes.len() - 1), ..Rest::default() }
            }
            Item::Stop => Rest::default(),
            Item::Operator { operator, .. } => {
                let right = done.pop().unwrap_or_default();
                let left = match operator {
                    Operator::Not => None,
                    _ => Some(done.pop().unwrap_or_default()),
                };
                reduce(&mut nodes, item, right, left)
            }
        };
        done.push(rest);
    }
    let root = done.pop().and_then(|rest| rest.root);
    (nodes, root)
}

fn push(nodes: &mut Vec<Node>, item: Item, right: Option<Id>, left: Option<Id>) -> Option<Id> {
    nodes.push(Node { item, left, right });
    Some(nodes.len() - 1)
}

/// The expression at `root` in prefix order.
fn flatten(nodes: &[Node], root: Option<Id>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next: Vec<Id> = root.into_iter().collect();
    while let Some(id) = next.pop() {
        let node = &nodes[id];
        items.push(node.item);
        next.extend(node.left);
        next.extend(node.right);
    }
    items
}

/// The item with another distance if it is a phrase operator.
fn widened(item: Item, more: i32) -> Item {
    match item {
        Item::Operator { operator: Operator::Phrase, distance, left } => Item::Operator {
            operator: Operator::Phrase,
            distance: distance.wrapping_add(more as i16),
            left,
        },
        other => other,
    }
}

/// What remains of an expression whose left operand, right operand or both were removed.
fn collapsed(item: Item, left: Rest, right: Rest) -> Rest {
    let phrase = match item {
        Item::Operator { operator: Operator::Phrase, distance, .. } => Some(i32::from(distance)),
        _ => None,
    };
    match (left.root, right.root, phrase) {
        (None, None, _) => {
            let gap = match phrase {
                Some(distance) => left.left_gap + distance + right.left_gap,
                None => left.left_gap.max(right.left_gap),
            };
            Rest { root: None, left_gap: gap, right_gap: gap }
        }
        (None, _, Some(distance)) => {
            Rest { left_gap: left.left_gap + distance + right.left_gap, ..right }
        }
        (None, _, None) => right,
        (_, _, Some(distance)) => {
            Rest { right_gap: left.right_gap + distance + right.right_gap, ..left }
        }
        (_, _, None) => left,
    }
}

/// The query without its stop words and the operators that lose their operands. Phrase operators
/// become wider by the words that were between their operands.
pub(crate) fn without_stop_words(query: QueryBuilder) -> QueryBuilder {
    let (nodes, root) = reduce(query.items.iter().copied(), |nodes, item, right, left| {
        let Some(left) = left else {
            let root = right.root.and_then(|id| push(nodes, item, Some(id), None));
            return Rest { root, ..right };
        };
        match (left.root, right.root, item) {
            (Some(l), Some(r), Item::Operator { operator, .. }) => {
                let item = widened(item, left.right_gap + right.left_gap);
                let root = push(nodes, item, Some(r), Some(l));
                match operator {
                    Operator::Phrase => {
                        Rest { root, left_gap: left.left_gap, right_gap: right.right_gap }
                    }
                    _ => Rest { root, ..Rest::default() },
                }
            }
            _ => collapsed(item, left, right),
        }
    });
    let mut out = QueryBuilder::default();
    for item in flatten(&nodes, root) {
        match item {
            Item::Operand(o) => {
                let at = o.at as usize;
                out.operand(o, &query.text[at..at + usize::from(o.len)]);
            }
            other => out.items.push(other),
        }
    }
    relinked(out)
}

fn relinked(mut query: QueryBuilder) -> QueryBuilder {
    // Removal keeps the expression complete and makes it no deeper.
    let _ = query.link(u32::MAX / 32);
    query
}

/// The items of the query without negated parts: what an index can be searched for. Empty if
/// nothing remains. Their texts are those of `query`.
pub(crate) fn without_negation(query: Query<'_>) -> Vec<Item> {
    let items = (0..query.len()).map(|i| query.item(i));
    let (nodes, root) = reduce(items, |nodes, item, right, left| {
        let Item::Operator { operator, .. } = item else { return Rest::default() };
        let left = left.and_then(|left| left.root);
        let root = match (operator, left, right.root) {
            (Operator::Not, ..) => None,
            (_, Some(l), Some(r)) => push(nodes, item, Some(r), Some(l)),
            (Operator::Or, ..) => None,
            (_, l, r) => l.or(r),
        };
        Rest { root, ..Rest::default() }
    });
    flatten(&nodes, root)
}
