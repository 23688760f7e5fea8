//! What queries find, in which order, with highlights and counts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use serde_json::json;

use super::{Mail, create, mails};
use crate::metrics::sample;
use crate::support;
use crate::web::fetch;

#[test]
fn queries_have_the_meaning_of_solrs_parser() {
    let mail = mails();
    for (query, expected) in [
        ("*:*", "bob1 bob2 bob3 eve1 eve2"),
        ("body:row", "bob1 bob2"),
        ("body:(row keys)", "bob1 bob2 eve1"),
        ("+body:row body:keys", "bob1 bob2"),
        ("+body:row +body:keys", "bob1"),
        ("body:row AND body:keys OR body:columns", "bob1"),
        ("body:row AND NOT body:keys", "bob2"),
        ("body:keys -body:row", "eve1"),
        ("-body:keys", "bob2 bob3 eve2"),
        ("(-body:keys)", "bob2 bob3 eve2"),
        ("body:row (-body:keys)", "bob1 bob2"),
        ("body:\"row keys\"", "bob1"),
        ("body:\"keys row\"", ""),
        ("body:design", "bob1"),
        ("body:colum*", "eve2"),
        ("body:kez~1", "bob1 eve1"),
        ("body:行键", "bob3"),
        ("body:(设计 row)", "bob1 bob2 bob3"),
        ("body:行键设计 AND title:设计", "bob3"),
        ("title:the", ""),
        ("body:\\?", ""),
        ("body:(\\? row)", "bob1 bob2"),
        ("+body:\\? +body:row", "bob1 bob2"),
        ("title:keys OR sender:bob", "bob1 eve2"),
        ("sender:eve", "bob1 bob3"),
        ("sender:[ann TO bob]", "bob2 eve2"),
        ("sender:{ann TO *}", "bob1 bob3 eve2"),
        ("sender:e*", "bob1 bob3"),
        ("sender:*", "bob1 bob2 bob3 eve2"),
        ("-sender:*", "eve1"),
        ("title:*", "bob1 bob3"),
        ("size:10", "bob1 eve2"),
        ("size:[10 TO 30}", "bob1 eve2"),
        ("size:{10 TO *]", "bob2 eve1"),
        ("size:*", "bob1 bob2 eve1 eve2"),
        ("size:10 OR body:keys", "bob1 eve1 eve2"),
        ("at:\"2022-12-01T08:00:00Z\"", "bob1"),
        ("at:[2022-12-01T00:00:00Z TO *]", "bob1"),
        ("id_:\\-5", "bob1"),
        ("tagged.tag:new", "bob1 eve1"),
        ("user:bob", "bob1 bob2 bob3"),
        ("user:bob AND body:row", "bob1 bob2"),
        ("user:b* -n:[2 TO *]", "bob1"),
        ("n:2", "bob2 eve2"),
        ("n:2 AND body:row", "bob2"),
        ("user:eve OR body:row", "bob1 bob2 eve1 eve2"),
        ("id:\"bob\\\\x00\\\\x01\\\\x00\\\\x00\\\\x00\\\\x02\"", "bob2"),
        ("id:bob*", "bob1 bob2 bob3"),
        ("id:[bob TO c]", "bob1 bob2 bob3"),
        ("body:row^=3 OR size:30^2", "bob1 bob2 eve1"),
        ("body:row!keys", "bob1"),
        ("body:row/keys -body:hbase!", ""),
        ("body:row /* body:keys */ AND /**/ size:10", "bob1"),
        ("body:\\u0072ow AND size:10", "bob1"),
        ("body : row AND size : [10 TO 10]", "bob1"),
        ("*", "bob1 bob2 bob3 eve1 eve2"),
        ("sender:\"\"", ""),
    ] {
        assert_eq!(mail.set(query), expected, "{query}");
        // The number, without documents.
        let count = expected.split(' ').filter(|it| !it.is_empty()).count();
        let answer = mail.run(&format!("q={query}&rows=0"));
        assert_eq!(answer["response"]["numFound"], count, "{query}");
        assert_eq!(answer["response"]["docs"], json!([]));
        // A filter finds the same.
        assert_eq!(mail.set(&format!("*:*&fq={query}")), expected, "{query}");
        // The best rows are the same.
        let mut by_score = mail.rows(&format!("q={query}"));
        by_score.sort();
        assert_eq!(by_score.join(" "), expected, "{query}");
    }
    mail.put("zed", 1, &[("sender", "")]);
    assert_eq!(mail.set("sender:\"\""), "zed1");
    assert_eq!(mail.set("user:zed -sender:\"\""), "");
    assert_eq!(mail.set("row keys&df=body&q.op=AND"), "bob1");
    assert_eq!(mail.set("row keys&df=body"), "bob1 bob2 eve1");
    assert_eq!(mail.set("body:row&fq=sender:ann&fq=user:bob"), "bob2");
    assert_eq!(mail.set("body:row&fq=-size:10&fq=body:table"), "bob2");
    assert_eq!(mail.set(""), "");
}

