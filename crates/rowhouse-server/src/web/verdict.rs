//! The judgement about a table's load, in the reader's language.

use rowhouse_model::{HeatReport, escape};
use rowhouse_schema::{
    ColumnGroups, HotPrefix, KeySchema, LoadCause, LoadProfile, LoadVerdict, MissingEvidence,
    Remedy, RemedyKind,
};

use super::reader::{Lang, Reader};

/// Causes that a sample may not decide about, by their names.
const CAUSES: &[(&str, &str)] = &[
    ("one_row", "一行占了很大份额"),
    ("growing", "行键在增长"),
    ("few_values", "首字段的值很少"),
    ("hot_prefix", "同一开头的行键占了很大份额"),
    ("burst", "突发"),
    ("unfit_bounds", "region 的边界与行键不符"),
    ("placement", "region 在服务器上的分布不均"),
];
/// Bounds of regions that are listed.
const BOUNDS_LISTED: usize = 3;

/// Returns the judgements about a table's writes and reads.
pub(super) fn of(
    reader: &Reader,
    schema: Option<&KeySchema>,
    profiles: &[LoadProfile; 2],
) -> [String; 2] {
    profiles.each_ref().map(|profile| {
        let verdict = profile.judge(schema);
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
    let share = percent(verdict.share);
    let mut text = match &verdict.cause {
        LoadCause::Unknown(MissingEvidence::Requests { count, needed }) => {
            return format!("尚无法判断：请求数={count}，至少需要 {needed}。");
        }
        LoadCause::Unknown(missing) => missing_in_chinese(missing),
        LoadCause::OneRow { text, .. } => format!("一行占了 {share} 的负载：{text}"),
        LoadCause::Growing { field, is_falling } => {
            let place = if *is_falling { "之前" } else { "之后" };
            let why = field.as_ref().map(|field| format!("：`{field}` 在增长"));
            let why = why.unwrap_or_default();
            format!("{share} 的负载落在新的行键上，排在先前的行键{place}{why}")
        }
        LoadCause::FewValues { field, values } => {
            let count = values.len();
            let values = values.join("、");
            format!("{share} 的负载落在首字段 `{field}` 的 {count} 个值上：{values}")
        }
        LoadCause::HotPrefix { prefix } => {
            format!("{share} 的负载落在{}", prefix_in_chinese(prefix))
        }
        LoadCause::Burst { prefix, length_millis, share_then } => format!(
            "突发：{share} 的负载落在{}，大部分集中在 {} 秒之内，其间占负载的 {}",
            prefix_in_chinese(prefix),
            (length_millis + 999) / 1_000,
            percent(*share_then)
        ),
        LoadCause::UnfitBounds { start, stop } => format!(
            "负载分散在各行键上，但 {share} 落在一个 region 里，从 {start} 到 {stop}：region 的边界与行键不符"
        ),
        LoadCause::Placement { server } => format!(
            "负载分散在各 region 上，但 {share} 落在一台 region 服务器 {server} 上：原因在于 region 的分布，而不是行键"
        ),
        _ => "负载分散在各行键上".to_owned(),
    };
    if !matches!(verdict.cause, LoadCause::Unknown(_)) {
        text += &format!("（置信度 {}）。", percent(verdict.confidence));
    }
    match (verdict.region_share, verdict.regions) {
        (None, _) => {}
        (Some(_), 1) => text += "表只有一个 region。",
        (Some(share), regions) => {
            text += &format!("{regions} 个 region 中最忙的占负载的 {}。", percent(share));
        }
    }
    if let Some(busiest) = &verdict.server {
        let share = percent(busiest.share);
        let servers = busiest.servers;
        text += &format!("{servers} 台 region 服务器中最忙的是 {}，占 {share}。", busiest.address);
    }
    verdict.remedies.iter().for_each(|remedy| text += &remedy_in_chinese(remedy));
    match &verdict.cause {
        LoadCause::OneRow { .. } => {
            text += "没有行键能分散一行：请把它拆成多行，或先合并对它的更改再写入。";
        }
        LoadCause::Even | LoadCause::Unknown(_) => {}
        _ if verdict.remedies.is_empty() => {
            text += "没有哪个字段的 bucket，也没有哪些 region 边界能分散这一负载。";
        }
        _ => {}
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn missing_in_chinese(missing: &MissingEvidence) -> String {
    match missing {
        MissingEvidence::SampleSize { count, needed } => {
            format!("尚无法判断：样本中的请求数={count}，至少需要 {needed}。")
        }
        MissingEvidence::Keys => {
            "无法判断行键：服务器只按 region 统计请求，不记录行键和时间。".to_owned()
        }
        MissingEvidence::Certainty { cause, count } => {
            let cause = CAUSES.iter().find(|(name, _)| name == cause).map_or("", |(_, zh)| zh);
            format!("尚无法判断：{count} 个请求的样本不足以区分均匀的负载与这一原因：{cause}。")
        }
        _ => "无法判断：这些请求大多由较早的版本记录，没有行键的样本。".to_owned(),
    }
}

fn prefix_in_chinese(prefix: &HotPrefix) -> String {
    match &prefix.field {
        Some(field) => format!(" {field} = {} 上", prefix.value),
        None => format!("以 {} 开头的行键上", prefix.value),
    }
}

fn remedy_in_chinese(remedy: &Remedy) -> String {
    let before = percent(remedy.share_before);
    let after = percent(remedy.share_after);
    match &remedy.kind {
        RemedyKind::Split { texts, .. } => {
            let listed = texts.iter().take(BOUNDS_LISTED).cloned().collect::<Vec<_>>();
            let more = if texts.len() > BOUNDS_LISTED { " 等" } else { "" };
            format!(
                "从 {}{more} 开始划分 region 可分散负载：最忙的份额从 {before} 降到 {after}，查询的代价不变。",
                listed.join("；")
            )
        }
        RemedyKind::Move { texts, .. } => {
            let count = texts.len();
            let listed = texts.iter().take(BOUNDS_LISTED).cloned().collect::<Vec<_>>();
            let more = if count > BOUNDS_LISTED { " 等" } else { "" };
            format!(
                "把 {count} 个 region（从 {}{more} 开始的）移到较闲的服务器可分散负载：最忙的服务器的份额从 {before} 降到 {after}，\
                 查询的代价不变。可用 `move` 或负载均衡完成。",
                listed.join("；")
            )
        }
        RemedyKind::Key { template, field, buckets } => format!(
            "可分散负载的行键：{template}；最忙的份额从 {before} 降到 {after}。不限定 `{field}` 的查询要读 {buckets} 个范围；\
             它们的代价可用 rowhouse simulate 或 shell 的 advise 查看。"
        ),
        _ => String::new(),
    }
}
