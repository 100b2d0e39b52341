//! Bodies of SQL functions in SQL-standard form, which are stored as trees.
//!
//! Counterpart: `interpret_AS_clause` of functioncmds.c.

use analyze::SessionLookup;
use catalog::ObjectAddress;
use catalog::rows::Text;
use ids::Oid;
use parse::ast::Node;
use pgerror::{Result, bail};
use utility::host::CommandHost;
use utility::stored;

/// Analyses an SQL-standard function body. Returns its stored form and dependencies.
pub(super) fn standard_body(
    host: &mut dyn CommandHost,
    node: &Node,
    sql: &str,
    name: &str,
    types: &[Oid],
    labels: &[String],
) -> Result<(Text, Vec<ObjectAddress>)> {
    if types.iter().any(|t| analyze::ty::is_polymorphic(*t)) {
        bail!(
            INVALID_FUNCTION_DEFINITION,
            "SQL function with unquoted function body cannot have polymorphic arguments"
        );
    }
    let one = |host: &mut dyn CommandHost, node: &Node| {
        if !analyze::is_query(node) && !matches!(node, Node::ReturnStmt(_)) {
            let tag = crate::tag::command_tag(node);
            bail!(
                FEATURE_NOT_SUPPORTED,
                "{tag} is not yet supported in unquoted SQL function body"
            );
        }
        let types = (types, Oid::INVALID);
        analyze::function_statement(&mut SessionLookup::new(host), node, sql, name, types, labels)
    };
    let mut needs = Vec::new();
    let text = match node {
        // For BEGIN ATOMIC the parser represents the statements as a list in a list.
        Node::List(outer) => {
            let mut queries = Vec::new();
            for inner in outer.iter() {
                let Node::List(list) = inner else { continue };
                for stmt in list.iter() {
                    let q = one(host, stmt)?;
                    stored::query_references(&q, &mut needs);
                    queries.push(q);
                }
            }
            format!("({})", plan::nodetree::write_queries(&queries))
        }
        stmt => {
            let q = one(host, stmt)?;
            stored::query_references(&q, &mut needs);
            plan::nodetree::write_query(&q)
        }
    };
    stored::normalize_references(host, &mut needs)?;
    Ok((Text::from(text), needs))
}
