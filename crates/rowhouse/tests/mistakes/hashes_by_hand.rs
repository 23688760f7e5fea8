//! The widely copied `hashCode % n` at the start of the key.

use std::collections::BTreeSet;

use rowhouse::Value;
use rowhouse::key::KeySchema;

use super::Scratch;

const REGIONS: i32 = 4;

/// Java's `Long.hashCode(value)`.
fn hash_code(value: i64) -> i32 {
    (value ^ (value as u64 >> 32) as i64) as i32
}

/// Java's `Bytes.toBytes((byte) (Long.hashCode(ts) % 4))`: there is no `toBytes(byte)`, so the byte
/// is widened to a short.
fn prefix(millis: i64) -> [u8; 2] {
    let byte = (hash_code(millis) % REGIONS) as i8;
    i16::from(byte).to_be_bytes()
}

#[test]
fn the_remainder_of_a_hash_code_is_negative_and_takes_two_bytes() {
    // With Java 17, Long.hashCode(1425330757685L) % 4 is -2.
    assert_eq!(hash_code(1_425_330_757_685) % REGIONS, -2);
    assert_eq!(prefix(1_425_330_757_685), [0xFF, 0xFE]);
    let bucket = KeySchema::parse("[bucket 4 of at][at millis]").unwrap();
    let key = bucket.encode(&[("at", 1_425_330_757_685_i64.into())]).unwrap();
    assert!(key.len() == 9 && key[0] < 4);
}

#[tokio::test]
async fn four_regions_were_meant_and_the_keys_have_seven_prefixes() {
    let scratch = Scratch::new().await;
    // A day in 2004 and a day in 2015, whose hashes differ in sign.
    let times = (0..200).flat_map(|nth| [1_080_000_000_000 + nth, 1_425_330_757_685 + nth]);
    let by_hand: BTreeSet<_> = times.clone().map(prefix).collect();
    assert_eq!(by_hand.len(), 7);
    // With four regions split at 1, 2 and 3, the last also gets the negative prefixes: half the
    // rows.
    let mut regions = [0; 4];
    for at in times.clone() {
        let prefix = prefix(at);
        regions[(1..4).filter(|split| prefix >= [0, *split]).count()] += 1;
    }
    assert_eq!(regions, [100, 50, 50, 200]);

    let table = scratch.by_template("[bucket 4 of at][at millis]").await;
    let schema = table.key_schema().unwrap();
    let buckets: Vec<_> =
        times.map(|at| schema.encode(&[("at", Value::from(at))]).unwrap()[0]).collect();
    assert_eq!(BTreeSet::from_iter(buckets.clone()), BTreeSet::from([0, 1, 2, 3]));
    for bucket in 0..4 {
        let count = buckets.iter().filter(|other| **other == bucket).count();
        assert!((50..150).contains(&count), "bucket {bucket}: {count} of 400");
    }
    // The template also determines the splits.
    assert_eq!(schema.splits(4).unwrap(), ["\x01", "\x02", "\x03"]);
}

#[test]
fn a_bucket_of_another_row_is_refused() {
    let schema = KeySchema::parse("[bucket 4 of at][at millis]").unwrap();
    let key = schema.encode(&[("at", 1_425_330_757_685_i64.into())]).unwrap();
    let mut by_hand = key.to_vec();
    by_hand[0] = (by_hand[0] + 1) % 4;
    assert!(schema.decode(&by_hand).is_err());
}
