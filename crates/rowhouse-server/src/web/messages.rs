//! The program's messages in Chinese. They are written in English where they arise; pages know
//! those that a query, an address or a task causes by their form. Any other stays in English.

use super::reader::Lang;

/// English and Chinese messages. `{}` stands for any text, which stays as it is; `{w}` for program
/// words, which are in the table too.
const MESSAGES: &[(&str, &str)] = &[
    // Queries.
    ("expected the name of a field", "此处应为字段名"),
    ("expected the name of a field, not {}", "此处应为字段名，而不是 {}"),
    ("expected a name, not the column {}", "此处应为名称，而不是列 {}"),
    (
        "a query asks for fields of the key, and for columns by their declared names",
        "查询使用行键的字段，列用声明的名称",
    ),
    ("expected a field of the qualifiers of `{}`", "此处应为 `{}` 的列限定符的字段"),
    (
        "expected a field of the qualifiers of `{}`, not {}",
        "此处应为 `{}` 的列限定符的字段，而不是 {}",
    ),
    ("`{}` is not in the query language", "查询语言没有 `{}`"),
    ("for several values of a field use in (…)", "一个字段的多个值用 in (…)"),
    ("for a prefix use starts with '…'", "前缀用 starts with '…'"),
    ("it would read nearly every row; use < and >", "这几乎会读所有行；请用 < 和 >"),
    ("expected `and` or the end of the query", "此处应为 `and` 或查询的结尾"),
    ("expected `)` after the field", "字段后应为 `)`"),
    ("expected `(` after `in`", "`in` 后应为 `(`"),
    ("expected `,` or `)`", "此处应为 `,` 或 `)`"),
    ("expected `{}`", "此处应为 `{}`"),
    ("a stored hash is compared by = or in", "存储的哈希值用 = 或 in 比较"),
    ("expected a stored hash such as 0x00ff", "此处应为存储的哈希值，例如 0x00ff"),
    ("unknown sign `{}`", "未知的符号 `{}`"),
    ("write {}, or {} for the count", "请写 {}，计数则写 {}"),
    ("write {}", "请写 {}"),
    (
        "expected =, <, <=, >, >=, {}, matches or is null",
        "此处应为 =, <, <=, >, >=, {}, matches 或 is null",
    ),
    ("did you mean `{}`?", "是否指 `{}`？"),
    ("expected a search text in quotes", "此处应为引号内的搜索文本"),
    ("for example body matches 'row keys'", "例如 body matches 'row keys'"),
    ("null cannot be compared", "null 不能比较"),
    ("use `is null`", "请用 `is null`"),
    ("use {}", "请用 {}"),
    ("expected a value", "此处应为值"),
    (
        "expected a value: a text in quotes, a number or a time",
        "此处应为值：引号内的文本、数字或时间",
    ),
    ("put text in quotes: '{}'", "文本要加引号：'{}'"),
    ("put text in single quotes: '…'", "文本要加单引号：'…'"),
    ("expected an even number of hex digits: x'00ff'", "此处应为偶数个十六进制数字：x'00ff'"),
    ("unexpected character `{}`", "意外的字符 `{}`"),
    ("this quote is never closed", "引号没有结束"),
    // Queries on a table.
    ("there is no `{}`", "没有 `{}`"),
    ("fields of the key: {}", "行键的字段：{}"),
    ("columns: {}", "列：{}"),
    ("the key has no field `{}`", "行键没有字段 `{}`"),
    ("it has: {}", "它有：{}"),
    ("they have: {}", "它们有：{}"),
    ("a query names columns as they are declared: {}", "查询按声明使用列名：{}"),
    (
        "`{}` is the name of many columns, and has no single value",
        "`{}` 是许多列的名称，没有单一的值",
    ),
    ("ask for fields of their qualifiers: {}", "请用其列限定符的字段：{}"),
    ("{w} `{}` is not text", "{w} `{}` 不是文本"),
    (
        "`starts with`, `ends with` and `under` are for texts",
        "`starts with`、`ends with` 和 `under` 用于文本",
    ),
    ("compare, or use between", "请直接比较，或用 between"),
    ("{w} `{}` is not a time, `during` is for times", "{w} `{}` 不是时间，`during` 用于时间"),
    (
        "{w} `{}` is not a domain, `under` is for the type `domain`",
        "{w} `{}` 不是域名，`under` 用于类型 `domain`",
    ),
    ("{w} `{}` is a list: use =, in or starts with", "{w} `{}` 是列表：请用 =、in 或 starts with"),
    ("{w} `{}` is text, which needs quotes", "{w} `{}` 是文本，要加引号"),
    ("{w} `{}` is neither text nor bytes", "{w} `{}` 既不是文本也不是字节"),
    ("{w} `{}` takes one value, not a list", "{w} `{}` 需要一个值，而不是列表"),
    ("{w} `{}` takes one interval, not a list", "{w} `{}` 需要一个区间，而不是列表"),
    ("{w} `{}` takes an interval such as {}, not {}", "{w} `{}` 需要 {} 这样的区间，而不是 {}"),
    ("{w} `{}` takes {w}, not {}", "{w} `{}` 需要{w}，而不是 {}"),
    (
        "{w} `{}` is compared with stored hashes and with values",
        "{w} `{}` 同时与存储的哈希值和值比较",
    ),
    ("a list holds one or the other", "一个列表只能有其中一种"),
    ("{w} hold only a hash of `{}`", "{w}只保存 `{}` 的哈希值"),
    ("`matches` needs a full-text index of `{}`", "`matches` 需要 `{}` 的全文索引"),
    ("table {} has no full-text index", "表 {} 没有全文索引"),
    ("a query needs a row-key template, and {} has none", "查询需要行键模板，而 {} 没有"),
    // Times.
    ("{} may be a time or a count of {}", "{} 可以是时间，也可以是 {} 的计数"),
    ("expected {w} of {} to {} digits", "此处应为{w}，{} 到 {} 位数字"),
    ("expected {w} of {} digits", "此处应为{w}，{} 位数字"),
    ("expected {w} from {} to {}", "此处应为{w}，从 {} 到 {}"),
    ("expected a time such as {}", "此处应为时间，例如 {}"),
    (
        "expected the end of the time, or a zone such as Z or +08:00",
        "此处应为时间的结尾，或 Z、+08:00 这样的时区",
    ),
    ("the month has no such day", "该月没有这一天"),
    ("no calendar reaches this time", "日历不包括这个时间"),
    ("no zone is so far from UTC", "没有离 UTC 这么远的时区"),
    // Addresses.
    ("not a number: {}", "不是数字：{}"),
    ("not reads, writes or bytes: {}", "不是 reads、writes 或 bytes：{}"),
    ("illegal table name: {w}, name={}", "表名无效：{w}，name={}"),
    ("only letters, digits and _ - . are allowed, not {}", "只能有字母、数字和 _ - .，而不是 {}"),
    ("must begin with a letter, a digit or _", "必须以字母、数字或 _ 开头"),
    ("qualifier must not be empty", "不能为空"),
    ("reserved", "是保留的"),
    (
        "a backslash must begin \\xHH with two hex digits: {}",
        "反斜杠后必须是 xHH，HH 为两位十六进制数字：{}",
    ),
    // Designs.
    ("a question reads too many rows: {}", "一个查询读的行太多：{}"),
    ("a region takes too many of the writes: {}", "一个 region 承担的写入太多：{}"),
    ("a server takes too many writes: {}", "一台服务器承担的写入太多：{}"),
    ("too many questions for a page: {}", "页面上的查询太多：{}"),
    ("`{}` has no distribution: it needs a sample", "`{}` 没有分布：需要样本"),
    ("the table has no rows: {}", "表中没有行：{}"),
    ("there is no row of at most {} bytes: {}", "没有不超过 {} 字节的行：{}"),
    ("no row that was read fits the template: {}", "读到的行都不符合模板：{}"),
    ("table {} has no row-key template", "表 {} 没有行键模板"),
    ("a row is too large: {}", "一行太大：{}"),
    // Tasks.
    ("Splitting {}", "分裂 {}"),
    ("Merging {}", "合并 {}"),
    ("Flushing {} in {}", "刷写列族 {}，位于 {}"),
    ("Compacting {} in {}", "compaction：列族 {}，位于 {}"),
    ("Building index {}", "构建索引 {}"),
    ("Queue of index {} of table {}", "索引 {} 的队列，属于表 {}"),
    ("into {}", "分为 {}"),
    ("{} files of {} bytes", "{} 个文件，{} 字节"),
    ("{} bytes", "{} 字节"),
    ("1 row waits to be written to a segment", "1 行等待写入段"),
    ("{} rows wait to be written to a segment", "{} 行等待写入段"),
    ("more than {} rows wait to be written to segments", "超过 {} 行等待写入段"),
    // Words.
    ("field", "字段"),
    ("column", "列"),
    ("keys", "行键"),
    ("qualifiers", "列限定符"),
    ("a text", "文本"),
    ("bytes", "字节"),
    ("bytes such as 0x00ff", "字节，例如 0x00ff"),
    ("a uuid", "uuid"),
    ("an IPv4 address", "IPv4 地址"),
    ("a text of hex digits", "十六进制文本"),
    ("an ASCII text", "ASCII 文本"),
    ("a decimal number", "十进制数"),
    ("a whole number", "整数"),
    ("a number", "数字"),
    ("true or false", " true 或 false"),
    ("a label", "标签"),
    ("a time", "时间"),
    ("a year", "年份"),
    ("a month", "月份"),
    ("a day", "日期"),
    ("an hour", "小时"),
    ("a minute", "分钟"),
    ("a second", "秒"),
    ("parts of a second", "秒的小数"),
    ("hours of a zone", "时区的小时"),
    ("minutes of a zone", "时区的分钟"),
];

