//! Encodes the messages of the server into a buffer, which the caller sends.
//!
//! Counterpart: pqformat.c.

use crate::origin::origin;
use pgerror::{Fields, PgError, Severity, SqlState};

/// Format code of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    #[default]
    Text,
    Binary,
    /// An unknown code. An error only when a value is converted with it.
    Unknown(i16),
}

impl Format {
    pub fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
            Format::Unknown(code) => code,
        }
    }

    pub fn of_code(code: i16) -> Format {
        match code {
            0 => Format::Text,
            1 => Format::Binary,
            other => Format::Unknown(other),
        }
    }
}

/// 22023 for a value with an unknown format code.
pub fn unsupported_format(code: i16) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}"))
}

/// The transaction status in ReadyForQuery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionStatus {
    Idle = b'I' as isize,
    InBlock = b'T' as isize,
    Failed = b'E' as isize,
}

/// A column of RowDescription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldDescription {
    pub name: String,
    /// OID of the table and number of the column it comes from; 0 if it is not a table column.
    pub table: u32,
    pub column: i16,
    pub type_oid: u32,
    pub type_len: i16,
    pub typmod: i32,
    pub format: Format,
}

/// Begins a message: its type byte and room for the length.
fn begin(out: &mut Vec<u8>, kind: u8) -> usize {
    out.push(kind);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    at
}

/// Fills in the length. Rows and values are limited to 1 GB each; larger messages are rejected
/// earlier.
fn finish(out: &mut [u8], at: usize) {
    let len = u32::try_from(out.len() - at).expect("a message is below 4 GB");
    out[at..at + 4].copy_from_slice(&len.to_be_bytes());
}

fn string(out: &mut Vec<u8>, text: &str) {
    // A zero byte would end the string early.
    if text.as_bytes().contains(&0) {
        out.extend(text.bytes().filter(|&b| b != 0));
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(0);
}

fn empty(out: &mut Vec<u8>, kind: u8) {
    out.extend_from_slice(&[kind, 0, 0, 0, 4]);
}

pub fn authentication_ok(out: &mut Vec<u8>) {
    let at = begin(out, b'R');
    out.extend_from_slice(&0u32.to_be_bytes());
    finish(out, at);
}

pub fn authentication_cleartext(out: &mut Vec<u8>) {
    let at = begin(out, b'R');
    out.extend_from_slice(&3u32.to_be_bytes());
    finish(out, at);
}

pub fn authentication_md5(out: &mut Vec<u8>, salt: [u8; 4]) {
    let at = begin(out, b'R');
    out.extend_from_slice(&5u32.to_be_bytes());
    out.extend_from_slice(&salt);
    finish(out, at);
}

/// AuthenticationSASL with the mechanisms offered.
pub fn authentication_sasl(out: &mut Vec<u8>, mechanisms: &[&str]) {
    let at = begin(out, b'R');
    out.extend_from_slice(&10u32.to_be_bytes());
    for m in mechanisms {
        string(out, m);
    }
    out.push(0);
    finish(out, at);
}

/// AuthenticationSASLContinue, or AuthenticationSASLFinal if `last`.
pub fn authentication_sasl_data(out: &mut Vec<u8>, last: bool, data: &[u8]) {
    let at = begin(out, b'R');
    out.extend_from_slice(&(if last { 12u32 } else { 11 }).to_be_bytes());
    out.extend_from_slice(data);
    finish(out, at);
}

pub fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    let at = begin(out, b'S');
    string(out, name);
    string(out, value);
    finish(out, at);
}

pub fn backend_key_data(out: &mut Vec<u8>, pid: i32, key: i32) {
    let at = begin(out, b'K');
    out.extend_from_slice(&pid.to_be_bytes());
    out.extend_from_slice(&key.to_be_bytes());
    finish(out, at);
}

