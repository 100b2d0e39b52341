//! The fields of expression nodes, one function for each kind.

use super::super::text::NodeTree;
use super::{node, query, sort_group, target};
use crate::expr::{
    AggSplit, Aggref, ArrayCoerceExpr, ArrayExpr, BoolExpr, BoolOp, BooleanTest, CaseExpr,
    CaseTestExpr, CaseWhen, CoalesceExpr, CoerceToDomain, CoerceToDomainValue, CoerceViaIo,
    CollateExpr, ConvertRowtypeExpr, CurrentOfExpr, FieldSelect, FieldStore, FuncExpr,
    GroupingFunc, MinMaxExpr, NamedArgExpr, NextValueExpr, NullTest, OpExpr, Param, ParamKind,
    RelabelType, RowCompareExpr, RowCompareKind, RowExpr, ScalarArrayOpExpr, SetToDefault,
    SqlValueFunction, SubLink, SubLinkKind, SubscriptingRef, WindowFunc,
};
use ids::Oid;
use ids::code::AggKind;
use pgerror::Result;
use stdx::Nested;

pub(super) fn param(n: &NodeTree) -> Result<Param> {
    Ok(Param {
        paramkind: n.pick(
            "paramkind",
            &[ParamKind::Extern, ParamKind::Exec, ParamKind::Sublink, ParamKind::MultiExpr],
        )?,
        paramid: n.int("paramid")?,
        paramtype: n.oid("paramtype")?,
        paramtypmod: n.int("paramtypmod")?,
        paramcollid: n.oid("paramcollid")?,
        location: n.location(),
    })
}

pub(super) fn aggref(n: &NodeTree) -> Result<Aggref> {
    Ok(Aggref {
        aggfnoid: n.oid("aggfnoid")?,
        aggtype: n.oid("aggtype")?,
        aggcollid: n.oid("aggcollid")?,
        inputcollid: n.oid("inputcollid")?,
        aggtranstype: n.oid("aggtranstype")?,
        aggargtypes: n.oids("aggargtypes")?,
        aggdirectargs: n.exprs("aggdirectargs")?,
        args: n.list("args", target)?,
        aggorder: n.list("aggorder", sort_group)?,
        aggdistinct: n.list("aggdistinct", sort_group)?,
        aggfilter: n.opt_expr("aggfilter")?,
        aggstar: n.bool("aggstar")?,
        aggvariadic: n.bool("aggvariadic")?,
        aggkind: n.code("aggkind", AggKind::from_char)?,
        agglevelsup: n.int("agglevelsup")?,
        aggsplit: AggSplit::Simple,
        aggno: n.int("aggno")?,
        aggtransno: n.int("aggtransno")?,
        location: n.location(),
    })
}

pub(super) fn grouping_func(n: &NodeTree) -> Result<GroupingFunc> {
    Ok(GroupingFunc {
        args: n.exprs("args")?,
        refs: n.numbers("refs")?,
        agglevelsup: n.int("agglevelsup")?,
        location: n.location(),
    })
}

pub(super) fn window_func(n: &NodeTree) -> Result<WindowFunc> {
    Ok(WindowFunc {
        winfnoid: n.oid("winfnoid")?,
        wintype: n.oid("wintype")?,
        wincollid: n.oid("wincollid")?,
        inputcollid: n.oid("inputcollid")?,
        args: n.exprs("args")?,
        aggfilter: n.opt_expr("aggfilter")?,
        winref: n.int("winref")?,
        winstar: n.bool("winstar")?,
        winagg: n.bool("winagg")?,
        location: n.location(),
    })
}

pub(super) fn subscripting_ref(n: &NodeTree) -> Result<SubscriptingRef> {
    Ok(SubscriptingRef {
        refcontainertype: n.oid("refcontainertype")?,
        refelemtype: n.oid("refelemtype")?,
        refrestype: n.oid("refrestype")?,
        reftypmod: n.int("reftypmod")?,
        refcollid: n.oid("refcollid")?,
        refupperindexpr: n.opt_exprs("refupperindexpr")?,
        reflowerindexpr: n.opt_exprs("reflowerindexpr")?,
        refexpr: n.expr("refexpr")?,
        refassgnexpr: n.opt_expr("refassgnexpr")?,
    })
}

pub(super) fn func_expr(n: &NodeTree) -> Result<FuncExpr> {
    Ok(FuncExpr {
        funcid: n.oid("funcid")?,
        funcresulttype: n.oid("funcresulttype")?,
        funcretset: n.bool("funcretset")?,
        funcvariadic: n.bool("funcvariadic")?,
        funcformat: n.form("funcformat")?,
        funccollid: n.oid("funccollid")?,
        inputcollid: n.oid("inputcollid")?,
        args: n.exprs("args")?,
        location: n.location(),
    })
}

pub(super) fn named_arg(n: &NodeTree) -> Result<NamedArgExpr> {
    Ok(NamedArgExpr {
        arg: n.expr("arg")?,
        name: n.string("name")?,
        argnumber: n.int("argnumber")?,
        location: n.location(),
    })
}

