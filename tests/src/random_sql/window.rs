//! Window functions whose results do not depend on the order of equal rows, or that have a total
//! order.

use super::generate::{Columns, Generator, KEYS, Ty, Ty::*};

/// More columns would make the text too long.
const ORDER_COLUMNS_MAX: usize = 9;

impl Generator {
    pub(super) fn window(
        &mut self,
        own: &Columns,
        outer: &Columns,
        scope: &Columns,
    ) -> (Ty, String) {
        let part = match self.chance(50) {
            true => format!("PARTITION BY {} ", self.expr(Int, own, 0)),
            false => String::new(),
        };
        let (ty, text) = match self.total_order(own) {
            Some(order) if self.chance(50) => {
                let (part, order) = self.row_order.get_or_insert((part, order)).clone();
                self.window_by_rows(&part, &order, scope, outer)
            }
            _ => self.window_by_peers(&part, own, scope, outer),
        };
        match ty == Int && self.chance(50) {
            true => (ty, format!("({text})::int")),
            false => (ty, text),
        }
    }

    /// Sort keys after which rows that are still equal are the same in all columns.
    pub(super) fn total_order(&mut self, own: &Columns) -> Option<String> {
        if own.is_empty() || own.len() > ORDER_COLUMNS_MAX {
            return None;
        }
        let mut keys: Vec<String> = own
            .iter()
            .map(|(name, ty)| match ty {
                Num | Float | Interval => format!("{name}, {name}::text"),
                _ => name.clone(),
            })
            .collect();
        let from = self.below(keys.len());
        keys.rotate_left(from);
        keys[0] = match keys[0].contains(", ") {
            true => keys[0].clone(),
            false => format!("{}{}", keys[0], self.direction()),
        };
        Some(keys.join(", "))
    }

    /// An offset of a frame, also from a sub-select or an outer column.
    fn frame_offset(&mut self, outer: &Columns) -> String {
        match self.below(6) {
            0 if self.sublinks > 0 => format!("(SELECT {})", self.below(3)),
            1 | 2 if !outer.is_empty() => {
                format!("abs(COALESCE({}, 1)) % 3", self.expr(Int, outer, 0))
            }
            _ => self.below(3).to_string(),
        }
    }

    fn frame(&mut self, unit: &str, start: &str, end: &str) -> String {
        let exclude = self.one(&[
            "",
            "",
            " EXCLUDE CURRENT ROW",
            " EXCLUDE GROUP",
            " EXCLUDE TIES",
            " EXCLUDE NO OTHERS",
        ]);
        let (from, to) = match self.below(8) {
            0 => ("UNBOUNDED PRECEDING".to_owned(), "CURRENT ROW".to_owned()),
            1 => ("CURRENT ROW".to_owned(), "UNBOUNDED FOLLOWING".to_owned()),
            2 => ("UNBOUNDED PRECEDING".to_owned(), "UNBOUNDED FOLLOWING".to_owned()),
            3 => (format!("{start} PRECEDING"), "CURRENT ROW".to_owned()),
            4 => (format!("{start} PRECEDING"), format!("{end} FOLLOWING")),
            5 => (format!("{start} FOLLOWING"), format!("{end} FOLLOWING")),
            6 => (format!("{start} PRECEDING"), format!("{end} PRECEDING")),
            _ => ("UNBOUNDED PRECEDING".to_owned(), format!("{end} FOLLOWING")),
        };
        format!(" {unit} BETWEEN {from} AND {to}{exclude}")
    }

    fn window_by_rows(
        &mut self,
        part: &str,
        order: &str,
        scope: &Columns,
        outer: &Columns,
    ) -> (Ty, String) {
        let ty = self.type_among(KEYS);
        let arg = self.expr(ty, scope, 1);
        let int = self.expr(Int, scope, 1);
        let other = self.expr(ty, scope, 0);
        let (ty, f) = match self.below(12) {
            0 => (Int, "row_number()".to_owned()),
            1 => (ty, format!("lag({arg})")),
            2 => (ty, format!("lead({arg}, abs({int}) % 3, {other})")),
            3 => (ty, format!("first_value({arg})")),
            4 => (ty, format!("last_value({arg})")),
            5 => (ty, format!("nth_value({arg}, 2)")),
            6 => (Int, format!("ntile({})", 1 + self.below(4))),
            7 => (Num, format!("sum({int}) FILTER (WHERE {})", self.expr(Bool, scope, 1))),
            8 => (Ints, format!("array_agg({int})")),
            9 => (Float, format!("{}()", self.one(&["cume_dist", "percent_rank"]))),
            10 => (Int, format!("count({arg})")),
            _ => (Int, format!("min({int})")),
        };
        let frame = match self.chance(60) {
            true => {
                let (start, end) = (self.frame_offset(outer), self.frame_offset(outer));
                let unit = self.one(&["ROWS", "ROWS", "GROUPS"]);
                self.frame(unit, &start, &end)
            }
            false => String::new(),
        };
        (ty, format!("{f} OVER ({part}ORDER BY {order}{frame})"))
    }

    fn window_by_peers(
        &mut self,
        part: &str,
        own: &Columns,
        scope: &Columns,
        outer: &Columns,
    ) -> (Ty, String) {
        let arg = self.expr(Int, scope, 1);
        // A constant would make all rows peers, and a RANGE frame needs exactly one key.
        let key = [Int, Int, Date, Ts, Num][self.below(5)];
        let by = match key {
            Int => format!("({}) + 0", self.expr(Int, scope, 1)),
            Num => format!("round({}, 2)", self.expr(Num, own, 1)),
            _ => self.expr(key, own, 1),
        };
        let (ty, f) = match self.below(9) {
            0 => (Int, "rank()".to_owned()),
            1 => (Int, "dense_rank()".to_owned()),
            2 => (Int, "count(*)".to_owned()),
            3 => (Int, format!("max({arg})")),
            4 => (Int, format!("count({arg}) FILTER (WHERE {})", self.expr(Bool, scope, 2))),
            5 => (Float, "percent_rank()".to_owned()),
            6 => (key, format!("first_value({by})")),
            7 => (Num, format!("sum({arg})")),
            _ => (Int, "ntile(1)".to_owned()),
        };
        let frame = match self.below(5) {
            0 | 1 => {
                let mut offset = || match key {
                    Date | Ts => self.constant_interval(),
                    _ => self.frame_offset(outer),
                };
                let (start, end) = (offset(), offset());
                self.frame("RANGE", &start, &end)
            }
            2 => {
                let (start, end) = (self.frame_offset(outer), self.frame_offset(outer));
                self.frame("GROUPS", &start, &end)
            }
            _ => String::new(),
        };
        let direction = self.direction();
        (ty, format!("{f} OVER ({part}ORDER BY {by}{direction}{frame})"))
    }

    fn constant_interval(&mut self) -> String {
        self.one(&["interval '2 days'", "interval '1 month'", "interval '9 hours'", "'1 day'"])
            .to_owned()
    }
}
