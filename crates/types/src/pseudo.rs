//! Pseudo-types: most input and output functions raise an error, because there are no values.
//! Counterpart: pseudotypes.c.

use crate::enums;
use pgerror::{Result, pg_err};
use values::array::io::array_send;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

fn no_input(name: &str) -> Result<Datum> {
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot accept a value of type {name}"))
}

fn no_output(name: &str) -> Result<Datum> {
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot display a value of type {name}"))
}

/// The output function of anyarray and anycompatiblearray.
fn array_out(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(Datum::bytes(values::array::io::array_out(cx, a[0])?))
}

macro_rules! pseudo_types {
    ($table:ident; $($name:literal)*) => {
        scalars! { $table; $(
            concat!($name, "_in") => |_, _| no_input($name),
            concat!($name, "_out") => |_, _| no_output($name),
        )* }
    };
}

pseudo_types! { FNS;
    "any" "anyelement" "anynonarray" "anycompatible" "anycompatiblenonarray" "event_trigger"
    "fdw_handler" "index_am_handler" "internal" "language_handler" "table_am_handler" "trigger"
    "tsm_handler"
}

macro_rules! trigger_functions {
    ($table:ident; $($name:literal)*) => {
        scalars! { $table; $(
            $name => |_, _| Err(pg_err!(
                E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                "function \"{}\" was not called by trigger manager",
                $name
            )),
        )* }
    };
}

// Functions of constraint triggers, which the trigger manager does not call by this table.
trigger_functions! { TRIGGER_FUNCTIONS;
    "RI_FKey_check_ins" "RI_FKey_check_upd" "RI_FKey_cascade_del" "RI_FKey_cascade_upd"
    "RI_FKey_restrict_del" "RI_FKey_restrict_upd" "RI_FKey_setnull_del" "RI_FKey_setnull_upd"
    "RI_FKey_setdefault_del" "RI_FKey_setdefault_upd" "RI_FKey_noaction_del"
    "RI_FKey_noaction_upd" "unique_key_recheck"
}

scalars! { OTHERS;
    "anyarray_in" => |_, _| no_input("anyarray"),
    "anyarray_recv" => |_, _| no_input("anyarray"),
    "anycompatiblearray_in" => |_, _| no_input("anycompatiblearray"),
    "anycompatiblearray_recv" => |_, _| no_input("anycompatiblearray"),
    "anycompatiblearray_out" => array_out,
    "anycompatiblearray_send" => |cx, a| array_send(cx, a[0]),
    "anyenum_in" => |_, _| no_input("anyenum"),
    "anyenum_out" => |cx, a| enums::label(cx, a[0].as_oid()),
    "anyrange_in" => |_, _| no_input("anyrange"),
    "anycompatiblerange_in" => |_, _| no_input("anycompatiblerange"),
    "anymultirange_in" => |_, _| no_input("anymultirange"),
    "anycompatiblemultirange_in" => |_, _| no_input("anycompatiblemultirange"),
    "shell_in" =>
        |_, _| Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot accept a value of a shell type")),
    "shell_out" =>
        |_, _| Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot display a value of a shell type")),
    "pg_node_tree_in" => |_, _| no_input("pg_node_tree"),
    "pg_node_tree_recv" => |_, _| no_input("pg_node_tree"),
    "pg_node_tree_out" => |_, a| Ok(a[0].to_owned()),
    "pg_node_tree_send" => |cx, a| values::text::send(cx, a[0]),
    "pg_dependencies_in" => |_, _| no_input("pg_dependencies"),
    "pg_mcv_list_in" => |_, _| no_input("pg_mcv_list"),
    "pg_ndistinct_in" => |_, _| no_input("pg_ndistinct"),
    "pg_ddl_command_in" => |_, _| no_input("pg_ddl_command"),
    "pg_ddl_command_out" => |_, _| no_output("pg_ddl_command"),
}
