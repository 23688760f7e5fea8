//! How is an inbox stored in a term table, as the literature draws it, and is never wrong? A row
//! for each user has a column for each term, and a version for each mail that has it: the timestamp
//! is the mail's number, the value the places where the term is in it. An observer maintains it, in
//! the same log record as the mail. A phrase is answered from one row.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rowhouse::observer::{Additions, Observer, RowChange};
use rowhouse::schema::FamilyDescriptor;
use rowhouse::{Delete, Get, Put, Result, Row, Table, TableSpec, Timestamp};

/// Maintains the term table for a mail table.
struct Inbox {
    mails: Table,
    terms: Table,
}

impl Observer for Inbox {
    fn name(&self) -> &str {
        "inbox"
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
        let key = self.mails.key_schema()?.decode(&change.row)?;
        let inbox = self.terms.key(&[("user", key["user"].clone())])?;
        let number = Timestamp::from_millis(key["nr"].as_i64().expect("the key has a number"))?;
        let before = places_of(&change.before);
        let after = places_of(&change.after);

        let gone = before.keys().filter(|term| !after.contains_key(*term));
        let gone: Vec<_> = gone.collect();
        if !gone.is_empty() {
            let delete = gone.iter().try_fold(Delete::new(inbox.clone())?, |delete, term| {
                delete.version("t", term.as_bytes(), number)
            });
            additions.mutate(&self.terms, delete?)?;
        }
        let changed: Vec<_> =
            after.iter().filter(|(term, places)| before.get(*term) != Some(places)).collect();
        if !changed.is_empty() {
            let put = changed.iter().try_fold(Put::new(inbox)?, |put, (term, places)| {
                put.add_at("t", term.as_bytes(), number, varints(places))
            });
            additions.mutate(&self.terms, put?)?;
        }
        Ok(())
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    // A mail that is written again has the same number again: what was deleted at a timestamp can
    // be put there again, and all mails are versions.
    let family = FamilyDescriptor::new("t")?.versions(u32::MAX >> 1);
    let family = family.attribute("NEW_VERSION_BEHAVIOR", "TRUE");
    let terms = TableSpec::new("terms").key("[user string]").family_with(family);
    let terms = database.create_table(terms).await?;
    let mails = TableSpec::new("mails").key("[user string][nr u32]").family("d");
    let mails = mails.columns("d:b body string").observers(["inbox"]);
    let mails = database.create_table(mails).await?;
    database.observe("mails", Inbox { mails: mails.clone(), terms: terms.clone() }).await?;

    let write = async |user: &str, nr: u32, body: &str| {
        mails.row(&[("user", user.into()), ("nr", nr.into())]).set_named("body", body).put().await
    };
    write("bob", 1, "The row key comes first.").await?;
    write("bob", 2, "A key for each row.").await?;
    write("bob", 3, "One row: key, family, qualifier.").await?;
    write("eve", 1, "Which row key?").await?;
    assert_eq!(phrase(&terms, "bob", &["row", "key"]).await?, [3, 1]);

    // A mail that changes or goes takes the terms along.
    write("bob", 1, "The key of the row comes first.").await?;
    let third = mails.key(&[("user", "bob".into()), ("nr", 3_u32.into())])?;
    mails.delete(Delete::new(third)?).await?;
    assert_eq!(phrase(&terms, "bob", &["row", "key"]).await?, [0_u32; 0]);
    assert_eq!(phrase(&terms, "bob", &["row", "comes", "first"]).await?, [1]);
    write("bob", 3, "The row key again.").await?;
    assert_eq!(phrase(&terms, "bob", &["row", "key"]).await?, [3]);

    // The same questions to a full-text index, which needs no observer and no second table by hand.
    let searched = TableSpec::new("searched").key("[user string][nr u32]").family("d");
    let searched = searched.columns("d:b body string").indexes("text search body simple");
    let searched = database.create_table(searched).await?;
    let mut took = [Duration::ZERO; 4];
    for nr in 0..300_u32 {
        let body = made_up(nr);
        let key = [("user", "ann".into()), ("nr", nr.into())];
        let put = |table: &Table| table.row(&key).set_named("body", body.as_str()).into_put();
        let began = Instant::now();
        mails.put(put(&mails)?).await?;
        took[0] += began.elapsed();
        let began = Instant::now();
        searched.put(put(&searched)?).await?;
        took[1] += began.elapsed();
    }
    for nr in 0..100_u32 {
        let body = made_up(nr);
        let words: Vec<&str> = body.split(' ').skip(nr as usize % 90).take(2).collect();
        let began = Instant::now();
        let mut by_terms = phrase(&terms, "ann", &words).await?;
        took[2] += began.elapsed();
        let began = Instant::now();
        let query = format!("user = 'ann' and body matches '\"{}\"'", words.join(" "));
        let by_index = searched.query(query.as_str()).page(1000).await?.rows;
        took[3] += began.elapsed();
        by_terms.reverse();
        let by_index: Vec<_> = by_index.iter().filter_map(|row| row.key("nr")?.as_i64()).collect();
        assert!(by_terms.contains(&nr));
        assert_eq!(by_index, by_terms.iter().map(|nr| i64::from(*nr)).collect::<Vec<_>>());
    }
    println!(
        "put of a mail of 100 words: {:?} with terms, {:?} searched",
        took[0] / 300,
        took[1] / 300
    );
    println!("phrase of two words: {:?} by terms, {:?} by matches", took[2] / 100, took[3] / 100);
    database.close().await
}

/// Returns the numbers for a user's mails with these words side by side, the newest first.
async fn phrase(terms: &Table, user: &str, words: &[&str]) -> Result<Vec<u32>> {
    let mut get = Get::new(terms.key(&[("user", user.into())])?)?.versions(u32::MAX >> 1);
    let distinct: BTreeSet<_> = words.iter().map(|word| word.to_lowercase()).collect();
    for word in &distinct {
        get = get.column("t", word.as_bytes().to_vec());
    }
    let inbox = terms.get(&get).await?;
    // For each mail the phrase places, as far as it is read.
    let mut matches: Option<BTreeMap<i64, BTreeSet<u64>>> = None;
    for (nth, word) in words.iter().enumerate() {
        let word = word.to_lowercase();
        let cells = inbox.cells().filter(|cell| cell.qualifier() == word.as_bytes());
        let begins = cells.map(|cell| {
            let places = places(cell.value()).into_iter();
            let begins = places.filter_map(|place| place.checked_sub(nth as u64)).collect();
            (cell.timestamp().as_millis(), begins)
        });
        let begins: BTreeMap<i64, BTreeSet<u64>> = begins.collect();
        matches = Some(match matches {
            None => begins,
            Some(previous) => {
                let both = previous.into_iter().filter_map(|(mail, places)| {
                    Some((mail, places.intersection(begins.get(&mail)?).copied().collect()))
                });
                both.filter(|(_, places): &(i64, BTreeSet<u64>)| !places.is_empty()).collect()
            }
        });
    }
    let matches = matches.unwrap_or_default();
    Ok(matches.into_keys().rev().filter_map(|number| u32::try_from(number).ok()).collect())
}

/// Returns the places for each term in a mail: words in lower case.
fn places_of(mail: &Row) -> BTreeMap<String, Vec<u64>> {
    let body = mail.value("d", "b").unwrap_or_default();
    let text =
        String::from_utf8_lossy(body.strip_suffix(b"\0\x01").unwrap_or(&body)).to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut places = BTreeMap::<String, Vec<u64>>::new();
    for (place, word) in words.enumerate() {
        places.entry(word.to_owned()).or_default().push(place as u64);
    }
    places
}

/// Encodes places as varints: seven bits a byte, the lowest first, all bytes but the last with the
/// high bit.
fn varints(places: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for place in places {
        let mut rest = *place;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

fn places(varints: &[u8]) -> Vec<u64> {
    let mut places = Vec::new();
    let mut place = 0;
    let mut shift = 0;
    for byte in varints {
        place |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            places.push(place);
            (place, shift) = (0, 0);
        }
    }
    places
}

/// Returns 100 words.
fn made_up(seed: u32) -> String {
    let words: Vec<String> = (0..100_u32)
        .map(|nth| format!("w{}", (seed.wrapping_mul(7919).wrapping_add(nth * nth * 31)) % 900))
        .collect();
    words.join(" ")
}
