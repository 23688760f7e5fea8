//! Reads and writes rows in one table.

use rowhouse_format::convert::changes::{self, ReadChanges};
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::convert::search::{self, SearchCall};
use rowhouse_format::convert::{CellPlacement, delete, get, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::CellReader;
use rowhouse_model::{
    Bytes, Change, ChangePosition, Condition, DeleteRows, DeletedRows, Error, ErrorKind,
    FacetCount, Get, MatchingRows, Mutation, MutationOutcome, RegionInfo, Result, Row,
    RowCondition, RowMutations, Scan, SearchRequest, SearchText, ServerName, TableName,
};

use crate::locate::TableRegions;
use crate::retry::{Failure, is_repeatable};
use crate::{Client, Scanner, batch};

/// A table in a cluster; cheap to clone.
#[derive(Clone)]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: TableName,
}

impl Client {
    /// Returns a table handle. No call is made: an unknown table is reported on first use.
    pub fn table(&self, name: &TableName) -> Table {
        Table { client: self.clone(), name: name.clone() }
    }
}

impl Table {
    /// Returns the table's name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Reads one row; the result is empty if the row does not exist.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for an
    /// existence-only get; the last retry's error.
    pub async fn get(&self, get: &Get) -> Result<Row> {
        if get.existence_only {
            return Err(Error::invalid("a get that checks only existence returns no row"));
        }
        let (answer, mut cells) = self.call_get(get).await?;
        let Some(result) = answer.result else { return Ok(Row::default()) };
        Ok(result::from_proto(result, &mut cells)?.row)
    }

