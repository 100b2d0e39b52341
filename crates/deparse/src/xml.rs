//! Deparses SQL/XML expressions and `XMLTABLE`. Counterpart: ruleutils.c (`get_rule_expr` for
//! `XmlExpr`, `get_tablefunc`).

use crate::Deparser;
use analyze::stored::malformed;
use pgerror::Result;
use plan::expr::{Expr, XmlExpr, XmlOp};
use plan::query::TableFunc;
use types::Datum;

impl Deparser<'_> {
    pub(super) fn xml(&mut self, x: &XmlExpr, whole: &Expr) -> Result<()> {
        if x.op == XmlOp::IsDocument {
            self.open();
        }
        self.put(match x.op {
            XmlOp::Concat => "XMLCONCAT(",
            XmlOp::Element => "XMLELEMENT(",
            XmlOp::Forest => "XMLFOREST(",
            XmlOp::Parse => "XMLPARSE(",
            XmlOp::Pi => "XMLPI(",
            XmlOp::Root => "XMLROOT(",
            XmlOp::Serialize => "XMLSERIALIZE(",
            XmlOp::IsDocument => "",
        });
        if matches!(x.op, XmlOp::Parse | XmlOp::Serialize) {
            self.put(if x.content { "CONTENT " } else { "DOCUMENT " });
        }
        let mut comma = false;
        if let Some(name) = &x.name {
            self.put(&format!("NAME {}", self.quoting.identifier(&sql_name(name))));
            comma = true;
        }
        if !x.named_args.is_empty() {
            if x.op != XmlOp::Forest {
                self.put(if comma { ", XMLATTRIBUTES(" } else { "XMLATTRIBUTES(" });
            }
            for (i, (arg, name)) in x.named_args.iter().zip(&x.arg_names).enumerate() {
                if i > 0 {
                    self.put(", ");
                }
                self.top_level(arg, true)?;
                self.put(&format!(" AS {}", self.quoting.identifier(&sql_name(name))));
            }
            if x.op != XmlOp::Forest {
                self.put(")");
            }
            comma = true;
        }
        if comma && !x.args.is_empty() {
            self.put(", ");
        }
        match (x.op, &x.args[..]) {
            (_, []) => {}
            (XmlOp::Parse, [text, preserve]) => {
                self.top_level(text, true)?;
                let keep = constant(preserve).is_some_and(|v| v != 0);
                self.put(if keep { " PRESERVE WHITESPACE" } else { " STRIP WHITESPACE" });
            }
            (XmlOp::Root, [document, version, standalone]) => {
                self.top_level(document, true)?;
                self.put(", VERSION ");
                match version {
                    Expr::Const(c) if c.is_null() => self.put("NO VALUE"),
                    given => self.top_level(given, false)?,
                }
                self.put(match constant(standalone) {
                    Some(0) => ", STANDALONE YES",
                    Some(1) => ", STANDALONE NO",
                    Some(2) => ", STANDALONE NO VALUE",
                    _ => "",
                });
            }
            (XmlOp::IsDocument, [only]) => self.operand(only, false, whole)?,
            (XmlOp::Parse | XmlOp::Root | XmlOp::IsDocument, _) => return Err(malformed()),
            (_, args) => self.list(args, true)?,
        }
        if x.op == XmlOp::Serialize {
            let name = self.type_name(x.typeid, x.typmod)?;
            self.put(&format!(" AS {name}"));
        }
        if x.op == XmlOp::IsDocument {
            self.put(" IS DOCUMENT");
            self.close();
        } else {
            self.put(")");
        }
        Ok(())
    }

    pub(super) fn table_func(&mut self, t: &TableFunc) -> Result<()> {
        self.put("XMLTABLE(");
        if !t.namespaces.is_empty() {
            self.put("XMLNAMESPACES (");
            for (i, (name, uri)) in t.namespaces.iter().enumerate() {
                if i > 0 {
                    self.put(", ");
                }
                if name.is_none() {
                    self.put("DEFAULT ");
                }
                self.top_level(uri, true)?;
                if let Some(name) = name {
                    self.put(&format!(" AS {}", self.quoting.identifier(name)));
                }
            }
            self.put("), ");
        }
        self.put_enclosed("(", &t.rowexpr, ") PASSING (")?;
        self.put_enclosed("", &t.docexpr, ")")?;
        for (i, c) in t.columns.iter().enumerate() {
            self.put(if i == 0 { " COLUMNS " } else { ", " });
            self.put_name(&c.name);
            self.put(" ");
            if t.ordinality == Some(i) {
                self.put("FOR ORDINALITY");
                continue;
            }
            let name = self.type_name(c.typeid, c.typmod)?;
            self.put(&name);
            if let Some(default) = &c.default {
                self.put_enclosed(" DEFAULT (", default, ")")?;
            }
            if let Some(path) = &c.path {
                self.put_enclosed(" PATH (", path, ")")?;
            }
            if c.not_null {
                self.put(" NOT NULL");
            }
        }
        self.put(")");
        Ok(())
    }

    fn put_enclosed(&mut self, before: &str, e: &Expr, after: &str) -> Result<()> {
        self.put(before);
        self.top_level(e, true)?;
        self.put(after);
        Ok(())
    }
}

/// The value of a by-value constant; `None` for NULL and for other expressions.
fn constant(e: &Expr) -> Option<u64> {
    match e {
        Expr::Const(c) => match c.value {
            Datum::Word(word) => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// The SQL identifier of an XML name, not quoted; `_x0020_` is a space. Counterpart:
/// `map_xml_name_to_sql_identifier`.
fn sql_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("_x") {
        let code = rest.get(at + 2..at + 6).filter(|c| c.bytes().all(|b| b.is_ascii_hexdigit()));
        let read = code.filter(|_| rest[at + 6..].starts_with('_'));
        let read = read.and_then(|c| char::from_u32(u32::from_str_radix(c, 16).ok()?));
        let (upto, next) = if read.is_some() { (at, at + 7) } else { (at + 1, at + 1) };
        out.push_str(&rest[..upto]);
        out.extend(read);
        rest = &rest[next..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::sql_name;

    #[test]
    fn xml_names_are_mapped_to_identifiers() {
        for (xml, sql) in [
            ("plain", "plain"),
            ("_x003A_one:", ":one:"),
            ("a_x0020_b_x002E_", "a b."),
            ("_x00", "_x00"),
            ("_x0041", "_x0041"),
            ("_xzzzz_", "_xzzzz_"),
            ("__x0041_", "_A"),
        ] {
            assert_eq!(sql_name(xml), sql);
        }
    }
}
