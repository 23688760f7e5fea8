//! The judgement about a table's load, in the reader's language.

use rowhouse_model::{HeatReport, escape};
use rowhouse_schema::{ColumnGroups, KeySchema, LoadCause, LoadKind, LoadProfile, LoadVerdict};
use rowhouse_store::Table;

use super::reader::{Lang, Reader};

/// Returns the judgements about a table's writes and reads.
pub(super) fn of(reader: &Reader, table: &Table, report: &HeatReport) -> [String; 2] {
    let schema = KeySchema::of_table(table.descriptor()).ok().flatten();
    [LoadKind::Writes, LoadKind::Reads].map(|kind| {
        let regions = table.regions().iter().map(|region| region.info().range.clone());
        let profile = LoadProfile::of_heat(report, kind, regions.collect());
        let verdict = profile.judge(schema.as_ref());
        match reader.lang {
            Lang::En => verdict.to_string(),
            Lang::Zh => in_chinese(&verdict),
        }
    })
}

/// Returns the judgements about columns that are never read together.
pub(super) fn of_columns(reader: &Reader, report: &HeatReport) -> Vec<String> {
    let text = |groups: &ColumnGroups| match reader.lang {
        Lang::En => groups.to_string(),
        Lang::Zh => groups_in_chinese(groups),
    };
    ColumnGroups::of_heat(report).iter().map(text).collect()
}

/// Writes groups as [`ColumnGroups`] writes them in English.
fn groups_in_chinese(groups: &ColumnGroups) -> String {
    let of = groups.groups.iter().map(|group| {
        let names: Vec<_> = group.qualifiers.iter().map(|name| escape(name)).collect();
        format!("{}（占读取的 {:.0} %）", names.join("、"), group.share * 100.0)
    });
    let of = of.collect::<Vec<_>>().join("；");
    let family = escape(&groups.family);
    format!(
        "列族 {family} 的这些列从不一起读取：{of}。分到各自的列族后，读取一组时不必读其他组的文件。"
    )
}

/// Writes a judgement as [`LoadVerdict`] writes it in English.
fn in_chinese(verdict: &LoadVerdict) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let share = percent(verdict.share);
    let mut text = match &verdict.cause {
        LoadCause::TooLittle => return "请求太少，无法判断。".to_owned(),
        LoadCause::OneRow { row } => format!(
            "一行占了 {share} 的负载：{}。没有行键能分散一行：请把它拆成多行，或先合并对它的更改再写入。",
            escape(row)
        ),
        LoadCause::Growing { field, is_falling } => {
            let place = if *is_falling { "之前" } else { "之后" };
            let why = field.as_ref().map(|field| format!("：`{field}` 在增长"));
            let why = why.unwrap_or_default();
            format!("{share} 的负载落在新的行键上，排在先前的行键{place}{why}。")
        }
        LoadCause::FewValues { field, count } => {
            format!("{share} 的负载落在首字段 `{field}` 的 {count} 个值上。")
        }
        LoadCause::OneValue { field, value, is_burst } => {
            let time = if *is_burst { "，集中在很短的时间内" } else { "" };
            format!("{share} 的负载落在 {field} = {value}{time}。")
        }
        _ => "负载分散在各行键上。".to_owned(),
    };
    text += &format!("最忙的 region 占 {}。", percent(verdict.region_share));
    if let Some(cure) = &verdict.cure {
        text += &format!("可分散负载的行键：{cure}");
    }
    text
}
