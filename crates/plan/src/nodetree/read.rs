//! Reads nodes from the parsed text form. Counterpart: nodes/readfuncs.c.

mod expr;
mod field;
mod partition;
mod xml;

pub use partition::{PartitionBound, RangeDatum, read_partition_bound};

use self::expr::ReadNode;
use super::text::{NodeTree, Tree, malformed, parse};
use crate::expr::{CoercionForm, Const, Expr, Location, TargetEntry, Var};
use crate::query::{
    Alias, CmdType, CommonTableExpr, CteCycle, CteMaterialize, CteSearch, FromExpr, GroupingSet,
    GroupingSetKind, InferenceElem, JoinExpr, JoinTreeNode, JoinType, LimitOption, LockStrength,
    LockWaitPolicy, MergeAction, NotifyStmt, OnConflictAction, OnConflictExpr, Override, Query,
    QuerySource, RangeTblEntry, RangeTblFunction, RowMarkClause, RteKind, SetOpNode, SetOperation,
    SetOperationStmt, SortGroupClause, StatementSource, TableSample, WindowClause,
};
use ids::{AttrNo, Oid, RelKind};
use pgerror::{PgError, Result};
use stdx::Nested;
use stdx::stack::deep;
use types::Datum;

/// Reads one expression, such as a default, a check or a predicate.
pub fn read_expr(text: &str) -> Result<Expr> {
    expr(&parse(text)?)
}

/// Reads a list of expressions, such as argument defaults or index expressions.
pub fn read_exprs(text: &str) -> Result<Vec<Expr>> {
    match parse(text)? {
        Tree::Nothing => Ok(Vec::new()),
        Tree::List(items) => items.iter().map(expr).collect(),
        one => Ok(vec![expr(&one)?]),
    }
}

/// Reads a list of queries: the actions of a rule, or the body of a function.
pub fn read_queries(text: &str) -> Result<Vec<Query>> {
    match parse(text)? {
        Tree::Nothing => Ok(Vec::new()),
        Tree::List(items) => items.iter().map(query).collect(),
        one => Ok(vec![query(&one)?]),
    }
}

impl<'t> NodeTree<'t> {
    fn values(&self, name: &str) -> Result<&[Tree<'t>]> {
        let found = self.fields.iter().find(|f| f.0 == name);
        found
            .map(|f| f.1.as_slice())
            .ok_or_else(|| malformed(format_args!("{} has no field {name}", self.label)))
    }

