//! Expressions of each type.

use super::generate::{ALL, Columns, Generator, Ty, Ty::*};

impl Generator {
    /// An expression of the type over the columns.
    pub(super) fn expr(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let fitting: Vec<&String> = scope.iter().filter(|c| c.1 == ty).map(|c| &c.0).collect();
        if depth == 0 || self.chance(25) {
            if !fitting.is_empty() && self.chance(80) {
                return fitting[self.below(fitting.len())].clone();
            }
            return self.constant(ty);
        }
        let d = depth - 1;
        match self.below(10) {
            0 => {
                let (a, b, c) =
                    (self.expr(Bool, scope, d), self.expr(ty, scope, d), self.expr(ty, scope, d));
                return format!("CASE WHEN {a} THEN {b} ELSE {c} END");
            }
            1 => {
                let (a, b) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
                return match self.below(3) {
                    0 => format!("COALESCE({a}, {b})"),
                    1 => format!("NULLIF({a}, {b})"),
                    _ => format!("{}({a}, {b})", self.one(&["GREATEST", "LEAST"])),
                };
            }
            2 | 3 if depth >= 2 && self.sublinks > 0 => {
                return match ty == Ints && self.chance(50) {
                    true => self.array_of(scope),
                    false => self.scalar(ty, scope, depth),
                };
            }
            _ => {}
        }
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match ty {
            Int => match self.below(7) {
                0 => format!("({} {} {})", e(self, Int), self.one(&["+", "-"]), e(self, Int)),
                1 => format!("({} % 7)", e(self, Int)),
                2 => format!("length({})", e(self, Text)),
                3 => format!("abs({})", e(self, Int)),
                4 => format!("cardinality({})", e(self, Ints)),
                5 => format!("({})[{}]", e(self, Ints), 1 + self.below(3)),
                _ => format!("EXTRACT(day FROM {})::int", e(self, Date)),
            },
            Num => match self.below(6) {
                0 => format!("({} {} {})", e(self, Num), self.one(&["+", "-", "*"]), e(self, Int)),
                1 => format!("round({}, 1)", e(self, Num)),
                2 => format!("({})::numeric", e(self, Int)),
                3 => format!("({} / 4)", e(self, Num)),
                4 => format!(
                    "{}({})",
                    self.one(&["trunc", "floor", "ceil", "abs", "sign"]),
                    e(self, Num)
                ),
                _ => format!("EXTRACT(epoch FROM {})", e(self, Interval)),
            },
            Float => match self.below(3) {
                0 => format!("({} * 0.5::float8)", e(self, Float)),
                1 => format!("({})::float8", e(self, Int)),
                _ => format!("floor({})", e(self, Float)),
            },
            Text => match self.below(9) {
                0 => format!("({} || {})", e(self, Text), e(self, Text)),
                1 => format!(
                    "{}({})",
                    self.one(&["upper", "lower", "md5", "reverse", "initcap", "btrim"]),
                    e(self, Text)
                ),
                2 => format!("({})::text", e(self, Int)),
                3 => format!("substr({}, {})", e(self, Text), self.below(4)),
                4 => format!("replace({}, 'o', {})", e(self, Text), e(self, Text)),
                5 => format!("lpad({}, {}, '.')", e(self, Text), self.below(6)),
                6 => format!("split_part({}, 'e', 1)", e(self, Text)),
                7 => format!("to_char({}, 'YYYY-Mon-DD')", e(self, Date)),
                _ => format!("array_to_string({}, ',', '*')", e(self, Ints)),
            },
            Bool => self.condition(scope, d, depth),
            Date => match self.below(3) {
                0 => format!("({} + {} % 50)", e(self, Date), e(self, Int)),
                1 => format!("date_trunc('month', {})::date", e(self, Date)),
                _ => format!("({} + {})::date", e(self, Date), e(self, Interval)),
            },
            Interval => match self.below(4) {
                0 => format!("({} * 2)", e(self, Interval)),
                1 => format!("({} + {})", e(self, Interval), e(self, Interval)),
                2 => format!("make_interval(days => {} % 40)", e(self, Int)),
                _ => format!("justify_hours({})", e(self, Interval)),
            },
            Ints => match self.below(4) {
                0 => format!("array_append({}, {})", e(self, Ints), e(self, Int)),
                1 => format!("ARRAY[{}, {}]", e(self, Int), e(self, Int)),
                2 => format!("({})[1:2]", e(self, Ints)),
                _ => format!("array_remove({}, {})", e(self, Ints), e(self, Int)),
            },
        }
    }

