//! Snapshots: a table's named content at a point in time.

use std::time::Duration;

use crate::{Error, Result, TableName, Timestamp};

/// Snapshot metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    name: String,
    /// The table it was taken from, which may no longer exist.
    pub table: TableName,
    /// Whether it includes what the memstores contain.
    pub kind: SnapshotKind,
    /// Time at which it was taken.
    pub created: Timestamp,
    /// Time to live after creation, in whole seconds; `None` for no limit.
    pub ttl: Option<Duration>,
    /// MAX_FILESIZE in bytes for tables created from it, if the original table declared none.
    pub region_bytes_max: Option<u64>,
}

/// How a snapshot is taken: HBase's snapshot type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotKind {
    /// All acknowledged writes, at one point in time across all regions.
    #[default]
    Flush,
    /// Only what files contain, without the memstores: HBase's `SKIPFLUSH`.
    SkipFlush,
    /// A disabled table's whole content.
    Disabled,
}

impl Snapshot {
    /// Creates a snapshot of `table` without a TTL; the creation time is not set yet.
    ///
    /// # Errors
    /// `InvalidRequest` for a system table, or if the name violates HBase's rules: letters and
    /// digits in any script, `_`, `-` and `.`, where the last two may not come first.
    pub fn new(name: &str, table: TableName) -> Result<Self> {
        check_snapshot_name(name)?;
        if table.is_system() {
            return Err(Error::invalid(format!(
                "system table snapshots are not allowed: table={table}"
            )));
        }
        let kind = SnapshotKind::default();
        let created = Timestamp::MIN;
        Ok(Self { name: name.to_owned(), table, kind, created, ttl: None, region_bytes_max: None })
    }

    /// Returns the name, which is unique.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the TTL has passed at `now_millis`.
    pub fn is_expired(&self, now_millis: i64) -> bool {
        self.ttl.is_some_and(|ttl| {
            let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
            self.created.as_millis().saturating_add(ttl) < now_millis
        })
    }
}

/// Checks a snapshot name.
///
/// # Errors
/// As [`Snapshot::new`].
pub fn check_snapshot_name(name: &str) -> Result<()> {
    let refused =
        |what: &str| Err(Error::invalid(format!("illegal snapshot name: {what}, name={name}")));
    if name.is_empty() {
        return refused("must not be empty");
    }
    if name.starts_with(['.', '-']) {
        return refused("must begin with a letter, a digit or _");
    }
    if name == "zookeeper" {
        return refused("reserved");
    }
    match name.chars().find(|c| !c.is_alphanumeric() && !"_-.".contains(*c)) {
        Some(c) => refused(&format!("only letters, digits and _ - . are allowed, not {c:?}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_names_follow_hbases_rules() {
        for good in ["s", "a-b.c_d", "表", "_x", "9"] {
            check_snapshot_name(good).unwrap();
        }
        for bad in ["", ".s", "-s", "a b", "a/b", "ns:s", "zookeeper"] {
            assert!(check_snapshot_name(bad).is_err(), "{bad}");
        }
        assert!(Snapshot::new("s", TableName::meta()).is_err());
    }

    #[test]
    fn a_snapshot_expires_after_its_last_millisecond() {
        let mut snapshot = Snapshot::new("s", TableName::parse("t").unwrap()).unwrap();
        snapshot.created = Timestamp::from_millis(1000).unwrap();
        assert!(!snapshot.is_expired(i64::MAX));
        snapshot.ttl = Some(Duration::from_secs(2));
        assert!(!snapshot.is_expired(3000));
        assert!(snapshot.is_expired(3001));
        snapshot.ttl = Some(Duration::MAX);
        assert!(!snapshot.is_expired(i64::MAX));
    }
}
