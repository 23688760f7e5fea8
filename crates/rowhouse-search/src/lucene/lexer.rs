//! A query's tokens, as Solr's grammar has them: at each place the longest that matches.

use rowhouse_schema::Fault;

use super::part::Bound;
use super::range::range;
use super::unescape::unescaped;

/// Lucene counts the space in Chinese and Japanese texts among the spaces.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{3000}')
}

/// Returns true if a word may begin with a character that has no backslash before it.
pub(super) fn begins_word(c: char) -> bool {
    continues_word(c) && !matches!(c, '+' | '-' | '!' | '/')
}

/// Returns true if a character without a backslash before it may be inside a word. Solr's words
/// hold signs and slashes: `yahoo!mail`, `AC/DC`, `c++`.
pub(super) fn continues_word(c: char) -> bool {
    let is_sign =
        matches!(c, '(' | ')' | ':' | '^' | '[' | ']' | '"' | '{' | '}' | '~' | '*' | '?' | '\\');
    !is_sign && !is_space(c)
}

/// Returns true if a word is an operator, unless the first character has a backslash before it.
pub(super) fn is_operator(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "NOT" | "&&" | "||")
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Open,
    /// `filter(`
    OpenFilter,
    Close,
    /// `:`
    Colon,
    And,
    Or,
    Not,
    Plus,
    Minus,
    Word(String),
    /// A sign with a space after it, which Solr takes for a word.
    Sign(char),
    Prefix(String),
    Star,
    Phrase(String),
    Range(Bound, Bound),
    /// `~2`, or `~` without a number.
    Similar(Option<f32>),
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

impl<'a> Lexer<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
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

    /// Skips spaces and comments between tokens.
    fn skip(&mut self) {
        loop {
            let rest = self.rest().trim_start_matches(is_space);
            self.at = self.text.len() - rest.len();
            if !rest.starts_with("/*") {
                return;
            }
            self.skip_comment();
        }
    }

    /// Skips a comment and the comments inside it. As in Solr, one without an end reaches to the
    /// text's end.
    fn skip_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            if rest.starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.take();
            }
        }
    }

    /// Takes a backslash and the character after it.
    fn take_escaped(&mut self) -> Result<(), Fault> {
        let at = self.at;
        self.take();
        match self.take() {
            Some(_) => Ok(()),
            None => Err(Fault::new(at, "`\\` needs a character after it")
                .hint("write \\\\ for a backslash")),
        }
    }

    /// Returns the next token, and where it begins.
    pub(super) fn next(&mut self) -> Result<(usize, Token), Fault> {
        self.skip();
        let at = self.at;
        let Some(c) = self.peek() else { return Ok((at, Token::End)) };
        let token = match c {
            '(' => self.sign(Token::Open),
            ')' => self.sign(Token::Close),
            ':' => self.sign(Token::Colon),
            '+' | '-' | '!' => {
                self.take();
                match c {
                    _ if self.peek().is_some_and(is_space) => Token::Sign(c),
                    '+' => Token::Plus,
                    '-' => Token::Minus,
                    _ => Token::Not,
                }
            }
            '"' => self.phrase()?,
            '[' | '{' => range(self)?,
            '^' => self.weight()?,
            '~' => {
                self.take();
                let digits = self.number();
                // Digits and one point are always a number.
                Token::Similar(digits.parse().ok())
            }
            '/' => {
                return Err(Fault::new(at, "regular expressions are not supported")
                    .hint("write \\/ for the character"));
            }
            ']' | '}' => {
                let message = format!("`{c}` stands where a word is expected");
                return Err(Fault::new(at, message).hint(format!("write \\{c} for the character")));
            }
            _ => self.word()?,
        };
        Ok((at, token))
    }

    fn sign(&mut self, token: Token) -> Token {
        self.take();
        token
    }

    fn phrase(&mut self) -> Result<Token, Fault> {
        let at = self.at;
        self.take();
        loop {
            match self.peek() {
                None => return Err(Fault::new(at, "`\"` without a second one after it")),
                Some('"') => break,
                Some('\\') => self.take_escaped()?,
                Some(_) => _ = self.take(),
            }
        }
        let text = unescaped(&self.text[at + 1..self.at], at + 1)?;
        self.take();
        Ok(Token::Phrase(text))
    }

    /// Reads a word, an operator, a prefix, or `*`.
    fn word(&mut self) -> Result<Token, Fault> {
        let at = self.at;
        let mut wildcard = None;
        while let Some(c) = self.peek() {
            match c {
                '\\' => self.take_escaped()?,
                '*' | '?' => {
                    wildcard = wildcard.or(Some(self.at));
                    self.take();
                }
                c if continues_word(c) => _ = self.take(),
                _ => break,
            }
        }
        let written = &self.text[at..self.at];
        match (wildcard, written) {
            (None, "AND" | "&&") => Ok(Token::And),
            (None, "OR" | "||") => Ok(Token::Or),
            (None, "NOT") => Ok(Token::Not),
            (None, "filter") if self.take_if('(') => Ok(Token::OpenFilter),
            (None, word) => unescaped(word, at).map(Token::Word),
            (Some(_), "*") => Ok(Token::Star),
            (Some(wildcard), _) if &self.text[wildcard..self.at] == "*" => {
                unescaped(&self.text[at..wildcard], at).map(Token::Prefix)
            }
            _ => {
                let message = format!("`{written}`: `*` stands only at the end of a word");
                Err(Fault::new(at, message).hint("`?` and other places are not supported"))
            }
        }
    }

    fn weight(&mut self) -> Result<Token, Fault> {
        let at = self.at;
        self.take();
        let is_score = self.take_if('=');
        match self.number().parse::<f32>() {
            Ok(number) if number.is_finite() => {
                Ok(if is_score { Token::Score(number) } else { Token::Boost(number) })
            }
            _ => {
                Err(Fault::new(at, "`^` needs a number after it")
                    .hint("write \\^ for the character"))
            }
        }
    }

    /// Takes digits, and a point with digits after it. Returns them.
    fn number(&mut self) -> &'a str {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let mut len = digits(rest);
        if len > 0
            && let Some(fraction) = rest[len..].strip_prefix('.')
            && digits(fraction) > 0
        {
            len += 1 + digits(fraction);
        }
        self.at += len;
        &rest[..len]
    }
}
