//! Conversion of the fields of a line to values. Counterpart: copyfromparse.c.

use catalog::encoding::UTF8;
use eval::{CallContext, Callee, TypeIo};
use ids::Oid;
use pgerror::{Result, pg_err};
use std::any::Any;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};
use utility::host::CommandHost;

/// The conversion of a field's text to a value.
pub(crate) enum Input {
    Int2,
    Int4,
    Int8,
    Text,
    /// varchar(n), or char(n), which is padded.
    Sized {
        chars: usize,
        pad: bool,
    },
    Function {
        io: Arc<TypeIo>,
        typmod: i32,
        extra: Option<Box<dyn Any + Send>>,
    },
}

impl Input {
    /// Calls the type's input or receive function.
    pub(crate) fn call(
        &mut self,
        host: &mut dyn CommandHost,
        ty: Oid,
        text: DatumRef<'_>,
    ) -> Result<Datum> {
        let Input::Function { io, typmod, extra } = self else {
            return host.functions().type_input(ty, text.as_bytes(), -1);
        };
        let Callee::Scalar(f) = io.input.callee else {
            return host.functions().type_input(ty, text.as_bytes(), *typmod);
        };
        let (param, modifier) = (Datum::oid(io.io_param), Datum::int4(*typmod));
        let mut cx = CallContext {
            host: host.functions(),
            collation: Oid::INVALID,
            arg_types: &[oids::CSTRING, io.io_param, oids::INT4],
            result_type: ty,
            variadic_array: false,
            extra,
        };
        f(&mut cx, &[text, param.as_ref(), modifier.as_ref()])
    }
}

/// Parses an integer of up to nine digits.
#[inline]
pub(crate) fn small_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut n = 0i64;
    for &d in digits {
        let d = d.wrapping_sub(b'0');
        if d > 9 {
            return None;
        }
        n = n * 10 + i64::from(d);
    }
    Some(if negative { -n } else { n })
}

/// 22021 for a line that is not valid in its encoding. `text` begins with the line and may have
/// more bytes, which a faulty character takes up in the message.
pub(crate) fn check_encoding(line: &[u8], text: &[u8], encoding: i32) -> Result<()> {
    if encoding != UTF8 {
        return catalog::conversion::verify(line, encoding);
    }
    let bad = match std::str::from_utf8(line) {
        Ok(_) if !line.contains(&0) => return Ok(()),
        Ok(_) => vec![0u8],
        Err(e) => {
            let at = e.valid_up_to();
            // The sequence length implied by the first byte.
            let announced = match line[at] {
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf7 => 4,
                _ => 1,
            };
            text[at..text.len().min(at + announced)].to_vec()
        }
    };
    let shown: Vec<String> = bad.iter().map(|b| format!("0x{b:02x}")).collect();
    Err(pg_err!(
        CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"UTF8\": {}",
        shown.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers() {
        assert_eq!(small_int(b"-12"), Some(-12));
        assert_eq!(small_int(b"999999999"), Some(999_999_999));
        for other in [&b""[..], b"-", b"1000000000", b" 1", b"1.0"] {
            assert_eq!(small_int(other), None);
        }
    }

    #[test]
    fn invalid_utf8_is_rejected() {
        let e = check_encoding(b"ab\xff", b"ab\xff\n", UTF8).unwrap_err();
        assert_eq!(e.message(), "invalid byte sequence for encoding \"UTF8\": 0xff");
    }
}
