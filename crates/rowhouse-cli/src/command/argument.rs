//! Parsers for arguments whose errors do not depend on a database. The command line reports such an
//! error and exits with status 2.

use std::time::Duration;

use rowhouse::key::unescape;
use rowhouse::{Database, Error, Result};
use rowhouse_model::ServerName;
use rowhouse_store::Settings;

/// Checks a database URL.
pub(super) fn url(text: &str) -> Result<String> {
    Database::builder(text).check()?;
    Ok(text.to_owned())
}

/// Checks a directory, or a server URL.
pub(super) fn directory_or_url(text: &str) -> Result<String> {
    if text.contains("://") { url(text) } else { Ok(text.to_owned()) }
}

/// Checks a HOST:PORT.
pub(super) fn address(text: &str) -> Result<String> {
    ServerName::parse_address(text)?;
    Ok(text.to_owned())
}

/// Parses how long a token lives: a number and its unit.
pub(super) fn life(text: &str) -> Result<Duration> {
    const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 24 * 3_600)];
    let parts = UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, seconds)));
    let seconds = parts.and_then(|(count, unit)| count.parse::<u64>().ok()?.checked_mul(*unit));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        Error::invalid(format!("expected a number and s, m, h or d, such as 30d: given={text}"))
    })
}

/// Parses how large a mutation may be.
pub(super) fn mutation_bytes(text: &str) -> Result<usize> {
    let bounds = Settings::MUTATION_BYTES;
    let bytes = text.parse().ok().filter(|bytes| bounds.contains(bytes));
    bytes.ok_or_else(|| {
        Error::invalid(format!(
            "expected bytes: min={}, max={}, given={text}",
            bounds.start(),
            bounds.end()
        ))
    })
}

/// Reads the memory for calls in bytes: at least 8 MiB.
pub(super) fn call_memory(text: &str) -> Result<u64> {
    const MIN: u64 = 8 << 20;
    let bytes = text.parse().ok().filter(|bytes| *bytes >= MIN);
    bytes.ok_or_else(|| Error::invalid(format!("expected bytes: min={MIN}, given={text}")))
}

/// Checks a row, with non-text bytes as `\xHH`; empty for a range without an end.
pub(super) fn bound(text: &str) -> Result<String> {
    unescape(text)?;
    Ok(text.to_owned())
}

/// Checks a row as [`bound`] does, and refuses an empty one.
pub(super) fn row(text: &str) -> Result<String> {
    if text.is_empty() { Err(Error::invalid("a row must not be empty")) } else { bound(text) }
}

/// Parses a LEFT=RIGHT.
pub(super) fn pair(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((left, right)) if !left.is_empty() => Ok((left.to_owned(), right.to_owned())),
        _ => Err(Error::invalid(format!("expected LEFT=RIGHT: {text}"))),
    }
}
