//! Reading and writing the rows of one table.

use rowhouse_format::convert::multi::{Action, ActionAnswer};
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::convert::{CellsIn, get, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::CellReader;
use rowhouse_model::{
    CellKind, Error, ErrorKind, Get, Mutation, MutationOutcome, NoValue, Put, RegionInfo, Result,
    Row, Scan, ServerName, TableName,
};

use crate::locate::TableRegions;
use crate::{Client, Scanner, batch};

/// A table of a cluster; cheap to clone.
#[derive(Clone)]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: TableName,
}

impl Table {
    /// Its name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Reads one row; empty when there is nothing.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a get that
    /// asks only for existence; what is left when repeating did not help.
    pub async fn get(&self, get: &Get) -> Result<Row> {
        if get.existence_only {
            return Err(Error::invalid("a get that asks only for existence gives no row"));
        }
        let (answer, mut cells) = self.call_get(get).await?;
        let Some(result) = answer.result else { return Ok(Row::default()) };
        Ok(result::from_proto(result, &mut cells)?.row)
    }

    /// Whether there is anything that the get asks for. No cell travels.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, get: &Get) -> Result<bool> {
        let mut get = get.clone();
        get.existence_only = true;
        let (answer, _) = self.call_get(&get).await?;
        answer.result.and_then(|result| result.exists).ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "the answer does not say whether the row exists")
        })
    }

    async fn call_get(&self, read: &Get) -> Result<(proto::GetResponse, CellReader)> {
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref().to_proto();
            (proto::GetRequest { region, get: get::to_proto(read) }, Vec::new())
        };
        self.client.call_row(&self.name, read.row(), true, build).await
    }

    /// Changes one row: a `Put`, a `Delete` or an `Increment`. An increment whose answer was lost
    /// is repeated under the same nonce, so it counts once. A put or a delete is simply repeated,
    /// but not the delete of a column's newest version, which might then delete two.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`, `InvalidRequest`; what is left
    /// when repeating did not help. After `Connection` and `Timeout` the change may or may not
    /// have been made.
    pub async fn mutate(&self, mutation: impl Into<Mutation>) -> Result<MutationOutcome> {
        let mutation = mutation.into();
        let row = mutation.row().clone();
        let nonce = nonce_for(&self.client, &mutation);
        let repeatable = is_repeatable(&mutation);
        let build = |located: &crate::locate::Located| {
            let region = located.as_region_ref();
            let call = MutateCall { region, mutation: mutation.clone(), nonce, condition: None };
            (call.to_proto(CellsIn::Block), mutate::cells(&mutation))
        };
        let (answer, mut cells) = self.client.call_row(&self.name, &row, repeatable, build).await?;
        Ok(MutationOutcome { row: mutate::answer_from_proto(answer, &mut cells)? })
    }

    /// Writes a row if a column of it has no value, and says whether it did: HBase's `checkAndPut`
    /// with `ifNotExists`. The server checks and writes as one.
    ///
    /// # Errors
    /// As [`Table::mutate`]. It is not repeated once the server may have done it: a second check
    /// might meet what the first wrote.
    pub async fn put_if_absent(&self, column: &NoValue, put: Put) -> Result<bool> {
        let row = put.row().clone();
        let mutation = Mutation::from(put);
        let build = |located: &crate::locate::Located| {
            let call = MutateCall {
                region: located.as_region_ref(),
                mutation: mutation.clone(),
                nonce: None,
                condition: Some(column.clone()),
            };
            (call.to_proto(CellsIn::Block), mutate::cells(&mutation))
        };
        let (answer, _) = self.client.call_row(&self.name, &row, false, build).await?;
        mutate::was_done(&answer)
    }

    /// Changes many rows: one answer for each mutation, in their order. They go to all servers
    /// concerned at once, in calls of at most 2 MiB or 1,000 mutations. Mutations of the same row
    /// are made in the order given; there is no other promise about order, and none that all or
    /// none are made. Only those that failed are repeated.
    pub async fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        let number = |mutation| {
            let nonce = nonce_for(&self.client, &mutation);
            Action::Mutate(mutation, nonce)
        };
        let actions = mutations.into_iter().map(number).collect();
        let answers = batch::run(&self.client, &self.name, actions).await;
        let outcome = |answer| match answer {
            ActionAnswer::Row(row) => MutationOutcome { row },
            ActionAnswer::Done | ActionAnswer::Exists(_) => MutationOutcome::default(),
        };
        answers.into_iter().map(|answer| answer.map(outcome)).collect()
    }

    /// Reads many rows: one answer for each get, in their order. A get that asks only for
    /// existence is refused.
    pub async fn get_all(&self, gets: Vec<Get>) -> Vec<Result<Row>> {
        let refused: Vec<bool> = gets.iter().map(|get| get.existence_only).collect();
        let actions = gets.into_iter().map(Action::Get).collect();
        let answers = batch::run(&self.client, &self.name, actions).await;
        let row = |(answer, refused): (Result<ActionAnswer>, bool)| match answer? {
            _ if refused => Err(Error::invalid("a get that asks only for existence gives no row")),
            ActionAnswer::Row(row) => Ok(row),
            ActionAnswer::Done | ActionAnswer::Exists(_) => Ok(Row::default()),
        };
        answers.into_iter().zip(refused).map(row).collect()
    }

    /// Whether there is anything, for many gets: one answer for each, in their order.
    pub async fn exists_all(&self, gets: Vec<Get>) -> Vec<Result<bool>> {
        let actions = gets.into_iter().map(|mut get| {
            get.existence_only = true;
            Action::Get(get)
        });
        let answers = batch::run(&self.client, &self.name, actions.collect()).await;
        let exists = |answer| match answer {
            ActionAnswer::Exists(exists) => exists,
            ActionAnswer::Row(row) => !row.is_empty(),
            ActionAnswer::Done => false,
        };
        answers.into_iter().map(|answer| answer.map(exists)).collect()
    }

    /// Reads a range of rows. Nothing is asked of the cluster before [`Scanner::next`].
    pub fn scan(&self, scan: Scan) -> Scanner {
        Scanner::new(self.client.clone(), self.name.clone(), scan)
    }

    /// The table's regions in order, each with the server that has it now, as `hbase:meta` says.
    ///
    /// # Errors
    /// `TableNotFound`; what is left when repeating did not help.
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

/// What lets a server tell a repetition from a second change, where the two differ.
fn nonce_for(client: &Client, mutation: &Mutation) -> Option<mutate::Nonce> {
    matches!(mutation, Mutation::Increment(_)).then(|| client.nonce())
}

/// Whether doing it twice is the same as doing it once.
pub(crate) fn is_repeatable(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Put(_) => true,
        // Its nonce sees to that.
        Mutation::Increment(_) => true,
        Mutation::Delete(delete) => !delete
            .cells()
            .iter()
            .any(|cell| cell.kind() == CellKind::DeleteVersion && cell.timestamp().is_latest()),
    }
}
