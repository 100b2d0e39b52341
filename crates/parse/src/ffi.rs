//! The foreign function interface to PostgreSQL's parser, and the only module that uses it: it runs
//! the parser in a memory context of its own, translates the tree to [`crate::ast`] and errors to
//! `PgError`, and frees the C memory.
//!
//! The parser keeps its state in C thread-local variables; a call leaves no state behind in them,
//! so any thread may parse at any time. The first call on a thread allocates a pthread key, which
//! is never freed.
//!
//! Reading order: this file, `convert`, `nodes`, `enums`, `newer`, `words`.

mod convert;
mod enums;
mod newer;
mod nodes;
mod words;

use crate::ast::{Node, RawStmt};
use crate::options::{Mode, Options};
use convert::{ConversionState, Convert};
use pg_raw_parse::list::{CastNodeList, NodeList};
use pg_raw_parse::{nodes as rnodes, raw};
use pgerror::{PgError, Result, pg_err};
use std::ffi::{CStr, CString};
use words::Words;

/// A memory context of the C side; dropping it frees all memory that the parser allocated.
struct Context(raw::MemoryContext);

impl Context {
    fn new() -> Context {
        // SAFETY: initialization is idempotent per thread; the name is a static string and the
        // parent is null, so only `drop` frees the context.
        unsafe {
            raw::pg_query_init();
            Context(raw::AllocSetContextCreateInternal(
                std::ptr::null_mut(),
                c"parse".as_ptr(),
                raw::ALLOCSET_DEFAULT_MINSIZE as raw::Size,
                raw::ALLOCSET_DEFAULT_INITSIZE as raw::Size,
                raw::ALLOCSET_DEFAULT_MAXSIZE as raw::Size,
            ))
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context belongs to this value, is not current, and has no references to it:
        // the tree was copied, and borrows of it end before the owner of this value.
        unsafe { raw::MemoryContextDelete(self.0) }
    }
}

/// Treats a typed list of the binding as a list of nodes. The binding derives the element types
/// from comments in a header and some are wrong, so each node's tag is checked instead.
fn untyped<T>(list: &CastNodeList<T>) -> &NodeList {
    // SAFETY: `CastNodeList` is `repr(transparent)` over `NodeList`.
    unsafe { &*std::ptr::from_ref(list).cast::<NodeList>() }
}

pub(crate) fn parse(sql: &str, options: Options) -> Result<Vec<RawStmt>> {
    let words = Words::new(sql, options.standard_conforming_strings);
    let words = words.as_ref();
    let text = CString::new(words.map_or(sql, |w| &w.text)).map_err(|_| {
        pg_err!(CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00")
    })?;
    let context = Context::new();
    // SAFETY: the context switched to is live and the previous one is restored; the parser catches
    // its own errors (PG_TRY) and returns them, so no longjmp crosses this frame; `text` is
    // zero-terminated.
    let result = unsafe {
        let before = raw::MemoryContextSwitchTo(context.0);
        let result = raw::pg_query_raw_parse(text.as_ptr(), options.bits());
        raw::MemoryContextSwitchTo(before);
        result
    };
    if !result.stderr_buffer.is_null() {
        // SAFETY: the parser allocated it with malloc and transfers ownership to the caller.
        unsafe { libc_free(result.stderr_buffer.cast()) };
    }
    if !result.error.is_null() {
        return Err(take_error(result.error, sql, words));
    }
    if result.tree.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: a non-null list of the C side, alive until `context` is dropped at the end of this
    // function; elements are valid pointers to nodes.
    let cells = unsafe {
        let list = &*result.tree;
        std::slice::from_raw_parts(list.elements, list.length as usize)
    };
    let mut out = Vec::with_capacity(cells.len());
    for cell in cells {
        // SAFETY: `ptr_value` is the active member of the union in a list of nodes.
        let node = unsafe { *cell.ptr_value }.cast::<raw::Node>();
        out.push(statement(node, sql, options, words)?);
    }
    Ok(out)
}

/// Translates one element of the parser's result: a statement, or in other modes the mode's result.
fn statement(
    node: *mut raw::Node,
    sql: &str,
    options: Options,
    words: Option<&Words>,
) -> Result<RawStmt> {
    let mut cx = ConversionState::new(words);
    // SAFETY: `node` points to a live node, whose tag determines its type; the borrow ends with
    // this call, before the memory context is deleted.
    unsafe {
        match (*node).type_ {
            raw::NodeTag::T_RawStmt => {
                let raw_stmt = &*node.cast::<rnodes::RawStmt>();
                let stmt = raw_stmt.stmt().convert(&mut cx)?;
                let (location, len) = (raw_stmt.stmt_location, raw_stmt.stmt_len);
                let conforming = options.standard_conforming_strings;
                if let Some(error) = cx.newer.error(sql, location, conforming) {
                    return Err(error);
                }
                Ok(RawStmt { stmt, location, len, depth: cx.deepest })
            }
            raw::NodeTag::T_TypeName if options.mode == Mode::TypeName => {
                let name = &*node.cast::<rnodes::TypeName>();
                let stmt = Node::TypeName(Box::new(name.convert(&mut cx)?));
                Ok(RawStmt::within(stmt, cx.deepest))
            }
            _ => Err(PgError::internal("unexpected node at the top of the parse tree")),
        }
    }
}

/// Converts the parser's error and frees it.
#[cold]
fn take_error(error: *mut raw::PgQueryError, sql: &str, words: Option<&Words>) -> PgError {
    // SAFETY: non-null, allocated by the parser, freed here exactly once; its texts are C strings.
    let (message, function, position) = unsafe {
        let message = if (*error).message.is_null() {
            String::from("syntax error")
        } else {
            CStr::from_ptr((*error).message).to_string_lossy().into_owned()
        };
        let function = if (*error).funcname.is_null() {
            String::new()
        } else {
            CStr::from_ptr((*error).funcname).to_string_lossy().into_owned()
        };
        let position = (*error).cursorpos;
        raw::pg_query_free_error(error);
        (message, function, position)
    };
    let position = u32::try_from(position).unwrap_or(0);
    let (message, position) = match words {
        Some(words) => words.restored_error(&message, position, sql),
        None => (message, position),
    };
    crate::error::from_parser(message, &function, position)
}

unsafe extern "C" {
    /// The C library's `free`, for the buffer that the parser allocated with malloc.
    #[link_name = "free"]
    fn libc_free(memory: *mut std::ffi::c_void);
}
