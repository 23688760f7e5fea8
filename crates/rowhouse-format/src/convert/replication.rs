//! Log entries that another cluster ships: HBase's replication.
//!
//! Ignored fields: sequence numbers and nonces, which are the source's; scopes, by which the source
//! has chosen the cells; paths, which serve bulk loads.

use rowhouse_model::{Cell, Error, Mutation, Put, Result, TableName, check_tags};

use crate::proto;
use crate::rpc::CellReader;

/// The family in which HBase's log has cells that are no data.
const META_FAMILY: &[u8] = b"METAFAMILY";
/// The qualifier of a cell that names bulk-loaded files.
const BULK_LOAD: &[u8] = b"HBASE::BULK_LOAD";

/// An entry of another cluster's log.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedEntry {
    /// The table.
    pub table: TableName,
    /// The UUIDs of the clusters that have the entry.
    pub cluster_ids: Vec<u128>,
    /// When the source wrote the entry, in milliseconds since 1970.
    pub write_time_millis: u64,
    /// The cells, in the log's order. They may belong to several rows.
    cells: Vec<Cell>,
}

impl ReplicatedEntry {
    /// Decodes an entry, which takes its cells off the cell block. The cells share the block's
    /// bytes.
    ///
    /// # Errors
    /// `Protocol` for missing or malformed cells; `InvalidRequest` for an invalid table name or
    /// malformed tags; `Unsupported` for bulk-loaded files, and for cells inside the message.
    pub fn from_proto(entry: proto::WalEntry, block: &mut CellReader) -> Result<Self> {
        let key = entry.key;
        let table = std::str::from_utf8(&key.table_name)
            .map_err(|_| Error::invalid("the table name in a log entry is not UTF-8"))?;
        let table = TableName::parse(table)?;
        if !entry.key_value_bytes.is_empty() {
            return Err(Error::unsupported(format!(
                "cells inside replicated entries, as sources before HBase 0.96 send them, are not \
                 supported: table={table}"
            )));
        }
        let count = usize::try_from(entry.associated_cell_count.unwrap_or(0)).unwrap_or(0);
        let mut cells = block.take_cells(count)?;
        if cells.iter().any(|cell| cell.family() == META_FAMILY) {
            if cells.iter().any(is_bulk_load) {
                return Err(Error::unsupported(format!(
                    "replication of bulk-loaded files (HBASE::BULK_LOAD) is not supported: \
                     table={table}; load the files here as well"
                )));
            }
            // Markers by which a source measures its lag.
            cells.retain(|cell| cell.family() != META_FAMILY);
        }
        let tagged = cells.iter().filter(|cell| !cell.tags().is_empty());
        tagged.map(Cell::tags).try_for_each(check_tags)?;
        let uuid =
            |id: &proto::Uuid| (u128::from(id.most_sig_bits) << 64) | u128::from(id.least_sig_bits);
        Ok(Self {
            table,
            cluster_ids: key.cluster_ids.iter().map(uuid).collect(),
            write_time_millis: key.write_time,
            cells,
        })
    }

    /// Returns one mutation for each consecutive group of cells in the same row. Puts and delete
    /// markers stay together: the source wrote them under one sequence number, which decides in
    /// families with NEW_VERSION_BEHAVIOR.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid row key.
    pub fn into_mutations(self) -> Result<Vec<Mutation>> {
        let mut mutations = Vec::new();
        let mut cells = self.cells.into_iter().peekable();
        while let Some(first) = cells.next() {
            let row = first.row_bytes();
            let mut of_row = vec![first];
            while let Some(cell) = cells.next_if(|cell| cell.row() == &row[..]) {
                of_row.push(cell);
            }
            mutations.push(Put::of_cells(row, of_row)?.into());
        }
        Ok(mutations)
    }
}

fn is_bulk_load(cell: &Cell) -> bool {
    cell.family() == META_FAMILY && cell.qualifier() == BULK_LOAD
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use rowhouse_model::{CellKind, ErrorKind, Timestamp};

    use super::*;
    use crate::rpc::{CellBlock, CellCodec};

    fn cell(row: &str, family: &str, qualifier: &str, kind: CellKind) -> Cell {
        Cell::new(row, family, qualifier, Timestamp::from_millis(5).unwrap(), kind, "v").unwrap()
    }

    fn decode(table: &str, cells: &[Cell], count: i32) -> Result<ReplicatedEntry> {
        let key = proto::WalKey {
            table_name: Bytes::copy_from_slice(table.as_bytes()),
            write_time: 7,
            cluster_ids: vec![proto::Uuid { most_sig_bits: 1, least_sig_bits: 2 }],
            ..Default::default()
        };
        let entry =
            proto::WalEntry { key, associated_cell_count: Some(count), ..Default::default() };
        let mut block = CellBlock::new(CellCodec::KeyValue);
        cells.iter().for_each(|cell| block.push(cell.as_key_value()));
        let bytes = Bytes::copy_from_slice(block.as_bytes());
        ReplicatedEntry::from_proto(entry, &mut CellReader::new(CellCodec::KeyValue, bytes))
    }

    #[test]
    fn an_entry_has_a_mutation_for_each_row_with_puts_and_markers_together() {
        let cells = [
            cell("a", "f", "q", CellKind::Put),
            cell("a", "f", "q", CellKind::DeleteColumn),
            cell("b", "f", "q", CellKind::Put),
        ];
        let entry = decode("ns:t", &cells, 3).unwrap();
        assert_eq!(entry.table, TableName::new("ns", "t").unwrap());
        assert_eq!(entry.cluster_ids, [(1 << 64) | 2]);
        assert_eq!(entry.write_time_millis, 7);
        let mutations = entry.into_mutations().unwrap();
        let rows: Vec<_> =
            mutations.iter().map(|it| (&it.row()[..], it.cells().to_vec())).collect();
        assert_eq!(rows, [(&b"a"[..], cells[..2].to_vec()), (&b"b"[..], cells[2..].to_vec())]);
    }

    #[test]
    fn a_marker_of_bulk_loaded_files_is_refused_by_name() {
        let marker = cell("a", "METAFAMILY", "HBASE::BULK_LOAD", CellKind::Put);
        let error = decode("t", &[cell("a", "f", "q", CellKind::Put), marker], 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("HBASE::BULK_LOAD"), "{error}");
    }

    #[test]
    fn a_marker_of_replication_lag_has_no_mutation() {
        let marker = cell("a", "METAFAMILY", "HBASE::REPLICATION_MARKER", CellKind::Put);
        let entry = decode("t", &[marker], 1).unwrap();
        assert_eq!(entry.into_mutations().unwrap(), []);
    }

    #[test]
    fn an_entry_with_fewer_cells_than_it_counts_is_malformed() {
        let error = decode("t", &[cell("a", "f", "q", CellKind::Put)], 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
    }
}
