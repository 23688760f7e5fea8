//! Table heat in words and as a picture.

mod first_values;
mod picture;

use std::time::{SystemTime, UNIX_EPOCH};

use rowhouse::admin::{
    ColumnGroups, HeatBucket, HeatReport, HotRow, LoadKind, LoadProfile, LoadVerdict, Placement,
};
use rowhouse::key::{KeySchema, escape};
use rowhouse::{Bytes, Database, Result, RowRange};
use rowhouse_model::{ServerName, escape_controls};
use rowhouse_schema::HeatMap;

use crate::counted::counted;

pub(crate) use first_values::FewFirstValues;
pub(crate) use picture::svg;

/// How many ranges and how many rows are listed.
const LISTED: usize = 5;

/// The share of the requests on each region server, with the server's address.
pub(crate) type ServerShares = Vec<(String, f64)>;

/// Table heat, with what the keys mean.
pub(crate) struct TableHeat {
    pub(crate) table: String,
    pub(crate) report: HeatReport,
    pub(crate) schema: Option<KeySchema>,
    pub(crate) regions: Vec<RowRange>,
    pub(crate) placement: Placement,
    /// On a cluster: the first field's values, if there are few.
    pub(crate) first_values: Option<FewFirstValues>,
}

impl TableHeat {
    /// Reads a table's heat, for the last minutes or for all times.
    pub(crate) async fn read(
        database: &Database,
        name: &str,
        minutes: Option<u32>,
    ) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let from = minutes.map_or(i64::MIN, |minutes| now - i64::from(minutes) * 60_000);
        let table = database.table(name).await?;
        let report = database.admin().heat(name, from, i64::MAX).await?;
        let placed = table.regions_with_servers().await?;
        let servers = placed.iter().map(|(_, server)| server.as_ref().map(ServerName::address));
        let live = database.admin().status().await?.live_servers;
        let live = live.iter().map(ServerName::address).collect();
        let placement = Placement::new(live, servers);
        let regions = placed.into_iter().map(|(region, _)| region.range).collect();
        let schema = table.key_schema().ok().cloned();
        let first_values =
            if report.is_by_region { FewFirstValues::find(&table).await? } else { None };
        let table = name.to_owned();
        Ok(Self { table, report, schema, regions, placement, first_values })
    }

    /// Returns the verdicts on writes and on reads, each with the kind's name.
    pub(crate) fn verdicts(&self) -> [(&'static str, LoadVerdict); 2] {
        self.profiles().map(|(kind, profile)| (kind.name(), profile.judge(self.schema.as_ref())))
    }

    fn profiles(&self) -> [(LoadKind, LoadProfile); 2] {
        LoadProfile::of_kinds(&self.report, &self.regions, &self.placement)
    }

    /// Returns the shares of writes and of reads on each region server; `None` for a kind without
    /// requests, and with fewer than two servers.
    pub(crate) fn servers(&self) -> [(&'static str, Option<ServerShares>); 2] {
        self.profiles().map(|(kind, profile)| {
            let shares = profile.server_shares().map(|shares| {
                shares.into_iter().map(|(server, share)| (server.to_owned(), share)).collect()
            });
            (kind.name(), shares)
        })
    }

    /// Returns the report as text lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let buckets = || self.report.columns.iter().flat_map(|column| &column.buckets);
        let reads: u64 = buckets().map(|bucket| bucket.reads).sum();
        let writes: u64 = buckets().map(|bucket| bucket.writes).sum();
        let how = match (self.report.is_by_region, self.report.is_sampled) {
            (true, _) => {
                " since its regions were opened, by region: the servers measure nothing finer"
            }
            (false, true) => ", estimated from a sample",
            (false, false) => "",
        };
        let total = reads + writes;
        let reads = counted(reads, "read");
        let writes = counted(writes, "write");
        let mut lines = vec![format!("{}: {reads}, {writes}{how}", self.table)];
        let hottest = self.map().hottest(LISTED, &Bytes::new());
        if !hottest.is_empty() {
            let zone = if self.report.is_by_region { "" } else { ", times in UTC" };
            lines.push(format!("hottest ranges{zone}"));
        }
        for range in hottest {
            let began = if self.report.is_by_region {
                String::new()
            } else {
                format!("{}  ", time_of(range.start_millis))
            };
            let share = range.load as f64 / total.max(1) as f64 * 100.0;
            let from = self.key(&range.start);
            let to = self.key(&range.stop);
            lines.push(format!("  {began}{share:>4.0} %  from {from} to {to}"));
        }
        if !self.report.hot_rows.is_empty() {
            lines.push("hottest rows of the last minutes".to_owned());
        }
        let rows = self.report.hot_rows.iter().take(LISTED);
        lines.extend(rows.map(|row| self.row_line(row)));
        lines.extend(self.servers().iter().filter_map(|(kind, shares)| {
            let shares = shares.as_ref()?.iter();
            let shares = shares.map(|(server, share)| format!("{server} {:.0} %", share * 100.0));
            Some(format!("{kind} by region server: {}", shares.collect::<Vec<_>>().join(", ")))
        }));
        lines.extend(self.verdicts().map(|(name, verdict)| format!("{name}: {verdict}")));
        lines.extend(ColumnGroups::of_heat(&self.report).iter().map(ToString::to_string));
        lines.extend(self.first_values.iter().map(ToString::to_string));
        lines
    }

    /// Returns the map with all requests.
    fn map(&self) -> HeatMap {
        let columns = &self.report.columns;
        let from = columns.first().map_or(0, |column| column.start_millis);
        let to = columns.last().map_or(0, |column| column.start_millis + column.length_millis);
        let requests = |bucket: &HeatBucket| bucket.reads + bucket.writes;
        HeatMap::new(&self.report, requests, &RowRange::all(), from, to)
    }

    fn row_line(&self, row: &HotRow) -> String {
        let reads = counted(row.reads, "read");
        let writes = counted(row.writes, "write");
        let error = match row.overestimate {
            0 => String::new(),
            over => format!(", at most {over} too many"),
        };
        format!("  {}: {reads}, {writes}{error}", self.key(&row.row))
    }

    /// Returns a key with the fields, if the table has a template.
    pub(crate) fn key(&self, key: &Bytes) -> String {
        match &self.schema {
            _ if key.is_empty() => "…".to_owned(),
            Some(schema) => escape_controls(&schema.read_prefix(key).to_string()),
            None => escape(key),
        }
    }
}

/// Returns a minute in UTC; empty if the calendar ends before it.
fn time_of(millis: i64) -> String {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(time) => time.strftime("%m-%d %H:%M").to_string(),
        Err(_) => String::new(),
    }
}
