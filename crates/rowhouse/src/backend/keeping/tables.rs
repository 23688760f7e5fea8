//! The index tables that clients maintain: they are created, altered, truncated and dropped with
//! their base table, in orders that are safe to repeat.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Error, ErrorKind, FamilyDescriptor, Result, TableDescriptor, TableName, escape,
};
use rowhouse_schema::{
    CLIENT_MAINTAINER, INDEX_MAINTAINER_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, Index, IndexOf,
    IndexSchema, IndexState, Intent,
};

use super::claims::{CLAIM_FAMILY, check_possible};
use super::{MaintainedTable, Maintainer, is_maintained_by_clients};
use crate::spec::with_indexes;

impl Maintainer {
    /// Returns the indexes on a table, whether or not they have tables; `None` if there are none
    /// that clients maintain.
    async fn declared(&self, table: &TableName) -> Result<Option<Arc<MaintainedTable>>> {
        if table.is_system() || self.server_keeps().await? {
            return Ok(None);
        }
        Ok(self.maintained_table(&self.describe(table).await?)?.map(Arc::new))
    }

    /// Refuses a declaration that makes a family BUFFERED on Apache HBase, which would store the
    /// value and log each increment.
    pub(in crate::backend) async fn refuse_buffered(
        &self,
        before: Option<&TableDescriptor>,
        declared: &TableDescriptor,
    ) -> Result<()> {
        let had = |name| before.and_then(|it| it.find_family(name).ok()?.buffered());
        let families = declared.families().iter();
        let mut new = families.filter(|it| it.buffered().is_some_and(|_| had(it.name()).is_none()));
        let Some(family) = new.next() else { return Ok(()) };
        if self.server_keeps().await? {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "Apache HBase logs each increment, BUFFERED has no effect there; a buffer of counters \
             (`Table::counter_buffer`) gathers them in the client: family={}",
            escape(family.name())
        )))
    }

    /// Creates a table and the index tables, which are ready.
    pub(crate) async fn create_table(
        &self,
        declared: &TableDescriptor,
        splits: &[Bytes],
    ) -> Result<()> {
        self.refuse_buffered(None, declared).await?;
        let indexes =
            if self.server_keeps().await? { None } else { IndexSchema::of_table(declared)? };
        let admin = self.client.admin();
        let Some(indexes) = indexes else {
            let declared = self.stored(declared.clone());
            return admin.create_table(&declared, splits).await;
        };
        check_possible(&indexes)?;
        let name = declared.name();
        if admin.table_exists(name).await? {
            return Err(Error::new(ErrorKind::TableExists, name.to_string()));
        }
        self.create_intents(name).await?;
        for index in indexes.indexes() {
            self.create_entries(declared, index, &IndexState::Ready).await?;
        }
        self.forget(name);
        admin.create_table(&self.stored(declared.clone()), splits).await
    }

    /// Alters a table that declares indexes before or after; `alter` alters the base table. Returns
    /// when new indexes are built.
    pub(in crate::backend) async fn alter_table<T: Future<Output = Result<()>>>(
        &self,
        current: &TableDescriptor,
        altered: &TableDescriptor,
        alter: impl Fn(TableDescriptor, TableDescriptor) -> T,
    ) -> Result<()> {
        let old = indexes(current)?;
        let new = indexes(altered)?;
        if let Some(schema) = IndexSchema::of_table(altered)? {
            check_possible(&schema)?;
        }
        let lost: Vec<_> = old.iter().filter(|index| !new.contains(index)).collect();
        let added: Vec<_> = new.iter().filter(|index| !old.contains(index)).collect();
        let mut base = current.clone();
        if !lost.is_empty() {
            let stay: Vec<_> = old.iter().filter(|index| new.contains(index)).collect();
            let stay: Vec<_> = stay.iter().map(ToString::to_string).collect();
            base = with_indexes(current.clone(), &stay.join("; "))?;
            alter(current.clone(), base.clone()).await?;
            self.forget(current.name());
            for index in lost {
                self.drop_entries(&index.table_name(current.name())?).await?;
            }
        }
        if new.is_empty() {
            self.drop_quietly(&Intent::table_name(current.name())?).await?;
            return alter(base, altered.clone()).await;
        }
        // Cells that had ended may come back.
        let begin = IndexState::Building { next_row: Bytes::new() };
        let maintained = Arc::new(MaintainedTable::new(altered, &new)?);
        let comes_back = |index: &&Index| {
            current.families().iter().any(|family| {
                index.columns().selects_family(family.name())
                    && altered.find_family(family.name()).is_ok_and(|it| keeps_more(family, it))
            })
        };
        let again = new.iter().filter(|index| old.contains(index)).filter(comes_back);
        let mut to_build: Vec<_> = again.collect();
        self.create_intents(current.name()).await?;
        for index in &to_build {
            self.set_state(&index.table_name(current.name())?, &begin).await?;
        }
        for index in &added {
            self.create_entries(altered, index, &begin).await?;
            self.forget_progress(&maintained, maintained.index(index.name())?).await?;
        }
        alter(base, altered.clone()).await?;
        self.forget(current.name());
        to_build.extend(added);
        for index in to_build {
            self.build(&maintained, maintained.index(index.name())?).await?;
        }
        Ok(())
    }

    /// Creates the tables that the indexes on a table lack; they are to be built.
    pub(super) async fn create_missing(&self, base: &TableDescriptor) -> Result<()> {
        self.create_intents(base.name()).await?;
        for index in indexes(base)? {
            let name = index.table_name(base.name())?;
            let is_maintained = match self.describe(&name).await {
                Ok(entries) => is_maintained_by_clients(&entries, base.name(), &index)?,
                Err(error) if error.kind() == ErrorKind::TableNotFound => false,
                Err(error) => return Err(error),
            };
            if !is_maintained {
                self.drop_entries(&name).await?;
                let begin = IndexState::Building { next_row: Bytes::new() };
                self.create_entries(base, &index, &begin).await?;
            }
        }
        self.forget(base.name());
        Ok(())
    }

    async fn create_intents(&self, base: &TableName) -> Result<()> {
        let table = Intent::table_descriptor(base)?;
        match self.client.admin().create_table(&table, &[]).await {
            Err(error) if error.kind() == ErrorKind::TableExists => Ok(()),
            created => created,
        }
    }

    /// Creates the table for an index, or takes one that an earlier attempt has left.
    async fn create_entries(
        &self,
        base: &TableDescriptor,
        index: &Index,
        state: &IndexState,
    ) -> Result<()> {
        let mut table = index
            .table_descriptor(base)?
            .attribute(INDEX_MAINTAINER_ATTRIBUTE, CLIENT_MAINTAINER)
            .attribute(INDEX_STATE_ATTRIBUTE, state.to_string());
        if index.is_unique() {
            table = table.family(FamilyDescriptor::new(CLAIM_FAMILY)?.versions(1));
        }
        let name = table.name().clone();
        let stored = self.stored(table.clone());
        match self.client.admin().create_table(&stored, &[]).await {
            Err(error) if error.kind() == ErrorKind::TableExists => {}
            created => return created,
        }
        let left = self.describe(&name).await?;
        if !is_maintained_by_clients(&left, base.name(), index)? {
            return Err(Error::new(
                ErrorKind::TableExists,
                format!("an index needs a table of this name, and there is another: {name}"),
            ));
        }
        if left.attributes == table.attributes {
            return Ok(());
        }
        self.drop_entries(&name).await?;
        self.client.admin().create_table(&stored, &[]).await
    }

    /// Notes an index's state.
    pub(super) async fn set_state(&self, entries: &TableName, state: &IndexState) -> Result<()> {
        let table = self.describe(entries).await?;
        if IndexState::of_table(&table)? == *state {
            return Ok(());
        }
        let altered = table.attribute(INDEX_STATE_ATTRIBUTE, state.to_string());
        let altered = self.stored(altered);
        self.client.admin().modify_table(&altered, None).await
    }

    /// Drops a table with entries, if there is one.
    async fn drop_entries(&self, entries: &TableName) -> Result<()> {
        match self.describe(entries).await {
            Ok(table) if IndexOf::of_table(&table)?.is_none() => Err(Error::invalid(format!(
                "table {entries} has the name of an index table and is none"
            ))),
            Ok(_) => self.drop_quietly(entries).await,
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn drop_quietly(&self, table: &TableName) -> Result<()> {
        let admin = self.client.admin();
        quietly(admin.disable_table(table).await, ErrorKind::TableNotEnabled)?;
        quietly(admin.delete_table(table).await, ErrorKind::TableNotFound)
    }

    /// Disables the index tables for a table that is disabled.
    pub(crate) async fn disable_entries(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        for index in &maintained.indexes {
            let disabled = self.client.admin().disable_table(&index.entries).await;
            quietly(disabled, ErrorKind::TableNotEnabled)?;
        }
        Ok(())
    }

    /// Enables the index tables for a table that is about to be enabled.
    pub(crate) async fn enable_entries(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        for index in &maintained.indexes {
            let enabled = self.client.admin().enable_table(&index.entries).await;
            quietly(enabled, ErrorKind::TableNotDisabled)?;
        }
        Ok(())
    }

    /// Drops the index tables for a disabled table that is about to be dropped.
    pub(crate) async fn drop_all_entries(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        if self.client.admin().is_enabled(table).await? {
            // Dropping it reports this.
            return Ok(());
        }
        for index in &maintained.indexes {
            self.drop_entries(&index.entries).await?;
        }
        self.forget(table);
        self.drop_quietly(&maintained.intents).await
    }

    /// Sets the indexes on a table to building: it is about to be replaced as a whole.
    pub(crate) async fn suspend(&self, table: &TableName) -> Result<bool> {
        let Some(maintained) = self.declared(table).await? else { return Ok(false) };
        let begin = IndexState::Building { next_row: Bytes::new() };
        for index in &maintained.indexes {
            self.set_state(&index.entries, &begin).await?;
            self.forget_progress(&maintained, index).await?;
        }
        Ok(true)
    }

    /// Empties the index tables for a disabled table.
    pub(crate) async fn truncate_entries(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        let admin = self.client.admin();
        for index in &maintained.indexes {
            quietly(admin.disable_table(&index.entries).await, ErrorKind::TableNotEnabled)?;
            admin.truncate_table(&index.entries, true).await?;
        }
        Ok(())
    }

    /// Sets the indexes on a table that was empty when they were emptied to ready.
    pub(crate) async fn resume(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        for index in &maintained.indexes {
            self.set_state(&index.entries, &IndexState::Ready).await?;
        }
        Ok(())
    }

    /// Builds the indexes on a table that was cloned with the declaration.
    pub(crate) async fn build_all(&self, table: &TableName) -> Result<()> {
        let Some(maintained) = self.declared(table).await? else { return Ok(()) };
        self.create_missing(&self.describe(table).await?).await?;
        for index in &maintained.indexes {
            self.build(&maintained, index).await?;
        }
        Ok(())
    }

    /// Returns a descriptor as the server is to store it: as it is, except in tests, whose servers
    /// would maintain the indexes.
    pub(in crate::backend) fn stored(&self, table: TableDescriptor) -> TableDescriptor {
        #[cfg(test)]
        let table = self.shared.tests.hidden(table);
        table
    }
}

fn indexes(table: &TableDescriptor) -> Result<Vec<Index>> {
    Ok(IndexSchema::of_table(table)?.map_or_else(Vec::new, |schema| schema.indexes().to_vec()))
}

/// Whether a family as altered may show cells that it had stopped to show.
fn keeps_more(family: &FamilyDescriptor, altered: &FamilyDescriptor) -> bool {
    let limits = |family: &FamilyDescriptor| (family.ttl(), family.versions_min());
    limits(family) != limits(altered)
}

fn quietly(done: Result<()>, expected: ErrorKind) -> Result<()> {
    match done {
        Err(error) if error.kind() == expected || error.kind() == ErrorKind::TableNotFound => {
            Ok(())
        }
        done => done,
    }
}
