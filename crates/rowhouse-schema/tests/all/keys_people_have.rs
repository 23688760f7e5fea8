//! Keys as found in existing tables. The bytes come from the Java expressions in the comments, run
//! by Java 17; `bytes` is HBase's `Bytes.toBytes(long)`.

use expect_test::{Expect, expect};
use rowhouse_model::escape;
use rowhouse_schema::{KeySchema, Predicate, Time, Value};

/// Checks that these values encode to this key, and that it decodes to them.
fn check<const N: usize>(template: &str, values: [(&str, Value); N], key: &str) {
    let schema = KeySchema::parse(template).unwrap();
    let encoded = schema.encode(&values).unwrap();
    assert_eq!(escape(&encoded), key, "{template}");
    let decoded = schema.decode(&encoded).unwrap();
    assert_eq!(decoded.encode().unwrap(), encoded, "{template}");
    let again = values.map(|(name, _)| (name, decoded[name].clone()));
    assert_eq!(schema.encode(&again).unwrap(), encoded, "{template}");
}

fn plan(template: &str, query: &str, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    let predicate = Predicate::parse(query).unwrap();
    expected.assert_eq(&schema.plan(&predicate).unwrap().to_string());
}

/// 2022-12-01T00:00:00.000Z
const DECEMBER: i64 = 1_669_852_800_000;
/// 2023-01-01T00:00:00.000Z
const JANUARY: i64 = 1_672_531_200_000;

const POSTS: &str = "[blogger text]_[at millis digits desc]";

#[test]
fn posts_of_a_blogger_newest_first() {
    let post = |at: i64| [("blogger", "123".into()), ("at", Time::from_millis(at).into())];
    // "123_" + (Long.MAX_VALUE - ts)
    check(POSTS, post(DECEMBER - 1), "123_9223370367001975808");
    check(POSTS, post(DECEMBER), "123_9223370367001975807");
    check(POSTS, post(JANUARY - 1), "123_9223370364323575808");
    check(POSTS, post(JANUARY), "123_9223370364323575807");
    check(POSTS, post(0), "123_9223372036854775807");
    // The greatest time whose text has nineteen digits.
    check(POSTS, post(8_223_372_036_854_775_807), "123_1000000000000000000");
    let schema = KeySchema::parse(POSTS).unwrap();
    let beyond = schema.encode(&post(8_223_372_036_854_775_808)).unwrap_err();
    assert_eq!(
        beyond.to_string(),
        "field `at`: value out of range: value=+260590256-02-14T05:26:15.808Z, \
         millis=8223372036854775808, min=0, max=8223372036854775807"
    );
}

