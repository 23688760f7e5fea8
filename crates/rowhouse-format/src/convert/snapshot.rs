//! Table snapshots.

use std::time::Duration;

use rowhouse_model::{Error, Result, Snapshot, SnapshotKind, TableName, Timestamp};

use crate::proto;
use crate::proto::snapshot_description::Type;

/// The version in HBase 2's snapshot layout, which clients receive but ignore.
const VERSION: i32 = 2;
/// A longer TTL counts as none, as in HBase: the milliseconds would overflow.
const TTL_SECONDS_MAX: i64 = i64::MAX / 1000;

/// Encodes a snapshot.
pub fn to_proto(snapshot: &Snapshot) -> proto::SnapshotDescription {
    let kind = match snapshot.kind {
        SnapshotKind::Flush => Type::Flush,
        SnapshotKind::SkipFlush => Type::Skipflush,
        SnapshotKind::Disabled => Type::Disabled,
    };
    let ttl = snapshot.ttl.map_or(0, |ttl| i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX));
    proto::SnapshotDescription {
        name: snapshot.name().to_owned(),
        table: Some(snapshot.table.to_string()),
        creation_time: Some(snapshot.created.as_millis()),
        r#type: Some(kind.into()),
        version: Some(VERSION),
        ttl: Some(ttl),
        max_file_size: snapshot.region_bytes_max.map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
        ..Default::default()
    }
}

/// Decodes a snapshot. Ignores the owner, which HBase without security does not store either.
///
/// # Errors
/// `InvalidRequest` for an invalid name or without a table; `Unsupported` for permissions.
pub fn from_proto(snapshot: proto::SnapshotDescription) -> Result<Snapshot> {
    let kind = snapshot.r#type();
    let ttl = snapshot.ttl();
    // As in HBase, only positive values count.
    let region_bytes_max = u64::try_from(snapshot.max_file_size()).ok().filter(|it| *it > 0);
    if snapshot.users_and_permissions.is_some_and(|users| !users.user_permissions.is_empty()) {
        return Err(Error::unsupported("permissions in a snapshot are not supported"));
    }
    let table = snapshot.table.as_deref().ok_or_else(|| {
        Error::invalid("Descriptor doesn't apply to a table, so we can't build it.")
    })?;
    let mut read = Snapshot::new(&snapshot.name, TableName::parse(table)?)?;
    read.kind = match kind {
        Type::Flush => SnapshotKind::Flush,
        Type::Skipflush => SnapshotKind::SkipFlush,
        Type::Disabled => SnapshotKind::Disabled,
    };
    let created = snapshot.creation_time.unwrap_or(0);
    read.created = Timestamp::from_millis(created).unwrap_or(Timestamp::MIN);
    read.region_bytes_max = region_bytes_max;
    read.ttl = (1..=TTL_SECONDS_MAX).contains(&ttl).then(|| Duration::from_secs(ttl as u64));
    Ok(read)
}

#[cfg(test)]
mod tests {
    use rowhouse_model::ErrorKind;

    use super::*;

    #[test]
    fn a_snapshot_comes_back_as_it_was_written() {
        for kind in [SnapshotKind::Flush, SnapshotKind::SkipFlush, SnapshotKind::Disabled] {
            for ttl in [None, Some(Duration::from_secs(7))] {
                let mut snapshot = Snapshot::new("s", TableName::parse("ns:t").unwrap()).unwrap();
                snapshot.created = Timestamp::from_millis(5).unwrap();
                snapshot.region_bytes_max = ttl.map(|_| 1 << 40);
                (snapshot.kind, snapshot.ttl) = (kind, ttl);
                assert_eq!(from_proto(to_proto(&snapshot)).unwrap(), snapshot);
            }
        }
    }

    #[test]
    fn permissions_are_refused_and_a_ttl_beyond_all_time_is_none() {
        let message = || proto::SnapshotDescription {
            name: "s".into(),
            table: Some("t".into()),
            ..Default::default()
        };
        let user = proto::users_and_permissions::UserPermissions::default();
        let users_and_permissions =
            Some(proto::UsersAndPermissions { user_permissions: vec![user] });
        let guarded = proto::SnapshotDescription { users_and_permissions, ..message() };
        assert_eq!(from_proto(guarded).unwrap_err().kind(), ErrorKind::Unsupported);
        for bytes in [-1, 0] {
            let sized = proto::SnapshotDescription { max_file_size: Some(bytes), ..message() };
            assert_eq!(from_proto(sized).unwrap().region_bytes_max, None, "{bytes}");
        }
        let nowhere = proto::SnapshotDescription { table: None, ..message() };
        assert_eq!(from_proto(nowhere).unwrap_err().kind(), ErrorKind::InvalidRequest);
        for ttl in [-1, 0, i64::MAX] {
            let expiring = proto::SnapshotDescription { ttl: Some(ttl), ..message() };
            assert_eq!(from_proto(expiring).unwrap().ttl, None, "{ttl}");
        }
    }
}
