//! Writes `XMLTABLE`.

use super::Writer;
use crate::query::{TableFunc, TableFuncColumn};
use ids::Oid;

impl Writer {
    pub(super) fn table_func(&mut self, n: &TableFunc) {
        self.node("TABLEFUNC", |w| {
            w.list("ns_uris", &n.namespaces, |w, (_, uri)| w.put_expr(uri));
            w.list("ns_names", &n.namespaces, |w, (name, _)| match name {
                Some(name) => w.put_string(name),
                None => w.out.push_str("<>"),
            });
            w.expr("docexpr", &n.docexpr);
            w.expr("rowexpr", &n.rowexpr);
            w.list("colnames", &n.columns, |w, c| w.put_string(&c.name));
            let all = |f: fn(&TableFuncColumn) -> Oid| n.columns.iter().map(f).collect::<Vec<_>>();
            w.oids("coltypes", &all(|c| c.typeid));
            let typmods: Vec<i32> = n.columns.iter().map(|c| c.typmod).collect();
            w.numbers("coltypmods", 'i', &typmods);
            w.oids("colcollations", &all(|c| c.collation));
            w.list("colexprs", &n.columns, |w, c| w.put_opt_expr(c.path.as_ref()));
            w.list("coldefexprs", &n.columns, |w, c| w.put_opt_expr(c.default.as_ref()));
            w.name("notnulls");
            w.out.push_str("(b");
            for (i, _) in n.columns.iter().enumerate().filter(|(_, c)| c.not_null) {
                w.out.push(' ');
                w.put(i);
            }
            w.out.push(')');
            w.num("ordinalitycol", n.ordinality.map_or(-1, |i| i as i32));
            w.location(n.location);
        });
    }
}