#[test]
fn posts_of_december_2022() {
    let query = "blogger = '123' and at during 2022-12";
    plan(
        POSTS,
        query,
        expect![[r#"
        ranges: 1
          [123_9223370364323575808, 123_9223370367001975808)
        residual: none, the ranges are exact
        order: blogger ascending, at descending (newest first)
    "#]],
    );
    let schema = KeySchema::parse(POSTS).unwrap();
    let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
    let covers = |at: i64| {
        let key = schema.encode(&[("blogger", "123".into()), ("at", at.into())]).unwrap();
        plan.ranges()[0].contains(&key)
    };
    assert!(!covers(DECEMBER - 1));
    assert!(covers(DECEMBER));
    assert!(covers(JANUARY - 1));
    assert!(!covers(JANUARY));
    let stop = schema.encode(&[("blogger", "1234".into()), ("at", DECEMBER.into())]).unwrap();
    assert!(!plan.ranges()[0].contains(&stop));
}

#[test]
fn names_without_a_delimiter_are_separated_by_length() {
    let template = "[blogger text][at millis digits desc]";
    // "CSDN_1" + (Long.MAX_VALUE - ts)
    check(
        template,
        [("blogger", "CSDN_1".into()), ("at", DECEMBER.into())],
        "CSDN_19223370367001975807",
    );
    plan(
        template,
        "blogger = 'CSDN_1' and at during 2022-12",
        expect![[r#"
        ranges: 1
          [CSDN_19223370364323575808, CSDN_19223370367001975808)
        residual: blogger = 'CSDN_1'
        order: blogger ascending, at descending (newest first)
    "#]],
    );
    plan(
        template,
        "blogger = 'CSDN_1' and at = 2022-12-01",
        expect![[r#"
        ranges: 1
          row CSDN_19223370367001975807
        residual: none, the ranges are exact
        order: blogger ascending, at descending (newest first)
    "#]],
    );
    plan(
        template,
        "blogger >= 'CSDN_1'",
        expect![[r#"
        ranges: 1
          [CSDN_1, …)
        residual: blogger >= 'CSDN_1'
        order: by the bytes of the key
    "#]],
    );
    plan(
        template,
        "blogger < 'CSDN_1'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: blogger < 'CSDN_1'
        order: by the bytes of the key
    "#]],
    );
    plan(
        template,
        "blogger starts with 'CSDN_'",
        expect![[r#"
        ranges: 1
          [CSDN_, CSDN`)
        residual: blogger starts with 'CSDN_'
        order: by the bytes of the key
    "#]],
    );
}

#[test]
fn metrics() {
    let template = "[metric text]#[at millis digits 13]";
    // "cpu" + "#" + 1425330757685L
    let at = |at: i64| ("at", at.into());
    check(template, [("metric", "cpu".into()), at(1425330757685)], "cpu#1425330757685");
    check(template, [("metric", "memusage".into()), at(1423523569918)], "memusage#1423523569918");
    // String.format("%013d", 42)
    check(template, [("metric", "cpu".into()), at(42)], "cpu#0000000000042");
    plan(
        template,
        "metric = 'cpu' and at >= 2015-03-02T21:12 and at < 2015-03-02T22",
        expect![[r#"
            ranges: 1
              [cpu#1425330720000, cpu#1425333600000)
            residual: none, the ranges are exact
            order: metric ascending, at ascending
        "#]],
    );
    plan(
        template,
        "metric < 'cpu$x'",
        expect![[r#"
        ranges: 1
          […, cpu$x)
        residual: none, the ranges are exact
        order: metric ascending as stored, at ascending
    "#]],
    );
    plan(
        template,
        "metric >= 'cpu$x'",
        expect![[r#"
        ranges: 1
          [cpu$x, …)
        residual: none, the ranges are exact
        order: metric ascending as stored, at ascending
    "#]],
    );
    plan(
        template,
        "metric starts with 'cpu'",
        expect![[r#"
        ranges: 1
          [cpu, cpv)
        residual: none, the ranges are exact
        order: metric ascending as stored, at ascending
    "#]],
    );
    plan(
        template,
        "at during 2015-03",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: at during 2015-03
        order: metric ascending as stored, at ascending
    "#]],
    );

    let reversed = "[at millis digits 13]#[metric text]";
    check(reversed, [at(1425330757685), ("metric", "cpu".into())], "1425330757685#cpu");
    plan(
        reversed,
        "at during 2015-03-02 and metric = 'cpu'",
        expect![[r#"
        ranges: 1
          [1425254400000, 1425340800000)
        residual: metric = 'cpu'
        order: at ascending, metric ascending
    "#]],
    );
    plan(
        reversed,
        "at = 1425330757685 and metric > 'cpu'",
        expect![[r#"
        ranges: 1
          [1425330757685#cpu\x00, 1425330757685$)
        residual: none, the ranges are exact
        order: at ascending, metric ascending
    "#]],
    );
    plan(
        reversed,
        "at = 1425330757685 and metric <= 'cpu'",
        expect![[r#"
        ranges: 1
          [1425330757685#, 1425330757685#cpu\x00)
        residual: none, the ranges are exact
        order: at ascending, metric ascending
    "#]],
    );
}

#[test]
fn numbers_in_binary() {
    let at = || ("at", Value::from(DECEMBER));
    // "bob" + bytes(Long.MAX_VALUE - ts)
    check(
        "[user text][at millis desc]",
        [("user", "bob".into()), at()],
        r"bob\x7F\xFF\xFE{5\x04[\xFF",
    );
    // bytes(ts)
    check("[at millis]", [at()], r"\x00\x00\x01\x84\xCA\xFB\xA4\x00");
    // bytes((int) (ts / 1000)), as an unsigned number
    let december = || ("at", Value::from("2022-12-01"));
    check("[at seconds 4]", [december()], r"c\x87\xEE\x80");
    check("[at seconds 4]", [("at", "2100-01-01".into())], r"\xF4\x86W\x00");
    // String.format("%020d", Long.MAX_VALUE - ts)
    check("[at millis digits 20 desc]", [at()], "09223370367001975807");
    // String.format("%010d", 0xFFFFFFFFL - 7)
    check("[n u32 digits desc]", [("n", 7.into())], "4294967288");
    // bytes(Long.MIN_VALUE ^ -5)
    check("[n i64]", [("n", (-5).into())], r"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFB");
    // bytes(~7)
    check("[n u64 desc]", [("n", 7.into())], r"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xF8");
    check("[n u24][m i8 desc]", [("n", 66051.into()), ("m", (-128).into())], r"\x01\x02\x03\xFF");
    // Nines' complement.
    check("[n digits 4 desc]", [("n", 1.into())], "9998");
    check("[at millis digits 13 desc]", [("at", 1425330757685_i64.into())], "8574669242314");
}

#[test]
fn strings_end_by_themselves() {
    let template = "[user string][at millis desc]";
    let at = || ("at", Value::from(DECEMBER));
    check(template, [("user", "bob".into()), at()], r"bob\x00\x01\x7F\xFF\xFE{5\x04[\xFF");
    check("[user string]", [("user", "a\0b".into())], r"a\x00\xFFb\x00\x01");
    check("[user string desc]", [("user", "a\0".into())], r"\x9E\xFF\x00\xFF\xFE");
    plan(
        template,
        "user = 'bob' and at during 2022-12",
        expect![[r#"
        ranges: 1
          [bob\x00\x01\x7F\xFF\xFEz\x95_8\x00, bob\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first)
    "#]],
    );
    plan(
        template,
        "user in ('bob', 'al') and at >= 2022-12-01",
        expect![[r#"
        ranges: 2
          [al\x00\x01, al\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
          [bob\x00\x01, bob\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first)
    "#]],
    );
    plan(
        template,
        "user > 'bob'",
        expect![[r#"
        ranges: 1
          [bob\x00\x02, …)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first)
    "#]],
    );
    plan(
        "[user string desc]-[n u8]",
        "user > 'bob'",
        expect![[r#"
        ranges: 1
          […, \x9D\x90\x9D\xFF\xFE)
        residual: none, the ranges are exact
        order: user descending, n ascending
    "#]],
    );
    plan(
        "[user string desc]-[n u8]",
        "user starts with 'bo'",
        expect![[r#"
        ranges: 1
          [\x9D\x90, \x9D\x91)
        residual: none, the ranges are exact
        order: user descending, n ascending
    "#]],
    );
}

/// Keys computed with Python's hashlib and struct, by the expressions in the comments.
#[test]
fn two_hashes_as_text() {
    // "df887e44b0452e5c"
    let stored = "[followed hex 8][follower hex 8]";
    check(
        stored,
        [("followed", "df887e44".into()), ("follower", "b0452e5c".into())],
        "df887e44b0452e5c",
    );
    let hashed = "[followed text md5 4 hex][follower text md5 4 hex]";
    // md5("alice")[:8] + md5("bob")[:8]
    check(hashed, [("followed", "alice".into()), ("follower", "bob".into())], "6384e2b29f9d51bc");
    plan(
        hashed,
        "followed = 'alice'",
        expect![[r#"
            ranges: 1
              [6384e2b2, 6384e2b3)
            residual: none, the ranges are exact
            order: followed ascending, follower ascending as stored
            note: keys hold only the hash of followed, which other values have too
        "#]],
    );
    plan(
        hashed,
        "hash(followed) = 0x6384e2b2 and follower in ('bob', 'eve')",
        expect![[r#"
            ranges: 2
              row 6384e2b29f9d51bc
              row 6384e2b2fa6a91ef
            residual: none, the ranges are exact
            order: followed ascending, follower ascending as stored
            note: keys hold only the hash of followed, which other values have too
            note: keys hold only the hash of follower, which other values have too
        "#]],
    );
}

#[test]
fn a_phone_number_in_reverse() {
    let template = "[phone digits 11 reverse]";
    check(template, [("phone", 13_912_345_678_u64.into())], "87654321931");
    plan(
        template,
        "phone = 13912345678",
        expect![[r#"
        ranges: 1
          row 87654321931
        residual: none, the ranges are exact
        order: phone ascending
    "#]],
    );
    plan(
        template,
        "phone between 13900000000 and 13999999999",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: phone between 13900000000 and 13999999999
        order: phone ascending as stored
    "#]],
    );
}

#[test]
fn a_domain_in_reverse() {
    let template = "[host domain]";
    check(template, [("host", "www.example.com".into())], "com.example.www");
    plan(
        template,
        "host under 'example.com'",
        expect![[r#"
        ranges: 2
          row com.example
          [com.example., com.example/)
        residual: none, the ranges are exact
        order: host ascending as stored
    "#]],
    );
    plan(
        template,
        "host ends with '.com'",
        expect![[r#"
        ranges: 1
          [com., com/)
        residual: none, the ranges are exact
        order: host ascending as stored
    "#]],
    );
    plan(
        template,
        "host ends with 'ample.com'",
        expect![[r#"
        ranges: 1
          [com., com/)
        residual: host ends with 'ample.com'
        order: host ascending as stored
    "#]],
    );
    plan(
        template,
        "host starts with 'www.'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: host starts with 'www.'
        order: host ascending as stored
    "#]],
    );
}

#[test]
fn a_random_salt_in_front() {
    let template = "[salt 4 a-d as shard]-[id text]";
    check(template, [("shard", "a".into()), ("id", "foo0003".into())], "a-foo0003");
    plan(
        template,
        "id = 'foo0003'",
        expect![[r#"
        ranges: 4, in 4 streams
          a: row a-foo0003
          b: row b-foo0003
          c: row c-foo0003
          d: row d-foo0003
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
    "#]],
    );
    plan(
        template,
        "id starts with 'foo' and shard = 'b'",
        expect![[r#"
        ranges: 1
          b: [b-foo, b-fop)
        residual: none, the ranges are exact
        order: id ascending
    "#]],
    );
    let schema = KeySchema::parse("[salt 4 a-d]-[id text]").unwrap();
    let id = [("id", "foo0003".into())];
    let keys: Vec<_> = schema.encode_all(&id).unwrap().iter().map(|key| escape(key)).collect();
    assert_eq!(keys, ["a-foo0003", "b-foo0003", "c-foo0003", "d-foo0003"]);
    expect!["`salt 4 a-d`: no salt given: name it (`as shard`) and give it, or use a random one"]
        .assert_eq(&schema.encode(&id).unwrap_err().to_string());
}

#[test]
fn sixteen_buckets_by_user_newest_first() {
    let template = "[bucket 16 of user][user string][at millis desc]";
    let at = || ("at", Value::from(DECEMBER));
    // xxh3_64("bob") % 16, then the key without the bucket
    check(template, [("user", "bob".into()), at()], r"\x05bob\x00\x01\x7F\xFF\xFE{5\x04[\xFF");
    plan(
        template,
        "user = 'bob' and at during 2022-12",
        expect![[r#"
        ranges: 1
          5: [\x05bob\x00\x01\x7F\xFF\xFEz\x95_8\x00, \x05bob\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first)
    "#]],
    );
    plan(
        template,
        "user in ('bob', 'al') and at >= 2022-12-01",
        expect![[r#"
        ranges: 2, in 2 streams
          5: [\x05bob\x00\x01, \x05bob\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
          13: [\x0Dal\x00\x01, \x0Dal\x00\x01\x7F\xFF\xFE{5\x04\x5C\x00)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first); merged from the buckets
    "#]],
    );
    plan(
        template,
        "user starts with 'b'",
        expect![[r#"
        ranges: 16, in 16 streams
          0: [\x00b, \x00c)
          1: [\x01b, \x01c)
          2: [\x02b, \x02c)
          3: [\x03b, \x03c)
          4: [\x04b, \x04c)
          5: [\x05b, \x05c)
          6: [\x06b, \x06c)
          7: [\x07b, \x07c)
          8: [\x08b, \x08c)
          9: [\x09b, \x09c)
          10: [\x0Ab, \x0Ac)
          11: [\x0Bb, \x0Bc)
          12: [\x0Cb, \x0Cc)
          13: [\x0Db, \x0Dc)
          14: [\x0Eb, \x0Ec)
          15: [\x0Fb, \x0Fc)
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first); merged from the buckets
    "#]],
    );
    plan(
        template,
        "at during 2022-12",
        expect![[r#"
        ranges: 16, in 16 streams, reads the whole table
          0: [\x00, \x01)
          1: [\x01, \x02)
          2: [\x02, \x03)
          3: [\x03, \x04)
          4: [\x04, \x05)
          5: [\x05, \x06)
          6: [\x06, \x07)
          7: [\x07, \x08)
          8: [\x08, \x09)
          9: [\x09, \x0A)
          10: [\x0A, \x0B)
          11: [\x0B, \x0C)
          12: [\x0C, \x0D)
          13: [\x0D, \x0E)
          14: [\x0E, \x0F)
          15: [\x0F, \x10)
        residual: at during 2022-12
        order: user ascending, at descending (newest first); merged from the buckets
    "#]],
    );
}

#[test]
fn mails_by_user_day_and_number() {
    let template = "[user text 8]-[date ymd]-[message digits 10]";
    check(
        template,
        [("user", "user0001".into()), ("date", "2022-12-01".into()), ("message", 42.into())],
        "user0001-20221201-0000000042",
    );
    plan(
        template,
        "user = 'user0001' and date during 2022-12",
        expect![[r#"
        ranges: 1
          [user0001-20221201, user0001-20230101)
        residual: none, the ranges are exact
        order: user ascending, date ascending, message ascending
    "#]],
    );
    plan(
        template,
        "user = 'user0001' and date = 2022-12-01 and message < 100",
        expect![[r#"
        ranges: 1
          [user0001-20221201-, user0001-20221201-0000000100)
        residual: none, the ranges are exact
        order: user ascending, date ascending, message ascending
    "#]],
    );
}

#[test]
fn md5_of_everything() {
    // md5("foo0003") + "foo0003"
    let both = "[hash 16 of id by md5][id text]";
    let digest = r"\xB6\x1D\x00z7j\xC9\x14\xB7\xFBP\xCA\x17)h\xAA";
    check(both, [("id", "foo0003".into())], &format!("{digest}foo0003"));
    plan(
        both,
        "id = 'foo0003'",
        expect![[r#"
        ranges: 1
          x'b61d007a376ac914b7fb50ca172968aa': row \xB6\x1D\x00z7j\xC9\x14\xB7\xFBP\xCA\x17)h\xAAfoo0003
        residual: none, the ranges are exact
        order: id ascending
    "#]],
    );
    plan(
        both,
        "id starts with 'foo'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: id starts with 'foo'
        order: physical, by the bytes of the key
    "#]],
    );
    let hash = "[id text md5 16]";
    check(hash, [("id", "foo0003".into())], digest);
    plan(
        hash,
        "id = 'foo0003'",
        expect![[r#"
            ranges: 1
              row \xB6\x1D\x00z7j\xC9\x14\xB7\xFBP\xCA\x17)h\xAA
            residual: none, the ranges are exact
            order: id ascending
            note: keys hold only the hash of id, which other values have too
        "#]],
    );
}

#[test]
fn opentsdb() {
    let template = "[metric u24][base seconds 4 floor 1h][tags repeat(u24 u24)]";
    let tag = |key: u32, value: u32| Value::List(vec![key.into(), value.into()]);
    let row = [
        ("metric", 1.into()),
        ("base", "2022-12-01T08:25:30".into()),
        ("tags", Value::List(vec![tag(1, 2), tag(3, 4)])),
    ];
    // struct.pack(">I", 1)[1:] + struct.pack(">I", ts - ts % 3600) + tags
    check(template, row, r"\x00\x00\x01c\x88_\x00\x00\x00\x01\x00\x00\x02\x00\x00\x03\x00\x00\x04");
    plan(
        template,
        "metric = 1 and base >= 2022-12-01T08:25 and base < 2022-12-01T10:00",
        expect![[r#"
            ranges: 1
              [\x00\x00\x01c\x88_\x00, \x00\x00\x01c\x88{ )
            residual: none, the ranges are exact
            order: metric ascending, base ascending as stored, tags ascending as stored
            note: keys hold only the step of base, which other values have too
        "#]],
    );
    plan(
        template,
        "metric = 1 and base during 2022-12-01T08 and tags starts with ((1, 2))",
        expect![[r#"
            ranges: 1
              [\x00\x00\x01c\x88_\x00\x00\x00\x01\x00\x00\x02, \x00\x00\x01c\x88_\x00\x00\x00\x01\x00\x00\x03)
            residual: none, the ranges are exact
            order: metric ascending, base ascending as stored, tags ascending as stored
            note: keys hold only the step of base, which other values have too
        "#]],
    );
    plan(
        template,
        "metric = 1 and tags = ((1, 2), (3, 4))",
        expect![[r#"
        ranges: 1
          [\x00\x00\x01, \x00\x00\x02)
        residual: tags = ((1, 2), (3, 4))
        order: metric ascending, base ascending as stored, tags ascending
    "#]],
    );
}