    fn value(&self, name: &str) -> Result<&Tree<'t>> {
        Ok(&self.values(name)?[0])
    }

    fn word(&self, name: &str) -> Result<&str> {
        match self.value(name)? {
            Tree::Word(word) | Tree::Text(word) => Ok(word),
            _ => Err(malformed(format_args!("{}.{name} is not a token", self.label))),
        }
    }

    fn int<T: TryFrom<i64>>(&self, name: &str) -> Result<T> {
        let number: i64 = self
            .word(name)?
            .parse()
            .map_err(|_| malformed(format_args!("{}.{name} is not a number", self.label)))?;
        T::try_from(number)
            .map_err(|_| malformed(format_args!("{}.{name} is too large", self.label)))
    }

    fn oid(&self, name: &str) -> Result<Oid> {
        Ok(Oid(self.int(name)?))
    }

    fn bool(&self, name: &str) -> Result<bool> {
        Ok(self.word(name)? == "true")
    }

    /// A character; 0 if the field is empty.
    fn char(&self, name: &str) -> Result<u8> {
        match self.value(name)? {
            Tree::Nothing => Ok(0),
            Tree::Word(word) => Ok(word.bytes().next().unwrap_or(0)),
            _ => Err(malformed(format_args!("{}.{name} is not a character", self.label))),
        }
    }

    /// A code of one character, converted by `from`.
    fn code<T>(&self, name: &str, from: fn(u8) -> Option<T>) -> Result<T> {
        let unknown = || malformed(format_args!("{}.{name} is not a known code", self.label));
        from(self.char(name)?).ok_or_else(unknown)
    }

    fn location(&self) -> Location {
        Location(self.int("location").unwrap_or(-1))
    }

    fn opt_string(&self, name: &str) -> Result<Option<String>> {
        match self.value(name)? {
            Tree::Nothing => Ok(None),
            Tree::Word(word) | Tree::Text(word) => Ok(Some(word.to_string())),
            _ => Err(malformed(format_args!("{}.{name} is not a string", self.label))),
        }
    }

    fn string(&self, name: &str) -> Result<String> {
        Ok(self.opt_string(name)?.unwrap_or_default())
    }

    fn list<T>(&self, name: &str, f: impl Fn(&Tree) -> Result<T>) -> Result<Vec<T>> {
        match self.value(name)? {
            Tree::Nothing => Ok(Vec::new()),
            Tree::List(items) => items.iter().map(f).collect(),
            _ => Err(malformed(format_args!("{}.{name} is not a list", self.label))),
        }
    }

    fn exprs(&self, name: &str) -> Result<Vec<Expr>> {
        self.list(name, expr)
    }

    fn strings(&self, name: &str) -> Result<Vec<String>> {
        self.list(name, |t| match t {
            Tree::Text(s) | Tree::Word(s) => Ok(s.to_string()),
            _ => Err(malformed("a name is not a string")),
        })
    }

    fn numbers<T: TryFrom<i64>>(&self, name: &str) -> Result<Vec<T>> {
        let bad = || malformed(format_args!("{}.{name} is not a list of numbers", self.label));
        match self.value(name)? {
            Tree::Nothing => Ok(Vec::new()),
            Tree::Numbers(all) => all.iter().map(|&n| T::try_from(n).map_err(|_| bad())).collect(),
            Tree::List(items) if items.is_empty() => Ok(Vec::new()),
            _ => Err(bad()),
        }
    }

    fn oids(&self, name: &str) -> Result<Vec<Oid>> {
        Ok(self.numbers::<u32>(name)?.into_iter().map(Oid).collect())
    }

    fn expr(&self, name: &str) -> Result<Expr> {
        expr(self.value(name)?)
    }

    fn opt_expr(&self, name: &str) -> Result<Option<Expr>> {
        match self.value(name)? {
            Tree::Nothing => Ok(None),
            tree => Ok(Some(expr(tree)?)),
        }
    }

    fn opt_exprs(&self, name: &str) -> Result<Vec<Option<Expr>>> {
        self.list(name, |t| match t {
            Tree::Nothing => Ok(None),
            t => Ok(Some(expr(t)?)),
        })
    }

    fn form(&self, name: &str) -> Result<CoercionForm> {
        Ok(match self.int::<i32>(name)? {
            0 => CoercionForm::ExplicitCall,
            1 => CoercionForm::ExplicitCast,
            2 => CoercionForm::ImplicitCast,
            _ => CoercionForm::SqlSyntax,
        })
    }

    fn pick<T: Copy>(&self, name: &str, all: &[T]) -> Result<T> {
        let n: usize = self.int(name)?;
        all.get(n)
            .copied()
            .ok_or_else(|| malformed(format_args!("{}.{name} is unknown: {n}", self.label)))
    }

    /// Column numbers of a set, which stores them plus 7 so that system columns are not negative.
    /// Counterpart: `FirstLowInvalidHeapAttributeNumber`.
    fn columns(&self, name: &str) -> Result<Vec<AttrNo>> {
        Ok(self.numbers::<i16>(name)?.into_iter().map(|n| n - 7).collect())
    }
}

fn node<'a, 't>(tree: &'a Tree<'t>, label: &str) -> Result<&'a NodeTree<'t>> {
    match tree {
        Tree::Node(n) if label.is_empty() || n.label == label => Ok(n),
        Tree::Node(n) => Err(malformed(format_args!("found {}, expected {label}", n.label))),
        _ => Err(malformed(format_args!("{label} is missing"))),
    }
}

fn expr(tree: &Tree) -> Result<Expr> {
    deep(|| expr_node(tree))
}

