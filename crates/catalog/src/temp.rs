//! The schemas of a session's temporary objects, `pg_temp_N` and `pg_toast_temp_N`.
//!
//! Counterpart: `InitTempTableNamespace` of namespace.c.

use crate::acl::{CREATE_TEMP, Kind};
use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::rows::{PgNamespace, indexes};
use ids::Oid;
use ids::builtin::role;
use pgerror::{Result, bail};

/// The schemas for the temporary objects of one session.
#[derive(Clone, Copy)]
pub struct TempSchemas {
    pub schema: Oid,
    pub toast: Oid,
    /// The schema contains objects, which a session left that ended in a crash.
    pub has_leftovers: bool,
}

impl CatCx<'_> {
    /// Opens the temporary schemas of the session with this number, and creates them if they do not
    /// exist. The session does not use them yet. Error 42501 if the user may not create temporary
    /// tables in the database.
    pub fn open_temp_schemas(&mut self, database: Oid, number: u32) -> Result<TempSchemas> {
        let user = self.session.user;
        if let Some(row) = self.database(database)? {
            let list = row.datacl.as_deref();
            if !self.has_privilege(user, row.datdba, list, Kind::Database, CREATE_TEMP)? {
                bail!(
                    INSUFFICIENT_PRIVILEGE,
                    "permission denied to create temporary tables in database \"{}\"",
                    row.datname
                );
            }
        }
        let schema = self.open_or_create(&format!("pg_temp_{number}"))?;
        let toast = self.open_or_create(&format!("pg_toast_temp_{number}"))?;
        let address = ObjectAddress::of::<PgNamespace>(schema);
        let has_leftovers = !self.dependents_of(address)?.is_empty();
        Ok(TempSchemas { schema, toast, has_leftovers })
    }

    fn open_or_create(&mut self, name: &str) -> Result<Oid> {
        if let Some(oid) = self.find_namespace(name)? {
            return Ok(oid);
        }
        let oid = self.new_oid(indexes::PG_NAMESPACE_OID_INDEX)?;
        self.insert(&PgNamespace {
            oid,
            nspname: name.into(),
            nspowner: role::BOOTSTRAP_SUPERUSER,
            nspacl: None,
        })?;
        self.increment_command_counter()?;
        Ok(oid)
    }
}
