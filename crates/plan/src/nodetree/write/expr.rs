//! The fields of expression nodes, one method for each kind.

use super::{BOOL_TESTS, SQL_VALUES, Writer};
use crate::expr::{
    Aggref, ArrayCoerceExpr, ArrayExpr, BoolExpr, BoolOp, BooleanTest, CaseExpr, CaseTestExpr,
    CoalesceExpr, CoerceToDomain, CoerceToDomainValue, CoerceViaIo, CollateExpr,
    ConvertRowtypeExpr, CurrentOfExpr, Expr, FieldSelect, FieldStore, FuncExpr, GroupingFunc,
    MinMaxExpr, NamedArgExpr, NextValueExpr, NullTest, Param, RelabelType, RowCompareExpr, RowExpr,
    ScalarArrayOpExpr, SetToDefault, SqlValueFunction, SubLink, SubscriptingRef, Var, WindowFunc,
};

impl Writer {
    pub(super) fn put_var(&mut self, n: &Var) {
        self.node("VAR", |w| {
            w.num("varno", n.varno);
            w.num("varattno", n.varattno);
            w.num("vartype", n.vartype);
            w.num("vartypmod", n.vartypmod);
            w.num("varcollid", n.varcollid);
            w.num("varlevelsup", n.varlevelsup);
            w.num("varnosyn", n.varno);
            w.num("varattnosyn", n.varattno);
            w.location(n.location);
        })
    }

    pub(super) fn put_param(&mut self, n: &Param) {
        self.node("PARAM", |w| {
            w.num("paramkind", n.paramkind as i32);
            w.num("paramid", n.paramid);
            w.num("paramtype", n.paramtype);
            w.num("paramtypmod", n.paramtypmod);
            w.num("paramcollid", n.paramcollid);
            w.location(n.location);
        })
    }

    pub(super) fn put_aggref(&mut self, n: &Aggref) {
        self.node("AGGREF", |w| {
            w.num("aggfnoid", n.aggfnoid);
            w.num("aggtype", n.aggtype);
            w.num("aggcollid", n.aggcollid);
            w.num("inputcollid", n.inputcollid);
            w.num("aggtranstype", n.aggtranstype);
            w.oids("aggargtypes", &n.aggargtypes);
            w.exprs("aggdirectargs", &n.aggdirectargs);
            w.targets("args", &n.args);
            w.sort_groups("aggorder", &n.aggorder);
            w.sort_groups("aggdistinct", &n.aggdistinct);
            w.opt_expr("aggfilter", n.aggfilter.as_ref());
            w.bool("aggstar", n.aggstar);
            w.bool("aggvariadic", n.aggvariadic);
            w.char("aggkind", n.aggkind.to_char());
            w.num("agglevelsup", n.agglevelsup);
            w.num("aggsplit", 0);
            w.num("aggno", n.aggno);
            w.num("aggtransno", n.aggtransno);
            w.location(n.location);
        })
    }

    pub(super) fn put_grouping_func(&mut self, n: &GroupingFunc) {
        self.node("GROUPINGFUNC", |w| {
            w.exprs("args", &n.args);
            w.numbers("refs", 'i', &n.refs);
            w.name("cols");
            w.out.push_str("<>");
            w.num("agglevelsup", n.agglevelsup);
            w.location(n.location);
        })
    }

    pub(super) fn put_window_func(&mut self, n: &WindowFunc) {
        self.node("WINDOWFUNC", |w| {
            w.num("winfnoid", n.winfnoid);
            w.num("wintype", n.wintype);
            w.num("wincollid", n.wincollid);
            w.num("inputcollid", n.inputcollid);
            w.exprs("args", &n.args);
            w.opt_expr("aggfilter", n.aggfilter.as_ref());
            w.num("winref", n.winref);
            w.bool("winstar", n.winstar);
            w.bool("winagg", n.winagg);
            w.location(n.location);
        })
    }

    pub(super) fn put_subscripting_ref(&mut self, n: &SubscriptingRef) {
        self.node("SUBSCRIPTINGREF", |w| {
            w.num("refcontainertype", n.refcontainertype);
            w.num("refelemtype", n.refelemtype);
            w.num("refrestype", n.refrestype);
            w.num("reftypmod", n.reftypmod);
            w.num("refcollid", n.refcollid);
            w.opt_exprs("refupperindexpr", &n.refupperindexpr);
            w.opt_exprs("reflowerindexpr", &n.reflowerindexpr);
            w.expr("refexpr", &n.refexpr);
            w.opt_expr("refassgnexpr", n.refassgnexpr.as_ref());
        })
    }

    pub(super) fn put_func_expr(&mut self, n: &FuncExpr) {
        self.node("FUNCEXPR", |w| {
            w.num("funcid", n.funcid);
            w.num("funcresulttype", n.funcresulttype);
            w.bool("funcretset", n.funcretset);
            w.bool("funcvariadic", n.funcvariadic);
            w.form("funcformat", n.funcformat);
            w.num("funccollid", n.funccollid);
            w.num("inputcollid", n.inputcollid);
            // Analysis marks an argument that comes from a default by a NamedArg with an empty
            // name. PostgreSQL does not store such arguments.
            let written = |a: &&Expr| !matches!(a, Expr::NamedArg(n) if n.name.is_empty());
            w.exprs("args", &n.args.iter().filter(written).cloned().collect::<Vec<_>>());
            w.location(n.location);
        })
    }

