//! Calls of built-in functions for interpreters that compute the arguments themselves.

use crate::host::CallContext;
use crate::program::{Call, EvalState, Node, Program};
use pgerror::Result;
use types::{Datum, DatumRef, FnContext, limits};

/// A call of a strict built-in function, without the expressions of its arguments.
pub struct DirectCall(Box<Call>);

impl Program {
    /// True if the program is a call of a strict built-in function.
    pub fn is_direct_call(&self) -> bool {
        match &self.root {
            Node::Call(call) => call.strict && call.site == 0 && !call.variadic_array,
            _ => false,
        }
    }

    /// The call that the program is; see [`Program::is_direct_call`].
    pub fn into_direct_call(self) -> Option<DirectCall> {
        match self.root {
            Node::Call(mut call) => {
                call.args.clear();
                Some(DirectCall(call))
            }
            _ => None,
        }
    }
}

impl DirectCall {
    /// Of an array, the function reads only dimensions and bounds.
    pub fn reads_header(&self) -> bool {
        self.0.reads_header
    }

    /// Calls the function with arguments that are not NULL, of the types for which it was compiled.
    /// A state belongs to one call.
    #[inline]
    pub fn invoke(
        &self,
        st: &mut EvalState,
        host: &mut dyn FnContext,
        args: &[DatumRef<'_>],
    ) -> Result<Datum> {
        let call = &*self.0;
        if st.extras.is_empty() {
            st.extras.push(None);
        }
        let mut cx = CallContext {
            host,
            collation: call.collation,
            arg_types: &call.arg_types,
            result_type: call.result_type,
            variadic_array: false,
            extra: &mut st.extras[0],
        };
        let result = (call.f)(&mut cx, args);
        if let Ok(Datum::Bytes(bytes)) = &result
            && bytes.len() >= limits::LONG_BYTES
        {
            limits::check_length(bytes.len())?;
            types::fn_context::SessionContext::check_interrupts(&cx)?;
        }
        result
    }
}
