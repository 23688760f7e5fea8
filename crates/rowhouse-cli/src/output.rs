//! Results on standard output.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use rowhouse::{Error, Result};

/// Writes a text and a newline to standard output. It is no error if the reader has gone, as
/// `head` does.
///
/// # Errors
/// `Io` if the output cannot be written.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}
