use rowhouse_derive::RowKey;

#[derive(RowKey)]
#[key("[user string][at millis desc]")]
struct Post {
    usr: String,
    at: u64,
    title: String,
}

fn main() {}
