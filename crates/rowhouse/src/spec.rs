//! Table declarations.

use rowhouse_model::{Bytes, Error, FamilyDescriptor, Result, TableDescriptor, TableName};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Finding, INDEXES_ATTRIBUTE, IndexSchema, KEY_ATTRIBUTE,
    KeySchema, RowKey, check_declarations, check_table,
};

/// The declaration for a new table: families, key template and region splits.
/// [`crate::Database::create_table`] and [`TableSpec::check`] report the first mistake.
///
/// ```
/// use rowhouse::schema::FamilyDescriptor;
/// use rowhouse::TableSpec;
///
/// let spec = TableSpec::new("blog")
///     .key("[blogger text]_[at millis digits desc]")
///     .family("cf")
///     .family_with(FamilyDescriptor::new("history")?.versions(10))
///     .splits(["3", "6"]);
/// assert!(spec.check().is_ok());
/// assert!(TableSpec::new("blog").family("cf").key("[at mills]").check().is_err());
/// # Ok::<(), rowhouse::Error>(())
/// ```
#[must_use]
pub struct TableSpec {
    declared: Result<TableDescriptor>,
    /// Index declarations, which are parsed when key and columns are known.
    indexes: Vec<String>,
    splits: Vec<Bytes>,
    /// How many regions to derive from the template.
    regions: Option<usize>,
}

