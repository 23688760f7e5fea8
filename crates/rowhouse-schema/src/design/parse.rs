//! The workload parser.
//!
//! ```text
//! workload = *( line [ "#" comment ] newline )
//! line     = "field" name type [ ":" values ]
//!          / "column" family ":" qualifier name type [ ":" values ]
//!          / "key" template / "index" name template …
//!          / "write" rate
//!          / "ask" query [ ( "limit" / "newest" ) N ] ":" rate
//!          / "never" ( "a question reads more than" N "rows"
//!                    / "a region takes more than" N "% of the writes"
//!                    / "a server takes more than" rate "writes" )
//!          / "regions" N / "servers" N / "rows" N / "over" duration / "seed" N
//!          / "sample" file
//! values   = [ N "values" [ "," "zipf" S ] / "sequence" [ "from" N ] / "random" / "now" ]
//!            [ "," bytes ]                                   ; in any order, at least one
//! bytes    = N ( "bytes" / "kB" / "MB" ) / N "to" N ( "bytes" / "kB" )
//! ```

use rowhouse_model::Error;

use super::made::Maker;
use super::parse_values::parse_values;
use super::piece::Piece;
use super::question::Question;
use super::table_design;
use super::words::{COUNT_MAX, Count, Millis, Rate};
use super::workload::{Limits, Variable, Workload};
use crate::columns::ColumnSchema;
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::plan::{Plan, Predicate};
use crate::spelling::closest;
use crate::template::Naming;
use crate::time::TimeZone;
use crate::value::Value;

/// The words with which a line can begin.
const LINES: &[&str] = &[
    "field", "column", "key", "index", "write", "ask", "never", "regions", "servers", "rows",
    "over", "seed", "sample",
];
const REGIONS: usize = 16;
const SERVERS: usize = 4;
const SEED: u64 = 1;
const DAY_MILLIS: i64 = 86_400_000;
/// Writes per second if the workload names no rate.
const WRITES: f64 = 100.0;

/// The most regions and servers.
const REGIONS_MAX: u64 = 1000;

/// What the lines have declared so far.
#[derive(Default)]
struct Draft<'t> {
    fields: Vec<Variable>,
    columns: Vec<(Piece<'t>, Variable)>,
    key: Option<Piece<'t>>,
    indexes: Vec<Piece<'t>>,
    questions: Vec<(Piece<'t>, Question)>,
    write: Option<f64>,
    limits: Limits,
    regions: Option<u64>,
    servers: Option<u64>,
    rows: Option<u64>,
    over: Option<i64>,
    seed: Option<u64>,
    sample: Option<&'t str>,
}

/// Parses a workload; faults have offsets in `text`.
pub(super) fn parse(text: &str) -> Result<Workload, Fault> {
    let mut draft = Draft::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let piece = Piece { at, text: without_comment(line) }.trimmed();
        at += line.len();
        if !piece.text.is_empty() {
            draft.line(piece)?;
        }
    }
    draft.finish(text)
}

/// Returns a line up to a `#` that is first on it or after white space, outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '#' if !quoted && before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = c;
    }
    line
}

