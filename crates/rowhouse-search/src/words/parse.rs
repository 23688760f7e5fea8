//! Text to tree.
//!
//! ```text
//! or      = and *("OR" and)
//! and     = part *(["AND"] part)
//! part    = ["NOT"] operand
//! operand = word / word "*" / word "~" ("1" / "2") / DQUOTE text DQUOTE / "(" or ")"
//! ```

use rowhouse_schema::Fault;

use super::node::{Form, Leaf, Node};
use super::{DEPTH_MAX, TEXT_BYTES_MAX, WORDS_MAX};

/// Characters that belong to a word only after a backslash.
pub(super) fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '(' | ')' | '*' | '~' | '^' | '\\')
}

/// Returns true if a word means something else, or nothing here, unless the first character is
/// escaped.
pub(super) fn is_reserved(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "NOT") || of_lucene(word).is_some()
}

/// Returns advice for a word that Lucene would read as an operator.
fn of_lucene(word: &str) -> Option<&'static str> {
    match word {
        "&&" => Some("write AND"),
        "||" => Some("write OR"),
        "+" | "-" | "!" => None,
        _ => match word.as_bytes().first()? {
            b'+' => Some("all words must be there anyway; write \\+ for the character"),
            b'-' | b'!' => {
                Some("write NOT for a word that must not be there, or put the word in quotes")
            }
            _ => None,
        },
    }
}

