//! Renumbers the objects that initdb creates after importing the system collations. Their OIDs
//! depend on how many collations the machine has; the fact tables come from a machine with
//! `FACT_COLLATIONS` of them.

use ids::Oid;
use types::{Datum, DatumRef};

/// OID of the first system collation.
pub(super) const FIRST_COLLATION: Oid = Oid(12_341);
/// Number of system collations on the machine that the fact tables come from.
const FACT_COLLATIONS: u32 = 807;
/// First OID in the fact tables after the collations.
const FIRST_AFTER: Oid = Oid(FIRST_COLLATION.0 + FACT_COLLATIONS);

/// Fields of node trees that contain OIDs of functions, types, relations and other objects.
const OID_FIELDS: [&str; 32] = [
    "relid",
    "resorigtbl",
    "vartype",
    "varcollid",
    "consttype",
    "constcollid",
    "paramtype",
    "paramcollid",
    "aggfnoid",
    "aggtype",
    "aggcollid",
    "aggtranstype",
    "winfnoid",
    "wintype",
    "wincollid",
    "inputcollid",
    "funcid",
    "funcresulttype",
    "funccollid",
    "opno",
    "opfuncid",
    "opresulttype",
    "opcollid",
    "resulttype",
    "resultcollid",
    "coltype",
    "casetype",
    "typeId",
    "array_typeid",
    "element_typeid",
    "row_typeid",
    "collOid",
];

mod ty {
    pub(super) const NAME: u32 = 19;
    pub(super) const REGPROC: u32 = 24;
    pub(super) const OID: u32 = 26;
    pub(super) const OIDVECTOR: u32 = 30;
    pub(super) const PG_NODE_TREE: u32 = 194;
    pub(super) const OID_ARRAY: u32 = 1028;
}

/// The offset, modulo 2^32, added to OIDs after the collations.
#[derive(Clone, Copy)]
pub(super) struct OidShift(u32);

impl OidShift {
    /// The offset for a machine with this many collations.
    pub(super) fn new(collations: usize) -> OidShift {
        OidShift((collations as u32).wrapping_sub(FACT_COLLATIONS))
    }

    pub(super) fn oid(self, oid: Oid) -> Oid {
        let moves = oid >= FIRST_AFTER && oid < Oid::FIRST_NORMAL;
        if moves { Oid(oid.0.wrapping_add(self.0)) } else { oid }
    }

    /// Renumbers the OIDs of catalog rows and the OIDs that they refer to.
    pub(super) fn rows(self, rows: &mut [Vec<Datum>], types: &[Oid]) {
        if self.0 != 0 {
            rows.iter_mut().for_each(|row| self.row(row, types));
        }
    }

    /// The text of the values of a slot of `pg_statistic` with renumbered OIDs, which may be the
    /// type of the values and the values themselves; `None` for other types.
    pub(super) fn statistics(self, ty: Oid, text: &str) -> Option<String> {
        if ty != ids::builtin::ty::ANYARRAY || self.0 == 0 {
            return None;
        }
        let (element, rest) = text.split_once(' ')?;
        let element: u32 = element.parse().ok()?;
        let (base, values) = rest.split_once(' ')?;
        let values = match element {
            ty::OID | ty::REGPROC | ty::OIDVECTOR | ty::OID_ARRAY => self.numbers(values),
            ty::NAME => self.toast_names(values),
            _ => values.to_owned(),
        };
        Some(format!("{} {base} {values}", self.oid(Oid(element))))
    }

