//! Converts the texts in messages between the encodings of server and client.

use crate::backend::Format;

/// Converts a text.
pub type Convert<'a, E> = dyn FnMut(&[u8]) -> Result<Vec<u8>, E> + 'a;

/// The messages for the client with their texts converted: names of columns, reports and
/// parameters. Values of rows and COPY data, which are converted before they are written, and
/// notifications stay as they are.
pub fn for_client(messages: &[u8], convert: &mut dyn FnMut(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(messages.len());
    let mut rest = messages;
    while let Some(length) = message_length(rest) {
        let (message, tail) = rest.split_at(length);
        rest = tail;
        let body = &message[5..];
        if body.is_ascii() || !matches!(message[0], b'E' | b'N' | b'S' | b'T') {
            out.extend_from_slice(message);
            continue;
        }
        let at = out.len() + 1;
        out.extend_from_slice(&message[..5]);
        match message[0] {
            b'T' => convert_columns(body, convert, &mut out),
            // Strings, each with its zero byte, and codes in ASCII.
            _ => out.extend(convert_strings(body, convert)),
        }
        set_length(&mut out, at);
    }
    // The beginning of a message whose end is sent separately.
    out.extend_from_slice(rest);
    out
}

/// The length of the first message, if it is complete.
fn message_length(messages: &[u8]) -> Option<usize> {
    let length = 1 + usize::try_from(integer(messages, 1)?).ok()?;
    (length <= messages.len()).then_some(length)
}

fn integer(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|b| u32::from_be_bytes(*b))
}

fn set_length(out: &mut [u8], at: usize) {
    let length = u32::try_from(out.len() - at).expect("a message is below 4 GB");
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn convert_strings(body: &[u8], convert: &mut dyn FnMut(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = body.split(|b| *b == 0).map(convert).collect();
    parts.join(&0)
}

/// RowDescription: a count, and for each column a string and 18 bytes.
fn convert_columns(body: &[u8], convert: &mut dyn FnMut(&[u8]) -> Vec<u8>, out: &mut Vec<u8>) {
    let (count, mut rest) = body.split_at(2);
    out.extend_from_slice(count);
    while let Some(end) = rest.iter().position(|b| *b == 0) {
        out.extend(convert(&rest[..end]));
        let next = (end + 1 + 18).min(rest.len());
        out.extend_from_slice(&rest[end..next]);
        rest = &rest[next..];
    }
}

/// The body of a client's message with its texts converted: statements, names and values in text
/// format. A malformed message stays as it is from the fault on.
pub fn from_client<E>(kind: u8, body: &[u8], convert: &mut Convert<'_, E>) -> Result<Vec<u8>, E> {
    let mut r = Recoder { rest: body, out: Vec::with_capacity(body.len()), convert };
    match kind {
        b'Q' | b'E' | b'f' => r.string()?,
        b'P' => {
            r.string()?;
            r.string()?;
        }
        b'D' | b'C' => {
            r.copy(1);
            r.string()?;
        }
        b'B' => {
            r.string()?;
            r.string()?;
            r.values()?;
        }
        b'F' => {
            r.copy(4);
            r.values()?;
        }
        _ => {}
    }
    r.out.extend_from_slice(r.rest);
    Ok(r.out)
}

struct Recoder<'a, 'c, E> {
    rest: &'a [u8],
    out: Vec<u8>,
    convert: &'c mut Convert<'c, E>,
}

impl<E> Recoder<'_, '_, E> {
    /// Copies bytes, as many as there are.
    fn copy(&mut self, count: usize) {
        let (head, tail) = self.rest.split_at(count.min(self.rest.len()));
        self.out.extend_from_slice(head);
        self.rest = tail;
    }

    fn string(&mut self) -> Result<(), E> {
        let Some(end) = self.rest.iter().position(|b| *b == 0) else { return Ok(()) };
        let text = (self.convert)(&self.rest[..end])?;
        self.out.extend(text);
        self.rest = &self.rest[end..];
        self.copy(1);
        Ok(())
    }

    fn count(&mut self) -> Option<usize> {
        let count = self.rest.first_chunk::<2>().map(|b| usize::from(u16::from_be_bytes(*b)))?;
        self.copy(2);
        Some(count)
    }

    /// Format codes and values.
    fn values(&mut self) -> Result<(), E> {
        let Some(formats) = self.count() else { return Ok(()) };
        let codes: Vec<i16> = self
            .rest
            .chunks_exact(2)
            .take(formats)
            .map(|b| i16::from_be_bytes([b[0], b[1]]))
            .collect();
        self.copy(2 * formats);
        let Some(count) = self.count() else { return Ok(()) };
        for i in 0..count {
            let Some(length) = integer(self.rest, 0) else { return Ok(()) };
            let code = if formats == 1 { codes.first() } else { codes.get(i) };
            let is_text = Format::of_code(code.copied().unwrap_or(0)) == Format::Text;
            let end = 4usize.saturating_add(length as usize);
            // NULL has the length -1.
            if length == u32::MAX || !is_text {
                self.copy(if length == u32::MAX { 4 } else { end });
                continue;
            }
            let Some(value) = self.rest.get(4..end) else { return Ok(()) };
            let value = (self.convert)(value)?;
            let length = u32::try_from(value.len()).expect("a value is below 4 GB");
            self.out.extend_from_slice(&length.to_be_bytes());
            self.out.extend(value);
            self.rest = &self.rest[end..];
        }
        Ok(())
    }
}
