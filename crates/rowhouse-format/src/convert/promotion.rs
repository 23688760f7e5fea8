//! Promotions of indexes, rowhouse's own call. It is sent as an HBase procedure.

use rowhouse_model::{Error, Result, TableName};

use crate::proto;

/// The signature of the procedure. Its instance is the table.
pub(super) const SIGNATURE: &str = "rowhouse-promote";

const INDEX: &str = "index";
const LAYOUT: &str = "layout";

/// A request to swap a table with one of its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionCall {
    /// The table.
    pub table: TableName,
    /// The name of the index.
    pub index: String,
    /// The layout that the table has before, as its descriptor says; empty before the first
    /// promotion. A table of another layout has been promoted by this call, which is a retry.
    pub layout: String,
}

/// Encodes a request.
pub fn call_to_proto(call: &PromotionCall) -> proto::ProcedureDescription {
    let pair = |name: &str, value: &str| proto::NameStringPair {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.table.to_string()),
        creation_time: None,
        configuration: vec![pair(INDEX, &call.index), pair(LAYOUT, &call.layout)],
    }
}

/// Decodes a request from a procedure with this signature.
///
/// # Errors
/// `InvalidRequest` for an invalid table name, and for a request without an index or layout.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<PromotionCall> {
    let value = |name: &str| {
        let named = procedure.configuration.iter().find(|pair| pair.name == name);
        let unsaid =
            || Error::invalid(format!("a procedure {SIGNATURE} needs a value: missing={name}"));
        named.map(|pair| pair.value.clone()).ok_or_else(unsaid)
    };
    let table = TableName::parse(procedure.instance())?;
    Ok(PromotionCall { table, index: value(INDEX)?, layout: value(LAYOUT)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_survives_the_wire_and_what_is_missing_is_named() {
        let table = TableName::parse("ns:mail").unwrap();
        let call = PromotionCall { table, index: "by_user".into(), layout: "17".into() };
        let mut procedure = call_to_proto(&call);
        assert_eq!(call_from_proto(&procedure).unwrap(), call);
        procedure.configuration.pop();
        let unsaid = call_from_proto(&procedure).unwrap_err();
        assert!(unsaid.message().ends_with("missing=layout"), "{unsaid}");
    }
}
