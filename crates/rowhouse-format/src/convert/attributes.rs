//! Attributes of operations: what HBase's own clients and extensions put there.
//!
//! An attribute is a note to whoever reads it. One that nobody reads has no effect on Apache HBase
//! either, so a user's own are passed over; those that HBase itself reads are in the table, and
//! unknown ones in HBase's style (a leading underscore) are refused for fear of what they ask.

use rowhouse_model::{Error, Result, escape};

use crate::proto::NameBytesPair;

/// What an attribute asks of a server.
enum Meaning {
    /// Nothing that changes an answer, because of this.
    Harmless(#[expect(dead_code, reason = "for who reads the table")] &'static str),
    /// Something that is not done here.
    Refused(&'static str),
    /// Something that is not done here, unless the value is one of these.
    RefusedUnless(&'static str, &'static [&'static [u8]]),
    /// Whether an increment gives its new values back; read by [`returns_results`].
    ReturnResults,
}

const TABLE: &[(&str, Meaning)] = {
    use Meaning::*;
    &[
        ("_isolationlevel_", Harmless("reads see committed data only, which either level allows")),
        ("_raw_", RefusedUnless("raw scan", &[b"\0"])),
        ("_rr_", ReturnResults),
        ("_ttl", Refused("time to live of a mutation")),
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

/// The name of the attribute that says whether an increment gives its new values back.
const RETURN_RESULTS: &str = "_rr_";

/// Refuses attributes that ask for what is not done.
pub(super) fn check(attributes: &[NameBytesPair]) -> Result<()> {
    for attribute in attributes {
        let value = attribute.value.as_deref().unwrap_or_default();
        let meaning = TABLE.iter().find(|(name, _)| *name == attribute.name);
        match meaning.map(|(_, meaning)| meaning) {
            Some(Meaning::Harmless(_) | Meaning::ReturnResults) => {}
            Some(Meaning::Refused(what)) => return Err(refused(what, attribute)),
            Some(Meaning::RefusedUnless(_, harmless)) if harmless.contains(&value) => {}
            Some(Meaning::RefusedUnless(what, _)) => return Err(refused(what, attribute)),
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

/// The attribute of a mutation that does not want its new cells back.
pub(super) fn no_results() -> NameBytesPair {
    NameBytesPair { name: RETURN_RESULTS.to_owned(), value: Some(vec![0].into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, value: &'static [u8]) -> [NameBytesPair; 1] {
        [NameBytesPair { name: name.to_owned(), value: Some(value.into()) }]
    }

    #[test]
    fn what_would_change_an_answer_is_refused_by_name() {
        for (name, value) in
            [("_ttl", &b"\0\0\0\0\0\0\0\x01"[..]), ("_raw_", b"\xff"), ("_new", b"")]
        {
            let error = check(&attribute(name, value)).unwrap_err();
            assert!(error.message().contains(name), "{error}");
        }
        for (name, value) in [("_raw_", &b"\0"[..]), ("_isolationlevel_", b"\0"), ("mine", b"x")] {
            check(&attribute(name, value)).unwrap();
        }
    }

    #[test]
    fn results_come_back_unless_declined() {
        assert!(returns_results(&[]));
        assert!(returns_results(&attribute("_rr_", b"\xff")));
        assert!(!returns_results(&[no_results()]));
    }
}