#[test]
fn a_search_sees_every_write_before_it() {
    let mail = mails();
    assert_eq!(mail.set("body:row"), "bob1 bob2");
    mail.put("bob", 2, &[("body", "nothing of it")]);
    mail.put("zed", 1, &[("body", "a row")]);
    assert_eq!(mail.set("body:row"), "bob1 zed1");
    assert_eq!(mail.set("*:* -body:row"), "bob2 bob3 eve1 eve2");
}

#[test]
fn documents_have_the_requested_fields_with_their_types() {
    let mail = mails();
    let document = |query: &str| mail.run(query)["response"]["docs"][0].clone();
    assert_eq!(
        document("q=id_:\\-5"),
        json!({
            "id": "bob\\x00\\x01\\x00\\x00\\x00\\x01", "user": "bob", "n": 1,
            "body": "Designing row keys for HBase", "title": "Row keys", "sender": "eve",
            "size": 10, "at": "2022-12-01T08:00:00Z", "id_": -5, "tagged": [1, 1]
        })
    );
    assert_eq!(document("q=n:2&fq=user:bob&fl=size, n"), json!({"n": 2, "size": 200}));
    assert_eq!(document("q=n:4&fl=id"), json!(null));
    let answer = mail.run("q=body:keys&fl=id,score");
    let response = &answer["response"];
    assert_eq!(response["numFound"], 2);
    assert_eq!(response["numFoundExact"], true);
    assert_eq!(response["docs"][0]["id"], "eve\\x00\\x01\\x00\\x00\\x00\\x01");
    assert_eq!(response["docs"][0]["score"], response["maxScore"]);
    assert!(response["docs"][1]["score"].as_f64() < response["maxScore"].as_f64());
    // A document's key finds the row again.
    let id = response["docs"][0]["id"].as_str().unwrap().replace('\\', "\\\\");
    assert_eq!(mail.set(&format!("id:\"{id}\"")), "eve1");
    assert_eq!(
        mail.refused("q=*:*&fl=none").0.split(';').next(),
        Some("undefined field in fl: none")
    );
}

