//! Aggregates whose results do not depend on the order of rows.

use super::generate::{ALL, Columns, Generator, Ty, Ty::*, both};

impl Generator {
    /// An aggregate over the rows of `own`; its direct arguments consist of the grouping keys and
    /// of outer columns.
    pub(super) fn aggregate(
        &mut self,
        own: &Columns,
        outer: &Columns,
        keys: &Columns,
        depth: usize,
    ) -> (Ty, String) {
        let scope = both(own, outer);
        let filter = match self.chance(20) {
            true => format!(" FILTER (WHERE {})", self.own_expr(Bool, own, &scope, 2)),
            false => String::new(),
        };
        let distinct = self.one(&["", "", "DISTINCT "]);
        let (ty, text) = match self.below(16) {
            0 => (Int, "count(*)".to_owned()),
            1 => {
                let ty = self.type_among(ALL.len());
                (Int, format!("count({distinct}{})", self.own_expr(ty, own, &scope, depth)))
            }
            2 => (Num, format!("sum({distinct}{})", self.plain(Num, own, depth))),
            3 => {
                let f = self.one(&["avg", "avg", "variance", "stddev_pop"]);
                (Num, format!("{f}({distinct}{})", self.own_expr(Int, own, &scope, depth)))
            }
            4 => {
                let ty = [Int, Num, Text, Date, Interval, Float, Ts, Ints, Texts][self.below(9)];
                let f = self.one(&["min", "max"]);
                (ty, format!("{f}({})", self.plain(ty, own, depth)))
            }
            5 => {
                let e = self.expr(Text, own, depth);
                (Text, format!("string_agg({distinct}{e}, '-' ORDER BY {e})"))
            }
            6 => {
                let e = self.own_expr(Int, own, &scope, depth);
                (Ints, format!("array_agg({distinct}{e} ORDER BY {e} DESC)"))
            }
            7 => {
                let f = self.one(&["bool_and", "bool_or"]);
                (Bool, format!("{f}({})", self.own_expr(Bool, own, &scope, depth)))
            }
            8 => {
                let ty = self.json_type();
                let e = self.own_expr(ty, own, &scope, depth);
                (Json, format!("jsonb_agg({distinct}{e} ORDER BY {e})"))
            }
            9 => {
                let (k, v) = (self.own_expr(Text, own, &scope, depth), self.expr(Int, own, 1));
                let all = format!("COALESCE({k}, '-'), {v} ORDER BY COALESCE({k}, '-'), {v}");
                (Json, format!("jsonb_object_agg({all})"))
            }
            10 => match self.below(3) {
                0 => (Interval, format!("sum({})", self.expr(Interval, own, depth))),
                1 => {
                    // Ranks are fractions whose sum depends on the order of the rows.
                    let exact = format!("floor({} * 64) / 64", self.plain(Float, own, depth));
                    (Float, format!("sum({distinct}{exact})"))
                }
                _ => {
                    let f = self.one(&["bit_and", "bit_or", "bit_xor"]);
                    (Int, format!("{f}({})", self.own_expr(Int, own, &scope, depth)))
                }
            },
            11 => {
                let e = self.own_expr(Text, own, &scope, depth);
                (Texts, format!("array_agg({distinct}{e} ORDER BY {e})"))
            }
            _ => self.ordered_set(own, &both(keys, outer), depth.min(1)),
        };
        (ty, text + &filter)
    }

    /// An ordered-set or hypothetical-set aggregate; `around` contains the keys and the outer
    /// columns.
    fn ordered_set(&mut self, own: &Columns, around: &Columns, depth: usize) -> (Ty, String) {
        let direct = match self.chance(60) {
            true => {
                let keyed = std::mem::replace(&mut self.keyed, true);
                let direct = self.expr(Int, around, 1);
                self.keyed = keyed;
                direct
            }
            false => self.below(5).to_string(),
        };
        let part = format!("(abs({direct}) % 5 * 0.25)::float8");
        let order = self.direction();
        match self.below(7) {
            0 => {
                let by = self.plain(Float, own, depth);
                (Float, format!("percentile_cont({part}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
            1 => {
                let ty = [Int, Text, Date, Ts][self.below(4)];
                let by = self.plain(ty, own, depth);
                (ty, format!("percentile_disc({part}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
            2 => {
                let by = self.plain(Int, own, depth);
                let all = format!("percentile_disc(ARRAY[0.5, {part}])");
                (Ints, format!("{all} WITHIN GROUP (ORDER BY {by}{order})"))
            }
            3 => {
                let by = self.plain(Int, own, depth);
                (Int, format!("mode() WITHIN GROUP (ORDER BY {by})"))
            }
            4 => {
                let f = self.one(&["rank", "dense_rank"]);
                let (by, then) = (self.plain(Int, own, depth), self.plain(Text, own, depth));
                let q = self.constant(Text);
                (Int, format!("{f}({direct}, {q}) WITHIN GROUP (ORDER BY {by}{order}, {then})"))
            }
            _ => {
                let f = self.one(&["rank", "dense_rank", "percent_rank", "cume_dist"]);
                let ty = if f.ends_with("nk") && !f.starts_with('p') { Int } else { Float };
                let by = self.plain(Int, own, depth);
                (ty, format!("{f}({direct}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
        }
    }
}
