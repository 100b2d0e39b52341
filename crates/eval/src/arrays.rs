//! Array values: constructors, subscripts, element-wise coercion; subscripts of jsonb.
//! Counterpart: execExprInterp.c (ExecEvalArrayExpr, ExecEvalArrayCoerce), arraysubs.c,
//! jsonbsubs.c.

use crate::host::Host;
use crate::program::{Elem, EvalState, HstoreSubscript, JsonbSubscript, Node, SubscriptUse};
use crate::row::{RowInput, Val, eval};
use contrib::hstore;
use pgerror::{PgError, Result, bail, pg_err};
use smallvec::SmallVec;
use types::array::{self, ArrayRef, MAX_DIMS};
use types::json::{jsonb_element, jsonb_with_element};
use types::{Datum, DatumRef};

pub(crate) fn construct<'a>(
    elements: &'a [Node],
    elem: Elem,
    multidims: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let mut values = Vec::with_capacity(elements.len());
    for e in elements {
        values.push(eval(e, st, host, input)?.into_owned());
    }
    if !multidims {
        return array::build_1d(&elem.info, &values).map(Val::Own);
    }
    // Sub-arrays of equal shape become one array with one more dimension. A NULL or empty sub-array
    // is an error unless all of them are: the result is then an empty array.
    let mismatch = || {
        pg_err!(
            ARRAY_SUBSCRIPT_ERROR,
            "multidimensional arrays must have array expressions with matching dimensions"
        )
    };
    let mut shape: Option<(Vec<i32>, Vec<i32>)> = None;
    let mut have_empty = false;
    let mut items = Vec::new();
    for v in &values {
        if v.is_null() {
            have_empty = true;
            continue;
        }
        let sub = ArrayRef::new(v.as_ref())?;
        if sub.elem_type() != elem.ty {
            return Err(pg_err!(DATATYPE_MISMATCH, "cannot merge incompatible arrays"));
        }
        if sub.ndim() == 0 {
            have_empty = true;
            continue;
        }
        let here = (sub.dims(), sub.lower_bounds());
        match &shape {
            None if here.0.len() + 1 > MAX_DIMS => bail!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of array dimensions ({}) exceeds the maximum allowed ({MAX_DIMS})",
                here.0.len() + 1
            ),
            None => shape = Some(here),
            Some(s) if *s != here => return Err(mismatch()),
            Some(_) => {}
        }
        items.extend(sub.iter(&elem.info));
    }
    let Some((mut dims, mut lower)) = shape else {
        return Ok(Val::Own(array::empty(elem.ty)));
    };
    if have_empty {
        return Err(mismatch());
    }
    dims.insert(0, values.len() as i32);
    lower.insert(0, 1);
    array::build(&elem.info, &dims, &lower, items.into_iter()).map(Val::Own)
}

/// Evaluates the upper or the lower subscripts; an omitted one stays `None`. The result is `None`
/// if a subscript is NULL.
fn subscripts<'a>(
    exprs: &'a [Option<Node>],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Option<SmallVec<[Option<i32>; 2]>>> {
    let mut out = SmallVec::new();
    for e in exprs {
        match e {
            None => out.push(None),
            Some(e) => {
                let v = eval(e, st, host, input)?;
                if v.is_null() {
                    return Ok(None);
                }
                out.push(Some(v.as_ref().as_i32()));
            }
        }
    }
    Ok(Some(out))
}

pub(crate) struct SubscriptParts<'a> {
    pub container: &'a Node,
    pub upper: &'a [Option<Node>],
    pub lower: &'a [Option<Node>],
    pub elem: Elem,
    /// `typlen` of the container: positive for fixed-length arrays.
    pub array_len: i16,
    pub usage: &'a SubscriptUse,
}

