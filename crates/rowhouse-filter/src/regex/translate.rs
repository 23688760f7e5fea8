//! Translates Java's regular expressions.

use rowhouse_model::{RegexEngine, RegexPattern, Result};

use super::error::PatternError;
use super::escapes::Escape;
use super::flags::{Case, Flags};

/// How deeply groups and classes may nest.
pub(super) const DEPTH_MAX: usize = 100;

/// A translated expression.
pub(super) struct Translated {
    /// The expression for `fancy-regex`.
    pub(super) regex: String,
    /// Java's flags, with the flags that the expression sets itself.
    pub(super) flags: i32,
}

/// Translates a Java expression.
pub(super) fn translate(pattern: &str, flags: i32, engine: RegexEngine) -> Result<Translated> {
    let translated = Flags::start(flags, engine).and_then(|flags| {
        let mut reader = PatternReader::new(pattern, flags, engine);
        let regex = reader.whole()?;
        Ok(Translated { regex, flags: reader.flags.bits() })
    });
    translated.map_err(|refusal| refusal.into_error(pattern))
}

/// One character in an expression.
#[derive(Clone, Copy)]
pub(super) struct Char {
    pub(super) char: char,
    /// Whether it is a literal between `\Q` and `\E`.
    pub(super) is_quoted: bool,
    /// The position.
    pub(super) at: usize,
}

/// Parses expressions, left to right.
pub(super) struct PatternReader {
    chars: Vec<Char>,
    next: usize,
    pub(super) flags: Flags,
    pub(super) engine: RegexEngine,
    /// How many groups have begun so far.
    pub(super) groups: usize,
    /// Group names, each with the number.
    pub(super) names: Vec<(String, usize)>,
    pub(super) depth: usize,
}

impl PatternReader {
    fn new(pattern: &str, flags: Flags, engine: RegexEngine) -> Self {
        let chars = if flags.has(RegexPattern::LITERAL) {
            let quoted = |(at, char)| Char { char, is_quoted: true, at };
            pattern.chars().enumerate().map(quoted).collect()
        } else {
            unquote(pattern)
        };
        Self { chars, next: 0, flags, engine, groups: 0, names: Vec::new(), depth: 0 }
    }

    fn whole(&mut self) -> Result<String, PatternError> {
        let written = self.alternatives()?;
        match self.peek() {
            None => Ok(written),
            Some(_) => Err(PatternError::invalid("unmatched closing ')'", self.at())),
        }
    }

    /// Translates alternatives, up to the end or a closing parenthesis.
    pub(super) fn alternatives(&mut self) -> Result<String, PatternError> {
        let mut written = self.sequence()?;
        while self.take_plain('|') {
            written.push('|');
            written.push_str(&self.sequence()?);
        }
        Ok(written)
    }

    fn sequence(&mut self) -> Result<String, PatternError> {
        let mut written = String::new();
        while let Some(char) = self.peek() {
            if !char.is_quoted && matches!(char.char, '|' | ')') {
                break;
            }
            let atom = self.atom(char)?;
            written.push_str(&self.quantified(atom)?);
        }
        Ok(written)
    }

    /// Translates one repeatable item; returns an empty string for one that only sets flags.
    fn atom(&mut self, char: Char) -> Result<String, PatternError> {
        if char.is_quoted {
            self.next();
            return Ok(self.literal(char.char));
        }
        match char.char {
            '(' => self.group(),
            '[' => self.class(),
            '\\' => self.escaped(),
            '^' => self.fixed(Flags::line_start),
            '$' => self.fixed(Flags::line_end),
            '.' => self.fixed(Flags::point),
            '*' | '+' | '?' => {
                Err(PatternError::invalid(format!("nothing to repeat by '{}'", char.char), char.at))
            }
            '{' => Err(PatternError::invalid("illegal repetition", char.at)),
            plain => {
                self.next();
                Ok(self.literal(plain))
            }
        }
    }

    fn fixed(&mut self, text: fn(Flags) -> &'static str) -> Result<String, PatternError> {
        self.next();
        Ok(text(self.flags).into())
    }

    /// Translates a literal character.
    pub(super) fn literal(&self, char: char) -> String {
        match self.flags.case() {
            Case::Ascii if char.is_ascii_alphabetic() => {
                format!("[{}{}]", char.to_ascii_lowercase(), char.to_ascii_uppercase())
            }
            Case::Unicode => format!("(?i:{})", write_char(char)),
            Case::Matters | Case::Ascii => write_char(char),
        }
    }

    fn escaped(&mut self) -> Result<String, PatternError> {
        let at = self.at();
        match self.escape(false)? {
            Escape::Char(char) => Ok(self.literal(char)),
            Escape::Set(set) => Ok(format!("[{set}]")),
            Escape::Text(text) => Ok(text),
            Escape::Group(number) => self.back_reference(number, at),
        }
    }

    fn back_reference(&self, number: usize, at: usize) -> Result<String, PatternError> {
        if number > self.groups {
            // Java accepts a reference to a missing or later group and never matches it.
            return Ok("(?!)".into());
        }
        match self.flags.case() {
            Case::Matters => Ok(format!(r"(?:\{number})")),
            Case::Unicode => Ok(format!(r"(?i:\{number})")),
            Case::Ascii => Err(PatternError::unsupported(
                "case-insensitive back reference in ASCII only (flag CASE_INSENSITIVE without \
                 UNICODE_CASE)",
                at,
            )),
        }
    }

