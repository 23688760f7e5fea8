//! Golden files: their lines, their values, and the checks for each line.

use std::collections::BTreeMap;
use std::path::Path;

use rowhouse_schema::{Field, FieldType, KeySchema, Value};

/// A line in a golden file: `type<TAB>value<TAB>hex`.
pub(crate) struct Line {
    pub(crate) kind: String,
    pub(crate) value: String,
    /// The bytes; `None` if the original code refuses the value.
    pub(crate) key: Option<Vec<u8>>,
}

/// How templates express a line.
pub(crate) enum Expectation {
    /// With this template with fields a, b, c, …
    As(String),
    /// As the first bytes of this template's keys.
    Begins(String),
    /// This template refuses it, for this reason, though the original does not.
    Refused(String, &'static str),
    /// This template refuses it, for this reason; the original's bytes may be another value's key.
    Ambiguous(String, &'static str),
    /// Not at all, for this reason.
    Outside(&'static str),
}

pub(crate) fn lines(name: &str) -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| parse(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

fn parse(line: &str) -> Option<Line> {
    let mut parts = line.split('\t');
    let kind = parts.next()?;
    let value = parts.next()?;
    let key = parts.next()?;
    let key = (key != "refused").then(|| hex(key));
    Some(Line { kind: kind.to_owned(), value: value.to_owned(), key })
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let bytes = (0..digits.len()).step_by(2);
    bytes.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Returns a line's values as written: `"a, b", null` has two.
pub(crate) fn words(values: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let mut chars = values.chars().peekable();
    while let Some(c) = chars.next() {
        quoted ^= c == '"';
        if !quoted && c == ',' && chars.peek() == Some(&' ') {
            chars.next();
            words.push(String::new());
        } else {
            words.last_mut().unwrap().push(c);
        }
    }
    words
}

/// Returns the quoted text, unescaped.
pub(crate) fn text(word: &str) -> Option<String> {
    let mut rest = word.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(digits) = rest.strip_prefix("\\x") {
            text.push(u8::from_str_radix(&digits[..2], 16).unwrap().into());
            rest = &rest[4..];
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(text)
}

/// Converts a word in a golden file to a field value.
fn value(word: &str, field: &Field) -> Result<Value, String> {
    if word == "null" {
        return Ok(Value::Null);
    }
    if let Some(text) = text(word) {
        return Ok(text.into());
    }
    if let Some(len) = word.strip_prefix("x*") {
        return Ok(vec![b'x'; len.parse().unwrap()].into());
    }
    if let Some(bits) = word.strip_prefix("NaN of bits 0x") {
        return Ok(f64::from_bits(u64::from_str_radix(bits, 16).unwrap()).into());
    }
    let word = word.replace("Infinity", "inf").replace("Inf", "inf");
    let single = match field.field_type() {
        FieldType::Foreign(foreign) => {
            foreign.name().ends_with("float") || foreign.name().ends_with("float32")
        }
        _ => false,
    };
    match word.parse::<f32>() {
        Ok(float) if single => Ok(float.into()),
        _ => field.parse_value(&word).map_err(|error| error.to_string()),
    }
}

const NAMES: &[&str] = &["a", "b", "c", "d"];

/// Returns a template with these fields, named a, b, c, …
pub(crate) fn fields<S: AsRef<str>>(types: &[S]) -> String {
    let field = |(name, field): (&&str, &S)| format!("[{name} {}]", field.as_ref());
    NAMES.iter().zip(types).map(field).collect()
}

/// Encodes these values by a template, or returns the error.
pub(crate) fn encode(template: &str, words: &[String]) -> Result<Vec<u8>, String> {
    let schema = KeySchema::parse(template).map_err(|error| error.to_string())?;
    let fields = schema.fields();
    assert_eq!(fields.len(), words.len(), "{template}: {words:?}");
    let pairs =
        fields.iter().zip(words).map(|(field, word)| Ok((field.name(), value(word, field)?)));
    let pairs: Vec<_> = pairs.collect::<Result<_, String>>()?;
    schema.encode(&pairs[..]).map(|key| key.to_vec()).map_err(|error| error.to_string())
}

/// Checks that a key decodes to these values, and that they encode to it.
fn check_back(template: &str, words: &[String], key: &[u8]) {
    let schema = KeySchema::parse(template).unwrap();
    let values = schema.decode(key).unwrap_or_else(|why| panic!("{template} {words:?}: {why}"));
    assert_eq!(values.encode().unwrap(), key, "{template} {words:?}");
    for (field, word) in schema.fields().iter().zip(words) {
        let given = value(word, field).unwrap();
        let decoded = &values[field.name()];
        let same = match (&given, decoded) {
            (_, Value::Hashed(_)) => field.is_hashed(),
            // Both zeros may have the same bytes.
            (Value::Float(given), Value::Float(decoded)) => {
                given == decoded || given.get() == decoded.get()
            }
            // A time was given as a unit count.
            (Value::Signed(_), Value::Time(_)) => {
                let alone = KeySchema::parse(&format!("[{field}]")).unwrap();
                alone.encode(&[(field.name(), given.clone())]).unwrap()
                    == alone.encode(&[(field.name(), decoded.clone())]).unwrap()
            }
            _ => given.to_string() == decoded.to_string(),
        };
        assert!(same, "{template}: given={given}, found={decoded}");
    }
}

/// Checks every line as `expectation` returns. Returns a text line for each type that counts lines
/// with equal bytes, values refused here and by the original, and lines outside the language, with
/// reasons.
pub(crate) fn check(lines: &[Line], expectation: impl Fn(&Line) -> Expectation) -> String {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in lines {
        let words = words(&line.value);
        let what = match (expectation(line), &line.key) {
            (Expectation::As(template), Some(key)) => {
                let encoded = encode(&template, &words);
                let encoded = encoded.unwrap_or_else(|why| panic!("{}: {why}", line.shown()));
                assert_eq!(encoded, *key, "{}", line.shown());
                check_back(&template, &words, key);
                "the same"
            }
            (Expectation::Begins(template), Some(key)) => {
                let encoded = encode(&template, &words);
                let encoded = encoded.unwrap_or_else(|why| panic!("{}: {why}", line.shown()));
                assert_eq!(encoded[..key.len()], *key, "{}", line.shown());
                check_back(&template, &words, &encoded);
                "the same"
            }
            (Expectation::As(template) | Expectation::Begins(template), None) => {
                let encoded = encode(&template, &words);
                assert!(encoded.is_err(), "{}: {encoded:?}", line.shown());
                "refused, as by the original"
            }
            (Expectation::Refused(template, why), Some(key)) => {
                let encoded = encode(&template, &words);
                assert!(encoded.is_err(), "{}: {encoded:?}", line.shown());
                let decoded = KeySchema::parse(&template).unwrap().decode(key);
                assert!(decoded.is_err(), "{}: {decoded:?}", line.shown());
                why
            }
            (Expectation::Ambiguous(template, why), Some(key)) => {
                assert!(encode(&template, &words).is_err(), "{}", line.shown());
                if let Ok(values) = KeySchema::parse(&template).unwrap().decode(key) {
                    assert_eq!(values.encode().unwrap(), *key, "{}", line.shown());
                }
                why
            }
            (Expectation::Ambiguous(..), None) => {
                panic!("refused by the original: {}", line.shown())
            }
            (Expectation::Refused(..), None) => {
                panic!("the original refuses it too: {}", line.shown())
            }
            (Expectation::Outside(why), _) => why,
        };
        *counts.entry((line.kind.clone(), what.to_owned())).or_default() += 1;
    }
    counts.into_iter().map(|((kind, what), count)| format!("{kind}: {count} {what}\n")).collect()
}

impl Line {
    pub(crate) fn shown(&self) -> String {
        format!("{}\t{}", self.kind, self.value)
    }
}
