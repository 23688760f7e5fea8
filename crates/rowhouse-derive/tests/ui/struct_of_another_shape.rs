use rowhouse_derive::RowKey;

#[derive(RowKey)]
struct WithoutTemplate {
    user: String,
}

#[derive(RowKey)]
#[key("[user string]")]
#[key("[user text]")]
struct TwoTemplates {
    user: String,
}

#[derive(RowKey)]
#[key("[user string]")]
struct Tuple(String);

#[derive(RowKey)]
#[key("[user string]")]
enum Enum {
    User { user: String },
}

#[derive(RowKey)]
#[key("[user string]")]
struct OfAnything<T> {
    user: T,
}

#[derive(RowKey)]
#[key(user string)]
struct NoText {
    user: String,
}

#[derive(RowKey)]
#[key("[user string]")]
struct FieldAttribute {
    #[key("user")]
    user: String,
}

fn main() {}
