//! Table declarations and states.

use rowhouse_model::{Error, IndexReport, Result, TableDescriptor, TableName, TableState};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, IndexState, KEY_ATTRIBUTE, KeySchema,
    check_altered_declarations, layout_of,
};

use super::Admin;
use crate::backend::Side;
use crate::fit::Fit;
use crate::spec::with_indexes;
use crate::table::Table;

impl Admin<'_> {
    /// Returns a table's declaration.
    ///
    /// ```
    /// use rowhouse::key::KeySchema;
    ///
    /// // Which key does a table declare?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let blog = database.admin().describe("blog").await?;
    /// if let Some(key) = KeySchema::of_table(&blog)? {
    ///     println!("{key}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn describe(self, name: &str) -> Result<TableDescriptor> {
        self.backend().describe(&TableName::parse(name)?).await
    }

    /// Creates a table `to` with the declaration that table `from` has, and without the rows. With
    /// `keep_splits` it gets the region boundaries from `from`, otherwise a single region.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let trial = database.admin().clone_table_schema("blog", "blog_trial", true).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableExists`; `NamespaceNotFound`.
    pub async fn clone_table_schema(
        self,
        from: &str,
        to: &str,
        keep_splits: bool,
    ) -> Result<Table> {
        let declared = self.describe(from).await?;
        let regions =
            if keep_splits { self.backend().regions(declared.name()).await? } else { Vec::new() };
        let starts = regions.into_iter().map(|(region, _)| region.range.start);
        let splits = starts.filter(|start| !start.is_empty()).collect();
        self.database.create_declared(declared.with_name(TableName::parse(to)?), splits).await
    }

    /// Declares or replaces a table's key template. No row changes: the template determines how
    /// keys are decoded and encoded from now on. Existing [`Table`] handles retain their template.
    ///
    /// First a row sample is checked: up to 500 from the table's start, and 4 from each region's
    /// start (at most 256 regions) and from each possible first byte. Rows written meanwhile, or
    /// later through an older handle, are not checked.
    ///
    /// Concurrent alterations are resolved as in [`Admin::alter_table`].
    ///
    /// ```
    /// use rowhouse::{Put, TableSpec};
    ///
    /// // How does a table that has rows get a template?
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let blog = database.create_table(TableSpec::new("blog").family("cf")).await?;
    /// blog.put(Put::new("bob_7")?.add("cf", "title", "Hello")?).await?;
    ///
    /// let refused = database.admin().alter_key("blog", "[user digits 3]_[post decimal]").await;
    /// assert!(refused.unwrap_err().message().contains("1 of 1 checked rows"));
    /// let fit = database.admin().alter_key("blog", "[user text]_[post decimal]").await?;
    /// assert_eq!((fit.rows, fit.misfits), (1, 0));
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid template, and if a sampled row does not fit it: the message
    /// contains the counts and the first such key, and the table stays unchanged. `TableNotFound`,
    /// `TableNotEnabled`.
    pub async fn alter_key(self, name: &str, template: &str) -> Result<Fit> {
        let schema = KeySchema::parse(template)?;
        let fit = Fit::of(&self.database.table(name).await?, &schema).await?;
        if fit.misfits > 0 {
            return Err(Error::invalid(format!(
                "the key of table {name} is unchanged, rows do not fit the template: {fit}"
            )));
        }
        self.set_key(name, &schema).await?;
        Ok(fit)
    }

    /// As [`Admin::alter_key`], without checking any rows. Rows whose keys do not fit are returned
    /// with their raw keys; they never fail a query.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().alter_key_unchecked("blog", "[user text]_[post decimal]").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid template; `TableNotFound`.
    pub async fn alter_key_unchecked(self, name: &str, template: &str) -> Result<()> {
        self.set_key(name, &KeySchema::parse(template)?).await
    }

    async fn set_key(self, name: &str, schema: &KeySchema) -> Result<()> {
        self.set_attribute(name, KEY_ATTRIBUTE, schema.to_stored()).await
    }

    /// Declares or replaces a table's columns. No cell is changed or checked: cells that do not fit
    /// are read as bytes. Existing [`Table`] handles retain their columns. Concurrent alterations
    /// are resolved as in [`Admin::alter_table`].
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().alter_columns("mail", "d:s subject string; d:n size u32").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid declaration, for columns in families that the table does not
    /// have, and for a column with the same name as a key field; `TableNotFound`.
    pub async fn alter_columns(self, name: &str, text: &str) -> Result<()> {
        let columns = ColumnSchema::parse(text)?;
        self.set_attribute(name, COLUMNS_ATTRIBUTE, columns.to_stored()).await
    }

    /// Replaces a table's indexes; an empty text removes all. Unchanged indexes retain their
    /// entries. A new one is maintained from now on, and filled in the background; queries use it
    /// once [`Admin::index_state`] is `ready`. See [`TableSpec::index`](crate::TableSpec::index).
    ///
    /// On Apache HBase the call returns when new indexes are ready: it waits a minute and
    /// [`operation_timeout`](crate::DatabaseBuilder::operation_timeout), until all clients know the
    /// declaration, then reads the table. If it is interrupted, [`Admin::repair_index`] continues.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().alter_indexes("mail", "by_sender [sender]; by_size [size desc]").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for a declaration that is invalid or names unknown fields; `Unsupported`
    /// for an index whose kind is not `table`, and on Apache HBase for a unique index on several
    /// columns;
    /// `TableExists` if a table has the same name as an index table; `TableNotFound`.
    pub async fn alter_indexes(self, name: &str, text: &str) -> Result<()> {
        let text = text.to_owned();
        self.alter_table(name, move |current| with_indexes(current.clone(), &text)).await
    }

    /// Returns an index's state. Queries use it only if it is ready.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let state = database.admin().index_state("mail", "by_sender").await?;
    /// println!("{state}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index; `Unsupported` for a state
    /// from a newer version.
    pub async fn index_state(self, name: &str, index: &str) -> Result<IndexState> {
        self.backend().index_state(&TableName::parse(name)?, index).await
    }

    /// Swaps a table with an index on it that `covers *`: the table gets the index's key and
    /// contents, and the index, under the same name, the old key and contents. Reads and writes go
    /// on. Handles that were made before fail with `LayoutChanged` from then on: take the table
    /// from the database again. Other indexes on the table are built anew. Promoting the same index
    /// again swaps back.
    ///
    /// All row keys are read before, to see that they fit the template.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("mail").family("d").key("[at millis][user string]");
    /// let spec = spec.index("by_user [bucket 16 of user][user][at] covers *");
    /// let mail = database.create_table(spec).await?;
    /// let key = [("at", "2022-12-24T18:00".into()), ("user", "bob".into())];
    /// mail.row(&key).set("d", "s", "Christmas").put().await?;
    ///
    /// database.admin().promote_index("mail", "by_user").await?;
    ///
    /// let mail = database.table("mail").await?;
    /// assert_eq!(mail.key_schema()?.to_string(), "[bucket 16 of user][user string][at millis]");
    /// assert_eq!(mail.query("user = 'bob'").page(10).await?.rows.len(), 1);
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index, if it
    /// does not cover `*` or is not ready, if rows do not fit the table's template, or if the old
    /// key cannot be declared as an index on the new one; `Unsupported` on Apache HBase.
    pub async fn promote_index(self, name: &str, index: &str) -> Result<()> {
        let table = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let index = index.to_owned();
                it.run(move |store| store.promote_index(&table, &index)).await
            }
            Side::Cluster(it) if it.server_keeps_indexes().await? => {
                let descriptor = it.describe(&table).await?;
                it.admin().promote_index(&table, index, layout_of(&descriptor)).await
            }
            Side::Cluster(_) => Err(Error::unsupported(format!(
                "an index that clients keep cannot be promoted: table={table}, index={index}"
            ))),
        }
    }

    /// Compares every row in a table with its entries in an index, and every entry with its row,
    /// while reads and writes continue. On Apache HBase, only rows with a cell in an indexed column
    /// are counted, and rows that are being written are left out.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let report = database.admin().verify_index("mail", "by_sender").await?;
    /// println!("missing: {}, stale: {}", report.missing, report.stale);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index;
    /// `Corruption` if the index data is damaged: the index is off then.
    pub async fn verify_index(self, name: &str, index: &str) -> Result<IndexReport> {
        let table = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let index = index.to_owned();
                let search = it.search();
                let verify = move |store: &_| {
                    rowhouse_query::verify_index(store, search.as_deref(), &table, &index, |_| {})
                };
                it.run(verify).await
            }
            Side::Cluster(it) if it.server_keeps_indexes().await? => {
                it.admin().verify_index(&table, index).await
            }
            Side::Cluster(it) => it.maintainer().verify(&table, index).await,
        }
    }

    /// Requests that an index is repaired: every row gets its entries, and entries without a row
    /// are removed. Queries are read by the key until [`Admin::index_state`] is `ready` again. An
    /// index that is off is tried again; one whose data is damaged is built anew without reading
    /// it.
    ///
    /// On Apache HBase the call returns when the index is right. Queries use it meanwhile if it was
    /// ready; a build that was interrupted is continued, after the wait in
    /// [`Admin::alter_indexes`]. It also finishes what clients left unfinished an hour ago or
    /// earlier.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().repair_index("mail", "by_sender").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index, and on Apache HBase if
    /// rows do not allow it, which is then off: two rows with a unique value, or an entry that is
    /// too long; `Corruption` if a file in the table is damaged.
    pub async fn repair_index(self, name: &str, index: &str) -> Result<()> {
        let table = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                let index = index.to_owned();
                it.run(move |store| store.request_index_repair(&table, &index)).await
            }
            Side::Cluster(it) if it.server_keeps_indexes().await? => {
                it.admin().repair_index(&table, index).await
            }
            Side::Cluster(it) => it.maintainer().repair(&table, index).await,
        }
    }

    /// Sets a table attribute if key, columns and indexes are then consistent.
    async fn set_attribute(self, name: &str, attribute: &'static str, value: String) -> Result<()> {
        self.alter_table(name, move |current| {
            Ok(current.clone().attribute(attribute, value.clone()))
        })
        .await
    }

    /// Alters a table: adds, removes and changes families, attributes and configuration. `change`
    /// returns the new declaration for the current one. It must have no side effects: it is called
    /// again if the table was altered concurrently. Reads and writes continue; removing a family
    /// deletes its cells.
    ///
    /// Concurrent alterations are applied one after the other, and none is lost. Apache HBase is an
    /// exception: there the last one may overwrite another, unless each changes a single family,
    /// because HBase's call for larger changes replaces the whole declaration.
    ///
    /// ```
    /// use rowhouse::schema::{FamilyDescriptor, TableDescriptor};
    ///
    /// // How does a table get another family?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let tags = FamilyDescriptor::new("tags")?.versions(3);
    /// let add = move |blog: &TableDescriptor| Ok(blog.clone().family(tags.clone()));
    /// database.admin().alter_table("blog", add).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; errors from `change`; errors from the store or cluster for a declaration
    /// that it does not support; `InvalidRequest` if declared columns would be in a family that the
    /// table does not have; `Conflict` after 100 attempts that all met concurrent alterations.
    pub async fn alter_table(
        self,
        name: &str,
        change: impl Fn(&TableDescriptor) -> Result<TableDescriptor> + Send + 'static,
    ) -> Result<()> {
        let change = move |current: &TableDescriptor| {
            let descriptor = change(current)?;
            if descriptor.families().is_empty() {
                return Err(Error::invalid("Table should have at least one column family."));
            }
            check_altered_declarations(current, &descriptor)?;
            Ok(descriptor)
        };
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.change_table(&name, change)).await,
            Side::Cluster(it) => it.change_table(&name, change).await,
        }
    }

    /// Returns true if a table is enabled.
    ///
    /// ```
    /// use rowhouse::admin::TableState;
    ///
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// if admin.table_state("blog").await? == TableState::Disabled {
    ///     admin.enable_table("blog").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(self, name: &str) -> Result<TableState> {
        self.backend().table_state(&TableName::parse(name)?).await
    }

    /// Enables a table for reads and writes.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().enable_table("blog").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled` if it is already enabled.
    pub async fn enable_table(self, name: &str) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.enable_table(&name)).await,
            Side::Cluster(it) => {
                it.maintainer().enable_entries(&name).await?;
                it.admin().enable_table(&name).await
            }
        }
    }

    /// Disables a table: it refuses reads and writes, and can be dropped.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().disable_table("blog").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled` if it is already disabled.
    pub async fn disable_table(self, name: &str) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.disable_table(&name)).await,
            Side::Cluster(it) => {
                it.admin().disable_table(&name).await?;
                it.maintainer().disable_entries(&name).await
            }
        }
    }

    /// Deletes all cells in a disabled table and enables it. With `keep_splits` it retains the
    /// region boundaries, otherwise it gets a single region.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// admin.disable_table("blog").await?;
    /// admin.truncate_table("blog", true).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn truncate_table(self, name: &str, keep_splits: bool) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => {
                it.run(move |store| store.truncate_table(&name, keep_splits)).await
            }
            // The indexes are emptied first: until both are done they are being built, and no query
            // reads them.
            Side::Cluster(it) => {
                let has_indexes = it.maintainer().suspend(&name).await?;
                if has_indexes {
                    it.maintainer().truncate_entries(&name).await?;
                }
                it.admin().truncate_table(&name, keep_splits).await?;
                if has_indexes {
                    it.maintainer().resume(&name).await?;
                }
                Ok(())
            }
        }
    }

    /// Drops a disabled table with all cells.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// admin.disable_table("blog").await?;
    /// admin.drop_table("blog").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn drop_table(self, name: &str) -> Result<()> {
        let name = TableName::parse(name)?;
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.drop_table(&name)).await,
            Side::Cluster(it) => {
                it.maintainer().drop_all_entries(&name).await?;
                it.admin().delete_table(&name).await
            }
        }
    }
}
