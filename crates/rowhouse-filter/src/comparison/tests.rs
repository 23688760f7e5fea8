use rowhouse_model::{ErrorKind, RegexPattern};

use super::*;

fn matches(operator: CompareOperator, comparator: Comparator, bytes: &[u8]) -> bool {
    ComparisonRun::new(&Comparison { operator, comparator }).unwrap().try_matches(bytes).unwrap()
}

#[test]
fn the_operator_says_how_the_bytes_stand_to_the_comparator() {
    use CompareOperator::*;
    for (operator, less, equal, greater) in [
        (Less, true, false, false),
        (LessOrEqual, true, true, false),
        (Equal, false, true, false),
        (NotEqual, true, false, true),
        (GreaterOrEqual, false, true, true),
        (Greater, false, false, true),
        (NoOp, false, false, false),
    ] {
        let binary = || Comparator::Binary("m".into());
        assert_eq!(matches(operator, binary(), b"a"), less, "{operator:?}");
        assert_eq!(matches(operator, binary(), b"m"), equal, "{operator:?}");
        assert_eq!(matches(operator, binary(), b"\xFF"), greater, "{operator:?}");
    }
}

#[test]
fn each_comparator_knows_its_equals() {
    use BitOperator::*;
    let bits = |operator| Comparator::Bit { value: vec![0b0110, 0].into(), operator };
    let part = |offset| Comparator::BinaryComponent { value: "bc".into(), offset };
    let number = |scale: i32, unscaled: u8| [&scale.to_be_bytes()[..], &[unscaled]].concat();
    for (comparator, bytes, equal) in [
        (Comparator::Binary("".into()), &b""[..], true),
        (Comparator::BinaryPrefix("ab".into()), b"abc", true),
        (Comparator::BinaryPrefix("ab".into()), b"a", false),
        (part(1), b"abcd", true),
        (part(0), b"abcd", false),
        (part(3), b"abcd", false),
        (part(9), b"abcd", false),
        (Comparator::Substring("ÄB".into()), "xäbY".as_bytes(), true),
        (Comparator::Substring("ab".into()), b"a-b", false),
        (Comparator::Null, b"", false),
        (bits(And), &[0b0010, 1], true),
        (bits(And), &[0b1001, 1], false),
        (bits(Or), &[0, 0], true),
        (bits(Xor), &[0b0110, 0], false),
        (bits(Or), &[1], false),
        (Comparator::Long(-1), &[0xFF; 8], true),
        (Comparator::BigDecimal(number(1, 10).into()), &number(0, 1), true),
    ] {
        let text = format!("{comparator:?} {bytes:?}");
        assert_eq!(matches(CompareOperator::Equal, comparator, bytes), equal, "{text}");
    }
}

#[test]
fn longs_compare_with_their_sign() {
    let long = |number: i64| number.to_be_bytes();
    assert!(matches(CompareOperator::Less, Comparator::Long(1), &long(-5)));
    assert!(matches(CompareOperator::Greater, Comparator::Long(i64::MIN), &long(0)));
}

#[test]
fn incomparable_value_is_an_error_and_matches_nothing() {
    let slow = RegexPattern::new("(?=a)(a|aa)+$", RegexPattern::DOTALL);
    for (comparator, bytes) in [
        (Comparator::Long(7), &b"seven"[..]),
        (Comparator::BigDecimal([0; 5][..].into()), b"1.5"),
        (Comparator::Regex(slow), &[&[b'a'; 60][..], b"!"].concat()),
    ] {
        for operator in [CompareOperator::Equal, CompareOperator::NotEqual] {
            let comparison = Comparison { operator, comparator: comparator.clone() };
            let run = ComparisonRun::new(&comparison).unwrap();
            assert_eq!(run.try_matches(bytes).unwrap_err().kind(), ErrorKind::InvalidRequest);
            assert!(!run.matches(bytes));
        }
    }
}