#[test]
fn weights_and_filters_have_their_part_in_scores() {
    let mail = mails();
    let scores = |query: &str| {
        let answer =
            mail.run(&format!("q={query}&fl=n,score&sort=n_ asc").replace("&sort=n_ asc", ""));
        let documents = answer["response"]["docs"].as_array().unwrap().clone();
        documents.iter().map(|it| it["score"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let plain = scores("body:keys");
    assert_eq!(scores("body:keys&fq=user:bob OR size:30"), plain);
    let doubled: Vec<_> = plain.iter().map(|score| (score * 2.0) as f32).collect();
    let boosted: Vec<_> = scores("body:keys^2").iter().map(|score| *score as f32).collect();
    assert_eq!(boosted, doubled);
    assert_eq!(scores("body:keys^=7"), [7.0, 7.0]);
    assert_eq!(scores("size:10"), [1.0, 1.0]);
    assert_eq!(scores("size:10^3 AND user:bob^2"), [5.0]);
}

#[test]
fn rows_come_in_the_order_of_several_keys_page_by_page() {
    let mail = mails();
    let sorted = |sort: &str| mail.rows(&format!("q=*:*&sort={sort}")).join(" ");
    assert_eq!(sorted("size asc, id asc"), "bob1 eve2 eve1 bob2 bob3");
    assert_eq!(sorted("size asc, id desc"), "eve2 bob1 eve1 bob2 bob3");
    assert_eq!(sorted("size desc, id asc"), "bob2 eve1 bob1 eve2 bob3");
    assert_eq!(sorted("sender desc, size desc"), "bob1 bob3 eve2 bob2 eve1");
    assert_eq!(sorted("id desc"), "eve2 eve1 bob3 bob2 bob1");
    assert_eq!(sorted("id_ asc,id desc"), "bob1 eve2 eve1 bob3 bob2");
    assert_eq!(mail.rows("q=*:*&sort=id asc&start=1&rows=2").join(" "), "bob2 bob3");
    assert_eq!(mail.rows("q=*:*&sort=id asc&start=9").join(" "), "");
    let by_score = mail.rows("q=body:(row keys)&sort=score desc, id asc");
    assert_eq!(by_score, mail.rows("q=body:(row keys)"));
    let back: Vec<_> = mail.rows("q=body:(row keys)&sort=score asc, id desc");
    assert_eq!(back.into_iter().rev().collect::<Vec<_>>(), by_score);
    assert!(mail.refused("q=*:*&sort=body asc").0.contains("not by `body`"));
}

#[test]
fn cursors_pass_all_rows_once_while_others_are_written() {
    let mail = Mail::start();
    for n in 0..230u32 {
        let words = "row ".repeat(n as usize % 7 + 1);
        let size = (n * 37 % 11).to_string();
        let columns = [("body", &words[..]), ("size", &size[..])];
        // Some have no value.
        mail.put(
            if n % 2 == 0 { "ann" } else { "zed" },
            n,
            &columns[..1 + usize::from(n % 5 != 0)],
        );
    }
    for sort in
        ["id asc", "id desc", "score desc,id asc", "size asc,id desc", "size desc,score asc,id asc"]
    {
        let whole = mail.rows(&format!("q=body:row&rows=1000&sort={sort}"));
        assert_eq!(whole.len(), 230);
        let mut mark = "*".to_owned();
        let mut paged = Vec::new();
        let mut pages = 0;
        loop {
            let query = format!("q=body:row&rows=17&sort={sort}&fl=user,n&cursorMark={mark}");
            let answer = mail.run(&query);
            for document in answer["response"]["docs"].as_array().unwrap() {
                paged.push(format!("{}{}", document["user"].as_str().unwrap(), document["n"]));
            }
            let next = answer["nextCursorMark"].as_str().unwrap().to_owned();
            if next == mark {
                break;
            }
            mark = next;
            pages += 1;
            // This does not change the scores in the search that goes on.
            mail.put("new", 1, &[("title", "nothing")]);
            if sort.starts_with("score") {
                mail.put("ann", 1_000 + pages, &[("body", "row row row row row row row row")]);
            }
        }
        assert_eq!((paged, pages), (whole, 14), "{sort}");
        if sort.starts_with("score") {
            for n in 1_001..=1_014 {
                mail.put("ann", n, &[("body", "nothing")]);
            }
        }
    }
    let (message, status) = mail.refused("q=body:other&sort=id asc&cursorMark=0.-.0.00");
    assert!(message.starts_with("Unable to parse 'cursorMark'"), "{message}");
    assert_eq!(status, 400);
}

#[test]
fn pages_by_score_end_with_the_table() {
    let truncate = |mail: &Mail| {
        let table_name = support::table_name("mail");
        let message = proto::TruncateTableRequest { table_name, ..Default::default() };
        mail.server.disable_table("mail");
        mail.server.connect(Service::Master).call(&message).unwrap();
    };
    let create_again = |mail: &Mail| {
        mail.server.disable_table("mail");
        mail.server.drop_table("mail");
        create(&mail.server);
    };
    let mut mail = mails();
    let query = "q=body:(row keys)&rows=1&sort=score desc,id asc&cursorMark=";
    let first = |mail: &Mail| {
        let answer = mail.run(&format!("{query}*"));
        answer["nextCursorMark"].as_str().unwrap().to_owned()
    };
    for change in [&truncate as &dyn Fn(&Mail), &create_again] {
        let mark = first(&mail);
        change(&mail);
        let (message, status) = mail.refused(&format!("{query}{mark}"));
        assert!(message.starts_with("the pages by score have ended"), "{message}");
        assert_eq!(status, 400);
        mail.regions = mail.server.regions("mail");
        mail.put("ann", 1, &[("body", "row keys")]);
        mail.put("ann", 2, &[("body", "row keys")]);
    }
    let mark = first(&mail);
    mail.server.disable_table("mail");
    let refused = mail.refused(&format!("{query}{mark}"));
    assert_eq!(refused, ("mail is disabled".to_owned(), 503));
    mail.server.drop_table("mail");
    let refused = mail.refused(&format!("{query}{mark}"));
    assert_eq!(refused, ("there is no table mail".to_owned(), 404));
}

#[test]
fn matched_words_are_highlighted() {
    let mail = mails();
    let marked = |query: &str| mail.run(query)["highlighting"].clone();
    let id = |user: &str, n: u8| format!("{user}\\x00\\x01\\x00\\x00\\x00\\x{n:02X}");
    assert_eq!(
        marked("q=body:(keys row)&fq=user:bob&hl=true&hl.fl=body,title&sort=id asc"),
        json!({
            id("bob", 1): {
                "body": ["Designing <em>row</em> <em>keys</em> for HBase"],
                "title": ["<em>Row</em> <em>keys</em>"]
            },
            id("bob", 2): {"body": ["The <em>row</em> of the table"]}
        })
    );
    assert_eq!(
        marked("q=body:设计&hl=on&hl.fl=*&hl.simple.pre=[&hl.simple.post=]"),
        json!({id("bob", 3): {"body": ["行键[设计] 和 数据库"], "title": ["[设计]"], "sender": []}})
    );
    assert_eq!(
        marked("q=body:设计&hl=on&hl.fl=title&hl.requireFieldMatch=true"),
        json!({id("bob", 3): {"title": []}})
    );
    assert_eq!(
        marked("q=body:keys&fq=n:1 AND user:bob&hl=true&hl.fl=body&hl.fragsize=12"),
        json!({id("bob", 1): {"body": ["row <em>keys</em> for"]}})
    );
    mail.put("zed", 1, &[("body", "<b>keys</b> & more")]);
    assert_eq!(
        marked("q=body:keys&fq=user:zed&hl=true&hl.fl=body&hl.encoder=html&hl.fragsize=0"),
        json!({id("zed", 1): {"body": ["&lt;b&gt;<em>keys</em>&lt;&#x2F;b&gt; &amp; more"]}})
    );
    assert!(mail.refused("q=*:*&hl=true&hl.fl=size").0.contains("hl.fl=size"));
    assert_eq!(
        marked("q=body:keys&fq=user:zed&hl=true&hl.fl=body,*,body")
            .to_string()
            .matches("body")
            .count(),
        1
    );
    let long = format!("q=body:keys&hl=true&hl.simple.pre={}", "x".repeat(257));
    assert!(mail.refused(&long).0.contains("hl.simple.pre, len=257, max=256"));
}

#[test]
fn more_parameters_than_a_search_can_have_are_refused() {
    let mail = mails();
    assert_eq!(mail.get(&format!("q=*:*{}", "&_".repeat(999))).0, 200);
    assert!(mail.refused(&format!("q=*:*{}", "&_".repeat(1_000))).0.contains("1001, max=1000"));
}

#[test]
fn values_are_counted() {
    let mail = mails();
    let counts = |query: &str| {
        let answer = mail.run(&format!("{query}&rows=0&facet=true"));
        assert_eq!(answer["facet_counts"]["facet_queries"], json!({}));
        answer["facet_counts"]["facet_fields"].clone()
    };
    assert_eq!(
        counts("q=*:*&facet.field=sender&facet.field=size"),
        json!({"sender": ["eve", 2, "ann", 1, "bob", 1], "size": ["10", 2, "30", 1, "200", 1]})
    );
    // Values in other rows are listed unless `facet.mincount` leaves them out.
    assert_eq!(
        counts("q=body:row&facet.field=sender"),
        json!({"sender": ["ann", 1, "eve", 1, "bob", 0]})
    );
    assert_eq!(
        counts("q=body:row&facet.field=sender&facet.mincount=1"),
        json!({"sender": ["ann", 1, "eve", 1]})
    );
    assert_eq!(counts("q=*:*&facet.field=sender&facet.limit=1"), json!({"sender": ["eve", 2]}));
    assert_eq!(
        counts("q=*:*&facet.field=sender&facet.sort=index&facet.offset=1&json.nl=map"),
        json!({"sender": {"bob": 1, "eve": 2}})
    );
    assert_eq!(
        counts("q=*:*&facet.field=tagged.tag&f.tagged.tag.facet.prefix=w&json.nl=arrarr"),
        json!({"tagged.tag": [["work", 1]]})
    );
    assert_eq!(counts("q=*:*&facet.field=at"), json!({"at": ["2022-12-01T08:00:00Z", 1]}));
    assert!(mail.refused("q=*:*&facet=true&facet.field=body").0.contains("not by `body`"));
}

#[test]
fn unread_answers_hold_no_more_than_the_memory_of_calls_and_end() {
    const CALL_MEMORY: u64 = 128 << 20;
    let mail = Mail::start_with(|options| options.call_memory_bytes = CALL_MEMORY);
    let body = "word ".repeat(50_000);
    (0..30).for_each(|n| mail.put("ann", n, &[("body", &body)]));
    let metric = |name: &str| sample(&fetch(mail.web, "/metrics", "localhost").1, name);
    let statuses: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(mail.web).unwrap();
            let request =
                "GET /solr/mail/select?q=body:word&rows=30 HTTP/1.1\r\nHost: localhost\r\n\r\n";
            stream.write_all(request.as_bytes()).unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            (stream, String::from_utf8(status[9..].to_vec()).unwrap())
        })
        .collect();
    let answered = statuses.iter().filter(|(_, status)| status == "200").count();
    assert!(answered > 4, "{answered}");
    assert!(metric("rowhouse_call_memory_peak_bytes") <= CALL_MEMORY as f64);
    assert!(metric("rowhouse_call_memory_bytes") > 0.0, "answers wait to be taken");
    // The connections end, though nobody closes them.
    let started = Instant::now();
    while metric("rowhouse_call_memory_bytes") > 0.0 {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(statuses);
}
