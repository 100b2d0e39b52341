//! Reads `XMLTABLE`.

use super::{expr, node};
use crate::nodetree::text::{Tree, malformed};
use crate::query::{TableFunc, TableFuncColumn};
use pgerror::Result;

pub(super) fn table_func(tree: &Tree) -> Result<TableFunc> {
    let n = node(tree, "TABLEFUNC")?;
    let names = n.list("ns_names", |t| match t {
        Tree::Nothing => Ok(None),
        Tree::Text(s) | Tree::Word(s) => Ok(Some(s.to_string())),
        // The default namespace.
        _ => Err(malformed("the name of a namespace is not a string")),
    })?;
    let (colnames, types) = (n.strings("colnames")?, n.oids("coltypes")?);
    let (typmods, collations) = (n.numbers("coltypmods")?, n.oids("colcollations")?);
    let (paths, defaults) = (n.opt_exprs("colexprs")?, n.opt_exprs("coldefexprs")?);
    let not_null = n.numbers::<usize>("notnulls")?;
    let count = colnames.len();
    let lengths = [types.len(), typmods.len(), collations.len(), paths.len(), defaults.len()];
    if lengths.iter().any(|l| *l != count) {
        return Err(malformed("the columns of a table function do not fit"));
    }
    let columns = colnames.into_iter().zip(paths).zip(defaults).enumerate();
    Ok(TableFunc {
        namespaces: names.into_iter().zip(n.exprs("ns_uris")?).collect(),
        docexpr: expr(n.value("docexpr")?)?,
        rowexpr: expr(n.value("rowexpr")?)?,
        columns: columns
            .map(|(i, ((name, path), default))| TableFuncColumn {
                name,
                typeid: types[i],
                typmod: typmods[i],
                collation: collations[i],
                path,
                default,
                not_null: not_null.contains(&i),
            })
            .collect(),
        ordinality: usize::try_from(n.int::<i32>("ordinalitycol")?).ok(),
        location: n.location(),
    })
}
