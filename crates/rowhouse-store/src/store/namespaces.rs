//! Creating, changing and dropping namespaces.

use rowhouse_model::{Bytes, Error, ErrorKind, Namespace, Result};

use super::Store;
use crate::manifest::{EditKind, NamespaceChanged};

impl Store {
    /// Returns every namespace, by name, including `default` and `hbase`.
    pub fn namespaces(&self) -> Vec<Namespace> {
        self.inner.engine.manifest.read(|state| state.namespaces.values().cloned().collect())
    }

    /// Returns the namespace `name`.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn namespace(&self, name: &str) -> Result<Namespace> {
        let namespace =
            self.inner.engine.manifest.read(|state| state.namespaces.get(name).cloned());
        namespace.ok_or_else(|| Error::new(ErrorKind::NamespaceNotFound, name))
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        if self.namespace(namespace.name()).is_ok() {
            let message = format!("Namespace {} already exists", namespace.name());
            return Err(Error::new(ErrorKind::NamespaceExists, message));
        }
        self.write_namespace(&namespace)
    }

    /// Replaces a namespace's configuration.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn modify_namespace(&self, namespace: Namespace) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.namespace(namespace.name())?;
        self.write_namespace(&namespace)
    }

    fn write_namespace(&self, namespace: &Namespace) -> Result<()> {
        self.inner.engine.check_open()?;
        namespace.check()?;
        let edit = EditKind::NamespaceChanged(NamespaceChanged::new(namespace));
        self.inner.engine.append_edit(edit)?;
        self.changed();
        Ok(())
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `NamespaceConstraint` for one that is reserved or holds tables.
    pub fn drop_namespace(&self, name: &str) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let constraint = |what: String| Err(Error::new(ErrorKind::NamespaceConstraint, what));
        if self.namespace(name)?.is_reserved() {
            return constraint(format!("Reserved namespace {name} cannot be removed."));
        }
        let entries = self.inner.tables.catalog.entries();
        let tables = entries.tables.keys().filter(|table| table.namespace() == name).count();
        if tables > 0 {
            return constraint(format!(
                "Only empty namespaces can be removed. Namespace {name} has {tables} tables"
            ));
        }
        let edit = EditKind::NamespaceDropped(Bytes::copy_from_slice(name.as_bytes()));
        self.inner.engine.append_edit(edit)?;
        self.changed();
        Ok(())
    }
}
