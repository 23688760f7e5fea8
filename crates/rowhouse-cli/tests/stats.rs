//! Tests `rowhouse stats`, as a separate process.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;
use rowhouse::TableSpec;
use rowhouse::schema::FamilyDescriptor;

fn stats(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rowhouse")).arg("stats").arg(dir).args(args).output().unwrap()
}

/// Creates a table with two regions and twelve rows, each longer than the last, and another one.
async fn fill(dir: &Path) -> rowhouse::Result<()> {
    let database = rowhouse::open(dir.display().to_string()).await?;
    let family = FamilyDescriptor::new("d")?.versions(3);
    let spec = TableSpec::new("mail").key("[user string][n u8]").family_with(family);
    let mail = database.create_table(spec.splits(["m"])).await?;
    for n in 0..12_u8 {
        let key = [("user", if n < 3 { "zoe" } else { "bob" }.into()), ("n", n.into())];
        mail.row(&key).set("d", "subject", "x".repeat(usize::from(n))).put().await?;
    }
    database.create_table(TableSpec::new("other").family("f")).await?;
    database.admin().flush("mail").await?;
    database.close().await
}

#[test]
fn tables_are_printed_as_text_and_as_json() {
    let dir = tempfile::tempdir().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(fill(dir.path())).unwrap();
    let ran = stats(dir.path(), &["--json"]);
    assert!(ran.status.success(), "{ran:?}");
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let tables = json["tables"].as_array().unwrap();
    let names: Vec<_> = tables.iter().map(|table| table["table"].as_str().unwrap()).collect();
    assert_eq!(names, ["mail", "other"]);
    let rows = |region: usize| &tables[0]["regions"][region]["families"][0]["rows"];
    assert_eq!((rows(0), rows(1)), (&9.into(), &3.into()));
    // The 26 bytes are six for the row, one for the family, seven for the qualifier, twelve for the
    // fixed fields.
    assert_eq!(tables[0]["regions"][1]["families"][0]["key_bytes"], 3 * 26);
    assert_eq!(tables[0]["regions"][1]["families"][0]["name_bytes"], 3 * 5);
    let largest = tables[0]["largest_rows"].as_array().unwrap();
    assert_eq!(largest.len(), 10);
    assert_eq!((&largest[0]["bytes"], &largest[0]["cells"]), (&(26 + 11).into(), &1.into()));

    let ran = stats(dir.path(), &["--table", "mail"]);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.starts_with("mail\n  family  files"), "{text}");
    assert!(text.contains("(user='bob', n=11)"), "{text}");
    assert!(!text.contains("other"), "{text}");
}

#[test]
fn warnings_about_row_and_name_overhead_have_the_measured_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let fill = async {
        let database = rowhouse::open(dir.path().display().to_string()).await?;
        let spec = TableSpec::new("pages").key("[host domain]");
        let spec = ["details", "b", "c", "d"].into_iter().fold(spec, TableSpec::family);
        let pages = database.create_table(spec).await?;
        for n in 0..120 {
            let host = format!("{}{n}.example.com", "h".repeat(70));
            pages.row(&[("host", host.into())]).set("details", "description", "x").put().await?;
        }
        database.admin().flush("pages").await?;
        database.close().await
    };
    tokio::runtime::Runtime::new().unwrap().block_on(fill).unwrap();
    let ran = stats(dir.path(), &["--table", "pages"]);
    let text = String::from_utf8(ran.stdout).unwrap();
    let findings: Vec<_> = text.lines().filter(|line| line.starts_with(['K', 'T'])).collect();
    expect![[r#"
        K11 few leading domains: 120 keys of the sample begin with 120 hosts of 1 domain, by the last two parts of `host`, and the hosts of a domain are adjacent; put a bucket before it: domains=1, min=9
        T1 many families: each of b, c, d, details has a memstore and files of its own in every region; put columns that are read together into one family: families=4, max=3
        T2 long names: the names of `details` and its qualifiers take 15.0 bytes a cell beyond one letter and two, in 120 cells: 1800 bytes, 13 % of the family; store short names, and declare readable ones as columns: max=10 %
        T3 long row keys: row keys take 84.1 bytes a cell, in 120 cells: 10090 bytes, 73 % of the table; store a hash or a shorter type: max=64"#]].assert_eq(&findings.join("\n"));
    let ran = stats(dir.path(), &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rules = json["tables"][0]["findings"].as_array().unwrap().iter();
    let rules: Vec<_> = rules.map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["K11", "T1", "T2", "T3"]);
}

#[test]
fn a_directory_without_a_store_and_a_table_that_is_not_there_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(stats(dir.path(), &[]).status.code(), Some(1));
    tokio::runtime::Runtime::new().unwrap().block_on(fill(dir.path())).unwrap();
    let ran = stats(dir.path(), &["--table", "nope"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("nope"));
}
