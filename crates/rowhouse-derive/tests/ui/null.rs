use rowhouse_derive::RowKey;

#[derive(RowKey)]
#[key("[user string][middle string null first]")]
struct Name {
    user: Option<String>,
    middle: String,
}

#[derive(RowKey)]
#[key("[n u8 null last]")]
struct Twice {
    n: Option<Option<u8>>,
}

fn main() {}
