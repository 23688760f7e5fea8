//! Named character classes: `\p{…}`.

use rowhouse_model::RegexEngine;

use super::error::PatternError;
use super::flags::Case;
use super::translate::PatternReader;

/// POSIX classes: Java's name, the ASCII definition, and the definition with
/// UNICODE_CHARACTER_CLASS.
const POSIX: [(&str, &str, &str); 13] = [
    ("Lower", "a-z", r"\p{Lowercase}"),
    ("Upper", "A-Z", r"\p{Uppercase}"),
    ("ASCII", r"\x00-\x7F", r"\x00-\x7F"),
    ("Alpha", "a-zA-Z", r"\p{Alphabetic}"),
    ("Digit", "0-9", r"\p{Nd}"),
    ("Alnum", "a-zA-Z0-9", r"\p{Alphabetic}\p{Nd}"),
    ("Punct", r"!-/:-@\x5B-`\x7B-~", r"\p{P}"),
    ("Graph", "!-~", r"[^\p{White_Space}\p{Cc}\p{Cn}]"),
    ("Print", " -~", r"[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}]"),
    ("Blank", r" \t", r"\p{Zs}\t"),
    ("Cntrl", r"\x00-\x1F\x7F", r"\p{Cc}"),
    ("XDigit", "0-9a-fA-F", r"\p{Nd}\p{Hex_Digit}"),
    ("Space", r" \t\n\x0B\x0C\r", r"\p{White_Space}"),
];

/// Unicode's general categories, in Java's spelling.
const CATEGORIES: [&str; 36] = [
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp", "Cc",
    "Cf", "Co", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf", "L", "M", "N",
    "Z", "C", "P", "S",
];

/// Unicode properties after `Is`, in upper case, and their syntax in `fancy-regex`.
const PROPERTIES: [(&str, &str); 14] = [
    ("ALPHABETIC", r"\p{Alphabetic}"),
    ("LETTER", r"\p{L}"),
    ("IDEOGRAPHIC", r"\p{Ideographic}"),
    ("LOWERCASE", r"\p{Lowercase}"),
    ("UPPERCASE", r"\p{Uppercase}"),
    ("TITLECASE", r"\p{Lt}"),
    ("WHITE_SPACE", r"\p{White_Space}"),
    ("WHITESPACE", r"\p{White_Space}"),
    ("CONTROL", r"\p{Cc}"),
    ("PUNCTUATION", r"\p{P}"),
    ("HEX_DIGIT", r"\p{Nd}\p{Hex_Digit}"),
    ("DIGIT", r"\p{Nd}"),
    ("ASSIGNED", r"[^\p{Cn}]"),
    ("NONCHARACTER_CODE_POINT", r"\p{Noncharacter_Code_Point}"),
];

/// Names for letters in one case, which match letters in all cases in case-insensitive mode.
const CASED: [&str; 9] =
    ["Lower", "Upper", "Lu", "Ll", "Lt", "LOWERCASE", "UPPERCASE", "TITLECASE", "LC"];

impl PatternReader {
    /// Translates `\p{name}` or `\pL`, starting after the letter.
    pub(super) fn property(&mut self, is_negated: bool, at: usize) -> Result<String, PatternError> {
        let name = self.property_name(at)?;
        let unknown = || {
            let what = format!("unknown character property name: {name}");
            PatternError::unsupported(what, at)
        };
        let set = match name.split_once('=') {
            Some((key, value)) => match key.to_ascii_lowercase().as_str() {
                "gc" | "general_category" => self.category(value),
                "sc" | "script" => script(value),
                _ => None,
            },
            None => match name.strip_prefix("Is") {
                Some(name) => self
                    .unicode_property(name)
                    .or_else(|| self.category(name))
                    .or_else(|| script(name)),
                None => self.posix(&name).or_else(|| self.category(&name)),
            },
        };
        let set = set.ok_or_else(unknown)?;
        Ok(if is_negated { format!("[^{set}]") } else { set })
    }

    fn property_name(&mut self, at: usize) -> Result<String, PatternError> {
        let invalid = |what| PatternError::invalid(what, at);
        let first = self.next().ok_or_else(|| invalid("unexpected end after \\p"))?;
        if first.char != '{' {
            return Ok(first.char.into());
        }
        let mut name = String::new();
        loop {
            match self.next().map(|char| char.char) {
                Some('}') if name.is_empty() => return Err(invalid("empty character family")),
                Some('}') => return Ok(name),
                Some(char) => name.push(char),
                None => return Err(invalid("unclosed character family")),
            }
        }
    }

    fn posix(&self, name: &str) -> Option<String> {
        if let Some(set) = self.any_case(name) {
            return Some(set);
        }
        let is_name = |known: &str| {
            if self.flags.is_unicode() { known.eq_ignore_ascii_case(name) } else { known == name }
        };
        let (_, ascii, unicode) = POSIX.iter().find(|(known, ..)| is_name(known))?;
        Some(if self.flags.is_unicode() { *unicode } else { *ascii }.into())
    }

    fn category(&self, name: &str) -> Option<String> {
        if let Some(set) = self.any_case(name) {
            return Some(set);
        }
        Some(match name {
            "LC" => r"\p{Lu}\p{Ll}\p{Lt}".into(),
            "LD" => r"\p{L}\p{Nd}".into(),
            "L1" => r"\x00-\x{FF}".into(),
            "all" if self.engine == RegexEngine::Java => r"\x00-\x{10FFFF}".into(),
            _ if CATEGORIES.contains(&name) => format!(r"\p{{{name}}}"),
            _ => return None,
        })
    }

    fn unicode_property(&self, name: &str) -> Option<String> {
        let name = name.to_ascii_uppercase();
        if let Some(set) = self.any_case(&name) {
            return Some(set);
        }
        PROPERTIES.iter().find(|(known, _)| *known == name).map(|(_, set)| (*set).into())
    }

    /// Returns the letters in all cases for a name in [`CASED`] in case-insensitive mode, as in
    /// Java 15 and later.
    fn any_case(&self, name: &str) -> Option<String> {
        if self.flags.case() == Case::Matters || !CASED.contains(&name) {
            return None;
        }
        Some(match name {
            "Lower" | "Upper" if !self.flags.is_unicode() => "a-zA-Z".into(),
            "Lower" | "Upper" | "LOWERCASE" | "UPPERCASE" | "TITLECASE" => {
                r"\p{Lowercase}\p{Uppercase}\p{Lt}".into()
            }
            _ => r"\p{Lu}\p{Ll}\p{Lt}".into(),
        })
    }
}

/// Returns a script's class. Compilation detects unknown names.
fn script(name: &str) -> Option<String> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    is_name.then(|| format!(r"\p{{Script={name}}}"))
}
