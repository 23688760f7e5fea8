//! Tests measuring keys.

use expect_test::expect;

use super::{check, run_key};

#[test]
fn every_kind_of_template_can_be_measured() {
    for template in [
        super::BLOG,
        "[user string][at millis desc]",
        "[bucket 16 of user][user string][at millis desc]",
        "[salt 4 a-d]-[id text]",
        "[followed text md5 4 hex][follower text md5 4 hex]",
        "[phone digits 11 reverse]",
        "[host domain]",
        "[metric u24][base seconds 4 floor 1h][tags repeat(u24 u24)]",
        "[id uuid][day ymd][f f32][s enum(a,b)][b bool][x bytes 3][h hex 5 upper]",
        "[n decimal]_[t text 8 pad ~][d date][e blob]",
        "[a u8 null first][at micros digits 16][c i64 desc][m ymdhm][g f64]",
        "[a java.long][b java.boolean][c java.double]",
        "[a phoenix.varchar][b phoenix.char 8][c phoenix.date][d phoenix.decimal]",
        "[a kiji.string][b ordered.string][c tuple.uuid][d ordered.numeric][e tuple.bytes]",
    ] {
        let output = run_key(&[template, "bench", "--json"], b"");
        let document: serde_json::Value = serde_json::from_str(&output).expect(&output);
        for measure in ["encode_ns", "decode_ns", "key_bytes"] {
            let measure = document[measure].as_f64().unwrap();
            assert!(measure > 0.5, "{template}: {output}");
        }
    }
}

#[test]
fn a_measure_is_printed_with_its_unit() {
    let output = run_key(&["[n u64]", "bench"], b"");
    let lines: Vec<_> = output.lines().collect();
    assert!(lines[0].starts_with("encode ") && lines[0].ends_with(" ns"), "{output}");
    assert!(lines[1].starts_with("decode ") && lines[1].ends_with(" ns"), "{output}");
    assert_eq!(lines[2], "a key      8.0 bytes");
}

#[test]
fn a_template_that_holds_nothing_that_is_drawn_is_not_measured() {
    check(
        &["[host domain].[n u8]", "bench"],
        expect![[r#"
            rowhouse: no random values fit the template: field `host`: a value cannot contain the literal after the field, it would end there: value='com.example.ufjsfk.hyg', literal=.
            exit status 2
        "#]],
    );
}
