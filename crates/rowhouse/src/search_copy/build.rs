//! Builds a copy in a table beside the one that is searched, and replaces that one at the end.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, Error, ErrorKind, Result, TableDescriptor, TableName, TableState};
use rowhouse_schema::IndexState;
use rowhouse_store::Store;

use super::Origin;
use super::declared::{Declared, Given};
use super::scan::{Alone, Copier, Counts, working};
use crate::backend::LocalSearch;
use crate::database::Database;

/// Regions that are scanned at the same time.
const REGIONS_AT_ONCE: usize = 4;

/// The time between two progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Starts to build a copy with the searched cells from a table in `source`. The copy is the table
/// with the same name in `into`, which is a database in this process.
///
/// A copy that is there is replaced when the new one is ready: a search sees one or the other, and
/// a crash, or an error, leaves the old one. A table that is not a copy is never replaced. See the
/// [module](crate::search_copy) for an example.
pub fn build(source: &Database, table: &str, into: &Database) -> SearchBuild {
    SearchBuild {
        source: source.clone(),
        table: table.to_owned(),
        into: into.clone(),
        given: Given::default(),
        regions_at_once: REGIONS_AT_ONCE,
        on_progress: Box::new(|_| {}),
    }
}

/// A copy being built, from [`build`].
#[must_use = "nothing is built before `run`"]
pub struct SearchBuild {
    source: Database,
    table: String,
    into: Database,
    given: Given,
    regions_at_once: usize,
    on_progress: Box<dyn FnMut(&BuildProgress) + Send>,
}

/// How far a build is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuildProgress {
    /// The current step.
    pub step: BuildStep,
    /// The rows that the step has done.
    pub rows: u64,
    /// The parts that the step has done: regions in the scan, documents in the index.
    pub done: u64,
    /// The parts in the step.
    pub total: u64,
    /// The time since the step began.
    pub elapsed: Duration,
}

/// A step in a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStep {
    /// Scans the source, and writes the searched cells.
    Scan,
    /// Analyses the rows, and writes the index.
    Index,
}

/// What a build has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The rows in the copy: rows that show a searched column, and whose keys fit the template.
    pub rows: u64,
    /// The rows that show a searched column, and whose keys do not fit. They are not searched.
    pub misfits: u64,
    /// The keys for some misfits.
    pub first_misfits: Vec<Bytes>,
    /// Whether an older copy was replaced.
    pub has_replaced: bool,
}

impl SearchBuild {
    /// Declares the key with a template, if the source declares none, or another one.
    pub fn key(mut self, template: &str) -> Self {
        self.given.key = Some(template.to_owned());
        self
    }

    /// Declares columns, as [`TableSpec::columns`](crate::TableSpec::columns) does, if the source
    /// declares none, or others. The copy has the columns that its indexes name.
    pub fn columns(mut self, text: &str) -> Self {
        self.given.columns = Some(text.to_owned());
        self
    }

    /// Declares a full-text index, `NAME search FIELDS`; it may be called several times.
    pub fn index(mut self, declaration: &str) -> Self {
        self.given.indexes.push(declaration.to_owned());
        self
    }

    /// Sets how many regions are scanned at the same time. Default 4.
    pub fn regions_at_once(mut self, regions: usize) -> Self {
        self.regions_at_once = regions.max(1);
        self
    }