/// The newest minor version supported, and the unrecognized protocol options.
pub fn negotiate_protocol_version(out: &mut Vec<u8>, minor: u32, unknown: &[String]) {
    let at = begin(out, b'v');
    out.extend_from_slice(&(3 << 16 | minor).to_be_bytes());
    out.extend_from_slice(&(unknown.len() as u32).to_be_bytes());
    for name in unknown {
        string(out, name);
    }
    finish(out, at);
}

pub fn ready_for_query(out: &mut Vec<u8>, status: TransactionStatus) {
    out.extend_from_slice(&[b'Z', 0, 0, 0, 5, status as u8]);
}

pub fn command_complete(out: &mut Vec<u8>, tag: &str) {
    let at = begin(out, b'C');
    string(out, tag);
    finish(out, at);
}

/// CommandComplete with a row count at the end of the tag.
pub fn command_complete_count(out: &mut Vec<u8>, verb: &str, count: u64) {
    let at = begin(out, b'C');
    out.extend_from_slice(verb.as_bytes());
    out.push(b' ');
    decimal(out, count);
    out.push(0);
    finish(out, at);
}

/// Appends a number in decimal.
#[inline]
pub fn decimal(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

pub fn empty_query_response(out: &mut Vec<u8>) {
    empty(out, b'I');
}

pub fn parse_complete(out: &mut Vec<u8>) {
    empty(out, b'1');
}

pub fn bind_complete(out: &mut Vec<u8>) {
    empty(out, b'2');
}

pub fn close_complete(out: &mut Vec<u8>) {
    empty(out, b'3');
}

pub fn no_data(out: &mut Vec<u8>) {
    empty(out, b'n');
}

pub fn portal_suspended(out: &mut Vec<u8>) {
    empty(out, b's');
}

pub fn parameter_description(out: &mut Vec<u8>, types: impl ExactSizeIterator<Item = u32>) {
    let at = begin(out, b't');
    out.extend_from_slice(&(types.len() as u16).to_be_bytes());
    for t in types {
        out.extend_from_slice(&t.to_be_bytes());
    }
    finish(out, at);
}

pub fn row_description(out: &mut Vec<u8>, fields: &[FieldDescription]) {
    let at = begin(out, b'T');
    out.extend_from_slice(&(fields.len() as u16).to_be_bytes());
    for f in fields {
        string(out, &f.name);
        out.extend_from_slice(&f.table.to_be_bytes());
        out.extend_from_slice(&f.column.to_be_bytes());
        out.extend_from_slice(&f.type_oid.to_be_bytes());
        out.extend_from_slice(&f.type_len.to_be_bytes());
        out.extend_from_slice(&f.typmod.to_be_bytes());
        out.extend_from_slice(&f.format.code().to_be_bytes());
    }
    finish(out, at);
}

/// Encodes one DataRow, column by column.
pub struct DataRow<'a> {
    out: &'a mut Vec<u8>,
    at: usize,
}

impl<'a> DataRow<'a> {
    pub fn begin(out: &'a mut Vec<u8>, columns: usize) -> DataRow<'a> {
        let at = begin(out, b'D');
        out.extend_from_slice(&(columns as u16).to_be_bytes());
        DataRow { out, at }
    }

    #[inline]
    pub fn null(&mut self) {
        self.out.extend_from_slice(&u32::MAX.to_be_bytes());
    }

    #[inline]
    pub fn value(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        self.out.extend_from_slice(bytes);
    }

    /// Bytes of the message so far, without type and length.
    pub fn length(&self) -> usize {
        self.out.len() - self.at - 4
    }

    /// The output buffer, to reserve space for a large value.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// A value appended by `write`.
    #[inline]
    pub fn value_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(self.out);
        let len = (self.out.len() - at - 4) as u32;
        self.out[at..at + 4].copy_from_slice(&len.to_be_bytes());
    }

    pub fn finish(self) {
        finish(self.out, self.at);
    }
}

/// The values of a DataRow message; `None` is NULL.
pub fn data_row_values(message: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = message.get(7..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length);
        if length == u32::MAX {
            rest = tail;
            return Some(None);
        }
        let (value, tail) = tail.split_at_checked(length as usize)?;
        rest = tail;
        Some(Some(value))
    })
}

