//! Expressions of each type except conditions.

use super::generate::{ALL, CALL, CALL_OF_QUERY, Columns, Generator, KEYS, Ty, Ty::*};

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
            0 => return self.case(ty, scope, d),
            1 => {
                let (a, b) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
                return match self.below(3) {
                    0 => format!("COALESCE({a}, {b})"),
                    1 => format!("NULLIF({a}, {b})"),
                    _ => format!("{}({a}, {b})", self.one(&["GREATEST", "LEAST"])),
                };
            }
            2 | 3 if depth >= 2 && self.sublinks > 0 && self.affords(2.0) => {
                return match matches!(ty, Ints | Texts) && self.chance(50) {
                    true => self.array_of(ty, scope),
                    false => self.scalar(ty, scope, depth),
                };
            }
            _ => {}
        }
        match ty {
            Int => self.int(scope, d),
            Num => self.num(scope, d),
            Float => self.float(scope, d),
            Text => self.text(scope, d),
            Bool => self.condition(scope, d, depth),
            Date | Ts => self.time(ty, scope, d),
            Interval => self.interval(scope, d),
            Ints | Texts => self.array(ty, scope, d),
            Json => self.json(scope, d),
        }
    }

    fn case(&mut self, ty: Ty, scope: &Columns, d: usize) -> String {
        let (b, c) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
        if self.chance(70) {
            let a = self.expr(Bool, scope, d);
            let otherwise = match self.chance(80) {
                true => format!(" ELSE {c}"),
                false => String::new(),
            };
            return format!("CASE WHEN {a} THEN {b}{otherwise} END");
        }
        let key = self.type_among(KEYS);
        let (value, when) = (self.expr(key, scope, d), self.expr(key, scope, d));
        let other = self.expr(key, scope, 0);
        format!("CASE {value} WHEN {when} THEN {b} WHEN {other} THEN NULL ELSE {c} END")
    }

    fn int(&mut self, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(17) {
            16 => self.newer_int(scope, d),
            0 | 1 => format!("({} {} {})", e(self, Int), self.one(&["+", "-"]), e(self, Int)),
            2 => format!("({} % 7)", e(self, Int)),
            3 => format!("length({})", e(self, Text)),
            4 => format!("abs({})", e(self, Int)),
            5 => format!("cardinality({})", e(self, Ints)),
            6 => format!("({})[{}]", e(self, Ints), 1 + self.below(3)),
            7 => format!("EXTRACT(day FROM {})::int", e(self, Date)),
            8 => format!("EXTRACT(hour FROM {})::int", e(self, Ts)),
            9 => format!("array_position({}, {})", e(self, Ints), e(self, Int)),
            10 => format!("num_nulls({}, {})", e(self, Text), e(self, Date)),
            11 => format!("strpos({}, {})", e(self, Text), e(self, Text)),
            12 => self.function_of(Int, scope, d),
            13 => format!("({} - {})", e(self, Date), e(self, Date)),
            14 => format!("({} ->> 'n')::int", self.object(scope, d)),
            _ => format!("({}::bigint + {})::int", e(self, Int), e(self, Int)),
        }
    }

    /// A call of one of the SQL functions.
    fn function_of(&mut self, ty: Ty, scope: &Columns, d: usize) -> String {
        let p = self.expr(Int, scope, d);
        let q = self.expr(Text, scope, d.min(1));
        let costly = self.calls > 0 && self.affords(CALL_OF_QUERY);
        let kind = self.below(6);
        match (ty, if self.affords(CALL) { kind } else { 4 }) {
            (Int, 0 | 1) if costly => {
                self.calls -= 1;
                format!("count_of({p})")
            }
            (Int, 2) => format!("({}).k", self.row_of(&p, &q)),
            (Int, 3) => format!("made_of({p})"),
            (Int, _) => format!("next_of({p})"),
            (_, 0 | 1) if costly && !self.changes => {
                self.calls -= 1;
                format!("largest_of({p}, {q})")
            }
            (_, 2 | 3) => format!("({}).v", self.row_of(&p, &q)),
            _ if !self.affords(CALL) => format!("concat({q}, next_of({p}))"),
            _ => format!("joined_of({q}, {p})"),
        }
    }

    fn row_of(&mut self, p: &str, q: &str) -> String {
        format!("{}({p}, {q})", self.one(&["row_of", "pair_of"]))
    }

    fn num(&mut self, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(9) {
            0 => format!("({} {} {})", e(self, Num), self.one(&["+", "-", "*"]), e(self, Int)),
            1 => format!("round({}, 1)", e(self, Num)),
            2 => format!("({})::numeric", e(self, Int)),
            3 => format!("({} / 4)", e(self, Num)),
            4 => format!(
                "{}({})",
                self.one(&["trunc", "floor", "ceil", "abs", "sign"]),
                e(self, Num)
            ),
            5 => format!("({})::numeric(60, {})", e(self, Num), self.below(3)),
            6 => format!("(({})::numeric(60, 1))::numeric", e(self, Num)),
            7 => format!("mod({}, 7)", e(self, Num)),
            _ => format!("EXTRACT(epoch FROM {})", e(self, Interval)),
        }
    }

    fn float(&mut self, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(4) {
            0 => format!("({} * 0.5::float8)", e(self, Float)),
            1 => format!("({})::float8", e(self, Int)),
            2 => format!("abs({})", e(self, Float)),
            _ => format!("floor({})", e(self, Float)),
        }
    }

    fn text(&mut self, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(24) {
            23 => self.newer_text(scope, d),
            0 | 1 => format!("({} || {})", e(self, Text), e(self, Text)),
            2 => format!(
                "{}({})",
                self.one(&["upper", "lower", "md5", "reverse", "initcap", "btrim"]),
                e(self, Text)
            ),
            3 => {
                let ty = ALL[self.below(ALL.len())];
                format!("({})::text", e(self, ty))
            }
            4 => format!("substr({}, {})", e(self, Text), self.below(4)),
            5 => format!("replace({}, 'o', {})", e(self, Text), e(self, Text)),
            6 => format!("lpad({}, {}, '.')", e(self, Text), self.below(6)),
            7 => format!("split_part({}, 'e', 1)", e(self, Text)),
            8 => format!("to_char({}, 'YYYY-Mon-DD')", e(self, Date)),
            9 => format!("array_to_string({}, ',', '*')", e(self, Ints)),
            10 => format!("({})::varchar({})::text", e(self, Text), 1 + self.below(4)),
            11 => format!("({})::char({})::text", e(self, Text), 1 + self.below(5)),
            12 => format!("(({})::varchar(3) || {}::char(4))", e(self, Text), e(self, Text)),
            13 => format!("concat({}, {}, {})", e(self, Text), e(self, Int), e(self, Bool)),
            14 => format!("format('%s:%L', {}, {})", e(self, Text), e(self, Int)),
            15 => format!("{}({}, {})", self.one(&["left", "right"]), e(self, Text), e(self, Int)),
            16 => format!("regexp_replace({}, '[aeiou]', '_', 'g')", e(self, Text)),
            17 => self.function_of(Text, scope, d),
            18 => {
                let row = self.whole_row(scope);
                match self.chance(50) {
                    true => format!("({row})::text"),
                    false => format!("row_to_json({row})::text"),
                }
            }
            19 => {
                let (a, b) = (self.type_among(ALL.len()), self.type_among(ALL.len()));
                let (a, b) = (e(self, a), e(self, b));
                match self.below(3) {
                    0 => format!("ROW({a}, {b})::text"),
                    1 => format!("json_build_object('a', {a}, 'b', {b})::text"),
                    _ => format!("row_to_json(ROW({a}, {b}))::text"),
                }
            }
            20 => format!("({} ->> {})", e(self, Json), self.one(&["'n'", "0", "'s'"])),
            21 => format!("({})[{}]", e(self, Texts), 1 + self.below(2)),
            _ => format!("jsonb_typeof({})", e(self, Json)),
        }
    }

    /// A table or sub-select as a row value; a row of columns if no whole table is in scope.
    fn whole_row(&mut self, scope: &Columns) -> String {
        let tables: Vec<&str> = scope
            .iter()
            .filter_map(|c| c.0.split_once('.'))
            .map(|(table, _)| table)
            .filter(|table| table.chars().skip(1).all(|c| c.is_ascii_digit()))
            .collect();
        if self.keyed || tables.is_empty() {
            let (a, b) = (self.expr(Int, scope, 0), self.expr(Text, scope, 0));
            return format!("ROW({a}, {b})");
        }
        tables[self.below(tables.len())].to_owned()
    }

    /// A condition on a row: a NULL test or a comparison with another row.
    pub(super) fn row_condition(&mut self, scope: &Columns) -> String {
        let row = self.whole_row(scope);
        match self.below(4) {
            0 => format!("({row} IS NULL)"),
            1 => format!("({row} IS NOT NULL)"),
            2 => format!("({row} IS NOT DISTINCT FROM {row})"),
            _ => format!("({row} IS DISTINCT FROM NULL)"),
        }
    }

    fn time(&mut self, ty: Ty, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match (ty, self.below(7)) {
            (Date, 0 | 1) => format!("({} + {} % 50)", e(self, Date), e(self, Int)),
            (Date, 2) => format!("date_trunc('month', {})::date", e(self, Date)),
            (Date, 3 | 4) => format!("({} + {})::date", e(self, Date), e(self, Interval)),
            (Date, _) => format!("({})::date", e(self, Ts)),
            (_, 0) => format!("({} + {})", e(self, Ts), e(self, Interval)),
            (_, 1) => format!("({} - {})", e(self, Date), e(self, Interval)),
            (_, 2) => format!("date_trunc('{}', {})", self.one(&["day", "hour"]), e(self, Ts)),
            (_, 3) => format!("({})::timestamp", e(self, Date)),
            (_, 4) => format!("({})::timestamp(0)", e(self, Ts)),
            (_, 5) => {
                format!("date_bin('2 hours', {}, timestamp '2024-01-01')", e(self, Ts))
            }
            _ => format!("({} + time '10:30')", e(self, Date)),
        }
    }

    fn interval(&mut self, scope: &Columns, d: usize) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(8) {
            0 => format!("({} * 2)", e(self, Interval)),
            1 => format!("({} + {})", e(self, Interval), e(self, Interval)),
            2 => format!("make_interval(days => {} % 40)", e(self, Int)),
            3 => format!("({} - {})", e(self, Ts), e(self, Ts)),
            4 => format!("age({}, {})", e(self, Ts), e(self, Ts)),
            5 => format!("({})::interval({})", e(self, Interval), self.below(3)),
            6 => format!("({} % 100 * interval '1 hour')", e(self, Int)),
            _ => format!("justify_hours({})", e(self, Interval)),
        }
    }

    fn array(&mut self, ty: Ty, scope: &Columns, d: usize) -> String {
        let of = if ty == Ints { Int } else { Text };
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(8) {
            0 => format!("array_append({}, {})", e(self, ty), e(self, of)),
            1 => format!("ARRAY[{}, {}]", e(self, of), e(self, of)),
            2 => format!("({})[1:2]", e(self, ty)),
            3 => format!("({} || {})", e(self, ty), e(self, ty)),
            4 => format!("array_replace({}, {}, {})", e(self, ty), e(self, of), e(self, of)),
            5 if ty == Texts => {
                let f = self.one(&["string_to_array", "regexp_split_to_array"]);
                format!("{f}({}, 'e')", e(self, Text))
            }
            6 if ty == Texts => format!("({})::text[]", e(self, Ints)),
            _ => format!("array_remove({}, {})", e(self, ty), e(self, of)),
        }
    }

    /// A `jsonb` object whose `n` is an integer or NULL.
    fn object(&mut self, scope: &Columns, d: usize) -> String {
        let (n, ty) = (self.expr(Int, scope, d), self.json_type());
        let s = self.expr(ty, scope, d);
        match self.below(3) {
            0 => format!("to_jsonb(ROW({n}, {s})) || jsonb_build_object('n', {n})"),
            1 => format!("jsonb_strip_nulls(jsonb_build_object('n', {n}, 's', {s}))"),
            _ => format!("jsonb_build_object('s', {s}, 'n', {n})"),
        }
    }

    /// Types whose equal values have equal `jsonb` forms.
    pub(super) fn json_type(&mut self) -> Ty {
        [Int, Text, Bool, Date, Ts, Ints, Texts, Json][self.below(8)]
    }

    fn json(&mut self, scope: &Columns, d: usize) -> String {
        match self.below(7) {
            6 => self.newer_json(scope, d),
            0 => {
                let (a, b) = (self.json_type(), self.json_type());
                let (a, b) = (self.expr(a, scope, d), self.expr(b, scope, d));
                format!("jsonb_build_array({a}, {b})")
            }
            1 => {
                let ty = self.json_type();
                format!("to_jsonb({})", self.expr(ty, scope, d))
            }
            2 => format!("({} -> {})", self.expr(Json, scope, d), self.one(&["'n'", "'s'", "1"])),
            3 => format!("({} || {})", self.expr(Json, scope, d), self.expr(Json, scope, d)),
            4 => {
                let path = self.one(&["'{s,0}'", "'{n}'", "'{t,k}'"]);
                format!("({} #> {path})", self.expr(Json, scope, d))
            }
            _ => format!("({})", self.object(scope, d)),
        }
    }

    /// An expression over `scope` that contains a column of `own` if there is one, because an
    /// aggregate of outer columns only would belong to the outer query.
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

    /// An expression whose equal values have equal text forms. Otherwise the plan would determine
    /// which of several equal values is returned: 1.5 equals 1.50, -0 equals 0, and 24 hours equal
    /// a day.
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
            return format!("NULL::{}", ty.name());
        }
        if self.prepared && self.chance(50) {
            match ty {
                Int => return self.one(&["$1", "$3"]).to_owned(),
                Text => return "$2".to_owned(),
                _ => {}
            }
        }
        let of: &[&str] = match ty {
            Int => return self.below(12).to_string(),
            Num => &["1.50", "0.0", "12.25", "-3.1"],
            Float => &["0.25::float8", "-2::float8", "1.5::float8"],
            Text => &["'one'::text", "''::text", "'x y'::text", "'THREE'::text"],
            Bool => &["true", "false"],
            Date => &["date '2024-02-29'", "date '2023-12-31'"],
            Ts => &["timestamp '2024-03-01 12:00'", "timestamp '2024-02-28 17:00:00.5'"],
            Interval => &["interval '1 day'", "interval '1 mon -2 hours'", "interval '36 hours'"],
            Ints => &["ARRAY[1, 2, 3]", "'{}'::int[]", "'{NULL,4}'::int[]"],
            Texts => &["ARRAY['one', 'x y']", "'{}'::text[]", "'{NULL,two}'::text[]"],
            Json => &[
                "'{\"n\": 3, \"s\": \"one\"}'::jsonb",
                "'[1, null, \"x\"]'::jsonb",
                "'null'::jsonb",
            ],
        };
        self.one(of).to_owned()
    }
}
