//! Java's flags, and the translations that depend on them.

use rowhouse_model::{RegexEngine, RegexPattern};

use super::error::PatternError;

/// All Java flags.
const KNOWN: i32 = 0x1FF;

/// The Java flags that HBase passes to Joni.
const OF_JONI: i32 =
    RegexPattern::CASE_INSENSITIVE | RegexPattern::MULTILINE | RegexPattern::DOTALL;

/// The flags in effect at a position in the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags(i32);

/// Case sensitivity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    /// Case-insensitive for ASCII letters.
    Ascii,
    /// Case-insensitive for all letters.
    Unicode,
}

impl Flags {
    pub(super) fn start(flags: i32, engine: RegexEngine) -> Result<Self, PatternError> {
        if flags & !KNOWN != 0 {
            return Err(PatternError::invalid(format!("unknown flags 0x{:x}", flags & !KNOWN), 0));
        }
        let flags = match engine {
            RegexEngine::Java => flags,
            // Joni uses Unix line ends and Unicode classes.
            RegexEngine::Joni => {
                flags & OF_JONI
                    | RegexPattern::UNIX_LINES
                    | RegexPattern::UNICODE_CASE
                    | RegexPattern::UNICODE_CHARACTER_CLASS
            }
        };
        if flags & RegexPattern::CANON_EQ != 0 {
            return Err(PatternError::unsupported("flag CANON_EQ", 0));
        }
        let mut flags = Self(flags);
        if flags.has(RegexPattern::UNICODE_CHARACTER_CLASS) {
            flags.0 |= RegexPattern::UNICODE_CASE;
        }
        Ok(flags)
    }

    pub(super) fn bits(self) -> i32 {
        self.0
    }

    pub(super) fn has(self, flag: i32) -> bool {
        self.0 & flag != 0
    }

    /// Sets or clears a letter's flag in `(?…)`.
    pub(super) fn change(&mut self, letter: char, on: bool, at: usize) -> Result<(), PatternError> {
        let flag = match letter {
            'i' => RegexPattern::CASE_INSENSITIVE,
            'm' => RegexPattern::MULTILINE,
            's' => RegexPattern::DOTALL,
            'd' => RegexPattern::UNIX_LINES,
            'u' => RegexPattern::UNICODE_CASE,
            'x' => RegexPattern::COMMENTS,
            'U' if on => RegexPattern::UNICODE_CHARACTER_CLASS | RegexPattern::UNICODE_CASE,
            'U' => RegexPattern::UNICODE_CHARACTER_CLASS,
            'c' => return Err(PatternError::unsupported("flag CANON_EQ", at)),
            _ => return Err(PatternError::invalid(format!("unknown flag or group: {letter}"), at)),
        };
        if on {
            self.0 |= flag;
        } else {
            self.0 &= !flag;
        }
        Ok(())
    }

    pub(super) fn case(self) -> Case {
        let insensitive = self.has(RegexPattern::CASE_INSENSITIVE);
        match (insensitive, self.has(RegexPattern::UNICODE_CASE)) {
            (false, _) => Case::Matters,
            (true, false) => Case::Ascii,
            (true, true) => Case::Unicode,
        }
    }

    pub(super) fn is_unicode(self) -> bool {
        self.has(RegexPattern::UNICODE_CHARACTER_CLASS)
    }

    /// `.`
    pub(super) fn point(self) -> &'static str {
        if self.has(RegexPattern::DOTALL) {
            "(?s:.)"
        } else if self.has(RegexPattern::UNIX_LINES) {
            r"[^\n]"
        } else {
            r"[^\n\r\x{85}\x{2028}\x{2029}]"
        }
    }

    /// `^`. In multi-line mode it matches at line starts, but not at the text's end, even an empty
    /// one, and not within `\r\n`.
    pub(super) fn line_start(self) -> &'static str {
        if !self.has(RegexPattern::MULTILINE) {
            r"\A"
        } else if self.has(RegexPattern::UNIX_LINES) {
            r"(?:(?!\z)(?:\A|(?<=\n)))"
        } else {
            r"(?:(?!\z)(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n)))"
        }
    }

    /// `$`
    pub(super) fn line_end(self) -> &'static str {
        if !self.has(RegexPattern::MULTILINE) {
            self.text_end()
        } else if self.has(RegexPattern::UNIX_LINES) {
            r"(?:\z|(?=\n))"
        } else {
            r"(?:\z|(?=[\r\x{85}\x{2028}\x{2029}])|(?<!\r)(?=\n))"
        }
    }

    /// `\Z`: the text's end, or before the final line end.
    pub(super) fn text_end(self) -> &'static str {
        if self.has(RegexPattern::UNIX_LINES) {
            r"(?:\z|(?=\n\z))"
        } else {
            r"(?:\z|(?=\r\n\z)|(?=[\r\x{85}\x{2028}\x{2029}]\z)|(?<!\r)(?=\n\z))"
        }
    }

    /// `\b`. In Java up to 18 it treats letters, digits and marks in all scripts as word
    /// characters, although `\w` does not.
    pub(super) fn word_end(self) -> &'static str {
        if self.is_unicode() {
            r"\b"
        } else {
            concat!(
                r"(?:(?<=[_\p{L}\p{Nd}\p{Mn}])(?![_\p{L}\p{Nd}\p{Mn}])",
                r"|(?<![_\p{L}\p{Nd}\p{Mn}])(?=[_\p{L}\p{Nd}\p{Mn}]))"
            )
        }
    }

    /// `\B`
    pub(super) fn word_inside(self) -> &'static str {
        if self.is_unicode() {
            r"\B"
        } else {
            concat!(
                r"(?:(?<=[_\p{L}\p{Nd}\p{Mn}])(?=[_\p{L}\p{Nd}\p{Mn}])",
                r"|(?<![_\p{L}\p{Nd}\p{Mn}])(?![_\p{L}\p{Nd}\p{Mn}]))"
            )
        }
    }
}