impl TableSpec {
    /// Declares a table without families; `name` is `table` or `namespace:table`.
    ///
    /// ```
    /// # use rowhouse::{Database, Result, TableSpec};
    /// # async fn example(database: Database) -> Result<()> {
    /// let orders = database.create_table(TableSpec::new("shop:orders").family("o")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(name: &str) -> Self {
        Self {
            declared: TableName::parse(name).map(TableDescriptor::new),
            indexes: Vec::new(),
            splits: Vec::new(),
            regions: None,
        }
    }

    /// Declares the key with a template, for example `[blogger text]_[at millis digits desc]`.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
    /// assert!(spec.check().is_ok());
    /// ```
    pub fn key(self, template: &str) -> Self {
        self.and(|declared| {
            let schema = KeySchema::parse(template)?;
            Ok(declared.attribute(KEY_ATTRIBUTE, schema.to_stored()))
        })
    }

    /// Declares the key with a struct's template.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use rowhouse::{RowKey, TableSpec};
    ///
    /// #[derive(RowKey)]
    /// #[key("[user string][n u32]")]
    /// struct Note {
    ///     user: String,
    ///     n: u32,
    /// }
    ///
    /// assert!(TableSpec::new("notes").family("n").key_of::<Note>().check().is_ok());
    /// # }
    /// ```
    pub fn key_of<K: RowKey>(self) -> Self {
        self.and(|declared| Ok(declared.attribute(KEY_ATTRIBUTE, K::schema().to_stored())))
    }

    /// Declares columns, each with family and qualifier, name and type. Declarations are separated
    /// by newlines or `;`.
    ///
    /// ```
    /// # use rowhouse::{Database, Result, TableSpec};
    /// # async fn example(database: Database) -> Result<()> {
    /// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
    /// let mail = database.create_table(spec.columns("d:s subject string; d:n size u32")).await?;
    ///
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// mail.row(&key).set_named("subject", "Christmas").set_named("size", 20_000).put().await?;
    ///
    /// for large in mail.query("user = 'bob' and size > 10000").page(10).await?.rows {
    ///     println!("{}", large.column("subject")?.unwrap_or("no subject".into()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn columns(self, text: &str) -> Self {
        self.and(|declared| {
            let columns = ColumnSchema::parse(text)?;
            Ok(declared.attribute(COLUMNS_ATTRIBUTE, columns.to_stored()))
        })
    }

    /// Declares an index: a name, then a template with key fields and declared columns; after it
    /// `memory` or `unique`, `covers` and columns, and `where` and a query. The entries are rows in
    /// a separate table, `TABLE.INDEX`, which the store keeps consistent with the rows. Queries use
    /// it automatically: see [`Query::explain_access`](crate::query::Query::explain_access).
    ///
    /// Key and columns may be declared after it; creating the table checks all together.
    ///
    /// ```
    /// # use rowhouse::{Database, Result, TableSpec};
    /// # async fn example(database: Database) -> Result<()> {
    /// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
    /// let spec = spec.columns("d:f sender string; d:n size u32");
    /// let spec = spec.index("by_sender [sender]");
    /// let spec = spec.index("large [size desc] covers sender where size > 10000");
    /// let mail = database.create_table(spec).await?;
    ///
    /// for mail in mail.query("sender = 'eve'").page(10).await?.rows {
    ///     println!("{mail}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(mut self, declaration: &str) -> Self {
        self.indexes.push(declaration.to_owned());
        self
    }

    /// Declares several indexes, separated by newlines or `;`: see [`TableSpec::index`].
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
    /// let spec = spec.columns("d:f sender string").indexes("by_sender [sender]; by_time [at]");
    /// assert!(spec.check().is_ok());
    /// ```
    pub fn indexes(self, text: &str) -> Self {
        self.index(text)
    }

    /// Names the observers without which the table is not written: a process refuses writes to it
    /// until it has registered an observer for each name ([`Database::observe`]). So do the shell
    /// and servers, which cannot register any. Reads go on everywhere.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// let spec = TableSpec::new("posts").family("p").observers(["audit", "counts"]);
    /// assert!(spec.check().is_ok());
    /// assert!(TableSpec::new("posts").family("p").observers(["an audit"]).check().is_err());
    /// ```
    ///
    /// [`Database::observe`]: crate::Database::observe
    pub fn observers<N: AsRef<str>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.and(|table| rowhouse_store::with_observers(table, names))
    }

    /// Adds a family with HBase's defaults.
    ///
    /// ```
    /// # use rowhouse::TableSpec;
    /// assert!(TableSpec::new("users").family("u").family("log").check().is_ok());
    /// ```
    pub fn family(self, name: &str) -> Self {
        match FamilyDescriptor::new(name.to_owned()) {
            Ok(family) => self.family_with(family),
            Err(error) => self.and(|_| Err(error)),
        }
    }

    /// Adds a family. Each family can be added only once.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    /// use rowhouse::schema::FamilyDescriptor;
    ///
    /// // How are cells compressed, and dropped after a day?
    /// let log = FamilyDescriptor::new("log")?;
    /// let log = log.attribute("COMPRESSION", "ZSTD").attribute("TTL", "86400");
    /// assert!(TableSpec::new("users").family_with(log).check().is_ok());
    /// # Ok::<(), rowhouse::Error>(())
    /// ```
    pub fn family_with(self, family: FamilyDescriptor) -> Self {
        self.and(|declared| {
            if declared.find_family(family.name()).is_ok() {
                let name = rowhouse_model::escape(family.name());
                return Err(Error::invalid(format!("duplicate family: family={name}")));
            }
            Ok(declared.family(family))
        })
    }

    /// Sets a table attribute, with a name from HBase or any other name.
    ///
    /// ```
    /// # use rowhouse::TableSpec;
    /// // How does every write of a table survive a power failure?
    /// let spec = TableSpec::new("accounts").family("a").attribute("DURABILITY", "FSYNC_WAL");
    /// # assert!(spec.check().is_ok());
    /// ```
    pub fn attribute(self, name: &str, value: &str) -> Self {
        self.and(|declared| Ok(declared.attribute(name.to_owned(), value.to_owned())))
    }

    /// Sets a configuration value for the table.
    ///
    /// ```
    /// # use rowhouse::TableSpec;
    /// // Can files be compacted completely on request only?
    /// let spec = TableSpec::new("t").family("f");
    /// let spec = spec.configuration("hbase.hregion.majorcompaction", "0");
    /// # assert!(spec.check().is_ok());
    /// ```
    pub fn configuration(self, name: &str, value: &str) -> Self {
        self.and(|mut declared| {
            declared.configuration.insert(name.to_owned(), value.to_owned());
            Ok(declared)
        })
    }

    /// Splits the table: each of these rows starts a further region.
    ///
    /// ```
    /// # use rowhouse::TableSpec;
    /// let three_regions = TableSpec::new("users").family("u").splits(["h", "p"]);
    /// # assert!(three_regions.check().is_ok());
    /// ```
    pub fn splits<R: Into<Bytes>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        self.splits.extend(rows.into_iter().map(Into::into));
        self
    }

    /// Creates the table with `count` regions that receive equal shares of the keys. The key
    /// template must begin with a bucket, a hash or another evenly distributed field.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// let spec = TableSpec::new("mail").key("[bucket 16 of user][user string][at millis desc]");
    /// assert!(spec.family("d").regions(4).check().is_ok());
    /// let spec = TableSpec::new("blog").key("[blogger text]_[at millis digits desc]");
    /// assert!(spec.family("d").regions(4).check().is_err());
    /// ```
    pub fn regions(mut self, count: usize) -> Self {
        self.regions = Some(count);
        self
    }

    /// Returns design advice for the table, based only on the declaration. Creating the table does
    /// not require this check.
    ///
    /// ```
    /// use rowhouse::schema::Rule;
    /// use rowhouse::TableSpec;
    ///
    /// let spec = TableSpec::new("metrics").family("d").key("[at millis][metric string]");
    /// assert_eq!(spec.advice()[0].rule, Rule::LeadingTime);
    /// ```
    pub fn advice(&self) -> Vec<Finding> {
        let (Ok(key), Ok(declared)) = (self.key_schema(), &self.declared) else {
            // Creating the table reports the mistake.
            return Vec::new();
        };
        let of_key = key.iter().flat_map(KeySchema::check);
        of_key.chain(check_table(declared, &[])).collect()
    }

    /// Returns the key template, if one is declared.
    fn key_schema(&self) -> Result<Option<KeySchema>> {
        match &self.declared {
            Ok(declared) => KeySchema::of_table(declared),
            Err(error) => Err(error.clone()),
        }
    }

    /// Checks the declaration against the rules for every backend. Limits of a particular store or
    /// cluster are checked only when the table is created.
    ///
    /// ```
    /// # use rowhouse::TableSpec;
    /// let error = TableSpec::new("mail").family("d").key("[user strin]").check().unwrap_err();
    /// assert!(error.message().contains("strin"));
    /// ```
    ///
    /// # Errors
    /// The first mistake in a name, the template, the columns or the indexes; columns in undeclared
    /// families, or with the same name as a key field; splits that are empty or not distinct; a
    /// region count that the template cannot distinguish. `Unsupported` for indexes in a newer
    /// language, and for words of other systems that templates do not support.
    pub fn check(&self) -> Result<()> {
        self.descriptor().and_then(|declared| check_declarations(&declared))?;
        self.all_splits().map(|_| ())
    }

    /// Returns the declaration with the indexes.
    fn descriptor(&self) -> Result<TableDescriptor> {
        let declared = self.declared.clone()?;
        if self.indexes.is_empty() {
            return Ok(declared);
        }
        with_indexes(declared, &self.indexes.join("\n"))
    }

    /// Returns the start row for each region but the first, in order.
    fn all_splits(&self) -> Result<Vec<Bytes>> {
        let mut splits = self.splits.clone();
        if let Some(regions) = self.regions {
            let schema = self.key_schema()?.ok_or_else(|| {
                Error::invalid(format!("the table declares no key to split by: regions={regions}"))
            })?;
            splits.extend(schema.splits(regions)?);
        }
        splits.sort();
        if splits.first().is_some_and(|split| split.is_empty()) {
            return Err(Error::invalid("Empty split key must not be passed in the split keys."));
        }
        match splits.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(splits),
            Some(pair) => Err(Error::invalid(format!(
                "All split keys must be unique, found duplicate: {split}, {split}",
                split = rowhouse_model::escape(&pair[0])
            ))),
        }
    }

    pub(crate) fn into_parts(self) -> Result<(TableDescriptor, Vec<Bytes>)> {
        let declared = self.descriptor()?;
        check_declarations(&declared)?;
        Ok((declared, self.all_splits()?))
    }

    fn and(self, step: impl FnOnce(TableDescriptor) -> Result<TableDescriptor>) -> Self {
        Self { declared: self.declared.and_then(step), ..self }
    }
}

/// Returns a table with these index declarations instead of the present ones, for
/// [`Admin::alter_table`](crate::admin::Admin::alter_table); an empty text has none.
///
/// ```
/// use rowhouse::schema::with_indexes;
///
/// // How do several things change at once?
/// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
/// let alter = |mail: &rowhouse::schema::TableDescriptor| {
///     with_indexes(mail.clone().attribute("OWNER", "eve"), "by_sender [sender]")
/// };
/// database.admin().alter_table("mail", alter).await
/// # }
/// ```
///
/// # Errors
/// As [`IndexSchema::parse`].
pub fn with_indexes(mut table: TableDescriptor, text: &str) -> Result<TableDescriptor> {
    let key = KeySchema::of_table(&table)?;
    let columns = ColumnSchema::of_table(&table)?;
    let indexes = IndexSchema::parse(text, key.as_ref(), columns.as_ref())?;
    if indexes.indexes().is_empty() {
        table.attributes.remove(INDEXES_ATTRIBUTE.as_bytes());
        return Ok(table);
    }
    Ok(table.attribute(INDEXES_ATTRIBUTE, indexes.to_stored()))
}