impl<'a> SubscriptParts<'a> {
    pub(crate) fn eval(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &RowInput<'a>,
    ) -> Result<Val<'a>> {
        if let (Node::Slot(slot), SubscriptUse::Fetch) = (self.container, self.usage)
            && self.array_len <= 0
            && let Some(variables) = input.variables(*slot)
        {
            if variables.header(slot.column).is_null() {
                return Ok(Val::NULL);
            }
            let Some(at) = subscripts(self.upper, st, host, input)? else { return Ok(Val::NULL) };
            let at: SmallVec<[i32; 2]> = at.into_iter().map(Option::unwrap_or_default).collect();
            return Ok(Val::Ref(variables.element(slot.column, &self.elem.info, &at)?));
        }
        let array = eval(self.container, st, host, input)?;
        let assigning =
            matches!(self.usage, SubscriptUse::Assign(_) | SubscriptUse::AssignSlice(_));
        if array.is_null() && !assigning {
            return Ok(Val::NULL);
        }
        let upper = subscripts(self.upper, st, host, input)?;
        let lower = match upper {
            Some(_) => subscripts(self.lower, st, host, input)?,
            None => None,
        };
        let (Some(upper), Some(lower)) = (upper, lower) else {
            if assigning {
                bail!(NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null");
            }
            return Ok(Val::NULL);
        };
        let fixed = self.array_len > 0;
        let slice_of_fixed =
            || pg_err!(FEATURE_NOT_SUPPORTED, "slices of fixed-length arrays not implemented");
        match self.usage {
            SubscriptUse::Fetch => {
                let at: SmallVec<[i32; 2]> =
                    upper.into_iter().map(|u| u.unwrap_or_default()).collect();
                Ok(match array {
                    Val::Ref(array) => Val::Ref(self.fetch(array, &at)?),
                    array => Val::Own(self.fetch(array.as_ref(), &at)?.to_owned()),
                })
            }
            SubscriptUse::Slice if fixed => Err(slice_of_fixed()),
            SubscriptUse::Slice => {
                array::get_slice(array.as_ref(), &self.elem.info, &lower, &upper).map(Val::Own)
            }
            SubscriptUse::Assign(value) => {
                let at: SmallVec<[i32; 2]> =
                    upper.into_iter().map(|u| u.unwrap_or_default()).collect();
                let old = match is_nested(value) {
                    true if !array.is_null() => self.fetch(array.as_ref(), &at)?.to_owned(),
                    _ => Datum::Null,
                };
                let value = with_placeholder(old, value, st, host, input)?;
                if fixed {
                    return self.assign_fixed(array, &at, value.as_ref());
                }
                array::set_element(array.as_ref(), &self.elem.info, &at, value.as_ref())
                    .map(Val::Own)
            }
            SubscriptUse::AssignSlice(value) => {
                let old = match is_nested(value) {
                    true if !array.is_null() && !fixed => {
                        array::get_slice(array.as_ref(), &self.elem.info, &lower, &upper)?
                    }
                    _ => Datum::Null,
                };
                let value = with_placeholder(old, value, st, host, input)?;
                if fixed {
                    return Err(slice_of_fixed());
                }
                if value.is_null() {
                    // Assigning NULL to a slice changes nothing; a NULL array becomes an empty one.
                    return Ok(match array.is_null() {
                        true => Val::Own(array::empty(self.elem.ty)),
                        false => array,
                    });
                }
                array::set_slice(array.as_ref(), &self.elem.info, &lower, &upper, value.as_ref())
                    .map(Val::Own)
            }
        }
    }

    fn fetch<'v>(&self, array: DatumRef<'v>, at: &[i32]) -> Result<DatumRef<'v>> {
        if self.array_len <= 0 {
            return array::get_element(array, &self.elem.info, at);
        }
        let items = self.fixed_items(array);
        Ok(match *at {
            [i] if i >= 0 => items.get(i as usize).copied().unwrap_or_default(),
            _ => DatumRef::Null,
        })
    }

    /// The elements of a fixed-length array, counted from 0.
    fn fixed_items<'v>(&self, array: DatumRef<'v>) -> Vec<DatumRef<'v>> {
        let width = self.elem.info.len.max(1) as usize;
        array
            .as_bytes()
            .chunks_exact(width)
            .map(|c| array::read_fixed(&self.elem.info, c))
            .collect()
    }

    fn assign_fixed(&self, array: Val<'a>, at: &[i32], value: DatumRef<'_>) -> Result<Val<'a>> {
        // A NULL on either side leaves the array as it is.
        if array.is_null() || value.is_null() {
            return Ok(array);
        }
        let &[i] = at else {
            bail!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts");
        };
        let width = self.elem.info.len.max(1) as usize;
        let mut bytes = array.as_ref().as_bytes().to_vec();
        let offset = usize::try_from(i).ok().and_then(|i| i.checked_mul(width));
        let offset = match offset {
            Some(offset) if offset + width <= bytes.len() => offset,
            _ => bail!(ARRAY_SUBSCRIPT_ERROR, "array subscript out of range"),
        };
        match value {
            DatumRef::Word(w) => {
                bytes[offset..offset + width].copy_from_slice(&w.to_le_bytes()[..width]);
            }
            DatumRef::Bytes(b) if b.len() == width => {
                bytes[offset..offset + width].copy_from_slice(b)
            }
            _ => return Err(PgError::internal("array element has the wrong length")),
        }
        Ok(Val::Own(Datum::bytes(bytes)))
    }
}

