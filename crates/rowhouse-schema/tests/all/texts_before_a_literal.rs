//! Compares every short text with every short text, before literals with one to three bytes: the
//! plans are exact.

use rowhouse_schema::{KeySchema, Predicate};

const ALPHABET: &[&str] = &["a", "b", "!", "é"];
const LITERALS: &[&str] =
    &["!", "a", "b", "~", "aa", "ab", "ba", "!!", "b!", "aba", "aab", "a!a", r"\x00", r"\xC3"];

fn texts(len_max: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut longest = texts.clone();
    for _ in 0..len_max {
        longest = longest
            .iter()
            .flat_map(|text| ALPHABET.iter().map(move |c| format!("{text}{c}")))
            .collect();
        texts.extend_from_slice(&longest);
    }
    texts
}

type Test = (&'static str, fn(&str, &str) -> bool);

const TESTS: &[Test] = &[
    ("=", |a, b| a == b),
    ("<", |a, b| a < b),
    ("<=", |a, b| a <= b),
    (">", |a, b| a > b),
    (">=", |a, b| a >= b),
    ("starts with", |a, b| a.starts_with(b)),
];

#[test]
fn plans_hold_exactly_the_keys_that_match() {
    let mut cases = 0;
    for literal in LITERALS {
        for prefix in ["", "p", r"\xFF"] {
            let schema =
                KeySchema::parse(&format!("{prefix}[t text]{literal}[rest text]")).unwrap();
            let keys: Vec<_> = texts(3)
                .into_iter()
                .flat_map(|t| {
                    ["", "a", "b~", "!b", literal.trim_start_matches('\\')]
                        .map(|rest| (t.clone(), rest))
                })
                .filter_map(|(t, rest)| {
                    let key = schema.encode(&[("t", t.as_str().into()), ("rest", rest.into())]);
                    key.ok().map(|key| (t, key))
                })
                .collect();
            assert!(keys.len() > 50, "{schema}");
            for constant in texts(3) {
                for (sign, test) in TESTS {
                    let query = Predicate::parse(&format!("t {sign} '{constant}'")).unwrap();
                    let plan = schema.plan(&query).unwrap();
                    assert!(plan.is_exact());
                    for (t, key) in &keys {
                        let is_in_ranges = plan.ranges().iter().any(|range| range.contains(key));
                        assert_eq!(
                            is_in_ranges,
                            test(t, &constant),
                            "{schema} {query} {key:?}\n{plan}"
                        );
                        cases += 1;
                    }
                }
            }
        }
    }
    assert!(cases > 1_000_000, "{cases}");
}