pub(super) fn scalar_array_op(n: &NodeTree) -> Result<ScalarArrayOpExpr> {
    Ok(ScalarArrayOpExpr {
        opno: n.oid("opno")?,
        opfuncid: n.oid("opfuncid")?,
        hashfuncid: n.oid("hashfuncid")?,
        negfuncid: n.oid("negfuncid")?,
        use_or: n.bool("useOr")?,
        inputcollid: n.oid("inputcollid")?,
        args: n.exprs("args")?,
        location: n.location(),
    })
}

pub(super) fn boolean(n: &NodeTree) -> Result<BoolExpr> {
    Ok(BoolExpr {
        boolop: match n.word("boolop")? {
            "and" => BoolOp::And,
            "or" => BoolOp::Or,
            _ => BoolOp::Not,
        },
        args: n.exprs("args")?,
        location: n.location(),
    })
}

pub(super) fn sub_link(n: &NodeTree) -> Result<SubLink> {
    Ok(SubLink {
        kind: n.pick(
            "subLinkType",
            &[
                SubLinkKind::Exists,
                SubLinkKind::All,
                SubLinkKind::Any,
                SubLinkKind::RowCompare,
                SubLinkKind::Expr,
                SubLinkKind::MultiExpr,
                SubLinkKind::Array,
                SubLinkKind::Cte,
            ],
        )?,
        id: n.int("subLinkId")?,
        testexpr: n.opt_expr("testexpr")?,
        oper_name: n.strings("operName")?,
        subselect: Nested::new(query(n.value("subselect")?)?),
        array_type: Oid::INVALID,
        location: n.location(),
    })
}

pub(super) fn field_select(n: &NodeTree) -> Result<FieldSelect> {
    Ok(FieldSelect {
        arg: n.expr("arg")?,
        fieldnum: n.int("fieldnum")?,
        resulttype: n.oid("resulttype")?,
        resulttypmod: n.int("resulttypmod")?,
        resultcollid: n.oid("resultcollid")?,
    })
}

pub(super) fn field_store(n: &NodeTree) -> Result<FieldStore> {
    Ok(FieldStore {
        arg: n.expr("arg")?,
        newvals: n.exprs("newvals")?,
        fieldnums: n.numbers("fieldnums")?,
        resulttype: n.oid("resulttype")?,
    })
}

pub(super) fn relabel(n: &NodeTree) -> Result<RelabelType> {
    Ok(RelabelType {
        arg: n.expr("arg")?,
        resulttype: n.oid("resulttype")?,
        resulttypmod: n.int("resulttypmod")?,
        resultcollid: n.oid("resultcollid")?,
        relabelformat: n.form("relabelformat")?,
        location: n.location(),
    })
}

pub(super) fn coerce_via_io(n: &NodeTree) -> Result<CoerceViaIo> {
    Ok(CoerceViaIo {
        arg: n.expr("arg")?,
        resulttype: n.oid("resulttype")?,
        resultcollid: n.oid("resultcollid")?,
        coerceformat: n.form("coerceformat")?,
        location: n.location(),
    })
}

pub(super) fn array_coerce(n: &NodeTree) -> Result<ArrayCoerceExpr> {
    Ok(ArrayCoerceExpr {
        arg: n.expr("arg")?,
        elemexpr: n.expr("elemexpr")?,
        resulttype: n.oid("resulttype")?,
        resulttypmod: n.int("resulttypmod")?,
        resultcollid: n.oid("resultcollid")?,
        coerceformat: n.form("coerceformat")?,
        location: n.location(),
    })
}

pub(super) fn convert_rowtype(n: &NodeTree) -> Result<ConvertRowtypeExpr> {
    Ok(ConvertRowtypeExpr {
        arg: n.expr("arg")?,
        resulttype: n.oid("resulttype")?,
        convertformat: n.form("convertformat")?,
        location: n.location(),
    })
}

pub(super) fn collate(n: &NodeTree) -> Result<CollateExpr> {
    Ok(CollateExpr { arg: n.expr("arg")?, coll_oid: n.oid("collOid")?, location: n.location() })
}

pub(super) fn case(n: &NodeTree) -> Result<CaseExpr> {
    Ok(CaseExpr {
        casetype: n.oid("casetype")?,
        casecollid: n.oid("casecollid")?,
        arg: n.opt_expr("arg")?,
        args: n.list("args", |t| {
            let w = node(t, "")?;
            Ok(CaseWhen {
                expr: w.expr("expr")?,
                result: w.expr("result")?,
                location: w.location(),
            })
        })?,
        defresult: n.opt_expr("defresult")?,
        location: n.location(),
    })
}

pub(super) fn case_test(n: &NodeTree) -> Result<CaseTestExpr> {
    Ok(CaseTestExpr {
        typeid: n.oid("typeId")?,
        typmod: n.int("typeMod")?,
        collation: n.oid("collation")?,
    })
}

