//! Replacement of parts of a query (`ts_rewrite`), and the order of queries. Counterpart:
//! tsquery_rewrite.c, tsquery_util.c.

use crate::query::{Item, Operand, Operator, Query, QueryBuilder, check_levels};
use pgerror::Result;
use std::cmp::Ordering;
use values::fn_context::SessionContext;

/// A number of a node.
type Id = usize;

/// A node of a query's tree. Operands of AND and OR may be more than two.
#[derive(Clone)]
struct Node {
    item: Item,
    /// The text of an operand.
    word: Box<[u8]>,
    /// The right operand before the left one.
    children: Vec<Id>,
    /// A bit for each operand in the expression, by its checksum. It is not updated when parts are
    /// replaced.
    sign: u32,
    /// The node was inserted in the present pass.
    replaced: bool,
}

/// Rewrites one query.
pub struct Rewriter {
    nodes: Vec<Node>,
    root: Option<Id>,
    /// `max_stack_depth` in kB.
    stack_kb: u32,
}

/// The order of two items without their operands, larger ones first.
fn order(a: Item, b: Item, words: (&[u8], &[u8])) -> Ordering {
    match (a, b) {
        (Item::Operator { operator: x, .. }, Item::Operator { operator: y, .. }) => y.cmp(&x),
        (Item::Operand(x), Item::Operand(y)) => {
            y.checksum.cmp(&x.checksum).then_with(|| words.0.cmp(words.1))
        }
        (Item::Operator { .. }, _) => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// The order of two phrase operators by their distances.
fn distance_order(a: Item, b: Item) -> Ordering {
    match (a, b) {
        (
            Item::Operator { operator: Operator::Phrase, distance: x, .. },
            Item::Operator { distance: y, .. },
        ) => y.cmp(&x),
        _ => Ordering::Equal,
    }
}

impl Rewriter {
    /// Begins with `query`.
    pub fn new(cx: &dyn SessionContext, query: Query<'_>) -> Rewriter {
        let stack_kb = cx.settings().max_stack_kb;
        let mut out = Rewriter { nodes: Vec::new(), root: None, stack_kb };
        out.root = out.read(query);
        out.prepare();
        out
    }

    /// Adds the nodes of a query; its root, `None` if the query is empty.
    fn read(&mut self, query: Query<'_>) -> Option<Id> {
        let mut done: Vec<Id> = Vec::new();
        for item in (0..query.len()).rev().map(|i| query.item(i)) {
            let mut node =
                Node { item, word: Box::default(), children: Vec::new(), sign: 0, replaced: false };
            match item {
                Item::Operand(o) => {
                    node.word = query.word(&o).into();
                    node.sign = 1 << (o.checksum as u32 % 32);
                }
                Item::Operator { operator, .. } => {
                    node.children.extend(done.pop());
                    if operator != Operator::Not {
                        node.children.extend(done.pop());
                    }
                    node.sign = node.children.iter().fold(0, |s, c| s | self.nodes[*c].sign);
                }
                Item::Stop => {}
            }
            self.nodes.push(node);
            done.push(self.nodes.len() - 1);
        }
        done.pop()
    }

    fn operator(&self, id: Id) -> Option<Operator> {
        match self.nodes[id].item {
            Item::Operator { operator, .. } => Some(operator),
            _ => None,
        }
    }

    /// Makes the tree ready for another search.
    pub fn prepare(&mut self) {
        self.nodes.iter_mut().for_each(|n| n.replaced = false);
        if let Some(root) = self.root {
            self.flatten(root);
            self.sort(root);
        }
    }

    /// Makes the operands of a nested AND or OR operands of the outer one.
    fn flatten(&mut self, id: Id) {
        let children = std::mem::take(&mut self.nodes[id].children);
        let mut flat = Vec::with_capacity(children.len());
        let operator = self.operator(id);
        let associative = matches!(operator, Some(Operator::And | Operator::Or));
        for child in children {
            stdx::stack::deep(|| self.flatten(child));
            match associative && self.operator(child) == operator {
                true => flat.append(&mut self.nodes[child].children),
                false => flat.push(child),
            }
        }
        self.nodes[id].children = flat;
    }

    /// Sorts the operands of AND and OR.
    fn sort(&mut self, id: Id) {
        let mut children = std::mem::take(&mut self.nodes[id].children);
        for child in &children {
            stdx::stack::deep(|| self.sort(*child));
        }
        if self.operator(id) != Some(Operator::Phrase) {
            children.sort_by(|a, b| self.compare(*a, *b));
        }
        self.nodes[id].children = children;
    }

    fn compare(&self, a: Id, b: Id) -> Ordering {
        let (x, y) = (&self.nodes[a], &self.nodes[b]);
        let below = || {
            let mut each = x.children.iter().zip(&y.children);
            let found = each.find_map(|(a, b)| {
                let order = stdx::stack::deep(|| self.compare(*a, *b));
                order.is_ne().then_some(order)
            });
            found.unwrap_or(Ordering::Equal)
        };
        order(x.item, y.item, (&x.word, &y.word))
            .then(y.children.len().cmp(&x.children.len()))
            .then_with(below)
            .then_with(|| distance_order(x.item, y.item))
    }

    fn equal(&self, a: Id, b: Id) -> bool {
        self.nodes[a].sign == self.nodes[b].sign && self.compare(a, b).is_eq()
    }

    /// A copy of an expression whose root counts as replaced.
    fn replacement(&mut self, id: Id) -> Id {
        let copy = self.copy(id);
        self.nodes[copy].replaced = true;
        copy
    }

    fn copy(&mut self, id: Id) -> Id {
        let mut node = self.nodes[id].clone();
        for child in &mut node.children {
            *child = stdx::stack::deep(|| self.copy(*child));
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Replaces the expression at `id`, or some of the operands of an AND or OR, if it equals
    /// `search`. The result is the new expression, `None` if nothing remains.
    fn replace_here(&mut self, id: Id, search: Id, by: Option<Id>) -> Option<Id> {
        let (node, wanted) = (&self.nodes[id], &self.nodes[search]);
        let same_kind = match (node.item, wanted.item) {
            (Item::Operand(a), Item::Operand(b)) => a.checksum == b.checksum,
            (Item::Operator { operator: a, .. }, Item::Operator { operator: b, .. }) => a == b,
            _ => false,
        };
        if !same_kind || node.sign & wanted.sign != wanted.sign || node.replaced {
            return Some(id);
        }
        let (count, parts) = (node.children.len(), wanted.children.len());
        if count == parts {
            return match self.equal(id, search) {
                true => by.map(|by| self.replacement(by)),
                false => Some(id),
            };
        }
        if count < parts || parts == 0 {
            return Some(id);
        }
        if let Some(rest) = self.without_parts(id, search) {
            self.nodes[id].children = rest;
            if let Some(by) = by {
                let copy = self.replacement(by);
                self.nodes[id].children.push(copy);
            }
            self.sort(id);
        }
        Some(id)
    }

    /// The operands of `id` without those of `search`, if it has all of them.
    fn without_parts(&self, id: Id, search: Id) -> Option<Vec<Id>> {
        let mut wanted = self.nodes[search].children.iter().copied().peekable();
        let mut rest = Vec::new();
        for &child in &self.nodes[id].children {
            let order = wanted.peek().map(|w| self.compare(child, *w));
            match order {
                Some(Ordering::Equal) => {
                    wanted.next();
                }
                // The operands are sorted, so that this one does not come any more.
                Some(Ordering::Greater) => return None,
                _ => rest.push(child),
            }
        }
        wanted.peek().is_none().then_some(rest)
    }

    fn replace(
        &mut self,
        cx: &dyn SessionContext,
        id: Id,
        search: Id,
        by: Option<Id>,
    ) -> Result<Option<Id>> {
        cx.check_interrupts()?;
        let Some(id) = self.replace_here(id, search, by) else { return Ok(None) };
        if self.nodes[id].replaced {
            return Ok(Some(id));
        }
        let Some(operator) = self.operator(id) else { return Ok(Some(id)) };
        let mut rest = Vec::new();
        for child in std::mem::take(&mut self.nodes[id].children) {
            rest.extend(stdx::stack::deep(|| self.replace(cx, child, search, by))?);
        }
        let simple = match rest.as_slice() {
            [] => None,
            [one] if operator != Operator::Not => Some(*one),
            _ => {
                self.nodes[id].children = rest;
                Some(id)
            }
        };
        Ok(simple)
    }

    /// Replaces `search` by `by` everywhere. Returns whether anything of the query remains.
    pub fn substitute(
        &mut self,
        cx: &dyn SessionContext,
        search: Query<'_>,
        by: Query<'_>,
    ) -> Result<bool> {
        let Some(root) = self.root else { return Ok(false) };
        let kept = self.nodes.len();
        if let Some(search) = self.read(search) {
            self.flatten(search);
            self.sort(search);
            let by = self.read(by);
            self.root = self.replace(cx, root, search, by)?;
        }
        // Repeated substitutions must not collect the nodes of all patterns.
        if self.nodes.len() > 2 * kept + 1024 {
            self.compact();
        }
        Ok(self.root.is_some())
    }

    /// Removes nodes that are not part of the query.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.nodes);
        let Some(root) = self.root else { return };
        let mut from = Rewriter { nodes: old, root: None, stack_kb: self.stack_kb };
        self.root = Some(self.take(&mut from, root));
    }

    fn take(&mut self, from: &mut Rewriter, id: Id) -> Id {
        let mut node = from.nodes[id].clone();
        for child in &mut node.children {
            *child = stdx::stack::deep(|| self.take(from, *child));
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The payload of the query.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let mut out = QueryBuilder::default();
        let mut next: Vec<Id> = self.root.into_iter().collect();
        while let Some(id) = next.pop() {
            while self.nodes[id].children.len() > 2 {
                self.group(id);
            }
            let node = &self.nodes[id];
            match node.item {
                Item::Operand(operand) => out.operand(operand, &node.word),
                item => out.items.push(item),
            }
            next.extend(node.children.iter().rev());
        }
        out.link(self.stack_kb)?;
        Ok(out.finish())
    }

    /// Makes the first two operands of a node operands of a new one.
    fn group(&mut self, id: Id) {
        let mut node = self.nodes[id].clone();
        let last = node.children.pop();
        let group = self.nodes.len();
        let children = &mut self.nodes[id].children;
        children.pop();
        children[0] = group;
        children.splice(1..2, last);
        node.children = node.children[..2].to_vec();
        self.nodes.push(node);
    }
}

/// Compares two queries.
pub(crate) fn compare_queries(a: &[u8], b: &[u8]) -> Ordering {
    fn expressions(x: Query<'_>, i: usize, y: Query<'_>, j: usize) -> Ordering {
        let (a, b) = (x.item(i), y.item(j));
        let text = |q: Query<'_>, item| match item {
            Item::Operand(o) => q.word(&o).to_vec(),
            _ => Vec::new(),
        };
        let by_item = match (a, b) {
            (Item::Operand(p), Item::Operand(q)) if p.checksum == q.checksum => {
                text(x, a).cmp(&text(y, b))
            }
            _ => order(a, b, (&[], &[])),
        };
        by_item
            .then_with(|| match (a, b) {
                (Item::Operator { operator, left: l, .. }, Item::Operator { left: m, .. }) => {
                    stdx::stack::deep(|| expressions(x, i + 1, y, j + 1)).then_with(|| {
                        match operator {
                            Operator::Not => Ordering::Equal,
                            _ => stdx::stack::deep(|| {
                                expressions(x, i + l as usize, y, j + m as usize)
                            }),
                        }
                    })
                }
                _ => Ordering::Equal,
            })
            .then_with(|| distance_order(a, b))
    }
    let (x, y) = (Query::new(a), Query::new(b));
    (x.len().cmp(&y.len())).then(a.len().cmp(&b.len())).then_with(|| match x.is_empty() {
        true => Ordering::Equal,
        false => expressions(x, 0, y, 0),
    })
}

/// Appends the items of a query.
fn append(out: &mut QueryBuilder, query: Query<'_>) {
    for item in (0..query.len()).map(|i| query.item(i)) {
        match item {
            Item::Operand(o) => out.operand(Operand { at: 0, ..o }, query.word(&o)),
            other => out.items.push(other),
        }
    }
}

/// The query `left operator right`; one of them if the other is empty.
pub(crate) fn join(
    cx: &dyn SessionContext,
    left: &[u8],
    right: &[u8],
    operator: Operator,
    distance: i16,
) -> Result<Vec<u8>> {
    let (a, b) = (Query::new(left), Query::new(right));
    if a.is_empty() || b.is_empty() {
        return Ok(if a.is_empty() { right } else { left }.to_vec());
    }
    let mut out = QueryBuilder::default();
    out.items.push(Item::Operator { operator, distance, left: 0 });
    append(&mut out, b);
    append(&mut out, a);
    out.link(cx.settings().max_stack_kb)?;
    Ok(out.finish())
}

/// The negated query; an empty one is not changed.
pub(crate) fn negate(cx: &dyn SessionContext, query: &[u8]) -> Result<Vec<u8>> {
    let view = Query::new(query);
    if view.is_empty() {
        return Ok(query.to_vec());
    }
    check_levels(cx.settings(), 1)?;
    let mut out = QueryBuilder::default();
    out.items.push(Item::Operator { operator: Operator::Not, distance: 0, left: 0 });
    append(&mut out, view);
    out.link(cx.settings().max_stack_kb)?;
    Ok(out.finish())
}
