//! Every design of a space for a workload, enumerated without the proposals of the advice: all
//! orders of the key's fields, with five prefixes, with up to two indexes on the fields of the
//! questions.

use std::collections::BTreeSet;

/// A key and indexes, as texts.
pub(crate) type DesignText = (String, String);

/// A name as a workload declares it, and what a design may do with it.
struct Name {
    name: String,
    field_type: String,
    is_column: bool,
    is_time: bool,
    grows: bool,
}

/// Returns the designs.
pub(crate) fn designs(text: &str) -> Vec<DesignText> {
    let names = names(text);
    let keys = keys(&names);
    let indexes = indexes(&names, text);
    let mut sets = vec![String::new()];
    for (at, index) in indexes.iter().enumerate() {
        sets.push(format!("first {index}"));
        sets.extend(indexes[at + 1..].iter().map(|it| format!("first {index}; second {it}")));
    }
    keys.iter().flat_map(|key| sets.iter().map(|set| (key.clone(), set.clone()))).collect()
}

/// Reads the fields and columns from a workload's lines.
fn names(text: &str) -> Vec<Name> {
    let mut names = Vec::new();
    for line in text.lines() {
        let Some((declared, values)) = line.split_once(": ") else { continue };
        let words: Vec<&str> = declared.split_whitespace().collect();
        let is_column = words[0] == "column";
        if !is_column && words[0] != "field" {
            continue;
        }
        let name = words[if is_column { 2 } else { 1 }].to_owned();
        let field_type = match words[if is_column { 3 } else { 2 }] {
            "text" => "string".to_owned(),
            other => other.to_owned(),
        };
        let is_now = values.starts_with("now");
        // Questions for the newest rows are about the first time.
        let is_time = is_now && !names.iter().any(|other: &Name| other.is_time);
        let grows = is_now || values.starts_with("sequence");
        names.push(Name { name, field_type, is_column, is_time, grows });
    }
    names
}

fn keys(names: &[Name]) -> Vec<String> {
    let fields: Vec<&Name> = names.iter().filter(|name| !name.is_column).collect();
    let mut keys = Vec::new();
    for order in orders(fields.len()) {
        let of = |at: &usize| {
            let Name { name, field_type, is_time, .. } = fields[*at];
            format!("[{name} {field_type}{}]", if *is_time { " desc" } else { "" })
        };
        let plain: String = order.iter().map(of).collect();
        let first = &fields[order[0]].name;
        let prefixes = [
            String::new(),
            format!("[bucket 4 of {first}]"),
            format!("[bucket 16 of {first}]"),
            "[salt 16]".to_owned(),
            format!("[hash 2 of {first}]"),
        ];
        keys.extend(prefixes.iter().map(|prefix| format!("{prefix}{plain}")));
    }
    keys
}

/// Returns index templates: for each question, the fields with one value in all orders, and each
/// alone, before a range or the time.
fn indexes(names: &[Name], text: &str) -> Vec<String> {
    let mut indexes = BTreeSet::new();
    for question in text.lines().filter_map(|line| line.strip_prefix("ask ")) {
        let mut equal: Vec<&Name> = Vec::new();
        let mut last = None;
        for condition in question.split(" : ").next().unwrap().split(" and ") {
            let words: Vec<&str> = condition.split_whitespace().collect();
            let name = names.iter().find(|name| name.name == words[0]).unwrap();
            if words[1] == "=" {
                equal.push(name);
            } else {
                last = last.or(Some(name));
            }
        }
        if question.contains(" newest ") {
            last = last.or(names.iter().find(|name| name.is_time));
        }
        let last = last.filter(|last| !equal.iter().any(|name| name.name == last.name));
        let mut firsts: Vec<Vec<&Name>> = equal.iter().map(|name| vec![*name]).collect();
        firsts
            .extend(orders(equal.len()).iter().map(|it| it.iter().map(|at| equal[*at]).collect()));
        for first in firsts {
            let all: Vec<&Name> = first.into_iter().chain(last).collect();
            if all.is_empty() {
                continue;
            }
            let bucket = if all[0].grows {
                format!("[bucket 16 of {}]", all[0].name)
            } else {
                String::new()
            };
            let fields: String = all.iter().map(|name| index_field(name, last)).collect();
            indexes.insert(format!("{bucket}{fields}"));
        }
    }
    indexes.into_iter().collect()
}

fn index_field(name: &Name, last: Option<&Name>) -> String {
    let desc = if name.is_time { " desc" } else { "" };
    let is_last = last.is_some_and(|last| last.name == name.name);
    let null = if name.is_column && is_last { " null last" } else { "" };
    format!("[{}{desc}{null}]", name.name)
}

/// Returns all orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<usize>| {
                let rest = (0..count).filter(|at| !order.contains(at));
                rest.map(|at| order.iter().copied().chain([at]).collect()).collect::<Vec<_>>()
            })
            .collect();
    }
    orders
}
