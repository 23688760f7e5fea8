//! The tokens of a query, as Solr's grammar has them.

use rowhouse_schema::Fault;

use super::part::Bound;

/// Lucene counts the space of Chinese and Japanese texts among the spaces.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{3000}')
}

/// Returns whether a word may begin with a character that has no backslash before it.
pub(super) fn begins_word(c: char) -> bool {
    let is_sign = matches!(
        c,
        '+' | '-' | '!' | '(' | ')' | ':' | '^' | '[' | ']' | '"' | '{' | '}' | '~' | '*' | '?'
    );
    !is_sign && !is_space(c) && !matches!(c, '\\' | '/')
}

pub(super) fn continues_word(c: char) -> bool {
    begins_word(c) || matches!(c, '+' | '-')
}

/// Returns whether a word is an operator, unless its first character has a backslash before it.
pub(super) fn is_operator(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "NOT" | "&&" | "||")
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Open,
    /// `filter(`
    OpenFilter,
    Close,
    And,
    Or,
    Not,
    Plus,
    Minus,
    /// A name, before a colon.
    Field(String),
    /// `*:`
    AnyField,
    Word(String),
    /// `word~1`: the word and the number of changes.
    Fuzzy(String, u8),
    Prefix(String),
    Star,
    Phrase(String),
    Range(Bound, Bound),
    /// `^2`
    Boost(f32),
    /// `^=2`
    Score(f32),
    End,
}

pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_if(&mut self, expected: char) -> bool {
        let is_there = self.peek() == Some(expected);
        if is_there {
            self.take();
        }
        is_there
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.take();
        }
    }

    /// Takes the character after a backslash.
    fn take_escaped(&mut self) -> Result<char, Fault> {
        let at = self.at - 1;
        self.take().ok_or_else(|| {
            Fault::new(at, "`\\` needs a character after it").hint("write \\\\ for a backslash")
        })
    }

    /// Returns the next token, and where it begins.
    pub(super) fn next(&mut self) -> Result<(usize, Token), Fault> {
        self.skip_spaces();
        let at = self.at;
        let Some(c) = self.peek() else { return Ok((at, Token::End)) };
        let token = match c {
            '(' => self.sign(Token::Open),
            ')' => self.sign(Token::Close),
            '+' | '-' | '!' => {
                self.take();
                match c {
                    // Lucene takes a lone sign for a word.
                    _ if self.peek().is_some_and(is_space) => Token::Word(c.to_string()),
                    '+' => Token::Plus,
                    '-' => Token::Minus,
                    _ => Token::Not,
                }
            }
            '"' => self.phrase(at)?,
            '[' | '{' => self.range(at)?,
            '^' => self.weight(at)?,
            '/' => {
                return Err(Fault::new(at, "regular expressions are not supported")
                    .hint("write \\/ for the character"));
            }
            ']' | '}' | ':' | '~' => {
                let message = format!("`{c}` stands where a word is expected");
                return Err(Fault::new(at, message).hint(format!("write \\{c} for the character")));
            }
            _ => self.word(at)?,
        };
        Ok((at, token))
    }

    fn sign(&mut self, token: Token) -> Token {
        self.take();
        token
    }

    fn quoted(&mut self, at: usize) -> Result<String, Fault> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(Fault::new(at, "`\"` without a second one after it")),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.take_escaped()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn phrase(&mut self, at: usize) -> Result<Token, Fault> {
        let text = self.quoted(at)?;
        if self.peek() == Some('~') {
            let message = "distances of phrases (`\"row key\"~3`) are not supported";
            return Err(Fault::new(self.at, message));
        }
        Ok(Token::Phrase(text))
    }

    /// Reads a word with what follows it.
    fn word(&mut self, at: usize) -> Result<Token, Fault> {
        let (mut word, mut stars, mut is_wild) = (String::new(), 0, false);
        let mut is_last_star = false;
        while let Some(c) = self.peek() {
            let is_first = self.at == at;
            match c {
                '\\' => {
                    self.take();
                    word.push(self.take_escaped()?);
                }
                '*' | '?' => {
                    self.take();
                    stars += usize::from(c == '*');
                    is_wild |= c == '?';
                }
                _ if is_first && !begins_word(c) || !continues_word(c) => break,
                _ => {
                    self.take();
                    word.push(c);
                }
            }
            is_last_star = c == '*';
        }
        let written = &self.text[at..self.at];
        if written == "*" {
            return Ok(if self.take_if(':') { Token::AnyField } else { Token::Star });
        }
        if is_wild || stars > 1 || stars == 1 && !is_last_star {
            let message = format!("`{written}`: `*` stands only at the end of a word");
            return Err(Fault::new(at, message).hint("`?` and other places are not supported"));
        }
        if stars == 1 {
            return Ok(Token::Prefix(word));
        }
        if self.take_if(':') {
            return Ok(Token::Field(word));
        }
        let written = written.to_owned();
        if written == "filter" && self.take_if('(') {
            return Ok(Token::OpenFilter);
        }
        if self.peek() == Some('~') {
            return self.fuzzy(word);
        }
        Ok(match &written[..] {
            "AND" | "&&" => Token::And,
            "OR" | "||" => Token::Or,
            "NOT" => Token::Not,
            _ => Token::Word(word),
        })
    }

    /// Reads `~`, `~1` or `~2` after a word. Lucene's default is 2, and its highest number.
    fn fuzzy(&mut self, word: String) -> Result<Token, Fault> {
        let at = self.at;
        self.take();
        let digits = self.number();
        let changes = match &digits[..] {
            "" | "2" | "2.0" => 2,
            "1" | "1.0" => 1,
            "0" | "0.0" => 0,
            _ => {
                let message = format!("`~{digits}` is not a number of changes: min=0, max=2");
                return Err(Fault::new(at, message));
            }
        };
        Ok(match changes {
            0 => Token::Word(word),
            changes => Token::Fuzzy(word, changes),
        })
    }

    /// Takes digits and points.
    fn number(&mut self) -> String {
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_digit() || *c == '.') {
            self.take();
            digits.push(c);
        }
        digits
    }

    fn weight(&mut self, at: usize) -> Result<Token, Fault> {
        self.take();
        let is_score = self.take_if('=');
        let digits = self.number();
        match digits.parse::<f32>() {
            Ok(number) if number.is_finite() => {
                Ok(if is_score { Token::Score(number) } else { Token::Boost(number) })
            }
            _ => {
                Err(Fault::new(at, "`^` needs a number after it")
                    .hint("write \\^ for the character"))
            }
        }
    }

    fn range(&mut self, at: usize) -> Result<Token, Fault> {
        if self.text[at..].starts_with("{!") {
            let message = "other query parsers (`{!…}`) are not supported";
            return Err(Fault::new(at, message));
        }
        let is_inclusive = self.take() == Some('[');
        let low = self.bound(at)?;
        self.skip_spaces();
        if self.bound_word()?.0 != "TO" {
            return Err(Fault::new(at, "a range is written `[low TO high]`"));
        }
        let high = self.bound(at)?;
        self.skip_spaces();
        let is_high_inclusive = match self.take() {
            Some(']') => true,
            Some('}') => false,
            _ => return Err(Fault::new(at, "a range without a `]` or `}` after it")),
        };
        Ok(Token::Range(
            Bound { value: low, is_inclusive },
            Bound { value: high, is_inclusive: is_high_inclusive },
        ))
    }

    /// Reads an end of a range; none for `*`.
    fn bound(&mut self, at: usize) -> Result<Option<String>, Fault> {
        self.skip_spaces();
        if self.peek() == Some('"') {
            return self.quoted(self.at).map(Some);
        }
        match self.bound_word()? {
            (word, _) if word.is_empty() => {
                Err(Fault::new(at, "a range needs two ends").hint("`*` is an open end"))
            }
            (_, "*") => Ok(None),
            (word, "TO") => Err(Fault::new(
                at,
                format!("a range is written `[low TO high]`, not with `{word}`"),
            )),
            (word, _) => Ok(Some(word)),
        }
    }

    /// Takes characters up to a space or the end of the range. Returns them without and with
    /// backslashes.
    fn bound_word(&mut self) -> Result<(String, &str), Fault> {
        let begin = self.at;
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| !is_space(*c) && !matches!(c, ']' | '}')) {
            self.take();
            word.push(if c == '\\' { self.take_escaped()? } else { c });
        }
        Ok((word, &self.text[begin..self.at]))
    }
}
