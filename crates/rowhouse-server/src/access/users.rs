//! The users that a running server knows: the keys from the file, and who connects.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_format::rpc::{Authentication, SaslReply};
use rowhouse_format::token::{Token, TokenIdentifier};
use rowhouse_model::{Error, ErrorKind, Result};
use tokio::sync::watch;

use super::failures::FailureLog;
use super::identity::{Identity, Proof, USER_LEN_MAX};
use super::keys::{Keys, SERVED_LIFE_MS_MAX, TokenRefusal};
use super::login::{Login, Step};
use super::user_file::{UserFile, now_ms, random};
use super::watched::Watched;
use crate::UserSources;

/// The users of a server.
pub(crate) struct Users {
    pub(crate) sources: UserSources,
    file: Option<(UserFile, Watched<Keys>)>,
    /// Changes when the keys do.
    changes: watch::Sender<()>,
    failures: Mutex<FailureLog>,
}

/// The most bytes of a reason that are logged: it may contain what a client sent.
const REASON_LEN_MAX: usize = 1_000;

/// The longest time until a token's end is looked at again: the system's clock may be set.
const LOOK_MAX: Duration = Duration::from_secs(60);

impl Users {
    pub(crate) fn new(sources: UserSources) -> Self {
        Self { sources, file: None, changes: watch::Sender::new(()), failures: Mutex::default() }
    }

    /// Reads the file in the data directory, if tokens count; makes a first key if there is none.
    ///
    /// # Errors
    /// `Io`, `Corruption`; `InvalidRequest` if others can read the file.
    pub(crate) fn open(&mut self, data: &std::path::Path) -> Result<()> {
        if self.sources.token {
            let file = UserFile::at(data);
            let watched = Watched::open("users", vec![file.path()], || file.read_or_create())?;
            self.file = Some((file, watched));
        }
        Ok(())
    }

    /// Reads the file again if it has changed, as [`Watched::reload`].
    pub(crate) fn reload(&self) {
        let Some((file, watched)) = &self.file else { return };
        let missing = || Error::new(ErrorKind::Io, "there is no file of users any more");
        if watched.reload(true, || file.read()?.ok_or_else(missing)) {
            self.changes.send_replace(());
        }
    }

    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Returns how a client, with a certificate or not, may begin.
    pub(crate) fn authentication(&self, has_certificate: bool) -> Authentication {
        let sources = self.sources;
        let simple = sources.claimed || sources.certificate && has_certificate;
        Authentication { tokens: sources.token, simple }
    }

    /// Begins an authentication by a token.
    ///
    /// # Errors
    /// `Io` without random bytes.
    pub(crate) fn begin_login(&self) -> Result<Login> {
        Ok(Login::new(random()?))
    }

    /// Processes a client's message, and logs a failure.
    pub(crate) fn step(&self, login: &mut Login, message: &[u8], peer: SocketAddr) -> Step {
        let step = login.step(message, &self.keys(), now_ms());
        if let SaslReply::Refused(refusal) = &step.reply {
            let user = step.token.as_ref().map(|token| &*token.user);
            self.log_failure(peer, user, &refusal.message);
        }
        step
    }

    /// Logs that a client was refused, unless too many were. The client may have chosen the user.
    pub(crate) fn log_failure(&self, peer: SocketAddr, user: Option<&str>, why: &str) {
        if let Some(omitted) = self.failures.lock().admit(Instant::now()) {
            let user = shortened(user.unwrap_or_default(), USER_LEN_MAX);
            let why = shortened(why, REASON_LEN_MAX);
            tracing::warn!(%peer, user, why, omitted, "authentication failed");
        }
    }