impl<'t> Draft<'t> {
    fn line(&mut self, line: Piece<'t>) -> Result<(), Fault> {
        let (word, rest) = line.word();
        match word.text {
            "field" => self.field(rest),
            "column" => self.column(rest),
            "key" => word.set(&mut self.key, rest),
            "index" => {
                self.indexes.push(rest);
                Ok(())
            }
            "write" => word.set(&mut self.write, rest.rate()?),
            "ask" => {
                let question = question(rest)?;
                self.questions.push((rest, question));
                Ok(())
            }
            "never" => self.never(rest),
            "regions" => {
                word.set(&mut self.regions, rest.count("a number of regions", REGIONS_MAX)?)
            }
            "servers" => {
                word.set(&mut self.servers, rest.count("a number of servers", REGIONS_MAX)?)
            }
            "rows" => word.set(&mut self.rows, rest.count("a number of rows", COUNT_MAX)?),
            "over" => {
                let fault = || rest.fault("expected a duration").hint("for example 1d, 12h or 30m");
                word.set(&mut self.over, Millis::read(rest.text).ok_or_else(fault)?)
            }
            "seed" => {
                let seed = rest.text.parse().map_err(|_| rest.fault("expected a whole number"))?;
                word.set(&mut self.seed, seed)
            }
            "sample" if rest.text.is_empty() => Err(line.fault("expected a file after `sample`")),
            "sample" => word.set(&mut self.sample, rest.text),
            other => {
                let fault = word.fault(format!("unknown word `{other}`"));
                Err(match closest(other, LINES.iter().copied()) {
                    Some(close) => fault.hint(format!("did you mean `{close}`?")),
                    None => fault.hint(format!("a line begins with {}", LINES.join(", "))),
                })
            }
        }
    }

    fn field(&mut self, rest: Piece<'t>) -> Result<(), Fault> {
        let (declared, values) = declaration(rest);
        let template = format!("[{}]", declared.text);
        let schema = KeySchema::read_template(&template, Naming::Key).map_err(|mut fault| {
            // The bracket before the declaration.
            fault.at = fault.at.saturating_sub(1).min(declared.text.len());
            fault.shifted(declared.at)
        })?;
        let [field] = schema.fields() else {
            return Err(declared.fault("expected a name and a type, for example user string"));
        };
        let name = field.name();
        let plain = format!("{} {}", field.name(), field.field_type());
        if field.to_string() != plain {
            let fault = declared.fault(format!("`{name}` has modifiers, which belong to designs"));
            return Err(fault.hint(format!("write field {plain}")));
        }
        self.check_name(declared, name)?;
        self.fields.push(variable(field, values)?);
        Ok(())
    }

    fn column(&mut self, rest: Piece<'t>) -> Result<(), Fault> {
        let (declared, values) = declaration(rest);
        let columns = ColumnSchema::read(declared.text).map_err(|f| f.shifted(declared.at))?;
        let [column] = columns.columns() else {
            return Err(declared.fault("expected one column, for example d:s sender string"));
        };
        if column.template().is_some() {
            let fault = declared.fault("a column with a template of qualifiers is not supported");
            return Err(fault.hint("declare its fields as fields: they are then in the key"));
        }
        self.check_name(declared, column.name())?;
        let variable = variable(column.field(), values)?;
        self.columns.push((declared, variable));
        Ok(())
    }

    fn check_name(&self, declared: Piece<'_>, name: &str) -> Result<(), Fault> {
        let columns = self.columns.iter().map(|(_, column)| column);
        let mut names = self.fields.iter().chain(columns).map(|other| other.field.name());
        if names.any(|other| other == name) {
            return Err(declared.fault(format!("`{name}` is declared twice")));
        }
        match name {
            "now" => {
                Err(declared.fault("`now` is the time of the last write; choose another name"))
            }
            _ => Ok(()),
        }
    }

    fn never(&mut self, rest: Piece<'t>) -> Result<(), Fault> {
        let words: Vec<&str> = rest.text.split_whitespace().collect();
        let limit = Limits::default();
        let read = match words[..] {
            ["a", "question", "reads", "more", "than", rows, "rows"] => {
                Count::read(rows).map(|rows| Limits { rows_read: Some(rows), ..limit })
            }
            ["a", "region", "takes", "more", "than", share, "%", "of", "the", "writes"] => {
                let share = share.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
                share.map(|share| Limits { region_share: Some(share / 100.0), ..limit })
            }
            ["a", "server", "takes", "more", "than", rate, "writes"] => {
                Rate::read(rate).map(|rate| Limits { server_writes: Some(rate), ..limit })
            }
            _ => None,
        };
        let Some(read) = read else {
            let fault = rest.fault("expected a limit");
            return Err(fault.hint(
                "`a question reads more than 10000 rows`, `a region takes more than 50 % of the \
                 writes` or `a server takes more than 300/s writes`",
            ));
        };
        self.limits = Limits {
            rows_read: read.rows_read.or(self.limits.rows_read),
            region_share: read.region_share.or(self.limits.region_share),
            server_writes: read.server_writes.or(self.limits.server_writes),
        };
        Ok(())
    }