/// FunctionCallResponse; `None` is NULL.
pub fn function_call_response(out: &mut Vec<u8>, value: Option<&[u8]>) {
    let at = begin(out, b'V');
    match value {
        None => out.extend_from_slice(&u32::MAX.to_be_bytes()),
        Some(bytes) => {
            out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            out.extend_from_slice(bytes);
        }
    }
    finish(out, at);
}

/// CopyInResponse: asks the client for data.
pub fn copy_in_response(out: &mut Vec<u8>, format: Format, columns: usize) {
    copy_response(out, b'G', format, columns);
}

/// CopyOutResponse: announces data.
pub fn copy_out_response(out: &mut Vec<u8>, format: Format, columns: usize) {
    copy_response(out, b'H', format, columns);
}

fn copy_response(out: &mut Vec<u8>, kind: u8, format: Format, columns: usize) {
    let at = begin(out, kind);
    out.push(format.code() as u8);
    out.extend_from_slice(&(columns as u16).to_be_bytes());
    for _ in 0..columns {
        out.extend_from_slice(&format.code().to_be_bytes());
    }
    finish(out, at);
}

pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) {
    copy_data_header(out, data.len());
    out.extend_from_slice(data);
}

/// The start of a CopyData message whose `data_bytes` bytes of data are sent separately.
pub fn copy_data_header(out: &mut Vec<u8>, data_bytes: usize) {
    let length = u32::try_from(data_bytes + 4).expect("a message is below 4 GB");
    out.push(b'd');
    out.extend_from_slice(&length.to_be_bytes());
}

pub fn copy_done(out: &mut Vec<u8>) {
    empty(out, b'c');
}

/// NotificationResponse. The texts are in the encoding of the client and contain no zero bytes.
pub fn notification(out: &mut Vec<u8>, pid: i32, channel: &[u8], payload: &[u8]) {
    let at = begin(out, b'A');
    out.extend_from_slice(&pid.to_be_bytes());
    for text in [channel, payload] {
        out.extend_from_slice(text);
        out.push(0);
    }
    finish(out, at);
}

/// ErrorResponse or NoticeResponse, depending on the severity.
pub fn report(out: &mut Vec<u8>, report: &PgError) {
    let f = report.fields();
    let kind = if f.severity >= Severity::Error { b'E' } else { b'N' };
    let at = begin(out, kind);
    fields(out, f);
    out.push(0);
    finish(out, at);
}

/// An error in the format of protocol versions before 3.0: one text without a length.
pub fn report_old(out: &mut Vec<u8>, report: &PgError) {
    let f = report.fields();
    out.push(b'E');
    string(out, &format!("{}:  {}\n", f.severity.as_str(), f.message));
}

fn fields(out: &mut Vec<u8>, f: &Fields) {
    let mut field = |code: u8, text: &str| {
        out.push(code);
        string(out, text);
    };
    field(b'S', f.severity.as_str());
    field(b'V', f.severity.as_str());
    field(b'C', f.code.as_str());
    field(b'M', &f.message);
    let number = |p: Option<u32>| p.map(|p| p.to_string());
    let (position, internal_position) = (number(f.position), number(f.internal_position));
    let context = (!f.context.is_empty()).then(|| f.context.join("\n"));
    // In the order of `send_message_to_frontend`.
    let optional = [
        (b'D', &f.detail),
        (b'H', &f.hint),
        (b'P', &position),
        (b'p', &internal_position),
        (b'q', &f.internal_query),
        (b'W', &context),
        (b's', &f.names.schema),
        (b't', &f.names.table),
        (b'c', &f.names.column),
        (b'd', &f.names.data_type),
        (b'n', &f.names.constraint),
    ];
    for (code, text) in optional {
        if let Some(text) = text {
            field(code, text);
        }
    }
    if let Some((routine, file)) = origin(f) {
        field(b'F', file);
        field(b'R', routine);
    }
}
