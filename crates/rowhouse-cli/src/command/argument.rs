//! Arguments that are wrong by themselves, whatever a database holds: the command line tells what is wrong with them, and
//! ends with status 2.

use rowhouse::{Error, Result, check_url, unescape};
use rowhouse_model::ServerName;
use rowhouse_store::Settings;

/// A database, by URL.
pub(super) fn url(text: &str) -> Result<String> {
    check_url(text)?;
    Ok(text.to_owned())
}

/// A directory, or a server by URL.
pub(super) fn directory_or_url(text: &str) -> Result<String> {
    match text.contains("://") {
        true => url(text),
        false => Ok(text.to_owned()),
    }
}

/// HOST:PORT.
pub(super) fn address(text: &str) -> Result<String> {
    ServerName::parse_address(text)?;
    Ok(text.to_owned())
}

/// The largest mutation.
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

/// A row, with bytes that are no text as `\xHH`; empty where a range has no end.
pub(super) fn bound(text: &str) -> Result<String> {
    unescape(text)?;
    Ok(text.to_owned())
}

/// The same of a row that is there.
pub(super) fn row(text: &str) -> Result<String> {
    match text.is_empty() {
        true => Err(Error::invalid("no row is empty")),
        false => bound(text),
    }
}

/// LEFT=RIGHT.
pub(super) fn pair(text: &str) -> Result<String> {
    match text.split_once('=') {
        Some((left, _)) if !left.is_empty() => Ok(text.to_owned()),
        _ => Err(Error::invalid(format!("expected LEFT=RIGHT: {text}"))),
    }
}
