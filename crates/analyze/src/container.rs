//! Array constructors, subscripts and field selections. Counterpart: parser/parse_expr.c
//! (`transformArrayExpr`, `transformIndirection`), parser/parse_node.c
//! (`transformContainerSubscripts`).

use crate::coerce::{Context, int4_const};
use crate::expr::op_name;
use crate::state::Analyzer;
use crate::ty;
use catalog::rows::PgType;
use ids::Oid;
use parse::ast::{self, Node};
use pgerror::{Result, pg_err};
use plan::expr::{ArrayExpr, CoercionForm, Expr, Location, SubscriptingRef};

impl Analyzer<'_> {
    /// `ARRAY[…]`. A cast around it gives array and element type.
    pub(crate) fn array_expr(
        &mut self,
        n: &ast::AArrayExpr,
        array_type: Oid,
        element_type: Oid,
        typmod: i32,
    ) -> Result<Expr> {
        let mut multidims = false;
        let mut elements = Vec::with_capacity(n.elements.len());
        for element in &n.elements {
            let e = match element {
                Node::AArrayExpr(inner) => {
                    multidims = true;
                    self.array_expr(inner, array_type, element_type, typmod)?
                }
                other => {
                    let e = self.expr(other)?;
                    // An element of an array type adds a dimension too.
                    let ty = e.type_oid();
                    if ty != ty::INT2VECTOR
                        && ty != ty::OIDVECTOR
                        && self.element_type(ty)?.is_valid()
                    {
                        multidims = true;
                    }
                    e
                }
            };
            elements.push(e);
        }
        let hard = array_type.is_valid();
        let (array_typeid, element_typeid, target) = if hard {
            let target = if multidims { array_type } else { element_type };
            (array_type, element_type, target)
        } else {
            if elements.is_empty() {
                let e = pg_err!(INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                    .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
                return Err(self.at(e, n.location));
            }
            let common = self.select_common_type(&elements, Some("ARRAY"))?;
            if multidims {
                let element = self.element_type(common)?;
                if !element.is_valid() {
                    let name = self.format_type(common);
                    let e = pg_err!(
                        UNDEFINED_OBJECT,
                        "could not find element type for data type {name}"
                    );
                    return Err(self.at(e, n.location));
                }
                (common, element, common)
            } else {
                let array = self.array_type(common)?;
                if !array.is_valid() {
                    let name = self.format_type(common);
                    let e =
                        pg_err!(UNDEFINED_OBJECT, "could not find array type for data type {name}");
                    return Err(self.at(e, n.location));
                }
                (array, common, common)
            }
        };
        let mut coerced = Vec::with_capacity(elements.len());
        for e in elements {
            if !hard {
                coerced.push(self.coerce_to_common(e, target, "ARRAY")?);
                continue;
            }
            let (from, location) = (e.type_oid(), e.location());
            let result = self.coerce_to_target(
                e,
                target,
                typmod,
                Context::Explicit,
                CoercionForm::ExplicitCast,
                Location::UNKNOWN,
            )?;
            match result {
                Some(e) => coerced.push(e),
                None => {
                    let (from, to) = (self.format_type(from), self.format_type(target));
                    let e = pg_err!(CANNOT_COERCE, "cannot cast type {from} to {to}");
                    return Err(self.at(e, location));
                }
            }
        }
        Ok(Expr::Array(Box::new(ArrayExpr {
            array_typeid,
            array_collid: Oid::INVALID,
            element_typeid,
            elements: coerced,
            multidims,
            location: Location(n.location),
        })))
    }

    /// Applies subscripts and field selections to an expression. Counterpart:
    /// `transformIndirection`.
    pub(crate) fn indirection(&mut self, n: &ast::AIndirection) -> Result<Expr> {
        let mut result = self.expr(&n.arg)?;
        let mut subscripts: Vec<&ast::AIndices> = Vec::new();
        let location = result.location().0;
        for part in &n.indirection {
            match part {
                Node::AIndices(indices) => subscripts.push(indices),
                Node::String(field) => {
                    if !subscripts.is_empty() {
                        result = self.subscripts(result, &subscripts)?;
                        subscripts.clear();
                    }
                    let from = result.type_oid();
                    let row_of = self.whole_row_name(&result);
                    let names = op_name(field);
                    let found = self.func_or_column(&names, vec![result], None, false, location)?;
                    result = match found {
                        Some(e) => e,
                        None => match row_of {
                            Some(table) => {
                                let e = pg_err!(
                                    UNDEFINED_COLUMN,
                                    "column {table}.{field} does not exist"
                                );
                                return Err(self.at(e, location));
                            }
                            None => return Err(self.unknown_field(from, field, location)?),
                        },
                    };
                }
                _ => {
                    let e = pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "row expansion via \"*\" is not supported here"
                    );
                    return Err(self.at(e, location));
                }
            }
        }
        if !subscripts.is_empty() {
            result = self.subscripts(result, &subscripts)?;
        }
        Ok(result)
    }

    /// The name of the FROM item, if the expression is a whole-row reference.
    fn whole_row_name(&mut self, e: &Expr) -> Option<String> {
        match e {
            Expr::Var(v) if v.varattno == 0 => {
                Some(self.level_up(v.varlevelsup).rte(v.varno).eref.aliasname.clone())
            }
            _ => None,
        }
    }

    fn unknown_field(&mut self, from: Oid, field: &str, location: i32) -> Result<pgerror::PgError> {
        let name = self.format_type(from);
        let e = if self.composite_relation(from)?.is_valid() {
            pg_err!(UNDEFINED_COLUMN, "column \"{field}\" not found in data type {name}")
        } else if from == ty::RECORD {
            pg_err!(UNDEFINED_COLUMN, "could not identify column \"{field}\" in record data type")
        } else {
            pg_err!(
                WRONG_OBJECT_TYPE,
                "column notation .{field} applied to type {name}, which is not a composite type"
            )
        };
        Ok(self.at(e, location))
    }

    /// Subscripts that fetch an element or a slice.
    fn subscripts(&mut self, container: Expr, indices: &[&ast::AIndices]) -> Result<Expr> {
        self.subscripts_on(container, indices)
    }

    /// Subscripts for a fetch or an assignment. A domain is subscripted as its base type.
    /// Counterpart: `transformContainerSubscripts`, `array_subscript_transform`,
    /// `jsonb_subscript_transform`.
    pub fn subscripts_on(&mut self, container: Expr, indices: &[&ast::AIndices]) -> Result<Expr> {
        let declared = container.type_oid();
        let (base, typmod) = self.base_type_and_typmod(declared, container.typmod())?;
        let base = match base {
            ty::INT2VECTOR => ty::INT2_ARRAY,
            ty::OIDVECTOR => ty::OID_ARRAY,
            other => other,
        };
        let row = self.type_row(base)?;
        let location = container.location();
        if !row.typsubscript.is_valid() {
            let name = self.format_type(declared);
            let e = pg_err!(
                DATATYPE_MISMATCH,
                "cannot subscript type {name} because it does not support subscripting"
            );
            return Err(self.at(e, location));
        }
        if self.is_hstore(&row)? {
            return self.hstore_subscript(container, base, indices);
        }
        let slice = indices.iter().any(|i| i.is_slice);
        let mut upper = Vec::with_capacity(indices.len());
        let mut lower = Vec::new();
        for index in indices {
            if base == ty::JSONB {
                if index.is_slice {
                    let e = pg_err!(DATATYPE_MISMATCH, "jsonb subscript does not support slices");
                    let bound = index.uidx.as_ref().or(index.lidx.as_ref());
                    return Err(match bound {
                        Some(node) => self.at(e, crate::sort::raw_location(node)),
                        None => e,
                    });
                }
                upper.push(match &index.uidx {
                    Some(node) => Some(self.jsonb_subscript(node)?),
                    None => None,
                });
                continue;
            }
            if slice {
                lower.push(match (&index.lidx, index.is_slice) {
                    (Some(node), _) => Some(self.array_subscript(node)?),
                    // An omitted lower bound; a single subscript among slices begins at 1.
                    (None, true) => None,
                    (None, false) => Some(int4_const(1)),
                });
            }
            upper.push(match &index.uidx {
                Some(node) => Some(self.array_subscript(node)?),
                None => None,
            });
        }
        if upper.len() > 6 && base != ty::JSONB {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions ({}) exceeds the maximum allowed (6)",
                upper.len()
            ));
        }
        let element = if base == ty::JSONB { base } else { row.typelem };
        let refrestype = if slice { base } else { element };
        Ok(Expr::SubscriptingRef(Box::new(SubscriptingRef {
            refcontainertype: base,
            refelemtype: row.typelem,
            refrestype,
            reftypmod: typmod,
            refcollid: Oid::INVALID,
            refupperindexpr: upper,
            reflowerindexpr: lower,
            refexpr: container,
            refassgnexpr: None,
        })))
    }

    /// Whether the subscripts of a type are those of the extension hstore.
    fn is_hstore(&mut self, row: &PgType) -> Result<bool> {
        if row.typsubscript < Oid::FIRST_NORMAL {
            return Ok(false);
        }
        let handler = self.cat.proc_row(row.typsubscript)?;
        Ok(handler.is_some_and(|f| f.prosrc.as_str() == contrib::hstore::SUBSCRIPT_HANDLER))
    }

    /// One subscript of type text, with a result of type text. Counterpart:
    /// `hstore_subscript_transform`.
    fn hstore_subscript(
        &mut self,
        container: Expr,
        base: Oid,
        indices: &[&ast::AIndices],
    ) -> Result<Expr> {
        let only = match indices {
            [only] if !only.is_slice => only.uidx.as_ref(),
            _ => None,
        };
        let Some(node) = only else {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "hstore allows only one subscript"));
        };
        let key = self.expr(node)?;
        let coerced = self.coerce_to_target(
            key,
            ty::TEXT,
            -1,
            Context::Assignment,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        let Some(key) = coerced else {
            let e = pg_err!(DATATYPE_MISMATCH, "hstore subscript must have type text");
            return Err(self.at(e, crate::sort::raw_location(node)));
        };
        Ok(Expr::SubscriptingRef(Box::new(SubscriptingRef {
            refcontainertype: base,
            refelemtype: Oid::INVALID,
            refrestype: ty::TEXT,
            reftypmod: -1,
            refcollid: Oid::INVALID,
            refupperindexpr: vec![Some(key)],
            reflowerindexpr: Vec::new(),
            refexpr: container,
            refassgnexpr: None,
        })))
    }

    fn array_subscript(&mut self, node: &Node) -> Result<Expr> {
        let e = self.expr(node)?;
        let location = e.location();
        let coerced = self.coerce_to_target(
            e,
            ty::INT4,
            -1,
            Context::Assignment,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        coerced.ok_or_else(|| {
            let e = pg_err!(DATATYPE_MISMATCH, "array subscript must have type integer");
            self.at(e, location)
        })
    }

    /// A subscript of jsonb: coerced to integer or text, whichever is possible.
    fn jsonb_subscript(&mut self, node: &Node) -> Result<Expr> {
        let e = self.expr(node)?;
        let (from, location) = (e.type_oid(), e.location());
        let target = if from == ty::UNKNOWN {
            ty::TEXT
        } else {
            let mut fits = Vec::new();
            for target in [ty::INT4, ty::TEXT] {
                if self.can_coerce(&[from], &[target], Context::Implicit)? {
                    fits.push(target);
                }
            }
            match fits[..] {
                [one] => one,
                _ => {
                    let name = self.format_type(from);
                    let e = pg_err!(DATATYPE_MISMATCH, "subscript type {name} is not supported")
                        .hint(match fits.is_empty() {
                            true => "jsonb subscript must be coercible to either integer or text.",
                            false => {
                                "jsonb subscript must be coercible to only one type, integer or \
                                 text."
                            }
                        });
                    return Err(self.at(e, location));
                }
            }
        };
        self.coerce_type(
            e,
            target,
            -1,
            Context::Implicit,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )
    }
}
