//! The result when one row is read. HBase calls it a Result.

use rowhouse_model::{Cell, Error, ErrorKind, Result, Row};

use super::{CellPlacement, cell};
use crate::proto;
use crate::rpc::CellReader;

/// The response to a read on one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadRow {
    /// The cells.
    pub row: Row,
    /// The answer to an existence test.
    pub exists: Option<bool>,
    /// True if more cells in the row follow in the next result.
    pub partial: bool,
}

/// Encodes a row. With [`CellPlacement::Block`], the caller puts the row's cells into the cell
/// block, in result order.
pub fn to_proto(row: &Row, cells_in: CellPlacement) -> proto::Result {
    if row.is_empty() {
        // Apache omits and sets the same fields: an empty result has only this one.
        return proto::Result { associated_cell_count: Some(0), ..Default::default() };
    }
    match cells_in {
        CellPlacement::Block => proto::Result {
            associated_cell_count: Some(row.len() as i32),
            stale: Some(false),
            ..Default::default()
        },
        CellPlacement::Message => proto::Result {
            cell: row.cells().map(cell::to_proto).collect(),
            stale: Some(false),
            partial: Some(false),
            ..Default::default()
        },
    }
}

/// Encodes the answer to an existence test.
pub fn existence(exists: bool) -> proto::Result {
    proto::Result { associated_cell_count: Some(0), exists: Some(exists), ..Default::default() }
}

/// Decodes a result. Takes the cells off the cell block if they are there.
///
/// # Errors
/// `Protocol` if cells are missing, malformed, or from several rows.
pub fn from_proto(result: proto::Result, block: &mut CellReader) -> Result<ReadRow> {
    let exists = result.exists;
    let partial = result.partial();
    let mut cells = result.cell.into_iter().map(cell::from_proto).collect::<Result<Vec<_>>>()?;
    let count = usize::try_from(result.associated_cell_count.unwrap_or(0)).map_err(|_| {
        let count = result.associated_cell_count;
        Error::new(ErrorKind::Protocol, format!("negative cell count: {count:?}"))
    })?;
    cells.extend(block.take_cells(count)?);
    Ok(ReadRow { row: row_of(cells)?, exists, partial })
}

/// Creates a row from cells that a peer sent.
pub(super) fn row_of(cells: Vec<Cell>) -> Result<Row> {
    if cells.windows(2).any(|pair| pair[0].row() != pair[1].row()) {
        return Err(Error::new(ErrorKind::Protocol, "a result has cells of several rows"));
    }
    Ok(Row::new(cells))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;
    use crate::rpc::{CellBlock, CellCodec};

    fn cell(row: &str, qualifier: &str) -> Cell {
        Cell::new(row, "cf", qualifier, Timestamp::MIN, CellKind::Put, "v").unwrap()
    }

    fn block(cells: &[Cell]) -> CellReader {
        let mut block = CellBlock::new(CellCodec::KeyValue);
        cells.iter().for_each(|cell| block.push(cell));
        CellReader::new(CellCodec::KeyValue, bytes::Bytes::copy_from_slice(block.as_bytes()))
    }

    #[test]
    fn rows_come_back_from_block_and_message() {
        for row in [Row::default(), Row::new(vec![cell("r", "a"), cell("r", "b")])] {
            let read =
                from_proto(to_proto(&row, CellPlacement::Block), &mut block(&row.to_cells()));
            assert_eq!(read.unwrap().row, row);
            let read = from_proto(to_proto(&row, CellPlacement::Message), &mut block(&[]));
            assert_eq!(read.unwrap().row, row);
        }
    }

    #[test]
    fn cells_of_several_rows_and_missing_cells_are_errors() {
        let counts =
            |count| proto::Result { associated_cell_count: Some(count), ..Default::default() };
        assert!(from_proto(counts(2), &mut block(&[cell("r", "a"), cell("s", "a")])).is_err());
        assert!(from_proto(counts(2), &mut block(&[cell("r", "a")])).is_err());
        assert!(from_proto(counts(-1), &mut block(&[])).is_err());
        assert!(from_proto(counts(i32::MAX), &mut block(&[])).is_err());
    }
}
