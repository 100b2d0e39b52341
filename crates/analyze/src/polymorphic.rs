//! Polymorphic types: checks that the actual argument types are consistent, and resolves the
//! declared argument and result types.
//!
//! There are two families. Types of the `anyelement` family must match exactly; types of the
//! `anycompatible` family are coerced to a common type. Counterpart: parser/parse_coerce.c, second
//! half.

use crate::coerce::Context;
use crate::state::Analyzer;
use crate::ty;
use ids::Oid;
use ids::code::TypType;
use pgerror::{PgError, Result, pg_err};
use plan::expr::Location;

/// The actual types of the polymorphic types in one call; invalid if undetermined.
#[derive(Default, Debug)]
struct Generic {
    element: Oid,
    array: Oid,
    range: Oid,
    multirange: Oid,
    nonarray: bool,
    enumeration: bool,
    compatible: Oid,
    compatible_range: Oid,
    compatible_multirange: Oid,
    /// The types of the arguments of the anycompatible family, of the elements of containers.
    compatible_inputs: Vec<(Oid, Location)>,
    family1: bool,
    family2: bool,
}

macro_rules! bad {
    ($($arg:tt)+) => { return Ok(Some(pg_err!(DATATYPE_MISMATCH, $($arg)+))) };
}

impl Analyzer<'_> {
    /// Counterpart: `check_generic_type_consistency`.
    pub fn generic_types_consistent(&mut self, actual: &[Oid], declared: &[Oid]) -> Result<bool> {
        // Arguments of unknown type do not determine an enum.
        let consistent = |g: &Generic| !g.enumeration || g.element.is_valid();
        Ok(self.match_generics(actual, declared)?.is_ok_and(|g| consistent(&g)))
    }

    fn range_subtype(&mut self, range: Oid) -> Result<Oid> {
        Ok(self.cat.range_of(range)?.map_or(Oid::INVALID, |r| r.rngsubtype))
    }

    fn match_generics(
        &mut self,
        actual: &[Oid],
        declared: &[Oid],
    ) -> Result<std::result::Result<Generic, PgError>> {
        let mut g = Generic::default();
        for (&actual, &declared) in actual.iter().zip(declared) {
            g.family1 |= ty::is_polymorphic_family1(declared);
            g.family2 |= ty::is_polymorphic_family2(declared);
            if !ty::is_polymorphic(declared) {
                continue;
            }
            g.nonarray |= matches!(declared, ty::ANYNONARRAY);
            g.enumeration |= declared == ty::ANYENUM;
            if actual == ty::UNKNOWN {
                continue;
            }
            if let Some(mismatch) = self.match_argument(&mut g, actual, declared)? {
                return Ok(Err(mismatch));
            }
        }
        if let Some(mismatch) = self.match_containers(&mut g)? {
            return Ok(Err(mismatch));
        }
        if !g.compatible_inputs.is_empty()
            && let Some(mismatch) = self.match_compatible(&mut g)?
        {
            return Ok(Err(mismatch));
        }
        Ok(Ok(g))
    }

    /// Records the type of one argument, which is known; returns an error if it contradicts an
    /// earlier one.
    fn match_argument(
        &mut self,
        g: &mut Generic,
        actual: Oid,
        declared: Oid,
    ) -> Result<Option<PgError>> {
        macro_rules! same {
            ($slot:expr, $name:literal, $actual:expr) => {
                if $slot.is_valid() && $slot != $actual {
                    let (a, b) = (self.format_type($slot), self.format_type($actual));
                    return Ok(Some(
                        pg_err!(
                            DATATYPE_MISMATCH,
                            "arguments declared \"{}\" are not all alike",
                            $name
                        )
                        .detail(format!("{a} versus {b}")),
                    ));
                }
                $slot = $actual;
            };
        }
        match declared {
            ty::ANYELEMENT | ty::ANYNONARRAY | ty::ANYENUM => {
                same!(g.element, "anyelement", actual);
            }
            ty::ANYARRAY => {
                let actual = self.base_type(actual)?;
                same!(g.array, "anyarray", actual);
            }
            ty::ANYRANGE => {
                let actual = self.base_type(actual)?;
                same!(g.range, "anyrange", actual);
            }
            ty::ANYMULTIRANGE => {
                let actual = self.base_type(actual)?;
                same!(g.multirange, "anymultirange", actual);
            }
            ty::ANYCOMPATIBLE => g.compatible_inputs.push((actual, Location::UNKNOWN)),
            ty::ANYCOMPATIBLENONARRAY => {
                if self.base_element_type(actual)?.is_valid() {
                    let name = self.format_type(actual);
                    bad!("type matched to anycompatiblenonarray is an array type: {name}");
                }
                g.compatible_inputs.push((actual, Location::UNKNOWN));
            }
            ty::ANYCOMPATIBLEARRAY => {
                let base = self.base_type(actual)?;
                let element = self.element_type(base)?;
                if !element.is_valid() {
                    let name = self.format_type(base);
                    bad!("argument declared anycompatiblearray is not an array but type {name}");
                }
                g.compatible_inputs.push((element, Location::UNKNOWN));
            }
            ty::ANYCOMPATIBLERANGE => {
                let base = self.base_type(actual)?;
                same!(g.compatible_range, "anycompatiblerange", base);
                let subtype = self.range_subtype(base)?;
                if !subtype.is_valid() {
                    let name = self.format_type(base);
                    bad!(
                        "argument declared anycompatiblerange is not a range type but type \
                         {name}"
                    );
                }
                g.compatible_inputs.push((subtype, Location::UNKNOWN));
            }
            _ => {
                let base = self.base_type(actual)?;
                same!(g.compatible_multirange, "anycompatiblemultirange", base);
                let range = self.cat.range_of_multirange(base)?.unwrap_or_default();
                let subtype = self.range_subtype(range)?;
                if !subtype.is_valid() {
                    let name = self.format_type(base);
                    bad!(
                        "argument declared anycompatiblemultirange is not a multirange type \
                         but type {name}"
                    );
                }
                if g.compatible_range.is_valid() && g.compatible_range != range {
                    bad!(
                        "argument declared anycompatiblemultirange is not consistent with \
                         argument declared anycompatiblerange"
                    );
                }
                g.compatible_range = range;
                g.compatible_inputs.push((subtype, Location::UNKNOWN));
            }
        }
        Ok(None)
    }

    /// Finds the element types of the array, range and multirange; an error if they contradict each
    /// other.
    fn match_containers(&mut self, g: &mut Generic) -> Result<Option<PgError>> {
        if g.multirange.is_valid() {
            let Some(range) = self.cat.range_of_multirange(g.multirange)? else {
                let name = self.format_type(g.multirange);
                bad!("argument declared anymultirange is not a multirange type but type {name}");
            };
            if g.range.is_valid() && g.range != range {
                let (a, b) = (self.format_type(g.multirange), self.format_type(g.range));
                return Ok(Some(
                    pg_err!(
                        DATATYPE_MISMATCH,
                        "argument declared anymultirange is not consistent with argument declared \
                     anyrange"
                    )
                    .detail(format!("{a} versus {b}")),
                ));
            }
            g.range = range;
        }
        for (container, name, is_array) in
            [(g.array, "anyarray", true), (g.range, "anyrange", false)]
        {
            if !container.is_valid() || container == ty::ANYARRAY {
                continue;
            }
            let element = match is_array {
                true => self.element_type(container)?,
                false => self.range_subtype(container)?,
            };
            let what = if is_array { "an array" } else { "a range type" };
            if !element.is_valid() {
                let actual = self.format_type(container);
                bad!("argument declared {name} is not {what} but type {actual}");
            }
            if g.element.is_valid() && g.element != element {
                let (a, b) = (self.format_type(container), self.format_type(g.element));
                return Ok(Some(pg_err!(
                    DATATYPE_MISMATCH,
                    "argument declared {name} is not consistent with argument declared anyelement"
                )
                .detail(format!("{a} versus {b}"))));
            }
            g.element = element;
        }
        if g.nonarray && g.element.is_valid() && self.base_element_type(g.element)?.is_valid() {
            let name = self.format_type(g.element);
            bad!("type matched to anynonarray is an array type: {name}");
        }
        if g.enumeration
            && g.element.is_valid()
            && self.type_row(g.element)?.typtype != TypType::Enum
        {
            let name = self.format_type(g.element);
            bad!("type matched to anyenum is not an enum type: {name}");
        }
        Ok(None)
    }

    /// Finds the common type of the arguments of the anycompatible family.
    fn match_compatible(&mut self, g: &mut Generic) -> Result<Option<PgError>> {
        g.compatible = self.select_common_type_of(&g.compatible_inputs, None)?;
        let all: Vec<Oid> = g.compatible_inputs.iter().map(|c| c.0).collect();
        let target = vec![g.compatible; all.len()];
        if !g.compatible.is_valid() || !self.can_coerce(&all, &target, Context::Implicit)? {
            bad!("arguments of anycompatible family cannot be cast to a common type");
        }
        if g.compatible_range.is_valid() && self.range_subtype(g.compatible_range)? != g.compatible
        {
            let name = self.format_type(g.compatible_range);
            let element = self.format_type(g.compatible);
            bad!("anycompatiblerange type {name} does not match anycompatible type {element}");
        }
        Ok(None)
    }

    /// Replaces the pseudo-types among the declared argument types by actual ones and returns the
    /// actual result type. Counterpart: `enforce_generic_type_consistency`.
    pub fn enforce_generics(
        &mut self,
        actual: &[Oid],
        declared: &mut [Oid],
        result: Oid,
        allow_poly: bool,
    ) -> Result<Oid> {
        if !declared.iter().any(|&d| ty::is_polymorphic(d)) {
            return Ok(result);
        }
        let mut g = self.match_generics(actual, declared)??;
        let family1 = declared.iter().filter(|d| ty::is_polymorphic_family1(**d)).count();
        let wants_element = result != ty::ANYARRAY && ty::is_polymorphic_family1(result);
        if g.array == ty::ANYARRAY && !allow_poly && (family1 != 1 || wants_element) {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot determine element type of \"anyarray\" argument"
            ));
        }
        if g.family1 && !g.element.is_valid() && g.array != ty::ANYARRAY {
            if allow_poly {
                return Ok(result);
            }
            // All arguments are unknown literals.
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "could not determine polymorphic type because input has type unknown"
            ));
        }
        if g.family2 && !g.compatible.is_valid() {
            // If all arguments are unknown literals, the common type is text.
            g.compatible = ty::TEXT;
        }
        // An unknown range is reported before an unknown multirange, as in PostgreSQL.
        if result == ty::ANYCOMPATIBLERANGE || declared.contains(&ty::ANYCOMPATIBLERANGE) {
            self.resolve_generic(&g, ty::ANYCOMPATIBLERANGE)?;
        }
        for (declared, &actual) in declared.iter_mut().zip(actual) {
            *declared = match *declared {
                // Arguments of pg_statistic's arrays keep their pseudo-type.
                ty::ANYARRAY if actual == ty::ANYARRAY => ty::ANYARRAY,
                poly if ty::is_polymorphic(poly) => self.resolve_generic(&g, poly)?,
                other => other,
            };
        }
        if ty::is_polymorphic(result) { self.resolve_generic(&g, result) } else { Ok(result) }
    }

    fn resolve_generic(&mut self, g: &Generic, poly: Oid) -> Result<Oid> {
        let element = if ty::is_polymorphic_family1(poly) { g.element } else { g.compatible };
        let found = match poly {
            ty::ANYARRAY if g.array.is_valid() => g.array,
            ty::ANYARRAY | ty::ANYCOMPATIBLEARRAY => {
                let array = self.array_type(element)?;
                if !array.is_valid() {
                    let name = self.format_type(element);
                    return Err(pg_err!(
                        UNDEFINED_OBJECT,
                        "could not find array type for data type {name}"
                    ));
                }
                array
            }
            ty::ANYRANGE => g.range,
            ty::ANYMULTIRANGE if g.multirange.is_valid() => g.multirange,
            ty::ANYMULTIRANGE => {
                self.cat.range_of(g.range)?.map_or(Oid::INVALID, |r| r.rngmultitypid)
            }
            ty::ANYCOMPATIBLERANGE => g.compatible_range,
            ty::ANYCOMPATIBLEMULTIRANGE if g.compatible_multirange.is_valid() => {
                g.compatible_multirange
            }
            ty::ANYCOMPATIBLEMULTIRANGE => {
                self.cat.range_of(g.compatible_range)?.map_or(Oid::INVALID, |r| r.rngmultitypid)
            }
            _ => element,
        };
        if !found.is_valid() {
            let name = self.format_type(poly);
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "could not determine polymorphic type {name} because input has type unknown"
            ));
        }
        Ok(found)
    }
}
