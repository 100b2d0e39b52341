//! Conversion of the C parser's types to those of the tree: names, lists, optional nodes, literals.

use super::newer::NewerSyntax;
use super::nodes::unexpected;
use super::untyped;
use super::words::Words;
use crate::ast::{self, Name, Node};
use ids::Persistence;
use ids::code::{ColumnGenerated, ColumnIdentity, Firing, FkAction, FkMatch, ReplicaIdentity};
use pg_raw_parse::list::{CastNodeList, NodeList};
use pg_raw_parse::{ConstValue, Node as RNode, nodes, raw};
use pgerror::{PgError, Result, pg_err};
use stdx::stack::deep;

/// State of the conversion of one statement: the depth of the tree, and syntax that is too new.
#[derive(Default)]
pub(super) struct ConversionState<'a> {
    /// Number of open nodes.
    depth: u32,
    /// Maximum of `depth` so far.
    pub(super) deepest: u32,
    /// Bytes of stack that PostgreSQL would use for the open nodes.
    bytes: u32,
    pub(super) newer: NewerSyntax,
    /// The words that are replaced in the text.
    words: Option<&'a Words>,
}

/// Bytes of stack that PostgreSQL's analysis and planning use per level: for calls and operators,
/// as measured with the deepest statements that it accepts; and for other nodes.
const CALL_BYTES: u32 = 510;
const NODE_BYTES: u32 = 190;

/// Bytes per level for a node of this name.
pub(super) const fn level_bytes(node: &str) -> u32 {
    match node.as_bytes() {
        b"AExpr" | b"FuncCall" | b"TypeCast" | b"CaseExpr" | b"AIndirection" | b"AArrayExpr"
        | b"CoalesceExpr" | b"MinMaxExpr" => CALL_BYTES,
        b"BoolExpr" | b"BooleanTest" => 270,
        b"NullTest" => 340,
        _ => NODE_BYTES,
    }
}

impl<'a> ConversionState<'a> {
    pub(super) fn new(words: Option<&'a Words>) -> ConversionState<'a> {
        ConversionState { words, ..ConversionState::default() }
    }

    /// A name or text of the tree.
    #[inline]
    pub(super) fn text(&self, text: &str) -> Box<str> {
        match self.words {
            None => text.into(),
            Some(words) => words.restored(text).into(),
        }
    }

    #[inline]
    pub(super) fn enter(&mut self, bytes: u32) -> Result<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.bytes += bytes;
        if self.bytes > crate::options::DEPTH_BYTES_MAX { Err(too_deep()) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn leave(&mut self, bytes: u32) {
        self.depth -= 1;
        self.bytes -= bytes;
    }
}

#[cold]
fn too_deep() -> PgError {
    pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after \
         ensuring the platform's stack depth limit is adequate.",
    )
}

pub(super) trait Convert<T> {
    fn convert(self, cx: &mut ConversionState) -> Result<T>;
}

macro_rules! plain {
    ($($c_node:ty => $node:ty),*) => { $(
        impl Convert<$node> for $c_node {
            #[inline]
            fn convert(self, _: &mut ConversionState) -> Result<$node> {
                Ok(self as $node)
            }
        }
    )* };
}

plain!(bool => bool, i32 => i32, i16 => i16, i16 => i32, i64 => i64, u32 => u32, i8 => u8);

/// Codes of one character, as in the catalogs.
macro_rules! codes {
    ($($ty:ty),*) => { $(
        impl Convert<$ty> for i8 {
            fn convert(self, _: &mut ConversionState) -> Result<$ty> {
                <$ty>::from_char(self as u8).ok_or_else(|| unexpected(stringify!($ty)))
            }
        }
    )* };
}

codes!(ColumnGenerated, ColumnIdentity, Firing, Persistence, ReplicaIdentity);

/// Codes of constraints; 0 where the constraint is of another kind.
macro_rules! optional_codes {
    ($($ty:ty),*) => { $(
        impl Convert<$ty> for i8 {
            fn convert(self, _: &mut ConversionState) -> Result<$ty> {
                match self {
                    0 => Ok(<$ty>::default()),
                    code => {
                        <$ty>::from_char(code as u8).ok_or_else(|| unexpected(stringify!($ty)))
                    }
                }
            }
        }
    )* };
}

optional_codes!(FkAction, FkMatch);

impl Convert<Option<Name>> for Option<&str> {
    fn convert(self, cx: &mut ConversionState) -> Result<Option<Name>> {
        Ok(self.map(|name| cx.text(name)))
    }
}

impl Convert<Name> for Option<&str> {
    fn convert(self, cx: &mut ConversionState) -> Result<Name> {
        Ok(cx.text(self.unwrap_or_default()))
    }
}

impl Convert<Option<Name>> for Option<&nodes::String> {
    fn convert(self, cx: &mut ConversionState) -> Result<Option<Name>> {
        Ok(self.and_then(|s| s.sval()).map(|name| cx.text(name)))
    }
}

impl Convert<Name> for RNode<'_> {
    fn convert(self, cx: &mut ConversionState) -> Result<Name> {
        match self {
            RNode::String(s) => Ok(cx.text(s.sval().unwrap_or_default())),
            // A star in a list of names, as in CREATE AGGREGATE.
            RNode::A_Star(_) => Ok(Name::from("*")),
            _ => Err(unexpected("a name")),
        }
    }
}

