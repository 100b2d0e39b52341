//! The parameters of a sequence, and their changes by the options of a statement.
//!
//! Counterpart: `init_params`.

use analyze::SessionLookup;
use catalog::rows::PgSequence;
use ids::Oid;
use page::sequence::SequenceData;
use parse::ast::{DefElem, Node};
use pgerror::{Result, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::options;

/// The parameters of a sequence with the statement's options applied.
pub struct Params {
    pub row: PgSequence,
    pub data: SequenceData,
    /// `OWNED BY`: a qualified column name, empty for NONE.
    pub owned_by: Option<Vec<String>>,
    /// The data row in the sequence's file changes.
    pub changed: bool,
}

/// Minimum and maximum value of the type.
fn limits(ty: Oid) -> (i64, i64) {
    match ty {
        oids::INT2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        oids::INT4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Applies options to a sequence; to the default parameters if there is no old one.
pub fn parameters(
    host: &mut dyn CommandHost,
    defs: &[DefElem],
    old: Option<(PgSequence, SequenceData)>,
    identity: bool,
    sql: &str,
) -> Result<Params> {
    let is_new = old.is_none();
    let (row, data) = old.unwrap_or((
        PgSequence {
            seqrelid: Oid::INVALID,
            seqtypid: oids::INT8,
            seqstart: 1,
            seqincrement: 1,
            seqmax: i64::MAX,
            seqmin: 1,
            seqcache: 1,
            seqcycle: false,
        },
        SequenceData { last_value: 1, log_count: 0, is_called: false },
    ));
    for (i, d) in defs.iter().enumerate() {
        if defs[..i].iter().any(|e| e.defname == d.defname) {
            let e = pg_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(e.at(parse::position(sql, d.location)));
        }
    }
    let mut change =
        Change { defs, is_new, reset_max: is_new, reset_min: is_new, row, data, changed: is_new };
    change.set_type(host, identity, sql)?;
    change.set_step()?;
    change.set_max(host)?;
    change.set_min(host)?;
    change.set_start()?;
    change.set_last()?;
    change.set_cache()?;
    let owned_by = match change.find("owned_by").map(|d| &d.arg) {
        Some(Some(Node::List(list))) => {
            Some(list.iter().filter_map(Node::as_str).map(str::to_string).collect())
        }
        _ => None,
    };
    Ok(Params { row: change.row, data: change.data, owned_by, changed: change.changed })
}

/// The parameters while the options are applied.
struct Change<'a> {
    defs: &'a [DefElem],
    is_new: bool,
    /// True if the limits follow those of a new type.
    reset_max: bool,
    reset_min: bool,
    row: PgSequence,
    data: SequenceData,
    changed: bool,
}

impl<'a> Change<'a> {
    fn find(&self, name: &str) -> Option<&'a DefElem> {
        self.defs.iter().find(|d| &*d.defname == name)
    }

    /// Records a change of a parameter on which the sequence's file depends.
    fn note(&mut self) {
        self.data.log_count = 0;
        self.changed = true;
    }

    fn set_type(&mut self, host: &mut dyn CommandHost, identity: bool, sql: &str) -> Result<()> {
        let Some(d) = self.find("as") else { return Ok(()) };
        let Some(Node::TypeName(name)) = &d.arg else {
            bail!(SYNTAX_ERROR, "sequence type is missing")
        };
        let (ty, _) = analyze::ddl::type_name(&mut SessionLookup::new(host), name, sql)?;
        if !matches!(ty, oids::INT2 | oids::INT4 | oids::INT8) {
            if identity {
                bail!(
                    INVALID_PARAMETER_VALUE,
                    "identity column type must be smallint, integer, or bigint"
                );
            }
            bail!(INVALID_PARAMETER_VALUE, "sequence type must be smallint, integer, or bigint");
        }
        if !self.is_new {
            let (min, max) = limits(self.row.seqtypid);
            self.reset_max = self.row.seqmax == max;
            self.reset_min = self.row.seqmin == min;
        }
        self.row.seqtypid = ty;
        Ok(())
    }

    /// INCREMENT and CYCLE.
    fn set_step(&mut self) -> Result<()> {
        if let Some(d) = self.find("increment") {
            self.row.seqincrement = options::integer(d)?;
            if self.row.seqincrement == 0 {
                bail!(INVALID_PARAMETER_VALUE, "INCREMENT must not be zero");
            }
            self.note();
        }
        if let Some(d) = self.find("cycle") {
            self.row.seqcycle = options::boolean(d)?;
            self.note();
        }
        Ok(())
    }

    fn set_max(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let (min, max) = limits(self.row.seqtypid);
        let reset = self.reset_max;
        match self.find("maxvalue") {
            Some(d) if d.arg.is_some() => {
                self.row.seqmax = options::integer(d)?;
                self.note();
            }
            d if d.is_some() || reset => {
                self.changed |= d.is_some();
                let ascending = self.row.seqincrement > 0 || reset && !self.is_new;
                self.row.seqmax = if ascending { max } else { -1 };
                self.data.log_count = 0;
            }
            _ => {}
        }
        let value = self.row.seqmax;
        if value < min || value > max {
            let ty = host.catalog().format_type(self.row.seqtypid)?;
            bail!(
                INVALID_PARAMETER_VALUE,
                "MAXVALUE ({value}) is out of range for sequence data type {ty}"
            );
        }
        Ok(())
    }

    fn set_min(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let (min, max) = limits(self.row.seqtypid);
        let reset = self.reset_min;
        match self.find("minvalue") {
            Some(d) if d.arg.is_some() => {
                self.row.seqmin = options::integer(d)?;
                self.note();
            }
            d if d.is_some() || reset => {
                self.changed |= d.is_some();
                let descending = self.row.seqincrement < 0 || reset && !self.is_new;
                self.row.seqmin = if descending { min } else { 1 };
                self.data.log_count = 0;
            }
            _ => {}
        }
        let (value, last) = (self.row.seqmin, self.row.seqmax);
        if value < min || value > max {
            let ty = host.catalog().format_type(self.row.seqtypid)?;
            bail!(
                INVALID_PARAMETER_VALUE,
                "MINVALUE ({value}) is out of range for sequence data type {ty}"
            );
        }
        if value >= last {
            bail!(
                INVALID_PARAMETER_VALUE,
                "MINVALUE ({value}) must be less than MAXVALUE ({last})"
            );
        }
        Ok(())
    }

    fn set_start(&mut self) -> Result<()> {
        let given = self.find("start");
        let row = &mut self.row;
        match given {
            Some(d) => row.seqstart = options::integer(d)?,
            None if self.is_new => {
                row.seqstart = if row.seqincrement > 0 { row.seqmin } else { row.seqmax };
            }
            None => {}
        }
        self.check_within("START", self.row.seqstart)
    }

    /// RESTART, or the first value of a new sequence.
    fn set_last(&mut self) -> Result<()> {
        if let Some(d) = self.find("restart") {
            self.data.last_value = match d.arg {
                Some(_) => options::integer(d)?,
                None => self.row.seqstart,
            };
            self.data.is_called = false;
            self.note();
        } else if self.is_new {
            self.data.last_value = self.row.seqstart;
            self.data.is_called = false;
        }
        self.check_within("RESTART", self.data.last_value)
    }

    /// Error 22023 unless the value is between the limits.
    fn check_within(&self, what: &str, value: i64) -> Result<()> {
        let (min, max) = (self.row.seqmin, self.row.seqmax);
        if value < min {
            bail!(
                INVALID_PARAMETER_VALUE,
                "{what} value ({value}) cannot be less than MINVALUE ({min})"
            );
        }
        if value > max {
            bail!(
                INVALID_PARAMETER_VALUE,
                "{what} value ({value}) cannot be greater than MAXVALUE ({max})"
            );
        }
        Ok(())
    }

    fn set_cache(&mut self) -> Result<()> {
        let Some(d) = self.find("cache") else { return Ok(()) };
        let value = options::integer(d)?;
        if value <= 0 {
            bail!(INVALID_PARAMETER_VALUE, "CACHE ({value}) must be greater than zero");
        }
        self.row.seqcache = value;
        self.note();
        Ok(())
    }
}
