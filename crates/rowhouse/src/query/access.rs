//! Finds out how a query can be read: plans it by the key and by each index, and estimates what
//! each way costs.

use rowhouse_client::QueryIndexCall;
use rowhouse_model::{Error, Result, TimeRange};
use rowhouse_query::{Access, Candidate, add_condition_columns};
use rowhouse_schema::{
    Index, IndexCost, IndexPlan, IndexSchema, IndexState, Plan, Predicate, TimeZone,
};

use super::{By, Query};

impl Query<'_> {
    /// Returns how the query is read, by the key or by an index, with all other ways, their
    /// estimates, and the reasons why they are not possible.
    ///
    /// The estimates count cells and entries where they are stored, as [`Query::estimate`] does.
    /// Nothing is estimated if no index can serve the query.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
    /// let spec = spec.columns("d:f sender string").index("by_sender [sender]");
    /// let mail = database.create_table(spec).await?;
    ///
    /// let access = mail.query("sender = 'eve'").using("by_sender").explain_access().await?;
    /// assert_eq!(access.to_string(), "\
    /// access: by index by_sender, in the order of the index
    ///   key
    ///   index by_sender
    /// index: by_sender [sender string][user string][n u32]
    /// ranges: 1
    ///   [eve\\x00\\x01, eve\\x00\\x02)
    /// residual: none, the ranges are exact
    /// order: sender ascending, user ascending, n ascending
    /// rows: in key order, decided by their entries
    /// ");
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`].
    pub async fn explain_access(&self) -> Result<Access> {
        let plan = self.explain()?;
        let backend = self.table.backend();
        if matches!(self.by, By::Any) && !backend.has_read_points() {
            let indexes = backend.indexes(self.table.name()).await?;
            let chooses = self.by_server(&plan).await?;
            if let (Some(text), Some(indexes)) = (&chooses, &indexes) {
                return self.access_of_server(plan, text, indexes).await;
            }
            let mut why_not = Vec::new();
            for index in indexes.iter().flat_map(IndexSchema::indexes) {
                let why = match self.plan_by(index).await? {
                    Err(why) => why,
                    Ok(_) => "through a server, the query must name it".to_owned(),
                };
                why_not.push((index.name().to_owned(), why));
            }
            return Ok(Access::by_key(plan, why_not));
        }
        self.access(plan, self.rows_max(), true).await
    }

    /// Returns how a server reads the query, which it chooses when the query arrives.
    async fn access_of_server(
        &self,
        plan: Plan,
        text: &str,
        indexes: &IndexSchema,
    ) -> Result<Access> {
        let call = QueryIndexCall {
            table: self.table.name().clone(),
            query: text.to_owned(),
            columns: self.scan.columns.clone(),
            limit: Some(self.rows_max()).filter(|rows| *rows < u64::MAX),
        };
        let chosen = self.table.backend().query_index(&call).await?;
        let mut plans = Vec::new();
        for index in indexes.indexes() {
            plans.push((index.name().to_owned(), self.plan_by(index).await?));
        }
        Ok(Access::of_server(plan, chosen.as_deref(), plans))
    }

    /// Returns the query as text if a server is to choose how the rows are read: if an index may
    /// serve it, and the server answers queries.
    pub(super) async fn by_server(&self, plan: &Plan) -> Result<Option<String>> {
        let is_of_newest = self.scan.versions == 1 && self.scan.time_range == TimeRange::ALL;
        let may_serve = matches!(self.by, By::Any)
            && self.table.has_indexes()
            && !plan.is_exact()
            && plan.qualifiers().is_empty()
            && is_of_newest
            && !self.with_misfits;
        // The server takes times without a zone as UTC.
        if !may_serve || self.zone != TimeZone::UTC {
            return Ok(None);
        }
        let (schema, predicate) = self.asked.as_ref().map_err(Clone::clone)?;
        let text = predicate.to_string();
        let plan_of = |predicate: &Predicate| {
            self.table.declared_columns().plan(schema, predicate, &self.zone)
        };
        let read = Predicate::parse(&text).and_then(|read| plan_of(&read));
        // A number for a time may be a date as text.
        if !read.is_ok_and(|read| plan_of(predicate).is_ok_and(|plan| plan.selects_as(&read))) {
            return Ok(None);
        }
        let answers = self.table.backend().answers_queries().await?;
        Ok(answers.then_some(text))
    }

    /// Chooses how to read up to `limit` rows. Without `explains` nothing is estimated that cannot
    /// be chosen.
    pub(super) async fn access(&self, plan: Plan, limit: u64, explains: bool) -> Result<Access> {
        let backend = self.table.backend();
        match &self.by {
            By::Key => return Ok(Access::by_key(plan, Vec::new())),
            By::Index(name) => return self.access_using(plan, name).await,
            By::Any if !backend.has_read_points() => {
                return Ok(Access::by_key(plan, Vec::new()));
            }
            By::Any => {}
        }
        let Some(indexes) = backend.indexes(self.table.name()).await? else {
            return Ok(Access::by_key(plan, Vec::new()));
        };
        let mut plans = Vec::new();
        for index in indexes.indexes() {
            plans.push((index.name().to_owned(), self.plan_by(index).await?));
        }
        if plans.iter().all(|(_, plan)| plan.is_err()) {
            let why = plans.into_iter().filter_map(|(name, plan)| Some((name, plan.err()?)));
            return Ok(Access::by_key(plan, why.collect()));
        }
        let key_cells = self.cells_in(&plan).await?;
        if !explains && IndexCost::is_key_cheap(key_cells) {
            return Ok(Access::by_key(plan, Vec::new()));
        }
        let mut candidates = Vec::new();
        for (name, plan) in plans {
            let candidate = match plan {
                // It may have been dropped meanwhile.
                Ok(plan) => self.candidate(plan).await.map_err(|error| error.message().to_owned()),
                Err(why) => Err(why),
            };
            candidates.push((name, candidate));
        }
        Ok(Access::choose(plan, key_cells, limit, candidates))
    }

    /// Plans the query by the index that it names.
    async fn access_using(&self, plan: Plan, name: &str) -> Result<Access> {
        let indexes = self.table.backend().indexes(self.table.name()).await?;
        let indexes = indexes.ok_or_else(|| {
            Error::invalid(format!("table {} declares no indexes", self.table.name()))
        })?;
        match self.plan_by(indexes.index(name)?).await? {
            Ok(index) => {
                let at_read_point = self.table.backend().has_read_points();
                let is_covered = at_read_point && index.is_covered(&self.scan.columns);
                Ok(Access::using(plan, index, is_covered))
            }
            Err(why) => Err(Error::invalid(format!("index {name} cannot serve the query: {why}"))),
        }
    }

    /// Plans the query by an index, or returns why that is not possible.
    async fn plan_by(&self, index: &Index) -> Result<Result<IndexPlan, String>> {
        let (schema, predicate) = match &self.asked {
            Ok(asked) => asked,
            Err(error) => return Err(error.clone()),
        };
        if self.with_misfits {
            let why = "rows whose keys do not fit the template have no entries";
            return Ok(Err(why.to_owned()));
        }
        let declared = (*schema, self.table.declared_columns().declared());
        let plan = match Candidate::plan(index, declared, predicate, &self.zone, &self.scan) {
            Ok(plan) => plan,
            Err(why) => return Ok(Err(why)),
        };
        let state = self.table.backend().index_state(self.table.name(), index.name()).await;
        Ok(match state {
            Ok(IndexState::Ready) => Ok(plan),
            Ok(state) => Err(Candidate::not_ready(&state)),
            // It may have been dropped meanwhile.
            Err(error) => Err(error.message().to_owned()),
        })
    }

    /// Estimates the cells in the ranges that the plan by the key has.
    async fn cells_in(&self, plan: &Plan) -> Result<u64> {
        let mut columns = self.scan.columns.clone();
        add_condition_columns(&mut columns, plan);
        let estimate = self.table.estimate(plan.ranges(), &columns).await?;
        Ok(estimate.map_or(u64::MAX, |estimate| estimate.cells))
    }

    /// Estimates the entries to read from an index.
    async fn candidate(&self, plan: IndexPlan) -> Result<Candidate> {
        let entries = self.table.scans_of(plan.index().table_name(self.table.name())?);
        let columns = Candidate::entry_columns(&plan, &self.scan.columns);
        let estimate = entries.estimate(plan.plan().ranges(), &columns).await?;
        let cells = estimate.map(|estimate| estimate.cells);
        Ok(Candidate::new(plan, cells, &self.scan.columns))
    }
}
