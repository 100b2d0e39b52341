//! Deparsing: turns analysed trees back into SQL text (expressions, queries, object definitions),
//! as the system information functions show it.
//!
//! There are two styles. The plain style encloses every operator expression in parentheses, so that
//! the text has the same meaning in any context. The pretty style omits parentheses that are
//! redundant by operator precedence. Queries are always indented.
//!
//! Counterpart: ruleutils.c.

#![forbid(unsafe_code)]

// Names of tables and columns.
mod columns;
mod names;

// Expressions.
mod expr;
mod field;
mod function;
mod planned;
mod special;
mod window;
mod xml;

// Queries and object definitions.
mod object;
mod partition_text;
mod query;
mod routine;

pub use names::unused;
pub use object::{
    IndexParts, constraint_def, index_def, index_keys, options_text, rule_def, statistics_def,
    statistics_expressions, stored_expr, trigger_def, view_def,
};
pub use partition_text::{partition_constraint, partition_key, range_bound};
pub use planned::{Ancestor, PlanNames, PlanPosition};
pub use routine::{
    function_arguments, function_body, function_def, function_default, function_result,
};

use analyze::session::Host;
use catalog::format_type::Quoting;
use ids::{AttrNo, Oid};
use names::Scope;
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::AppendRelation;
use plan::query::Query;
use std::rc::Rc;

/// Maximum nesting depth of expressions and queries.
const DEPTH_MAX: u32 = 12_000;

/// Indentation widths of the parts of a query, in columns.
const STD: i32 = 8;
const JOIN: i32 = 4;
const VAR: i32 = 4;
const INDENT_MAX: i32 = 40;

/// Formatting options of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    pub pretty: bool,
    /// Line breaks in queries.
    pub indent: bool,
}

impl Style {
    /// Parentheses around every operator, and no line breaks in expressions.
    pub const PLAIN: Style = Style { pretty: false, indent: false };

    /// The style of functions with a `pretty` argument, which have line breaks in both cases.
    pub fn indented(pretty: bool) -> Style {
        Style { pretty, indent: true }
    }
}

/// Writes trees as text.
pub struct Deparser<'h> {
    host: &'h mut dyn Host,
    out: String,
    style: Style,
    /// Lines of a query's lists are broken beyond this column; negative for never.
    wrap: i32,
    indent: i32,
    /// Columns are qualified with the table name.
    prefix: bool,
    /// Namespaces of the enclosing queries, innermost last.
    scopes: Vec<Scope>,
    /// Names of a function's parameters, in the function's own body; empty ones are shown as
    /// numbers.
    param_names: Vec<String>,
    /// The name of that function and a dot, which qualifies its parameters.
    function_name: String,
    /// The plan node that the expressions belong to.
    position: Option<PlanPosition<'h>>,
    /// Members of tables in the plan, and the tables above the scans of whose members the
    /// expression is evaluated.
    members: Rc<[AppendRelation]>,
    parents: Vec<i32>,
    quoting: Quoting,
    depth: u32,
}

impl<'h> Deparser<'h> {
    /// A deparser for expressions without columns.
    pub fn new(host: &'h mut dyn Host, style: Style) -> Deparser<'h> {
        let quoting = host.catalog().session.quoting;
        Deparser {
            host,
            out: String::new(),
            style,
            wrap: -1,
            indent: 0,
            prefix: false,
            scopes: Vec::new(),
            param_names: Vec::new(),
            function_name: String::new(),
            position: None,
            members: Rc::default(),
            parents: Vec::new(),
            quoting,
            depth: 0,
        }
    }

    /// Expressions may refer to the columns of this one relation, as `Var { varno: 1, … }`.
    pub fn with_relation(mut self, relation: Oid) -> Result<Deparser<'h>> {
        let scope = Scope::of_relations(self.host, &[(None, relation)])?;
        self.scopes.push(scope);
        Ok(self)
    }

