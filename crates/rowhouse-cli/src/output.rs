//! Results on standard output, and messages on standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use rowhouse::key::escape;
use rowhouse::{Error, Result};
use rowhouse_model::escape_controls;

/// Writes a text and a newline to standard output. It is no error if the reader has gone, as
/// `head` does.
///
/// # Errors
/// `Io` if the output cannot be written.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut output = Escaped::new(io::stdout().lock());
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a message and a newline to standard error, if that is open.
pub(crate) fn report(message: impl Display) {
    let _ = writeln!(Escaped::new(io::stderr().lock()), "{message}");
}

/// A line on standard error that shows progress and is overwritten; nothing if that is not a
/// terminal. It is erased at the end.
pub(crate) struct StatusLine {
    is_seen: bool,
    is_drawn: bool,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        Self { is_seen: io::stderr().is_terminal(), is_drawn: false }
    }

    /// Returns true if the line can be seen.
    pub(crate) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Shows a text that replaces the one before.
    pub(crate) fn show(&mut self, text: impl Display) {
        if self.is_seen {
            self.is_drawn = true;
            let text = escape_controls(&text.to_string());
            // A closed terminal is no reason to stop.
            let _ = write!(io::stderr(), "\r{text}\x1b[K");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.is_drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// An output for text that others may have chosen: names, values, messages. Control characters
/// other than newlines and tabs are written as `\xHH`, so that they do not reach a terminal, which
/// obeys them.
pub(crate) struct Escaped<W>(W);

impl<W: Write> Escaped<W> {
    pub(crate) fn new(output: W) -> Self {
        Self(output)
    }
}

impl<W: Write> Write for Escaped<W> {
    /// Takes whole characters, as formatted text comes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        for (at, len) in controls(bytes) {
            self.0.write_all(&bytes[written..at])?;
            self.0.write_all(escape(&bytes[at..at + len]).as_bytes())?;
            written = at + len;
        }
        self.0.write_all(&bytes[written..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the offsets and lengths for the control characters to escape: the ASCII ones, and U+0080
/// to U+009F.
fn controls(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    bytes.iter().enumerate().filter_map(|(at, byte)| match byte {
        b'\n' | b'\t' => None,
        0..0x20 | 0x7F => Some((at, 1)),
        0xC2 if matches!(bytes.get(at + 1), Some(0x80..=0x9F)) => Some((at, 2)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, shown) in [
            ("plain, 分\n\tx", "plain, 分\n\tx"),
            ("\x1b[31mred\x07\r\n", "\\x1B[31mred\\x07\\x0D\n"),
            ("a\u{9b}2J\u{7f}é\u{a0}", "a\\xC2\\x9B2J\\x7Fé\u{a0}"),
        ] {
            let mut out = Vec::new();
            write!(Escaped::new(&mut out), "{text}").unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), shown);
        }
    }
}
