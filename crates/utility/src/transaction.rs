//! What statements do to the transaction block.

use parse::ast::{Node, TransactionStmtKind as Kind};

/// True if the statement is allowed in a failed transaction.
pub fn ends_block(node: Option<&Node>) -> bool {
    match node {
        Some(Node::TransactionStmt(stmt)) => {
            matches!(stmt.kind, Kind::Commit | Kind::Rollback | Kind::RollbackTo | Kind::Prepare)
        }
        _ => false,
    }
}

/// True if a portal survives this transaction statement.
pub fn begins_level(node: &Node) -> bool {
    let Node::TransactionStmt(stmt) = node else { return false };
    matches!(stmt.kind, Kind::Begin | Kind::Start | Kind::Savepoint | Kind::Release)
}