    /// Expressions may refer to columns of these relations (alias, OID), numbered from 1 in this
    /// order. Columns are always qualified.
    pub fn with_relations(mut self, relations: &[(Option<&str>, Oid)]) -> Result<Deparser<'h>> {
        let scope = Scope::of_relations(self.host, relations)?;
        self.scopes.push(scope);
        self.prefix = true;
        Ok(self)
    }

    /// Expressions may refer to the range table of the query.
    pub(crate) fn with_query(mut self, query: &Query) -> Result<Deparser<'h>> {
        let scope = Scope::of_query(self.host, query, &[])?;
        self.scopes.push(scope);
        self.prefix = query.rtable.len() != 1;
        self.indent = STD;
        Ok(self)
    }

    /// Expressions may refer to relations of the given names and columns, numbered from 1 in this
    /// order.
    pub fn with_names(mut self, names: Vec<(Option<String>, Vec<String>)>, prefix: bool) -> Self {
        self.scopes.push(Scope::of_names(names));
        self.prefix = prefix;
        self
    }

    /// The text of an expression. Counterpart: `deparse_expression`.
    pub fn expression(mut self, e: &Expr) -> Result<String> {
        self.expr(e, false)?;
        Ok(self.out)
    }

    /// The text of a query. `columns` has the names of its result columns. `named` is true if the
    /// column names matter to a reader of the result, so that aliases are needed. Counterpart:
    /// `get_query_def`.
    pub fn statement(
        mut self,
        query: &Query,
        columns: Option<&[String]>,
        named: bool,
    ) -> Result<String> {
        self.query(query, columns, named)?;
        Ok(self.out)
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(eval::too_deep());
        }
        self.host.functions().check_interrupts()
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn put_name(&mut self, name: &str) {
        let quoted = self.quoting.identifier(name);
        self.out.push_str(&quoted);
    }

    /// Opens a parenthesis that the pretty style omits.
    fn open(&mut self) {
        if !self.style.pretty {
            self.out.push('(');
        }
    }

    fn close(&mut self) {
        if !self.style.pretty {
            self.out.push(')');
        }
    }

    /// A keyword, on a new line if line breaks are on. Counterpart: `appendContextKeyword`.
    fn keyword(&mut self, text: &str, before: i32, after: i32, plus: i32) {
        if !self.style.indent {
            self.put(text);
            return;
        }
        self.indent += before;
        self.trim_spaces();
        self.out.push('\n');
        let amount = if self.indent < INDENT_MAX {
            self.indent.max(0) + plus
        } else {
            (INDENT_MAX + (self.indent - INDENT_MAX) / (STD / 2)) % INDENT_MAX + plus
        };
        self.out.extend(std::iter::repeat_n(' ', amount.max(0) as usize));
        self.put(text);
        self.indent = (self.indent + after).max(0);
    }

    fn trim_spaces(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
    }

    /// Length of the last line so far.
    fn line_length(&self) -> usize {
        self.out.len() - self.out.rfind('\n').map_or(0, |i| i + 1)
    }

    /// The relation's name, qualified unless it is visible. Counterpart: `generate_relation_name`.
    fn relation_name(&mut self, oid: Oid) -> Result<String> {
        let mut cat = self.host.catalog();
        let row = cat.class(oid)?;
        let visible = cat.is_relation_visible(oid)?;
        let name = self.quoting.identifier(row.relname.as_str());
        // A WITH query of the same name would hide it.
        let hidden = self.scopes.iter().any(|s| s.ctes.iter().any(|c| row.relname == c.as_str()));
        if visible && !hidden {
            return Ok(name);
        }
        self.in_schema(row.relnamespace, &name)
    }

    /// The relation's name, always qualified with the schema.
    fn qualified_relation_name(&mut self, oid: Oid) -> Result<String> {
        let row = self.host.catalog().class(oid)?;
        self.in_schema(row.relnamespace, &self.quoting.identifier(row.relname.as_str()))
    }

    fn in_schema(&mut self, schema: Oid, name: &str) -> Result<String> {
        let schema = self.host.catalog().namespace_name_or_temp(schema)?;
        Ok(match schema {
            Some(s) => format!("{}.{name}", self.quoting.identifier(s.as_str())),
            None => name.to_owned(),
        })
    }

    fn type_name(&mut self, ty: Oid, typmod: i32) -> Result<String> {
        self.host.catalog().format_type_mod(ty, typmod)
    }

    fn collation_name(&mut self, oid: Oid) -> Result<String> {
        let mut cat = self.host.catalog();
        let row = cat.collation(oid)?;
        let visible = cat.find_collation(None, row.collname.as_str())? == Some(oid);
        let name = self.quoting.identifier(row.collname.as_str());
        if visible { Ok(name) } else { self.in_schema(row.collnamespace, &name) }
    }

    /// The operator as infix sign, or `OPERATOR(schema.sign)`. Counterpart:
    /// `generate_operator_name`.
    fn operator_name(&mut self, oid: Oid) -> Result<String> {
        let mut cat = self.host.catalog();
        let row = cat.operator(oid)?;
        let name = row.oprname.as_str().to_owned();
        if cat.is_operator_visible(oid)? {
            return Ok(name);
        }
        let full = self.in_schema(row.oprnamespace, &name)?;
        Ok(format!("OPERATOR({full})"))
    }

    fn column_name(&mut self, relation: Oid, number: AttrNo) -> Result<String> {
        match self.host.catalog().attribute(relation, number)? {
            Some(a) => Ok(self.quoting.identifier(a.attname.as_str())),
            None => Err(PgError::internal(format!(
                "cache lookup failed for attribute {number} of relation {relation}"
            ))),
        }
    }
}
