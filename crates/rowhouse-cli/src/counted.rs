//! Counts in messages.

/// Returns a count with a noun: `1 table`, `2 tables`, `2 index entries`, `2 keys`.
pub(crate) fn counted(count: impl TryInto<u64>, what: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    // After a vowel, y stays.
    let stem = what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (count, stem) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_every_other_count_is_plural() {
        let texts = [0_u64, 1, 2].map(|count| counted(count, "table"));
        assert_eq!(texts, ["0 tables", "1 table", "2 tables"]);
        assert_eq!(counted(1_usize, "entry"), "1 entry");
        assert_eq!(counted(7_u32, "entry"), "7 entries");
        assert_eq!(counted(7_u32, "key"), "7 keys");
    }
}