    /// Sets a function that is called with the progress, about ten times a second.
    pub fn on_progress(mut self, report: impl FnMut(&BuildProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    /// Builds the copy. Another build in the same database is waited for. If the future is dropped,
    /// the next build for the table removes what remains.
    ///
    /// # Errors
    /// `TableNotFound`, and other errors from the scan; `InvalidRequest` for declarations that are
    /// missing or wrong, and if a table with the name is there that is not a copy; `Unsupported` if
    /// `into` is a cluster; `NamespaceNotFound` if it lacks the namespace.
    pub async fn run(mut self) -> Result<Built> {
        let local = self.into.backend().local_search()?.clone();
        let alone = Arc::new(Arc::clone(&local.builds).lock_owned().await);
        let source = self.source.table(&self.table).await?;
        let described = self.source.admin().describe(&self.table).await?;
        let name = described.name().clone();
        let origin =
            Origin { url: self.source.url().to_owned(), scanned_millis: local.store.now_millis() };
        let before = copy_of(&local.store, &name)?;
        let declared = Arc::new(Declared::of(&described, &self.given, origin, before.as_ref())?);
        let unfinished = unfinished(&name)?;
        remove(&local.store, &unfinished, &alone).await?;
        let copier = Copier {
            source,
            into: local.store.clone(),
            table: unfinished.clone(),
            declared,
            counts: Arc::new(Counts::default()),
            alone: Arc::clone(&alone),
        };
        let store = local.store.clone();
        let counts = Arc::clone(&copier.counts);
        if let Err(error) = self.fill(&local, copier).await {
            // What is left is removed by the next build.
            let _ = remove(&store, &unfinished, &alone).await;
            return Err(error);
        }
        let replace = move || store.replace_table(&name, &unfinished, refuse_other);
        working(&alone, replace).await?;
        let first_misfits = counts.first_misfits.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Built {
            rows: counts.rows.load(Ordering::Relaxed),
            misfits: counts.misfits.load(Ordering::Relaxed),
            first_misfits: first_misfits.clone(),
            has_replaced: before.is_some(),
        })
    }

    /// Makes the unfinished table, with rows and indexes.
    async fn fill(&mut self, local: &LocalSearch, copier: Copier) -> Result<()> {
        let store = local.store.clone();
        let started = copier.declared.started(copier.table.clone())?;
        working(&copier.alone, move || store.create_table(started, &[])).await?;
        let counts = Arc::clone(&copier.counts);
        let now = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        let scanned = || (now(&counts.rows), now(&counts.regions_done), now(&counts.regions));
        self.watch(BuildStep::Scan, copier.copy(self.regions_at_once), scanned).await?;
        let store = local.store.clone();
        let table = copier.table.clone();
        let declared = Arc::clone(&copier.declared);
        // Before the table changes, the rows are flushed to files.
        let finish =
            move || store.change_table(&table, |started| declared.finished(started.clone()));
        working(&copier.alone, finish).await?;
        for index in &copier.declared.index_names {
            let engine = Arc::clone(&local.engine);
            let table = copier.table.clone();
            let name = index.clone();
            let built = working(&copier.alone, move || engine.work(&table, &name));
            let documents = || {
                let segments = local.engine.segments(&copier.table, index).unwrap_or_default();
                let documents = segments.iter().map(|segment| segment.documents).sum();
                (documents, documents, now(&counts.rows))
            };
            self.watch(BuildStep::Index, built, documents).await?;
            let state = local.store.index_state(&copier.table, index)?;
            if state != IndexState::Ready {
                return Err(Error::new(
                    ErrorKind::RegionTooBusy,
                    format!(
                        "the index of an unfinished copy changed: index={index}, state={state}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Waits for a step, and reports the step's rows, the parts that are done, and all parts.
    async fn watch<T>(
        &mut self,
        step: BuildStep,
        work: impl Future<Output = T>,
        count: impl Fn() -> (u64, u64, u64),
    ) -> T {
        let started = Instant::now();
        let mut work = pin!(work);
        let mut ticks = tokio::time::interval(REPORT_EVERY);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let (rows, done, total) = count();
                    let elapsed = started.elapsed();
                    (self.on_progress)(&BuildProgress { step, rows, done, total, elapsed });
                }
            }
        }
    }
}

/// Returns the name of the table that a build of `name` fills. No index can have it: an index name
/// has no hyphen.
fn unfinished(name: &TableName) -> Result<TableName> {
    TableName::new(name.namespace(), &format!("{}.being-built", name.qualifier()))
}

/// Returns the copy with this name, if there is one.
///
/// # Errors
/// `InvalidRequest` for a table that is not a copy.
fn copy_of(store: &Store, name: &TableName) -> Result<Option<TableDescriptor>> {
    let table = match store.table(name) {
        Err(error) if error.kind() == ErrorKind::TableNotFound => return Ok(None),
        table => table?.descriptor().clone(),
    };
    refuse_other(&table)?;
    Ok(Some(table))
}

/// Refuses a table that is not a copy.
fn refuse_other(table: &TableDescriptor) -> Result<()> {
    match Origin::of_table(table)? {
        Some(_) => Ok(()),
        None => Err(Error::invalid(format!(
            "a table of this name is here that is not a search copy, and stays as it is: table={}",
            table.name()
        ))),
    }
}

/// Removes an unfinished copy, if there is one.
async fn remove(store: &Store, name: &TableName, alone: &Alone) -> Result<()> {
    let store = store.clone();
    let name = name.clone();
    let removed = working(alone, move || {
        if copy_of(&store, &name)?.is_none() {
            return Ok(());
        }
        if store.table(&name)?.state() == TableState::Enabled {
            store.disable_table(&name)?;
        }
        store.drop_table(&name)
    });
    removed.await
}
