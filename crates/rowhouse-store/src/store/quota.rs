//! Quotas for tables and regions per namespace: HBase's checks and messages.

use rowhouse_model::{Error, ErrorKind, Namespace, Result, TableName};

use super::handle::Tables;
use crate::region::Region;

impl Tables {
    /// Checks that a table with `regions` regions may be added to the namespace.
    ///
    /// # Errors
    /// `QuotaExceeded`.
    pub(super) fn check_table_quota(&self, name: &TableName, regions: usize) -> Result<()> {
        let Some(namespace) = self.namespace_of(name) else { return Ok(()) };
        let (tables, have) = self.count(name.namespace(), None);
        let tables_max = namespace.tables_max()?;
        let regions_max = namespace.regions_max()?;
        if tables >= tables_max {
            return exceeded(format!(
                "The table {name} cannot be created as it would exceed maximum number of tables \
                 allowed  in the namespace.  The total number of tables permitted is {tables_max}"
            ));
        }
        if have + regions as u64 > regions_max {
            return exceeded(format!(
                "The table {name} is not allowed to have {regions} regions. The total number of \
                 regions permitted is only {regions_max}, while current region count is {have}. \
                 This may be transient, please retry later if there are any ongoing split operations \
                 in the namespace."
            ));
        }
        Ok(())
    }

    /// Checks that a table may have `regions` regions in place of the current ones.
    ///
    /// # Errors
    /// `QuotaExceeded`.
    pub(super) fn check_restore_quota(&self, name: &TableName, regions: usize) -> Result<()> {
        let Some(namespace) = self.namespace_of(name) else { return Ok(()) };
        let regions_max = namespace.regions_max()?;
        let (_, others) = self.count(name.namespace(), Some(name));
        if others + regions as u64 > regions_max {
            return exceeded(format!(
                "The table {name} region count cannot be updated as it would exceed maximum number \
                 of regions allowed in the namespace.  The total number of regions permitted is \
                 {regions_max}"
            ));
        }
        Ok(())
    }

    /// Checks that a region may be split in two.
    ///
    /// # Errors
    /// `QuotaExceeded`.
    pub(super) fn check_split_quota(&self, region: &Region) -> Result<()> {
        let name = &region.info().table;
        let Some(namespace) = self.namespace_of(name) else { return Ok(()) };
        let (_, regions) = self.count(name.namespace(), None);
        if regions >= namespace.regions_max()? {
            return exceeded(format!(
                "Region split not possible for :{} as quota limits are exceeded ",
                region.name().encoded
            ));
        }
        Ok(())
    }

    fn namespace_of(&self, name: &TableName) -> Option<Namespace> {
        self.engine.manifest.read(|state| state.namespaces.get(name.namespace()).cloned())
    }

    /// Returns how many tables and regions a namespace has, without table `but` and its regions.
    fn count(&self, namespace: &str, but: Option<&TableName>) -> (u64, u64) {
        let entries = self.catalog.entries();
        let tables = entries.tables.values();
        let counted = tables
            .filter(|table| table.name().namespace() == namespace && Some(table.name()) != but);
        counted.fold((0, 0), |(tables, regions), table| {
            (tables + 1, regions + table.regions().len() as u64)
        })
    }
}

fn exceeded(message: String) -> Result<()> {
    Err(Error::new(ErrorKind::QuotaExceeded, message))
}
