//! The system tables that are generated from the manifest on each read: `hbase:meta` and
//! `hbase:namespace`.

use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::meta::{MetaTable, RegionRow, State};
use rowhouse_model::{
    FamilyDescriptor, Get, RegionInfo, Result, Row, RowRange, Scan, ServerName, TableDescriptor,
    TableName, TableState, Timestamp,
};

use crate::manifest::Assignment;
use crate::region::table_not_found;
use crate::store::Store;

impl Store {
    /// Returns the single region of `hbase:namespace`.
    pub fn namespace_region(&self) -> RegionInfo {
        let created = self.created_millis().unsigned_abs();
        RegionInfo::new(TableName::namespace_table(), RowRange::all(), created)
    }

    /// Returns the current `hbase:meta`: every table and region, each region with the name that
    /// `server` returns for the region's server number. System table regions are on
    /// `system_server`.
    pub fn meta(
        &self,
        system_server: Option<&ServerName>,
        server: impl Fn(u32) -> Option<ServerName>,
    ) -> Result<MetaTable> {
        let stored = self.tables();
        let system = self.namespace_region();
        let row = |region: &RegionInfo, server, is_open| RegionRow {
            region: region.clone(),
            server,
            // Apache HBase's number for a region that was opened once.
            open_sequence: 2,
            state: if is_open { State::Open } else { State::Closed },
        };
        let mut regions = vec![row(&system, system_server.cloned(), true)];
        for table in &stored {
            let is_enabled = table.state() == TableState::Enabled;
            regions.extend(table.regions().iter().map(|region| {
                let Assignment { server: number, in_service } = region.assignment();
                row(region.info(), server(number), is_enabled && in_service)
            }));
        }
        let stored = stored.iter().map(|table| (table.name(), table.state()));
        let tables = [(&system.table, TableState::Enabled)].into_iter().chain(stored);
        MetaTable::meta(&regions, tables, self.created())
    }

    /// Returns the current `hbase:namespace`.
    pub fn namespace_table(&self) -> Result<MetaTable> {
        MetaTable::namespaces(&self.namespaces(), self.created())
    }

    /// Returns the read-only tables that are generated from the manifest: `hbase:meta`,
    /// `hbase:namespace`.
    pub fn system_tables(&self) -> [TableDescriptor; 2] {
        let family = |name: &'static str| {
            FamilyDescriptor::new(name).expect("HBase's own families have legal names")
        };
        [
            TableDescriptor::new(TableName::meta()).family(family("info")).family(family("table")),
            TableDescriptor::new(TableName::namespace_table()).family(family("info")),
        ]
    }

    /// Reads a row of a generated table: `hbase:meta`, `hbase:namespace`.
    ///
    /// # Errors
    /// `TableNotFound` for any other table.
    pub fn get_system(&self, table: &TableName, get: &Get) -> Result<Row> {
        Ok(self.system_table(table)?.get(get))
    }

    /// Reads the rows of a generated table, in table order, which in `hbase:meta` is not byte
    /// order. Scans in both directions.
    ///
    /// # Errors
    /// `TableNotFound` for any other table.
    pub fn scan_system(&self, table: &TableName, scan: &Scan) -> Result<Vec<Row>> {
        let limit =
            scan.limit.map_or(usize::MAX, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
        let scan = OpenScan::new(scan.clone());
        Ok(self.system_table(table)?.scan(&scan).take(limit).collect())
    }

    fn system_table(&self, table: &TableName) -> Result<MetaTable> {
        if *table == TableName::meta() {
            self.meta(None, |_| None)
        } else if *table == TableName::namespace_table() {
            self.namespace_table()
        } else {
            Err(table_not_found(table))
        }
    }

    fn created(&self) -> Timestamp {
        Timestamp::from_millis(self.created_millis()).unwrap_or(Timestamp::MIN)
    }
}
