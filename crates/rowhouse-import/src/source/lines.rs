//! Lines of text files, and errors in reading them.

use std::io;
use std::path::Path;

use rowhouse::Error;

/// Returns the error for a file that could not be read at a line.
pub(super) fn unreadable(path: &Path, line: u64, source: io::Error) -> Error {
    let path = path.display();
    match source.kind() {
        io::ErrorKind::InvalidData => Error::corruption(format!(
            "the file cannot be decoded: {source}: file={path}, line={line}"
        )),
        io::ErrorKind::Unsupported => {
            Error::unsupported(format!("{source}: file={path}, line={line}"))
        }
        io::ErrorKind::FileTooLarge => Error::invalid(format!(
            "a row is too long, or a quote is not closed: file={path}, line={line}, \
             bytes_max={ROW_LEN_MAX}"
        )),
        _ => Error::io(format_args!("cannot read {path}, line {line}"), source),
    }
}

/// Returns a line without the line end. Blanks before the end are retained: they may be values.
pub(super) fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The byte order mark with which some programs begin a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The longest row in a text file, in bytes: a quote that is never closed would take the rest of
/// the file.
pub(super) const ROW_LEN_MAX: u64 = 64 << 20;
