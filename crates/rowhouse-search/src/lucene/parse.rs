//! Tokens to a tree.

use rowhouse_schema::Fault;

use super::lexer::{Lexer, Token, is_space};
use super::part::{Clause, LuceneForm, LuceneLeaf, Occurs, Part};
use super::{LUCENE_BYTES_MAX, Operator};
use crate::words::{DEPTH_MAX, WORDS_MAX};

/// Parses a query; `None` for a blank text.
pub(super) fn parse(text: &str, operator: Operator) -> Result<Option<Part>, Fault> {
    if text.len() > LUCENE_BYTES_MAX {
        let message = format!("query is too long: bytes={}, max={LUCENE_BYTES_MAX}", text.len());
        return Err(Fault::new(0, message));
    }
    if text.trim_matches(is_space).is_empty() {
        return Ok(None);
    }
    let lexer = Lexer { text, at: 0 };
    let mut parser = Parser { lexer, operator, next: Token::End, at: 0, leaves: 0 };
    parser.advance()?;
    let part = parser.query(None, 0)?;
    match parser.next {
        Token::End => Ok(Some(part)),
        Token::Close => Err(Fault::new(parser.at, "`)` without a `(` before it")),
        _ => Err(parser.unexpected()),
    }
}

/// The name before the colon in `*:*`.
const ANY_FIELD: &str = "*";

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

enum Weight {
    Boost(f32),
    Score(f32),
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

    /// Reads a clause. `outer` is the field of the group around it.
    fn clause(&mut self, outer: Option<&str>, depth: usize) -> Result<Part, Fault> {
        let at = self.at;
        let name = match self.advance()? {
            Token::Word(name) if self.next == Token::Colon => name,
            Token::Star if self.next == Token::Colon => ANY_FIELD.to_owned(),
            token => return self.operand(outer, depth, at, token),
        };
        if matches!(&name[..], "_query_" | "_val_") {
            let message = format!("`{name}:`: nested queries and functions are not supported");
            return Err(Fault::new(at, message));
        }
        self.advance()?;
        let at = self.at;
        let token = self.advance()?;
        self.operand(Some(&name), depth, at, token)
    }

    /// Reads an operand that begins with `token`, which is at `at`.
    fn operand(
        &mut self,
        field: Option<&str>,
        depth: usize,
        at: usize,
        token: Token,
    ) -> Result<Part, Fault> {
        let form = match token {
            Token::Word(word) => LuceneForm::Word(word),
            Token::Sign(sign) => LuceneForm::Word(sign.to_string()),
            Token::Prefix(word) => LuceneForm::Prefix(word),
            Token::Phrase(text) => LuceneForm::Phrase(text),
            Token::Range(low, high) => LuceneForm::Range(low, high),
            // As in Solr, `*` is not on the default field.
            Token::Star if matches!(field, None | Some(ANY_FIELD)) => LuceneForm::All,
            Token::Star => LuceneForm::Any,
            Token::Open => {
                let part = self.group(field, depth, at)?;
                return Ok(weighted(part, self.weight()?));
            }
            Token::OpenFilter => {
                let part = Part::Constant(Box::new(self.group(field, depth, at)?), 0.0);
                return Ok(weighted(part, self.weight()?));
            }
            token => {
                (self.next, self.at) = (token, at);
                return Err(self.unexpected());
            }
        };
        if field == Some(ANY_FIELD) && form != LuceneForm::All {
            let message = "`*:` is followed by `*`: a word is looked for in one field";
            return Err(Fault::new(at, message));
        }
        let field = field.filter(|_| form != LuceneForm::All);
        self.suffixed(field, form, at)
    }

    /// Reads what follows a condition: `~` and a weight in either order, but no `~` after a range.
    fn suffixed(
        &mut self,
        field: Option<&str>,
        form: LuceneForm,
        at: usize,
    ) -> Result<Part, Fault> {
        let has_similar = !matches!(form, LuceneForm::Range(..));
        let mut similar = if has_similar { self.similar()? } else { None };
        let weight = self.weight()?;
        if has_similar && similar.is_none() && weight.is_some() {
            similar = self.similar()?;
        }
        let form = match similar {
            Some((at, number)) => changed(form, number, at)?,
            None => form,
        };
        let leaf = self.leaf(field, form, at)?;
        Ok(weighted(leaf, weight))
    }

    /// Takes `~` with the number. Returns its place and the number.
    fn similar(&mut self) -> Result<Option<(usize, Option<f32>)>, Fault> {
        let Token::Similar(number) = self.next else { return Ok(None) };
        let at = self.at;
        self.advance()?;
        Ok(Some((at, number)))
    }

    fn weight(&mut self) -> Result<Option<Weight>, Fault> {
        let weight = match self.next {
            Token::Boost(boost) => Weight::Boost(boost),
            Token::Score(score) => Weight::Score(score),
            _ => return Ok(None),
        };
        self.advance()?;
        Ok(Some(weight))
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

    /// The error for a token that no clause begins with.
    fn unexpected(&self) -> Fault {
        let before = match self.next {
            Token::And => " before `AND`",
            Token::Or => " before `OR`",
            Token::Not | Token::Plus | Token::Minus => " before the second sign",
            Token::Close => " before `)`",
            Token::Colon => " before `:`",
            Token::Boost(_) | Token::Score(_) => " before `^`",
            Token::Similar(_) => " before `~`",
            _ => "",
        };
        Fault::new(self.at, format!("a word is missing{before}"))
    }
}

fn weighted(part: Part, weight: Option<Weight>) -> Part {
    match weight {
        None => part,
        Some(Weight::Boost(boost)) => Part::Boosted(Box::new(part), boost),
        Some(Weight::Score(score)) => Part::Constant(Box::new(part), score),
    }
}

/// Returns what `~` with a number turns a condition into. `at` is its place. As in Solr, it does
/// nothing after `*`.
fn changed(form: LuceneForm, number: Option<f32>, at: usize) -> Result<LuceneForm, Fault> {
    match form {
        // Lucene's default is the highest number that it allows.
        LuceneForm::Word(word) => match number.unwrap_or(2.0) {
            0.0 => Ok(LuceneForm::Word(word)),
            1.0 => Ok(LuceneForm::Fuzzy(word, 1)),
            2.0 => Ok(LuceneForm::Fuzzy(word, 2)),
            other => {
                let message = format!("`~{other}` is not a number of changes: min=0, max=2");
                Err(Fault::new(at, message))
            }
        },
        LuceneForm::Phrase(text) if number.unwrap_or(0.0) < 1.0 => Ok(LuceneForm::Phrase(text)),
        LuceneForm::Phrase(_) => {
            let message = "distances of phrases (`\"row key\"~3`) are not supported";
            Err(Fault::new(at, message))
        }
        LuceneForm::Prefix(_)
        | LuceneForm::Any
        | LuceneForm::All
        | LuceneForm::Range(..)
        | LuceneForm::Fuzzy(..) => Ok(form),
    }
}
