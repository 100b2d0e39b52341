//! Deparses calls of functions and aggregates. Counterpart: ruleutils.c: `get_func_expr`,
//! `get_agg_expr`, `generate_function_name`.

use crate::Deparser;
use analyze::stored::malformed;
use ids::Oid;
use ids::code::AggKind;
use pgerror::Result;
use plan::expr::{AggSplit, Aggref, CoercionForm, Expr, FuncExpr, TargetEntry};
use plan::query::SortGroupClause;

impl Deparser<'_> {
    pub(super) fn function(&mut self, f: &FuncExpr, e: &Expr, implicit: bool) -> Result<()> {
        match f.funcformat {
            CoercionForm::ImplicitCast if !implicit => {
                return self.operand(f.args.first().ok_or_else(malformed)?, false, e);
            }
            CoercionForm::ImplicitCast | CoercionForm::ExplicitCast => {
                let typmod = f.length_coercion().unwrap_or(-1);
                let arg = f.args.first().ok_or_else(malformed)?;
                return self.cast(arg, (f.funcresulttype, typmod), e);
            }
            CoercionForm::SqlSyntax => {
                if self.sql_syntax(f)? {
                    return Ok(());
                }
            }
            CoercionForm::ExplicitCall => {}
        }
        let (name, variadic) = self.function_name(f.funcid, f.funcvariadic)?;
        self.put(&name);
        self.put("(");
        for (i, arg) in f.args.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            if variadic && i + 1 == f.args.len() {
                self.put("VARIADIC ");
            }
            self.expr(arg, true)?;
        }
        self.put(")");
        Ok(())
    }

    /// The function's name, qualified if necessary, and whether VARIADIC must be written.
    pub(super) fn function_name(&mut self, oid: Oid, variadic: bool) -> Result<(String, bool)> {
        let mut cat = self.host.catalog();
        let row = cat.function(oid)?;
        let visible = cat.is_function_visible(oid)?;
        let schema = if visible { None } else { cat.namespace_name_or_temp(row.pronamespace)? };
        let schema = schema.as_ref().map(|s| s.as_str());
        let name = self.quoting.qualified(schema, row.proname.as_str());
        // The stored tree has an array argument even if the call listed the elements.
        let variadic = variadic && row.provariadic.is_valid();
        Ok((name, variadic))
    }

    pub(super) fn aggregate(&mut self, a: &Aggref) -> Result<()> {
        // The second step shows the arguments of the first one. Counterpart:
        // `get_agg_combine_expr`.
        if a.aggsplit == AggSplit::FinalDeserial
            && let [TargetEntry { expr: Expr::Var(v), .. }] = a.args.as_slice()
            && let Some(written) = self.combined_aggregate(v)
        {
            return written;
        }
        if a.aggsplit == AggSplit::InitialSerial {
            self.put("PARTIAL ");
        }
        let (name, variadic) = self.function_name(a.aggfnoid, a.aggvariadic)?;
        self.put(&name);
        self.put("(");
        if !a.aggdistinct.is_empty() {
            self.put("DISTINCT ");
        }
        if a.aggkind == AggKind::Normal {
            if a.aggstar {
                self.put("*");
            }
            let args: Vec<&TargetEntry> = a.args.iter().filter(|t| !t.resjunk).collect();
            for (i, t) in args.iter().enumerate() {
                if i > 0 {
                    self.put(", ");
                }
                if variadic && i + 1 == args.len() {
                    self.put("VARIADIC ");
                }
                self.expr(&t.expr, true)?;
            }
            if !a.aggorder.is_empty() {
                self.put(" ORDER BY ");
                self.order_by(&a.aggorder, &a.args, false)?;
            }
        } else {
            self.list(&a.aggdirectargs, true)?;
            self.put(") WITHIN GROUP (ORDER BY ");
            self.order_by(&a.aggorder, &a.args, false)?;
        }
        if let Some(filter) = &a.aggfilter {
            self.put(") FILTER (WHERE ");
            self.expr(filter, false)?;
        }
        self.put(")");
        Ok(())
    }

    /// Counterpart: `get_rule_orderby`.
    pub(super) fn order_by(
        &mut self,
        keys: &[SortGroupClause],
        targets: &[TargetEntry],
        numbers: bool,
    ) -> Result<()> {
        for (i, key) in keys.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            let ty = self.sort_key(key.tle_sort_group_ref, targets, numbers)?;
            let ops = self.host.catalog().type_ops(ty)?;
            if key.sortop == ops.lt {
                if key.nulls_first {
                    self.put(" NULLS FIRST");
                }
            } else if key.sortop == ops.gt {
                self.put(" DESC");
                if !key.nulls_first {
                    self.put(" NULLS LAST");
                }
            } else {
                let name = self.operator_name(key.sortop)?;
                self.put(&format!(" USING {name}"));
                self.put(if key.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
            }
        }
        Ok(())
    }

    /// Writes one key of a sort or group clause and returns its type. Counterpart:
    /// `get_rule_sortgroupclause`.
    pub(super) fn sort_key(
        &mut self,
        reference: u32,
        targets: &[TargetEntry],
        numbers: bool,
    ) -> Result<Oid> {
        let target =
            targets.iter().find(|t| t.ressortgroupref == reference).ok_or_else(malformed)?;
        let e = &target.expr;
        match e {
            _ if numbers => self.put(&target.resno.to_string()),
            // A bare number would mean a column position.
            Expr::Const(c) => self.constant(c, 1)?,
            Expr::Var(_) => self.expr(e, true)?,
            _ => {
                let call = matches!(e, Expr::FuncExpr(_) | Expr::Aggref(_) | Expr::WindowFunc(_));
                self.parens(self.style.pretty || call, |d| d.expr(e, true))?;
            }
        }
        Ok(e.type_oid())
    }
}