/// Advice for users who look for a column or a `keyword` without a text.
const EMPTY_VALUE: &str = "an empty value is found by = '' without `matches`";

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    if text.len() > TEXT_BYTES_MAX {
        let message =
            format!("search text is too long: bytes={}, max={TEXT_BYTES_MAX}", text.len());
        return Err(Fault::new(0, message));
    }
    if text.trim().is_empty() {
        return Err(Fault::new(0, "a word is missing").hint(EMPTY_VALUE));
    }
    let mut parser = Parser { lexer: Lexer { text, at: 0 }, next: Token::End, at: 0, words: 0 };
    parser.advance()?;
    let node = parser.or(0)?;
    match parser.next {
        Token::End => Ok(node),
        _ => Err(Fault::new(parser.at, "`)` without a `(` before it")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token,
    /// Where `next` begins.
    at: usize,
    words: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token, Fault> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.next, token))
    }

    fn or(&mut self, depth: usize) -> Result<Node, Fault> {
        let mut parts = Vec::new();
        loop {
            match self.and(depth)? {
                Node::Or(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if self.next != Token::Or {
                return Ok(one_or(parts, Node::Or));
            }
            self.advance()?;
        }
    }

    fn and(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            match self.part(depth)? {
                Node::And(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            match self.next {
                Token::And => {
                    self.advance()?;
                }
                Token::Not | Token::Open | Token::Leaf(_) => {}
                Token::Or | Token::Close | Token::End => break,
            }
        }
        if parts.iter().all(|part| matches!(part, Node::Not(_))) {
            let message = "`NOT` needs a word beside it that the text must have";
            return Err(Fault::new(start, message));
        }
        Ok(one_or(parts, Node::And))
    }

    fn part(&mut self, depth: usize) -> Result<Node, Fault> {
        if self.next != Token::Not {
            return self.operand(depth);
        }
        self.advance()?;
        if self.next == Token::Not {
            return Err(Fault::new(self.at, "`NOT` after `NOT`"));
        }
        Ok(Node::Not(Box::new(self.operand(depth)?)))
    }

    fn operand(&mut self, depth: usize) -> Result<Node, Fault> {
        let at = self.at;
        match self.advance()? {
            Token::Leaf(form) => {
                self.words += 1;
                if self.words > WORDS_MAX {
                    let message = format!("too many words and phrases: max={WORDS_MAX}");
                    return Err(Fault::new(at, message));
                }
                Ok(Node::Leaf(Leaf { form, at }))
            }
            Token::Open if depth == DEPTH_MAX => {
                Err(Fault::new(at, format!("too many nested parentheses: max={DEPTH_MAX}")))
            }
            Token::Open => {
                let node = self.or(depth + 1)?;
                match self.advance()? {
                    Token::Close => Ok(node),
                    _ => Err(Fault::new(at, "`(` without a `)` after it")),
                }
            }
            Token::And => Err(Fault::new(at, "a word is missing before `AND`")),
            Token::Or => Err(Fault::new(at, "a word is missing before `OR`")),
            Token::Not => Err(Fault::new(at, "a word is missing before `NOT`")),
            Token::Close => Err(Fault::new(at, "a word is missing before `)`")),
            Token::End => Err(Fault::new(at, "a word is missing")),
        }
    }
}

/// Returns the only part, or a node with several.
fn one_or(mut parts: Vec<Node>, node: fn(Vec<Node>) -> Node) -> Node {
    match parts.pop() {
        Some(part) if parts.is_empty() => part,
        Some(part) => {
            parts.push(part);
            node(parts)
        }
        None => node(parts),
    }
}

#[derive(PartialEq, Debug)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Leaf(Form),
    End,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
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

    /// Takes the character after a backslash.
    fn take_escaped(&mut self) -> Result<char, Fault> {
        let at = self.at - 1;
        self.take().ok_or_else(|| {
            Fault::new(at, "`\\` needs a character after it").hint("write \\\\ for a backslash")
        })
    }

    /// Returns the next token, and where it begins.
    fn next(&mut self) -> Result<(usize, Token), Fault> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.take();
        }
        let at = self.at;
        let token = match self.peek() {
            None => Token::End,
            Some('(') => {
                self.take();
                Token::Open
            }
            Some(')') => {
                self.take();
                Token::Close
            }
            Some('"') => self.phrase(at)?,
            Some(_) => self.word(at)?,
        };
        Ok((at, token))
    }

    fn phrase(&mut self, at: usize) -> Result<Token, Fault> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(Fault::new(at, "`\"` without a second one after it")),
                Some('"') => break,
                Some('\\') => text.push(self.take_escaped()?),
                Some(c) => text.push(c),
            }
        }
        match self.peek() {
            _ if text.is_empty() => Err(Fault::new(at, "a phrase is empty").hint(EMPTY_VALUE)),
            Some('*') => Err(Fault::new(self.at, "a phrase has no `*`; only a word has one")),
            Some('~') => Err(Fault::new(self.at, "a phrase has no `~`; only a word has one")),
            Some('^') => Err(weight(self.at)),
            _ => Ok(Token::Leaf(Form::Phrase(text))),
        }
    }

    fn word(&mut self, at: usize) -> Result<Token, Fault> {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|&c| c == '\\' || !is_special(c)) {
            self.take();
            word.push(if c == '\\' { self.take_escaped()? } else { c });
        }
        let written = &self.text[at..self.at];
        if let Some(advice) = of_lucene(written) {
            return Err(Fault::new(at, format!("`{written}` is not supported")).hint(advice));
        }
        let suffix = self.at;
        match self.peek() {
            Some('*') => {
                self.take();
                self.expect_end(suffix, "`*` stands only at the end of a word")?;
                if word.is_empty() {
                    return Err(Fault::new(at, "`*` needs the beginning of a word before it"));
                }
                Ok(Token::Leaf(Form::Prefix(word)))
            }
            Some('~') => {
                self.take();
                if word.is_empty() {
                    return Err(Fault::new(at, "`~` needs a word before it")
                        .hint("write \\~ for the character"));
                }
                let distance = match self.take() {
                    Some('1') => 1,
                    Some('2') => 2,
                    _ => return Err(no_distance(suffix)),
                };
                if self.peek().is_some_and(|c| c == '\\' || !is_special(c)) {
                    return Err(no_distance(suffix));
                }
                self.expect_end(suffix, "`~` stands only at the end of a word")?;
                Ok(Token::Leaf(Form::Fuzzy(word, distance)))
            }
            Some('^') => Err(weight(suffix)),
            _ => Ok(match written {
                "AND" => Token::And,
                "OR" => Token::Or,
                "NOT" => Token::Not,
                _ => Token::Leaf(Form::Word(word)),
            }),
        }
    }

    /// Checks that no part of the word follows the suffix.
    fn expect_end(&self, suffix: usize, message: &str) -> Result<(), Fault> {
        match self.peek() {
            Some(c) if !c.is_whitespace() && !matches!(c, '(' | ')' | '"') => {
                Err(Fault::new(suffix, message).hint("write a backslash before the character"))
            }
            _ => Ok(()),
        }
    }
}

fn no_distance(at: usize) -> Fault {
    Fault::new(at, "`~` needs a number of changes after it: min=1, max=2")
}

fn weight(at: usize) -> Fault {
    Fault::new(at, "`^` is not supported: all words weigh the same")
        .hint("write \\^ for the character")
}
