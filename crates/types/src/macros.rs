//! The form in which every module lists its functions.

/// `scalars! { NAME; "prosrc" => function, … }`: a table of scalar built-ins.
macro_rules! scalars {
    ($table:ident; $($name:literal => $f:expr),* $(,)?) => {
        /// The module's scalar functions, by `pg_proc.prosrc`.
        pub(crate) const $table: &[$crate::builtin::Builtin] = &[$($crate::builtin::Builtin {
            name: $name,
            f: $crate::builtin::BuiltinFn::Scalar($f),
        }),*];
    };
}