    /// The text with all numbers in it renumbered.
    fn numbers(self, text: &str) -> String {
        let mut moved = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            moved.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..end].parse() {
                Ok(number) => moved.push_str(&self.oid(Oid(number)).to_string()),
                Err(_) => moved.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        }
        moved.push_str(rest);
        moved
    }

    /// An array of names with the OIDs in the names of TOAST tables and indexes renumbered.
    fn toast_names(self, names: &str) -> String {
        let edit = |name: &str| match name.contains("pg_toast_") {
            true => self.numbers(name),
            false => name.to_owned(),
        };
        names.split(',').map(edit).collect::<Vec<_>>().join(",")
    }

    fn row(self, row: &mut [Datum], types: &[Oid]) {
        for (value, ty) in row.iter_mut().zip(types) {
            let moved = match (ty.0, value.as_ref()) {
                (_, DatumRef::Null) => None,
                (ty::OID | ty::REGPROC, word) => Some(Datum::oid(self.oid(word.as_oid()))),
                (ty::OIDVECTOR | ty::OID_ARRAY, DatumRef::Bytes(array)) => {
                    Some(Datum::bytes(self.array(array)))
                }
                (ty::PG_NODE_TREE, DatumRef::Bytes(tree)) => {
                    Some(Datum::bytes(self.tree(&String::from_utf8_lossy(tree)).as_bytes()))
                }
                (ty::NAME, DatumRef::Bytes(name)) => self.toast_name(name),
                _ => None,
            };
            if let Some(moved) = moved {
                *value = moved;
            }
        }
    }

    /// An OID array: a 20-byte payload header, then elements of 4 bytes.
    fn array(self, payload: &[u8]) -> Vec<u8> {
        const HEADER_BYTES: usize = 20;
        let mut moved = payload.to_vec();
        for element in moved.get_mut(HEADER_BYTES..).unwrap_or_default().chunks_exact_mut(4) {
            let oid = Oid(u32::from_le_bytes([element[0], element[1], element[2], element[3]]));
            element.copy_from_slice(&self.oid(oid).0.to_le_bytes());
        }
        moved
    }

    /// The names of TOAST tables and their indexes contain the OID of the owning table.
    fn toast_name(self, name: &[u8]) -> Option<Datum> {
        let text = std::str::from_utf8(name).ok()?.trim_end_matches('\0');
        let rest = text.strip_prefix("pg_toast_")?;
        let (table, suffix) = rest.split_at(rest.find('_').unwrap_or(rest.len()));
        let table = self.oid(Oid(table.parse().ok()?));
        Some(Datum::name(&format!("pg_toast_{table}{suffix}")))
    }

    /// A `pg_node_tree`: renumbers the values of OID fields and the elements of OID lists such as
    /// `(o 1 2 3)`.
    fn tree(self, tree: &str) -> String {
        let mut moved = String::with_capacity(tree.len());
        let (mut is_oid, mut in_list) = (false, false);
        for (i, token) in tree.split(' ').enumerate() {
            if i > 0 {
                moved.push(' ');
            }
            let digits = token.trim_end_matches([')', '}']);
            match digits.parse::<u32>() {
                Ok(number) if is_oid || in_list => {
                    moved.push_str(&self.oid(Oid(number)).to_string());
                    moved.push_str(&token[digits.len()..]);
                }
                _ => moved.push_str(token),
            }
            is_oid = token.strip_prefix(':').is_some_and(|field| OID_FIELDS.contains(&field));
            in_list = token.ends_with("(o") || in_list && !token.contains(')');
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_after_the_collations_are_renumbered() {
        let shift = OidShift::new(FACT_COLLATIONS as usize + 2);
        assert_eq!(shift.oid(Oid(12_340)), Oid(12_340));
        assert_eq!(shift.oid(Oid(13_148)), Oid(13_150));
        assert_eq!(shift.oid(Oid::FIRST_NORMAL), Oid::FIRST_NORMAL);
        assert_eq!(OidShift::new(0).oid(Oid(13_148)), FIRST_COLLATION);
        let tree = "{VAR :vartype 13207 :location 13207} (o 23 13207) {X :funcid 13207})";
        let moved = "{VAR :vartype 13209 :location 13207} (o 23 13209) {X :funcid 13209})";
        assert_eq!(shift.tree(tree), moved);
        let slot = |text| shift.statistics(ids::builtin::ty::ANYARRAY, text).unwrap();
        assert_eq!(slot("26 26 {1,13207}"), "26 26 {1,13209}");
        assert_eq!(slot("30 30 {\"1 13207\",13207}"), "30 30 {\"1 13209\",13209}");
        assert_eq!(slot("13207 23 {13207}"), "13209 23 {13207}");
        assert_eq!(slot("19 19 {a13207,pg_toast_13207}"), "19 19 {a13207,pg_toast_13209}");
        assert_eq!(shift.statistics(Oid(ty::NAME), "13207"), None);
        let types = [ty::NAME, ty::OID, ty::OIDVECTOR].map(Oid);
        let vector = |oid| crate::rows::array::oidvector(&[Oid(25), Oid(oid)]);
        let mut row =
            [Datum::name("pg_toast_13220_index"), Datum::oid(Oid(13_148)), vector(13_148)];
        shift.row(&mut row, &types);
        assert!(
            row == [Datum::name("pg_toast_13222_index"), Datum::oid(Oid(13_150)), vector(13_150)]
        );
    }
}
