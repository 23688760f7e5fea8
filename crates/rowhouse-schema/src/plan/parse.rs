//! The query parser.
//!
//! ```text
//! query     = [ condition *( "and" condition ) ]
//! condition = "(" condition *( "and" condition ) ")"
//!           / field ( sign constant / "between" constant "and" constant
//!                   / "in" "(" constant *( "," constant ) ")"
//!                   / ( "starts" / "ends" ) "with" constant / "under" constant / "during" constant
//!                   / "matches" text / "is" [ "not" ] "null" )
//! field     = name [ "." name ] / "hash(" name [ "." name ] ")"   (the latter before "=" or "in")
//! text      = "'" text with '' for a quote "'"
//! constant  = text / "x'" hex digits "'" / "0x" hex digits
//!           / number / time / "true" / "false" / "(" [ constant *( "," constant ) ] ")"
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::predicate::{Comparison, Condition, Constant, Literal, Predicate, Test};
use crate::encode::read_bytes;
use crate::error::Fault;
use crate::spelling::closest;
use crate::template::is_name;
use crate::value::{Value, parse_hex};

/// Parses a query that is part of a longer text, between two offsets.
pub(super) fn parse(whole: &str, part: Range<usize>) -> Result<Predicate, Fault> {
    let mut reader = QueryLexer { text: &whole[..part.end], at: part.start, depth: 0 };
    let source: Arc<str> = whole.into();
    let mut conditions = Vec::new();
    if reader.peek()?.1 == Token::End {
        return Ok(Predicate::all());
    }
    // Conditions are joined by `and` alone, so parentheses around them change nothing.
    let mut open = Vec::new();
    loop {
        while let (at, Token::Sign("(")) = reader.peek()? {
            reader.next()?;
            open.push(at);
        }
        let (field, at) = reader.field()?;
        let (field, test) = if is(&field, "hash") && reader.peek()?.1 == Token::Sign("(") {
            reader.stored_hash(at)?
        } else {
            (field, reader.test()?)
        };
        conditions.push(Condition { field, test, source: Some(source.clone()), at });
        while reader.peek()?.1 == Token::Sign(")") && open.pop().is_some() {
            reader.next()?;
        }
        match (reader.next()?, open.last()) {
            ((_, Token::Word(word)), _) if is(word, "and") => {}
            ((at, Token::Word(word)), _) if is(word, "or") => {
                return Err(Fault::new(at, "`or` is not in the query language")
                    .hint("for several values of a field use in (…)"));
            }
            ((_, Token::End), None) => return Ok(Predicate { conditions: conditions.into() }),
            ((_, Token::End), Some(at)) => {
                return Err(Fault::new(*at, "`(` without a `)` after it"));
            }
            ((at, _), None) => {
                return Err(Fault::new(at, "expected `and` or the end of the query"));
            }
            ((at, _), Some(_)) => return Err(Fault::new(at, "expected `and` or `)`")),
        }
    }
}

/// The words that may follow a field.
const TESTS: &[&str] = &["between", "in", "starts", "ends", "under", "is", "during", "matches"];
const EXPECTED: &str =
    "=, <, <=, >, >=, between, in, starts with, ends with, under, during, matches or is null";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name, a language word, a number or a time.
    Word(&'a str),
    Text(String),
    Bytes(Vec<u8>),
    Sign(&'a str),
    End,
}

struct QueryLexer<'a> {
    text: &'a str,
    at: usize,
    /// How many parentheses are open.
    depth: usize,
}

/// The constants that begin with a letter.
const WORDS: &[&str] = &["true", "false", "inf"];
/// How deep parentheses may nest. A list of value groups takes two levels.
const DEPTH_MAX: usize = 3;