impl Convert<Option<Node>> for RNode<'_> {
    #[inline]
    fn convert(self, cx: &mut ConversionState) -> Result<Option<Node>> {
        match self {
            RNode::None => Ok(None),
            node => node.convert(cx).map(Some),
        }
    }
}

impl<T> Convert<Vec<T>> for &NodeList
where
    for<'a> RNode<'a>: Convert<T>,
{
    fn convert(self, cx: &mut ConversionState) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let mut out = Vec::with_capacity(self.len());
        for node in self {
            out.push(node.convert(cx)?);
        }
        Ok(out)
    }
}

impl<T, U> Convert<Vec<T>> for &CastNodeList<U>
where
    for<'a> RNode<'a>: Convert<T>,
{
    fn convert(self, cx: &mut ConversionState) -> Result<Vec<T>> {
        untyped(self).convert(cx)
    }
}

impl<T> Convert<Vec<T>> for RNode<'_>
where
    for<'a> RNode<'a>: Convert<T>,
{
    fn convert(self, cx: &mut ConversionState) -> Result<Vec<T>> {
        self.as_node_list().ok_or_else(|| unexpected("a list"))?.convert(cx)
    }
}

impl<'a, R, T> Convert<Option<Box<T>>> for Option<&'a R>
where
    &'a R: Convert<T>,
{
    fn convert(self, cx: &mut ConversionState) -> Result<Option<Box<T>>> {
        self.map(|r| deep(|| r.convert(cx)).map(Box::new)).transpose()
    }
}

macro_rules! required {
    ($($c_node:ident),*) => { $(
        impl Convert<ast::$c_node> for Option<&nodes::$c_node> {
            fn convert(self, cx: &mut ConversionState) -> Result<ast::$c_node> {
                self.ok_or_else(|| unexpected(stringify!($c_node)))?.convert(cx)
            }
        }
    )* };
}

required!(
    RangeVar,
    TypeName,
    IntoClause,
    VariableSetStmt,
    RoleSpec,
    FuncCall,
    ObjectWithArgs,
    GrantStmt
);

/// NONE as an operator's argument type.
impl Convert<Option<ast::TypeName>> for RNode<'_> {
    fn convert(self, cx: &mut ConversionState) -> Result<Option<ast::TypeName>> {
        match self {
            RNode::None => Ok(None),
            node => node.convert(cx).map(Some),
        }
    }
}

impl Convert<ast::Value> for &nodes::A_Const {
    fn convert(self, cx: &mut ConversionState) -> Result<ast::Value> {
        Ok(match self.val() {
            None => ast::Value::Null,
            Some(ConstValue::Integer(n)) => ast::Value::Integer(n),
            Some(ConstValue::Float(text)) => ast::Value::Float(text.into()),
            Some(ConstValue::Boolean(b)) => ast::Value::Boolean(b),
            Some(ConstValue::String(text)) => ast::Value::String(cx.text(text)),
            Some(ConstValue::BitString(text)) => ast::Value::BitString(text.into()),
            Some(_) => return Err(unexpected("a literal")),
        })
    }
}