    /// Translates the repetition after an item, if there is one.
    fn quantified(&mut self, atom: String) -> Result<String, PatternError> {
        let Some(char) = self.peek().filter(|char| !char.is_quoted) else { return Ok(atom) };
        let count = match char.char {
            '*' | '+' | '?' => {
                self.next();
                char.char.to_string()
            }
            '{' => self.count()?,
            _ => return Ok(atom),
        };
        if atom.is_empty() {
            return Err(PatternError::invalid(format!("nothing to repeat by '{count}'"), char.at));
        }
        if self.take_plain('?') {
            return Ok(format!("(?:{atom}){count}?"));
        }
        if self.take_plain('+') {
            return Ok(format!("(?>(?:{atom}){count})"));
        }
        Ok(format!("(?:{atom}){count}"))
    }

    /// `{n}`, `{n,}` or `{n,m}`.
    fn count(&mut self) -> Result<String, PatternError> {
        let at = self.at();
        self.next();
        let Some(min) = self.number(at)? else {
            return Err(PatternError::invalid("illegal repetition", at));
        };
        let mut count = format!("{{{min}");
        if self.take_plain(',') {
            count.push(',');
            if let Some(max) = self.number(at)? {
                if max < min {
                    return Err(PatternError::invalid("illegal repetition range", at));
                }
                count.push_str(&max.to_string());
            }
        }
        if !self.take_plain('}') {
            return Err(PatternError::invalid("unclosed counted repetition", at));
        }
        count.push('}');
        Ok(count)
    }

    fn number(&mut self, at: usize) -> Result<Option<u32>, PatternError> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|char| char.char.to_digit(10)) {
            self.next();
            let more = number.unwrap_or(0).checked_mul(10).and_then(|tens| tens.checked_add(digit));
            if more.is_none_or(|more| more > i32::MAX as u32) {
                return Err(PatternError::invalid("illegal repetition range", at));
            }
            number = more;
        }
        Ok(number)
    }
}

/// Navigation.
impl PatternReader {
    /// Returns the next character; with the flag COMMENTS, after skipping comments.
    pub(super) fn peek(&mut self) -> Option<Char> {
        if self.flags.has(RegexPattern::COMMENTS) {
            self.pass_comments();
        }
        self.peek_any()
    }

    /// Returns the next character, even if it begins a comment.
    pub(super) fn peek_any(&self) -> Option<Char> {
        self.chars.get(self.next).copied()
    }

    /// Returns the character after the next one.
    pub(super) fn peek_second(&self) -> Option<Char> {
        self.chars.get(self.next + 1).copied()
    }

    /// Consumes the next character.
    pub(super) fn next(&mut self) -> Option<Char> {
        let char = self.peek_any();
        self.next += usize::from(char.is_some());
        char
    }

    /// Consumes the next character if it is `expected` and not quoted.
    pub(super) fn take_plain(&mut self, expected: char) -> bool {
        let matches = self.peek().is_some_and(|char| char.char == expected && !char.is_quoted);
        self.next += usize::from(matches);
        matches
    }

    /// Returns the next character's position.
    pub(super) fn at(&self) -> usize {
        match self.chars.get(self.next) {
            Some(char) => char.at,
            None => self.chars.last().map_or(0, |last| last.at + 1),
        }
    }

    /// Enters a nested group or class.
    pub(super) fn enter(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let what = format!("groups and classes nested too deeply, max={DEPTH_MAX}");
            return Err(PatternError::unsupported(what, self.at()));
        }
        Ok(())
    }

    fn pass_comments(&mut self) {
        while let Some(char) = self.peek_any().filter(|char| !char.is_quoted) {
            match char.char {
                ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r' => self.next += 1,
                '#' => {
                    let is_end = |char: &Char| {
                        if self.flags.has(RegexPattern::UNIX_LINES) {
                            char.char == '\n'
                        } else {
                            "\n\r\u{85}\u{2028}\u{2029}".contains(char.char)
                        }
                    };
                    let rest = &self.chars[self.next..];
                    self.next += rest.iter().position(is_end).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }
}

/// Writes a character as a `fancy-regex` literal that is valid anywhere.
pub(super) fn write_char(char: char) -> String {
    if char.is_ascii_alphanumeric() || char == '_' {
        char.to_string()
    } else {
        format!(r"\x{{{:X}}}", u32::from(char))
    }
}

/// Returns an expression's characters and marks the characters between `\Q` and `\E` (or the end).
fn unquote(pattern: &str) -> Vec<Char> {
    let mut chars = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars().enumerate().peekable();
    let mut is_quoted = false;
    while let Some((at, char)) = rest.next() {
        if char == '\\' {
            let second = rest.peek().map(|&(_, second)| second);
            if second == Some(if is_quoted { 'E' } else { 'Q' }) {
                rest.next();
                is_quoted = !is_quoted;
                continue;
            }
            if !is_quoted && let Some((second_at, second)) = rest.next() {
                chars.push(Char { char, is_quoted, at });
                chars.push(Char { char: second, is_quoted, at: second_at });
                continue;
            }
        }
        chars.push(Char { char, is_quoted, at });
    }
    chars
}
