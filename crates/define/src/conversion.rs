//! CREATE CONVERSION.
//!
//! Counterpart: conversioncmds.c, pg_conversion.c.

use crate::routine::lookup::{check_execute, exact, shown};
use crate::typerow::new_name;
use catalog::ObjectAddress;
use catalog::encoding;
use catalog::rows::{Name, PgConversion, PgNamespace, PgProc, indexes};
use ids::code::DepType;
use parse::ast::CreateConversionStmt;
use pgerror::{Result, bail};
use types::oids;
use utility::host::CommandHost;
use utility::names;

/// Error 42704 if there is no encoding with this name.
fn encoding_number(name: Option<&str>, what: &str) -> Result<i32> {
    let name = name.unwrap_or_default();
    match encoding::number(name) {
        Some(number) => Ok(number),
        None => bail!(UNDEFINED_OBJECT, "{what} encoding \"{name}\" does not exist"),
    }
}

/// CREATE CONVERSION.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateConversionStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.conversion_name)?;
    let from = encoding_number(stmt.for_encoding_name.as_deref(), "source")?;
    let to = encoding_number(stmt.to_encoding_name.as_deref(), "destination")?;
    if from == encoding::SQL_ASCII || to == encoding::SQL_ASCII {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "encoding conversion to or from \"SQL_ASCII\" is not supported"
        );
    }
    let (int, text) = (oids::INT4, oids::CSTRING);
    let args = [int, int, text, oids::INTERNAL, int, oids::BOOL];
    let function = exact(host, &stmt.func_name, &args)?;
    if function.prorettype != oids::INT4 {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "encoding conversion function {} must return type integer",
            shown(&stmt.func_name)
        );
    }
    check_execute(host, &function, &shown(&stmt.func_name))?;
    let owner = names::user(host);
    let mut cat = host.catalog();
    let keys = [name.as_str().into(), schema.into()];
    if !cat.scan(indexes::PG_CONVERSION_NAME_NSP_INDEX, &keys)?.is_empty() {
        bail!(DUPLICATE_OBJECT, "conversion \"{name}\" already exists");
    }
    if stmt.def {
        let keys = [schema.into(), from.into(), to.into()];
        let rows = cat.scan(indexes::PG_CONVERSION_DEFAULT_INDEX, &keys)?;
        if rows.iter().any(|row| row.condefault) {
            bail!(
                DUPLICATE_OBJECT,
                "default conversion for {} to {} already exists",
                encoding::name(from),
                encoding::name(to)
            );
        }
    }
    let oid = cat.new_oid(indexes::PG_CONVERSION_OID_INDEX)?;
    cat.insert(&PgConversion {
        oid,
        conname: Name::new(&name),
        connamespace: schema,
        conowner: owner,
        conforencoding: from,
        contoencoding: to,
        conproc: function.oid,
        condefault: stmt.def,
    })?;
    let this = ObjectAddress::of::<PgConversion>(oid);
    cat.record_dependency(this, ObjectAddress::of::<PgProc>(function.oid), DepType::Normal)?;
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.record_owner(this, owner)?;
    cat.increment_command_counter()
}