    fn finish(self, text: &str) -> Result<Workload, Fault> {
        let end = |message: &str| Fault::new(text.trim_end().len(), message);
        if self.fields.is_empty() {
            let fault = end("a workload has at least one field");
            return Err(fault.hint("for example field user string: 1e5 values"));
        }
        let fields = self.fields.len();
        let declared: Vec<_> = self.columns.iter().map(|(piece, _)| piece.text).collect();
        let columns = match self.columns.last() {
            None => None,
            // Each was parsed; together they may be in conflict.
            Some((last, _)) => Some(
                ColumnSchema::read(&declared.join("\n"))
                    .map_err(|fault| Fault::new(last.at, fault.in_text("").message().to_owned()))?,
            ),
        };
        let variables = self.fields.into_iter().chain(self.columns.into_iter().map(|(_, it)| it));
        let mut workload = Workload {
            variables: variables.collect(),
            fields,
            columns,
            key: None,
            indexes: Vec::new(),
            questions: Vec::new(),
            writes_per_second: self.write.unwrap_or(WRITES),
            limits: self.limits,
            regions: self.regions.map_or(REGIONS, |count| count as usize),
            servers: self.servers.map_or(SERVERS, |count| count as usize),
            rows: self.rows,
            over_millis: self.over.unwrap_or(DAY_MILLIS),
            seed: self.seed.unwrap_or(SEED),
            sample: None,
            sample_file: self.sample.map(str::to_owned),
        };
        read_design(&mut workload, self.key, &self.indexes)?;
        for (piece, question) in self.questions {
            check_question(&workload, &question, piece)?;
            workload.questions.push(question);
        }
        Ok(workload)
    }
}

/// Splits a declaration from the values, at a colon before white space or the end.
fn declaration(rest: Piece<'_>) -> (Piece<'_>, Option<Piece<'_>>) {
    let is_end = |(at, _): &(usize, &str)| {
        rest.text[at + 1..].chars().next().is_none_or(char::is_whitespace)
    };
    match rest.text.match_indices(':').find(is_end) {
        Some((at, _)) => (rest.part(0, at), Some(rest.part(at + 1, rest.text.len()))),
        None => (rest, None),
    }
}

fn variable(field: &Field, values: Option<Piece<'_>>) -> Result<Variable, Fault> {
    let made = match values {
        None => None,
        Some(values) => {
            let distribution = parse_values(values)?;
            let maker = Maker::new(field.field_type(), &distribution);
            Some((distribution, maker.map_err(|why| values.fault(why))?))
        }
    };
    Ok(Variable { field: field.clone(), made })
}

/// Parses `user = ? limit 20 : 40/s`.
fn question(rest: Piece<'_>) -> Result<Question, Fault> {
    let Some(colon) = rest.text.rfind(':').filter(|at| rest.text[*at..].contains('/')) else {
        let fault = Fault::new(rest.at + rest.text.len(), "expected `:` and a rate");
        return Err(fault.hint("for example ask user = ? limit 20 : 40/s"));
    };
    let rate = rest.part(colon + 1, rest.text.len()).rate()?;
    let query_part = rest.part(0, colon);
    let (query, limit) = limit_of(query_part)?;
    let mut question = Question::parse(query.text, query.at)?;
    question.per_second = rate;
    if let Some((rows, newest)) = limit {
        (question.limit, question.newest) = (Some(rows), newest);
    }
    Ok(question)
}

