//! Makes labelled loads from seeds. It shares no code with the heat.

use rowhouse_model::{Bytes, RowRange};
use rowhouse_schema::{KeySchema, Value};

use super::load::{Draw, Label, LabelledLoad, Request};

/// 2023-11-14, in milliseconds since 1970, at the beginning of five minutes.
const START_MILLIS: i64 = 1_700_000_100_000;

/// What a key is made for: the request's number, from 0, and the time.
struct Moment {
    nth: u64,
    at_millis: i64,
    /// The part of the load's time that has passed, from 0 to 1.
    passed: f64,
}

/// Makes the key of a request.
type MakeKey = Box<dyn FnMut(&mut Draw, &Moment) -> Bytes>;

/// Makes the keys of a load.
struct Keys {
    template: Option<String>,
    make: MakeKey,
}

impl Keys {
    /// Keys with a template, from the values that `values` makes.
    fn with_template(
        template: &str,
        mut values: impl FnMut(&mut Draw, &Moment) -> Vec<(&'static str, Value)> + 'static,
    ) -> Self {
        let schema = KeySchema::parse(template).unwrap();
        let make = move |draw: &mut Draw, moment: &Moment| {
            let values = values(draw, moment);
            schema.encode_salted(&values[..], draw.bits()).unwrap()
        };
        Self { template: Some(template.to_owned()), make: Box::new(make) }
    }

    fn plain(mut make: impl FnMut(&mut Draw, &Moment) -> Vec<u8> + 'static) -> Self {
        let make = move |draw: &mut Draw, moment: &Moment| Bytes::from(make(draw, moment));
        Self { template: None, make: Box::new(make) }
    }

    /// Replaces this share of the keys by others with the same template.
    fn mixed(self, share: f64, others: Self) -> Self {
        let mut own = self.make;
        let mut other = others.make;
        let make = move |draw: &mut Draw, moment: &Moment| {
            if draw.chance(share) { other(draw, moment) } else { own(draw, moment) }
        };
        Self { template: self.template, make: Box::new(make) }
    }
}

/// How requests come over time.
struct Pace {
    requests: u64,
    length_millis: u64,
}

impl Pace {
    fn draw(draw: &mut Draw) -> Self {
        let requests = draw.scale(1_500, 20_000);
        // Some loads are over in a second, of which not all requests are recorded.
        let length_millis = match draw.below(10) {
            0 => draw.scale(800, 15_000),
            1 => draw.scale(900_000, 36 * 3_600_000),
            _ => draw.scale(15_000, 900_000),
        };
        Self { requests, length_millis }
    }

