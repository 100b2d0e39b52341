//! The expression nodes, declared once: their variants, fields, and stored form.
//!
//! Both macros pass the list to a macro of the caller. `expr` generates the types from it, `walk`
//! the visits of sub-expressions, and `nodetree` the readers and writers. Var, Const, GroupingFunc
//! and SubPlan are only in the list of variants: their stored form is not a list of their fields.

/// Calls the macro `$use` with the variants of `Expr`, each as `Variant(Type) "LABEL" …`. The
/// first label is written, and all labels are read. A variant without a label is never stored.
macro_rules! expression_variants {
    ($use:ident) => {
        $use! {
            Var(Var) "VAR",
            Const(Const) "CONST",
            Param(Param) "PARAM",
            Aggref(Box<Aggref>) "AGGREF",
            GroupingFunc(Box<GroupingFunc>) "GROUPINGFUNC",
            WindowFunc(Box<WindowFunc>) "WINDOWFUNC",
            SubscriptingRef(Box<SubscriptingRef>) "SUBSCRIPTINGREF",
            FuncExpr(Box<FuncExpr>) "FUNCEXPR",
            NamedArg(Box<NamedArgExpr>) "NAMEDARGEXPR",
            OpExpr(Box<OpExpr>) "OPEXPR",
            /// `IS DISTINCT FROM`: not strict, `opno` is the equality operator.
            Distinct(Box<OpExpr>) "DISTINCTEXPR",
            /// `NULLIF`: `opno` is the equality operator.
            NullIf(Box<OpExpr>) "NULLIFEXPR",
            ScalarArrayOp(Box<ScalarArrayOpExpr>) "SCALARARRAYOPEXPR",
            Bool(Box<BoolExpr>) "BOOLEXPR",
            SubLink(Box<SubLink>) "SUBLINK",
            SubPlan(Box<SubPlan>),
            FieldSelect(Box<FieldSelect>) "FIELDSELECT",
            FieldStore(Box<FieldStore>) "FIELDSTORE",
            Relabel(Box<RelabelType>) "RELABELTYPE",
            CoerceViaIo(Box<CoerceViaIo>) "COERCEVIAIO",
            ArrayCoerce(Box<ArrayCoerceExpr>) "ARRAYCOERCEEXPR",
            ConvertRowtype(Box<ConvertRowtypeExpr>) "CONVERTROWTYPEEXPR",
            Collate(Box<CollateExpr>) "COLLATEEXPR" "COLLATE",
            Case(Box<CaseExpr>) "CASEEXPR" "CASE",
            CaseTest(CaseTestExpr) "CASETESTEXPR",
            Array(Box<ArrayExpr>) "ARRAYEXPR" "ARRAY",
            Row(Box<RowExpr>) "ROWEXPR" "ROW",
            RowCompare(Box<RowCompareExpr>) "ROWCOMPAREEXPR" "ROWCOMPARE",
            Coalesce(Box<CoalesceExpr>) "COALESCEEXPR" "COALESCE",
            MinMax(Box<MinMaxExpr>) "MINMAXEXPR" "MINMAX",
            SqlValue(SqlValueFunction) "SQLVALUEFUNCTION",
            Xml(Box<XmlExpr>) "XMLEXPR",
            NullTest(Box<NullTest>) "NULLTEST",
            BooleanTest(Box<BooleanTest>) "BOOLEANTEST",
            CoerceToDomain(Box<CoerceToDomain>) "COERCETODOMAIN",
            CoerceToDomainValue(CoerceToDomainValue) "COERCETODOMAINVALUE",
            SetToDefault(SetToDefault) "SETTODEFAULT",
            CurrentOf(CurrentOfExpr) "CURRENTOFEXPR",
            NextValue(NextValueExpr) "NEXTVALUEEXPR",
        }
    };
}