pub(super) fn array(n: &NodeTree) -> Result<ArrayExpr> {
    Ok(ArrayExpr {
        array_typeid: n.oid("array_typeid")?,
        array_collid: n.oid("array_collid")?,
        element_typeid: n.oid("element_typeid")?,
        elements: n.exprs("elements")?,
        multidims: n.bool("multidims")?,
        location: n.location(),
    })
}

pub(super) fn row(n: &NodeTree) -> Result<RowExpr> {
    Ok(RowExpr {
        args: n.exprs("args")?,
        row_typeid: n.oid("row_typeid")?,
        row_format: n.form("row_format")?,
        colnames: n.strings("colnames")?,
        location: n.location(),
    })
}

pub(super) fn row_compare(n: &NodeTree) -> Result<RowCompareExpr> {
    Ok(RowCompareExpr {
        rctype: match n.int::<i32>("rctype")? {
            1 => RowCompareKind::Lt,
            2 => RowCompareKind::Le,
            3 => RowCompareKind::Eq,
            4 => RowCompareKind::Ge,
            5 => RowCompareKind::Gt,
            _ => RowCompareKind::Ne,
        },
        opnos: n.oids("opnos")?,
        opfamilies: n.oids("opfamilies")?,
        inputcollids: n.oids("inputcollids")?,
        largs: n.exprs("largs")?,
        rargs: n.exprs("rargs")?,
    })
}

pub(super) fn coalesce(n: &NodeTree) -> Result<CoalesceExpr> {
    Ok(CoalesceExpr {
        coalescetype: n.oid("coalescetype")?,
        coalescecollid: n.oid("coalescecollid")?,
        args: n.exprs("args")?,
        location: n.location(),
    })
}

pub(super) fn min_max(n: &NodeTree) -> Result<MinMaxExpr> {
    Ok(MinMaxExpr {
        minmaxtype: n.oid("minmaxtype")?,
        minmaxcollid: n.oid("minmaxcollid")?,
        inputcollid: n.oid("inputcollid")?,
        greatest: n.int::<i32>("op")? == 0,
        args: n.exprs("args")?,
        location: n.location(),
    })
}

pub(super) fn sql_value(n: &NodeTree) -> Result<SqlValueFunction> {
    Ok(SqlValueFunction {
        op: n.pick("op", &super::super::write::SQL_VALUES)?,
        typeid: n.oid("type")?,
        typmod: n.int("typmod")?,
        location: n.location(),
    })
}

pub(super) fn null_test(n: &NodeTree) -> Result<NullTest> {
    Ok(NullTest {
        arg: n.expr("arg")?,
        is_not: n.int::<i32>("nulltesttype")? == 1,
        argisrow: n.bool("argisrow")?,
        location: n.location(),
    })
}

pub(super) fn boolean_test(n: &NodeTree) -> Result<BooleanTest> {
    Ok(BooleanTest {
        arg: n.expr("arg")?,
        booltesttype: n.pick("booltesttype", &super::super::write::BOOL_TESTS)?,
        location: n.location(),
    })
}

pub(super) fn coerce_to_domain(n: &NodeTree) -> Result<CoerceToDomain> {
    Ok(CoerceToDomain {
        arg: n.expr("arg")?,
        resulttype: n.oid("resulttype")?,
        resulttypmod: n.int("resulttypmod")?,
        resultcollid: n.oid("resultcollid")?,
        coercionformat: n.form("coercionformat")?,
        location: n.location(),
    })
}

pub(super) fn coerce_to_domain_value(n: &NodeTree) -> Result<CoerceToDomainValue> {
    Ok(CoerceToDomainValue {
        typeid: n.oid("typeId")?,
        typmod: n.int("typeMod")?,
        collation: n.oid("collation")?,
        location: n.location(),
    })
}

pub(super) fn set_to_default(n: &NodeTree) -> Result<SetToDefault> {
    Ok(SetToDefault {
        typeid: n.oid("typeId")?,
        typmod: n.int("typeMod")?,
        collation: n.oid("collation")?,
        location: n.location(),
    })
}

pub(super) fn current_of(n: &NodeTree) -> Result<CurrentOfExpr> {
    Ok(CurrentOfExpr {
        cvarno: n.int("cvarno")?,
        cursor_name: n.opt_string("cursor_name")?,
        cursor_param: n.int("cursor_param")?,
    })
}

pub(super) fn next_value(n: &NodeTree) -> Result<NextValueExpr> {
    Ok(NextValueExpr { seqid: n.oid("seqid")?, typeid: n.oid("typeid")? })
}

pub(super) fn op_expr(n: &NodeTree) -> Result<Box<OpExpr>> {
    Ok(Box::new(OpExpr {
        opno: n.oid("opno")?,
        opfuncid: n.oid("opfuncid")?,
        opresulttype: n.oid("opresulttype")?,
        opretset: n.bool("opretset")?,
        opcollid: n.oid("opcollid")?,
        inputcollid: n.oid("inputcollid")?,
        args: n.exprs("args")?,
        location: n.location(),
    }))
}
