//! The commands for which event triggers fire, and what they have done so far. Counterpart:
//! `EventTriggerQueryState` of event_trigger.c.

use catalog::ObjectAddress;
use ids::Oid;

/// An event for which event triggers fire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandEvent {
    Start,
    End,
    Drop,
    Rewrite,
}

impl CommandEvent {
    pub const ALL: [CommandEvent; 4] =
        [CommandEvent::Start, CommandEvent::End, CommandEvent::Drop, CommandEvent::Rewrite];

    /// The name in `pg_event_trigger.evtevent`.
    pub fn name(self) -> &'static str {
        match self {
            CommandEvent::Start => "ddl_command_start",
            CommandEvent::End => "ddl_command_end",
            CommandEvent::Drop => "sql_drop",
            CommandEvent::Rewrite => "table_rewrite",
        }
    }
}

/// The kind and identity of an object, as `pg_identify_object` returns them.
#[derive(Clone, Debug, Default)]
pub struct ObjectIdentity {
    pub kind: String,
    pub identity: Option<String>,
    /// The names and arguments of `pg_identify_object_as_address`.
    pub names: Vec<String>,
    pub args: Vec<String>,
}

/// An object that a command has dropped.
#[derive(Clone, Debug)]
pub struct DroppedObject {
    pub address: ObjectAddress,
    /// The command named it.
    pub original: bool,
    /// A normal dependency led to it.
    pub normal: bool,
    pub is_temporary: bool,
    pub schema: Option<String>,
    pub name: Option<String>,
    pub identity: ObjectIdentity,
}

/// What a command has created or changed.
#[derive(Clone, Debug)]
pub enum ChangedObject {
    One(ObjectAddress),
    /// Privileges of objects of this type.
    Privileges(&'static str),
}

/// A part of a command, with the tag of the statement that does the same.
#[derive(Clone, Debug)]
pub struct CollectedCommand {
    pub object: ChangedObject,
    pub tag: &'static str,
    /// It is part of an extension's script.
    pub in_extension: bool,
}

/// A running command.
#[derive(Default)]
pub struct RunningCommand {
    pub tag: &'static str,
    /// In the order of their deletion.
    pub dropped: Vec<DroppedObject>,
    pub commands: Vec<CollectedCommand>,
    /// Functions of the event `sql_drop` are being called.
    pub in_drop: bool,
    /// The table that is about to be rewritten, and the reasons (bits of `AT_REWRITE_…`).
    pub rewritten: Option<(Oid, i32)>,
}

/// The running commands for which event triggers fire, each within the one before.
#[derive(Default)]
pub struct RunningCommands(pub Vec<RunningCommand>);

impl RunningCommands {
    /// The innermost running command.
    pub fn innermost(&mut self) -> Option<&mut RunningCommand> {
        self.0.last_mut()
    }
}
