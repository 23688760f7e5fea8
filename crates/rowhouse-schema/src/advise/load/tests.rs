use super::*;

const START_MILLIS: i64 = 1_700_000_000_000;

/// Makes a profile of requests, ten a second, all of which are in the sample.
fn profile(rows: Vec<Bytes>) -> LoadProfile {
    let total = rows.len() as u64;
    let requests = rows.into_iter().zip(0..);
    let sample = requests.map(|(row, nth)| HeatSample {
        at_millis: START_MILLIS + nth * 100,
        row,
        is_write: true,
    });
    LoadProfile {
        total,
        sampled_total: total,
        sample: thinned(sample.map(|it| (1.0, it)).collect(), SAMPLE_MAX),
        regions: vec![RowRange::all()],
        ..LoadProfile::default()
    }
}

fn judge(template: &str, keys: impl Fn(&KeySchema, u64) -> Bytes) -> LoadVerdict {
    let schema = KeySchema::parse(template).unwrap();
    profile((0..3_000).map(|nth| keys(&schema, nth)).collect()).judge(Some(&schema))
}

/// Returns a number that looks random.
fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn user(number: u64) -> String {
    format!("u{:03}", mixed(number) % 997)
}

fn at(number: u64) -> u64 {
    START_MILLIS as u64 + number * 100
}

#[test]
fn a_time_that_comes_first_grows_and_a_bucket_of_the_user_spreads_it() {
    for (template, is_falling) in
        [("[at millis][user string]", false), ("[at millis desc][user string]", true)]
    {
        let verdict = judge(template, |schema, number| {
            schema.encode(&[("at", at(number).into()), ("user", user(number).into())]).unwrap()
        });
        assert_eq!(verdict.cause, LoadCause::Growing { field: Some("at".into()), is_falling });
        assert!(verdict.share > 0.9 && verdict.confidence > 0.9, "{verdict}");
        assert_eq!(verdict.cure(), Some(&format!("[bucket 16 of user]{template}")[..]));
    }
}

#[test]
fn a_number_alone_is_spread_by_its_own_bucket() {
    let verdict =
        judge("foo[n digits 8]", |schema, number| schema.encode(&[("n", number.into())]).unwrap());
    assert_eq!(verdict.cure(), Some("[bucket 16 of n]foo[n digits 8]"));
    let text = verdict.to_string();
    assert!(text.contains("at new keys, after those of the time before: `n` grows"), "{text}");
    assert!(text.contains("A query that does not fix `n` then reads 16 ranges"), "{text}");
}

#[test]
fn buckets_and_salts_before_a_time_are_even() {
    for template in [
        "[user string][at millis]",
        "[bucket 4 of user][at millis][user string]",
        "[bucket 16 of user][user string][at millis]",
        "[salt 4][at millis][user string]",
    ] {
        let verdict = judge(template, |schema, number| {
            let fields = [("at", at(number).into()), ("user", user(number).into())];
            schema.encode_salted(&fields, mixed(number)).unwrap()
        });
        assert_eq!(verdict.cause, LoadCause::Even, "{template}: {verdict}");
        assert!(verdict.confidence > 0.9 && verdict.remedies.is_empty(), "{verdict}");
    }
}

#[test]
fn a_remedy_is_tried_and_a_bucket_of_the_only_blogger_is_not_proposed() {
    let template = "[blogger text]_[at millis digits desc]";
    let key = |at: u64| {
        move |schema: &KeySchema| {
            schema.encode(&[("blogger", "123".into()), ("at", at.into())]).unwrap()
        }
    };
    let random = judge(template, |schema, number| {
        key(START_MILLIS as u64 - mixed(number) % 1_000_000_000)(schema)
    });
    let few = LoadCause::FewValues { field: "blogger".into(), values: vec!["'123'".into()] };
    assert_eq!(random.cause, few);
    let growing = judge(template, |schema, number| key(at(number))(schema));
    let falling = LoadCause::Growing { field: Some("at".into()), is_falling: true };
    assert_eq!(growing.cause, falling);
    let cure = "[bucket 16 of at][blogger text]_[at millis digits desc]";
    assert_eq!([random.cure(), growing.cure()], [Some(cure); 2]);
    // In random order regions divide them, too.
    assert!(matches!(random.remedies[0].kind, RemedyKind::Split { .. }), "{random}");
    assert_eq!(growing.remedies.len(), 1, "{growing}");
}

