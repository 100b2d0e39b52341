//! The construction of dictionaries from their templates and options.

use crate::files;
use crate::unsupported;
use analyze::Host;
use catalog::cache;
use catalog::rows::{PgTsDict, PgTsTemplate};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use sync::Mutex;
use types::RegKind;
use types::regex::{self, Ctype as RegexCtype};
use types::settings::Encoding;
use types::textsearch::ctype::Ctype;
use types::textsearch::dict::{
    Dictionary, Environment, File, Files, Options, Pattern, Template, build, options,
};
use vfs::Disk;

/// What the construction of a dictionary needs of the session.
struct Construction<'a> {
    host: &'a mut dyn Host,
    disk: Arc<dyn Disk>,
}

impl Files for Construction<'_> {
    fn read(&mut self, name: &str, extension: &str) -> Result<File, (String, String)> {
        files::read(&self.disk, name, extension)
    }
}

/// A regular expression of an affix file.
struct Expression(Mutex<regex::Pattern>);

impl Pattern for Expression {
    fn matches(&self, text: &[u8]) -> bool {
        let interrupts = || Ok(());
        self.0.lock().on(text, &interrupts).is_match().unwrap_or_default()
    }
}

impl Environment for Construction<'_> {
    fn ctype(&mut self) -> Ctype {
        Ctype::of(self.host.functions().settings())
    }

    fn encoding_name(&mut self) -> &'static str {
        self.host.functions().settings().encoding.name()
    }

    fn warning(&mut self, warning: PgError) {
        self.host.functions().notice(warning);
    }

    fn dictionary(&mut self, name: &str) -> Result<Arc<dyn Dictionary>> {
        let found = self.host.functions().reg_lookup(RegKind::Dictionary, name)?;
        let oid = found.ok_or_else(|| {
            pg_err!(UNDEFINED_OBJECT, "text search dictionary \"{name}\" does not exist")
        })?;
        let keys = [oid.into()];
        let row = self.host.catalog().get(cache::TSDICTOID, &keys, what(oid))?;
        let template = template_of(self.host, row.dicttemplate)?;
        construct(self.host, self.disk.clone(), template, &options_of(&row)?)
    }

    fn pattern(&mut self, pattern: &str) -> Result<Box<dyn Pattern>> {
        let settings = self.host.functions().settings();
        let ctype = match settings.ctype_is_c || settings.encoding != Encoding::Utf8 {
            true => RegexCtype::Ascii,
            false => RegexCtype::Unicode,
        };
        let single_byte = settings.encoding != Encoding::Utf8;
        let options = regex::Options::default();
        let compiled = regex::compile(pattern.as_bytes(), options, ctype, single_byte, &|| Ok(()))?;
        Ok(Box::new(Expression(Mutex::new(compiled))))
    }
}

/// The name of a dictionary in internal errors.
pub(crate) fn what(dictionary: Oid) -> String {
    format!("text search dictionary {dictionary}")
}

/// The options of a dictionary.
pub fn options_of(row: &PgTsDict) -> Result<Options> {
    match &row.dictinitoption {
        Some(text) => options::parse(text.as_str()),
        None => Ok(Options::new()),
    }
}

/// The template with this OID.
pub fn template_of(host: &mut dyn Host, oid: Oid) -> Result<Template> {
    let name = format!("text search template {oid}");
    let keys = [oid.into()];
    let row: catalog::Row<PgTsTemplate> = host.catalog().get(cache::TSTEMPLATEOID, &keys, name)?;
    if !row.tmplinit.is_valid() {
        return Err(unsupported("text search template", row.tmplname.as_str()));
    }
    let init = host.catalog().function(row.tmplinit)?;
    let function = init.prosrc.as_str();
    Template::of_init(function).ok_or_else(|| unsupported("text search template", function))
}

/// Makes a dictionary.
pub(crate) fn construct(
    host: &mut dyn Host,
    disk: Arc<dyn Disk>,
    template: Template,
    options: &Options,
) -> Result<Arc<dyn Dictionary>> {
    build(template, options, &mut Construction { host, disk })
}
