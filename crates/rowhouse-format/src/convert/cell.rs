//! Cells inside messages, for peers without cell blocks.

use rowhouse_model::{Cell, CellKind, Error, Key, KeyValue, Result};

use crate::proto;
use crate::rpc::CellCodec;

/// Where a message's cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellPlacement {
    /// In the cell block after the message.
    Block,
    /// In the message.
    Message,
}

impl CellPlacement {
    /// Returns where cells are in responses on a connection with this codec.
    pub fn of(codec: Option<CellCodec>) -> Self {
        if codec.is_some() { Self::Block } else { Self::Message }
    }
}

/// Encodes a cell, without the tags.
pub fn to_proto(cell: KeyValue<'_>) -> proto::Cell {
    let key = cell.key();
    proto::Cell {
        row: Some(cell.row_bytes()),
        family: Some(cell.family_bytes()),
        qualifier: Some(cell.qualifier_bytes()),
        timestamp: Some(key.timestamp as u64),
        cell_type: Some(key.kind.into()),
        value: Some(cell.value_bytes()),
        tags: None,
    }
}

/// Decodes a cell.
///
/// # Errors
/// As [`Cell::from_parts`]; also for an unknown kind.
pub fn from_proto(cell: proto::Cell) -> Result<Cell> {
    let code = cell.cell_type.unwrap_or(CellKind::Put.code().into());
    let kind = u8::try_from(code)
        .map_err(|_| Error::invalid(format!("unknown cell kind: code={code}")))?;
    let part = |bytes: &Option<bytes::Bytes>| bytes.clone().unwrap_or_default();
    let row = part(&cell.row);
    let family = part(&cell.family);
    let qualifier = part(&cell.qualifier);
    let key = Key {
        row: &row,
        family: &family,
        qualifier: &qualifier,
        timestamp: cell.timestamp.unwrap_or(0) as i64,
        kind,
    };
    Cell::from_parts(key, &part(&cell.value), &part(&cell.tags))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::Timestamp;

    use super::*;

    #[test]
    fn cells_come_back() {
        for kind in [CellKind::Put, CellKind::DeleteColumn] {
            let cell = Cell::new("row", "cf", "q", Timestamp::LATEST, kind, "value").unwrap();
            assert_eq!(from_proto(to_proto(cell.as_key_value())).unwrap(), cell);
        }
    }

    #[test]
    fn an_unknown_kind_is_refused() {
        let cell =
            proto::Cell { row: Some("r".into()), cell_type: Some(300), ..Default::default() };
        assert!(from_proto(cell).is_err());
    }
}