#[test]
fn few_metrics_are_listed() {
    let verdict = judge("[metric string][at millis]", |schema, number| {
        let metric = ["cpu", "disk", "net"][mixed(number) as usize % 3];
        schema.encode(&[("metric", metric.into()), ("at", at(number).into())]).unwrap()
    });
    let LoadCause::FewValues { field, values } = &verdict.cause else { panic!("{verdict}") };
    let mut values = values.clone();
    values.sort_unstable();
    assert_eq!(
        (&field[..], &values[..]),
        ("metric", &["'cpu'", "'disk'", "'net'"].map(str::to_owned)[..])
    );
    assert_eq!(verdict.cure(), Some("[bucket 16 of at][metric string][at millis]"));
}

#[test]
fn a_busy_user_is_named_also_in_buckets_and_a_burst_differs_from_a_steady_load() {
    let is_steady = |number: u64| mixed(number) % 5 < 2;
    let is_burst = |number: u64| (1_200..1_800).contains(&number);
    for template in ["[user string][id u32]", "[bucket 16 of user][user string][id u32]"] {
        let key = |schema: &KeySchema, is_bob: bool, number: u64| {
            let user = if is_bob { "bob".to_owned() } else { user(number) };
            let id = mixed(number * 2) % 1_000_000;
            schema.encode(&[("user", user.into()), ("id", id.into())]).unwrap()
        };
        let steady = judge(template, |schema, number| key(schema, is_steady(number), number));
        let prefix = HotPrefix { field: Some("user".into()), value: "'bob'".into() };
        assert_eq!(steady.cause, LoadCause::HotPrefix { prefix: prefix.clone() }, "{steady}");
        let burst = judge(template, |schema, number| key(schema, is_burst(number), number));
        let LoadCause::Burst { prefix: named, length_millis, share_then } = &burst.cause else {
            panic!("{burst}")
        };
        assert_eq!(*named, prefix);
        assert!((40_000..60_000).contains(length_millis) && *share_then > 0.95, "{burst}");
        for verdict in [steady, burst] {
            assert_eq!(verdict.cure(), Some("[bucket 16 of id][user string][id u32]"), "{verdict}");
        }
    }
}

#[test]
fn a_hot_row_is_decoded_and_no_key_spreads_it() {
    let verdict = judge("[day date]", |schema, number| {
        let day = if number % 3 == 0 { 19_000 } else { 18_000 + mixed(number) as i64 % 900 };
        let day = crate::Time::from_millis(day * 86_400_000).to_string()[..10].to_owned();
        schema.encode(&[("day", day.into())]).unwrap()
    });
    let text = verdict.to_string();
    assert!(text.contains("of the load: day=2022-01-08 (confidence 99 %)."), "{text}");
    assert!(text.contains("No key spreads a row"), "{text}");
    assert!(verdict.remedies.is_empty());
}

#[test]
fn bounds_that_do_not_fit_are_named_and_better_ones_proposed() {
    let keys = (0..3_000).map(|number| format!("user{:06}", mixed(number) % 1_000_000).into());
    let mut profile = profile(keys.collect());
    profile.regions =
        ["", "a", "m", "z"].windows(2).map(|it| RowRange::new(it[0], it[1])).collect();
    profile.regions.push(RowRange::new("z", ""));
    let verdict = profile.judge(None);
    let unfit = LoadCause::UnfitBounds { start: "m".into(), stop: "z".into() };
    assert_eq!(verdict.cause, unfit);
    assert_eq!(verdict.region_share, Some(1.0));
    let [Remedy { kind: RemedyKind::Split { bounds, .. }, share_after, .. }] =
        &verdict.remedies[..]
    else {
        panic!("{verdict}")
    };
    assert_eq!(bounds.len(), 3);
    assert!(*share_after < 0.35, "{verdict}");
    // Regions that divide the keys.
    let fitting = [Bytes::new()].into_iter().chain(bounds.clone()).collect::<Vec<_>>();
    let stops = fitting.iter().skip(1).cloned().chain([Bytes::new()]);
    profile.regions =
        fitting.iter().zip(stops).map(|(start, stop)| RowRange::new(start.clone(), stop)).collect();
    assert_eq!(profile.judge(None).cause, LoadCause::Even);
}