/// Passes the nodes to the macro `$use`. The fields are in the stored order. `field("name"): Type`
/// is stored under another name; `as Codec` names the functions that read and write a field whose
/// stored form is not that of its type.
macro_rules! expression_nodes {
    ($use:ident) => {
        $use! {
            Param {
                paramkind: ParamKind,
                /// 1-based for `Extern`, 0-based for `Exec`.
                paramid: i32,
                paramtype: Oid,
                paramtypmod: i32,
                paramcollid: Oid,
                location: Location,
            }

            Aggref {
                aggfnoid: Oid,
                aggtype: Oid,
                aggcollid: Oid,
                inputcollid: Oid,
                aggtranstype: Oid,
                aggargtypes: Vec<Oid>,
                aggdirectargs: Vec<Expr>,
                args: Vec<TargetEntry>,
                aggorder: Vec<SortGroupClause>,
                aggdistinct: Vec<SortGroupClause>,
                aggfilter: Option<Expr>,
                aggstar: bool,
                aggvariadic: bool,
                /// `n` normal, `o` ordered-set, `h` hypothetical-set.
                aggkind: AggKind,
                agglevelsup: u32,
                aggsplit: AggSplit as NeverSplit,
                aggno: i32,
                aggtransno: i32,
                location: Location,
            }

            WindowFunc {
                winfnoid: Oid,
                wintype: Oid,
                wincollid: Oid,
                inputcollid: Oid,
                args: Vec<Expr> as CallArguments,
                aggfilter: Option<Expr>,
                winref: u32,
                winstar: bool,
                winagg: bool,
                location: Location,
            }

            SubscriptingRef {
                refcontainertype: Oid,
                refelemtype: Oid,
                refrestype: Oid,
                reftypmod: i32,
                refcollid: Oid,
                refupperindexpr: Vec<Option<Expr>>,
                /// Empty unless this is a slice.
                reflowerindexpr: Vec<Option<Expr>>,
                refexpr: Expr,
                /// The value assigned, in an assignment.
                refassgnexpr: Option<Expr>,
            }

            FuncExpr {
                funcid: Oid,
                funcresulttype: Oid,
                funcretset: bool,
                funcvariadic: bool,
                funcformat: CoercionForm,
                funccollid: Oid,
                inputcollid: Oid,
                args: Vec<Expr> as CallArguments,
                location: Location,
            }

            NamedArgExpr {
                arg: Expr,
                name: String,
                argnumber: i32,
                location: Location,
            }

            OpExpr {
                opno: Oid,
                /// `pg_proc` OID of the operator's function; invalid until the planner fills it in.
                opfuncid: Oid,
                opresulttype: Oid,
                opretset: bool,
                opcollid: Oid,
                inputcollid: Oid,
                /// One (prefix) or two.
                args: Vec<Expr>,
                location: Location,
            }

            ScalarArrayOpExpr {
                opno: Oid,
                opfuncid: Oid,
                hashfuncid: Oid,
                negfuncid: Oid,
                /// `ANY` if true, else `ALL`.
                use_or("useOr"): bool,
                inputcollid: Oid,
                /// The scalar and the array.
                args: Vec<Expr>,
                location: Location,
            }

            BoolExpr {
                boolop: BoolOp,
                args: Vec<Expr>,
                location: Location,
            }

            /// A sub-select within an expression, before planning.
            SubLink {
                kind("subLinkType"): SubLinkKind,
                /// Number of a `MultiExpr` sublink, else 0.
                id("subLinkId"): i32,
                /// The comparison over `Param { paramkind: Sublink }`, for ANY, ALL and row
                /// comparison.
                testexpr: Option<Expr>,
                /// The operator as written, for printing.
                oper_name("operName"): Vec<String>,
                subselect: Nested<Query>,
                /// The array type of `ARRAY(…)`, else invalid. It is not stored: analysis, or the
                /// reader of a stored tree, looks it up in the catalogs.
                array_type: Oid as NotStored,
                location: Location,
            }

            FieldSelect {
                arg: Expr,
                fieldnum: AttrNo,
                resulttype: Oid,
                resulttypmod: i32,
                resultcollid: Oid,
            }

            FieldStore {
                arg: Expr,
                newvals: Vec<Expr>,
                fieldnums: Vec<AttrNo>,
                resulttype: Oid,
            }

            /// A binary-compatible relabelling.
            RelabelType {
                arg: Expr,
                resulttype: Oid,
                resulttypmod: i32,
                resultcollid: Oid,
                relabelformat: CoercionForm,
                location: Location,
            }

            CoerceViaIo {
                arg: Expr,
                resulttype: Oid,
                resultcollid: Oid,
                coerceformat: CoercionForm,
                location: Location,
            }

            ArrayCoerceExpr {
                arg: Expr,
                /// The element's coercion, over a `CaseTest`.
                elemexpr: Expr,
                resulttype: Oid,
                resulttypmod: i32,
                resultcollid: Oid,
                coerceformat: CoercionForm,
                location: Location,
            }

            ConvertRowtypeExpr {
                arg: Expr,
                resulttype: Oid,
                convertformat: CoercionForm,
                location: Location,
            }

            CollateExpr {
                arg: Expr,
                coll_oid("collOid"): Oid,
                location: Location,
            }

            CaseExpr {
                casetype: Oid,
                casecollid: Oid,
                /// The value tested, in `CASE x WHEN …`; the conditions refer to it by
                /// `CaseTest`.
                arg: Option<Expr>,
                args: Vec<CaseWhen>,
                defresult: Option<Expr>,
                location: Location,
            }

            CaseWhen {
                expr: Expr,
                result: Expr,
                location: Location,
            }

            /// Placeholder for the value that an enclosing node tests or iterates over.
            CaseTestExpr {
                typeid("typeId"): Oid,
                typmod("typeMod"): i32,
                collation: Oid,
            }

            ArrayExpr {
                array_typeid: Oid,
                array_collid: Oid,
                element_typeid: Oid,
                elements: Vec<Expr>,
                /// The elements are themselves arrays.
                multidims: bool,
                location: Location,
            }

            RowExpr {
                args: Vec<Expr>,
                row_typeid: Oid,
                row_format: CoercionForm,
                colnames: Vec<String>,
                location: Location,
            }

            RowCompareExpr {
                rctype: RowCompareKind,
                opnos: Vec<Oid>,
                opfamilies: Vec<Oid>,
                inputcollids: Vec<Oid>,
                largs: Vec<Expr>,
                rargs: Vec<Expr>,
            }

            CoalesceExpr {
                coalescetype: Oid,
                coalescecollid: Oid,
                args: Vec<Expr>,
                location: Location,
            }

            MinMaxExpr {
                minmaxtype: Oid,
                minmaxcollid: Oid,
                inputcollid: Oid,
                /// `GREATEST` if true, else `LEAST`.
                greatest("op"): bool as Greatest,
                args: Vec<Expr>,
                location: Location,
            }

            SqlValueFunction {
                op: SqlValueKind,
                typeid("type"): Oid,
                typmod: i32,
                location: Location,
            }

            /// An SQL/XML expression in a stored definition. It can be deparsed but not executed.
            XmlExpr {
                op: XmlOp,
                /// Name of an element or a processing instruction.
                name: Option<String>,
                /// Attributes, or the parts of a forest; `arg_names` has a name for each.
                named_args: Vec<Expr>,
                arg_names: Vec<String>,
                args: Vec<Expr>,
                /// `CONTENT`, else `DOCUMENT`.
                content("xmloption"): bool as NumberedBool,
                /// Result type of `XMLSERIALIZE`.
                typeid("type"): Oid,
                typmod: i32,
                location: Location,
            }

            NullTest {
                arg: Expr,
                /// `IS NOT NULL` if true.
                is_not("nulltesttype"): bool as NumberedBool,
                /// The argument is composite: test its fields.
                argisrow: bool,
                location: Location,
            }

            BooleanTest {
                arg: Expr,
                booltesttype: BoolTestKind,
                location: Location,
            }

            CoerceToDomain {
                arg: Expr,
                resulttype: Oid,
                resulttypmod: i32,
                resultcollid: Oid,
                coercionformat: CoercionForm,
                location: Location,
            }

            /// `VALUE` in a domain's check.
            CoerceToDomainValue {
                typeid("typeId"): Oid,
                typmod("typeMod"): i32,
                collation: Oid,
                location: Location,
            }

            /// `DEFAULT` in INSERT or UPDATE, before rewriting.
            SetToDefault {
                typeid("typeId"): Oid,
                typmod("typeMod"): i32,
                collation: Oid,
                location: Location,
            }

            CurrentOfExpr {
                cvarno: i32,
                cursor_name: Option<String>,
                cursor_param: i32,
            }

            /// `nextval` of an identity column's sequence, without a permission check.
            NextValueExpr {
                seqid: Oid,
                typeid("typeId"): Oid,
            }

            TargetEntry {
                expr: Expr,
                /// Output column, or target column of an INSERT or UPDATE.
                resno: AttrNo,
                resname: Option<String>,
                /// Non-zero if referred to by a sort, group or distinct clause.
                ressortgroupref: u32,
                /// Source table and column of a plain column, else invalid and 0.
                resorigtbl: Oid,
                resorigcol: AttrNo,
                /// Not part of the result.
                resjunk: bool,
            }
        }
    };
}
