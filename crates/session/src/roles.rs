//! The roles of a session.

use ids::Oid;

/// The roles of a session, except for the current one, which is stored with the catalog state.
pub(crate) struct Roles {
    /// The role that logged in.
    pub(crate) login_user: Oid,
    pub(crate) login_superuser: bool,
    /// True if `session_user` is a superuser.
    pub(crate) session_superuser: bool,
    /// True if `current_user` is a superuser.
    pub(crate) superuser: bool,
    /// The temporarily switched role of a SECURITY DEFINER function or a maintenance command.
    pub(crate) switched: Option<SwitchedRole>,
    /// Role names of SET ROLE and SET SESSION AUTHORIZATION, with the role's OID and whether it is
    /// a superuser.
    pub(crate) set: Vec<(String, Oid, bool)>,
}

impl Roles {
    /// Before the login role is known, the session has all privileges.
    pub(crate) fn of_login(login_user: Oid) -> Roles {
        Roles {
            login_user,
            login_superuser: true,
            session_superuser: true,
            superuser: true,
            switched: None,
            set: Vec::new(),
        }
    }
}

/// A temporarily switched role.
#[derive(Clone, Copy)]
pub(crate) struct SwitchedRole {
    pub(crate) role: Oid,
    pub(crate) superuser: bool,
    /// In a SECURITY DEFINER function.
    pub(crate) definer: bool,
    /// In a security-restricted operation: a command that evaluates expressions of a table's owner.
    pub(crate) restricted: bool,
}
