//! The type of system functions.

use crate::host::SystemHost;
use catalog::rows::PgProc;
use ids::Oid;
use ids::code::TypType;
use pgerror::Result;
use types::{Datum, DatumRef};

/// A scalar function.
pub type OneFn = fn(&mut dyn SystemHost, &[DatumRef<'_>]) -> Result<Datum>;
/// A set-returning function; the result is a list of rows.
pub type SetFn = fn(&mut dyn SystemHost, &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>>;

/// A set-returning function whose columns the call determines.
pub type RowsFn =
    fn(&mut dyn SystemHost, &[DatumRef<'_>], &ResultRow<'_>) -> Result<Vec<Vec<Datum>>>;

/// A trigger function.
pub type TriggerFn =
    fn(&mut dyn SystemHost, &trigger::TriggerCall<'_>) -> Result<executor::BeforeRowResult>;

/// What a call says about the columns of its result.
#[derive(Clone, Copy)]
pub struct ResultRow<'a> {
    pub ty: Oid,
    /// The function that is called.
    pub function: &'a PgProc,
    /// Types and type modifiers of the column definition list; empty if there is none.
    pub list: &'a [(Oid, i32)],
}

impl ResultRow<'_> {
    /// Types and type modifiers of the columns; `None` if they are not known.
    pub fn columns(&self, host: &mut dyn SystemHost) -> Result<Option<Vec<(Oid, i32)>>> {
        if self.ty == types::oids::RECORD {
            let (types, modes) = (&self.function.proallargtypes, &self.function.proargmodes);
            return Ok(match (types, modes) {
                _ if !self.list.is_empty() => Some(self.list.to_vec()),
                (Some(types), Some(modes)) => {
                    let outputs = types.iter().zip(modes).filter(|(_, mode)| mode.is_output());
                    Some(outputs.map(|(ty, _)| (*ty, -1)).collect())
                }
                _ => None,
            });
        }
        let mut cat = host.catalog();
        let row = cat.type_row(self.ty)?;
        if row.typtype != TypType::Composite {
            return Ok(None);
        }
        let desc = cat.relation(row.typrelid)?;
        let live = desc.attributes.iter().filter(|a| !a.attisdropped);
        Ok(Some(live.map(|a| (a.atttypid, a.atttypmod)).collect()))
    }
}

/// How a system function is called.
#[derive(Clone, Copy)]
pub enum SysCall {
    One(OneFn),
    Set(SetFn),
    Rows(RowsFn),
}

/// A function with its name in `pg_proc.prosrc`.
pub struct SysFn {
    pub name: &'static str,
    pub call: SysCall,
}

/// The text of an argument.
pub fn text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_bytes()).into_owned()
}
