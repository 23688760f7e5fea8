//! `rowhouse user`: tokens of users, in a data directory.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use rowhouse::{Error, Result};
use rowhouse_server::{Token, User, UserFile};
use rowhouse_store::cluster_id_of;

use super::{CommandResult, DATA_DIR, argument, server_of};
use crate::output::print;

/// Arguments of `rowhouse user`.
#[derive(Debug, clap::Args)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    action: Action,
    /// The data directory of the server
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, global = true)]
    data: PathBuf,
}

/// The actions.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token by which a user connects to a server with --users token
    Token {
        /// The user
        name: String,
        /// How long the token is accepted: a number and s, m, h or d
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = argument::life)]
        expires: Duration,
        /// Also write a file for HADOOP_TOKEN_FILE_LOCATION
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// List the users who have had tokens
    List,
    /// Refuse the tokens that a user has now, and end their connections
    Revoke {
        /// The user
        name: String,
    },
    /// Work with the master keys that tokens are made with
    Keys {
        #[command(subcommand)]
        action: KeysAction,
    },
}

#[derive(Debug, clap::Subcommand)]
enum KeysAction {
    /// Make tokens with a new key from now on
    Rotate {
        /// Refuse all tokens that were made before
        #[arg(long)]
        end_tokens: bool,
    },
}

pub(crate) fn run(args: &UserArgs) -> CommandResult {
    // A server that is starting may not have written it.
    server_of(&args.data)?;
    // A directory without a database has no users.
    let cluster_id = cluster_id_of(&args.data)?;
    let users = UserFile::at(&args.data);
    match &args.action {
        Action::Token { name, expires, file } => {
            let life_ms = i64::try_from(expires.as_millis()).unwrap_or(i64::MAX);
            let token = users.issue(name, life_ms, &cluster_id)?;
            // Clients before HBase 2.6 take the second one for registries of RPC.
            let tokens = [token.clone(), token.for_unknown_cluster()];
            if let Some(file) = file {
                write_secret(file, &Token::to_file(&tokens))?;
            }
            let text = tokens.map(|token| token.to_text()).join(",");
            print(shown(name, &text, file.as_deref()).trim_end())?;
        }
        Action::List => {
            for (name, user) in users.users()? {
                print(line(&name, &user))?;
            }
        }
        Action::Revoke { name } => {
            users.revoke(name)?;
            print(format_args!("the tokens of {name} are refused from now on"))?;
        }
        Action::Keys { action: KeysAction::Rotate { end_tokens } } => {
            users.rotate_keys(*end_tokens)?;
            print(if *end_tokens {
                "all tokens are refused from now on; new ones are made with a new key"
            } else {
                "tokens are made with a new key from now on"
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the forms of a token that clients take.
fn shown(name: &str, token: &str, file: Option<&Path>) -> String {
    let property = |name: &str, value: &str| {
        format!("  <property><name>{name}</name><value>{value}</value></property>\n")
    };
    let security = property("hbase.security.authentication", "kerberos");
    let tokens = property("hadoop.tokens", token);
    let in_file = file.map_or_else(String::new, |file| {
        format!("file:\n  export HADOOP_TOKEN_FILE_LOCATION={}\n\n", file.display())
    });
    format!(
        "A token for {name}. Whoever has it is {name}.

{in_file}environment:
  export HADOOP_TOKEN={token}

hbase-site.xml, for Java clients in any case:
{security}
core-site.xml, in place of file and environment:
{tokens}"
    )
}

/// Returns a user on a line.
fn line(name: &str, user: &User) -> String {
    let time = |ms: i64| {
        Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.to_string())
    };
    let mut line = name.to_owned();
    for (what, ms) in
        [("issued", user.issued_ms), ("ends", user.expires_ms), ("revoked", user.revoked_ms)]
    {
        if let Some(ms) = ms {
            line += &format!("  {what} {}", time(ms));
        }
    }
    line
}

/// Writes a new file that this account alone can read.
fn write_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| Error::io(format_args!("cannot write {}", path.display()), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_in_the_forms_that_clients_take() {
        let shown = shown("alice", "AbC", Some(Path::new("/run/alice.token")));
        for form in [
            "export HADOOP_TOKEN_FILE_LOCATION=/run/alice.token",
            "export HADOOP_TOKEN=AbC",
            "<name>hadoop.tokens</name><value>AbC</value>",
            "<name>hbase.security.authentication</name><value>kerberos</value>",
        ] {
            assert!(shown.contains(form), "{shown}");
        }
    }

    #[test]
    fn users_are_listed_with_the_times_that_they_have() {
        let user = User { issued_ms: Some(0), expires_ms: None, revoked_ms: Some(1) };
        let expected = "bob  issued 1970-01-01T00:00:00Z  revoked 1970-01-01T00:00:00.001Z";
        assert_eq!(line("bob", &user), expected);
    }

    #[test]
    fn a_file_with_a_token_is_new_and_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        write_secret(&path, b"x").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(write_secret(&path, b"y").is_err());
    }
}
