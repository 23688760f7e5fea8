//! Table heat.

use std::collections::HashMap;

use rowhouse_format::convert::procedure::heat::{self, HeatCall};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, HeatBucket, HeatColumn, HeatReport, Result, TableName};

use super::Admin;

impl Admin {
    /// Returns the heat that a rowhouse server has measured for a table, between two times in
    /// milliseconds since 1970.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` from a server that is not a rowhouse server; `Protocol`
    /// for a malformed answer.
    pub async fn heat(
        &self,
        table: &TableName,
        from_millis: i64,
        to_millis: i64,
    ) -> Result<HeatReport> {
        let call = HeatCall { table: table.clone(), from_millis, to_millis };
        let procedure = heat::call_to_proto(&call);
        let answer = self.call(proto::ExecProcedureRequest { procedure }).await?;
        let report = answer.return_data.ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "the server returns no heat of the table")
        })?;
        heat::report_from_bytes(report)
    }

    /// Returns the requests to a table's regions since these were opened, as region servers in any
    /// cluster report them: one column, with a range for each region.
    ///
    /// # Errors
    /// `TableNotFound`; errors as for [`Admin::cluster_status`].
    pub async fn heat_by_region(&self, table: &TableName) -> Result<HeatReport> {
        let regions = self.client.table(table).regions().await?;
        let status = self.cluster_status().await?;
        let loads = status.loads.iter().flat_map(|server| &server.regions);
        let loads: HashMap<_, _> = loads.map(|load| (&load.name, load)).collect();
        let buckets = regions.iter().map(|(region, _)| {
            let load = loads.get(&region.name().full);
            HeatBucket {
                start: region.range.start.clone(),
                reads: load.map_or(0, |load| load.reads),
                writes: load.map_or(0, |load| load.writes),
                ..HeatBucket::default()
            }
        });
        let column = HeatColumn { buckets: buckets.collect(), ..HeatColumn::default() };
        Ok(HeatReport { columns: vec![column], is_by_region: true, ..HeatReport::default() })
    }
}
