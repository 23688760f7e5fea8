//! Table declarations, in the form of `describe`.

use std::collections::BTreeMap;

use rowhouse::Bytes;
use rowhouse::key::escape;
use rowhouse::schema::{FamilyDescriptor, TableDescriptor};

/// The family attributes that are always shown, in HBase's order, with their defaults.
const FAMILY_ATTRIBUTES: [(&str, &str); 12] = [
    ("INDEX_BLOCK_ENCODING", "NONE"),
    ("VERSIONS", "1"),
    ("KEEP_DELETED_CELLS", "FALSE"),
    ("DATA_BLOCK_ENCODING", "NONE"),
    ("TTL", "2147483647"),
    ("MIN_VERSIONS", "0"),
    ("REPLICATION_SCOPE", "0"),
    ("BLOOMFILTER", "ROW"),
    ("IN_MEMORY", "false"),
    ("COMPRESSION", "NONE"),
    ("BLOCKCACHE", "true"),
    ("BLOCKSIZE", "65536"),
];

/// The seconds that mean FOREVER.
pub(crate) const TTL_FOREVER: i64 = i32::MAX as i64;

/// Returns a table in the form `name, {TABLE_ATTRIBUTES => {…}}`.
pub(crate) fn table(descriptor: &TableDescriptor) -> String {
    let mut metadata: BTreeMap<String, String> = BTreeMap::new();
    let mut parts = Vec::new();
    for (name, value) in &descriptor.attributes {
        let name = escape(name);
        if name == "IS_META" {
            // Java clients set it to false on every table except hbase:meta.
            continue;
        }
        if is_reserved(&name) || name.starts_with("coprocessor$") {
            parts.push(format!("{name} => '{}'", with_unit(&name, value)));
        } else {
            metadata.insert(name, shown(value));
        }
    }
    let configuration = descriptor.configuration.iter();
    metadata.extend(configuration.map(|(name, value)| (name.clone(), value.clone())));
    if !metadata.is_empty() {
        parts.push(format!("METADATA => {}", hash(&metadata)));
    }
    let name = descriptor.name();
    if parts.is_empty() {
        return name.to_string();
    }
    format!("{name}, {{TABLE_ATTRIBUTES => {{{}}}}}", parts.join(", "))
}

/// Returns a family in the form `{NAME => …, …}`.
pub(crate) fn family(family: &FamilyDescriptor) -> String {
    let mut parts = vec![format!("NAME => '{}'", String::from_utf8_lossy(family.name()))];
    for (name, default) in FAMILY_ATTRIBUTES {
        let value = family.attributes.get(name.as_bytes());
        let value = value.cloned().unwrap_or(Bytes::from_static(default.as_bytes()));
        parts.push(format!("{name} => '{}'", with_unit(name, &value)));
    }
    let mut metadata = BTreeMap::new();
    for (name, value) in &family.attributes {
        let name = escape(name);
        if FAMILY_ATTRIBUTES.iter().any(|(known, _)| *known == name) {
            continue;
        }
        if is_reserved(&name) {
            parts.push(format!("{name} => '{}'", shown(value)));
        } else {
            metadata.insert(name, shown(value));
        }
    }
    if !metadata.is_empty() {
        parts.push(format!("METADATA => {}", hash(&metadata)));
    }
    if !family.configuration.is_empty() {
        parts.push(format!("CONFIGURATION => {}", hash(&family.configuration)));
    }
    format!("{{{}}}", parts.join(", "))
}

/// Returns true if an attribute has a name like HBase's own. All others are shown as METADATA.
fn is_reserved(name: &str) -> bool {
    name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_')
}

fn hash(pairs: &BTreeMap<String, String>) -> String {
    let pairs: Vec<_> =
        pairs.iter().map(|(name, value)| format!("'{name}' => '{value}'")).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// Returns a value as text; if it is not printable UTF-8, with bytes as `\xHH`.
fn shown(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => escape(value),
    }
}

/// Returns a value as text, with units where HBase's shell shows them.
fn with_unit(name: &str, value: &[u8]) -> String {
    let text = shown(value);
    match (name, text.parse()) {
        ("TTL", Ok(seconds)) => interval(seconds),
        ("BLOCKSIZE" | "MAX_FILESIZE" | "MEMSTORE_FLUSHSIZE", Ok(bytes)) => size(bytes),
        _ => text,
    }
}