    fn condition(&mut self, scope: &Columns, d: usize, depth: usize) -> String {
        let ty = ALL[self.below(ALL.len())];
        let op = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        let sub = depth >= 2 && self.sublinks > 0;
        match self.below(if sub { 12 } else { 9 }) {
            0 => format!("({} AND {})", self.expr(Bool, scope, d), self.expr(Bool, scope, d)),
            1 => format!("({} OR {})", self.expr(Bool, scope, d), self.expr(Bool, scope, d)),
            2 => format!("(NOT {})", self.expr(Bool, scope, d)),
            3 => {
                let not = self.one(&["", "NOT "]);
                format!("({} IS {not}NULL)", self.expr(ty, scope, d))
            }
            4 => {
                let not = self.one(&["", "NOT "]);
                let (a, b) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
                format!("({a} IS {not}DISTINCT FROM {b})")
            }
            5 => {
                let list: Vec<String> =
                    (0..1 + self.below(3)).map(|_| self.expr(Int, scope, 0)).collect();
                let not = self.one(&["", "NOT "]);
                format!("({} {not}IN ({}))", self.expr(Int, scope, d), list.join(", "))
            }
            6 => format!(
                "({} {} '%e_')",
                self.expr(Text, scope, d),
                self.one(&["LIKE", "NOT LIKE", "ILIKE"])
            ),
            7 => {
                let (a, b, c) =
                    (self.expr(Int, scope, d), self.expr(Int, scope, 0), self.expr(Int, scope, 0));
                format!("({a} BETWEEN {} {b} AND {c})", self.one(&["", "SYMMETRIC"]))
            }
            8 => format!("({} {op} {})", self.expr(ty, scope, d), self.expr(ty, scope, d)),
            _ => self.sub_condition(scope, depth),
        }
    }

    /// An expression over `scope` that has a column of `own` in it where it can: an aggregate of
    /// others' columns alone would belong to their query.
    pub(super) fn own_expr(
        &mut self,
        ty: Ty,
        own: &Columns,
        scope: &Columns,
        depth: usize,
    ) -> String {
        let text = self.expr(ty, scope, depth);
        if own.len() == scope.len() || own.iter().any(|c| text.contains(&c.0)) {
            return text;
        }
        match own.iter().find(|c| c.1 == ty) {
            Some((column, _)) => format!("COALESCE({column}, {text})"),
            None => self.expr(ty, own, depth),
        }
    }

    /// An expression whose equal values also look the same: which one of them comes out where
    /// several become one hangs on the plan. 1.5 is 1.50, -0 is 0, and 24 hours are a day.
    pub(super) fn plain(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let text = self.expr(ty, scope, depth);
        match ty {
            Num => format!("round({text}, 2)"),
            Float => format!("({text} + 0)"),
            Interval => format!("justify_interval({text})"),
            _ => text,
        }
    }

    pub(super) fn constant(&mut self, ty: Ty) -> String {
        if self.chance(10) {
            let name = match ty {
                Int => "int",
                Num => "numeric",
                Float => "float8",
                Text => "text",
                Bool => "boolean",
                Date => "date",
                Interval => "interval",
                Ints => "int[]",
            };
            return format!("NULL::{name}");
        }
        if self.prepared && self.chance(50) {
            match ty {
                Int => return self.one(&["$1", "$3"]).to_owned(),
                Text => return "$2".to_owned(),
                _ => {}
            }
        }
        match ty {
            Int => self.below(12).to_string(),
            Num => self.one(&["1.50", "0.0", "12.25", "-3.1"]).to_owned(),
            Float => self.one(&["0.25::float8", "-2::float8", "1.5::float8"]).to_owned(),
            Text => {
                self.one(&["'one'::text", "''::text", "'x y'::text", "'THREE'::text"]).to_owned()
            }
            Bool => self.one(&["true", "false"]).to_owned(),
            Date => self.one(&["date '2024-02-29'", "date '2023-12-31'"]).to_owned(),
            Interval => self
                .one(&["interval '1 day'", "interval '1 mon -2 hours'", "interval '36 hours'"])
                .to_owned(),
            Ints => self.one(&["ARRAY[1, 2, 3]", "'{}'::int[]", "'{NULL,4}'::int[]"]).to_owned(),
        }
    }
}
