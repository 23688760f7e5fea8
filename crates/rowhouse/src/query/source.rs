//! Where queries read: in this process's store at a read point, or in a cluster.

use std::sync::Arc;
use std::task::{Context, Poll};

use rowhouse_model::{Bytes, Error, ErrorKind, Result, Row, Scan};
use rowhouse_query::{
    EntryHit, JudgeRows, Judged, Projection, ReadFrom, Reading, Source, SourceRows,
};
use rowhouse_schema::{Index, Plan};

use crate::backend::{GETS_INLINE_MAX, IndexReadPoint, ReadAhead, TableReadPoint};
use crate::rows::Rows;
use crate::table::Table;

/// The most entry bytes that a query sorts.
const SORTED_BYTES_MAX: usize = 64 << 20;

/// A table, and where the rows are read.
#[derive(Clone)]
pub(super) struct TableSource {
    table: Table,
    reads: Reads,
    /// Reads ahead for scans.
    scans: Arc<ReadAhead>,
    /// Reads the rows to which entries lead.
    rows: Arc<ReadAhead>,
}

#[derive(Clone)]
enum Reads {
    /// Each row as it is now.
    Now,
    /// Each row as it is now, and the entries in this table.
    ByClients(Table),
    /// By a server that answers this query, and returns only rows that match.
    Server(String),
    At(TableReadPoint),
    AtIndex(Arc<IndexReadPoint>),
}

impl TableSource {
    fn new(table: &Table, reads: Reads) -> Self {
        let scans = ReadAhead::of_processors();
        let rows = ReadAhead::of_processors();
        Self { table: table.clone(), reads, scans, rows }
    }

    /// Reads by a server that answers a query.
    pub(super) fn server(table: &Table, query: String) -> Self {
        Self::new(table, Reads::Server(query))
    }

    /// Reads at a read point.
    pub(super) fn at(table: &Table, point: TableReadPoint) -> Self {
        Self::new(table, Reads::At(point))
    }

    /// Reads a plan by the key. Several scans for each range share a read point, if the backend
    /// supports one.
    pub(super) async fn by_key(
        table: &Table,
        plan: &Plan,
        projection: &Projection,
    ) -> Result<Self> {
        let point = if projection.needs_point(plan) { table.read_point().await? } else { None };
        Ok(Self::new(table, point.map_or(Reads::Now, Reads::At)))
    }

    /// Reads by an index: at a read point, or where clients maintain the entries.
    pub(super) fn by_index(
        table: &Table,
        index: &Index,
        point: Option<IndexReadPoint>,
    ) -> Result<Self> {
        let reads = match point {
            Some(point) => Reads::AtIndex(Arc::new(point)),
            None => Reads::ByClients(table.scans_of(index.table_name(table.name())?)),
        };
        Ok(Self::new(table, reads))
    }
}

impl Source for TableSource {
    type Rows = Rows;

    fn scan(&self, from: ReadFrom, scan: Scan) -> Reading<Rows> {
        let Self { table, reads, scans, .. } = self.clone();
        Box::pin(async move {
            match (reads, from) {
                (Reads::At(point), _) => Rows::at(&point, scan, &scans).await,
                (Reads::AtIndex(point), ReadFrom::Rows) => {
                    Rows::at(&point.rows, scan, &scans).await
                }
                (Reads::AtIndex(point), ReadFrom::Entries) => {
                    Rows::at(&point.entries(), scan, &scans).await
                }
                (Reads::ByClients(entries), ReadFrom::Entries) => {
                    entries.scan_with(scan, &scans).await
                }
                (Reads::Server(query), _) => {
                    table.backend().scan_matching(table.name(), scan, &query)
                }
                (Reads::Now | Reads::ByClients(_), _) => table.scan_with(scan, &scans).await,
            }
        })
    }

    fn judge(&self, judge: Arc<dyn JudgeRows>, found: Vec<EntryHit>) -> Reading<Judged> {
        if let Reads::AtIndex(point) = &self.reads {
            let point = Arc::clone(point);
            let entries = found.len();
            let read = move || judge.rows_at_point(found, &|get| point.rows.get(get));
            if entries <= GETS_INLINE_MAX {
                return Box::pin(std::future::ready(read()));
            }
            let read = self.rows.ask(read);
            return Box::pin(async move { read.await? });
        }
        let table = self.table.clone();
        let read = tokio::spawn(async move {
            let rows = table.get_many(judge.gets_of(&found)?).await;
            judge.rows_of(found, rows)
        });
        Box::pin(async move {
            match read.await.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(judged) => judged,
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(_)) => Err(Error::new(
                    ErrorKind::ServerNotRunning,
                    "the runtime that read rows for a query was shut down",
                )),
            }
        })
    }

    fn now_millis(&self) -> Option<i64> {
        match &self.reads {
            Reads::AtIndex(point) => Some(point.now_millis()),
            Reads::Now | Reads::ByClients(_) | Reads::Server(_) | Reads::At(_) => None,
        }
    }

    fn families(&self) -> Vec<Bytes> {
        match &self.reads {
            Reads::At(point) => point.families().cloned().collect(),
            Reads::AtIndex(point) => point.rows.families().cloned().collect(),
            Reads::Now | Reads::ByClients(_) | Reads::Server(_) => Vec::new(),
        }
    }

    fn sorted_bytes_max(&self) -> usize {
        SORTED_BYTES_MAX
    }

    fn returns_only_matching(&self) -> bool {
        matches!(self.reads, Reads::Server(_))
    }

    fn report_damage(&self, error: &Error) {
        if let Reads::AtIndex(point) = &self.reads {
            point.report_damage(error);
        }
    }
}

impl SourceRows for Rows {
    #[inline]
    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        self.poll_row(context)
    }
}
