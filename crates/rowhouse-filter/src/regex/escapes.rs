//! Escape sequences.

use rowhouse_model::RegexEngine;

use super::error::PatternError;
use super::translate::PatternReader;

/// What an escape means.
pub(super) enum Escape {
    /// A character.
    Char(char),
    /// A class: the part between the brackets.
    Set(String),
    /// Anything else, in `fancy-regex` syntax.
    Text(String),
    /// A back-reference to a group.
    Group(usize),
}

impl PatternReader {
    /// Parses an escape, starting at the backslash.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<Escape, PatternError> {
        let at = self.at();
        self.next();
        let Some(char) = self.next() else {
            return Err(PatternError::invalid("unexpected end after a backslash", at));
        };
        if self.engine == RegexEngine::Joni && "hHvVRXGZkNuxc0".contains(char.char) {
            return Err(PatternError::unsupported(
                format!("\\{} on the engine JONI", char.char),
                at,
            ));
        }
        if let Some(set) = self.set_named(char.char) {
            return Ok(Escape::Set(set));
        }
        match char.char {
            't' => Ok(Escape::Char('\t')),
            'n' => Ok(Escape::Char('\n')),
            'r' => Ok(Escape::Char('\r')),
            'f' => Ok(Escape::Char('\x0C')),
            'a' => Ok(Escape::Char('\x07')),
            'e' => Ok(Escape::Char('\x1B')),
            '0' => self.octal(at).map(Escape::Char),
            'x' => self.hexadecimal(at).map(Escape::Char),
            'u' => self.utf16(at).map(Escape::Char),
            'c' => self.control(at).map(Escape::Char),
            'p' | 'P' => self.property(char.char == 'P', at).map(Escape::Set),
            'N' | 'X' => {
                Err(PatternError::unsupported(format!("\\{} (names, clusters)", char.char), at))
            }
            _ if !in_class => self.escape_outside_class(char.char, at),
            letter if letter.is_ascii_alphanumeric() => Err(illegal(letter, at)),
            other => Ok(Escape::Char(other)),
        }
    }

    fn escape_outside_class(&mut self, char: char, at: usize) -> Result<Escape, PatternError> {
        let text = match char {
            'A' | 'G' => r"\A",
            'z' => r"\z",
            'Z' => self.flags.text_end(),
            'b' if self.peek_any().is_some_and(|char| char.char == '{') => {
                return Err(PatternError::unsupported("\\b{g}", at));
            }
            'b' => self.flags.word_end(),
            'B' => self.flags.word_inside(),
            'R' => r"(?:\r\n|[\n\x0B\x0C\r\x{85}\x{2028}\x{2029}])",
            'k' => return self.named_reference(at),
            '1'..='9' => return self.numbered_reference(char, at),
            letter if letter.is_ascii_alphabetic() => return Err(illegal(letter, at)),
            other => return Ok(Escape::Char(other)),
        };
        Ok(Escape::Text(text.into()))
    }

    /// Returns a letter's class; an upper-case letter is the complement.
    fn set_named(&self, letter: char) -> Option<String> {
        let set = match (letter.to_ascii_lowercase(), self.flags.is_unicode()) {
            ('d', false) => "0-9",
            ('d', true) => r"\p{Nd}",
            ('w', false) => "a-zA-Z_0-9",
            ('w', true) => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}",
            ('s', false) => r" \t\n\x0B\x0C\r",
            ('s', true) => r"\p{White_Space}",
            ('h', _) => r" \t\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}",
            ('v', _) => r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}",
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { format!("[^{set}]") } else { set.into() })
    }

    fn named_reference(&mut self, at: usize) -> Result<Escape, PatternError> {
        if self.next().is_none_or(|char| char.char != '<') {
            return Err(PatternError::invalid("\\k is not followed by '<' for a group name", at));
        }
        let name = self.group_name()?;
        match self.names.iter().find(|(known, _)| *known == name) {
            Some(&(_, number)) => Ok(Escape::Group(number)),
            None => Err(PatternError::invalid(format!("named group <{name}> does not exist"), at)),
        }
    }

    /// Java consumes further digits only while that many groups exist.
    fn numbered_reference(&mut self, first: char, at: usize) -> Result<Escape, PatternError> {
        if self.engine == RegexEngine::Joni {
            return Err(PatternError::unsupported("back reference on the engine JONI", at));
        }
        let mut number = first.to_digit(10).map_or(0, |digit| digit as usize);
        while let Some(digit) = self.peek_any().and_then(|char| char.char.to_digit(10)) {
            let longer = number * 10 + digit as usize;
            if longer > self.groups {
                break;
            }
            self.next();
            number = longer;
        }
        Ok(Escape::Group(number))
    }

    /// `\0n`, `\0nn` or `\0mnn`, where m is at most 3.
    fn octal(&mut self, at: usize) -> Result<char, PatternError> {
        let mut value = None;
        for place in 0..3 {
            let digit = self.peek_any().and_then(|char| char.char.to_digit(8));
            let Some(digit) = digit.filter(|_| place < 2 || value < Some(0o40)) else { break };
            self.next();
            value = Some(value.unwrap_or(0) * 8 + digit);
        }
        let value = value.ok_or_else(|| PatternError::invalid("illegal octal escape", at))?;
        char::from_u32(value).ok_or_else(|| PatternError::invalid("illegal octal escape", at))
    }

    /// `\xhh` or `\x{h…}`
    fn hexadecimal(&mut self, at: usize) -> Result<char, PatternError> {
        let illegal = || PatternError::invalid("illegal hexadecimal escape", at);
        if self.peek_any().is_none_or(|char| char.char != '{') {
            let value = self.hex_digits(2).ok_or_else(illegal)?;
            return char::from_u32(value).ok_or_else(illegal);
        }
        self.next();
        let mut value: u32 = 0;
        let mut digits = 0;
        loop {
            let char = self.next().ok_or_else(illegal)?;
            if char.char == '}' && digits > 0 {
                break;
            }
            let digit = char.char.to_digit(16).ok_or_else(illegal)?;
            value = value.checked_mul(16).map(|value| value + digit).ok_or_else(illegal)?;
            digits += 1;
        }
        match char::from_u32(value) {
            Some(char) => Ok(char),
            None if value <= 0xFFFF => {
                Err(PatternError::unsupported("half of a surrogate pair", at))
            }
            None => Err(PatternError::invalid("hexadecimal code point is too big", at)),
        }
    }

    /// `\uhhhh`, or two that form a surrogate pair.
    fn utf16(&mut self, at: usize) -> Result<char, PatternError> {
        let illegal = || PatternError::invalid("illegal Unicode escape", at);
        let first = self.hex_digits(4).ok_or_else(illegal)?;
        let mut units = vec![first as u16];
        let is_high = (0xD800..0xDC00).contains(&first);
        let follows = |this: &Self| {
            this.peek_any().is_some_and(|char| char.char == '\\')
                && this.peek_second().is_some_and(|char| char.char == 'u')
        };
        if is_high && follows(self) {
            self.next();
            self.next();
            units.push(self.hex_digits(4).ok_or_else(illegal)? as u16);
        }
        match char::decode_utf16(units).collect::<Result<Vec<_>, _>>().as_deref() {
            Ok([char]) => Ok(*char),
            _ => Err(PatternError::unsupported("half of a surrogate pair", at)),
        }
    }

    /// `\cx`
    fn control(&mut self, at: usize) -> Result<char, PatternError> {
        let char =
            self.next().ok_or_else(|| PatternError::invalid("illegal control escape", at))?;
        char::from_u32(u32::from(char.char) ^ 64)
            .ok_or_else(|| PatternError::invalid("illegal control escape", at))
    }

    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            value = value * 16 + self.next()?.char.to_digit(16)?;
        }
        Some(value)
    }
}

fn illegal(letter: char, at: usize) -> PatternError {
    PatternError::invalid(format!("illegal escape: \\{letter}"), at)
}
