use rowhouse_derive::RowKey;
use rowhouse_schema::FromRowKey;

#[derive(RowKey)]
#[key("[user text md5 4 hex]")]
struct OfHash {
    user: String,
}

#[derive(RowKey)]
#[key("[user string]")]
struct OfEscaped<'a> {
    user: &'a str,
}

fn read<'k, K: FromRowKey<'k>>(key: &'k [u8]) -> Option<K> {
    K::decode_key(key).ok()
}

fn main() {
    let _ = read::<OfHash>(b"6384e2b2");
    let _ = read::<OfEscaped>(b"bob\0\x01");
}