/// True if the new value refers to the old one (assignment to a part of it). Counterpart:
/// `isAssignmentIndirectionExpr`.
fn is_nested(node: &Node) -> bool {
    match node {
        Node::Domain { arg, .. } => is_nested(arg),
        Node::FieldStore { arg, .. } => matches!(**arg, Node::Placeholder),
        Node::Subscript { container, .. } => matches!(**container, Node::Placeholder),
        _ => false,
    }
}

/// Evaluates with `value` as the innermost placeholder.
pub(crate) fn with_placeholder<'a>(
    value: Datum,
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Datum> {
    st.placeholders.push(value);
    let out = eval(node, st, host, input).map(Val::into_owned);
    st.placeholders.pop();
    out
}

pub(crate) fn coerce<'a>(
    arg: &'a Node,
    elem_expr: &'a Node,
    from: Elem,
    to: Elem,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let v = eval(arg, st, host, input)?;
    if v.is_null() {
        return Ok(Val::NULL);
    }
    let old = ArrayRef::new(v.as_ref())?;
    if matches!(elem_expr, Node::Placeholder) {
        // The element types are binary-coercible: only the element type in the header changes.
        let mut bytes = old.payload().to_vec();
        bytes[8..12].copy_from_slice(&to.ty.0.to_le_bytes());
        return Ok(Val::Own(Datum::bytes(bytes)));
    }
    if old.count() == 0 {
        return Ok(Val::Own(array::empty(to.ty)));
    }
    let mut values = types::memory::with_capacity(old.count())?;
    let mut ticker = types::fn_context::InterruptTicker::default();
    for item in old.iter(&from.info) {
        ticker.tick(host)?;
        values.push(with_placeholder(item.to_owned(), elem_expr, st, host, input)?);
    }
    let refs = values.iter().map(Datum::as_ref);
    array::build(&to.info, &old.dims(), &old.lower_bounds(), refs).map(Val::Own)
}

/// Builds a one-dimensional array of these elements.
pub fn array_of(elem: &types::TypeInfo, values: &[Datum]) -> Result<Datum> {
    array::build_1d(elem, values)
}

/// Builds an array with one more dimension than these arrays, which become its slices.
pub fn array_of_arrays(elem: types::TypeInfo, values: &[Datum]) -> Result<Datum> {
    let mut all = array::Accumulator::new(elem);
    values.iter().try_for_each(|v| all.push_array(v.as_ref()))?;
    all.finish()
}

/// Reads or assigns the part of a jsonb that subscripts name. Counterpart: jsonbsubs.c.
pub(crate) fn jsonb_subscript<'a>(
    subscript: &'a JsonbSubscript,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let container = eval(&subscript.container, st, host, input)?;
    if container.is_null() && subscript.assigned.is_none() {
        return Ok(Val::NULL);
    }
    let mut path = Vec::with_capacity(subscript.path.len());
    for step in &subscript.path {
        let value = eval(&step.value, st, host, input)?;
        if value.is_null() && subscript.assigned.is_some() {
            return Err(pg_err!(
                NULL_VALUE_NOT_ALLOWED,
                "jsonb subscript in assignment must not be null"
            ));
        }
        path.push(match value.as_ref() {
            DatumRef::Null => return Ok(Val::NULL),
            index if step.is_index => Datum::text(&index.as_i32().to_string()),
            key => key.to_owned(),
        });
    }
    let steps: Vec<&[u8]> = path.iter().map(|step| step.as_ref().as_bytes()).collect();
    let jsonb = container.as_ref();
    let Some(assigned) = &subscript.assigned else {
        return jsonb_element(host, jsonb, &steps).map(Val::Own);
    };
    let value = eval(assigned, st, host, input)?;
    let begins_with_index = subscript.path.first().is_some_and(|step| step.is_index);
    jsonb_with_element(host, jsonb, &steps, begins_with_index, value.as_ref()).map(Val::Own)
}

/// Reads or assigns the value of a key of an hstore. Counterpart: hstore_subs.c.
pub(crate) fn hstore_subscript<'a>(
    subscript: &'a HstoreSubscript,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let container = eval(&subscript.container, st, host, input)?;
    let Some(assigned) = &subscript.assigned else {
        if container.is_null() {
            return Ok(Val::NULL);
        }
        let key = eval(&subscript.key, st, host, input)?;
        return Ok(Val::Own(hstore::element(container.as_ref(), key.as_ref())));
    };
    let key = eval(&subscript.key, st, host, input)?;
    let value = eval(assigned, st, host, input)?;
    hstore::with_element(container.as_ref(), key.as_ref(), value.as_ref()).map(Val::Own)
}
