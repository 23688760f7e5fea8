//! Values in unique indexes: a row claims its value before it is written.

use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, CompareOperator, Condition, Error, Get, Mutation, Put, Result, Row, Scan,
};
use rowhouse_schema::{Index, IndexSchema};
use tokio::time::sleep;

use super::write::with_puts;
use super::{MaintainedIndex, MaintainedTable, Maintainer, Token};

/// The family for claims in an index table.
pub(super) const CLAIM_FAMILY: &str = "u";

/// How long a write waits for values that other writers may be about to write, and how often it
/// looks.
pub(super) const CLAIM_WAIT: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(50);

/// A write that claims values.
#[derive(Clone, Copy)]
pub(super) struct Claimant {
    pub(super) token: Token,
    pub(super) waits_until: Instant,
}

/// Refuses indexes that clients cannot maintain: full-text indexes, those in memory, copies of the
/// table, and unique ones whose value a write does not determine alone.
pub(super) fn check_possible(indexes: &IndexSchema) -> Result<()> {
    indexes.indexes().iter().try_for_each(refuse_search)?;
    if let Some(index) = indexes.indexes().iter().find(|index| index.is_copy()) {
        return Err(Error::unsupported(format!(
            "on Apache HBase an index cannot cover all columns: index={}",
            index.name()
        )));
    }
    if let Some(index) = indexes.indexes().iter().find(|index| index.is_in_memory()) {
        return Err(Error::unsupported(format!(
            "on Apache HBase there are no indexes in memory: index={}",
            index.name()
        )));
    }
    let is_one = |index: &Index| {
        let mut families = index.columns().families();
        let named = families.next().map(|(_, named)| (named.is_all(), named.named().count()));
        named.is_none_or(|named| named == (false, 1)) && families.next().is_none()
    };
    match indexes.indexes().iter().find(|index| index.is_unique() && !is_one(index)) {
        None => Ok(()),
        Some(index) => Err(Error::unsupported(format!(
            "on Apache HBase a unique index has one column besides fields of the key, and no \
             covered ones: index={}",
            index.name()
        ))),
    }
}

/// Refuses a full-text index.
pub(super) fn refuse_search(index: &Index) -> Result<()> {
    match index.search() {
        None => Ok(()),
        Some(_) => Err(Error::unsupported(format!(
            "on Apache HBase there are no full-text indexes: index={}",
            index.name()
        ))),
    }
}

impl Maintainer {
    /// Claims the unique values that a mutation gives its row. Returns the error for a value that
    /// is taken, and for an entry that is too long.
    pub(super) async fn claim_values(
        &self,
        maintained: &MaintainedTable,
        old: &Row,
        mutation: &Mutation,
        claimant: Claimant,
    ) -> Result<Result<()>> {
        if !matches!(mutation, Mutation::Put(_)) {
            return Ok(Ok(()));
        }
        for index in &maintained.indexes {
            let row = with_puts(&index.index, old, mutation)?;
            let entries = match index.index.entries(mutation.row(), &row) {
                Ok(entries) => entries,
                Err(error) => return Ok(Err(error)),
            };
            let decides = |cell: &rowhouse_model::Cell| {
                index.index.columns().has_column(cell.family(), cell.qualifier())
            };
            if !index.index.is_unique() || !mutation.cells().iter().any(decides) {
                continue;
            }
            for entry in entries {
                let Some(value) = index.index.unique_prefix(&entry.key) else { continue };
                if let Some(owner) =
                    self.claim(maintained, index, value, mutation.row(), claimant).await?
                {
                    return Ok(Err(index.index.taken(value, &owner, mutation.row())));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Claims a value for a row. Returns the row that has it, if it is another.
    pub(super) async fn claim(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        value: &[u8],
        row: &[u8],
        claimant: Claimant,
    ) -> Result<Option<Bytes>> {
        let table = self.client.table(&index.entries);
        let value = Bytes::copy_from_slice(value);
        let token = claimant.token.to_bytes();
        let claim = [&token[..], row].concat();
        let put = Put::new(value.clone())?.add(CLAIM_FAMILY, b"", &claim)?;
        loop {
            let get = Get::new(value.clone())?.family(CLAIM_FAMILY);
            let claimed = table.get(&get).await?.value(CLAIM_FAMILY, b"");
            let claimed = claimed.filter(|claimed| !claimed.is_empty());
            let unchanged = match &claimed {
                None => Condition::no_value(CLAIM_FAMILY, b"".as_slice()),
                Some(claimed) => {
                    let owner = claimed.slice(Token::LEN.min(claimed.len())..);
                    if owner != row {
                        // An earlier mutation in the same batch.
                        if claimed.starts_with(&token) {
                            return Ok(Some(owner));
                        }
                        if self.is_owner(maintained, index, &value, &owner).await? {
                            return Ok(Some(owner));
                        }
                        // The intents are read before the row: an owner that begins after that
                        // claims the value anew, and the condition below fails.
                        if self.is_being_written(maintained, index, &value, &owner).await? {
                            if Instant::now() >= claimant.waits_until {
                                return Ok(Some(owner));
                            }
                            sleep(PAUSE).await;
                            continue;
                        }
                    }
                    let equal = CompareOperator::Equal;
                    Condition::value(CLAIM_FAMILY, b"".as_slice(), equal, claimed.clone())
                }
            };
            if table.mutate_if(&unchanged, put.clone()).await?.is_some() {
                return Ok(None);
            }
        }
    }

    /// Returns true if an open intent names a row, or if the row has the value now.
    async fn is_being_written(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        value: &[u8],
        owner: &Bytes,
    ) -> Result<bool> {
        let open = self.intents(&maintained.intents).await?;
        let is_named = open.iter().any(|found| found.intent.rows.contains(owner));
        Ok(is_named || self.is_owner(maintained, index, value, owner).await?)
    }

    /// Returns true if a row has a value.
    pub(super) async fn is_owner(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
        value: &[u8],
        owner: &Bytes,
    ) -> Result<bool> {
        if owner.is_empty() {
            return Ok(false);
        }
        let read =
            self.read(maintained, index.index.columns(), std::slice::from_ref(owner)).await?;
        let entries = maintained.entries(index, owner, &read[0]).unwrap_or_default();
        Ok(entries.iter().any(|entry| index.index.unique_prefix(entry) == Some(value)))
    }

    /// Removes the claims for rows that do not have their values any more.
    pub(super) async fn remove_old_claims(
        &self,
        maintained: &MaintainedTable,
        index: &MaintainedIndex,
    ) -> Result<()> {
        let table = self.client.table(&index.entries);
        let mut claims = table.scan(Scan::all().family(CLAIM_FAMILY));
        while let Some(claim) = claims.next().await? {
            let claimed = claim.value(CLAIM_FAMILY, b"").filter(|claimed| !claimed.is_empty());
            let Some(claimed) = claimed else { continue };
            let owner = claimed.slice(Token::LEN.min(claimed.len())..);
            if self.is_being_written(maintained, index, claim.key(), &owner).await? {
                continue;
            }
            let equal = CompareOperator::Equal;
            let same = Condition::value(CLAIM_FAMILY, b"".as_slice(), equal, claimed);
            // HBase treats an empty value as absent; a delete marker could cover the next claim.
            let free = Put::new(Bytes::copy_from_slice(claim.key()))?;
            table.mutate_if(&same, free.add(CLAIM_FAMILY, b"", b"")?).await?;
        }
        Ok(())
    }
}
