//! Runs what is analyzed, on one thread and at a read point with a trace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Columns, Error, Get, Result, Scan, TimeRange, escape};
use rowhouse_store::{ReadTrace, thread_cpu_time};

use super::{Analysis, Answer, StepTime};
use crate::backend::{ReadAhead, TableReadPoint, block_on, blocking};
use crate::rows::Rows;
use crate::table::Table;

/// Runs work until it ends on one blocking thread, where the work that it does ahead happens in
/// order: the same reads have the same counts each time.
pub(crate) async fn on_blocking_thread<F, T>(work: impl FnOnce() -> F + Send + 'static) -> Result<T>
where
    F: Future<Output = Result<T>>,
    T: Send + 'static,
{
    blocking(move || block_on(work())).await
}

/// Measures steps on one thread.
pub(crate) struct StepTimer {
    started: Instant,
    cpu_started: Duration,
}

impl StepTimer {
    pub(crate) fn begin() -> Self {
        Self { started: Instant::now(), cpu_started: thread_cpu_time() }
    }

    pub(crate) fn end(&self) -> StepTime {
        let cpu = thread_cpu_time().saturating_sub(self.cpu_started);
        StepTime { elapsed: self.started.elapsed(), cpu }
    }
}

/// Returns a table's current read point, with a trace.
///
/// # Errors
/// `Unsupported` on a cluster.
async fn traced_point(table: &Table, trace: &Arc<ReadTrace>) -> Result<TableReadPoint> {
    match table.read_point().await? {
        Some(point) => Ok(point.traced(trace)),
        None => Err(refused(table)),
    }
}

/// The error for an analysis on a cluster.
pub(crate) fn refused(table: &Table) -> Error {
    Error::unsupported(format!(
        "a cluster does not report which files and blocks it reads, only a data directory can be \
         analyzed: table={}",
        table.name()
    ))
}

/// Analyzes a get.
async fn analyze_get(table: Table, get: Get) -> Result<Analysis> {
    let trace = Arc::<ReadTrace>::default();
    let point = traced_point(&table, &trace).await?;
    let timer = StepTimer::begin();
    let row = point.get(&get)?;
    let reading = timer.end();
    let mut answer = Answer::default();
    answer.add(&row);
    let key = Analysis::key_of(table.key_schema().ok(), get.row());
    let asked = format!("get {key}{}", columns_of(&get.columns));
    Ok(Analysis::of_reads(&table, asked, answer, reading, &trace))
}

/// Analyzes a scan until it ends.
async fn analyze_scan(table: Table, scan: Scan) -> Result<Analysis> {
    let trace = Arc::<ReadTrace>::default();
    let point = traced_point(&table, &trace).await?;
    let [from, to] = [&scan.range.start, &scan.range.stop]
        .map(|key| Analysis::key_of(table.key_schema().ok(), key));
    let mut asked = format!("scan from {from} to {to}{}", columns_of(&scan.columns));
    if scan.time_range != TimeRange::ALL {
        asked += &format!(", times {} to {}", scan.time_range.min(), scan.time_range.max());
    }
    if let Some(filter) = &scan.filter {
        asked += &format!(", filter {filter}");
    }
    if let Some(limit) = scan.limit {
        asked += &format!(", limit {limit}");
    }
    let timer = StepTimer::begin();
    let mut rows = Rows::at(&point, scan, &ReadAhead::new(1)).await?;
    let mut answer = Answer::default();
    while let Some(row) = rows.next().await? {
        answer.add(&row);
    }
    drop(rows);
    Ok(Analysis::of_reads(&table, asked, answer, timer.end(), &trace))
}

impl Analysis {
    fn of_reads(
        table: &Table,
        asked: String,
        answer: Answer,
        reading: StepTime,
        trace: &ReadTrace,
    ) -> Self {
        let schema = table.key_schema().ok().cloned();
        Self {
            asked,
            access: None,
            answer,
            planning: None,
            reading,
            reads: trace.report(),
            schemas: schema.map(|schema| (table.name().clone(), schema)).into_iter().collect(),
        }
    }
}

fn columns_of(columns: &Columns) -> String {
    let mut names = Vec::new();
    for (family, qualifiers) in columns.families() {
        let family = escape(family);
        let mut named = qualifiers.named().peekable();
        if named.peek().is_none() {
            names.push(family.clone());
        }
        names.extend(named.map(|qualifier| format!("{family}:{}", escape(qualifier))));
    }
    if names.is_empty() { String::new() } else { format!(", columns {}", names.join(", ")) }
}

impl Table {
    /// Reads one row as [`Table::get`] does, and returns what that read: files, blocks, cells and
    /// time. See
    /// [`Query::analyze`](crate::query::Query::analyze).
    ///
    /// ```
    /// # use rowhouse::{Get, Result, Table};
    /// # async fn example(blog: Table) -> Result<()> {
    /// println!("{}", blog.analyze_get(&Get::new("1")?.column("cf", "title")).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `Unsupported` on a cluster, which does not report this.
    pub async fn analyze_get(&self, get: &Get) -> Result<Analysis> {
        let table = self.clone();
        let get = get.clone();
        on_blocking_thread(move || analyze_get(table, get)).await
    }

    /// Reads a scan until it ends, as [`Table::scan`] does, and returns what that read: files,
    /// blocks, cells and time. See
    /// [`Query::analyze`](crate::query::Query::analyze).
    ///
    /// ```
    /// # use rowhouse::{Result, RowRange, Scan, Table};
    /// # async fn example(blog: Table) -> Result<()> {
    /// let scan = Scan::new(RowRange::new("a", "b")).family("cf");
    /// println!("{}", blog.analyze_scan(scan).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::scan`]; `Unsupported` on a cluster, which does not report this.
    pub async fn analyze_scan(&self, scan: Scan) -> Result<Analysis> {
        let table = self.clone();
        on_blocking_thread(move || analyze_scan(table, scan)).await
    }
}