    pub(super) fn put_named_arg(&mut self, n: &NamedArgExpr) {
        self.node("NAMEDARGEXPR", |w| {
            w.expr("arg", &n.arg);
            w.string("name", Some(&n.name));
            w.num("argnumber", n.argnumber);
            w.location(n.location);
        })
    }

    pub(super) fn put_scalar_array_op(&mut self, n: &ScalarArrayOpExpr) {
        self.node("SCALARARRAYOPEXPR", |w| {
            w.num("opno", n.opno);
            w.num("opfuncid", n.opfuncid);
            w.num("hashfuncid", n.hashfuncid);
            w.num("negfuncid", n.negfuncid);
            w.bool("useOr", n.use_or);
            w.num("inputcollid", n.inputcollid);
            w.exprs("args", &n.args);
            w.location(n.location);
        })
    }

    pub(super) fn put_bool(&mut self, n: &BoolExpr) {
        self.node("BOOLEXPR", |w| {
            let op = match n.boolop {
                BoolOp::And => "and",
                BoolOp::Or => "or",
                BoolOp::Not => "not",
            };
            w.num("boolop", op);
            w.exprs("args", &n.args);
            w.location(n.location);
        })
    }

    pub(super) fn put_sub_link(&mut self, n: &SubLink) {
        self.node("SUBLINK", |w| {
            w.num("subLinkType", n.kind as i32);
            w.num("subLinkId", n.id);
            w.opt_expr("testexpr", n.testexpr.as_ref());
            w.strings("operName", &n.oper_name);
            w.name("subselect");
            w.put_query(&n.subselect);
            w.location(n.location);
        })
    }

    pub(super) fn put_field_select(&mut self, n: &FieldSelect) {
        self.node("FIELDSELECT", |w| {
            w.expr("arg", &n.arg);
            w.num("fieldnum", n.fieldnum);
            w.num("resulttype", n.resulttype);
            w.num("resulttypmod", n.resulttypmod);
            w.num("resultcollid", n.resultcollid);
        })
    }

    pub(super) fn put_field_store(&mut self, n: &FieldStore) {
        self.node("FIELDSTORE", |w| {
            w.expr("arg", &n.arg);
            w.exprs("newvals", &n.newvals);
            w.numbers("fieldnums", 'i', &n.fieldnums);
            w.num("resulttype", n.resulttype);
        })
    }

    pub(super) fn put_relabel(&mut self, n: &RelabelType) {
        self.node("RELABELTYPE", |w| {
            w.expr("arg", &n.arg);
            w.num("resulttype", n.resulttype);
            w.num("resulttypmod", n.resulttypmod);
            w.num("resultcollid", n.resultcollid);
            w.form("relabelformat", n.relabelformat);
            w.location(n.location);
        })
    }

    pub(super) fn put_coerce_via_io(&mut self, n: &CoerceViaIo) {
        self.node("COERCEVIAIO", |w| {
            w.expr("arg", &n.arg);
            w.num("resulttype", n.resulttype);
            w.num("resultcollid", n.resultcollid);
            w.form("coerceformat", n.coerceformat);
            w.location(n.location);
        })
    }

    pub(super) fn put_array_coerce(&mut self, n: &ArrayCoerceExpr) {
        self.node("ARRAYCOERCEEXPR", |w| {
            w.expr("arg", &n.arg);
            w.expr("elemexpr", &n.elemexpr);
            w.num("resulttype", n.resulttype);
            w.num("resulttypmod", n.resulttypmod);
            w.num("resultcollid", n.resultcollid);
            w.form("coerceformat", n.coerceformat);
            w.location(n.location);
        })
    }

    pub(super) fn put_convert_rowtype(&mut self, n: &ConvertRowtypeExpr) {
        self.node("CONVERTROWTYPEEXPR", |w| {
            w.expr("arg", &n.arg);
            w.num("resulttype", n.resulttype);
            w.form("convertformat", n.convertformat);
            w.location(n.location);
        })
    }

    pub(super) fn put_collate(&mut self, n: &CollateExpr) {
        self.node("COLLATEEXPR", |w| {
            w.expr("arg", &n.arg);
            w.num("collOid", n.coll_oid);
            w.location(n.location);
        })
    }

    pub(super) fn put_case(&mut self, n: &CaseExpr) {
        self.node("CASEEXPR", |w| {
            w.num("casetype", n.casetype);
            w.num("casecollid", n.casecollid);
            w.opt_expr("arg", n.arg.as_ref());
            w.list("args", &n.args, |w, when| {
                w.node("CASEWHEN", |w| {
                    w.expr("expr", &when.expr);
                    w.expr("result", &when.result);
                    w.location(when.location);
                });
            });
            w.opt_expr("defresult", n.defresult.as_ref());
            w.location(n.location);
        })
    }