/// Makes a profile of an even load over four regions, on these of four servers.
fn placed(servers: [usize; 4], rows: impl Fn(u64) -> Bytes) -> LoadProfile {
    let bounds = ["", "u25", "u50", "u75", ""].map(Bytes::from);
    let regions = bounds.windows(2).map(|ends| RowRange::new(ends[0].clone(), ends[1].clone()));
    let address = |server: usize| format!("host:{server}");
    LoadProfile {
        regions: regions.collect(),
        placement: Placement::new(
            (0..4).map(address).collect(),
            servers.map(|server| Some(address(server))),
        ),
        ..profile((0..3_000).map(rows).collect())
    }
}

#[test]
fn regions_of_a_spread_load_on_one_server_are_the_cause_and_their_moves_the_remedy() {
    let even = |number: u64| Bytes::from(user(number));
    let verdict = placed([2; 4], even).judge(None);
    let cause = LoadCause::Placement { server: "host:2".into() };
    assert_eq!((&verdict.cause, verdict.share), (&cause, 1.0), "{verdict}");
    let [Remedy { kind: RemedyKind::Move { starts, .. }, share_after, .. }] = &verdict.remedies[..]
    else {
        panic!("{verdict}")
    };
    assert_eq!(starts.len(), 3, "{verdict}");
    assert!(*share_after < 0.3, "{verdict}");
    assert!(verdict.to_string().contains("is on one region server, host:2"), "{verdict}");
    let spread = placed([2, 0, 3, 1], even);
    assert_eq!(spread.judge(None).cause, LoadCause::Even);
    let shares = spread.server_shares().unwrap();
    assert!(shares.iter().all(|(_, share)| (0.2..0.3).contains(share)), "{shares:?}");
}

#[test]
fn a_cause_in_the_keys_goes_before_the_placement_and_one_region_has_none() {
    let hot = |number: u64| {
        let user = if number % 5 < 4 { "u111".to_owned() } else { user(number) };
        Bytes::from(format!("{user}/{:06}", mixed(number) % 1_000_000))
    };
    let verdict = placed([0; 4], hot).judge(None);
    assert!(matches!(verdict.cause, LoadCause::HotPrefix { .. }), "{verdict}");
    let busiest = verdict.server.unwrap();
    assert_eq!((&busiest.address[..], busiest.share, busiest.servers), ("host:0", 1.0, 4));
    let mut one_region = placed([0; 4], |number| Bytes::from(user(number)));
    one_region.regions = vec![RowRange::all()];
    one_region.placement =
        Placement::new(["a:1", "b:1", "c:1"].map(str::to_owned).into(), [Some("b:1".to_owned())]);
    assert_eq!(one_region.judge(None).cause, LoadCause::Even);
}

#[test]
fn counts_by_region_name_the_busiest_server_and_no_cause() {
    let mut profile = placed([0, 0, 1, 1], |number| Bytes::from(user(number)));
    profile.sample.clear();
    profile.region_loads = Some(vec![2_000, 700, 200, 100]);
    let verdict = profile.judge(None);
    assert_eq!(verdict.cause, LoadCause::Unknown(MissingEvidence::Keys));
    assert!(verdict.to_string().contains("of 4 region servers, host:0, has 90 %."), "{verdict}");
    profile.region_loads = Some(vec![2_000, 1_000]);
    assert_eq!(profile.server_shares(), None, "the regions are others");
}

#[test]
fn a_certain_hot_beginning_is_named_where_few_values_are_undecided() {
    let verdict = judge("[user string][id u64]", |schema, number| {
        let user = match mixed(number) % 10 {
            0..6 => "hot".to_owned(),
            6..8 => "warm".to_owned(),
            _ => user(number),
        };
        schema.encode(&[("user", user.into()), ("id", mixed(number * 2).into())]).unwrap()
    });
    let prefix = HotPrefix { field: Some("user".to_owned()), value: "'hot'".to_owned() };
    assert_eq!(verdict.cause, LoadCause::HotPrefix { prefix }, "{verdict}");
}

