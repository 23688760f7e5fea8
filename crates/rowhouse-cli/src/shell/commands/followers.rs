//! Commands about followers of changes.

use crate::shell::command::Action::{Changes, Reads};
use crate::shell::command::{Call, Command, Group, required};
use crate::shell::failure::Result;
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        names: &["drop_follower"],
        group: Group::Tables,
        arguments: &[required("FOLLOWER")],
        options: &[],
        about: "Removes a registered follower of changes.",
        details: "The log that is retained for it alone is removed.",
        examples: &["drop_follower 'counts'"],
        run: Changes(|session, call| boxed(remove(session, call))),
    },
    Command {
        names: &["list_followers"],
        group: Group::Tables,
        arguments: &[],
        options: &[],
        about: "Lists the registered followers of changes.",
        details: "The lag is that of the position which a follower saved last. One that has lost \
                  its place has to copy its table again.",
        examples: &["list_followers"],
        run: Reads(|session, call| boxed(list(session, call))),
    },
];

const HEADING: &str = "FOLLOWER  TABLE + LAG + POSITION";

async fn list(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(0)?;
    let followers = session.database.admin().list_followers().await?;
    session.say(HEADING)?;
    for follower in &followers {
        let lag = if follower.is_lost {
            "place lost".to_owned()
        } else {
            let seconds = follower.lag_millis as f64 / 1000.0;
            format!("{} bytes, {seconds:.1} s", follower.lag_bytes)
        };
        session.say(format_args!(
            " {}  {} ({lag}) {}",
            follower.name, follower.table, follower.position
        ))?;
    }
    session.say(format_args!("{} row(s)", followers.len()))?;
    Ok(())
}

async fn remove(session: &mut Session, call: Call) -> Result<()> {
    call.no_more_than(1)?;
    Ok(session.database.admin().drop_follower(&call.text(0)?).await?)
}
