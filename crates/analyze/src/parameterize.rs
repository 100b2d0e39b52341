//! Literal parameterization: a literal becomes a parameter where that does not change
//! the meaning of the statement. Statements that differ only in such literals share one analysis
//! and one plan.
//!
//! Literals become parameters in conditions (WHERE, ON), in rows of INSERT … VALUES, in the
//! expressions of SET, and numbers also in the arguments of functions in a query that is nothing
//! but a target list. There the type of a number does not depend on the context, and the context
//! resolves a string of unknown type in the same way as a parameter of unknown type. Literals stay
//! literals
//!
//! - in target lists, GROUP BY, HAVING, ORDER BY, DISTINCT, LIMIT, windows and set operations,
//!   where equal expressions are matched, integers are positions, and the type of a column may
//!   depend on a string;
//! - in operator expressions whose operands are all literals: the planner evaluates `1 = 1`;
//! - that are strings in a cast, COLLATE or a row, because their input function may need a type
//!   modifier, or their type may stay unknown;
//! - in conflict targets, because the planner must prove that index predicates follow from theirs.
//!
//! If analysis with parameters fails, the caller analyses the statement as written.

use parse::RawStmt;
use parse::ast::{
    AConst, AExprKind, DistinctClause, InsertStmt, Node, ParamRef, ResTarget, SelectStmt,
    SetOperation, Value, WithClause,
};

/// A literal of the statement text that became parameter `$n`, where `n` is its index in the list
/// plus one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterizedLiteral {
    /// Byte offset of the literal, without its sign.
    pub start: u32,
    /// The value is the negated literal.
    pub negated: bool,
    pub string: bool,
}

/// Replaces literals by parameters: only literals whose text begins at one of the byte offsets
/// `starts` (ascending), and string literals only with `strings`.
pub fn parameterize_literals(
    stmt: &mut RawStmt,
    sql: &str,
    starts: &[u32],
    strings: bool,
) -> Vec<ParameterizedLiteral> {
    let mut parameterizer = Parameterizer { sql: sql.as_bytes(), starts, strings, out: Vec::new() };
    parameterizer.statement(&mut stmt.stmt);
    parameterizer.out
}

struct Parameterizer<'a> {
    sql: &'a [u8],
    starts: &'a [u32],
    strings: bool,
    out: Vec<ParameterizedLiteral>,
}