    /// Returns the times of the requests in milliseconds from the beginning, in order.
    fn times(&self, draw: &mut Draw) -> Vec<u64> {
        let length = self.length_millis as f64;
        let kind = draw.below(4);
        let period = draw.share(0.05, 0.3);
        let mut batch = 0.0;
        let mut times: Vec<u64> = (0..self.requests)
            .map(|nth| {
                let part = match kind {
                    // More and more requests.
                    0 => draw.unit().sqrt(),
                    // Pauses between busy times.
                    1 => {
                        let turn = (draw.unit() / period).floor();
                        ((turn + draw.unit() * 0.5) * period).min(1.0)
                    }
                    // Batches of one time.
                    2 => {
                        if nth % 25 == 0 {
                            batch = draw.unit();
                        }
                        batch
                    }
                    _ => draw.unit(),
                };
                (part * length) as u64
            })
            .collect();
        times.sort_unstable();
        times
    }
}

/// Draws a load of any kind; seeds of one number modulo 20 have the same kind.
pub(super) fn any(seed: u64) -> LabelledLoad {
    let mut draw = Draw::new(seed);
    let draw = &mut draw;
    match seed % 20 {
        0..=5 => even(draw),
        6..=8 => growing(draw),
        9 | 10 => few_values(draw),
        11..=13 => one_row(draw),
        14 | 15 => hot_prefix(draw),
        16 | 17 => burst(draw),
        18 => unfit_bounds(draw),
        _ => too_little(draw),
    }
}

/// Draws an even load.
pub(super) fn even_of(seed: u64) -> LabelledLoad {
    even(&mut Draw::new(!seed))
}

fn even(draw: &mut Draw) -> LabelledLoad {
    let keys = even_keys(draw);
    let pace = Pace::draw(draw);
    finish(draw, Label::Even, keys, &pace)
}

fn growing(draw: &mut Draw) -> LabelledLoad {
    let (keys, field) = growing_keys(draw);
    let mut pace = Pace::draw(draw);
    // Requests that come two seconds late are in order still.
    pace.length_millis = pace.length_millis.max(16_000);
    finish(draw, Label::Growing(field), keys, &pace)
}

fn few_values(draw: &mut Draw) -> LabelledLoad {
    let (keys, field) = few_keys(draw);
    let pace = Pace::draw(draw);
    finish(draw, Label::FewValues(field), keys, &pace)
}

fn one_row(draw: &mut Draw) -> LabelledLoad {
    let mut keys = if draw.chance(0.2) {
        // Counters by day.
        Keys::with_template("[day date]", |draw, _| {
            vec![("day", day(19_000 + draw.below(600) as i64))]
        })
    } else {
        even_keys(draw)
    };
    let first = Moment { nth: 0, at_millis: START_MILLIS, passed: 0.0 };
    let row = (keys.make)(draw, &first);
    let hot = row.clone();
    let share = draw.share(0.16, 1.0);
    let hot = Keys { template: None, make: Box::new(move |_, _| hot.clone()) };
    let pace = Pace::draw(draw);
    finish(draw, Label::OneRow(row), keys.mixed(share, hot), &pace)
}

fn hot_prefix(draw: &mut Draw) -> LabelledLoad {
    let share = draw.share(0.42, 0.95);
    let (keys, field) = prefix_keys(draw, move |_, _| share);
    let pace = Pace::draw(draw);
    finish(draw, Label::HotPrefix(field), keys, &pace)
}

fn burst(draw: &mut Draw) -> LabelledLoad {
    loop {
        let load = one_burst(draw);
        if let Some(load) = load {
            return load;
        }
    }
}

/// Draws a load with a burst; `None` if few requests come at the time of the burst.
fn one_burst(draw: &mut Draw) -> Option<LabelledLoad> {
    let length = draw.share(0.05, 0.18);
    let start = draw.share(0.1, 0.8);
    let (keys, field) = prefix_keys(draw, move |_, passed| burst_share(start, length, passed));
    let mut pace = Pace::draw(draw);
    pace.requests = pace.requests.max(3_000);
    pace.length_millis = pace.length_millis.max(60_000);
    let mut load = finish(draw, Label::Burst(field), keys, &pace);
    // More requests come during the burst.
    let factor = draw.between(3, 6);
    let begun = load.begun_millis;
    let from = begun + (start * pace.length_millis as f64) as i64;
    let to = from + (length * pace.length_millis as f64) as i64;
    let within = |request: &Request| (from..to).contains(&request.at_millis) && request.is_judged;
    let burst: Vec<Request> = load.requests.iter().filter(|it| within(it)).cloned().collect();
    let schema = load.schema();
    for _ in 1..factor {
        for request in &burst {
            let row = another(draw, schema.as_ref(), &request.row);
            load.requests.push(Request { row, ..*request });
        }
    }
    load.requests.sort_by_key(|request| request.at_millis);
    let all = load.requests.iter().filter(|request| request.is_judged).count();
    (burst.len() * factor as usize * 12 >= all).then_some(load)
}

fn burst_share(start: f64, length: f64, passed: f64) -> f64 {
    if (start..start + length).contains(&passed) { 0.95 } else { 0.01 }
}

/// Returns a key with the same beginning and another end.
fn another(draw: &mut Draw, schema: Option<&KeySchema>, row: &Bytes) -> Bytes {
    let Some(schema) = schema else {
        let mut row = row.to_vec();
        let at = row.len() - 6;
        row.truncate(at);
        row.extend_from_slice(format!("{:06}", draw.below(1_000_000)).as_bytes());
        return row.into();
    };
    let values = schema.decode(row).unwrap();
    let last = values.iter().last().unwrap().0.to_owned();
    let changed = values.iter().map(|(name, value)| {
        let value = if name == last && !matches!(value, Value::Time(_)) {
            draw.below(1_000_000_000).into()
        } else {
            value.clone()
        };
        (name.to_owned(), value)
    });
    let changed: Vec<(String, Value)> = changed.collect();
    let changed: Vec<(&str, Value)> =
        changed.iter().map(|(name, value)| (&name[..], value.clone())).collect();
    schema.encode_salted(&changed[..], draw.bits()).unwrap()
}

fn unfit_bounds(draw: &mut Draw) -> LabelledLoad {
    let keys = match draw.below(3) {
        0 => {
            let users = draw.scale(100, 5_000);
            Keys::with_template("[user string][id u32]", move |draw, _| {
                vec![("user", user(draw.below(users))), ("id", draw.below(1_000_000).into())]
            })
        }
        1 => Keys::plain(|draw, _| format!("user{:08}", draw.below(100_000_000)).into_bytes()),
        _ => Keys::with_template("[id u64]", |draw, _| {
            vec![("id", draw.below(1_000_000_000).into())]
        }),
    };
    let pace = Pace::draw(draw);
    let mut load = finish(draw, Label::UnfitBounds, keys, &pace);
    let regions = draw.between(4, 16) as u8;
    // Bounds over all first bytes, none of which parts the keys.
    let first = load.requests[0].row[0];
    let bounds = (1..regions).map(|nth| (u16::from(nth) * 256 / u16::from(regions)) as u8);
    let bounds = bounds.filter(|bound| *bound != first);
    load.regions = between(bounds.map(|bound| Bytes::from(vec![bound])).collect());
    load
}

fn too_little(draw: &mut Draw) -> LabelledLoad {
    let keys = match draw.below(3) {
        0 => even_keys(draw),
        1 => growing_keys(draw).0,
        _ => few_keys(draw).0,
    };
    let pace = Pace { requests: draw.scale(20, 800), length_millis: draw.scale(5_000, 900_000) };
    finish(draw, Label::TooLittle, keys, &pace)
}

/// Adds times, requests of the other kind, regions and the circumstances of the verdict.
fn finish(draw: &mut Draw, label: Label, mut keys: Keys, pace: &Pace) -> LabelledLoad {
    let start = START_MILLIS + draw.below(300_000) as i64;
    let noise = draw.one_of(&[0, 0, 1, 5]);
    let counts_requests = matches!(label, Label::OneRow(_) | Label::TooLittle);
    let most_rows = if draw.chance(0.15) && !counts_requests { 30 } else { 1 };
    let mut requests: Vec<Request> = Vec::new();
    for (nth, millis) in (0..).zip(pace.times(draw)) {
        let at_millis = start + millis as i64;
        let passed = millis as f64 / pace.length_millis as f64;
        let moment = Moment { nth, at_millis, passed };
        for _ in 0..draw.below(noise + 1) {
            // Requests of the other kind, for rows from before.
            let before = draw.below(requests.len() as u64 + 1) as usize;
            let row = requests.get(before).map(|request| request.row.clone());
            let row = row.unwrap_or_else(|| (keys.make)(draw, &moment));
            requests.push(Request { at_millis, row, is_judged: false, rows: 1 });
        }
        let rows = draw.between(1, most_rows);
        let row = (keys.make)(draw, &moment);
        requests.push(Request { at_millis, row, is_judged: true, rows });
    }
    let mut load = LabelledLoad {
        label,
        begun_millis: start,
        template: keys.template,
        regions: Vec::new(),
        requests,
        judges_writes: most_rows == 1 && draw.chance(0.6),
        silent_millis: draw.one_of(&[0, 0, 5_000, 70_000, 20 * 60_000]),
        is_reopened: draw.chance(0.15),
    };
    load.regions = regions(draw, &load);
    load
}

/// Draws region bounds: none, or bounds that divide the keys of the load evenly.
fn regions(draw: &mut Draw, load: &LabelledLoad) -> Vec<RowRange> {
    let count = draw.one_of(&[1, 1, 2, 4, 8, 16]);
    let fits = matches!(load.label, Label::Even | Label::TooLittle);
    if count == 1 || !fits {
        return vec![RowRange::all()];
    }
    let mut keys = load.judged();
    keys.sort_unstable();
    let bounds = (1..count).map(|nth| keys[nth * keys.len() / count].clone());
    let mut bounds: Vec<Bytes> = bounds.collect();
    bounds.dedup();
    between(bounds)
}

/// Returns the ranges between bounds.
fn between(bounds: Vec<Bytes>) -> Vec<RowRange> {
    let starts = std::iter::once(Bytes::new()).chain(bounds.clone());
    let stops = bounds.into_iter().chain([Bytes::new()]);
    starts.zip(stops).map(|(start, stop)| RowRange::new(start, stop)).collect()
}

fn even_keys(draw: &mut Draw) -> Keys {
    let users = draw.scale(20, 5_000);
    // Some users are busier than others.
    let skew = if draw.chance(0.4) && users > 200 { draw.share(1.0, 1.6) } else { 1.0 };
    let one = move |draw: &mut Draw| (draw.unit().powf(skew) * users as f64) as u64;
    let at = |moment: &Moment| time(moment.at_millis);
    let buckets = draw.one_of(&[4, 8, 16, 32]);
    // Half of the users leave in the middle of the time, and others come.
    let drift = draw.chance(0.3);
    let moved = move |draw: &mut Draw, moment: &Moment| {
        let late = u64::from(drift && moment.passed > 0.5) * users / 2;
        one(draw) + late
    };
    match draw.below(23) {
        0 => Keys::with_template("[user string][at millis]", move |draw, moment| {
            vec![("user", user(moved(draw, moment))), ("at", at(moment))]
        }),
        kind @ (1 | 2 | 4 | 6 | 11) => {
            let template = match kind {
                1 => "[user string][at millis desc]".to_owned(),
                2 => format!("[bucket {buckets} of user][user string][at millis]"),
                4 => format!("[salt {buckets}][at millis][user string]"),
                6 => "[user text md5 4 hex][at millis]".to_owned(),
                _ => format!("[bucket {buckets} of user][at millis][user string]"),
            };
            Keys::with_template(&template, move |draw, moment| {
                vec![("user", user(one(draw))), ("at", at(moment))]
            })
        }
        3 => {
            let template = format!("[bucket {buckets} of n][n u64]");
            Keys::with_template(&template, |_, moment| vec![("n", (1_000 + moment.nth).into())])
        }
        5 => Keys::with_template("[salt 4 a-d]-[id text]", |_, moment| {
            vec![("id", format!("foo{:06}", moment.nth).into())]
        }),
        7 => Keys::with_template("[phone digits 11 reverse]", |_, moment| {
            vec![("phone", (13_800_000_000 + moment.nth).into())]
        }),
        8 => Keys::with_template("[id u32]", move |draw, moment| {
            let late = u64::from(drift && moment.passed > 0.5) * 500_000;
            vec![("id", (late + draw.below(1_000_000)).into())]
        }),
        9 => Keys::with_template("[blogger text]_[at millis digits desc]", move |draw, moment| {
            vec![("blogger", user(one(draw))), ("at", at(moment))]
        }),
        10 => Keys::with_template("[at millis][user string]", move |draw, _| {
            // Reads of old rows.
            let at = START_MILLIS - draw.below(30 * 86_400_000) as i64;
            vec![("at", time(at)), ("user", user(one(draw)))]
        }),
        12 => Keys::plain(|draw, _| format!("row{:07}", draw.below(1_000_000)).into_bytes()),
        13 => Keys::plain(|draw, _| format!("{:016x}", draw.bits()).into_bytes()),
        14 => Keys::plain(move |draw, _| format!("u{}", one(draw)).into_bytes()),
        15 => Keys::plain(|draw, _| draw.bits().to_be_bytes().to_vec()),
        16 => {
            // Few rows, which are read again and again.
            let rows = draw.scale(30, 500);
            Keys::plain(move |draw, _| format!("counter-{}", draw.below(rows)).into_bytes())
        }
        17 => {
            let rows = draw.scale(30, 500);
            Keys::with_template("[id u32]", move |draw, _| {
                vec![("id", (7 * draw.below(rows)).into())]
            })
        }
        18 => Keys::with_template("[tenant string][user string][id u32]", move |draw, _| {
            let tenant = format!("tenant-{}", draw.below(30));
            let id = draw.below(1_000);
            vec![("tenant", tenant.into()), ("user", user(one(draw))), ("id", id.into())]
        }),
        19 => Keys::plain(move |draw, moment| {
            // A hash of the user, then the newest first.
            let mixed = one(draw).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
            format!("{mixed:04x}-{}", i64::MAX - moment.at_millis).into_bytes()
        }),
        20 => Keys::with_template("[user string]", move |draw, moment| {
            vec![("user", user(moved(draw, moment)))]
        }),
        21 => Keys::plain(|draw, _| {
            // Numbers whose first digits are not even.
            format!("{}", 1 + draw.below(1_999)).into_bytes()
        }),
        _ => Keys::plain(move |draw, moment| {
            format!("{:05}/{:013}", one(draw), moment.at_millis).into_bytes()
        }),
    }
}

fn growing_keys(draw: &mut Draw) -> (Keys, Option<&'static str>) {
    // Requests arrive out of order by up to two seconds.
    let late = draw.one_of(&[0, 0, 50, 2_000]);
    let at = move |draw: &mut Draw, moment: &Moment| moment.at_millis - draw.below(late + 1) as i64;
    let users = draw.scale(5, 5_000);
    let old_share = if draw.chance(0.4) { draw.share(0.05, 0.33) } else { 0.0 };
    let old = |draw: &mut Draw| START_MILLIS - 60_000 - draw.below(30 * 86_400_000) as i64;
    let of_time = |template: &str| {
        let step = if template.contains("seconds") { 1_000 } else { 1 };
        let time = move |millis: i64| time(millis / step * step);
        let recent = Keys::with_template(template, move |draw, moment| {
            vec![("at", time(at(draw, moment))), ("user", user(draw.below(users)))]
        });
        let older = Keys::with_template(template, move |draw, _| {
            vec![("at", time(old(draw))), ("user", user(draw.below(users)))]
        });
        recent.mixed(old_share, older)
    };
    let of_number = |template: &str| {
        let recent =
            Keys::with_template(template, |_, moment| vec![("n", (5_000_000 + moment.nth).into())]);
        let older =
            Keys::with_template(template, |draw, _| vec![("n", draw.below(5_000_000).into())]);
        recent.mixed(old_share, older)
    };
    match draw.below(14) {
        0 => (of_time("[at millis][user string]"), Some("at")),
        1 => (of_time("[at millis desc][user string]"), Some("at")),
        2 => (of_time("[at seconds 4][user string]"), Some("at")),
        3 => (of_number("[n u64]"), Some("n")),
        4 => (of_number("foo[n digits 8]"), Some("n")),
        5 => {
            let keys = Keys::with_template("[tenant string][n u64]", |_, moment| {
                vec![("tenant", "acme".into()), ("n", (5_000_000 + moment.nth).into())]
            });
            (keys, Some("n"))
        }
        6 => {
            let keys = Keys::with_template(
                "[blogger text]_[at millis digits desc]",
                move |draw, moment| vec![("blogger", "123".into()), ("at", time(at(draw, moment)))],
            );
            (keys, Some("at"))
        }
        7 => {
            let recent =
                Keys::plain(|_, moment| format!("{:010}", 7_000_000 + moment.nth).into_bytes());
            let older =
                Keys::plain(|draw, _| format!("{:010}", draw.below(7_000_000)).into_bytes());
            (recent.mixed(old_share, older), None)
        }
        8 => {
            let keys = Keys::plain(move |draw, moment| {
                format!("{}/{}", i64::MAX - at(draw, moment), draw.below(500)).into_bytes()
            });
            (keys, None)
        }
        9 => {
            let keys = Keys::plain(move |draw, moment| {
                let number = 1_000_000 + moment.nth;
                [&number.to_be_bytes()[..], &draw.bits().to_be_bytes()[..4]].concat()
            });
            (keys, None)
        }
        10 => {
            let keys = Keys::plain(move |draw, moment| {
                let time = rowhouse_schema::Time::from_millis(at(draw, moment));
                format!("{time} {}", user_name(draw.below(users))).into_bytes()
            });
            (keys, None)
        }
        11 => {
            // The key holds steps of the time, of which several pass.
            let step = draw.one_of(&[1, 2]);
            let template = format!("[at seconds 4 floor {step}s][user string]");
            let keys = Keys::with_template(&template, move |draw, moment| {
                let at = moment.at_millis / 1_000 * 1_000;
                vec![("at", time(at)), ("user", user(draw.below(users)))]
            });
            (keys, Some("at"))
        }
        12 => {
            // Requests of all users, each of whom begins after the one before.
            let keys = Keys::with_template("[n u64][kind string]", move |draw, moment| {
                let kind = ["get", "put", "scan"][draw.below(3) as usize];
                vec![("n", (moment.nth / 20).into()), ("kind", kind.into())]
            });
            (keys, Some("n"))
        }
        _ => {
            let keys = Keys::plain(move |draw, moment| {
                format!("log-{:013}-{:04}", at(draw, moment), draw.below(10_000)).into_bytes()
            });
            (keys, None)
        }
    }
}

fn few_keys(draw: &mut Draw) -> (Keys, &'static str) {
    let values = draw.between(2, 4);
    let share = draw.share(0.9, 1.0);
    let skew = draw.share(1.0, 1.5);
    let metric = move |draw: &mut Draw| -> Value {
        if draw.chance(share) {
            let nth = (draw.unit().powf(skew) * values as f64) as usize;
            ["cpu", "disk", "net", "mem"][nth].into()
        } else {
            format!("m{:03}", draw.below(200)).into()
        }
    };
    match draw.below(6) {
        0 => {
            let keys = Keys::with_template("[metric string][at millis]", move |draw, moment| {
                vec![("metric", metric(draw)), ("at", time(moment.at_millis))]
            });
            (keys, "metric")
        }
        1 => {
            let keys = Keys::with_template("[kind string][id u64]", move |draw, _| {
                vec![("kind", metric(draw)), ("id", draw.below(1_000_000).into())]
            });
            (keys, "kind")
        }
        kind @ (2 | 3) => {
            // Rows of one blogger in random order; first the newest one, or not.
            let has_newest = kind == 3;
            let template = "[blogger text]_[at millis digits desc]";
            let keys = Keys::with_template(template, move |draw, moment| {
                let old = START_MILLIS - draw.below(30 * 86_400_000) as i64;
                let at = if has_newest && moment.nth == 0 { START_MILLIS } else { old };
                vec![("blogger", "123".into()), ("at", time(at))]
            });
            (keys, "blogger")
        }
        4 => {
            let keys = Keys::with_template(
                "[state string][at millis][user string]",
                move |draw, moment| {
                    let user = user(draw.below(300));
                    vec![("state", metric(draw)), ("at", time(moment.at_millis)), ("user", user)]
                },
            );
            (keys, "state")
        }
        _ => {
            let keys = Keys::with_template("[day date][user string]", |draw, _| {
                vec![("day", day(19_675)), ("user", user(draw.below(5_000)))]
            });
            (keys, "day")
        }
    }
}

/// Keys of which a share, which may depend on the time passed, has one beginning.
fn prefix_keys(
    draw: &mut Draw,
    share: impl Fn(&mut Draw, f64) -> f64 + 'static,
) -> (Keys, Option<&'static str>) {
    let users = draw.scale(60, 2_000);
    let hot = draw.below(users);
    let one = move |draw: &mut Draw, moment: &Moment| {
        let share = share(draw, moment.passed);
        if draw.chance(share) { hot } else { draw.below(users) }
    };
    match draw.below(9) {
        kind @ (0 | 2 | 5) => {
            let template = match kind {
                0 => "[user string][id u32]",
                2 => "[bucket 16 of user][user string][id u32]",
                _ => "[user text md5 4 hex][id u32]",
            };
            let keys = Keys::with_template(template, move |draw, moment| {
                vec![("user", user(one(draw, moment))), ("id", draw.below(1_000_000_000).into())]
            });
            (keys, Some("user"))
        }
        1 => {
            let keys = Keys::with_template("[user string][at millis desc]", move |draw, moment| {
                vec![("user", user(one(draw, moment))), ("at", time(moment.at_millis))]
            });
            (keys, Some("user"))
        }
        3 => {
            let keys = Keys::plain(move |draw, moment| {
                format!("u{:04}/{:06}", one(draw, moment), draw.below(1_000_000)).into_bytes()
            });
            (keys, None)
        }
        4 => {
            let template = "[tenant string][user string][id u32]";
            let keys = Keys::with_template(template, move |draw, moment| {
                let id = draw.below(1_000_000_000);
                let user = user(one(draw, moment));
                vec![("tenant", "acme".into()), ("user", user), ("id", id.into())]
            });
            (keys, Some("user"))
        }
        6 => {
            // A beginning of letters, among hashes.
            let keys = Keys::plain(move |draw, moment| {
                let number = draw.below(1_000_000);
                if one(draw, moment) == hot {
                    format!("hot{number:06}").into_bytes()
                } else {
                    format!("{:08x}{number:06}", draw.bits() >> 32).into_bytes()
                }
            });
            (keys, None)
        }
        7 => {
            let keys = Keys::plain(move |draw, moment| {
                let user = one(draw, moment).wrapping_mul(0x9e37_79b9) as u32;
                let digits = format!("{:06}", draw.below(1_000_000));
                [&user.to_be_bytes()[..], digits.as_bytes()].concat()
            });
            (keys, None)
        }
        _ => {
            let keys = Keys::plain(move |draw, moment| {
                let name = user_name(one(draw, moment));
                format!("{name}:{:06}", draw.below(1_000_000)).into_bytes()
            });
            (keys, None)
        }
    }
}

/// Returns a user's name; neighbouring numbers are far apart.
fn user_name(number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ne", "ru", "sa", "to", "vi", "an", "be", "co", "du", "el", "fa", "go",
        "hi",
    ];
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let syllable = |at: u64| SYLLABLES[(mixed >> (60 - 4 * at)) as usize & 15];
    format!("{}{}{}{number}", syllable(0), syllable(1), syllable(2))
}

fn user(number: u64) -> Value {
    user_name(number).into()
}

fn time(millis: i64) -> Value {
    Value::Time(rowhouse_schema::Time::from_millis(millis))
}

fn day(number: i64) -> Value {
    let time = 86_400_000 * number;
    let date = rowhouse_schema::Time::from_millis(time);
    date.to_string()[..10].into()
}
