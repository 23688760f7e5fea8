//! The bytes for every type and modifier, with one value each. The bytes for numbers, floats and
//! hashes were computed with Python's struct, hashlib and zlib.

use rowhouse_model::escape;
use rowhouse_schema::{Date, KeySchema, Time, Uuid, Value};

/// Checks that the value encodes to these bytes, and that they decode to it.
#[track_caller]
fn check(field: &str, value: impl Into<Value>, key: &str) {
    let value = value.into();
    let schema = KeySchema::parse(&format!("[f {field}]")).unwrap();
    let encoded = schema.encode(&[("f", value.clone())]).unwrap();
    assert_eq!(escape(&encoded), key, "{field}");
    assert_eq!(schema.decode(&encoded).unwrap()["f"].to_string(), value.to_string(), "{field}");
}

/// Checks a value for which the key holds only `stored`.
#[track_caller]
fn check_stored(field: &str, value: impl Into<Value>, key: &str, stored: impl Into<Value>) {
    let schema = KeySchema::parse(&format!("[f {field}]")).unwrap();
    let encoded = schema.encode(&[("f", value.into())]).unwrap();
    assert_eq!(escape(&encoded), key, "{field}");
    assert_eq!(schema.decode(&encoded).unwrap()["f"], stored.into(), "{field}");
}

#[test]
fn dates_and_calendars() {
    let date = |text| Date::parse(text).unwrap();
    let time = |text| Time::parse(text).unwrap();
    check("date", date("1970-01-01"), r"\x80\x00\x00\x00");
    check("date", date("2022-12-01"), r"\x80\x00K\x7F");
    check("date", date("1969-12-31"), r"\x7F\xFF\xFF\xFF");
    check("date desc", date("1970-01-01"), r"\x7F\xFF\xFF\xFF");
    check("ymd", date("2022-12-01"), "20221201");
    check("ymd", date("0000-01-01"), "00000101");
    check("ymd", date("9999-12-31"), "99991231");
    // Nines' complement: 99999999 - 20221201
    check("ymd desc", date("2022-12-01"), "79778798");
    check("ymd reverse", date("2022-12-01"), "10212202");
    check("ymdhm", time("2022-12-01T08:25"), "202212010825");
    check("ymdhms", time("2022-12-01T08:25:30"), "20221201082530");
    check_stored(
        "ymdhms floor 1h",
        time("2022-12-01T08:25:30"),
        "20221201080000",
        time("2022-12-01T08"),
    );
}

