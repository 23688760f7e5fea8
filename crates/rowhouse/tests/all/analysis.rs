//! Analyses for queries, gets and scans.

use rowhouse::query::Analysis;
use rowhouse::{Database, ErrorKind, Get, RowRange, Scan, Table, TableSpec};

use crate::support::on_both;

async fn filled(database: &Database) -> Table {
    let spec = TableSpec::new("mail").key("[bucket 4 of user][user string][n u32]");
    let spec = spec.family("d").family("e").columns("d:s sender string; d:z size u32");
    let spec = spec.index("by_sender [sender]");
    let mail = database.create_table(spec).await.unwrap();
    for n in 0..400_u32 {
        let key = [("user", format!("user{}", n % 8).into()), ("n", n.into())];
        let row = mail.row(&key).set("e", "body", "text");
        let row = row.set_named("sender", format!("sender{}", n % 40));
        row.set_named("size", n).put().await.unwrap();
        if n == 200 {
            database.admin().flush("mail").await.unwrap();
        }
    }
    database.admin().flush("mail").await.unwrap();
    mail
}

fn of_table<'a>(analysis: &'a Analysis, name: &str) -> &'a rowhouse::query::TableReads {
    let mut tables = analysis.reads().tables.iter();
    tables.find(|table| table.table.to_string() == name).unwrap()
}

#[tokio::test]
async fn a_query_by_the_key_reads_its_ranges_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
    let mail = filled(&database).await;
    let analysis = mail.query("user = 'user3' and n < 100").analyze().await.unwrap();
    assert_eq!((analysis.ranges(), analysis.rows_returned()), (1, 13));
    let total = analysis.total();
    assert_eq!((total.rows_read, total.scans, total.regions), (13, 1, 1));
    assert_eq!((analysis.cells_returned(), total.cells_returned), (39, 39));

    // All rows are read for a condition on a column without an index.
    let analysis = mail.query("size < 10").analyze().await.unwrap();
    assert_eq!((analysis.rows_returned(), analysis.total().rows_read), (10, 400));
    // A family that is not named is not read.
    let analysis = mail.query("size < 10").column("d", "z").analyze().await.unwrap();
    let [region] = &of_table(&analysis, "mail").regions[..] else { panic!("{analysis}") };
    let names: Vec<_> = region.families.iter().map(|family| &family.family[..]).collect();
    assert_eq!(names, [b"d"]);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_query_by_an_index_counts_entries_and_the_rows_to_which_they_lead() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
    let mail = filled(&database).await;
    let analysis = mail.query("sender = 'sender7'").using("by_sender").analyze().await.unwrap();
    assert_eq!(analysis.rows_returned(), 10);
    let entries = of_table(&analysis, "mail.by_sender");
    assert_eq!((entries.scans, entries.total().rows_returned), (1, 10));
    let rows = of_table(&analysis, "mail");
    assert_eq!((rows.gets, rows.total().rows_returned), (10, 10));
    let text = analysis.to_string();
    assert!(
        text.contains("access: by index by_sender, in the order of the index, 1 range"),
        "{text}"
    );
    assert!(
        text.contains("table mail.by_sender: 1 region scan, 10 rows read, 10 returned"),
        "{text}"
    );
    assert!(text.contains("table mail: 10 gets, 10 rows read, 10 returned"), "{text}");
    database.close().await.unwrap();
}

#[tokio::test]
async fn counts_are_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
    let mail = filled(&database).await;
    // Four buckets are merged, with a limit, and a residual condition.
    let analyze = || async {
        mail.query("n >= 100 and size < 300").limit(60).analyze().await.unwrap().total()
    };
    analyze().await;
    let second = analyze().await;
    let third = analyze().await;
    assert_eq!(second, third);
    assert_eq!((second.blocks_from_disk, second.rows_returned >= 60), (0, true));
    database.close().await.unwrap();
}

#[tokio::test]
async fn gets_and_scans_are_analyzed_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_string_lossy()).await.unwrap();
    let mail = filled(&database).await;
    let key = mail.key(&[("user", "user3".into()), ("n", 3.into())]).unwrap();
    let get = mail.analyze_get(&Get::new(key).unwrap()).await.unwrap();
    assert_eq!((get.rows_returned(), get.cells_returned(), get.total().gets), (1, 3, 1));
    assert!(get.to_string().starts_with("get bucket=2, user='user3', n=3"), "{get}");
    let scan = mail.analyze_scan(Scan::new(RowRange::all()).family("d")).await.unwrap();
    assert_eq!((scan.rows_returned(), scan.total().rows_read, scan.ranges()), (400, 400, 1));
    let svg = scan.to_svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("class=\"file\"").count(), 2, "a bar for each file of the family");
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_server_refuses_to_be_analyzed() {
    on_both(async |database, is_server| {
        if !is_server {
            return;
        }
        let mail = filled(&database).await;
        let refused = mail.query("user = 'user3'").analyze().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("only a data directory can be analyzed"), "{refused}");
        let refused = mail.analyze_get(&Get::new("x").unwrap()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
    })
    .await;
}
