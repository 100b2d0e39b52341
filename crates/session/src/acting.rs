//! Functions and commands that run with the rights of another role: functions SECURITY DEFINER, and
//! what maintenance commands evaluate of a table. Counterpart: `SetUserIdAndSecContext`.
//!
//! **Invariant:** until the role before is taken back nothing that runs meanwhile can become
//! another role: neither SET ROLE nor a parameter that is set elsewhere.

use crate::core::Core;
use ids::Oid;
use pgerror::{Result, pg_err};

/// The role that acts.
#[derive(Clone, Copy)]
pub(crate) struct Acting {
    role: Oid,
    superuser: bool,
    /// For a function SECURITY DEFINER.
    definer: bool,
    /// For a command that evaluates what the owner of a table has made.
    restricted: bool,
}

/// Whose rights counted before.
pub(crate) struct Before {
    acting: Option<Acting>,
    user: Oid,
    superuser: bool,
}

impl Core {
    /// A function SECURITY DEFINER of that role begins.
    pub(crate) fn act_as_definer(&mut self, role: Oid) -> Result<Before> {
        let restricted = self.acting.is_some_and(|a| a.restricted);
        self.act(Acting { role, superuser: false, definer: true, restricted })
    }

    /// What that role has made is evaluated for a command of anybody.
    pub(crate) fn act_as_owner(&mut self, role: Oid) -> Result<Before> {
        let definer = self.acting.is_some_and(|a| a.definer);
        self.act(Acting { role, superuser: false, definer, restricted: true })
    }

    fn act(&mut self, acting: Acting) -> Result<Before> {
        let before =
            Before { acting: self.acting, user: self.catalog.user, superuser: self.superuser };
        self.catalog.set_user(acting.role);
        match self.is_superuser() {
            Ok(superuser) => {
                self.superuser = superuser;
                self.acting = Some(Acting { superuser, ..acting });
                Ok(before)
            }
            Err(e) => {
                self.catalog.set_user(before.user);
                Err(e)
            }
        }
    }

    pub(crate) fn act_as_before(&mut self, before: Before) {
        self.acting = before.acting;
        self.catalog.set_user(before.user);
        self.superuser = before.superuser;
    }

    /// After parameters have been taken over: who acts stays.
    pub(crate) fn keep_acting(&mut self) {
        if let Some(acting) = self.acting {
            self.catalog.set_user(acting.role);
            self.superuser = acting.superuser;
        }
    }

    /// 42501 where roles cannot be changed.
    pub(crate) fn check_may_change_role(&self, parameter: &str) -> Result<()> {
        let within = match self.acting {
            Some(acting) if acting.definer => "security-definer function",
            Some(acting) if acting.restricted => "security-restricted operation",
            _ => return Ok(()),
        };
        Err(pg_err!(INSUFFICIENT_PRIVILEGE, "cannot set parameter \"{parameter}\" within {within}"))
    }
}
