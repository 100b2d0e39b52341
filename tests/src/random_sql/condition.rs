//! Conditions without sub-selects.

use super::generate::{ALL, Columns, Generator, Ty, Ty::*};

impl Generator {
    pub(super) fn condition(&mut self, scope: &Columns, d: usize, depth: usize) -> String {
        let ty = ALL[self.below(ALL.len())];
        let op = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        let sub = depth >= 2 && self.sublinks > 0;
        match self.below(if sub { 15 } else { 11 }) {
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
            8 | 9 => format!("({} {op} {})", self.expr(ty, scope, d), self.expr(ty, scope, d)),
            10 => self.rarer_condition(scope, d, op),
            _ => self.sub_condition(scope, depth),
        }
    }

    fn rarer_condition(&mut self, scope: &Columns, d: usize, op: &str) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match self.below(13) {
            11 | 12 => self.newer_condition(scope, d),
            0 => {
                let (a, b) = (self.type_among(7), self.type_among(7));
                let (x, y) = (e(self, a), e(self, b));
                format!("(ROW({x}, {y}) {op} ROW({}, {}))", e(self, a), e(self, b))
            }
            1 => {
                let how = self.one(&["ANY", "ALL"]);
                format!("({} {op} {how} ({}))", e(self, Int), e(self, Ints))
            }
            2 => {
                let how = self.one(&["ANY", "ALL"]);
                format!("({} {op} {how} ({}))", e(self, Text), e(self, Texts))
            }
            3 => {
                let ty = [Ints, Texts][self.below(2)];
                let op = self.one(&["@>", "<@", "&&"]);
                format!("({} {op} {})", e(self, ty), e(self, ty))
            }
            4 => format!("({} {} {})", e(self, Json), self.one(&["@>", "<@"]), e(self, Json)),
            5 => format!("({} ? 's')", e(self, Json)),
            6 => {
                let is = self.one(&["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN"]);
                format!("({} IS {is})", e(self, Bool))
            }
            7 => format!("({} {} '^[a-o]+.$')", e(self, Text), self.one(&["~", "!~", "~*"])),
            8 => {
                let (a, b) = (e(self, Date), e(self, Date));
                format!("(({a}, {}) OVERLAPS ({b}, {}))", e(self, Interval), e(self, Interval))
            }
            9 => {
                let (a, b) = (e(self, Date), e(self, Ts));
                format!("({a} {op} {b})")
            }
            _ => self.row_condition(scope),
        }
    }
}
