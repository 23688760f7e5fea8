use rowhouse_derive::RowKey;

#[derive(RowKey)]
#[key("[user string][at mills desc]")]
struct Misspelled {
    user: String,
    at: u64,
}

#[derive(RowKey)]
#[key("[user text][at text]")]
struct WithoutEnd {
    user: String,
    at: String,
}

fn main() {}