impl Parameterizer<'_> {
    fn statement(&mut self, node: &mut Node) {
        match node {
            Node::SelectStmt(s) => self.select(s),
            Node::InsertStmt(s) => self.insert(s),
            Node::UpdateStmt(s) => {
                self.with(&mut s.with_clause);
                self.targets(&mut s.target_list);
                s.from_clause.iter_mut().for_each(|n| self.from(n));
                self.optional(&mut s.where_clause);
            }
            Node::DeleteStmt(s) => {
                self.with(&mut s.with_clause);
                s.using_clause.iter_mut().for_each(|n| self.from(n));
                self.optional(&mut s.where_clause);
            }
            _ => {}
        }
    }

    fn with(&mut self, clause: &mut Option<Box<WithClause>>) {
        // The column types of a recursive query come from its non-recursive term, which may contain
        // literals.
        if let Some(clause) = clause.as_mut().filter(|c| !c.recursive) {
            clause.ctes.iter_mut().for_each(|c| self.statement(&mut c.ctequery));
        }
    }

    fn select(&mut self, s: &mut SelectStmt) {
        self.with(&mut s.with_clause);
        if s.op == SetOperation::None && s.values_lists.is_empty() {
            s.from_clause.iter_mut().for_each(|n| self.from(n));
            self.optional(&mut s.where_clause);
            if is_list_of_values(s) {
                s.target_list.iter_mut().filter_map(|t| t.val.as_mut()).for_each(|n| self.call(n));
            }
        }
    }

    /// The numbers among the arguments of a call in a target list.
    fn call(&mut self, node: &mut Node) {
        if let Node::FuncCall(f) = node
            && f.over.is_none()
            && f.agg_order.is_empty()
        {
            f.args.iter_mut().for_each(|arg| self.numbers(arg));
        }
    }

    fn insert(&mut self, s: &mut InsertStmt) {
        self.with(&mut s.with_clause);
        if let Some(Node::SelectStmt(select)) = &mut s.select_stmt {
            let plain = select.sort_clause.is_empty()
                && select.limit_count.is_none()
                && select.limit_offset.is_none()
                && select.with_clause.is_none();
            if !select.values_lists.is_empty() && plain {
                select.values_lists.iter_mut().flatten().for_each(|n| self.expr(n));
            } else {
                self.select(select);
            }
        }
        if let Some(conflict) = &mut s.on_conflict_clause {
            self.targets(&mut conflict.target_list);
            self.optional(&mut conflict.where_clause);
        }
    }

    fn from(&mut self, node: &mut Node) {
        match node {
            Node::JoinExpr(j) => {
                self.from(&mut j.larg);
                self.from(&mut j.rarg);
                self.optional(&mut j.quals);
            }
            Node::RangeSubselect(r) => self.statement(&mut r.subquery),
            _ => {}
        }
    }

    fn targets(&mut self, list: &mut [ResTarget]) {
        list.iter_mut().for_each(|t| self.optional(&mut t.val));
    }

    fn optional(&mut self, node: &mut Option<Node>) {
        if let Some(node) = node {
            self.expr(node);
        }
    }

    fn all(&mut self, nodes: &mut [Node]) {
        nodes.iter_mut().for_each(|n| self.expr(n));
    }

    /// As [`Self::expr`], but string literals do not become parameters.
    fn numbers(&mut self, node: &mut Node) {
        let before = std::mem::replace(&mut self.strings, false);
        self.expr(node);
        self.strings = before;
    }

    fn expr(&mut self, node: &mut Node) {
        match node {
            Node::AConst(c) => {
                if let Some(number) = self.constant(c) {
                    let location = c.location;
                    *node = Node::ParamRef(Box::new(ParamRef { number, location }));
                }
            }
            Node::AExpr(e) => {
                let constant = e.lexpr.as_ref().is_none_or(is_constant) && is_constant(&e.rexpr);
                if constant || matches!(e.kind, AExprKind::Nullif) {
                    return;
                }
                self.optional(&mut e.lexpr);
                self.expr(&mut e.rexpr);
            }
            Node::List(l) => self.all(l),
            Node::BoolExpr(e) => self.all(&mut e.args),
            Node::FuncCall(f) if f.over.is_none() && f.agg_order.is_empty() => {
                self.all(&mut f.args);
            }
            Node::NamedArgExpr(e) => self.expr(&mut e.arg),
            Node::SubLink(s) => {
                self.optional(&mut s.testexpr);
                self.statement(&mut s.subselect);
            }
            Node::NullTest(e) => self.expr(&mut e.arg),
            Node::BooleanTest(e) => self.expr(&mut e.arg),
            Node::CaseExpr(e) => {
                self.optional(&mut e.arg);
                for when in &mut e.args {
                    self.expr(&mut when.expr);
                    self.expr(&mut when.result);
                }
                self.optional(&mut e.defresult);
            }
            Node::CoalesceExpr(e) => self.all(&mut e.args),
            Node::MinMaxExpr(e) => self.all(&mut e.args),
            Node::AArrayExpr(e) => self.all(&mut e.elements),
            Node::TypeCast(e) => self.numbers(&mut e.arg),
            Node::CollateClause(e) => {
                if let Some(arg) = &mut e.arg {
                    self.numbers(arg);
                }
            }
            Node::RowExpr(e) => e.args.iter_mut().for_each(|n| self.numbers(n)),
            Node::AIndirection(e) => self.numbers(&mut e.arg),
            _ => {}
        }
    }

    /// The number of the literal's parameter; `None` if the literal stays a literal.
    fn constant(&mut self, c: &AConst) -> Option<i32> {
        let string = match c.val {
            Value::Integer(_) | Value::Float(_) => false,
            Value::String(_) if self.strings => true,
            _ => return None,
        };
        let (start, negated) = self.literal_offset(c.location)?;
        self.starts.binary_search(&start).ok()?;
        if string != (self.sql[start as usize] == b'\'') {
            return None;
        }
        // The grammar may copy a literal to two nodes; both are the same parameter.
        let known = self.out.iter().position(|l| l.start == start);
        let index = known.unwrap_or_else(|| {
            self.out.push(ParameterizedLiteral { start, negated, string });
            self.out.len() - 1
        });
        i32::try_from(index + 1).ok()
    }

    /// The byte offset of the literal's text, and whether an odd number of minus signs precedes it.
    /// The location in the tree is that of the first sign; the tree does not record parentheses.
    fn literal_offset(&self, location: i32) -> Option<(u32, bool)> {
        let mut at = usize::try_from(location).ok()?;
        let mut negated = false;
        loop {
            match *self.sql.get(at)? {
                b'-' => negated = !negated,
                b' ' | b'\t' | b'\n' | b'\r' | b'(' => {}
                _ => return Some((u32::try_from(at).ok()?, negated)),
            }
            at += 1;
        }
    }
}

/// Whether the query computes its target list only, in which no equal expressions are matched.
fn is_list_of_values(s: &SelectStmt) -> bool {
    s.from_clause.is_empty()
        && s.where_clause.is_none()
        && s.group_clause.is_empty()
        && s.having_clause.is_none()
        && matches!(s.distinct_clause, DistinctClause::None)
        && s.sort_clause.is_empty()
        && s.into_clause.is_none()
        && s.with_clause.is_none()
}

