//! Attributes of operations: what HBase's own clients and extensions put there.
//!
//! An attribute is a note to whoever reads it. One that nobody reads has no effect on Apache HBase
//! either, so a user's own are passed over; those that HBase itself reads are in the table, and
//! unknown ones in HBase's style (a leading underscore) are refused for fear of what they ask.

use bytes::Bytes;
use rowhouse_model::{Error, Result, escape};

use crate::proto::NameBytesPair;

/// What an attribute asks of a server.
enum Meaning {
    /// Nothing that changes an answer, because of this.
    Harmless(#[expect(dead_code, reason = "for who reads the table")] &'static str),
    /// Something that is not done here.
    Refused(&'static str),
    /// Something that another function here reads.
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
        ("_operation.attributes.id", Harmless("a name for the client's log")),
        ("_cs.id", Harmless("clusters a replicated change has seen; nothing is replicated here")),
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

/// The name of the attribute that says whether an increment or append gives its new values back.
const RETURN_RESULTS: &str = "_rr_";
/// The name of the attribute that says how long the cells of a mutation live.
const TTL: &str = "_ttl";
/// Java's `Long.MAX_VALUE`: no time to live.
const FOREVER: i64 = i64::MAX;

/// The name of the attribute that says whether a scan is raw.
const RAW: &str = "_raw_";

/// Refuses attributes that ask for what is not done.
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

/// Whether a mutation wants its new cells back; it does unless it says otherwise.
pub(super) fn returns_results(attributes: &[NameBytesPair]) -> bool {
    attributes
        .iter()
        .find(|attribute| attribute.name == RETURN_RESULTS)
        .is_none_or(|attribute| attribute.value.as_deref() != Some(&[0]))
}

/// The attribute of a mutation that does not want its new cells back; none for one that does.
pub(super) fn no_results(wanted: bool) -> Option<NameBytesPair> {
    let attribute =
        || NameBytesPair { name: RETURN_RESULTS.to_owned(), value: Some(vec![0].into()) };
    (!wanted).then(attribute)
}

/// How long the cells of a mutation live, in milliseconds, if it says so.
///
/// # Errors
/// `InvalidRequest` for what is no Java long.
pub(super) fn ttl_millis(attributes: &[NameBytesPair]) -> Result<Option<i64>> {
    let Some(ttl) = attributes.iter().find(|attribute| attribute.name == TTL) else {
        return Ok(None);
    };
    let value = ttl.value.as_deref().unwrap_or_default();
    let bytes = value.try_into().map_err(|_| {
        Error::invalid(format!("the time to live of a mutation has 8 bytes: len={}", value.len()))
    })?;
    Ok(Some(i64::from_be_bytes(bytes)).filter(|&millis| millis != FOREVER))
}

/// The attribute of a mutation whose cells live for so long.
pub(super) fn ttl(millis: i64) -> NameBytesPair {
    let value = Bytes::copy_from_slice(&millis.to_be_bytes());
    NameBytesPair { name: TTL.to_owned(), value: Some(value) }
}

/// Whether a scan wants everything that is stored. Java writes a boolean as a byte, FF or 0.
pub(super) fn is_raw(attributes: &[NameBytesPair]) -> bool {
    let raw = attributes.iter().find(|attribute| attribute.name == RAW);
    raw.and_then(|raw| raw.value.as_deref()).is_some_and(|value| value.first() != Some(&0))
}

/// The attribute of a scan that is raw.
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
    fn what_would_change_an_answer_is_refused_by_name() {
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
        assert_eq!(error.message(), "the time to live of a mutation has 8 bytes: len=4");
    }
}
