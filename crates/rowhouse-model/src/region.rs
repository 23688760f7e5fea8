//! Regions and their HBase names.

use std::fmt;
use std::net::Ipv6Addr;

use bytes::Bytes;
use md5::{Digest, Md5};

use crate::{Error, Result, RowRange, TableName, escape};

/// The encoded name for the only region in `hbase:meta`.
pub const META_ENCODED_NAME: &str = "1588230740";

/// A contiguous run of a table's rows, served and stored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// The region's table.
    pub table: TableName,
    /// The region's rows.
    pub range: RowRange,
    /// Creation time in milliseconds; belongs to the region's name.
    pub id: u64,
    /// Whether the table is disabled or the region has been split.
    pub offline: bool,
    /// Whether daughter regions have replaced it.
    pub split: bool,
}

impl RegionInfo {
    /// Creates a region in `table` over `range`; `id` is the creation time in milliseconds.
    pub fn new(table: TableName, range: RowRange, id: u64) -> Self {
        Self { table, range, id, offline: false, split: false }
    }

    /// Returns the only region in `hbase:meta`.
    pub fn meta() -> Self {
        Self::new(TableName::meta(), RowRange::all(), 1)
    }

    /// Returns the region's names.
    pub fn name(&self) -> RegionName {
        let mut prefix = format!("{},", self.table).into_bytes();
        prefix.extend_from_slice(&self.range.start);
        prefix.extend_from_slice(format!(",{}", self.id).as_bytes());
        if self.table == TableName::meta() {
            // The name of `hbase:meta`'s region predates the scheme below: it has no hash, and the
            // encoded name is fixed.
            return RegionName { full: prefix.into(), encoded: META_ENCODED_NAME.into() };
        }
        let encoded: String =
            Md5::digest(&prefix).iter().map(|byte| format!("{byte:02x}")).collect();
        prefix.extend_from_slice(format!(".{encoded}.").as_bytes());
        RegionName { full: prefix.into(), encoded }
    }
}

/// A region's two names: `table,start,id.md5.` and the MD5 hex digits inside it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RegionName {
    /// The full name, as bytes because start keys are bytes. It is the region's row in
    /// `hbase:meta`.
    pub full: Bytes,
    /// The encoded name: 32 hex digits.
    pub encoded: String,
}

impl fmt::Display for RegionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.full))
    }
}

impl fmt::Debug for RegionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One incarnation of a region server: the address and the start time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerName {
    /// Host name or address that clients connect to.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Start time in milliseconds: a restarted server has another name.
    pub start_code: u64,
}

impl ServerName {
    /// Returns `host:port`, with an IPv6 address in brackets, as [`ServerName::parse_address`]
    /// reads it.
    pub fn address(&self) -> String {
        Self::format_address(&self.host, self.port)
    }

    /// Returns `host:port`, with an IPv6 address in brackets.
    pub fn format_address(host: &str, port: u16) -> String {
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Parses `host:port`; an IPv6 address is in brackets, which the returned host has not.
    ///
    /// # Errors
    /// `InvalidRequest` for a text of another form, and for an IPv6 address with a zone.
    pub fn parse_address(text: &str) -> Result<(String, u16)> {
        let (host, port) = text
            .rsplit_once(':')
            .ok_or_else(|| Error::invalid(format!("address must be HOST:PORT: {text}")))?;
        let port = port
            .parse()
            .map_err(|_| Error::invalid(format!("port must be a number up to 65535: {text}")))?;
        if host.is_empty() {
            return Err(Error::invalid(format!("address must be HOST:PORT: {text}")));
        }
        let within = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        match within {
            Some(within) if within.parse::<Ipv6Addr>().is_ok() => Ok((within.to_owned(), port)),
            None if !host.contains([':', '[', ']']) => Ok((host.to_owned(), port)),
            _ => Err(Error::invalid(format!("an IPv6 address must be [ADDRESS]:PORT: {text}"))),
        }
    }
}

/// Prints `host,port,startcode`, as HBase does.
impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.host, self.port, self.start_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(table: &str, start: &'static str, id: u64) -> String {
        let range = RowRange::new(start, "");
        RegionInfo::new(TableName::parse(table).unwrap(), range, id).name().to_string()
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for (host, text) in [("db1", "db1:1"), ("10.0.0.1", "10.0.0.1:1"), ("::1", "[::1]:1")] {
            assert_eq!(ServerName::format_address(host, 1), text);
            assert_eq!(ServerName::parse_address(text).unwrap(), (host.to_owned(), 1));
        }
        for wrong in ["::1:1", "[::1]", "[::1:1", "[db1]:1", "[fe80::1%2]:1", ":1", "db1:", "db1:x"]
        {
            assert!(ServerName::parse_address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_those_apache_hbase_gave() {
        // From an Apache HBase 2.6.4 shell session.
        assert_eq!(
            name("t_split", "", 1795215351123),
            "t_split,,1795215351123.dde474f386c824380bb30fc7d81b5ab0."
        );
        assert_eq!(
            name("t_split", "20", 1795215351123),
            "t_split,20,1795215351123.f18b435fbf4b4a4c491e110754de9180."
        );
    }

    #[test]
    fn meta_has_its_fixed_name() {
        let name = RegionInfo::meta().name();
        assert_eq!(name.to_string(), "hbase:meta,,1");
        assert_eq!(name.encoded, META_ENCODED_NAME);
    }
}