    /// Returns once a token is not accepted any more, with the reason.
    pub(crate) async fn ended(&self, token: &TokenIdentifier) -> TokenRefusal {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let now_ms = now_ms();
            if let Err(refusal) = self.keys().check(token, now_ms) {
                return refusal;
            }
            let left = u64::try_from(token.expires_ms - now_ms + 1).unwrap_or(0);
            let left = Duration::from_millis(left).min(LOOK_MAX);
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep(left) => {}
            }
        }
    }

    /// Returns the content of a token in the text form, which the web pages take: the first, if
    /// there are several.
    ///
    /// # Errors
    /// Why it is not accepted.
    #[cfg(feature = "web")]
    pub(crate) fn user_of(&self, text: &str) -> Result<TokenIdentifier, String> {
        let parsed = Token::from_text(text.split(',').next().unwrap_or_default());
        let parsed = parsed.and_then(|it| Ok((TokenIdentifier::parse(&it.identifier)?, it)));
        let (token, secret) = parsed.map_err(|error| error.to_string())?;
        let keys = self.keys();
        if !keys.has_password(&secret.identifier, token.key_id, &secret.password) {
            return Err("the token was not made by this server".to_owned());
        }
        keys.check(&token, now_ms()).map_err(|refusal| refusal.to_string())?;
        Ok(token)
    }

    /// Returns true if a token, which was verified, is accepted still.
    #[cfg(feature = "web")]
    pub(crate) fn is_accepted(&self, token: &TokenIdentifier) -> bool {
        self.keys().check(token, now_ms()).is_ok()
    }

    /// Makes a token for a user who has proved it, which ends no later than the proof.
    ///
    /// # Errors
    /// `AccessDenied` if the user has not, or tokens do not count; `Io` without random bytes.
    pub(crate) fn token_for(&self, identity: &Identity, cluster_id: &str) -> Result<Token> {
        let denied = |why: &str| Error::new(ErrorKind::AccessDenied, why);
        let keys = self.keys();
        let Some(key_id) = keys.last_id().filter(|_| self.sources.token) else {
            let why = "No secret manager configured for token authentication: start the server with \
                       --users token";
            return Err(denied(why));
        };
        let now_ms = now_ms();
        let (issued_ms, until_ms) = match &identity.proof {
            Proof::Claim => {
                let why = "Token generation only allowed for Kerberos authenticated clients, here \
                           for clients with a certificate or a token";
                return Err(denied(why));
            }
            Proof::Certificate { until_ms } if *until_ms <= now_ms => {
                return Err(denied(&format!("the client certificate has ended: at_ms={until_ms}")));
            }
            Proof::Certificate { until_ms } => (now_ms, *until_ms),
            Proof::Token(token) => {
                // The last key signs: a token whose key is gone must not live on in a new one.
                keys.check(token, now_ms).map_err(|refusal| denied(&refusal.to_string()))?;
                // What revokes the token revokes the new one.
                (token.issued_ms, token.expires_ms)
            }
        };
        let expires_ms = until_ms.min(now_ms + SERVED_LIFE_MS_MAX);
        let sequence = i64::from_be_bytes(random()?) & i64::MAX;
        let user = identity.user.clone();
        let identifier = TokenIdentifier { user, key_id, issued_ms, expires_ms, sequence };
        keys.sign(&identifier, cluster_id)
            .ok_or_else(|| denied("the master key is gone: try again"))
    }

    fn keys(&self) -> Arc<Keys> {
        self.file.as_ref().map(|(_, watched)| watched.content()).unwrap_or_default()
    }
}

/// Returns the beginning of a text, with at most so many bytes.
fn shortened(text: &str, len_max: usize) -> &str {
    let is_end = |end: &usize| text.is_char_boundary(*end);
    &text[..(0..=len_max.min(text.len())).rev().find(is_end).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &std::path::Path) -> Users {
        let mut users = Users::new("certificate,token".parse().unwrap());
        users.open(dir).unwrap();
        users
    }

    fn identity(proof: Proof) -> Identity {
        Identity { user: "alice".into(), proof }
    }

    fn issue(file: &UserFile) -> Proof {
        let token = file.issue("alice", 60_000, "cluster").unwrap();
        Proof::Token(TokenIdentifier::parse(&token.identifier).unwrap())
    }

    #[test]
    fn a_token_that_has_ended_makes_no_other_one() {
        let dir = tempfile::tempdir().unwrap();
        let users = open(dir.path());
        let file = UserFile::at(dir.path());
        let steps: [fn(&UserFile); 2] =
            [|file| file.rotate_keys(true).unwrap(), |file| file.revoke("alice").unwrap()];
        for end in steps {
            let identity = identity(issue(&file));
            users.reload();
            assert!(users.token_for(&identity, "cluster").is_ok());
            end(&file);
            users.reload();
            let error = users.token_for(&identity, "cluster").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AccessDenied, "{error}");
        }
    }

    #[test]
    fn a_file_that_could_not_be_read_is_read_once_it_can_be() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let users = open(dir.path());
        let file = UserFile::at(dir.path());
        let identity = identity(issue(&file));
        users.reload();
        file.revoke("alice").unwrap();
        let set_mode = |mode| {
            let path = dir.path().join("users");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(0o640);
        users.reload();
        assert!(users.token_for(&identity, "cluster").is_ok());
        // This changes neither length nor time of the content.
        set_mode(0o600);
        users.reload();
        assert!(users.token_for(&identity, "cluster").is_err());
    }

    #[test]
    fn texts_of_clients_are_shortened_between_characters() {
        assert_eq!(shortened("alice", 255), "alice");
        assert_eq!(shortened("a爱", 2), "a");
        assert_eq!(shortened(&"a".repeat(300), 255).len(), 255);
    }

    #[test]
    fn a_certificate_that_has_ended_makes_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let users = open(dir.path());
        let made = |until_ms| {
            users.token_for(&identity(Proof::Certificate { until_ms }), "cluster").is_ok()
        };
        assert!(made(now_ms() + 60_000));
        assert!(!made(now_ms()));
    }
}
