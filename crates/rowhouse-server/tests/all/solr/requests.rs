//! Request and answer forms, and what is refused.

use serde_json::{Value, json};

use super::{encoded, mails};

#[test]
fn answers_begin_with_a_header_that_repeats_the_parameters() {
    let mail = mails();
    let answer = mail.run("q=*:*&fq=user:bob&fq=n:1&wt=json&_=5");
    let header = &answer["responseHeader"];
    assert_eq!(header["status"], 0);
    assert!(header["QTime"].is_u64());
    let params = json!({"q": "*:*", "fq": ["user:bob", "n:1"], "wt": "json", "_": "5"});
    assert_eq!(header["params"], params);
    assert_eq!(mail.run("q=*:*&echoParams=none")["responseHeader"]["params"], json!(null));
    assert_eq!(mail.run("q=*:*&omitHeader=true")["responseHeader"], json!(null));
    assert_eq!(answer["response"]["start"], 0);
    assert!(!mail.get("q=*:*&indent=off").1.trim_end().contains('\n'));
}

#[test]
fn forms_are_read_as_query_strings_are() {
    let mail = mails();
    let form = "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n";
    let body = encoded("q=body:设计&wt=json&fl=n");
    let (status, head, answer) = mail.send("POST", "/solr/mail/select?rows=1", form, &body);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!((status, &answer["response"]["docs"]), (200, &json!([{"n": 3}])));
    assert!(head.contains("content-type: application/json;charset=utf-8"), "{head}");
    assert_eq!(mail.send("POST", "/solr/mail/select/", form, &body).0, 200);
    assert_eq!(mail.send("POST", "/solr/default%3Amail/select", form, &body).0, 200);
    let json = "Content-Type: application/json\r\n";
    assert_eq!(mail.send("POST", "/solr/mail/select", json, "{}").0, 415);
    // The parameters may be in the address alone.
    for kind in ["", json, form] {
        let (status, _, answer) = mail.send("POST", "/solr/mail/select?q=n:3", kind, "");
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((status, &answer["response"]["numFound"]), (200, &json!(1)), "{kind}");
    }
    // A page from another origin may send forms, and is refused.
    let other = format!("{form}Origin: http://evil.example\r\n");
    assert_eq!(mail.send("POST", "/solr/mail/select", &other, &body).0, 403);
    let navigated = format!(
        "{form}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    );
    assert_eq!(mail.send("POST", "/solr/mail/select", &navigated, &body).0, 403);
}

#[test]
fn refused_forms_are_read_completely_and_answered_in_the_requested_format() {
    let mail = mails();
    let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
    let refused = |path: &str, form: &str| {
        let (status, head, answer) = mail.send("POST", path, kind, form);
        let is_javabin = head.contains("content-type: application/octet-stream");
        assert_eq!(is_javabin, answer.starts_with(&[2]), "{path}: {head}");
        assert!(answer.len() < 10_000, "{path}");
        (status, is_javabin)
    };
    let long = format!("q={}", "a".repeat(3 << 20));
    for (path, form, status) in [
        ("/solr/mail/update", "commit=true", 400),
        ("/solr/mail/terms", "q=a", 404),
        ("/solr/none/select", "q=a", 404),
        ("/solr/mail/select", "q=body:(", 400),
        ("/solr/mail/select", "q=%zz", 400),
        ("/solr/mail/select", &long, 413),
        ("/solr/mail/update", &long, 400),
        ("/solr/mail/admin/ping", &long, 413),
    ] {
        assert_eq!(refused(path, &format!("{form}&wt=javabin")), (status, true), "{path}");
        assert_eq!(refused(path, form), (status, false), "{path}");
    }
    // An answer that refuses other pages comes after the body too.
    let other = format!("{kind}Origin: http://evil.example\r\n");
    assert_eq!(mail.send("POST", "/solr/mail/select", &other, &long).0, 403);
    assert_eq!(mail.send("POST", "/mail/select", kind, &long).0, 404);
}

#[test]
fn long_values_are_cut_in_messages() {
    let mail = mails();
    let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
    for form in [
        format!("q=body:(a {}", "b ".repeat(20_000)),
        format!("q={}", "b".repeat(100_000)),
        format!("q=a&rows={}", "b".repeat(100_000)),
        format!("q=size:{}", "b".repeat(50_000)),
        format!("q=nothing{}:a", "b".repeat(50_000)),
        format!("q=a&{}=1", "b".repeat(100_000)),
    ] {
        let form = form.replace(' ', "+");
        let (status, _, answer) = mail.send("POST", "/solr/mail/select", kind, &form);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let message = answer["error"]["msg"].as_str().unwrap();
        let chars = message.chars().count();
        assert!(status == 400 && chars <= 2_001, "{status}, {chars}: {}", &message[..80]);
    }
}

#[test]
fn unsupported_requests_get_solrs_error() {
    let mail = mails();
    for (query, status, message) in [
        ("q=body:(a", 400, "q: `(` without a `)` after it: offset=5\n  body:(a\n       ^"),
        (
            "q=nothing:a",
            400,
            "undefined field nothing: fields=id, user, n, body, title, sender, size, at, id_, tagged.tag",
        ),
        (
            "q=word",
            400,
            "no field name specified in query and no default specified via 'df' param: offset=0\n  word\n  ^",
        ),
        ("q=size:abc", 400, "invalid clause `size:abc`: expected a whole number: offset=0"),
        (
            "q=body:[a TO b]",
            400,
            "a range needs a value, a `keyword` or a field of the key: field=body: offset=5\n  body:[a TO b]\n       ^",
        ),
        (
            "q=user:bob~1",
            400,
            "`~` is for words of texts, and `user` is no text: offset=5\n  user:bob~1\n       ^",
        ),
        (
            "q=at:[NOW-1DAY TO NOW]",
            400,
            "times relative to others (`NOW-1DAY`) are not supported: at=NOW-1DAY: offset=3\n  at:[NOW-1DAY TO NOW]\n     ^",
        ),
        (
            "q=at:\"2022-12-01T00:00:00Z/DAY\"",
            400,
            "times relative to others (`NOW-1DAY`) are not supported: at=2022-12-01T00:00:00Z/DAY: offset=3\n  at:\"2022-12-01T00:00:00Z/DAY\"\n     ^",
        ),
        (
            "q=at:2022-13-01",
            400,
            "invalid clause `at:2022-13-01`: expected a month from 01 to 12: offset=5",
        ),
        ("q=size:NOW", 400, "invalid clause `size:NOW`: expected a whole number: offset=0"),
        (
            "q=*:*&fl=sum(size,1)",
            400,
            "functions, aliases and patterns of fields are not served: fl=sum(size,1)",
        ),
        ("q=*:*&facet.query=a", 400, "this parameter is not served: facet.query=a"),
        (
            "q=*:*&stats=true",
            400,
            "this value of a parameter is not served: stats=true, served=false, off, 0, ",
        ),
        (
            "q=*:*&wt=xml",
            400,
            "this value of a parameter is not served: wt=xml, served=json, javabin",
        ),
    ] {
        let (text, code) = mail.refused(query);
        let text = text.trim_start_matches("q: ");
        assert_eq!((text, code), (message.trim_start_matches("q: "), status), "{query}");
    }
    let refusal = |method: &str, path: &str| {
        let (status, _, body) = mail.send(method, path, "", "");
        let answer: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(answer["error"]["code"], status);
        (status, answer["error"]["msg"].as_str().unwrap().to_owned())
    };
    let unknown = (404, "there is no table none".to_owned());
    assert_eq!(refusal("GET", "/solr/none/select?q=a"), unknown);
    assert_eq!(refusal("GET", "/solr/none/admin/ping"), unknown);
    assert_eq!(refusal("POST", "/solr/mail/update/json?commit=true").0, 400);
    assert!(refusal("POST", "/solr/mail/update").1.contains("HBase's protocol"));
    assert_eq!(refusal("GET", "/solr/mail/get?ids=1").0, 404);
    assert_eq!(refusal("GET", "/solr/admin/collections?action=LIST").0, 404);
    assert_eq!(refusal("GET", "/solr/mail/select?q=%zz").0, 400);
}

#[test]
fn ping_reports_whether_the_table_exists() {
    let mail = mails();
    let ping = |path: &str| {
        let (status, _, body) = mail.send("GET", path, "", "");
        (status, serde_json::from_slice::<Value>(&body).unwrap()["status"].clone())
    };
    assert_eq!(ping("/solr/mail/admin/ping?wt=json"), (200, json!("OK")));
    assert_eq!(ping("/solr/none/admin/ping"), (404, json!(null)));
}