/// Splits `limit 20` or `newest 20` off a query's end.
fn limit_of(query: Piece<'_>) -> Result<(Piece<'_>, Option<(u64, bool)>), Fault> {
    for (word, newest) in [("limit", false), ("newest", true)] {
        let Some(at) = query.text.rfind(word) else { continue };
        let begins = query.text[..at].chars().next_back().is_none_or(char::is_whitespace);
        let number = query.part(at + word.len(), query.text.len());
        // `limit = ?` is a condition on a field with this name, and `'limit 5'` a text's end.
        let is_last = number.text.split_whitespace().count() < 2 && !number.text.contains('\'');
        if begins && is_last {
            let rows = number.count("a number of rows", COUNT_MAX)?;
            return Ok((query.part(0, at), Some((rows, newest))));
        }
    }
    Ok((query, None))
}

/// Reads the present key and the indexes.
fn read_design(
    workload: &mut Workload,
    key: Option<Piece<'_>>,
    indexes: &[Piece<'_>],
) -> Result<(), Fault> {
    let Some(key) = key else {
        return match indexes.first() {
            Some(index) => Err(index.fault("an index needs the `key` of its table")),
            None => Ok(()),
        };
    };
    let schema = KeySchema::read_template(key.text, Naming::Key).map_err(|f| f.shifted(key.at))?;
    table_design::check_key(workload, &schema).map_err(|why| key.fault(why))?;
    workload.key = Some(schema);
    workload.indexes = indexes.iter().map(|index| index.text.to_owned()).collect();
    if let (Err(error), Some(first)) = (workload.index_schema(), indexes.first()) {
        return Err(first.fault(first_line(error)));
    }
    Ok(())
}

/// Returns the message from an error about a text that is not the workload, without the place in
/// that text.
fn first_line(error: Error) -> String {
    let line = error.message().lines().next().unwrap_or_default();
    line.rsplit_once(": offset=").map_or(line, |(message, _)| message).to_owned()
}

/// Checks that a question asks for declared fields and columns, with values that they can have.
fn check_question(workload: &Workload, question: &Question, piece: Piece<'_>) -> Result<(), Fault> {
    for name in question.drawn() {
        if !workload.names().any(|other| other == name) {
            let fault = piece.fault(format!("there is no field or column `{name}`"));
            return Err(match closest(name, workload.names()) {
                Some(close) => fault.hint(format!("did you mean `{close}`?")),
                None => fault,
            });
        }
    }
    if question.newest && !workload.may_have_time() {
        return Err(
            piece.fault("`newest` needs a time whose values are `now` or come from a sample")
        );
    }
    let example = |name: &str| {
        let variable = workload.variables.iter().find(|it| it.field.name() == name);
        variable.and_then(|variable| variable.example(workload.end_millis()))
    };
    // Values for other systems' types come from a sample only.
    if question.drawn().any(|name| example(name).is_none()) {
        return Ok(());
    }
    let value = |name: &str, _: usize| example(name).unwrap_or(Value::Null);
    let query = question.with_values(value, workload.end_millis()).map_err(|it| piece.fault(it))?;
    let predicate = Predicate::parse(&query).map_err(|error| piece.fault(first_line(error)))?;
    if predicate.has_matches() {
        let fault = piece.fault("`matches` is not supported in a workload");
        return Err(fault.hint("full-text indexes are no part of designs"));
    }
    let key = workload.plain_key().map_err(|error| piece.fault(first_line(error)))?;
    let planned = Plan::new(&key, workload.columns.as_ref(), &predicate, &TimeZone::UTC);
    planned.map(|_| ()).map_err(|error| piece.fault(first_line(error)))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_mistake(text: &str, expected: Expect) {
        let error = Workload::parse(text).unwrap_err();
        expected.assert_eq(error.message());
    }

    #[test]
    fn mistakes_are_shown_with_line_and_place() {
        check_mistake(
            "field user string: 1e5 values\nfeild at millis: now",
            expect![[r#"
                unknown word `feild`; did you mean `field`?: line=2, offset=0
                  feild at millis: now
                  ^"#]],
        );
        check_mistake(
            "field user string: 1e5 values, zipf 0\n",
            expect![[r#"
                expected a skew above 0, at most 10: line=1, offset=31
                  field user string: 1e5 values, zipf 0
                                                 ^"#]],
        );
        check_mistake(
            "# mail\nfield flag bool: 3 values\n",
            expect![[r#"
                `bool` has fewer values: values=3, max=2: line=2, offset=17
                  field flag bool: 3 values
                                   ^"#]],
        );
        check_mistake(
            "field user string: sequence\n",
            expect![[r#"
                a sequence is of whole numbers, not of `string`: line=1, offset=19
                  field user string: sequence
                                     ^"#]],
        );
        check_mistake(
            "field user string: 3 values\ncolumn d:s user string: 3 values\n",
            expect![[r#"
                `user` is declared twice: line=2, offset=7
                  column d:s user string: 3 values
                         ^"#]],
        );
        check_mistake(
            "field user string desc: 3 values\n",
            expect![[r#"
                `user` has modifiers, which belong to designs; write field user string: line=1, offset=6
                  field user string desc: 3 values
                        ^"#]],
        );
    }

    #[test]
    fn a_field_may_have_the_name_of_a_word_of_questions() {
        let text = "field limit u8: 3 values\nask limit = ? : 1/s\nask limit = ? limit 5 : 2/s";
        let workload = Workload::parse(text).unwrap();
        let limits = workload.questions().iter().map(|question| question.limit);
        assert_eq!(limits.collect::<Vec<_>>(), [None, Some(5)]);
        check_mistake(
            "field user string: 3 values\nask user = ? limit : 1/s",
            expect![[r#"
                expected a number of rows, 1 to 1e12: line=2, offset=18
                  ask user = ? limit : 1/s
                                    ^"#]],
        );
    }

    #[test]
    fn mistakes_in_questions_and_limits_are_shown_with_line_and_place() {
        let with =
            |line: &str| format!("field user string: 3 values\nfield n u8: 3 values\n{line}\n");
        check_mistake(
            &with("ask sender = ? : 1/s"),
            expect![[r#"
                there is no field or column `sender`: line=3, offset=4
                  ask sender = ? : 1/s
                      ^"#]],
        );
        check_mistake(
            &with("ask user = ?"),
            expect![[r#"
                expected `:` and a rate; for example ask user = ? limit 20 : 40/s: line=3, offset=12
                  ask user = ?
                              ^"#]],
        );
        check_mistake(
            &with("ask user = ? + 1h : 1/s"),
            expect![[r#"
                `user` is no time, so no duration is added to it: line=3, offset=4
                  ask user = ? + 1h : 1/s
                      ^"#]],
        );
        check_mistake(
            &with("ask user = ? newest 20 : 1/s"),
            expect![[r#"
                `newest` needs a time whose values are `now` or come from a sample: line=3, offset=4
                  ask user = ? newest 20 : 1/s
                      ^"#]],
        );
        check_mistake(
            &with("ask user ~ ? : 1/s"),
            expect![[r#"
                unexpected character `~`: line=3, offset=4
                  ask user ~ ? : 1/s
                      ^"#]],
        );
        check_mistake(
            &with("never a region reads"),
            expect![[r#"
                expected a limit; `a question reads more than 10000 rows`, `a region takes more than 50 % of the writes` or `a server takes more than 300/s writes`: line=3, offset=6
                  never a region reads
                        ^"#]],
        );
        check_mistake(
            &with("key [user string]"),
            expect![[r#"
                the key has no field `n`: rows that differ only in it would be one; declare it as a column if that is wanted: line=3, offset=4
                  key [user string]
                      ^"#]],
        );
        check_mistake(
            &with("rows 0"),
            expect![[r#"
                expected a number of rows, 1 to 1e12: line=3, offset=5
                  rows 0
                       ^"#]],
        );
    }

    #[test]
    fn a_workload_prints_as_it_is_read() {
        let text = "\
key [user string][at millis desc]
index by_sender [sender]
field user string: 1e5 values, zipf 1.1, 4 to 12 bytes
field at millis: now
column d:s sender string: 20000 values
column d:b body blob: random, 2 kB
write 500/s
ask user = ? newest 20 : 40/s
ask user = ? and at >= now - 1d : 5/m
ask sender in (?, ?) limit 3 : 1/s
ask  : 1/d
never a question reads more than 10000 rows
never a region takes more than 50 % of the writes
never a server takes more than 300/s writes
regions 8
servers 3
rows 1e6
over 12h
seed 7
";
        assert_eq!(Workload::parse(text).unwrap().to_string(), text);
    }

    /// Lines and line parts from which texts are made.
    const PIECES: &[&str] = &[
        "field a string: 3 values",
        "field b millis: now",
        "field c u8: sequence from 250",
        "field d date: 9000 values",
        "field e enum(x,y): 2 values, zipf 10",
        "field f uuid",
        "field g hex 3: 4000 values",
        "field h bytes 3: random",
        "field i domain: 5 values, 1 bytes",
        "column d:x x decimal: 1e11 values",
        "column d:y y f32: random",
        "column d:z z blob: 0 bytes",
        "key [a string][b millis]",
        "key [bucket 3 of a][a text]",
        "index by_x [x]",
        "ask a = ?",
        "ask b > ? - 5s and c between ? and ? + 1",
        "ask x in (?, ?) limit 3",
        " : 1/s",
        " : 5/m",
        "newest 2",
        "never a question reads more than 1e6 rows",
        "rows 3",
        "rows 1e12",
        "over 5ms",
        "seed 18446744073709551615",
        "regions 1",
        "servers 1000",
        "write 0.001/d",
        "# a",
        "'",
        ": ",
        " ",
        "\n",
        "\n",
        "\n",
        "?",
        "now",
        "sample f.csv",
        "12 to 3 bytes",
        "ask d = ? : 1/h",
    ];

    proptest! {
        #[test]
        fn texts_of_known_pieces_make_rows_and_questions_or_a_mistake(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 1..14),
        ) {
            let text = pieces.join(if pieces.len() % 2 == 0 { "\n" } else { "" });
            if let Ok(workload) = Workload::parse(&text) {
                let printed = workload.to_string();
                let again = Workload::parse(&printed).unwrap();
                prop_assert_eq!(again.to_string(), printed);
                for number in [0, workload.rows() - 1] {
                    prop_assert_eq!(workload.record(number).ok(), again.record(number).ok());
                }
                for question in workload.questions() {
                    let _ = workload.ask_predicate(question, 0);
                }
            }
        }

        #[test]
        fn no_text_panics(text in "(field|column|ask|never|key|rows)?[ a-z0-9?:=,/%\\[\\]\n']{0,60}") {
            let _ = Workload::parse(&text);
        }

        #[test]
        fn printed_workloads_are_read_as_the_same(
            count in 1u64..1_000_000_000, skew in 0.01f64..10.0, min in 6u32..50, more in 0u32..50,
            rate in 0.001f64..10_000.0, limit in 1u64..1000, seed: u64,
        ) {
            let text = format!(
                "field user string: {count} values, zipf {skew}, {min} to {} bytes\n\
                 ask user = ? limit {limit} : {rate}/s\nseed {seed}",
                min + more
            );
            let workload = Workload::parse(&text).unwrap();
            let printed = workload.to_string();
            let again = Workload::parse(&printed).unwrap();
            prop_assert_eq!(again.questions(), workload.questions());
            prop_assert_eq!(again.to_string(), printed);
        }
    }
}