    pub(super) fn put_case_test(&mut self, n: &CaseTestExpr) {
        self.node("CASETESTEXPR", |w| {
            w.num("typeId", n.typeid);
            w.num("typeMod", n.typmod);
            w.num("collation", n.collation);
        })
    }

    pub(super) fn put_array(&mut self, n: &ArrayExpr) {
        self.node("ARRAYEXPR", |w| {
            w.num("array_typeid", n.array_typeid);
            w.num("array_collid", n.array_collid);
            w.num("element_typeid", n.element_typeid);
            w.exprs("elements", &n.elements);
            w.bool("multidims", n.multidims);
            w.location(n.location);
        })
    }

    pub(super) fn put_row(&mut self, n: &RowExpr) {
        self.node("ROWEXPR", |w| {
            w.exprs("args", &n.args);
            w.num("row_typeid", n.row_typeid);
            w.form("row_format", n.row_format);
            w.strings("colnames", &n.colnames);
            w.location(n.location);
        })
    }

    pub(super) fn put_row_compare(&mut self, n: &RowCompareExpr) {
        self.node("ROWCOMPAREEXPR", |w| {
            w.num("rctype", n.rctype as i32);
            w.oids("opnos", &n.opnos);
            w.oids("opfamilies", &n.opfamilies);
            w.oids("inputcollids", &n.inputcollids);
            w.exprs("largs", &n.largs);
            w.exprs("rargs", &n.rargs);
        })
    }

    pub(super) fn put_coalesce(&mut self, n: &CoalesceExpr) {
        self.node("COALESCEEXPR", |w| {
            w.num("coalescetype", n.coalescetype);
            w.num("coalescecollid", n.coalescecollid);
            w.exprs("args", &n.args);
            w.location(n.location);
        })
    }

    pub(super) fn put_min_max(&mut self, n: &MinMaxExpr) {
        self.node("MINMAXEXPR", |w| {
            w.num("minmaxtype", n.minmaxtype);
            w.num("minmaxcollid", n.minmaxcollid);
            w.num("inputcollid", n.inputcollid);
            w.num("op", i32::from(!n.greatest));
            w.exprs("args", &n.args);
            w.location(n.location);
        })
    }

    pub(super) fn put_sql_value(&mut self, n: &SqlValueFunction) {
        self.node("SQLVALUEFUNCTION", |w| {
            w.num("op", SQL_VALUES.iter().position(|v| *v == n.op).unwrap_or(0));
            w.num("type", n.typeid);
            w.num("typmod", n.typmod);
            w.location(n.location);
        })
    }

    pub(super) fn put_null_test(&mut self, n: &NullTest) {
        self.node("NULLTEST", |w| {
            w.expr("arg", &n.arg);
            w.num("nulltesttype", i32::from(n.is_not));
            w.bool("argisrow", n.argisrow);
            w.location(n.location);
        })
    }

    pub(super) fn put_boolean_test(&mut self, n: &BooleanTest) {
        self.node("BOOLEANTEST", |w| {
            w.expr("arg", &n.arg);
            let test = BOOL_TESTS.iter().position(|t| *t == n.booltesttype).unwrap_or(0);
            w.num("booltesttype", test);
            w.location(n.location);
        })
    }

    pub(super) fn put_coerce_to_domain(&mut self, n: &CoerceToDomain) {
        self.node("COERCETODOMAIN", |w| {
            w.expr("arg", &n.arg);
            w.num("resulttype", n.resulttype);
            w.num("resulttypmod", n.resulttypmod);
            w.num("resultcollid", n.resultcollid);
            w.form("coercionformat", n.coercionformat);
            w.location(n.location);
        })
    }

    pub(super) fn put_coerce_to_domain_value(&mut self, n: &CoerceToDomainValue) {
        self.node("COERCETODOMAINVALUE", |w| {
            w.num("typeId", n.typeid);
            w.num("typeMod", n.typmod);
            w.num("collation", n.collation);
            w.location(n.location);
        })
    }

    pub(super) fn put_set_to_default(&mut self, n: &SetToDefault) {
        self.node("SETTODEFAULT", |w| {
            w.num("typeId", n.typeid);
            w.num("typeMod", n.typmod);
            w.num("collation", n.collation);
            w.location(n.location);
        })
    }

    pub(super) fn put_current_of(&mut self, n: &CurrentOfExpr) {
        self.node("CURRENTOFEXPR", |w| {
            w.num("cvarno", n.cvarno);
            w.string("cursor_name", n.cursor_name.as_deref());
            w.num("cursor_param", n.cursor_param);
        })
    }

    pub(super) fn put_next_value(&mut self, n: &NextValueExpr) {
        self.node("NEXTVALUEEXPR", |w| {
            w.num("seqid", n.seqid);
            w.num("typeId", n.typeid);
        })
    }
}
