//! Reading and writing the rows of one table.

use rowhouse_model::{
    Error, Get, Mutation, MutationOutcome, RegionInfo, Result, Row, Scan, ServerName, TableName,
};

use crate::{Client, Scanner};

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
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; what is left when repeating did
    /// not help.
    pub async fn get(&self, _get: &Get) -> Result<Row> {
        Err(self.unfinished())
    }

    /// Whether there is anything that the get asks for. No cell travels.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, _get: &Get) -> Result<bool> {
        Err(self.unfinished())
    }

    /// Changes one row: a `Put`, a `Delete` or an `Increment`. An increment whose answer was lost
    /// is repeated under the same nonce, so it counts once.
    ///
    /// # Errors
    /// As [`Table::get`]. After `Connection` and `Timeout` the change may or may not have been
    /// made.
    pub async fn mutate(&self, _mutation: impl Into<Mutation>) -> Result<MutationOutcome> {
        Err(self.unfinished())
    }

    /// Changes many rows: one answer for each mutation, in their order. They go to all servers
    /// concerned at once. Mutations of the same row are made in the order given; there is no other
    /// promise about order, and none that all or none are made. Only those that failed are
    /// repeated.
    pub async fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        mutations.iter().map(|_| Err(self.unfinished())).collect()
    }

    /// Reads many rows: one answer for each get, in their order.
    pub async fn get_all(&self, gets: Vec<Get>) -> Vec<Result<Row>> {
        gets.iter().map(|_| Err(self.unfinished())).collect()
    }

    /// Reads a range of rows. Nothing is asked of the cluster before [`Scanner::next`].
    pub fn scan(&self, _scan: Scan) -> Scanner {
        Scanner {}
    }

    /// The table's regions in order, each with the server that has it now, as `hbase:meta` says.
    ///
    /// # Errors
    /// `TableNotFound`; as [`Table::get`].
    pub async fn regions(&self) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        Err(self.unfinished())
    }

    fn unfinished(&self) -> Error {
        let _ = &self.client;
        Error::unsupported("the client is not finished yet")
    }
}
