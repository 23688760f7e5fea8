use rowhouse_derive::RowKey;
use std::collections::BTreeMap;

#[derive(RowKey)]
#[key("[user text md5 4]")]
struct OfMap {
    user: BTreeMap<String, String>,
}

#[derive(RowKey)]
#[key("[user string][tags repeat(u24 u24)]")]
struct OfGroups {
    user: String,
    tags: Vec<(u32, u32)>,
}

fn main() {}