/// Returns a message in the language; `None` if it has no translation.
pub(super) fn translated(lang: Lang, english: &str) -> Option<String> {
    match lang {
        Lang::En => Some(english.to_owned()),
        Lang::Zh => in_chinese(english),
    }
}

fn in_chinese(english: &str) -> Option<String> {
    let places = [": line=", ": offset="];
    let place = places.iter().find_map(|place| english.rfind(place)).unwrap_or(english.len());
    let (message, place) = english.split_at(place);
    Some(sentences(message)? + &place_in_chinese(place))
}

/// Translates a message and the hints, which come after semicolons.
fn sentences(english: &str) -> Option<String> {
    let mut ends = english.match_indices("; ");
    let parts = ends.find_map(|(at, _)| {
        let first = sentence(&english[..at])?;
        let rest = sentences(&english[at + 2..])?;
        Some(format!("{first}；{rest}"))
    });
    // A semicolon may be in a user's text.
    parts.or_else(|| sentence(english))
}

fn sentence(english: &str) -> Option<String> {
    MESSAGES.iter().find_map(|(pattern, chinese)| filled(chinese, &captured(pattern, english)?))
}

/// Returns the texts for which a pattern's places stand, if it matches the whole text.
fn captured<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut pieces = pattern.split("{}").flat_map(|piece| piece.split("{w}"));
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut captures = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let at = if is_last { rest.strip_suffix(piece)?.len() } else { rest.find(piece)? };
        if at == 0 {
            return None;
        }
        captures.push(&rest[..at]);
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty().then_some(captures)
}

