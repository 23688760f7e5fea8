//! Tests of taking, listing, cloning and deleting snapshots.

use expect_test::expect;

use super::check;

#[test]
fn a_table_is_snapped_changed_cloned_and_restored() {
    check(
        "create 'blog', 'cf'
put 'blog', '1', 'cf:title', 'then'
snapshot 'blog', 'monday'
put 'blog', '1', 'cf:title', 'later'
clone_snapshot 'monday', 'blog-then'
get 'blog-then', '1', 'cf:title'
restore_snapshot 'monday'
disable 'blog'
restore_snapshot 'monday'
is_disabled 'blog'
enable 'blog'
get 'blog', '1', 'cf:title'
list_snapshots",
        expect![[r#"
            > create 'blog', 'cf'
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > put 'blog', '1', 'cf:title', 'then'
            Took T seconds
            > snapshot 'blog', 'monday'
            Took T seconds
            > put 'blog', '1', 'cf:title', 'later'
            Took T seconds
            > clone_snapshot 'monday', 'blog-then'
            Took T seconds
            > get 'blog-then', '1', 'cf:title'
            COLUMN  CELL
             cf:title timestamp=NOW, value=then
            1 row(s)
            Took T seconds
            > restore_snapshot 'monday'

            ERROR: Table blog should be disabled! Snapshot monday is of it.

            For usage try 'help "restore_snapshot"'

            Took T seconds
            > disable 'blog'
            Took T seconds
            > restore_snapshot 'monday'
            Took T seconds
            > is_disabled 'blog'
            true
            Took T seconds
            => true
            > enable 'blog'
            Took T seconds
            > get 'blog', '1', 'cf:title'
            COLUMN  CELL
             cf:title timestamp=NOW, value=then
            1 row(s)
            Took T seconds
            > list_snapshots
            SNAPSHOT  TABLE + CREATION TIME
             monday blog (NOW)
            1 row(s)
            Took T seconds
            => ["monday"]
        "#]],
    );
}

#[test]
fn snapshots_are_listed_by_patterns_and_deleted_when_somebody_says_so() {
    check(
        "create 'blog', 'cf'
create 'shop', 'cf'
snapshot 'blog', 'monday', {TTL => 86400}
snapshot 'blog', 'tuesday', SKIP_FLUSH => true
snapshot 'shop', 'shop-monday'
list_snapshots '.*monday'
list_table_snapshots 'b.*'
list_table_snapshots 'blog', 'm.*'
delete_snapshot 'monday'
delete_all_snapshot 'no.*'
delete_all_snapshot '.*day'
n
delete_table_snapshots 'blog'
y
list_snapshots
delete_all_snapshot '.*'
yes
list_snapshots",
        expect![[r#"
            > create 'blog', 'cf'
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > create 'shop', 'cf'
            Created table shop
            Took T seconds
            => Hbase::Table - shop
            > snapshot 'blog', 'monday', {TTL => 86400}
            Took T seconds
            > snapshot 'blog', 'tuesday', SKIP_FLUSH => true
            Took T seconds
            > snapshot 'shop', 'shop-monday'
            Took T seconds
            > list_snapshots '.*monday'
            SNAPSHOT  TABLE + CREATION TIME
             monday blog (NOW)
             shop-monday shop (NOW)
            2 row(s)
            Took T seconds
            => ["monday", "shop-monday"]
            > list_table_snapshots 'b.*'
            SNAPSHOT  TABLE + CREATION TIME
             monday blog (NOW)
             tuesday blog (NOW)
            2 row(s)
            Took T seconds
            => ["monday", "tuesday"]
            > list_table_snapshots 'blog', 'm.*'
            SNAPSHOT  TABLE + CREATION TIME
             monday blog (NOW)
            1 row(s)
            Took T seconds
            => ["monday"]
            > delete_snapshot 'monday'
            Took T seconds
            > delete_all_snapshot 'no.*'
            SNAPSHOT  TABLE + CREATION TIME
            No snapshots matched the regex no.*
            Took T seconds
            > delete_all_snapshot '.*day'
            SNAPSHOT  TABLE + CREATION TIME
             shop-monday shop (NOW)
             tuesday blog (NOW)

            Delete the above 2 snapshots (y/n)?
            Took T seconds
            > n
            > delete_table_snapshots 'blog'
            SNAPSHOT  TABLE + CREATION TIME
             tuesday blog (NOW)

            Delete the above 1 snapshots (y/n)?
            Took T seconds
            > y
            Successfully deleted snapshot: tuesday

            > list_snapshots
            SNAPSHOT  TABLE + CREATION TIME
             shop-monday shop (NOW)
            1 row(s)
            Took T seconds
            => ["shop-monday"]
            > delete_all_snapshot '.*'
            SNAPSHOT  TABLE + CREATION TIME
             shop-monday shop (NOW)

            Delete the above 1 snapshots (y/n)?
            Took T seconds
            > yes
            1 snapshots successfully deleted.
            > list_snapshots
            SNAPSHOT  TABLE + CREATION TIME
            0 row(s)
            Took T seconds
            => []
        "#]],
    );
}

#[test]
fn tables_of_a_snapshot_have_its_max_filesize_where_theirs_had_none() {
    check(
        "create 'blog', 'cf'
create 'sized', 'cf', MAX_FILESIZE => '2 GB'
snapshot 'blog', 's', {MAX_FILESIZE => '1 GB'}
snapshot 'sized', 't', {MAX_FILESIZE => 1073741824}
clone_snapshot 's', 'other'
clone_snapshot 't', 'more'
describe 'other'
describe 'more'",
        expect![[r#"
            > create 'blog', 'cf'
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > create 'sized', 'cf', MAX_FILESIZE => '2 GB'
            Created table sized
            Took T seconds
            => Hbase::Table - sized
            > snapshot 'blog', 's', {MAX_FILESIZE => '1 GB'}
            Took T seconds
            > snapshot 'sized', 't', {MAX_FILESIZE => 1073741824}
            Took T seconds
            > clone_snapshot 's', 'other'
            Took T seconds
            > clone_snapshot 't', 'more'
            Took T seconds
            > describe 'other'
            Table other is ENABLED
            other, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '1073741824 B (1GB)', METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > describe 'more'
            Table more is ENABLED
            more, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '2147483648 B (2GB)', METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
        "#]],
    );
}

#[test]
fn snapshots_stay_behind_their_time_where_that_is_said() {
    check(
        "snapshot_cleanup_enabled
snapshot_cleanup_switch false
snapshot_cleanup_switch false
snapshot_cleanup_enabled
snapshot_cleanup_switch true
snapshot_cleanup_switch",
        expect![[r#"
            > snapshot_cleanup_enabled
            true
            Took T seconds
            > snapshot_cleanup_switch false
            Previous snapshot cleanup state : true
            Took T seconds
            > snapshot_cleanup_switch false
            Previous snapshot cleanup state : false
            Took T seconds
            > snapshot_cleanup_enabled
            false
            Took T seconds
            > snapshot_cleanup_switch true
            Previous snapshot cleanup state : false
            Took T seconds
            > snapshot_cleanup_switch

            ERROR: wrong number of arguments (given 0, expected 1)

            For usage try 'help "snapshot_cleanup_switch"'

            Took T seconds
        "#]],
    );
}

#[test]
fn what_cannot_be_done_is_told_as_hbase_tells_it() {
    check(
        "create 'blog', 'cf'
snapshot 'blog', 'monday'
snapshot 'blog', 'monday'
snapshot 'nowhere', 'tuesday'
snapshot 'blog', 'a/b'
snapshot 'blog', 'tuesday', {TTTL => 1}
snapshot 'blog', 'tuesday', {MAX_FILESIZE => 'big'}
clone_snapshot 'tuesday', 'other'
clone_snapshot 'monday', 'blog'
clone_snapshot 'monday', 'nowhere:blog'
clone_snapshot 'monday', 'other', {RESTORE_ACL => true}
restore_snapshot 'tuesday'
delete_snapshot 'tuesday'",
        expect![[r#"
            > create 'blog', 'cf'
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > snapshot 'blog', 'monday'
            Took T seconds
            > snapshot 'blog', 'monday'

            ERROR: org.apache.hadoop.hbase.snapshot.SnapshotExistsException: Snapshot 'monday' already stored on the filesystem.

            For usage try 'help "snapshot"'

            Took T seconds
            > snapshot 'nowhere', 'tuesday'

            ERROR: org.apache.hadoop.hbase.snapshot.SnapshotCreationException: Table 'nowhere' doesn't exist, can't take snapshot.

            For usage try 'help "snapshot"'

            Took T seconds
            > snapshot 'blog', 'a/b'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: illegal snapshot name: only letters, digits and _ - . are allowed, not '/', name=a/b

            For usage try 'help "snapshot"'

            Took T seconds
            > snapshot 'blog', 'tuesday', {TTTL => 1}

            ERROR: snapshot has no option TTTL

            For usage try 'help "snapshot"'

            Took T seconds
            > snapshot 'blog', 'tuesday', {MAX_FILESIZE => 'big'}

            ERROR: MAX_FILESIZE must be bytes, or as '1 GB 512 MB': big

            For usage try 'help "snapshot"'

            Took T seconds
            > clone_snapshot 'tuesday', 'other'

            ERROR: org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException: Snapshot 'tuesday' doesn't exist on the filesystem

            For usage try 'help "clone_snapshot"'

            Took T seconds
            > clone_snapshot 'monday', 'blog'

            ERROR: Table already exists: blog!

            For usage try 'help "clone_snapshot"'

            Took T seconds
            > clone_snapshot 'monday', 'nowhere:blog'

            ERROR: Unknown namespace: nowhere!

            For usage try 'help "clone_snapshot"'

            Took T seconds
            > clone_snapshot 'monday', 'other', {RESTORE_ACL => true}

            ERROR: option RESTORE_ACL of clone_snapshot is not supported yet

            For usage try 'help "clone_snapshot"'

            Took T seconds
            > restore_snapshot 'tuesday'

            ERROR: org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException: Snapshot 'tuesday' doesn't exist on the filesystem

            For usage try 'help "restore_snapshot"'

            Took T seconds
            > delete_snapshot 'tuesday'

            ERROR: org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException: Snapshot 'tuesday' doesn't exist on the filesystem

            For usage try 'help "delete_snapshot"'

            Took T seconds
        "#]],
    );
}
