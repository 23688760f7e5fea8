//! Starts and ends region servers in a rowhouse server, rowhouse's own calls. They are sent as
//! HBase procedures, which every HBase client can call.

use rowhouse_model::{Error, Result};

use super::pairs::{pair, value};
use crate::proto;

/// The procedure's signature. The instance is the region server's number.
pub(super) const SIGNATURE: &str = "rowhouse-region-server";

/// The name for the pair that holds the change.
const CHANGE: &str = "change";

/// What happens to a region server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionServerChange {
    /// It starts after it has ended.
    Start,
    /// It ends after the calls under way.
    Stop,
    /// It ends at once: the connections are cut, also in the middle of calls.
    Kill,
}

const NAMES: [(RegionServerChange, &str); 3] = [
    (RegionServerChange::Start, "start"),
    (RegionServerChange::Stop, "stop"),
    (RegionServerChange::Kill, "kill"),
];

/// A request to start or end a region server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionServerCall {
    /// The region server's number, from 0.
    pub number: u32,
    /// What happens to it.
    pub change: RegionServerChange,
}

/// Encodes a request.
pub fn call_to_proto(call: &RegionServerCall) -> proto::ProcedureDescription {
    let name = NAMES.iter().find(|(change, _)| *change == call.change);
    let value = name.map(|(_, name)| *name).unwrap_or_default();
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.number.to_string()),
        creation_time: None,
        configuration: vec![pair(CHANGE, value)],
    }
}

/// Decodes a request.
///
/// # Errors
/// `InvalidRequest` for a number or change that is none.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<RegionServerCall> {
    let number = procedure.instance();
    let number = number
        .parse()
        .map_err(|_| Error::invalid(format!("the number of a region server is wrong: {number}")))?;
    let value = value(procedure, CHANGE).unwrap_or_default();
    let known = NAMES.iter().find(|(_, name)| *name == value);
    let (change, _) = known.ok_or_else(|| {
        Error::invalid(format!("a region server is started, stopped or killed: {value}"))
    })?;
    Ok(RegionServerCall { number, change: *change })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_survives_the_wire_and_mistakes_are_named() {
        for (change, _) in NAMES {
            let call = RegionServerCall { number: 3, change };
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        }
        let call = RegionServerCall { number: 3, change: RegionServerChange::Kill };
        let of = |instance: &str, value: &str| {
            let mut procedure = call_to_proto(&call);
            procedure.instance = Some(instance.to_owned());
            procedure.configuration[0].value = value.to_owned();
            call_from_proto(&procedure).unwrap_err().message().to_owned()
        };
        assert_eq!(of("-1", "kill"), "the number of a region server is wrong: -1");
        assert_eq!(of("1", "halt"), "a region server is started, stopped or killed: halt");
    }
}