#[test]
fn a_cause_is_that_of_the_judgement_without_remedies() {
    let schema = KeySchema::parse("[at millis][user string]").unwrap();
    let key = |number| [("at", at(number).into()), ("user", user(number).into())];
    let rows = (0..3_000).map(|number| schema.encode(&key(number)).unwrap());
    let profile = profile(rows.collect());
    let judged = profile.judge(Some(&schema));
    assert!(!judged.remedies.is_empty());
    let without_remedies = LoadVerdict { remedies: Vec::new(), ..judged };
    assert_eq!(profile.cause(Some(&schema)), without_remedies);
}

#[test]
fn a_hot_beginning_is_named_without_a_template() {
    let keys = |number: u64| match mixed(number) % 10 {
        0..6 => format!("hot/{:06}", mixed(number * 2) % 1_000_000).into(),
        _ => format!("{}/{:06}", user(number), mixed(number * 2) % 1_000_000).into(),
    };
    let verdict = profile((0..3_000).map(keys).collect()).judge(None);
    let prefix = HotPrefix { field: None, value: "hot/".into() };
    assert_eq!(verdict.cause, LoadCause::HotPrefix { prefix });
    assert!((0.55..0.65).contains(&verdict.share), "{verdict}");
}

#[test]
fn without_evidence_there_is_no_verdict() {
    let even = (0..3_000).map(|number| Bytes::from(format!("{:016x}", mixed(number)))).collect();
    let mut profile = profile(even);
    assert_eq!(profile.judge(None).cause, LoadCause::Even);
    let whole = profile.clone();
    profile.sample.truncate(99);
    let missing = |profile: &LoadProfile| match profile.judge(None).cause {
        LoadCause::Unknown(missing) => missing,
        cause => panic!("{cause:?}"),
    };
    assert_eq!(missing(&profile), MissingEvidence::SampleSize { count: 99, needed: 100 });
    profile.sampled_total = 1_400;
    assert_eq!(missing(&profile), MissingEvidence::Sample);
    profile.total = 999;
    let verdict = profile.judge(None);
    assert_eq!(verdict.to_string(), "Cannot judge yet: requests=999, needed=1000.");
    assert_eq!(verdict.confidence, 0.0);
    let by_region = LoadProfile {
        region_loads: Some(vec![2_900, 100]),
        regions: vec![RowRange::new("", "m"), RowRange::new("m", "")],
        ..whole
    };
    assert_eq!(missing(&by_region), MissingEvidence::Keys);
    let text = by_region.judge(None).to_string();
    assert!(text.ends_with("The busiest of 2 regions has 97 % of the load."), "{text}");
}

#[test]
fn keys_that_do_not_fit_the_template_are_judged_without_it() {
    let schema = KeySchema::parse("[n u64][m u64]").unwrap();
    let keys = (0..3_000).map(|number| Bytes::from(format!("{number:06}"))).collect();
    let verdict = profile(keys).judge(Some(&schema));
    assert_eq!(verdict.cause, LoadCause::Growing { field: None, is_falling: false });
    assert_eq!(verdict.cure(), None);
}

#[test]
fn names_of_causes_are_those_of_labels() {
    let causes = [
        LoadCause::Unknown(MissingEvidence::Sample),
        LoadCause::Even,
        LoadCause::OneRow { row: Bytes::new(), text: String::new() },
        LoadCause::Growing { field: None, is_falling: false },
        LoadCause::FewValues { field: String::new(), values: Vec::new() },
        LoadCause::HotPrefix { prefix: HotPrefix { field: None, value: String::new() } },
        LoadCause::Burst {
            prefix: HotPrefix { field: None, value: String::new() },
            length_millis: 0,
            share_then: 0.0,
        },
        LoadCause::UnfitBounds { start: String::new(), stop: String::new() },
        LoadCause::Placement { server: String::new() },
    ];
    assert_eq!(causes.map(|cause| cause.name()), LoadCause::NAMES);
}
