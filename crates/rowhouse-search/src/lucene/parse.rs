//! Tokens to a tree.

use rowhouse_schema::Fault;

use super::lexer::{Lexer, Token};
use super::part::{Clause, LuceneForm, LuceneLeaf, Occurs, Part};
use super::{LUCENE_BYTES_MAX, Operator};
use crate::words::{DEPTH_MAX, WORDS_MAX};

/// Parses a query; `None` for a blank text.
pub(super) fn parse(text: &str, operator: Operator) -> Result<Option<Part>, Fault> {
    if text.len() > LUCENE_BYTES_MAX {
        let message = format!("query is too long: bytes={}, max={LUCENE_BYTES_MAX}", text.len());
        return Err(Fault::new(0, message));
    }
    let lexer = Lexer { text, at: 0 };
    let mut parser = Parser { lexer, operator, next: Token::End, at: 0, leaves: 0 };
    parser.advance()?;
    if parser.next == Token::End {
        return Ok(None);
    }
    let part = parser.query(None, 0)?;
    match parser.next {
        Token::End => Ok(Some(part)),
        Token::Close => Err(Fault::new(parser.at, "`)` without a `(` before it")),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    operator: Operator,
    next: Token,
    /// Where `next` begins.
    at: usize,
    leaves: usize,
}

/// What stands between two clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Plainly,
    And,
    Or,
}

impl Parser<'_> {
    /// Takes the next token, and reads the one after it.
    fn advance(&mut self) -> Result<Token, Fault> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.next, token))
    }

    fn query(&mut self, field: Option<&str>, depth: usize) -> Result<Part, Fault> {
        let mut clauses: Vec<Clause> = Vec::new();
        let mut is_plain = true;
        let mut joined = Joined::Plainly;
        loop {
            let sign = self.sign()?;
            let part = self.clause(field, depth)?;
            is_plain &= sign.is_none();
            self.add(&mut clauses, joined, sign, part);
            joined = match self.next {
                Token::And => Joined::And,
                Token::Or => Joined::Or,
                Token::Close | Token::End => break,
                _ => Joined::Plainly,
            };
            if joined != Joined::Plainly {
                self.advance()?;
            }
        }
        match clauses.len() {
            1 if is_plain => Ok(clauses.remove(0).part),
            _ => Ok(Part::Group(clauses)),
        }
    }

    /// Adds a clause as Lucene's classic parser does: `AND` makes the clauses on both sides
    /// necessary, and `OR` makes them optional where all others are necessary. There is no
    /// precedence.
    fn add(&self, clauses: &mut Vec<Clause>, joined: Joined, sign: Option<Occurs>, part: Part) {
        let by_default = match self.operator {
            Operator::Or => Occurs::Should,
            Operator::And => Occurs::Must,
        };
        if let Some(before) = clauses.last_mut().filter(|it| it.occurs != Occurs::MustNot) {
            match joined {
                Joined::And => before.occurs = Occurs::Must,
                Joined::Or if self.operator == Operator::And => before.occurs = Occurs::Should,
                Joined::Or | Joined::Plainly => {}
            }
        }
        let occurs = match (self.operator, joined, sign) {
            (_, _, Some(Occurs::MustNot)) => Occurs::MustNot,
            (Operator::Or, Joined::And, _) => Occurs::Must,
            // As in Lucene, `OR` weighs more than `+` here.
            (Operator::And, Joined::Or, _) => Occurs::Should,
            (_, _, sign) => sign.unwrap_or(by_default),
        };
        clauses.push(Clause { occurs, part });
    }

    fn sign(&mut self) -> Result<Option<Occurs>, Fault> {
        let occurs = match self.next {
            Token::Plus => Occurs::Must,
            Token::Minus | Token::Not => Occurs::MustNot,
            _ => return Ok(None),
        };
        self.advance()?;
        Ok(Some(occurs))
    }

    /// Reads a clause. `outer` is the field of the group that it is in.
    fn clause(&mut self, outer: Option<&str>, depth: usize) -> Result<Part, Fault> {
        let at = self.at;
        let named = match &self.next {
            Token::Field(name) => Some(name.clone()),
            Token::AnyField => {
                self.advance()?;
                if self.advance()? != Token::Star {
                    let message = "`*:` is followed by `*`: a word is looked for in one field";
                    return Err(Fault::new(at, message));
                }
                let part = self.leaf(None, LuceneForm::All, at)?;
                return self.weighted(part);
            }
            _ => None,
        };
        if let Some(name) = &named {
            if matches!(&name[..], "_query_" | "_val_") {
                let message = format!("`{name}:`: nested queries and functions are not supported");
                return Err(Fault::new(at, message));
            }
            self.advance()?;
        }
        let part = self.operand(named.as_deref().or(outer), depth)?;
        self.weighted(part)
    }

    fn operand(&mut self, field: Option<&str>, depth: usize) -> Result<Part, Fault> {
        let at = self.at;
        let form = match self.advance()? {
            Token::Word(word) => LuceneForm::Word(word),
            Token::Fuzzy(word, changes) => LuceneForm::Fuzzy(word, changes),
            Token::Prefix(word) => LuceneForm::Prefix(word),
            Token::Phrase(text) => LuceneForm::Phrase(text),
            Token::Range(low, high) => LuceneForm::Range(low, high),
            Token::Star => LuceneForm::Any,
            Token::Open => return self.group(field, depth, at),
            Token::OpenFilter => {
                let part = self.group(field, depth, at)?;
                return Ok(Part::Constant(Box::new(part), 0.0));
            }
            token => {
                (self.next, self.at) = (token, at);
                return Err(self.unexpected());
            }
        };
        self.leaf(field, form, at)
    }

    fn group(&mut self, field: Option<&str>, depth: usize, at: usize) -> Result<Part, Fault> {
        if depth == DEPTH_MAX {
            return Err(Fault::new(at, format!("too many nested parentheses: max={DEPTH_MAX}")));
        }
        if self.next == Token::Close {
            return Err(Fault::new(at, "`()` has nothing in it"));
        }
        let part = self.query(field, depth + 1)?;
        match self.advance()? {
            Token::Close => Ok(part),
            _ => Err(Fault::new(at, "`(` without a `)` after it")),
        }
    }

    fn leaf(&mut self, field: Option<&str>, form: LuceneForm, at: usize) -> Result<Part, Fault> {
        self.leaves += 1;
        if self.leaves > WORDS_MAX {
            return Err(Fault::new(at, format!("too many clauses: max={WORDS_MAX}")));
        }
        Ok(Part::Leaf(LuceneLeaf { field: field.map(str::to_owned), form, at }))
    }

    fn weighted(&mut self, part: Part) -> Result<Part, Fault> {
        let part = match self.next {
            Token::Boost(boost) => Part::Boosted(Box::new(part), boost),
            Token::Score(score) => Part::Constant(Box::new(part), score),
            _ => return Ok(part),
        };
        self.advance()?;
        Ok(part)
    }

    /// The error for a token that no clause begins with.
    fn unexpected(&self) -> Fault {
        let before = match self.next {
            Token::And => " before `AND`",
            Token::Or => " before `OR`",
            Token::Not | Token::Plus | Token::Minus => " before the second sign",
            Token::Close => " before `)`",
            Token::Field(_) | Token::AnyField => " before the second field",
            Token::Boost(_) | Token::Score(_) => " before `^`",
            _ => "",
        };
        Fault::new(self.at, format!("a word is missing{before}"))
    }
}
