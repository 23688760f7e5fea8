//! Suggestions for misspelled names.

/// Returns the name that was probably meant by a word: the closest within two changes. Words with
/// one or two letters get no suggestion.
pub(crate) fn closest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let known = names.into_iter().map(|name| (distance(word, name), name)).min();
    known.filter(|(distance, _)| *distance <= 2 && word.chars().count() > 2).map(|(_, name)| name)
}

/// Counts the insertions, deletions and substitutions between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let changed = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_name_is_suggested_within_two_changes() {
        let names = ["VERSIONS", "LIMIT", "TTL"];
        assert_eq!(closest("VERSION", names), Some("VERSIONS"));
        assert_eq!(closest("LMIT", names), Some("LIMIT"));
        assert_eq!(closest("COLUMN", names), None);
        assert_eq!(closest("TT", names), None);
        assert_eq!(closest("TTL", []), None);
    }
}