#[test]
fn floats() {
    check("f64", 0.0, r"\x80\x00\x00\x00\x00\x00\x00\x00");
    check("f64", -0.0, r"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    check("f64", 1.5, r"\xBF\xF8\x00\x00\x00\x00\x00\x00");
    check("f64", -1.5, r"@\x07\xFF\xFF\xFF\xFF\xFF\xFF");
    check("f64 desc", 1.5, r"@\x07\xFF\xFF\xFF\xFF\xFF\xFF");
    check("f32", 1.5_f32, r"\xBF\xC0\x00\x00");
    check("f32", f64::NEG_INFINITY, r"\x00\x7F\xFF\xFF");
    check("f32 hex", 1.5_f32, "bfc00000");
}

#[test]
fn small_types() {
    check("bool", false, r"\x00");
    check("bool", true, r"\x01");
    check("bool desc", true, r"\xFE");
    check("enum(low,high)", "high", r"\x01");
    check("enum(low,mid=7,high)", "mid", r"\x07");
    check("enum(low,mid=7,high)", "high", r"\x02");
    check("enum(low,high) desc", "low", r"\xFF");
    let address = std::net::Ipv4Addr::new(192, 168, 0, 1);
    check("ipv4", address, r"\xC0\xA8\x00\x01");
    check("ipv4", "192.168.0.1", r"\xC0\xA8\x00\x01");
    check("ipv4 hex", address, "c0a80001");
    check("ipv4 reverse", address, r"\x01\x00\xA8\xC0");
    check("ipv4 desc", address, r"?W\xFF\xFE");
    let uuid = Uuid::parse("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap();
    check("uuid", uuid, r"g\xE5PD\x10\xB1Bo\x92G\xBBh\x0E_\xE0\xC8");
    check("uuid hex", uuid, "67e5504410b1426f9247bb680e5fe0c8");
    check("uuid reverse", uuid, r"\xC8\xE0_\x0Eh\xBBG\x92oB\xB1\x10DP\xE5g");
    check("uuid hex desc", uuid, "981aafbbef4ebd906db84497f1a01f37");
}

#[test]
fn bytes() {
    check("bytes 3", vec![0, 1, 255], r"\x00\x01\xFF");
    check("bytes 3 desc", vec![0, 1, 255], r"\xFF\xFE\x00");
    check("bytes 2 hex", vec![10, 255], "0aff");
    check("hex 8", "df887e44", "df887e44");
    check("hex 3 upper", "0AF", "0AF");
    check("hex 8 reverse", "df887e44", "44e788fd");
    check("blob", vec![1, 0, 2], r"\x01\x00\xFF\x02\x00\x01");
    check("blob", Vec::<u8>::new(), r"\x00\x01");
    check("blob desc", vec![1, 0], r"\xFE\xFF\x00\xFF\xFE");
}

#[test]
fn texts() {
    check("text 6", "bob", r"bob\x00\x00\x00");
    check("text 6 pad ~", "bob", "bob~~~");
    check(r"text 6 pad \x20", "bob", "bob   ");
    check("text 3 desc", "bo", r"\x9D\x90\xFF");
    check("text 6 reverse", "aé", r"\xC3\xA9a\x00\x00\x00");
    check("text reverse", "user1", "1resu");
    check("string reverse", "ab", r"ba\x00\x01");
    check("domain", "www.example.com", "com.example.www");
    check("domain", "com", "com");
    check("domain", ".a..b", "b..a.");
    check("decimal", 0, "0");
    check("decimal", 1024, "1024");
    check("decimal reverse", 1230, "0321");
}

#[test]
fn numbers_as_text() {
    check("u32 hex", 48_879, "0000beef");
    check("i8 hex", -1, "7f");
    check("u16 hex desc", 1, "fffe");
    check("u8 digits", 7, "007");
    check("digits 11 reverse", 13_912_345_678_u64, "87654321931");
    check("u32 reverse", 1, r"\x01\x00\x00\x00");
    check_stored("u32 floor 100", 1234, r"\x00\x00\x04\xB0", 1200_u32);
    check_stored("i8 floor 10", -11, "l", -20_i8);
    // Below the first step there is only the minimum.
    check_stored("i8 floor 100", -128, r"\x00", -128_i8);
}

#[test]
fn nulls() {
    check("u8 null first", Value::Null, r"\x00");
    check("u8 null first", 7, r"\x01\x07");
    check("u8 null last", Value::Null, r"\x01");
    check("u8 desc null last", 7, r"\x00\xF8");
    check("string null first", "a", r"\x01a\x00\x01");
}

#[test]
fn lists() {
    let pair = |a: u8, b: u8| Value::List(vec![a.into(), b.into()]);
    check("repeat(u8 u8)", vec![pair(1, 2), pair(3, 4)], r"\x01\x02\x03\x04");
    check("repeat(u16)", vec![Value::from(1_u8), 2_u8.into()], r"\x00\x01\x00\x02");
    let named = Value::List(vec!["ab".into(), true.into()]);
    check("repeat(text 2 bool)", vec![named], r"ab\x01");
}

#[test]
fn hashes() {
    let hashed = |hex: &str| {
        let bytes = (0..hex.len()).step_by(2);
        Value::Hashed(bytes.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect())
    };
    check_stored("text md5 4 hex", "abc", "90015098", hashed("90015098"));
    check_stored("text sha1 2", "abc", r"\xA9\x99", hashed("a999"));
    check_stored("text sha256 2", "abc", r"\xBAx", hashed("ba78"));
    check_stored("text crc32 4 hex", "123456789", "cbf43926", hashed("cbf43926"));
    check_stored("text murmur3 4 hex", "abc", "b3dd93fa", hashed("b3dd93fa"));
    check_stored("text xxh3 8 hex", "abc", "78af5f94892f3950", hashed("78af5f94892f3950"));
    // From the number's eight bytes, and from the digits.
    check_stored("i64 md5 4 hex", -5, "ff8ad698", hashed("ff8ad698"));
    check_stored("digits 3 md5 4 hex", 7, "9e94b15e", hashed("9e94b15e"));
}

#[test]
fn computed_fields() {
    let check = |template: &str, key: &str| {
        let schema = KeySchema::parse(template).unwrap();
        let values = [("user", Value::from("bob")), ("n", 7.into())];
        let encoded = schema.encode(&values).unwrap();
        assert_eq!(escape(&encoded), key, "{template}");
        assert_eq!(schema.decode(&encoded).unwrap().encode().unwrap(), encoded, "{template}");
    };
    let user = r"bob\x00\x01\x07";
    // xxh3_64("bob") = 1403c0c40f49b8e5
    check("[bucket 16 of user][user string][n u8]", &format!(r"\x05{user}"));
    check("[bucket 16 of user hex][user string][n u8]", &format!("5{user}"));
    check("[bucket 12 of user digits][user string][n u8]", &format!("09{user}"));
    check("[bucket 1000 of user][user string][n u8]", &format!(r"\x01\x8D{user}"));
    check("[hash 4 of user hex][user string][n u8]", &format!("1403c0c4{user}"));
    // md5("bob") = 9f9d51bc…, md5("bob\x07"), zlib.crc32(b"bob\x00\x01\x07") % 4
    check("[hash 2 of user by md5][user string][n u8]", &format!(r"\x9F\x9D{user}"));
    check("[hash 4 of user,n by md5 hex][user string][n u8]", &format!("d35378a4{user}"));
    check("[bucket 4 by crc32][user string][n u8]", &format!(r"\x00{user}"));
    check("[bucket 4 of rest by crc32][user string][n u8]", &format!(r"\x00{user}"));
    check("[user string][n u8][bucket 16 of user]", &format!(r"{user}\x05"));
}
