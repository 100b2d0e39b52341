//! Functions in PL/pgSQL with random bodies, and triggers with such functions.
//!
//! The bodies change only variables, `NEW` and the table `lg`, so that the order in which the rows
//! of a statement are visited has no effect on the result.

use super::generate::{
    CALL_OF_QUERY, Columns, Generator, KEYS, SMALL, Statement, Ty, Ty::*, both, renamed,
};

/// The variables of all functions.
const VARIABLES: [(&str, Ty); 9] = [
    ("vi", Int),
    ("vj", Int),
    ("vn", Num),
    ("vt", Text),
    ("vu", Text),
    ("vb", Bool),
    ("vd", Date),
    ("va", Ints),
    ("vc", Texts),
];

/// Assumed number of executions of the body of a loop.
const ROUNDS: f64 = 3.0;

fn variables() -> Columns {
    VARIABLES.iter().map(|(name, ty)| ((*name).to_owned(), *ty)).collect()
}

/// Where a sequence of statements stands.
#[derive(Clone, Copy)]
struct Place {
    /// Levels of blocks and loops that it may still contain.
    depth: usize,
    in_loop: bool,
    /// The type that RETURN returns; `None` where RETURN is not possible.
    result: Option<Ty>,
    /// The result is a set of `result`.
    set: bool,
}

impl Place {
    fn inner(self) -> Place {
        Place { depth: self.depth - 1, ..self }
    }

    fn in_loop(self) -> Place {
        Place { in_loop: true, ..self.inner() }
    }
}

impl Generator {
    /// A function in PL/pgSQL, and a query that calls it for each row.
    pub(super) fn program(&mut self) -> Statement {
        let (from, own) = self.for_rows(CALL_OF_QUERY, |g| g.from(&Vec::new(), 0));
        let rows = self.rows;
        let ty = self.type_among(KEYS);
        let set = self.chance(25);
        let place = Place { depth: 3, in_loop: false, result: Some(ty), set };
        let body = self.for_rows(rows, |g| g.body(place));
        let f = self.name("f");
        let volatile = self.one(&["", " STABLE", " IMMUTABLE", " STRICT"]);
        let setof = if set { "SETOF " } else { "" };
        let sql = format!(
            "CREATE FUNCTION {f}(pi int, pt text) RETURNS {setof}{} \
             LANGUAGE plpgsql{volatile} AS $f$ {body} $f$",
            ty.name()
        );
        let (p, q) = (self.expr(Int, &own, 1), self.expr(Text, &own, 1));
        let call = format!("{f}({p}, {q})");
        let condition = self.filter(&own, &Vec::new(), 1);
        let query = match self.below(4) {
            0 if set => {
                format!("SELECT l.r, {p} AS p FROM {from} CROSS JOIN {call} AS l(r){condition}")
            }
            1 if set => format!(
                "SELECT (SELECT count(l.r) FROM {call} AS l(r)) AS n FROM {from}{condition}"
            ),
            2 if !set => format!("SELECT {p} AS p, {call} IS NULL AS n FROM {from}"),
            _ => format!("SELECT {call} AS v, {q} AS q FROM {from}{condition}"),
        };
        let mut statement = Statement::many(vec![format!("BEGIN; {sql}"), query.clone(), query]);
        statement.opened = true;
        statement
    }

    /// A trigger on `a`, and changes of that table. The rows that the trigger writes are read at
    /// the end.
    pub(super) fn trigger(&mut self) -> Statement {
        let mut change = self.change();
        let change = change.steps.remove(0).sql;
        // Sub-selects and functions with queries see some of the changes.
        (self.sublinks, self.calls) = (0, 0);
        let (before, by_row) = (self.chance(50), self.chance(85));
        let event = match self.below(5) {
            0 => "UPDATE OF x",
            1 => "INSERT OR UPDATE",
            _ => "INSERT OR UPDATE OR DELETE",
        };
        let update = event == "UPDATE OF x" && by_row;
        let mut when = String::new();
        if update && self.chance(60) {
            let scope = both(&self.row_columns("old"), &self.row_columns("new"));
            when = format!(" WHEN ({})", self.expr(Bool, &scope, 2));
        }
        let body = self.trigger_body(before, by_row);
        let create = format!(
            "CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $f$ {body} $f$; \
             CREATE TRIGGER tr {} {event} ON a FOR EACH {}{when} \
             EXECUTE FUNCTION tf('arg', 7)",
            if before { "BEFORE" } else { "AFTER" },
            if by_row { "ROW" } else { "STATEMENT" }
        );
        let mut steps = vec![format!("BEGIN; {create}"), change.replacen("BEGIN; ", "", 1)];
        if self.chance(40) {
            let k = self.below(9);
            steps.push(format!("UPDATE a SET x = x + {k}, s = s || '{k}' WHERE id % 9 = {k}"));
        }
        steps.extend(["SELECT * FROM a", "SELECT * FROM lg"].map(str::to_owned));
        let mut statement = Statement::many(steps);
        (statement.opened, statement.changes) = (true, true);
        statement
    }

