//! A session's cache of dictionaries and configurations. An entry is used while the catalogs are
//! unchanged; after a change its rows are read again, and a dictionary whose template and options
//! are the same is kept.

use crate::construct::{construct, options_of, template_of, what};
use crate::unsupported;
use analyze::Host;
use catalog::cache;
use catalog::rows::{PgTsConfig, PgTsConfigMap, PgTsDict, PgTsParser};
use catalog::{CatalogState, Row};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::Result;
use std::sync::Arc;
use types::textsearch::dict::Dictionary;
use types::textsearch::lexize::Configuration;
use vfs::Disk;

struct CachedDictionary {
    /// The catalogs that the entry was compared with.
    checked: CatalogState,
    row: Row<PgTsDict>,
    dictionary: Arc<dyn Dictionary>,
}

/// A configuration as it is used.
#[derive(Clone)]
pub struct Search {
    pub configuration: Arc<Configuration>,
    /// Its parser makes headlines.
    pub headlines: bool,
}

/// The dictionaries and configurations that a session has used.
#[derive(Default)]
pub struct Cache {
    dictionaries: HashMap<Oid, CachedDictionary>,
    configurations: HashMap<Oid, (CatalogState, Search)>,
}

/// Whether the parser is the built-in one, and makes headlines. Error 0A000 if it is another.
fn check_parser(host: &mut dyn Host, oid: Oid) -> Result<bool> {
    let name = format!("text search parser {oid}");
    let row: Row<PgTsParser> = host.catalog().get(cache::TSPARSEROID, &[oid.into()], name)?;
    let function = host.catalog().function(row.prstoken)?;
    if function.prosrc.as_str() != "prsd_nexttoken" {
        return Err(unsupported("text search parser", function.prosrc.as_str()));
    }
    Ok(row.prsheadline.is_valid())
}

impl Cache {
    /// The dictionary with this OID. `state` is that of the session's catalogs.
    pub fn dictionary(
        &mut self,
        host: &mut dyn Host,
        disk: &Arc<dyn Disk>,
        state: CatalogState,
        oid: Oid,
    ) -> Result<Arc<dyn Dictionary>> {
        if let Some(found) = self.dictionaries.get(&oid).filter(|found| found.checked == state) {
            return Ok(found.dictionary.clone());
        }
        let row: Row<PgTsDict> = host.catalog().get(cache::TSDICTOID, &[oid.into()], what(oid))?;
        if let Some(found) = self.dictionaries.get_mut(&oid) {
            let (old, new) = (&found.row.row, &row.row);
            if old.dicttemplate == new.dicttemplate && old.dictinitoption == new.dictinitoption {
                found.checked = state;
                return Ok(found.dictionary.clone());
            }
        }
        let template = template_of(host, row.dicttemplate)?;
        let dictionary = construct(host, disk.clone(), template, &options_of(&row)?)?;
        let entry = CachedDictionary { checked: state, row, dictionary: dictionary.clone() };
        self.dictionaries.insert(oid, entry);
        Ok(dictionary)
    }

    /// The configuration with this OID.
    pub fn configuration(
        &mut self,
        host: &mut dyn Host,
        state: CatalogState,
        oid: Oid,
    ) -> Result<Search> {
        if let Some((_, found)) = self.configurations.get(&oid).filter(|(s, _)| *s == state) {
            return Ok(found.clone());
        }
        let name = format!("text search configuration {oid}");
        let keys = [oid.into()];
        let row: Row<PgTsConfig> = host.catalog().get(cache::TSCONFIGOID, &keys, name)?;
        let headlines = check_parser(host, row.cfgparser)?;
        let rows: Arc<[Row<PgTsConfigMap>]> = host.catalog().list(cache::TSCONFIGMAP, &keys)?;
        let mut configuration = Configuration::default();
        // The rows are in order of token types and dictionaries.
        for row in rows.iter() {
            let kind = usize::try_from(row.maptokentype).unwrap_or_default();
            if configuration.map.len() <= kind {
                configuration.map.resize(kind + 1, Vec::new());
            }
            configuration.map[kind].push(row.mapdict);
        }
        let found = Search { configuration: Arc::new(configuration), headlines };
        self.configurations.insert(oid, (state, found.clone()));
        Ok(found)
    }
}