/// Puts texts in a Chinese message's places, which are in the same order as in the English message.
fn filled(chinese: &str, captures: &[&str]) -> Option<String> {
    let mut text = String::new();
    let mut rest = chinese;
    for capture in captures {
        let at = rest.find('{')?;
        text += &rest[..at];
        rest = &rest[at..];
        match rest.strip_prefix("{w}") {
            Some(after) => {
                text += &sentence(capture)?;
                rest = after;
            }
            None => {
                text += capture;
                rest = rest.strip_prefix("{}")?;
            }
        }
    }
    Some(text + rest)
}

/// Translates `: offset=4` and `: line=2, offset=4`, which count from 0.
fn place_in_chinese(place: &str) -> String {
    let number = |name: &str| -> Option<usize> {
        let digits = &place[place.find(name)? + name.len()..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    };
    let line = number("line=").map(|line| format!("第 {line} 行"));
    let column = number("offset=").map(|offset| format!("第 {} 个字符", offset + 1));
    let parts: Vec<_> = line.into_iter().chain(column).collect();
    if parts.is_empty() { String::new() } else { format!("（{}）", parts.join("，")) }
}

#[cfg(test)]
mod tests {
    use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};

    use super::*;

    #[test]
    fn both_languages_have_the_same_places() {
        for (english, chinese) in MESSAGES {
            let places = |text: &str| {
                let places = text.match_indices('{');
                places.map(|(at, _)| text[at..].starts_with("{w}")).collect::<Vec<_>>()
            };
            assert_eq!(places(english), places(chinese), "{english}");
        }
    }

    #[test]
    fn mistakes_in_queries_have_chinese_messages() {
        let key = KeySchema::parse("[user string][n u8][at millis]").unwrap();
        let columns = ColumnSchema::parse("d:s sender string; d:z size u32").unwrap();
        for query in [
            "user",
            "user =",
            "user == 'a'",
            "user != 'a'",
            "user = bob",
            "user = 'bob",
            "= 1",
            "user like 'a'",
            "not user = 'a'",
            "user = 'a' or n = 1",
            "user = 'a' n = 1",
            "user = \"a\"",
            "usr = 'a'",
            "nothing = 'a'",
            "d:s = 'a'",
            "user in 'a'",
            "user in ('a'",
            "user between 'a'",
            "user starts 'a'",
            "user is 3",
            "user = null",
            "n = 'a'",
            "n starts with 'a'",
            "n during 2022",
            "user = 5",
            "at = 2022-13",
            "at = 2022-02-30",
            "at during 22",
            "at = 2022-12-01T8",
            "n = 3, 4",
            "user ? 'a'",
            "user = x'0'",
            "user = ('a', 'b')",
            "sender under 'a'",
            "n = 1.5",
            "sender is nul",
            "user beginswith 'a'",
            "hash(user) = 0x00",
        ] {
            let predicate = Predicate::parse(query);
            let plan = predicate
                .and_then(|predicate| key.plan_with_columns(&columns, &predicate, &TimeZone::UTC));
            let Err(error) = plan else { panic!("{query} is not refused") };
            let first = error.message().lines().next().unwrap();
            assert!(in_chinese(first).is_some(), "{query}: {first}");
        }
    }

    #[test]
    fn texts_of_users_stay_and_the_place_is_counted_from_one() {
        let english = "expected the name of a field, not keys; write =: line=2, offset=4";
        let chinese = "此处应为字段名，而不是 keys；请写 =（第 2 行，第 5 个字符）";
        assert_eq!(in_chinese(english).as_deref(), Some(chinese));
        assert_eq!(in_chinese("a message of another kind"), None);
        assert_eq!(translated(Lang::En, "any"), Some("any".to_owned()));
    }
}
