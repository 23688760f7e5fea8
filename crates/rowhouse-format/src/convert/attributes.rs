//! Operation attributes, which HBase's clients and extensions set.
//!
//! An attribute that no code reads has no effect on Apache HBase either, so user-defined ones are
//! ignored. The table lists the attributes that HBase itself reads. Unknown ones in HBase's style
//! (a leading underscore) are rejected, because they may request something unsupported.

use bytes::Bytes;
use rowhouse_model::{Error, Result, escape};

use crate::proto::NameBytesPair;

/// What an attribute means to a server.
enum Meaning {
    /// No effect on results, for this reason.
    Harmless(#[expect(dead_code, reason = "for who reads the table")] &'static str),
    /// A feature that is not supported here.
    Refused(&'static str),
    /// Another function in this module reads it.
    Read(#[expect(dead_code, reason = "for who reads the table")] &'static str),
}

const TABLE: &[(&str, Meaning)] = {
    use Meaning::*;
    &[
        ("_isolationlevel_", Harmless("reads see committed data only, which either level allows")),
        ("_raw_", Read("whether a scan wants everything that is stored")),
        ("_rr_", Read("whether an increment or append gives its new values back")),
        ("_ttl", Read("how long the cells of a mutation live")),
        ("acl", Refused("access control list of an operation")),
        ("acl.strategy", Refused("access control strategy of an operation")),
        ("VISIBILITY", Refused("visibility labels")),
        ("rowhouse.query", Refused("a query, other than of a scan,")),
        ("_operation.attributes.id", Harmless("a name for the client's log")),
        (
            "_cs.id",
            Harmless("clusters a replicated change has seen; nothing is replicated from here"),
        ),
        ("_look_ahead_", Harmless("a hint how to seek")),
        ("scan.attributes.metrics.enable", Harmless("the client counts")),
        ("scan.attributes.metrics.data", Harmless("the client counted")),
        ("scan.attributes.table.name", Harmless("which table a MapReduce split is of")),
        ("hbase.mob.scan.raw", Harmless("no value is kept apart from its cell")),
        ("hbase.mob.cache.blocks", Harmless("no value is kept apart from its cell")),
        ("hbase.mob.scan.ref.only", Harmless("no value is kept apart from its cell")),
        ("empty.value.on.mobcell.miss", Harmless("no value is kept apart from its cell")),
    ]
};

/// The attribute that states whether an increment or append returns the new values.
const RETURN_RESULTS: &str = "_rr_";
/// The attribute that holds the TTL of a mutation's cells.
const TTL: &str = "_ttl";
/// Java's `Long.MAX_VALUE`: no TTL.
const FOREVER: i64 = i64::MAX;

/// The attribute that says whether a scan is raw.
const RAW: &str = "_raw_";

/// The attribute that holds a query, in the query language.
const QUERY: &str = "rowhouse.query";

/// What the attributes of an operation mean to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The TTL of a mutation's cells in milliseconds.
    pub ttl_millis: Option<i64>,
    /// Whether a scan returns everything that is stored.
    pub is_raw: bool,
    /// The query of a scan, in the query language.
    pub query: Option<String>,
}

impl Attributes {
    /// Reads the attributes of an operation; only a scan's may have a query.
    ///
    /// # Errors
    /// `Unsupported` for attributes that request an unsupported feature; `InvalidRequest` for a TTL
    /// that is not a Java long, and a query that is not UTF-8.
    pub fn read(mut attributes: Vec<NameBytesPair>, is_scan: bool) -> Result<Self> {
        let query = if is_scan { take_query(&mut attributes)? } else { None };
        check(&attributes)?;
        Ok(Self { ttl_millis: ttl_millis(&attributes)?, is_raw: is_raw(&attributes), query })
    }
}

/// Returns an error for attributes that request an unsupported feature.
pub(super) fn check(attributes: &[NameBytesPair]) -> Result<()> {
    for attribute in attributes {
        let meaning = TABLE.iter().find(|(name, _)| *name == attribute.name);
        match meaning.map(|(_, meaning)| meaning) {
            Some(Meaning::Harmless(_) | Meaning::Read(_)) => {}
            Some(Meaning::Refused(what)) => return Err(refused(what, attribute)),
            None if attribute.name.starts_with('_') => {
                return Err(refused("unknown attribute", attribute));
            }
            None => {}
        }
    }
    Ok(())
}

fn refused(what: &str, attribute: &NameBytesPair) -> Error {
    let value = escape(attribute.value.as_deref().unwrap_or_default());
    Error::unsupported(format!(
        "{what} is not supported: attribute={}, value={value}",
        attribute.name
    ))
}

/// Returns true if a mutation returns the new cells; true by default.
pub(super) fn returns_results(attributes: &[NameBytesPair]) -> bool {
    attributes
        .iter()
        .find(|attribute| attribute.name == RETURN_RESULTS)
        .is_none_or(|attribute| attribute.value.as_deref() != Some(&[0]))
}

/// Returns the attribute for a mutation that does not return the new cells; `None` if it does.
pub(super) fn no_results(with_results: bool) -> Option<NameBytesPair> {
    let attribute =
        || NameBytesPair { name: RETURN_RESULTS.to_owned(), value: Some(vec![0].into()) };
    (!with_results).then(attribute)
}

/// Returns the TTL of a mutation's cells in milliseconds, if set.
///
/// # Errors
/// `InvalidRequest` if the value is not a Java long.
pub(super) fn ttl_millis(attributes: &[NameBytesPair]) -> Result<Option<i64>> {
    let Some(ttl) = attributes.iter().find(|attribute| attribute.name == TTL) else {
        return Ok(None);
    };
    let value = ttl.value.as_deref().unwrap_or_default();
    let bytes = value.try_into().map_err(|_| {
        Error::invalid(format!("the TTL of a mutation must have 8 bytes: len={}", value.len()))
    })?;
    Ok(Some(i64::from_be_bytes(bytes)).filter(|&millis| millis != FOREVER))
}

/// Returns the attribute for a TTL in milliseconds.
pub(super) fn ttl(millis: i64) -> NameBytesPair {
    let value = Bytes::copy_from_slice(&millis.to_be_bytes());
    NameBytesPair { name: TTL.to_owned(), value: Some(value) }
}

/// Returns true if a scan is raw. Java writes a boolean as a byte, FF or 0.
pub(super) fn is_raw(attributes: &[NameBytesPair]) -> bool {
    let raw = attributes.iter().find(|attribute| attribute.name == RAW);
    raw.and_then(|raw| raw.value.as_deref()).is_some_and(|value| value.first() != Some(&0))
}

/// Removes a scan's query from the attributes and returns it. A client removes an attribute by
/// setting it to null, which it does not send.
///
/// # Errors
/// `InvalidRequest` if the query is not UTF-8.
pub(super) fn take_query(attributes: &mut Vec<NameBytesPair>) -> Result<Option<String>> {
    let Some(at) = attributes.iter().position(|attribute| attribute.name == QUERY) else {
        return Ok(None);
    };
    let text = attributes.remove(at).value.unwrap_or_default();
    let query = str::from_utf8(&text).map_err(|_| {
        Error::invalid(format!(
            "the query is not UTF-8: attribute={QUERY}, value={}",
            escape(&text)
        ))
    })?;
    Ok(Some(query.to_owned()))
}

/// Returns the attribute with a scan's query.
pub(super) fn query(text: &str) -> NameBytesPair {
    NameBytesPair { name: QUERY.to_owned(), value: Some(Bytes::copy_from_slice(text.as_bytes())) }
}

/// Returns the attribute for a raw scan.
pub(super) fn raw() -> NameBytesPair {
    NameBytesPair { name: RAW.to_owned(), value: Some(vec![0xFF].into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, value: &'static [u8]) -> [NameBytesPair; 1] {
        [NameBytesPair { name: name.to_owned(), value: Some(value.into()) }]
    }

    #[test]
    fn attributes_that_change_answers_are_refused_by_name() {
        for (name, value) in [("acl", &b"x"[..]), ("VISIBILITY", b""), ("_new", b"")] {
            let error = check(&attribute(name, value)).unwrap_err();
            assert!(error.message().contains(name), "{error}");
        }
        for (name, value) in [("_raw_", &b"\0"[..]), ("_isolationlevel_", b"\0"), ("mine", b"x")] {
            check(&attribute(name, value)).unwrap();
        }
    }

    #[test]
    fn scans_are_raw_where_they_say_so() {
        assert!(!is_raw(&[]));
        assert!(!is_raw(&attribute("_raw_", b"\0")));
        assert!(is_raw(&[raw()]));
    }

    #[test]
    fn results_come_back_unless_declined() {
        assert!(returns_results(&[]));
        assert!(returns_results(&attribute("_rr_", b"\xff")));
        assert!(!returns_results(no_results(false).as_slice()));
        assert!(no_results(true).is_none());
    }

    #[test]
    fn a_time_to_live_is_a_java_long_and_the_largest_is_none() {
        assert_eq!(ttl_millis(&[]).unwrap(), None);
        for millis in [0, 1000, -1, i64::MIN] {
            assert_eq!(ttl_millis(&[ttl(millis)]).unwrap(), Some(millis));
        }
        assert_eq!(ttl_millis(&[ttl(i64::MAX)]).unwrap(), None);
        let error = ttl_millis(&attribute("_ttl", b"1234")).unwrap_err();
        assert_eq!(error.message(), "the TTL of a mutation must have 8 bytes: len=4");
    }
}