    /// Returns true if any cell matches the get, without transferring cells.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, get: &Get) -> Result<bool> {
        let mut get = get.clone();
        get.existence_only = true;
        let (answer, _) = self.call_get(&get).await?;
        answer.result.and_then(|result| result.exists).ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "the response does not state whether the row exists")
        })
    }

    async fn call_get(&self, read: &Get) -> Result<(proto::GetResponse, CellReader)> {
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref().to_proto();
            Ok((proto::GetRequest { region, get: get::to_proto(read) }, Vec::new()))
        };
        self.client.call_row(&self.name, read.row(), true, build).await
    }

    /// Applies a mutation to one row: a `Put`, `Delete`, `Increment` or `Append`. An increment or
    /// append whose answer was lost is retried with the same nonce, so it counts once. Puts and
    /// deletes are idempotent and retried without one, except deleting a column's newest version,
    /// which could delete two versions.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`, `InvalidRequest`; the last retry's
    /// error. After `Connection` and `Timeout` it is unknown whether the mutation was applied.
    pub async fn mutate(&self, mutation: impl Into<Mutation>) -> Result<MutationOutcome> {
        let mutation = mutation.into();
        let repeatable = is_repeatable(&mutation);
        let (answer, mut cells) = self.call_mutate(&mutation, None, repeatable).await?;
        Ok(MutationOutcome { row: mutate::answer_from_proto(answer, &mut cells)? })
    }

    /// Applies a mutation to one row if `condition` holds, otherwise returns `None`: HBase's
    /// `checkAndMutate`. The server checks and mutates atomically.
    ///
    /// # Errors
    /// As [`Table::mutate`]; `Unsupported` for [`Condition::NoRow`], which HBase's protocol cannot
    /// express. There is no retry once the server may have applied the mutation: a second check
    /// could read the first call's write.
    pub async fn mutate_if(
        &self,
        condition: &Condition,
        mutation: impl Into<Mutation>,
    ) -> Result<Option<MutationOutcome>> {
        let mutation = mutation.into();
        let (answer, mut cells) = self.call_mutate(&mutation, Some(condition), false).await?;
        let done = mutate::was_done(&answer)?;
        let row = mutate::answer_from_proto(answer, &mut cells)?;
        Ok(done.then_some(MutationOutcome { row }))
    }

    async fn call_mutate(
        &self,
        mutation: &Mutation,
        condition: Option<&Condition>,
        repeatable: bool,
    ) -> Result<(proto::MutateResponse, CellReader)> {
        let nonce = mutation.is_read_modify_write().then(|| self.client.nonce());
        let build = |located: &crate::locate::Located| {
            let call = MutateCall {
                region: located.as_region_ref(),
                mutation: mutation.clone(),
                nonce,
                condition: condition.cloned(),
            };
            Ok((call.to_proto(CellPlacement::Block)?, mutation.cells().to_vec()))
        };
        self.client.call_row(&self.name, mutation.row(), repeatable, build).await
    }

    /// Applies several mutations to one row atomically: HBase's `mutateRow`. Returns the new cells
    /// from the increments and appends, in order. It is retried like [`Table::mutate`] if all
    /// mutations can be.
    ///
    /// # Errors
    /// As [`Table::mutate`], for the first mutation that fails; then nothing is changed.
    pub async fn mutate_row(&self, mutations: &RowMutations) -> Result<MutationOutcome> {
        let repeatable = mutations.mutations().iter().all(is_repeatable);
        let done = self.call_row_mutations(mutations, None, repeatable).await?;
        done.ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "mutations without a condition were not applied")
        })
    }

    /// As [`Table::mutate_row`], if `condition` holds for the row; otherwise returns `None`.
    ///
    /// # Errors
    /// As [`Table::mutate_row`] and [`Table::mutate_if`].
    pub async fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: &RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let row = mutations.row().clone();
        let condition = condition.clone();
        let condition = Some(RowCondition { row, condition });
        self.call_row_mutations(mutations, condition, false).await
    }

    async fn call_row_mutations(
        &self,
        mutations: &RowMutations,
        condition: Option<RowCondition>,
        repeatable: bool,
    ) -> Result<Option<MutationOutcome>> {
        // One nonce for all, since they are applied atomically.
        let nonce = self.client.nonce();
        let number = |(index, mutation): (u32, &Mutation)| {
            let nonce = mutation.is_read_modify_write().then_some(nonce);
            IndexedAction { index, action: Ok(Action::Mutate(mutation.clone(), nonce)) }
        };
        let build = |located: &crate::locate::Located| {
            let region = RegionActions {
                region: located.as_region_ref(),
                atomic: true,
                condition: condition.clone(),
                actions: Ok((0..).zip(mutations.mutations()).map(number).collect()),
            };
            MultiCall { regions: vec![region] }.to_proto()
        };
        let read = |answer, mut cells: CellReader| {
            let answer = MultiResult::from_proto(answer, &mut cells).map_err(Failure::unknown)?;
            let region = answer.regions.into_iter().next();
            let region = region.ok_or_else(|| Failure::unknown(no_word()))?;
            region.map_err(Failure::answered)
        };
        let table = &self.name;
        let row = mutations.row();
        let region = self.client.call_row_reading(table, row, repeatable, build, read).await?;
        let done = region.processed.ok_or_else(no_word)?;
        Ok(done.then(|| MutationOutcome { row: region.row() }))
    }

    /// Applies many mutations; returns one result for each, in order. All servers are called in
    /// parallel, with at most 2 MiB or 1,000 mutations per call. Mutations on the same row are
    /// applied in the given order; no other order is guaranteed, and no atomicity across mutations.
    /// Only failed mutations are retried.
    pub async fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        let number = |mutation: Mutation| {
            let nonce = mutation.is_read_modify_write().then(|| self.client.nonce());
            Action::Mutate(mutation, nonce)
        };
        let actions = mutations.into_iter().map(number).collect();
        let answers = batch::run(&self.client, &self.name, actions).await;
        let outcome = |answer| match answer {
            ActionResult::Row(row) => MutationOutcome { row },
            ActionResult::Done
            | ActionResult::Exists(_)
            | ActionResult::Service(_)
            | ActionResult::Nothing => MutationOutcome::default(),
        };
        answers.into_iter().map(|answer| answer.map(outcome)).collect()
    }

    /// Reads many rows; returns one result for each get, in order. Existence-only gets are refused.
    pub async fn get_many(&self, gets: Vec<Get>) -> Vec<Result<Row>> {
        let refused: Vec<bool> = gets.iter().map(|get| get.existence_only).collect();
        let actions = gets.into_iter().map(Action::Get).collect();
        let answers = batch::run(&self.client, &self.name, actions).await;
        let row = |(answer, refused): (Result<ActionResult>, bool)| match answer? {
            _ if refused => Err(Error::invalid("a get that checks only existence returns no row")),
            ActionResult::Row(row) => Ok(row),
            ActionResult::Done
            | ActionResult::Exists(_)
            | ActionResult::Service(_)
            | ActionResult::Nothing => Ok(Row::default()),
        };
        answers.into_iter().zip(refused).map(row).collect()
    }

    /// Returns for each get whether any cell matches it, in order.
    pub async fn exists_many(&self, gets: Vec<Get>) -> Vec<Result<bool>> {
        let actions = gets.into_iter().map(|mut get| {
            get.existence_only = true;
            Action::Get(get)
        });
        let answers = batch::run(&self.client, &self.name, actions.collect()).await;
        let exists = |answer| match answer {
            ActionResult::Exists(exists) => exists,
            ActionResult::Row(row) => !row.is_empty(),
            ActionResult::Done | ActionResult::Service(_) | ActionResult::Nothing => false,
        };
        answers.into_iter().map(|answer| answer.map(exists)).collect()
    }

    /// Reads a row range. The first call is made by [`Scanner::next`].
    pub fn scan(&self, scan: Scan) -> Scanner {
        Scanner::new(self.client.clone(), self.name.clone(), scan, None)
    }

    /// Reads the rows in a range that match a query, in the row-key template language. Only
    /// `rowhouse serve` knows such queries: Apache HBase returns all rows in the range. Times
    /// without a zone are UTC.
    pub fn scan_matching(&self, scan: Scan, query: String) -> Scanner {
        Scanner::new(self.client.clone(), self.name.clone(), scan, Some(query))
    }

    /// Reads rows of a search from a place on. Only `rowhouse serve` has searches.
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` for a query that is wrong, and for a table without a
    /// full-text index; `UnknownScanner` for a place in a view that has ended.
    pub async fn search(&self, request: SearchRequest) -> Result<MatchingRows> {
        let call = SearchCall::Rows(Box::new(request));
        search::matches_from_proto(self.call_search(&call).await?)
    }

    /// Counts the rows that a search finds.
    ///
    /// # Errors
    /// As [`Table::search`].
    pub async fn search_count(&self, text: SearchText) -> Result<u64> {
        search::count_from_proto(self.call_search(&SearchCall::Count(text)).await?)
    }

    /// Returns how many rows that a search finds have each value of a field, the most frequent
    /// first, at most so many values.
    ///
    /// # Errors
    /// As [`Table::search`]; `InvalidRequest` for a field without values in the index.
    pub async fn search_facets(
        &self,
        text: SearchText,
        field: &str,
        values: u32,
    ) -> Result<Vec<FacetCount>> {
        let call = SearchCall::Facets { text, field: field.to_owned(), values };
        search::facets_from_proto(self.call_search(&call).await?)
    }

    /// Calls the search service, at the first region: each answers for the whole table.
    async fn call_search(&self, call: &SearchCall) -> Result<proto::NameBytesPair> {
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref().to_proto();
            let call = search::call_to_proto(call.clone(), Bytes::new());
            Ok((proto::CoprocessorServiceRequest { region, call }, Vec::new()))
        };
        let (answer, _) = self.client.call_row(&self.name, b"", true, build).await?;
        Ok(answer.value)
    }

    /// Deletes rows of the region that holds the range's start, for about a second, and returns
    /// where the next call begins. Only `rowhouse serve` has such deletes. It is retried: rows that
    /// were deleted by a call whose answer was lost do not count.
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` for a query that is wrong and a batch size out of
    /// bounds; `Unsupported` for conditions on qualifier fields.
    pub async fn delete_rows(&self, request: &DeleteRows) -> Result<DeletedRows> {
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref().to_proto();
            let call = delete::call_to_proto(request.clone());
            Ok((proto::CoprocessorServiceRequest { region, call }, Vec::new()))
        };
        let (answer, _) =
            self.client.call_row(&self.name, &request.range.start, true, build).await?;
        delete::answer_from_proto(answer.value)
    }

    /// Returns changes of the table, and the position after them. Only `rowhouse serve` has this
    /// call. It waits for the first change as long as the request says and the server permits.
    ///
    /// # Errors
    /// As [`Table::get`]; `PositionLost` if the changes after the position are no longer retained;
    /// `InvalidRequest` for a follower without a saved position.
    pub async fn read_changes(
        &self,
        request: &ReadChanges,
    ) -> Result<(Vec<Change>, ChangePosition)> {
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref().to_proto();
            let call = changes::call_to_proto(request);
            Ok((proto::CoprocessorServiceRequest { region, call }, Vec::new()))
        };
        let (answer, _) = self.client.call_row(&self.name, b"", true, build).await?;
        changes::answer_from_proto(answer.value, &self.name)
    }

    /// Returns the table's regions in order, each with its current server, from `hbase:meta`.
    ///
    /// # Errors
    /// `TableNotFound`; the last retry's error.
    pub async fn regions(&self) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        let mut rows = Scanner::over_regions(self.client.clone(), &self.name);
        let mut regions = Vec::new();
        while let Some(row) = rows.next().await? {
            regions.extend(TableRegions::read(&row)?);
        }
        if regions.is_empty() {
            return Err(Error::new(ErrorKind::TableNotFound, self.name.to_string()));
        }
        Ok(regions)
    }
}

fn no_word() -> Error {
    let message = "the response does not state whether the mutations of a row were applied";
    Error::new(ErrorKind::Protocol, message)
}
