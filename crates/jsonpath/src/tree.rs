//! A parsed path.

use crate::format::{Kind, PatternFlags};

/// An item and its accessors, in order.
pub(crate) type Chain = Vec<Node>;

/// An item.
#[derive(Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub args: Args,
}

/// The arguments of an item.
#[derive(Debug)]
pub(crate) enum Args {
    None,
    /// A string, a key, or the name of a variable.
    Text(Vec<u8>),
    /// The payload of a numeric.
    Number(Vec<u8>),
    Bool(bool),
    /// The operand; `.datetime()` may have none.
    One(Option<Chain>),
    Two(Chain, Chain),
    /// Single subscripts and ranges.
    Subscripts(Vec<(Chain, Option<Chain>)>),
    Levels(u32, u32),
    Pattern {
        operand: Chain,
        pattern: Vec<u8>,
        flags: PatternFlags,
    },
}

impl Node {
    /// An item without arguments.
    pub fn plain(kind: Kind) -> Node {
        Node { kind, args: Args::None }
    }

    /// An item with a text.
    pub fn text(kind: Kind, text: Vec<u8>) -> Node {
        Node { kind, args: Args::Text(text) }
    }

    /// An item with one operand.
    pub fn one(kind: Kind, operand: Chain) -> Node {
        Node { kind, args: Args::One(Some(operand)) }
    }
}

/// Paths may be nested by thousands of levels, so a node is dropped without recursion.
impl Drop for Node {
    fn drop(&mut self) {
        let mut todo = Vec::new();
        take_operands(&mut self.args, &mut todo);
        while let Some(mut node) = todo.pop() {
            take_operands(&mut node.args, &mut todo);
        }
    }
}

/// Moves the operands out of the arguments.
fn take_operands(args: &mut Args, todo: &mut Vec<Node>) {
    match args {
        Args::None | Args::Text(_) | Args::Number(_) | Args::Bool(_) | Args::Levels(..) => {}
        Args::One(operand) => todo.extend(operand.take().into_iter().flatten()),
        Args::Two(left, right) => {
            todo.append(left);
            todo.append(right);
        }
        Args::Subscripts(list) => {
            for (from, to) in list.drain(..) {
                todo.extend(from);
                todo.extend(to.into_iter().flatten());
            }
        }
        Args::Pattern { operand, .. } => todo.append(operand),
    }
}
