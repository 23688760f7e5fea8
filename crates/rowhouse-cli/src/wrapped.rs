//! Texts broken into lines.

/// Breaks a text between words into lines with at most `chars_max` characters, unless a word is
/// longer. Lines after the first begin with `indent`.
pub(crate) fn wrapped(text: &str, chars_max: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > chars_max {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7, "  "), ["one two", "  three"]);
        assert_eq!(wrapped("one two three four", 10, "  "), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("unbreakable text", 4, ""), ["unbreakable", "text"]);
        assert_eq!(wrapped("", 4, "  "), [""]);
    }
}