/// RETURNING. Its names for OLD and NEW are newer than version 15.
impl Convert<Vec<ast::ResTarget>> for Option<&nodes::ReturningClause> {
    fn convert(self, cx: &mut ConversionState) -> Result<Vec<ast::ResTarget>> {
        match self {
            None => Ok(Vec::new()),
            Some(clause) if clause.options().is_empty() => clause.exprs().convert(cx),
            Some(clause) => {
                cx.newer.returning();
                clause.exprs().convert(cx)
            }
        }
    }
}

/// DISTINCT without ON is a list of one null pointer.
impl Convert<ast::DistinctClause> for &NodeList {
    fn convert(self, cx: &mut ConversionState) -> Result<ast::DistinctClause> {
        Ok(match self.first() {
            None => ast::DistinctClause::None,
            Some(RNode::None) => ast::DistinctClause::Distinct,
            Some(_) => ast::DistinctClause::On(self.convert(cx)?),
        })
    }
}

impl Convert<ast::RangeFunctionItem> for RNode<'_> {
    fn convert(self, cx: &mut ConversionState) -> Result<ast::RangeFunctionItem> {
        let pair = self.as_node_list().ok_or_else(|| unexpected("a function in FROM"))?;
        let func = pair.get(0).ok_or_else(|| unexpected("a function in FROM"))?.convert(cx)?;
        let coldeflist = match pair.get(1) {
            None | Some(RNode::None) => Vec::new(),
            Some(list) => list.convert(cx)?,
        };
        Ok(ast::RangeFunctionItem { func, coldeflist })
    }
}

/// Converts nodes that have no struct in the tree.
pub(super) fn leaf(node: RNode<'_>, cx: &mut ConversionState) -> Result<Node> {
    Ok(match node {
        RNode::String(s) => Node::String(cx.text(s.sval().unwrap_or_default())),
        RNode::Integer(n) => Node::Integer(n.ival),
        RNode::Float(f) => Node::Float(f.fval().unwrap_or_default().into()),
        RNode::Boolean(b) => Node::Boolean(b.boolval),
        RNode::BitString(s) => Node::BitString(s.bsval().unwrap_or_default().into()),
        RNode::A_Star(_) => Node::AStar,
        RNode::NodeList(list) => {
            cx.enter(NODE_BYTES)?;
            let items: Vec<Node> = list.convert(cx)?;
            cx.leave(NODE_BYTES);
            Node::List(items.into())
        }
        // An empty list within a list: of arguments, of statements.
        RNode::None => Node::List(Box::default()),
        RNode::CheckPointStmt(_) => Node::CheckPointStmt,
        RNode::XmlExpr(_) | RNode::XmlSerialize(_) | RNode::RangeTableFunc(_) => {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "unsupported XML feature").detail(
                "This functionality requires the server to be built with libxml support.",
            ));
        }
        RNode::CreateFdwStmt(_) => Node::Unsupported("CreateFdwStmt"),
        RNode::AlterFdwStmt(_) => Node::Unsupported("AlterFdwStmt"),
        RNode::CreateForeignServerStmt(_) => Node::Unsupported("CreateForeignServerStmt"),
        RNode::AlterForeignServerStmt(_) => Node::Unsupported("AlterForeignServerStmt"),
        RNode::CreateUserMappingStmt(_) => Node::Unsupported("CreateUserMappingStmt"),
        RNode::AlterUserMappingStmt(_) => Node::Unsupported("AlterUserMappingStmt"),
        RNode::DropUserMappingStmt(_) => Node::Unsupported("DropUserMappingStmt"),
        RNode::ImportForeignSchemaStmt(_) => Node::Unsupported("ImportForeignSchemaStmt"),
        // The binding has no type for this statement.
        RNode::Invalid(n) if n.type_ == raw::NodeTag::T_CreateForeignTableStmt => {
            Node::Unsupported("CreateForeignTableStmt")
        }
        _ => return Err(unexpected("a node of the grammar")),
    })
}