/// Returns an interval in the form `86400 SECONDS (1 DAY)`.
fn interval(seconds: i64) -> String {
    if seconds == TTL_FOREVER {
        return "FOREVER".into();
    }
    let plural = |count: i64, unit: &str| match count {
        1 => format!("1 {unit}"),
        _ => format!("{count} {unit}S"),
    };
    if seconds < 60 {
        return plural(seconds, "SECOND");
    }
    let parts = [
        (seconds / 86_400, "DAY"),
        (seconds / 3600 % 24, "HOUR"),
        (seconds / 60 % 60, "MINUTE"),
        (seconds % 60, "SECOND"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, unit)| plural(count, unit)).collect();
    format!("{seconds} SECONDS ({})", parts.join(" "))
}

/// Returns a size in the form `65536 B (64KB)`.
fn size(bytes: i64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let units = [(40, "TB"), (30, "GB"), (20, "MB"), (10, "KB"), (0, "B")];
    let parts = units.into_iter().map(|(shift, unit)| match shift {
        40 => (bytes >> 40, unit),
        _ => (bytes >> shift & 1023, unit),
    });
    let parts: Vec<_> = parts
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    format!("{bytes} B ({})", parts.join(" "))
}

/// Parses a size: bytes, or what [`size`] returns (`1GB 512MB`, with or without spaces and the last
/// B).
pub(crate) fn parse_size(text: &str) -> Option<i64> {
    if let Ok(bytes) = text.parse() {
        return Some(bytes);
    }
    let upper = text.to_uppercase();
    // The part in brackets repeats the same value.
    let upper = upper.split_once('(').map_or(&upper[..], |(bytes, _)| bytes);
    let mut rest = upper.trim();
    let mut sum: Option<i64> = None;
    let mut shift_before = 50;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let units = [("T", 40), ("G", 30), ("M", 20), ("K", 10), ("", 0)];
        let (unit, shift) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        if shift >= shift_before {
            return None;
        }
        shift_before = shift;
        rest = &rest[unit.len()..];
        rest = rest.strip_prefix('B').unwrap_or(rest).trim_start();
        sum = Some(sum.unwrap_or(0).checked_add(count.checked_mul(1 << shift)?)?);
    }
    sum
}

/// Parses a TTL: seconds, FOREVER, or what [`interval`] returns (`1 DAY 2 HOURS`).
pub(crate) fn parse_ttl(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let upper = text.to_uppercase();
    if upper == "FOREVER" {
        return Some(TTL_FOREVER);
    }
    // The part in brackets repeats the same value.
    let upper = upper.split_once('(').map_or(&upper[..], |(seconds, _)| seconds);
    let words: Vec<&str> = upper.split_whitespace().collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return None;
    }
    words.chunks(2).try_fold(0_i64, |sum, pair| {
        let count: i64 = pair[0].parse().ok()?;
        let seconds = match pair[1].strip_suffix('S').unwrap_or(pair[1]) {
            "DAY" => 86_400,
            "HOUR" => 3600,
            "MINUTE" => 60,
            "SECOND" => 1,
            _ => return None,
        };
        sum.checked_add(count.checked_mul(seconds)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_print_as_in_hbase_and_are_read_back() {
        for (seconds, text) in [
            (1, "1 SECOND"),
            (30, "30 SECONDS"),
            (60, "60 SECONDS (1 MINUTE)"),
            (3600, "3600 SECONDS (1 HOUR)"),
            (86_400, "86400 SECONDS (1 DAY)"),
            (93_784, "93784 SECONDS (1 DAY 2 HOURS 3 MINUTES 4 SECONDS)"),
            (TTL_FOREVER, "FOREVER"),
        ] {
            assert_eq!(interval(seconds), text);
            assert_eq!(parse_ttl(text), Some(seconds), "{text}");
        }
        assert_eq!(parse_ttl("1 day 2 hours"), Some(93_600));
        assert_eq!(parse_ttl("soon"), None);
    }

    #[test]
    fn sizes_print_as_in_hbase() {
        assert_eq!(size(65_536), "65536 B (64KB)");
        assert_eq!(size(134_217_728), "134217728 B (128MB)");
        assert_eq!(size(1_049_600), "1049600 B (1MB 1KB)");
        assert_eq!(size(500), "500 B");
        for bytes in [0, 1, 500, 1024, 65_536, 1_049_600, (1 << 40) + (3 << 30) + 5] {
            assert_eq!(parse_size(&size(bytes)), Some(bytes));
        }
        assert_eq!(parse_size("10 GB"), Some(10 << 30));
        assert_eq!(parse_size("1g 512m"), Some((1 << 30) + (512 << 20)));
        assert_eq!(parse_size("-1"), Some(-1));
        for text in ["", "B", "much", "1 MB 1 GB", "1 PB", "99999999999 TB", "1.5 GB", "(1KB)"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
