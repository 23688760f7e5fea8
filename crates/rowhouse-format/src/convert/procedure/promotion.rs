//! Index promotions, rowhouse's own call. It is sent as an HBase procedure.

use rowhouse_model::{Bytes, Result, TableName, escape, unescape};

use super::pairs::{needed, pair, value};
use crate::proto;

/// The procedure's signature. The instance is the table.
pub(super) const SIGNATURE: &str = "rowhouse-promote";

const INDEX: &str = "index";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// A request to swap a table with one of its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionCall {
    /// The table.
    pub table: TableName,
    /// The index name.
    pub index: String,
    /// The layout that the table has before; `None` before the first promotion.
    pub before: Option<Bytes>,
    /// The layout that the table gets. No other call has the same: a table with this layout has
    /// been promoted by an earlier attempt at the call.
    pub after: Bytes,
}

/// Encodes a request.
pub fn call_to_proto(call: &PromotionCall) -> proto::ProcedureDescription {
    let before = call.before.as_ref().map(|layout| pair(BEFORE, escape(layout)));
    let after = pair(AFTER, escape(&call.after));
    let index = pair(INDEX, &call.index);
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.table.to_string()),
        creation_time: None,
        configuration: [index, after].into_iter().chain(before).collect(),
    }
}

/// Decodes a request from a procedure with this signature.
///
/// # Errors
/// `InvalidRequest` for an invalid table name or layout, and for a request without an index or a
/// layout that the table gets.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<PromotionCall> {
    let table = TableName::parse(procedure.instance())?;
    let index = needed(procedure, INDEX)?.to_owned();
    let layout = |escaped: &str| unescape(escaped).map(Bytes::from);
    let before = value(procedure, BEFORE).map(layout).transpose()?;
    let after = layout(needed(procedure, AFTER)?)?;
    Ok(PromotionCall { table, index, before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_survives_the_wire_and_missing_values_are_named() {
        let table = TableName::parse("ns:mail").unwrap();
        let after = Bytes::from(&b"\xff18"[..]);
        let first = PromotionCall { table, index: "by_user".into(), before: None, after };
        let later = PromotionCall { before: Some("17".into()), ..first.clone() };
        for call in [first, later] {
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
            let mut procedure = call_to_proto(&call);
            procedure.configuration.retain(|pair| pair.name != AFTER);
            let unsaid = call_from_proto(&procedure).unwrap_err();
            assert_eq!(
                unsaid.message(),
                "a procedure rowhouse-promote needs a value: missing=after"
            );
        }
    }
}
