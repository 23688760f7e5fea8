//! Groups in parentheses.

use rowhouse_model::RegexEngine;

use super::error::PatternError;
use super::translate::PatternReader;

impl PatternReader {
    /// Translates a group, starting at the parenthesis. Flags set inside end with the group.
    pub(super) fn group(&mut self) -> Result<String, PatternError> {
        let at = self.at();
        self.next();
        self.enter()?;
        let flags = self.flags;
        let head = if self.take_plain('?') {
            match self.special_group()? {
                Some(head) => head,
                None => {
                    // Flags for the rest of the enclosing group.
                    self.depth -= 1;
                    return Ok(String::new());
                }
            }
        } else {
            self.groups += 1;
            "("
        };
        let inner = self.alternatives()?;
        if !self.take_plain(')') {
            return Err(PatternError::invalid("unclosed group", at));
        }
        self.flags = flags;
        self.depth -= 1;
        Ok(format!("{head}{inner})"))
    }

    /// Translates a group's head after `(?`; returns `None` if it only sets flags.
    fn special_group(&mut self) -> Result<Option<&'static str>, PatternError> {
        let at = self.at();
        let Some(char) = self.peek_any() else {
            return Err(PatternError::invalid("unclosed group", at));
        };
        let head = match char.char {
            ':' => "(?:",
            '=' => "(?=",
            '!' => "(?!",
            '>' => "(?>",
            '<' => {
                self.next();
                return self.lookbehind_or_name(at).map(Some);
            }
            _ => return self.flags_group(),
        };
        self.next();
        Ok(Some(head))
    }

    fn lookbehind_or_name(&mut self, at: usize) -> Result<&'static str, PatternError> {
        match self.peek_any().map(|char| char.char) {
            Some('=') => {
                self.next();
                Ok("(?<=")
            }
            Some('!') => {
                self.next();
                Ok("(?<!")
            }
            _ => {
                let name = self.group_name()?;
                if self.engine == RegexEngine::Joni {
                    return Err(PatternError::unsupported("named group on the engine JONI", at));
                }
                if self.names.iter().any(|(known, _)| *known == name) {
                    let what = format!("named group <{name}> is already defined");
                    return Err(PatternError::invalid(what, at));
                }
                self.groups += 1;
                self.names.push((name, self.groups));
                Ok("(")
            }
        }
    }

    /// Parses a name and the `>` after it.
    pub(super) fn group_name(&mut self) -> Result<String, PatternError> {
        let at = self.at();
        let mut name = String::new();
        while let Some(char) = self.next() {
            match char.char {
                '>' if !name.is_empty() => return Ok(name),
                letter if letter.is_ascii_alphabetic() => name.push(letter),
                digit if digit.is_ascii_digit() && !name.is_empty() => name.push(digit),
                _ => break,
            }
        }
        Err(PatternError::invalid("invalid group name", at))
    }

    fn flags_group(&mut self) -> Result<Option<&'static str>, PatternError> {
        let mut on = true;
        let mut flags = self.flags;
        loop {
            let at = self.at();
            match self.next().map(|char| char.char) {
                Some('-') if on => on = false,
                Some(')') => {
                    self.refuse_flags_of_joni(at)?;
                    self.flags = flags;
                    return Ok(None);
                }
                Some(':') => {
                    self.refuse_flags_of_joni(at)?;
                    self.flags = flags;
                    return Ok(Some("(?:"));
                }
                Some(letter) => flags.change(letter, on, at)?,
                None => return Err(PatternError::invalid("unclosed group", at)),
            }
        }
    }

    fn refuse_flags_of_joni(&self, at: usize) -> Result<(), PatternError> {
        match self.engine {
            RegexEngine::Java => Ok(()),
            RegexEngine::Joni => {
                Err(PatternError::unsupported("flags in a group on the engine JONI", at))
            }
        }
    }
}