    fn row_columns(&mut self, row: &str) -> Columns {
        let all = [("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)];
        renamed(row, &all.map(|(c, ty)| (c.to_owned(), ty)).into())
    }

    fn trigger_body(&mut self, before: bool, by_row: bool) -> String {
        let own = variables();
        let place = Place { depth: 2, in_loop: false, result: None, set: false };
        let work = self.statements(&own, place);
        let values = (self.expr(Int, &own, 1), self.expr(Text, &own, 1));
        let log = format!(
            "INSERT INTO lg VALUES (TG_OP || TG_WHEN || TG_ARGV[0] || TG_NARGS, {}, {});",
            values.0, values.1
        );
        if !by_row {
            return format!(
                "{} BEGIN {work} {log} RETURN NULL; END",
                self.declarations(&Vec::new())
            );
        }
        let new = self.row_columns("new");
        let (x, s) = (self.expr(Int, &new, 2), self.expr(Text, &new, 2));
        let old = self.row_columns("old");
        let seen = self.expr(Text, &old, 2);
        let change = match before && self.chance(70) {
            true => format!("NEW.x := {x}; NEW.s := {s};"),
            false => format!("vi := {x}; vt := {s};"),
        };
        let skip = match before && self.chance(30) {
            true => format!("IF ({}) THEN RETURN NULL; END IF;", self.expr(Bool, &new, 1)),
            false => String::new(),
        };
        format!(
            "{} BEGIN {work} IF TG_OP = 'DELETE' THEN vu := {seen}; {log} RETURN OLD; END IF; \
             IF TG_OP = 'UPDATE' THEN vt := {seen}; END IF; {change} {skip} {log} RETURN NEW; END",
            self.declarations(&Vec::new())
        )
    }

    /// DECLARE with an initial value for some of the variables.
    fn declarations(&mut self, around: &Columns) -> String {
        let mut out = "DECLARE".to_owned();
        for (name, ty) in VARIABLES {
            let value = match self.chance(70) {
                true => format!(" := {}", self.expr(ty, around, 2)),
                false => String::new(),
            };
            out.push_str(&format!(" {name} {}{value};", ty.name()));
        }
        out + " vw int; r record;"
    }

    /// A whole function body with the parameters `pi` and `pt`.
    fn body(&mut self, place: Place) -> String {
        let parameters: Columns = vec![("pi".to_owned(), Int), ("pt".to_owned(), Text)];
        let declared = self.declarations(&parameters);
        let scope = both(&parameters, &variables());
        let work = self.statements(&scope, place);
        let last = self.return_statement(&scope, place);
        let end = if place.set && self.chance(50) { " RETURN;" } else { "" };
        format!("{declared} BEGIN {work} {last}{end} END")
    }

    fn return_statement(&mut self, scope: &Columns, place: Place) -> String {
        let Some(ty) = place.result else { return String::new() };
        let name = ty.name();
        if !place.set {
            return format!("RETURN {};", self.expr(ty, scope, 2));
        }
        if self.chance(60) {
            return format!("RETURN NEXT {};", self.expr(ty, scope, 2));
        }
        let (item, own) = self.base();
        let condition = self.filter(&own, scope, 2);
        let value = self.expr(ty, &both(&own, scope), 2);
        format!("RETURN QUERY SELECT ({value})::{name} FROM {item}{condition};")
    }

    fn statements(&mut self, scope: &Columns, place: Place) -> String {
        let all: Vec<String> = (0..1 + self.below(3)).map(|_| self.step(scope, place)).collect();
        all.join(" ")
    }

    fn assignment(&mut self, scope: &Columns) -> String {
        match self.below(12) {
            0 => format!("va[{}] := {};", 1 + self.below(3), self.expr(Int, scope, 1)),
            1 => format!("vc[{}] := {};", 1 + self.below(2), self.expr(Text, scope, 1)),
            2 => format!("va := va || {};", self.expr(Int, scope, 1)),
            3 => format!("vt := left(vt || {}, 20);", self.expr(Text, scope, 1)),
            4 => format!("vi := vi + {};", self.expr(Int, scope, 1)),
            _ => {
                let (name, ty) = VARIABLES[self.below(VARIABLES.len())];
                format!("{name} := {};", self.expr(ty, scope, 3))
            }
        }
    }

    fn step(&mut self, scope: &Columns, place: Place) -> String {
        match self.below(14) {
            0..=4 => self.assignment(scope),
            5 => self.query_into(scope),
            6 => {
                let message = (self.expr(Int, scope, 1), self.expr(Text, scope, 1));
                format!("RAISE NOTICE '% and %', {}, {};", message.0, message.1)
            }
            7 if place.in_loop => {
                let how = self.one(&["EXIT", "CONTINUE"]);
                format!("{how} WHEN {};", self.expr(Bool, scope, 2))
            }
            8 if place.result.is_some() => {
                let test = self.expr(Bool, scope, 2);
                format!("IF ({test}) THEN {} END IF;", self.return_statement(scope, place))
            }
            _ if place.depth == 0 => self.assignment(scope),
            9 | 10 => self.branches(scope, place.inner()),
            11 => self.guarded(scope, place.inner()),
            _ => self.for_rows(ROUNDS, |g| g.looped(scope, place.in_loop())),
        }
    }

    /// A query whose single row is assigned.
    fn query_into(&mut self, scope: &Columns) -> String {
        if self.sublinks == 0 || !self.affords(SMALL) {
            return self.assignment(scope);
        }
        let strict = self.one(&["", "", "STRICT "]);
        let (item, own) = self.base();
        let condition = self.filter(&own, scope, 2);
        let (i, t) = (self.plain(Int, &own, 1), self.plain(Text, &own, 1));
        match self.below(3) {
            0 => format!(
                "SELECT max({i}), min({t}) INTO {strict}vi, vt FROM {item}{condition}; vb := FOUND;"
            ),
            1 => format!(
                "EXECUTE 'SELECT $1 + 1, $2 || ''q''' INTO {strict}vj, vu USING vi, {};",
                self.expr(Text, scope, 1)
            ),
            _ => format!(
                "PERFORM {i} FROM {item}{condition}; GET DIAGNOSTICS vj = ROW_COUNT; vb := FOUND;"
            ),
        }
    }

    fn branches(&mut self, scope: &Columns, inner: Place) -> String {
        let (first, second) = (self.statements(scope, inner), self.statements(scope, inner));
        match self.below(3) {
            0 => {
                let ty = self.type_among(KEYS);
                let value = self.expr(ty, scope, 2);
                let (p, q) = (self.expr(ty, scope, 1), self.expr(ty, scope, 0));
                format!("CASE ({value}) WHEN ({p}), ({q}) THEN {first} ELSE {second} END CASE;")
            }
            _ => {
                let test = self.expr(Bool, scope, 2);
                let other = self.expr(Bool, scope, 1);
                let more = match self.chance(40) {
                    true => format!(" ELSIF ({other}) THEN {}", self.assignment(scope)),
                    false => String::new(),
                };
                format!("IF ({test}) THEN {first}{more} ELSE {second} END IF;")
            }
        }
    }

    /// A block with a handler.
    fn guarded(&mut self, scope: &Columns, inner: Place) -> String {
        let work = self.statements(scope, inner);
        let fault = match self.below(5) {
            0 => "vi := vt::int;".to_owned(),
            1 => format!("vi := 1 / ({} % 2);", self.expr(Int, scope, 1)),
            2 => "RAISE EXCEPTION 'raised %', vi USING ERRCODE = 'ZZ001';".to_owned(),
            3 => {
                format!("SELECT id INTO STRICT vi FROM a WHERE id = {};", self.expr(Int, scope, 1))
            }
            _ => String::new(),
        };
        let after = self.assignment(scope);
        let handler = match self.below(3) {
            0 => "vt := SQLSTATE; vu := SQLERRM;",
            1 => "GET STACKED DIAGNOSTICS vt = RETURNED_SQLSTATE, vu = MESSAGE_TEXT;",
            _ => "NULL;",
        };
        let named = self.one(&["division_by_zero OR invalid_text_representation", "OTHERS"]);
        format!(
            "BEGIN {work} {fault} {after} EXCEPTION WHEN {named} THEN {handler} \
             WHEN OTHERS THEN vu := 'other'; END;"
        )
    }

    fn looped(&mut self, scope: &Columns, inner: Place) -> String {
        let body = self.statements(scope, inner);
        match self.below(5) {
            0 => {
                let (low, high) = (self.below(3), 1 + self.below(4));
                let by = self.one(&["", " BY 2"]);
                match self.chance(30) {
                    true => format!("FOR vi IN REVERSE {high}..{low}{by} LOOP {body} END LOOP;"),
                    false => format!("FOR vi IN {low}..{high}{by} LOOP {body} END LOOP;"),
                }
            }
            1 => {
                let test = self.expr(Bool, scope, 1);
                format!(
                    "vw := 0; WHILE vw < 3 AND {test} IS NOT FALSE LOOP vw := vw + 1; {body} \
                     END LOOP;"
                )
            }
            2 => {
                let list = self.expr(Ints, scope, 1);
                format!("FOREACH vj IN ARRAY COALESCE({list}, '{{1}}') LOOP {body} END LOOP;")
            }
            3 if self.sublinks > 0 => {
                let row: Columns = vec![("r.k".to_owned(), Int), ("r.v".to_owned(), Text)];
                let scope = both(&row, scope);
                let body = self.statements(&scope, inner);
                let own = renamed("t", &vec![("id".to_owned(), Int), ("s".to_owned(), Text)]);
                let test = self.filter(&own, &variables(), 1);
                format!(
                    "FOR r IN SELECT t.id AS k, t.s AS v FROM a t{test} ORDER BY t.id LIMIT 3 \
                     LOOP {body} END LOOP;"
                )
            }
            _ => format!("vw := 0; LOOP vw := vw + 1; EXIT WHEN vw > 2; {body} END LOOP;"),
        }
    }
}
