//! Namespaces.

use rowhouse_model::{Namespace, Result};

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Returns all namespaces, in order.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// for namespace in database.admin().namespaces().await? {
    ///     println!("{}", namespace.name());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn namespaces(self) -> Result<Vec<Namespace>> {
        match self.side() {
            Side::Embedded(it) => Ok(it.store().namespaces()),
            Side::Cluster(it) => it.admin().namespaces().await,
        }
    }

    /// Creates a namespace.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    /// use rowhouse::admin::Namespace;
    ///
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().create_namespace(Namespace::new("shop")?).await?;
    /// database.create_table(TableSpec::new("shop:orders").family("o")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub async fn create_namespace(self, namespace: Namespace) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.create_namespace(namespace)).await,
            Side::Cluster(it) => it.admin().create_namespace(&namespace).await,
        }
    }

    /// Replaces a namespace's configuration with the configuration in `namespace`.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// // How many tables may there be in a namespace?
    /// # async fn example(database: Database) -> Result<()> {
    /// let mut shop = rowhouse::admin::Namespace::new("shop")?;
    /// shop.configuration.insert("hbase.namespace.quota.maxtables".into(), "10".into());
    /// database.admin().modify_namespace(shop).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NamespaceNotFound`; `Unsupported` for quotas that are not for tables and regions.
    pub async fn modify_namespace(self, namespace: Namespace) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.modify_namespace(namespace)).await,
            Side::Cluster(it) => it.admin().modify_namespace(&namespace).await,
        }
    }

    /// Drops an empty namespace.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().drop_namespace("shop").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NamespaceNotFound`; `NamespaceConstraint` for a namespace that has tables or belongs to
    /// HBase.
    pub async fn drop_namespace(self, name: &str) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = name.to_owned();
                it.run(move |store| store.drop_namespace(&name)).await
            }
            Side::Cluster(it) => it.admin().delete_namespace(name).await,
        }
    }
}
