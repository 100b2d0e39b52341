//! Temporary switches of the current role: for SECURITY DEFINER functions, and for expressions that
//! maintenance commands evaluate as the owner of a table. Counterpart: utils/init/miscinit.c
//! (`SetUserIdAndSecContext`).
//!
//! INVARIANT: while a role is switched, it is not changed in any other way: neither by SET ROLE nor
//! by another setting.

use crate::roles::SwitchedRole;
use crate::state::State;
use ids::Oid;
use pgerror::{Result, pg_err};

/// The role before a switch.
pub(crate) struct SavedRole {
    switched_role: Option<SwitchedRole>,
    user: Oid,
    superuser: bool,
}

impl State {
    /// Switches to the owner of a SECURITY DEFINER function.
    pub(crate) fn switch_to_definer(&mut self, role: Oid) -> Result<SavedRole> {
        let restricted = self.roles.switched.is_some_and(|a| a.restricted);
        self.switch_role(SwitchedRole { role, superuser: false, definer: true, restricted })
    }

    /// Switches to the owner of a table, to evaluate its expressions in a maintenance command.
    pub(crate) fn switch_to_owner(&mut self, role: Oid) -> Result<SavedRole> {
        let definer = self.roles.switched.is_some_and(|a| a.definer);
        self.switch_role(SwitchedRole { role, superuser: false, definer, restricted: true })
    }

    fn switch_role(&mut self, switched_role: SwitchedRole) -> Result<SavedRole> {
        let before = SavedRole {
            switched_role: self.roles.switched,
            user: self.catalog.user,
            superuser: self.roles.superuser,
        };
        self.catalog.set_user(switched_role.role);
        match self.is_superuser() {
            Ok(superuser) => {
                self.roles.superuser = superuser;
                self.roles.switched = Some(SwitchedRole { superuser, ..switched_role });
                self.catalog.restricted = switched_role.restricted;
                Ok(before)
            }
            Err(e) => {
                self.catalog.set_user(before.user);
                Err(e)
            }
        }
    }

    pub(crate) fn restore_role(&mut self, before: SavedRole) {
        self.roles.switched = before.switched_role;
        self.catalog.restricted = before.switched_role.is_some_and(|role| role.restricted);
        self.catalog.set_user(before.user);
        self.roles.superuser = before.superuser;
    }

    /// Restores the switched role after settings were applied.
    pub(crate) fn reapply_switched_role(&mut self) {
        if let Some(switched_role) = self.roles.switched {
            self.catalog.set_user(switched_role.role);
            self.roles.superuser = switched_role.superuser;
        }
    }

    /// Error 42501 while a role is switched.
    pub(crate) fn check_may_change_role(&self, parameter: &str) -> Result<()> {
        let within = match self.roles.switched {
            Some(switched_role) if switched_role.definer => "security-definer function",
            Some(switched_role) if switched_role.restricted => "security-restricted operation",
            _ => return Ok(()),
        };
        Err(pg_err!(INSUFFICIENT_PRIVILEGE, "cannot set parameter \"{parameter}\" within {within}"))
    }
}