/// Whether the expression consists of literals only.
fn is_constant(node: &Node) -> bool {
    match node {
        Node::AConst(_) => true,
        Node::TypeCast(e) => is_constant(&e.arg),
        Node::AExpr(e) => e.lexpr.as_ref().is_none_or(is_constant) && is_constant(&e.rexpr),
        Node::List(l) => l.iter().all(is_constant),
        Node::RowExpr(e) => e.args.iter().all(is_constant),
        Node::AArrayExpr(e) => e.elements.iter().all(is_constant),
        Node::CollateClause(e) => e.arg.as_ref().is_some_and(is_constant),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the literals that become parameters, negated ones with `~` in front. Every
    /// digit and quote that begins a token is in `starts`.
    fn parameterized(sql: &str) -> String {
        let bytes = sql.as_bytes();
        let mut starts = Vec::new();
        let mut in_string = false;
        for (i, b) in bytes.iter().enumerate() {
            let after_word =
                i > 0 && (bytes[i - 1].is_ascii_alphanumeric() || bytes[i - 1] == b'.');
            if *b == b'\'' {
                if !in_string {
                    starts.push(i as u32);
                }
                in_string = !in_string;
            } else if b.is_ascii_digit() && !in_string && !after_word {
                starts.push(i as u32);
            }
        }
        let mut stmt = parse::parse(sql).unwrap().remove(0);
        let list = parameterize_literals(&mut stmt, sql, &starts, true);
        let shown = list.iter().map(|l| {
            let rest = &sql[l.start as usize..];
            let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
            let end = end.map_or(rest.len(), |n| n + 1 + usize::from(l.string));
            format!("{}{}", if l.negated { "~" } else { "" }, &rest[..end])
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn literals_of_conditions_and_values_are_parameterized() {
        for (sql, want) in [
            ("select a, 1 from t where b = 2 and c > 'x'", "2 'x'"),
            (
                "select 1 from t where b = -2 or b = - 3 or b = -(4) or b - 5 = -(-6)",
                "~2 ~3 ~4 5 6",
            ),
            ("select a from t where b in (1, 2) and c between 3 and 4", "1 2 3 4"),
            ("insert into t values (1, 'a', -2.5), (2, 'b', 3)", "1 'a' ~2.5 2 'b' 3"),
            ("insert into t (a) select 1 from u where x = 2", "2"),
            ("update t set a = a + 1, b = 'x' where c = 2 returning 5", "1 'x' 2"),
            ("delete from t using u where t.a = u.b and u.c = 7", "7"),
            ("select * from t join u on t.a = u.a and u.b = 1 where t.c < 9", "1 9"),
            ("select * from (select 1 as x from t where a = 2) s where x = 3", "2 3"),
            ("select a from t where exists (select 1 from u where u.x = 2)", "2"),
            ("with w as (select 1 from t where a = 2) select * from w where b = 3", "2 3"),
            ("insert into t values (1) on conflict (a) do update set b = 2 where t.c = 3", "1 2 3"),
            ("select a from t where f(1, 'x') > 2", "1 'x' 2"),
            ("select a from t where case when b > 1 then 2 else 3 end = c", "1 2 3"),
            ("select f(1, -2, 'x', b => 3.5), g(array[4, 5])", "1 ~2 3.5 4 5"),
        ] {
            assert_eq!(parameterized(sql), want, "{sql}");
        }
    }

    #[test]
    fn literals_that_decide_types_or_positions_are_not_parameterized() {
        for (sql, want) in [
            ("select 1, 'a', b + 2 from t order by 1 limit 3 offset 4", ""),
            ("select a + 1, count(*) from t where c = 2 group by a + 1 having count(*) > 3", "2"),
            ("select 1 union select a from t where b = 2", ""),
            ("select a from t where 1 = 1 and b = 2", "2"),
            ("select a from t where b = '1'::numeric(3, 2) and c = 4::text", "4"),
            ("select a from t where b = interval '1' day", ""),
            ("select a from t where (b, c) = (1, 'x')", "1"),
            ("select a from t where b = 'x' collate \"C\"", ""),
            ("values (1), (2)", ""),
            ("select 1, f('x'), 1 + 2, case when f(3) then 4 end", ""),
            ("select f(1) order by 1", ""),
            ("select f(1) group by f(1)", ""),
            ("select distinct f(1)", ""),
            ("select f(1) from t", ""),
            ("insert into t values (1) on conflict (a) where b = 2 do nothing", "1"),
            ("select a from t where b[1] = 2", "2"),
            ("select sum(a) over (order by b rows 1 preceding) from t where c = 2", "2"),
        ] {
            assert_eq!(parameterized(sql), want, "{sql}");
        }
    }
}
