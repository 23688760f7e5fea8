//! Rules for faults, rowhouse's own calls. They are sent as HBase procedures, which every HBase
//! client can call; the rules with their counts are the data that the procedure returns.

use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Error, FaultCallKind, FaultEffect, FaultRule, FaultStatus, Result, TableName,
};

use super::pairs::{pair, value};
use crate::proto;
use crate::rpc::decode_message;

/// The procedure's signature. The instance is the operation.
pub(super) const SIGNATURE: &str = "rowhouse-fault";

const ADD: &str = "add";
const LIST: &str = "list";
const REMOVE: &str = "remove";
const ID: &str = "id";
const TABLE: &str = "table";
const CALL: &str = "call";
const SERVER: &str = "server";
const ANSWER: &str = "answer";
const MILLIS: &str = "millis";
const RATE: &str = "rate-millionths";
const SEED: &str = "seed";
const HITS_MAX: &str = "hits-max";
const LIFETIME: &str = "lifetime-millis";

/// A request about rules for faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultCall {
    /// Adds a rule; returns it.
    Add(FaultRule),
    /// Returns all rules.
    List,
    /// Removes a rule, or all without a number; returns them.
    Remove(Option<u64>),
}

/// Encodes a request.
pub fn call_to_proto(call: &FaultCall) -> proto::ProcedureDescription {
    let (operation, configuration) = match call {
        FaultCall::Add(rule) => (ADD, rule_to_pairs(rule)),
        FaultCall::List => (LIST, Vec::new()),
        FaultCall::Remove(id) => (REMOVE, id.iter().map(|id| pair(ID, id)).collect()),
    };
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(operation.to_owned()),
        creation_time: None,
        configuration,
    }
}

/// Decodes a request.
///
/// # Errors
/// `InvalidRequest` for an unknown operation, and for a value that is none.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<FaultCall> {
    match procedure.instance() {
        ADD => Ok(FaultCall::Add(rule_from_pairs(procedure)?)),
        LIST => Ok(FaultCall::List),
        REMOVE => Ok(FaultCall::Remove(number(procedure, ID)?)),
        operation => Err(Error::invalid(format!(
            "a fault is added, listed or removed: operation={operation}"
        ))),
    }
}

fn rule_to_pairs(rule: &FaultRule) -> Vec<proto::NameStringPair> {
    let mut pairs = vec![pair(ANSWER, rule.effect.name())];
    let millis = |time: Duration| time.as_millis().to_string();
    let values = [
        (TABLE, rule.table.as_ref().map(ToString::to_string)),
        (CALL, rule.call.map(|it| it.to_string())),
        (SERVER, rule.server.map(|it| it.to_string())),
        (MILLIS, rule.effect.time().map(millis)),
        (RATE, Some(rule.rate_millionths.to_string())),
        (SEED, Some(rule.seed.to_string())),
        (HITS_MAX, rule.hits_max.map(|it| it.to_string())),
        (LIFETIME, rule.lifetime.map(millis)),
    ];
    pairs.extend(values.into_iter().filter_map(|(name, value)| Some(pair(name, value?))));
    pairs
}

fn rule_from_pairs(procedure: &proto::ProcedureDescription) -> Result<FaultRule> {
    let millis =
        |name: &str| -> Result<_> { Ok(number(procedure, name)?.map(Duration::from_millis)) };
    let answer = value(procedure, ANSWER).unwrap_or_default();
    let rule = FaultRule {
        table: value(procedure, TABLE).map(TableName::parse).transpose()?,
        call: value(procedure, CALL).map(FaultCallKind::parse).transpose()?,
        server: number(procedure, SERVER)?,
        rate_millionths: number(procedure, RATE)?.unwrap_or(FaultRule::ALWAYS),
        seed: number(procedure, SEED)?.unwrap_or_default(),
        hits_max: number(procedure, HITS_MAX)?,
        lifetime: millis(LIFETIME)?,
        ..FaultRule::new(FaultEffect::parse(answer, millis(MILLIS)?)?)
    };
    rule.check()?;
    Ok(rule)
}

/// Returns the number with this name, if the procedure has one.
fn number<T: std::str::FromStr>(
    procedure: &proto::ProcedureDescription,
    name: &str,
) -> Result<Option<T>> {
    let Some(text) = value(procedure, name) else { return Ok(None) };
    let number = text.parse().ok();
    number.map(Some).ok_or_else(|| Error::invalid(format!("expected a number: {name}={text}")))
}

#[derive(Clone, PartialEq, Message)]
struct StatusesMessage {
    #[prost(message, repeated, tag = "1")]
    statuses: Vec<StatusMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct StatusMessage {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    calls: u64,
    #[prost(uint64, tag = "3")]
    hits: u64,
    #[prost(message, required, tag = "4")]
    rule: proto::ProcedureDescription,
}

/// Encodes rules with their counts.
pub fn statuses_to_bytes(statuses: &[FaultStatus]) -> Bytes {
    let status = |it: &FaultStatus| StatusMessage {
        id: it.id,
        calls: it.calls,
        hits: it.hits,
        rule: call_to_proto(&FaultCall::Add(it.rule.clone())),
    };
    let message = StatusesMessage { statuses: statuses.iter().map(status).collect() };
    message.encode_to_vec().into()
}

/// Decodes rules with their counts.
///
/// # Errors
/// `Protocol` for bytes that are none; `InvalidRequest` for a rule that is none.
pub fn statuses_from_bytes(bytes: Bytes) -> Result<Vec<FaultStatus>> {
    let message: StatusesMessage = decode_message(bytes)?;
    let status = |it: StatusMessage| {
        let rule = rule_from_pairs(&it.rule)?;
        Ok(FaultStatus { id: it.id, rule, calls: it.calls, hits: it.hits })
    };
    message.statuses.into_iter().map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> FaultRule {
        FaultRule {
            table: Some(TableName::parse("ns:t").unwrap()),
            call: Some(FaultCallKind::Scan),
            server: Some(3),
            effect: FaultEffect::Delay(Duration::from_millis(20)),
            rate_millionths: 100_000,
            seed: u64::MAX,
            hits_max: Some(5),
            lifetime: Some(Duration::from_secs(2)),
        }
    }

    #[test]
    fn calls_and_statuses_survive_the_wire() {
        let plain = FaultRule::new(FaultEffect::CutAfter);
        let removals = [FaultCall::Remove(Some(7)), FaultCall::Remove(None), FaultCall::List];
        for call in [plain.clone(), rule()].map(FaultCall::Add).into_iter().chain(removals) {
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        }
        let statuses = [plain, rule()].map(|rule| FaultStatus { id: 1, rule, calls: 9, hits: 3 });
        assert_eq!(statuses_from_bytes(statuses_to_bytes(&statuses)).unwrap(), statuses);
        let bytes = statuses_to_bytes(&statuses);
        for len in 0..bytes.len() {
            // Cut bytes are an error or fewer rules, never a panic.
            let _ = statuses_from_bytes(bytes.slice(..len));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let of = |name: &str, value: &str| {
            let mut procedure = call_to_proto(&FaultCall::Add(rule()));
            procedure.configuration.retain(|it| it.name != name);
            procedure.configuration.push(pair(name, value));
            call_from_proto(&procedure).unwrap_err().message().to_owned()
        };
        assert_eq!(of(SEED, "x"), "expected a number: seed=x");
        assert!(of(RATE, "1000001").ends_with("millionths=1000001, max=1000000"));
        assert!(of(CALL, "Put").ends_with("call=Put"));
        assert!(of(ANSWER, "Busy").ends_with("answer=Busy"));
    }
}