impl<'a> QueryLexer<'a> {
    fn field(&mut self) -> Result<(String, usize), Fault> {
        let (at, token) = self.next()?;
        let Token::Word(word) = token else {
            return Err(Fault::new(at, "expected the name of a field"));
        };
        if let Some((family, _)) = word.split_once(':')
            && family.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            return Err(Fault::new(at, format!("expected a name, not the column {word}")).hint(
                "a query asks for fields of the key, and for columns by their declared names",
            ));
        }
        let (name, of_qualifier) = match word.split_once('.') {
            Some((name, field)) => (name, Some(field)),
            None => (word, None),
        };
        if !is_name(name) {
            return Err(Fault::new(at, format!("expected the name of a field, not {word}")));
        }
        if let Some(field) = of_qualifier.filter(|field| !is_name(field)) {
            let message = match field {
                "" => format!("expected a field of the qualifiers of `{name}`"),
                field => format!("expected a field of the qualifiers of `{name}`, not {field}"),
            };
            return Err(Fault::new(at + name.len() + 1, message));
        }
        if is(word, "not") {
            return Err(Fault::new(at, "`not` is not in the query language"));
        }
        Ok((word.to_owned(), at))
    }

    /// Parses the text after the word `hash`: a field in parentheses, and stored hashes.
    fn stored_hash(&mut self, at: usize) -> Result<(String, Test), Fault> {
        self.next()?;
        let (field, _) = self.field()?;
        match self.next()? {
            (_, Token::Sign(")")) => {}
            (at, _) => return Err(Fault::new(at, "expected `)` after the field")),
        }
        let test = match self.test()? {
            Test::Compare(Comparison::Equal, constant) => {
                Test::Compare(Comparison::Equal, hash_of(constant)?)
            }
            Test::OneOf(constants) => {
                Test::OneOf(constants.into_iter().map(hash_of).collect::<Result<_, _>>()?)
            }
            _ => return Err(Fault::new(at, "a stored hash is compared by = or in")),
        };
        Ok((field, test))
    }

    fn test(&mut self) -> Result<Test, Fault> {
        let (at, token) = self.next()?;
        let comparison = match token {
            Token::Sign("=") => Comparison::Equal,
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::LessOrEqual,
            Token::Sign(">") => Comparison::Greater,
            Token::Sign(">=") => Comparison::GreaterOrEqual,
            Token::Sign("==") => return Err(Fault::new(at, "unknown sign `==`").hint("write =")),
            Token::Sign(sign @ ("!=" | "<>")) => {
                return Err(Fault::new(at, format!("`{sign}` is not in the query language"))
                    .hint("it would read nearly every row; use < and >"));
            }
            Token::Word(word) => return self.test_in_words(at, word),
            _ => return Err(Fault::new(at, format!("expected {EXPECTED}"))),
        };
        Ok(Test::Compare(comparison, self.constant()?))
    }

    fn test_in_words(&mut self, at: usize, word: &str) -> Result<Test, Fault> {
        match word.to_ascii_lowercase().as_str() {
            "between" => {
                let low = self.constant()?;
                self.word("and")?;
                Ok(Test::Between(low, self.constant()?))
            }
            "in" => self.list(),
            "starts" => {
                self.word("with")?;
                Ok(Test::StartsWith(self.constant()?))
            }
            "ends" => {
                self.word("with")?;
                Ok(Test::EndsWith(self.constant()?))
            }
            "under" => Ok(Test::Under(self.constant()?)),
            "during" => Ok(Test::During(self.constant()?)),
            "matches" => match self.next()? {
                (at, Token::Text(words)) => {
                    Ok(Test::Matches(Constant { at, literal: Literal::Value(Value::Text(words)) }))
                }
                (at, _) => Err(Fault::new(at, "expected a search text in quotes")
                    .hint("for example body matches 'row keys'")),
            },
            "is" => match self.peek()? {
                (_, Token::Word(word)) if is(word, "not") => {
                    self.next()?;
                    self.word("null")?;
                    Ok(Test::IsNotNull)
                }
                _ => self.word("null").map(|()| Test::IsNull),
            },
            "like" => Err(Fault::new(at, "`like` is not in the query language")
                .hint("for a prefix use starts with '…'")),
            "not" => Err(Fault::new(at, "`not` is not in the query language")),
            word => {
                let fault = Fault::new(at, format!("expected {EXPECTED}"));
                Err(match closest(word, TESTS.iter().copied()) {
                    Some(close) => fault.hint(format!("did you mean `{close}`?")),
                    None => fault,
                })
            }
        }
    }

    fn list(&mut self) -> Result<Test, Fault> {
        let (at, token) = self.next()?;
        if token != Token::Sign("(") {
            return Err(Fault::new(at, "expected `(` after `in`"));
        }
        Ok(Test::OneOf(self.constants()?))
    }

    /// Parses constants and the closing parenthesis.
    fn constants(&mut self) -> Result<Vec<Constant>, Fault> {
        let mut constants = Vec::new();
        if self.peek()?.1 == Token::Sign(")") {
            self.next()?;
            return Ok(constants);
        }
        loop {
            constants.push(self.constant()?);
            match self.next()? {
                (_, Token::Sign(")")) => return Ok(constants),
                (_, Token::Sign(",")) => {}
                (at, _) => return Err(Fault::new(at, "expected `,` or `)`")),
            }
        }
    }

    fn constant(&mut self) -> Result<Constant, Fault> {
        let (at, token) = self.next()?;
        let literal = match token {
            Token::Text(text) => Literal::Value(Value::Text(text)),
            Token::Bytes(bytes) => Literal::Value(Value::Bytes(bytes)),
            Token::Sign("(") if self.depth < DEPTH_MAX => {
                self.depth += 1;
                let list = self.constants()?;
                self.depth -= 1;
                Literal::List(list)
            }
            Token::Word(word) if is(word, "null") => {
                return Err(Fault::new(at, "null cannot be compared").hint("use `is null`"));
            }
            Token::Word(word) if WORDS.contains(&word) => Literal::Word(word.to_owned()),
            Token::Word(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                return Err(Fault::new(at, "expected a value")
                    .hint(format!("put text in quotes: '{word}'")));
            }
            Token::Word(word) => Literal::Word(word.to_owned()),
            _ => {
                return Err(Fault::new(
                    at,
                    "expected a value: a text in quotes, a number or a time",
                ));
            }
        };
        Ok(Constant { at, literal })
    }

    /// Parses a word that has to follow.
    fn word(&mut self, expected: &str) -> Result<(), Fault> {
        match self.next()? {
            (_, Token::Word(word)) if is(word, expected) => Ok(()),
            (at, _) => Err(Fault::new(at, format!("expected `{expected}`"))),
        }
    }

    fn peek(&self) -> Result<(usize, Token<'a>), Fault> {
        QueryLexer { text: self.text, at: self.at, depth: self.depth }.next()
    }

    fn next(&mut self) -> Result<(usize, Token<'a>), Fault> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let at = self.at;
        let rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok((at, Token::End)) };
        if first == '\'' {
            return Ok((at, Token::Text(self.quoted()?)));
        }
        if rest.starts_with("x'") {
            self.at += 1;
            let digits = self.quoted()?;
            let bytes = parse_hex(&digits);
            let expected = || Fault::new(at, "expected an even number of hex digits: x'00ff'");
            return Ok((at, Token::Bytes(bytes.ok_or_else(expected)?)));
        }
        let word = rest.find(|c: char| !(c.is_alphanumeric() || "_.:+-".contains(c)));
        let word = &rest[..word.unwrap_or(rest.len())];
        if !word.is_empty() {
            self.at += word.len();
            return Ok((at, Token::Word(word)));
        }
        let signs = ["<=", ">=", "!=", "<>", "==", "=", "<", ">", "(", ")", ","];
        if let Some(sign) = signs.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return Ok((at, Token::Sign(sign)));
        }
        let fault = Fault::new(at, format!("unexpected character `{first}`"));
        Err(match first {
            '"' | '`' | '‘' | '’' | '“' => fault.hint("put text in single quotes: '…'"),
            _ => fault,
        })
    }

    /// Parses a quoted text, at the opening quote.
    fn quoted(&mut self) -> Result<String, Fault> {
        let open = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(len) = rest.find('\'') else {
                return Err(Fault::new(open, "this quote is never closed"));
            };
            text.push_str(&rest[..len]);
            self.at += len + 1;
            if !self.text[self.at..].starts_with('\'') {
                return Ok(text);
            }
            text.push('\'');
            self.at += 1;
        }
    }
}

/// Converts a constant to a stored hash.
fn hash_of(constant: Constant) -> Result<Constant, Fault> {
    let stored = match &constant.literal {
        Literal::Word(word) => read_bytes(word),
        Literal::Value(Value::Bytes(bytes)) => Some(bytes.clone()),
        Literal::Value(_) | Literal::List(_) => None,
    };
    let expected = || Fault::new(constant.at, "expected a stored hash such as 0x00ff");
    let literal = Literal::Value(Value::Hashed(stored.ok_or_else(expected)?));
    Ok(Constant { literal, ..constant })
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}
