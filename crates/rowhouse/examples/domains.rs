//! How do you find the pages for a domain and all subdomains, and no others? Hosts are stored with
//! their labels reversed and compared label by label.

use rowhouse::{Result, RowRange, Scan, TableSpec};

const HOSTS: [&str; 7] = [
    "example.com",
    "www.example.com",
    "mail.example.com",
    "a.www.example.com",
    "example.community",
    "www.example-two.com",
    "example.org",
];

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let spec = TableSpec::new("hosts").family("d").key("[host domain]");
    let hosts = database.create_table(spec).await?;
    for host in HOSTS {
        hosts.row(&[("host", host.into())]).set("d", "title", host).put().await?;
    }

    let query = hosts.query("host under 'example.com'");
    print!("{}", query.explain()?);
    let rows = query.rows().await?.collect().await?;
    let names: Vec<_> = rows.iter().filter_map(|row| row.text("d", "title")).collect();
    for row in &rows {
        println!("  {} is stored as {}", row, rowhouse::key::escape(row.key_bytes()));
    }
    assert_eq!(names, ["example.com", "mail.example.com", "www.example.com", "a.www.example.com"]);

    // A scan over the plain prefix ignores label boundaries: it also returns example-two.com.
    let prefix = Scan::new(RowRange::prefix(b"com.example"));
    let rows = hosts.scan(prefix).await?.collect().await?;
    println!("the prefix com.example finds {} hosts:", rows.len());
    rows.iter().for_each(|row| println!("  {}", rowhouse::key::escape(row.key())));
    assert_eq!(rows.len(), 5);

    // With names in their usual order, a subdomain can start with any label: every row is scanned.
    let plain = TableSpec::new("plain").family("d").key("[host text]");
    let plain = database.create_table(plain).await?;
    let plan = plain.query("host ends with '.example.com'").explain()?;
    print!("without `domain`:\n{plan}");
    assert!(plan.ranges()[0].start.is_empty() && !plan.is_exact());
    database.close().await
}
