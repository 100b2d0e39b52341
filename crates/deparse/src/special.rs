//! Deparses functions with special SQL syntax, such as EXTRACT. Counterpart: ruleutils.c
//! (`get_func_sql_syntax`).

use crate::Deparser;
use pgerror::Result;
use plan::expr::{Expr, FuncExpr};

impl Deparser<'_> {
    /// Writes the call in its special syntax; false if it has none.
    pub(super) fn sql_syntax(&mut self, f: &FuncExpr) -> Result<bool> {
        let row = self.host.catalog().function(f.funcid)?;
        let is_text = |e: &Expr| e.type_oid() == types::oids::TEXT;
        let written =
            f.args.iter().filter(|a| !matches!(a, Expr::NamedArg(n) if n.name.is_empty()));
        let written: Vec<Expr> = written.cloned().collect();
        let a = &written[..];
        match (row.proname.as_str(), a) {
            ("timezone", [zone, time]) => {
                self.put("(");
                self.operand(time, false, &Expr::FuncExpr(Box::new(f.clone())))?;
                self.put(" AT TIME ZONE ");
                self.operand(zone, false, &Expr::FuncExpr(Box::new(f.clone())))?;
                self.put(")");
            }
            ("overlaps", [a1, a2, b1, b2]) => {
                self.words("((", a1, ", ", Some(a2))?;
                self.words(") OVERLAPS (", b1, ", ", Some(b2))?;
                self.put("))");
            }
            ("extract", [field, from]) => {
                self.put("EXTRACT(");
                self.keyword_argument(field)?;
                self.words(" FROM ", from, "", None)?;
                self.put(")");
            }
            ("is_normalized", [text]) => {
                self.words("(", text, " IS NORMALIZED)", None)?;
            }
            ("is_normalized", [text, form]) => {
                self.words("(", text, " IS ", None)?;
                self.keyword_argument(form)?;
                self.put(" NORMALIZED)");
            }
            ("normalize", [text]) => self.words("NORMALIZE(", text, ")", None)?,
            ("normalize", [text, form]) => {
                self.words("NORMALIZE(", text, ", ", None)?;
                self.keyword_argument(form)?;
                self.put(")");
            }
            ("overlay", [text, by, from]) => {
                self.words("OVERLAY(", text, " PLACING ", Some(by))?;
                self.words(" FROM ", from, ")", None)?;
            }
            ("overlay", [text, by, from, count]) => {
                self.words("OVERLAY(", text, " PLACING ", Some(by))?;
                self.words(" FROM ", from, " FOR ", Some(count))?;
                self.put(")");
            }
            ("pg_collation_for", [value]) => self.words("COLLATION FOR (", value, ")", None)?,
            ("position", [text, part]) => {
                self.words("POSITION((", part, ") IN (", Some(text))?;
                self.put("))");
            }
            ("substring", [_, pattern]) if is_text(pattern) => return Ok(false),
            ("substring", [text, pattern, escape]) if is_text(pattern) => {
                self.words("SUBSTRING(", text, " SIMILAR ", Some(pattern))?;
                self.words(" ESCAPE ", escape, ")", None)?;
            }
            ("substring", [text, from]) => {
                self.words("SUBSTRING(", text, " FROM ", Some(from))?;
                self.put(")");
            }
            ("substring", [text, from, count]) => {
                self.words("SUBSTRING(", text, " FROM ", Some(from))?;
                self.words(" FOR ", count, ")", None)?;
            }
            ("btrim" | "ltrim" | "rtrim", [text, rest @ ..]) => {
                let side = match row.proname.as_str() {
                    "btrim" => "BOTH",
                    "ltrim" => "LEADING",
                    _ => "TRAILING",
                };
                self.put(&format!("TRIM({side}"));
                if let [chars] = rest {
                    self.words(" ", chars, "", None)?;
                }
                self.words(" FROM ", text, ")", None)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn words(&mut self, before: &str, e: &Expr, after: &str, then: Option<&Expr>) -> Result<()> {
        self.put(before);
        self.expr(e, false)?;
        self.put(after);
        match then {
            Some(e) => self.expr(e, false),
            None => Ok(()),
        }
    }

    /// Writes a text constant as a keyword.
    fn keyword_argument(&mut self, e: &Expr) -> Result<()> {
        match e {
            Expr::Const(c) if !c.is_null() => {
                let word = String::from_utf8_lossy(c.value.as_ref().as_bytes()).into_owned();
                self.put(&word);
                Ok(())
            }
            e => self.expr(e, false),
        }
    }
}
