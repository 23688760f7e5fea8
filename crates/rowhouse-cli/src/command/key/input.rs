//! Lines from standard input or from a file, with one request each.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rowhouse::{Error, Result};

use super::notation::Notation;
use super::outcome::{KeyError, KeyResult, Outcome};
use crate::output::report;

/// Calls `take` with every line from standard input, without the line end. An invalid request is
/// reported on standard error with its line number, and the next line is read.
pub(super) fn each_line(take: impl FnMut(&str) -> KeyResult) -> KeyResult {
    each_line_of(io::stdin().lock(), take)
}

/// As [`each_line`], for a file; `-` is standard input.
pub(super) fn each_line_in(file: &str, take: impl FnMut(&str) -> KeyResult) -> KeyResult {
    each_line_of(BufReader::new(opened(file)?), take)
}

/// Opens a file; `-` is standard input.
pub(super) fn opened(file: &str) -> Result<Box<dyn Read>> {
    if file == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let opened =
        File::open(file).map_err(|source| Error::io(format_args!("cannot open {file}"), source))?;
    Ok(Box::new(opened))
}

/// Returns the keys in a file, one per line. A key that cannot be read is an error: without it, the
/// others would weigh more.
pub(super) fn keys_in(path: &Path, notation: Notation) -> Result<Vec<Vec<u8>>> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))?;
    let key = |(nth, line): (usize, &str)| {
        let at_line =
            |error: Error| error.with_context(format_args!("{}, line {}", path.display(), nth + 1));
        notation.read(line).map_err(at_line)
    };
    text.lines().enumerate().map(key).collect()
}

fn each_line_of(mut input: impl BufRead, mut take: impl FnMut(&str) -> KeyResult) -> KeyResult {
    let mut verdict = Outcome::Fine;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|source| Error::io("cannot read the input", source))? == 0 {
            break;
        }
        let taken = text(&line).map_err(KeyError::from).and_then(&mut take);
        verdict = verdict.and(match taken {
            Err(KeyError::Request(error)) => {
                report(format_args!("rowhouse: line {number}: {error}"));
                Outcome::Findings
            }
            other => other?,
        });
    }
    Ok(verdict)
}

/// Returns a line as text, without the line end.
fn text(line: &[u8]) -> Result<&str> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).map_err(|error| {
        Error::invalid(format!(
            "a line must be UTF-8, other bytes are written \\xHH: at={}",
            error.valid_up_to()
        ))
    })
}
