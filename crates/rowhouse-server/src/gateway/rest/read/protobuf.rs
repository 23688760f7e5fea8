//! Rows in protobuf, read one cell after another: a message of small parts takes many times its
//! bytes once it is decoded.
//!
//! ```text
//! CellSet: 1 rows*      Row: 1 key, 2 values*      Cell: 1 row, 2 column, 3 timestamp, 4 data
//! ```

use bytes::{Buf, Bytes};
use rowhouse_model::{Error, Result};

use crate::gateway::rest::model::{Budget, CellModel, CellSet, RowModel};

/// A field's value.
enum Value {
    Varint(u64),
    Bytes(Bytes),
    /// A fixed number, which no message here has.
    Fixed,
}

fn malformed() -> Error {
    Error::invalid("not a message in protobuf")
}

fn varint(bytes: &mut Bytes) -> Result<u64> {
    prost::encoding::decode_varint(bytes).map_err(|_| malformed())
}

/// Takes a message's next field.
fn field(bytes: &mut Bytes) -> Result<Option<(u64, Value)>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let tag = varint(bytes)?;
    let value = match tag & 7 {
        0 => Value::Varint(varint(bytes)?),
        2 => {
            let len = usize::try_from(varint(bytes)?).map_err(|_| malformed())?;
            if len > bytes.len() {
                return Err(malformed());
            }
            Value::Bytes(bytes.split_to(len))
        }
        kind @ (1 | 5) => {
            let len = if kind == 1 { 8 } else { 4 };
            if len > bytes.len() {
                return Err(malformed());
            }
            bytes.advance(len);
            Value::Fixed
        }
        _ => return Err(malformed()),
    };
    Ok(Some((tag >> 3, value)))
}

pub(super) fn cells(body: &Bytes, budget: &mut Budget) -> Result<CellSet> {
    let mut rest = body.clone();
    let mut rows = Vec::new();
    while let Some((number, value)) = field(&mut rest)? {
        match (number, value) {
            (1, Value::Bytes(bytes)) => rows.push(row(bytes, budget)?),
            (1, _) => return Err(malformed()),
            _ => {}
        }
    }
    Ok(rows)
}

fn row(mut bytes: Bytes, budget: &mut Budget) -> Result<RowModel> {
    let mut row = RowModel::default();
    while let Some((number, value)) = field(&mut bytes)? {
        match (number, value) {
            (1, Value::Bytes(key)) => row.key = Some(key),
            (2, Value::Bytes(bytes)) => row.cells.push(cell(bytes, budget)?),
            (1 | 2, _) => return Err(malformed()),
            _ => {}
        }
    }
    if row.key.is_none() {
        return Err(Error::invalid("Message missing required fields: key"));
    }
    budget.take_row(&row)?;
    Ok(row)
}

fn cell(mut bytes: Bytes, budget: &mut Budget) -> Result<CellModel> {
    // A message without a column has an empty one.
    let mut cell = CellModel { column: Some(Bytes::new()), ..CellModel::default() };
    while let Some((number, value)) = field(&mut bytes)? {
        match (number, value) {
            (2, Value::Bytes(column)) => cell.column = Some(column),
            (3, Value::Varint(millis)) => {
                let millis = millis as i64;
                cell.timestamp = (millis != i64::MAX).then_some(millis);
            }
            (4, Value::Bytes(value)) => cell.value = value,
            (2..=4, _) => return Err(malformed()),
            _ => {}
        }
    }
    budget.take(cell.column.as_ref().map_or(0, |it| it.len()) + cell.value.len())?;
    Ok(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8]) -> Result<CellSet> {
        cells(&Bytes::from_static(bytes), &mut Budget::new(1 << 20))
    }

    #[test]
    fn rows_of_hbases_client_are_read() {
        // Recorded: RemoteHTable puts r1, a:q = v1 at 7.
        let rows = read(b"\x0a\x11\x0a\x02r1\x12\x0b\x12\x03a:q\x18\x07\x22\x02v1").unwrap();
        assert_eq!(rows[0].key.as_deref(), Some(&b"r1"[..]));
        let cell = CellModel { column: Some("a:q".into()), timestamp: Some(7), value: "v1".into() };
        assert_eq!(rows[0].cells, [cell]);
        assert_eq!(read(b"").unwrap(), []);
    }

    #[test]
    fn damaged_messages_are_refused() {
        for bytes in [
            &b"garbage"[..],
            b"\x0a\x05\x0a",
            b"\x0a\x00",
            b"\x08\x01",
            b"\x0a\x04\x0a\x00\x12\x7f",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(
                cells(&Bytes::from_static(bytes), &mut Budget::new(1 << 20)).is_err(),
                "{bytes:?}"
            );
        }
        let empty_rows = b"\x0a\x02\x0a\x00".repeat(1000);
        assert!(cells(&empty_rows.into(), &mut Budget::new(10_000)).is_err());
    }
}
