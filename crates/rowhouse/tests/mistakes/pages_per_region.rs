//! A limit that each region counts separately, as HBase's `PageFilter` does.

use rowhouse::{Bytes, RowRange, Scan, TableSpec};

use super::{Scratch, query};

#[tokio::test]
async fn a_page_that_is_counted_in_each_region_is_as_many_pages_as_there_are_regions() {
    let scratch = Scratch::new().await;
    let spec = TableSpec::new("posts").family("d").key("[id digits 4]");
    let posts = scratch.database.create_table(spec.splits(["0100", "0200"])).await.unwrap();
    for id in 0..300_u32 {
        let row = posts.row(&[("id", id.into())]);
        row.set("d", "text", id.to_string()).put().await.unwrap();
    }
    // The results from three regions that each stop after ten rows.
    let mut by_region = Vec::new();
    for (start, stop) in [("", "0100"), ("0100", "0200"), ("0200", "")] {
        let scan = Scan::new(RowRange::new(start, stop)).limit(10);
        by_region.extend(posts.scan(scan).await.unwrap().collect().await.unwrap());
    }
    assert_eq!(by_region.len(), 30);
    assert_eq!(by_region[10].key(), b"0100");

    // A limit or page applies to the query as a whole, over all regions.
    let limited = posts.query("id >= 95").limit(10).rows().await.unwrap().collect().await.unwrap();
    assert_eq!(limited.len(), 10);
    assert_eq!(limited[9].key_bytes(), b"0104");
    let page = posts.query("id >= 95").page(10).await.unwrap();
    let keys: Vec<_> =
        page.rows.iter().map(|row| Bytes::copy_from_slice(row.key_bytes())).collect();
    assert_eq!(keys[9], "0104");
    let next = posts.query("id >= 95").after(&page.next.unwrap()).page(10).await.unwrap();
    assert_eq!(next.rows[0].key_bytes(), b"0105");
    assert_eq!(query(&posts, "id >= 0").await.len(), 300);
}
