//! Configuration reload at run time, and the views of the configuration files.
//!
//! Counterpart: the SIGHUP half of postmaster.c, guc-file.l (`ProcessConfigFile`).

use crate::config::{self, Origins};
use crate::log::StderrLog;
use crate::tls;
use pgerror::{PgError, Result, Severity, SqlState};
use session::{Config, ConfigFiles, FileSetting, Instance, Log, LogOrigin};
use settings::{ServerValues, hba, ident};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::{Arc, Weak};
use vfs::process::{self, Signal};

/// Access of sessions to the configuration files of the server.
pub(crate) struct ServerFiles {
    pub(crate) origins: Origins,
    pub(crate) instance: Weak<Instance>,
}

impl ServerFiles {
    fn path(&self, name: &str) -> Result<String> {
        let instance = self.instance.upgrade();
        let instance = instance.ok_or_else(|| PgError::internal("the server has stopped"))?;
        Ok(instance.base().text(name).to_owned())
    }
}

impl ConfigFiles for ServerFiles {
    fn reload(&self) {
        // The thread that handles signals performs the reload.
        let _ = process::send_signal(std::process::id() as i32, Signal::Hangup);
    }

    fn settings(&self) -> Vec<FileSetting> {
        let Some(instance) = self.instance.upgrade() else { return Vec::new() };
        let loaded = config::load(&self.origins);
        loaded.map(|l| l.rows(&instance.base())).unwrap_or_default()
    }

    fn hba(&self) -> Result<Vec<hba::Line>> {
        let path = self.path("hba_file")?;
        let (text, include) = config::auth_file(&path, "configuration")?;
        let mut lines = hba::parse_lines(&text, &include);
        if self.instance.upgrade().is_some_and(|instance| !instance.base().bool("ssl")) {
            let unmatched = lines.iter_mut().filter(|line| line.kind == "hostssl");
            unmatched.for_each(|line| line.error = Some(hba::SSL_DISABLED.to_owned()));
        }
        Ok(lines)
    }

    fn ident(&self) -> Result<Vec<ident::Line>> {
        let path = self.path("ident_file")?;
        let (text, include) = config::auth_file(&path, "usermap")?;
        Ok(ident::parse_lines(&text, &include))
    }

    /// Binding succeeds only for local addresses.
    fn is_own_address(&self, address: IpAddr) -> bool {
        UdpSocket::bind((address, 0)).is_ok()
    }

    /// Uses the routing table: directly connected networks have no gateway.
    fn is_own_network(&self, address: IpAddr) -> bool {
        if self.is_own_address(address) {
            return true;
        }
        let IpAddr::V4(address) = address else { return false };
        let table = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
        table.lines().skip(1).any(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let mut word = || u32::from_str_radix(fields.next()?, 16).ok().map(u32::from_be);
            let (Some(net), Some(gateway)) = (word(), word()) else { return false };
            let mask = fields.nth(4).and_then(|m| u32::from_str_radix(m, 16).ok());
            let Some(mask) = mask.map(u32::from_be).filter(|m| *m != 0) else { return false };
            gateway == 0 && u32::from(Ipv4Addr::from(net)) == u32::from(address) & mask
        })
    }
}

fn note(log: &dyn Log, message: &str) {
    let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log);
    log.write(&LogOrigin::default(), &report, None);
}

/// Replaces the acceptor of encrypted connections. After an error the old one remains.
fn reload_tls(base: &ServerValues, data: &str, instance: &Instance, log: &StderrLog) {
    if !base.bool("ssl") {
        return instance.set_tls(None);
    }
    let origin = LogOrigin::default();
    let mut reports = Vec::new();
    let loaded = tls::load(base, data, &mut reports);
    reports.iter().for_each(|r| log.write(&origin, r, None));
    match loaded {
        Ok(acceptor) => instance.set_tls(Some(acceptor)),
        Err(e) => {
            log.write(&origin, &e.severity(Severity::Log), None);
            note(log, "SSL configuration was not reloaded");
        }
    }
}

/// Reloads the configuration files. Settings affected by errors keep their values.
pub(crate) fn reload(
    origins: &Origins,
    instance: &Arc<Instance>,
    log: &Arc<StderrLog>,
    engine_config: &dyn Fn(&settings::ServerValues) -> engine::EngineConfig,
) {
    note(&**log, "received SIGHUP, reloading configuration files");
    let origin = LogOrigin::default();
    let write = |reports: &[PgError]| reports.iter().for_each(|r| log.write(&origin, r, None));
    let current = instance.base();
    let loaded = match config::load(origins) {
        Ok(loaded) => loaded,
        Err(e) => return log.write(&origin, &e.severity(Severity::Log), None),
    };
    write(&loaded.reports);
    if loaded.unusable {
        let file = loaded.faulty.as_deref().unwrap_or_default();
        note(
            &**log,
            &format!("configuration file \"{file}\" contains errors; no changes were applied"),
        );
        return;
    }
    let (base, reports, refused) = current.after_reload(loaded.base);
    write(&reports);
    let at_fault = refused.first().and_then(|id| base.location(*id));
    let at_fault = loaded
        .faulty
        .or(at_fault)
        .or_else(|| (!refused.is_empty()).then(|| base.text("config_file").to_owned()));
    if let Some(file) = at_fault {
        note(
            &**log,
            &format!(
                "configuration file \"{file}\" contains errors; unaffected changes were applied"
            ),
        );
    }
    let hba = config::load_hba(&base, &mut |r| log.write(&origin, r, None))
        .map(Arc::new)
        .unwrap_or_else(|errors| {
            write(&errors);
            note(&**log, "pg_hba.conf was not reloaded");
            instance.hba()
        });
    let ident = config::load_ident(&base).map(Arc::new).unwrap_or_else(|errors| {
        write(&errors);
        note(&**log, "pg_ident.conf was not reloaded");
        instance.ident()
    });
    reload_tls(&base, &origins.data, instance, log);
    log.configure(&base);
    sync::memory::set_limit(config::memory_limit(&base));
    if let Err(e) = instance.engine.reconfigure(&engine_config(&base)) {
        log.write(&origin, &e, None);
    }
    instance.configure(Config { base: Arc::new(base), hba, ident });
}
