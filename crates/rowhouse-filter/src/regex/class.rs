//! Character classes in brackets: ranges, nested classes, and `&&` for intersections.

use super::error::PatternError;
use super::escapes::Escape;
use super::flags::Case;
use super::translate::{PatternReader, write_char};

impl PatternReader {
    /// Translates a class, starting at the bracket. Negation applies last, as in Java 9 and later.
    pub(super) fn class(&mut self) -> Result<String, PatternError> {
        let set = self.nested_class()?;
        Ok(match self.flags.case() {
            Case::Unicode => format!("(?i:{set})"),
            Case::Matters | Case::Ascii => set,
        })
    }

    fn nested_class(&mut self) -> Result<String, PatternError> {
        let at = self.at();
        self.next();
        self.enter()?;
        let is_negated = self.take_plain('^');
        let mut set = self.union(at, true)?;
        while self.take_both() {
            let other = self.union(at, false)?;
            set = match (set.is_empty(), other.is_empty()) {
                (true, true) => return Err(PatternError::invalid("bad class syntax", at)),
                (true, false) => other,
                (false, true) => set,
                (false, false) => format!("[{set}&&{other}]"),
            };
        }
        if !self.take_plain(']') || set.is_empty() {
            return Err(PatternError::invalid("unclosed character class", at));
        }
        self.depth -= 1;
        Ok(if is_negated { format!("[^{set}]") } else { set })
    }

    /// Translates the items up to `&&` or the closing bracket. Returns their union in brackets, or
    /// an empty string.
    fn union(&mut self, at: usize, is_first: bool) -> Result<String, PatternError> {
        let mut items = String::new();
        loop {
            let Some(char) = self.peek() else {
                return Err(PatternError::invalid("unclosed character class", at));
            };
            match char.char {
                '[' if !char.is_quoted => items.push_str(&self.nested_class()?),
                // As the first item, `]` is a literal.
                ']' if is_first && items.is_empty() => self.range(&mut items)?,
                ']' if !char.is_quoted => break,
                '&' if !char.is_quoted && self.is_both() => break,
                _ => self.range(&mut items)?,
            }
        }
        Ok(if items.is_empty() { items } else { format!("[{items}]") })
    }

    fn is_both(&self) -> bool {
        self.peek_second().is_some_and(|second| second.char == '&' && !second.is_quoted)
    }

    fn take_both(&mut self) -> bool {
        let is_first = self.peek().is_some_and(|char| char.char == '&' && !char.is_quoted);
        let is_intersection = is_first && self.is_both();
        if is_intersection {
            self.next();
            self.next();
        }
        is_intersection
    }

    /// Translates a character, a range, or an escape that is a class.
    fn range(&mut self, items: &mut String) -> Result<(), PatternError> {
        let at = self.at();
        let first = match self.one()? {
            Escape::Char(char) => char,
            Escape::Set(set) => {
                if self.flags.case() == Case::Unicode {
                    // `fancy-regex` would add the other cases to the class, which Java does not.
                    let what = "named set in a case-insensitive Unicode class";
                    return Err(PatternError::unsupported(what, at));
                }
                items.push_str(&set);
                return Ok(());
            }
            Escape::Text(_) | Escape::Group(_) => {
                return Err(PatternError::invalid("illegal escape in a class", at));
            }
        };
        let is_range = self.peek().is_some_and(|char| char.char == '-' && !char.is_quoted)
            && self.peek_second().is_some_and(|end| end.is_quoted || !"[]".contains(end.char));
        if !is_range {
            self.push_range(first, first, items);
            return Ok(());
        }
        self.next();
        self.peek();
        match self.one()? {
            Escape::Char(last) if last >= first => self.push_range(first, last, items),
            _ => return Err(PatternError::invalid("illegal character range", at)),
        }
        Ok(())
    }

    fn one(&mut self) -> Result<Escape, PatternError> {
        let at = self.at();
        match self.peek() {
            Some(char) if char.char == '\\' && !char.is_quoted => self.escape(true),
            Some(char) => {
                self.next();
                Ok(Escape::Char(char.char))
            }
            None => Err(PatternError::invalid("unclosed character class", at)),
        }
    }

    fn push_range(&self, first: char, last: char, items: &mut String) {
        let mut push = |first: char, last: char| {
            items.push_str(&write_char(first));
            // Write a colon as a range: after a bracket it could begin a POSIX class.
            if last > first || first == ':' {
                items.push('-');
                items.push_str(&write_char(last));
            }
        };
        push(first, last);
        if self.flags.case() != Case::Ascii {
            return;
        }
        for (from, to, other) in [('a', 'z', 'A'), ('A', 'Z', 'a')] {
            let low = first.max(from);
            let high = last.min(to);
            if low <= high {
                let shifted = |char: char| (char as u8 - from as u8 + other as u8) as char;
                push(shifted(low), shifted(high));
            }
        }
    }
}