fn expr_node(tree: &Tree) -> Result<Expr> {
    let n = node(tree, "")?;
    macro_rules! read_variants {
        ($($(#[$doc:meta])* $variant:ident($ty:ty) $($label:literal)*,)*) => {
            match n.label {
                $($($label => Expr::$variant(ReadNode::read(n)?),)*)*
                other => return Err(PgError::unsupported(format!("stored expression {other}"))),
            }
        };
    }
    Ok(expression_variants!(read_variants))
}

/// `:constvalue length [ bytes ]`: eight bytes for a value passed by value; the bytes of a varlena
/// include its header.
fn constant(n: &NodeTree) -> Result<Const> {
    let constlen: i16 = n.int("constlen")?;
    let constbyval = n.bool("constbyval")?;
    let value = if n.bool("constisnull")? {
        Datum::Null
    } else {
        let mut bytes = Vec::new();
        for tree in &n.values("constvalue")?[1..] {
            match tree {
                Tree::Word(w) if w == "[" || w == "]" => {}
                Tree::Word(w) => {
                    let byte: i16 = w.parse().map_err(|_| malformed("invalid byte of a datum"))?;
                    bytes.push(byte as u8);
                }
                _ => return Err(malformed("invalid datum")),
            }
        }
        if constbyval {
            let word = bytes.get(..8).and_then(|b| b.try_into().ok());
            word_of(u64::from_le_bytes(word.ok_or_else(|| malformed("a word is too short"))?), n)?
        } else {
            match constlen {
                -1 => {
                    // A one-byte header has its lowest bit set.
                    let header = if bytes.first().is_some_and(|b| b & 1 == 1) { 1 } else { 4 };
                    let payload =
                        bytes.get(header..).ok_or_else(|| malformed("a varlena is too short"))?;
                    Datum::bytes(payload)
                }
                -2 => {
                    bytes.pop();
                    Datum::bytes(bytes)
                }
                _ => Datum::bytes(bytes),
            }
        }
    };
    Ok(Const {
        consttype: n.oid("consttype")?,
        consttypmod: n.int("consttypmod")?,
        constcollid: n.oid("constcollid")?,
        constlen,
        constbyval,
        value,
        location: n.location(),
    })
}

/// PostgreSQL's eight-byte datum as a word of [`Datum`]: sign-extended for signed types,
/// zero-extended for unsigned types and `float4`.
fn word_of(word: u64, n: &NodeTree) -> Result<Datum> {
    const UNSIGNED: [u32; 14] =
        [26, 28, 29, 24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191];
    let ty: u32 = n.int("consttype")?;
    let len: i16 = n.int("constlen")?;
    Ok(Datum::Word(match len {
        1 => word as u8 as i8 as i64 as u64,
        2 => word as i16 as i64 as u64,
        // The bits of float4 (type 700) and unsigned types.
        4 if ty == 700 || UNSIGNED.contains(&ty) => word as u32 as u64,
        4 => word as i32 as i64 as u64,
        _ => word,
    }))
}

fn target(tree: &Tree) -> Result<TargetEntry> {
    TargetEntry::read(node(tree, "TARGETENTRY")?)
}

fn sort_group(tree: &Tree) -> Result<SortGroupClause> {
    let n = node(tree, "SORTGROUPCLAUSE")?;
    Ok(SortGroupClause {
        tle_sort_group_ref: n.int("tleSortGroupRef")?,
        eqop: n.oid("eqop")?,
        sortop: n.oid("sortop")?,
        nulls_first: n.bool("nulls_first")?,
        hashable: n.bool("hashable")?,
    })
}

fn alias(tree: &Tree) -> Result<Option<Alias>> {
    if *tree == Tree::Nothing {
        return Ok(None);
    }
    let n = node(tree, "ALIAS")?;
    Ok(Some(Alias { aliasname: n.string("aliasname")?, colnames: n.strings("colnames")? }))
}

fn rte(tree: &Tree) -> Result<RangeTblEntry> {
    let n = node(tree, "RANGETBLENTRY")?;
    let kind = match n.int::<i32>("rtekind")? {
        0 => RteKind::Relation {
            relid: n.oid("relid")?,
            relkind: n.code("relkind", RelKind::from_char)?,
            rellockmode: n.int("rellockmode")?,
            tablesample: match n.value("tablesample")? {
                Tree::Nothing => None,
                tree => {
                    let s = node(tree, "TABLESAMPLECLAUSE")?;
                    Some(Box::new(TableSample {
                        tsmhandler: s.oid("tsmhandler")?,
                        args: s.exprs("args")?,
                        repeatable: s.opt_expr("repeatable")?,
                    }))
                }
            },
        },
        1 => RteKind::Subquery {
            subquery: Nested::new(query(n.value("subquery")?)?),
            security_barrier: n.bool("security_barrier")?,
            relid: Oid::INVALID,
        },
        2 => RteKind::Join {
            jointype: join_type(n, "jointype")?,
            joinmergedcols: n.int("joinmergedcols")?,
            joinaliasvars: n.exprs("joinaliasvars")?,
            joinleftcols: n.numbers("joinleftcols")?,
            joinrightcols: n.numbers("joinrightcols")?,
            join_using_alias: alias(n.value("join_using_alias")?)?,
        },
        3 => RteKind::Function {
            functions: n.list("functions", |t| {
                let f = node(t, "RANGETBLFUNCTION")?;
                Ok(RangeTblFunction {
                    funcexpr: f.expr("funcexpr")?,
                    funccolcount: f.int("funccolcount")?,
                    funccolnames: f.strings("funccolnames")?,
                    funccoltypes: f.oids("funccoltypes")?,
                    funccoltypmods: f.numbers("funccoltypmods")?,
                    funccolcollations: f.oids("funccolcollations")?,
                })
            })?,
            funcordinality: n.bool("funcordinality")?,
        },
        5 => RteKind::Values {
            values_lists: n.list("values_lists", |t| match t {
                Tree::List(items) => items.iter().map(expr).collect(),
                // A row without columns.
                Tree::Nothing => Ok(Vec::new()),
                _ => Err(malformed("a row of VALUES is not a list")),
            })?,
            coltypes: n.oids("coltypes")?,
            coltypmods: n.numbers("coltypmods")?,
            colcollations: n.oids("colcollations")?,
        },
        6 => RteKind::Cte {
            ctename: n.string("ctename")?,
            ctelevelsup: n.int("ctelevelsup")?,
            self_reference: n.bool("self_reference")?,
            coltypes: n.oids("coltypes")?,
            coltypmods: n.numbers("coltypmods")?,
            colcollations: n.oids("colcollations")?,
        },
        4 => RteKind::TableFunc(Box::new(xml::table_func(n.value("tablefunc")?)?)),
        8 => RteKind::Result,
        other => {
            return Err(PgError::unsupported(format!("stored range-table entry of kind {other}")));
        }
    };
    Ok(RangeTblEntry {
        kind,
        alias: alias(n.value("alias")?)?,
        eref: alias(n.value("eref")?)?.unwrap_or_default(),
        lateral: n.bool("lateral")?,
        inh: n.bool("inh")?,
        in_from_cl: n.bool("inFromCl")?,
        required_perms: n.int("requiredPerms")?,
        check_as_user: n.oid("checkAsUser")?,
        selected_cols: n.columns("selectedCols")?,
        inserted_cols: n.columns("insertedCols")?,
        updated_cols: n.columns("updatedCols")?,
        security_quals: n.exprs("securityQuals")?,
    })
}

fn join_type(n: &NodeTree, name: &str) -> Result<JoinType> {
    n.pick(
        name,
        &[
            JoinType::Inner,
            JoinType::Left,
            JoinType::Full,
            JoinType::Right,
            JoinType::Semi,
            JoinType::Anti,
        ],
    )
}

fn jointree(tree: &Tree) -> Result<JoinTreeNode> {
    let n = node(tree, "")?;
    Ok(match n.label {
        "RANGETBLREF" => JoinTreeNode::Rtr(n.int("rtindex")?),
        "FROMEXPR" => JoinTreeNode::From(Box::new(from_expr(tree)?)),
        "JOINEXPR" => JoinTreeNode::Join(Box::new(JoinExpr {
            jointype: join_type(n, "jointype")?,
            is_natural: n.bool("isNatural")?,
            larg: jointree(n.value("larg")?)?,
            rarg: jointree(n.value("rarg")?)?,
            using_clause: n.strings("usingClause")?,
            join_using_alias: alias(n.value("join_using_alias")?)?,
            quals: n.opt_expr("quals")?,
            alias: alias(n.value("alias")?)?,
            rtindex: n.int("rtindex")?,
        })),
        other => return Err(malformed(format_args!("{other} in FROM"))),
    })
}

fn from_expr(tree: &Tree) -> Result<FromExpr> {
    if *tree == Tree::Nothing {
        return Ok(FromExpr::default());
    }
    let n = node(tree, "FROMEXPR")?;
    Ok(FromExpr { fromlist: n.list("fromlist", jointree)?, quals: n.opt_expr("quals")? })
}

fn grouping_set(tree: &Tree) -> Result<GroupingSet> {
    let n = node(tree, "GROUPINGSET")?;
    let kind = n.pick(
        "kind",
        &[
            GroupingSetKind::Empty,
            GroupingSetKind::Simple,
            GroupingSetKind::Rollup,
            GroupingSetKind::Cube,
            GroupingSetKind::Sets,
        ],
    )?;
    let (refs, content) = match kind {
        GroupingSetKind::Simple => (n.numbers("content")?, Vec::new()),
        _ => (Vec::new(), n.list("content", grouping_set)?),
    };
    Ok(GroupingSet { kind, refs, content, location: n.location() })
}

fn window(tree: &Tree) -> Result<WindowClause> {
    let n = node(tree, "WINDOWCLAUSE")?;
    Ok(WindowClause {
        name: n.opt_string("name")?,
        refname: n.opt_string("refname")?,
        partition_clause: n.list("partitionClause", sort_group)?,
        order_clause: n.list("orderClause", sort_group)?,
        frame_options: n.int("frameOptions")?,
        start_offset: n.opt_expr("startOffset")?,
        end_offset: n.opt_expr("endOffset")?,
        start_in_range_func: n.oid("startInRangeFunc")?,
        end_in_range_func: n.oid("endInRangeFunc")?,
        in_range_coll: n.oid("inRangeColl")?,
        in_range_asc: n.bool("inRangeAsc")?,
        in_range_nulls_first: n.bool("inRangeNullsFirst")?,
        winref: n.int("winref")?,
        copied_order: n.bool("copiedOrder")?,
    })
}

fn cte(tree: &Tree) -> Result<CommonTableExpr> {
    let n = node(tree, "COMMONTABLEEXPR")?;
    let search = match n.value("search_clause")? {
        Tree::Nothing => None,
        tree => Some(Box::new(search_clause(tree)?)),
    };
    let cycle = match n.value("cycle_clause")? {
        Tree::Nothing => None,
        tree => Some(Box::new(cycle_clause(tree)?)),
    };
    Ok(CommonTableExpr {
        ctename: n.string("ctename")?,
        aliascolnames: n.strings("aliascolnames")?,
        materialized: n.pick(
            "ctematerialized",
            &[CteMaterialize::Default, CteMaterialize::Always, CteMaterialize::Never],
        )?,
        query: Nested::new(query(n.value("ctequery")?)?),
        search,
        cycle,
        recursive: n.bool("cterecursive")?,
        refcount: n.int("cterefcount")?,
        colnames: n.strings("ctecolnames")?,
        coltypes: n.oids("ctecoltypes")?,
        coltypmods: n.numbers("ctecoltypmods")?,
        colcollations: n.oids("ctecolcollations")?,
        location: n.location(),
    })
}

fn search_clause(tree: &Tree) -> Result<CteSearch> {
    let n = node(tree, "CTESEARCHCLAUSE")?;
    Ok(CteSearch {
        col_list: n.strings("search_col_list")?,
        breadth_first: n.bool("search_breadth_first")?,
        seq_column: n.string("search_seq_column")?,
        location: n.location(),
    })
}

fn cycle_clause(tree: &Tree) -> Result<CteCycle> {
    let n = node(tree, "CTECYCLECLAUSE")?;
    Ok(CteCycle {
        col_list: n.strings("cycle_col_list")?,
        mark_column: n.string("cycle_mark_column")?,
        mark_value: n.expr("cycle_mark_value")?,
        mark_default: n.expr("cycle_mark_default")?,
        path_column: n.string("cycle_path_column")?,
        mark_type: n.oid("cycle_mark_type")?,
        mark_typmod: n.int("cycle_mark_typmod")?,
        mark_collation: n.oid("cycle_mark_collation")?,
        mark_neop: n.oid("cycle_mark_neop")?,
        location: n.location(),
    })
}

fn set_op(tree: &Tree) -> Result<SetOpNode> {
    deep(|| set_op_node(tree))
}

fn set_op_node(tree: &Tree) -> Result<SetOpNode> {
    let n = node(tree, "")?;
    if n.label == "RANGETBLREF" {
        return Ok(SetOpNode::Leaf(n.int("rtindex")?));
    }
    let n = node(tree, "SETOPERATIONSTMT")?;
    Ok(SetOpNode::Op(SetOperationStmt {
        op: match n.int::<i32>("op")? {
            1 => SetOperation::Union,
            2 => SetOperation::Intersect,
            _ => SetOperation::Except,
        },
        all: n.bool("all")?,
        larg: Box::new(set_op(n.value("larg")?)?),
        rarg: Box::new(set_op(n.value("rarg")?)?),
        col_types: n.oids("colTypes")?,
        col_typmods: n.numbers("colTypmods")?,
        col_collations: n.oids("colCollations")?,
        group_clauses: n.list("groupClauses", sort_group)?,
    }))
}

fn command(code: i32) -> CmdType {
    match code {
        1 => CmdType::Select,
        2 => CmdType::Update,
        3 => CmdType::Insert,
        4 => CmdType::Delete,
        5 => CmdType::Merge,
        6 => CmdType::Utility,
        _ => CmdType::Nothing,
    }
}

fn merge_action(tree: &Tree) -> Result<MergeAction> {
    let n = node(tree, "MERGEACTION")?;
    Ok(MergeAction {
        matched: n.bool("matched")?,
        command_type: command(n.int("commandType")?),
        override_: n
            .pick("override", &[Override::NotSet, Override::UserValue, Override::SystemValue])?,
        condition: n.opt_expr("qual")?,
        target_list: n.list("targetList", target)?,
    })
}

fn on_conflict(tree: &Tree) -> Result<OnConflictExpr> {
    let n = node(tree, "ONCONFLICTEXPR")?;
    Ok(OnConflictExpr {
        action: match n.int::<i32>("action")? {
            2 => OnConflictAction::Update,
            _ => OnConflictAction::Nothing,
        },
        arbiter_elems: n.list("arbiterElems", |t| {
            let e = node(t, "INFERENCEELEM")?;
            Ok(InferenceElem {
                expr: e.expr("expr")?,
                infercollid: e.oid("infercollid")?,
                inferopclass: e.oid("inferopclass")?,
            })
        })?,
        arbiter_where: n.opt_expr("arbiterWhere")?,
        constraint: n.oid("constraint")?,
        on_conflict_set: n.list("onConflictSet", target)?,
        on_conflict_where: n.opt_expr("onConflictWhere")?,
        excl_rel_index: n.int("exclRelIndex")?,
        excl_rel_tlist: n.list("exclRelTlist", target)?,
    })
}

fn row_mark(tree: &Tree) -> Result<RowMarkClause> {
    let n = node(tree, "ROWMARKCLAUSE")?;
    Ok(RowMarkClause {
        rti: n.int("rti")?,
        strength: n.pick(
            "strength",
            &[
                LockStrength::None,
                LockStrength::ForKeyShare,
                LockStrength::ForShare,
                LockStrength::ForNoKeyUpdate,
                LockStrength::ForUpdate,
            ],
        )?,
        wait_policy: n.pick(
            "waitPolicy",
            &[LockWaitPolicy::Block, LockWaitPolicy::Skip, LockWaitPolicy::Error],
        )?,
        pushed_down: n.bool("pushedDown")?,
    })
}

fn query(tree: &Tree) -> Result<Query> {
    let n = node(tree, "QUERY")?;
    let notify = match n.value("utilityStmt")? {
        Tree::Nothing => None,
        Tree::Node(n) if n.label == "NOTIFYSTMT" => Some(NotifyStmt {
            channel: n.string("conditionname")?,
            payload: n.opt_string("payload")?,
        }),
        _ => return Err(PgError::unsupported("a stored utility statement")),
    };
    Ok(Query {
        notify,
        command_type: command(n.int("commandType")?),
        query_source: n.pick(
            "querySource",
            &[
                QuerySource::Original,
                QuerySource::Parser,
                QuerySource::InsteadRule,
                QuerySource::QualInsteadRule,
                QuerySource::NonInsteadRule,
            ],
        )?,
        can_set_tag: n.bool("canSetTag")?,
        result_relation: n.int("resultRelation")?,
        has_aggs: n.bool("hasAggs")?,
        has_window_funcs: n.bool("hasWindowFuncs")?,
        has_target_srfs: n.bool("hasTargetSRFs")?,
        has_sub_links: n.bool("hasSubLinks")?,
        has_distinct_on: n.bool("hasDistinctOn")?,
        has_recursive: n.bool("hasRecursive")?,
        has_modifying_cte: n.bool("hasModifyingCTE")?,
        has_for_update: n.bool("hasForUpdate")?,
        has_row_security: n.bool("hasRowSecurity")?,
        is_return: n.bool("isReturn")?,
        cte_list: n.list("cteList", cte)?,
        rtable: n.list("rtable", rte)?,
        jointree: from_expr(n.value("jointree")?)?,
        target_list: n.list("targetList", target)?,
        override_: n
            .pick("override", &[Override::NotSet, Override::UserValue, Override::SystemValue])?,
        on_conflict: match n.value("onConflict")? {
            Tree::Nothing => None,
            tree => Some(Box::new(on_conflict(tree)?)),
        },
        merge_actions: n.list("mergeActionList", merge_action)?,
        returning_list: n.list("returningList", target)?,
        group_clause: n.list("groupClause", sort_group)?,
        group_distinct: n.bool("groupDistinct")?,
        grouping_sets: n.list("groupingSets", grouping_set)?,
        having_qual: n.opt_expr("havingQual")?,
        window_clause: n.list("windowClause", window)?,
        distinct_clause: n.list("distinctClause", sort_group)?,
        sort_clause: n.list("sortClause", sort_group)?,
        limit_offset: n.opt_expr("limitOffset")?,
        limit_count: n.opt_expr("limitCount")?,
        limit_option: n.pick("limitOption", &[LimitOption::Count, LimitOption::WithTies])?,
        row_marks: n.list("rowMarks", row_mark)?,
        set_operations: match n.value("setOperations")? {
            Tree::Nothing => None,
            tree => Some(Box::new(set_op(tree)?)),
        },
        constraint_deps: n.oids("constraintDeps")?,
        with_check_options: Vec::new(),
        source: StatementSource {
            location: n.int("stmt_location")?,
            len: n.int("stmt_len")?,
            identity: None,
        },
    })
}

/// A column by its syntactic reference: for a column of a join with an alias PostgreSQL stores both
/// the join's column (`varnosyn`) and the underlying one (`varno`).
fn variable(n: &NodeTree) -> Result<Var> {
    let (varno, varattno) = match n.int("varnosyn")? {
        written @ 1.. => (written, n.int("varattnosyn")?),
        _ => (n.int("varno")?, n.int("varattno")?),
    };
    Ok(Var {
        varno,
        varattno,
        vartype: n.oid("vartype")?,
        vartypmod: n.int("vartypmod")?,
        varcollid: n.oid("varcollid")?,
        varlevelsup: n.int("varlevelsup")?,
        location: n.location(),
    })
}
