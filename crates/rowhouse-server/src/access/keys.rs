//! Master keys and users: which tokens are made, and which are accepted. No I/O; the file's bytes
//! are drawn in `docs/formats/users.md`.

use std::collections::BTreeMap;
use std::fmt;

use rowhouse_format::token::{self, Token, TokenIdentifier, from_base64, to_base64};
use rowhouse_model::{Error, Result};

use super::identity::check_name;

/// Bytes of a master key.
pub(crate) const KEY_LEN: usize = 32;
/// The most master keys and users in a file.
const KEYS_MAX: usize = 1_000;
const USERS_MAX: usize = 100_000;
/// The longest life of a token: ten years.
pub(crate) const LIFE_MS_MAX: i64 = 3_650 * 24 * 3_600_000;
/// The longest life of a token that the server makes for a user with a certificate: HBase's
/// `hbase.auth.token.max.lifetime`.
pub(crate) const SERVED_LIFE_MS_MAX: i64 = 7 * 24 * 3_600_000;

const FIRST_LINE: &str = "rowhouse users 1";
const CHECKSUM: &str = "crc32c ";

/// The master keys, and the users that have had tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// By id; the last one signs.
    keys: BTreeMap<i32, MasterKey>,
    users: BTreeMap<String, User>,
}

#[derive(Clone, PartialEq, Eq)]
struct MasterKey {
    made_ms: i64,
    /// No token that it has signed lives longer.
    until_ms: i64,
    secret: [u8; KEY_LEN],
}

/// Shows no secret.
impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MasterKey").field("made_ms", &self.made_ms).finish_non_exhaustive()
    }
}

/// A user who has had tokens, or whose tokens were revoked. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// When the last token was made.
    pub issued_ms: Option<i64>,
    /// When the last token ends.
    pub expires_ms: Option<i64>,
    /// Tokens made until then are refused.
    pub revoked_ms: Option<i64>,
}

/// Why a token is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenRefusal {
    UnknownKey(i32),
    Expired(i64),
    Revoked(i64),
}

/// As HBase says it, with the remedy.
impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey(id) => write!(f, "Unknown master key for token (id={id})"),
            Self::Expired(ms) => write!(f, "Token has expired: at_ms={ms}"),
            Self::Revoked(ms) => write!(f, "Token was revoked: at_ms={ms}"),
        }?;
        f.write_str("; `rowhouse user token NAME` makes another one")
    }
}

impl Keys {
    /// Returns a first master key, and no users.
    pub(crate) fn new(secret: [u8; KEY_LEN], now_ms: i64) -> Self {
        let first = MasterKey { made_ms: now_ms, until_ms: now_ms, secret };
        Self { keys: [(1, first)].into(), users: BTreeMap::new() }
    }

    /// Makes a token. It is younger than the user's last revocation, also if the clock went back.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid name, a life that is too long, or too many users.
    pub(crate) fn issue(
        &mut self,
        name: &str,
        life_ms: i64,
        sequence: i64,
        now_ms: i64,
    ) -> Result<TokenIdentifier> {
        check_name(name)?;
        if !(1..=LIFE_MS_MAX).contains(&life_ms) {
            return Err(Error::invalid(format!(
                "a token lives at least 1 ms: given={life_ms}, max={LIFE_MS_MAX}"
            )));
        }
        self.forget(now_ms);
        let user = self.user(name)?;
        let issued_ms = user.revoked_ms.map_or(now_ms, |revoked| now_ms.max(revoked + 1));
        // Counted from now: a revocation by a clock that ran ahead makes no life longer.
        let expires_ms = now_ms + life_ms;
        user.issued_ms = user.issued_ms.max(Some(issued_ms));
        user.expires_ms = user.expires_ms.max(Some(expires_ms));
        let (&key_id, key) = self.keys.iter_mut().next_back().expect("a file has a key");
        key.until_ms = key.until_ms.max(expires_ms);
        Ok(TokenIdentifier { user: name.to_owned(), key_id, issued_ms, expires_ms, sequence })
    }

    /// Refuses the tokens that a user has now.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid name, or too many users.
    pub(crate) fn revoke(&mut self, name: &str, now_ms: i64) -> Result<()> {
        check_name(name)?;
        self.forget(now_ms);
        let user = self.user(name)?;
        // Also if the clock went back.
        user.revoked_ms = user.revoked_ms.max(user.issued_ms).max(Some(now_ms));
        Ok(())
    }

    /// Adds a master key, which signs from now on. Earlier ones stay while tokens live that they
    /// have signed; with `end_tokens`, all tokens are refused.
    ///
    /// # Errors
    /// `InvalidRequest` for too many keys.
    pub(crate) fn rotate(
        &mut self,
        secret: [u8; KEY_LEN],
        end_tokens: bool,
        now_ms: i64,
    ) -> Result<()> {
        self.forget(now_ms);
        // Servers sign tokens, too, which are not noted here.
        self.keys.values_mut().for_each(|key| {
            key.until_ms = key.until_ms.max(key.made_ms.max(now_ms) + SERVED_LIFE_MS_MAX);
        });
        let last = self.keys.last_key_value().map_or(0, |(id, _)| *id);
        if end_tokens {
            self.keys.clear();
        }
        if self.keys.len() >= KEYS_MAX {
            return Err(Error::invalid(format!("too many master keys: max={KEYS_MAX}")));
        }
        let id = last.checked_add(1).ok_or_else(|| Error::invalid("all key ids are used"))?;
        self.keys.insert(id, MasterKey { made_ms: now_ms, until_ms: now_ms, secret });
        Ok(())
    }

    /// Returns the password of a token, or `None` if its key is unknown.
    pub(crate) fn password(&self, identifier: &[u8], key_id: i32) -> Option<[u8; 20]> {
        self.keys.get(&key_id).map(|key| token::password(identifier, &key.secret))
    }

    /// Returns true if this is the password of a token.
    #[cfg(feature = "web")]
    pub(crate) fn has_password(&self, identifier: &[u8], key_id: i32, password: &[u8]) -> bool {
        let key = self.keys.get(&key_id);
        key.is_some_and(|key| token::has_password(identifier, &key.secret, password))
    }

    /// Returns the token with an identifier whose key is the last one.
    pub(crate) fn sign(&self, identifier: &TokenIdentifier, cluster_id: &str) -> Option<Token> {
        let key = self.keys.get(&identifier.key_id)?;
        Some(Token::new(identifier, &key.secret, cluster_id))
    }

    /// Returns the id of the key that signs.
    pub(crate) fn last_id(&self) -> Option<i32> {
        self.keys.last_key_value().map(|(id, _)| *id)
    }

    /// Checks that a token, whose password is right, is accepted.
    ///
    /// # Errors
    /// Why it is not.
    pub(crate) fn check(&self, token: &TokenIdentifier, now_ms: i64) -> Result<(), TokenRefusal> {
        if !self.keys.contains_key(&token.key_id) {
            return Err(TokenRefusal::UnknownKey(token.key_id));
        }
        if token.expires_ms < now_ms {
            return Err(TokenRefusal::Expired(token.expires_ms));
        }
        let revoked = self.users.get(&token.user).and_then(|user| user.revoked_ms);
        match revoked {
            Some(revoked) if token.issued_ms <= revoked => Err(TokenRefusal::Revoked(revoked)),
            _ => Ok(()),
        }
    }

    /// Returns the users, by name.
    pub(crate) fn users(&self) -> impl Iterator<Item = (&str, &User)> {
        self.users.iter().map(|(name, user)| (&**name, user))
    }

    fn user(&mut self, name: &str) -> Result<&mut User> {
        if !self.users.contains_key(name) && self.users.len() >= USERS_MAX {
            return Err(Error::invalid(format!("too many users: max={USERS_MAX}")));
        }
        Ok(self.users.entry(name.to_owned()).or_default())
    }

    /// Removes keys and users that decide about no token any more.
    fn forget(&mut self, now_ms: i64) {
        let last = self.last_id();
        self.keys.retain(|id, key| Some(*id) == last || key.until_ms >= now_ms);
        self.users.retain(|_, user| {
            let revoked = user.revoked_ms.is_some_and(|at| at + LIFE_MS_MAX >= now_ms);
            revoked || user.expires_ms.is_some_and(|at| at >= now_ms)
        });
    }

    /// Returns the file's text.
    pub(crate) fn to_text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!("{FIRST_LINE}\n");
        for (id, key) in &self.keys {
            let secret = to_base64(&key.secret);
            let _ = writeln!(text, "key {id} {} {} {secret}", key.made_ms, key.until_ms);
        }
        let time = |ms: Option<i64>| ms.map_or_else(|| "-".to_owned(), |ms| ms.to_string());
        for (name, user) in &self.users {
            let times = [user.issued_ms, user.expires_ms, user.revoked_ms].map(time).join(" ");
            let _ = writeln!(text, "user {times} {name}");
        }
        let checksum = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "{CHECKSUM}{checksum:08x}");
        text
    }

    /// Parses the file's text.
    ///
    /// # Errors
    /// `Corruption` for another text; messages hold nothing from lines with secrets.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let body = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
        let (body, checksum) = body.ok_or_else(|| Error::corruption("it is cut short"))?;
        let body = format!("{body}\n");
        let expected = format!("{CHECKSUM}{:08x}", crc32c::crc32c(body.as_bytes()));
        if checksum != expected {
            return Err(Error::corruption("its checksum is wrong"));
        }
        let mut lines = (1..).zip(body.lines());
        if lines.next().is_none_or(|(_, line)| line != FIRST_LINE) {
            return Err(Error::unsupported(format!("it does not begin with `{FIRST_LINE}`")));
        }
        let mut keys = Self::default();
        for (number, line) in lines {
            keys.parse_line(line)
                .ok_or_else(|| Error::corruption(format!("it is malformed: line={number}")))?;
        }
        if keys.keys.is_empty() || keys.keys.len() > KEYS_MAX || keys.users.len() > USERS_MAX {
            return Err(Error::corruption("it has no master key, or too many lines"));
        }
        Ok(keys)
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        let (kind, line) = line.split_once(' ')?;
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next();
        match kind {
            "key" => {
                let id = word()?.parse().ok()?;
                let made_ms = word()?.parse().ok()?;
                let until_ms = word()?.parse().ok()?;
                let secret = from_base64(word()?).ok()?.try_into().ok()?;
                let key = MasterKey { made_ms, until_ms, secret };
                self.keys.insert(id, key).is_none().then_some(())
            }
            "user" => {
                let time = |word: &str| match word {
                    "-" => Some(None),
                    ms => ms.parse().ok().map(Some),
                };
                let issued_ms = time(word()?)?;
                let expires_ms = time(word()?)?;
                let revoked_ms = time(word()?)?;
                let name = word()?;
                check_name(name).ok()?;
                let user = User { issued_ms, expires_ms, revoked_ms };
                self.users.insert(name.to_owned(), user).is_none().then_some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 24 * 3_600_000;

    fn keys() -> Keys {
        Keys::new([1; KEY_LEN], 1_000)
    }

    #[test]
    fn a_token_is_accepted_until_it_ends() {
        let mut keys = keys();
        let token = keys.issue("alice", DAY, 0, 5_000).unwrap();
        assert_eq!(keys.check(&token, 5_000), Ok(()));
        assert_eq!(keys.check(&token, 5_000 + DAY), Ok(()));
        let refused = keys.check(&token, 5_001 + DAY);
        assert_eq!(refused, Err(TokenRefusal::Expired(5_000 + DAY)));
    }

    #[test]
    fn tokens_made_after_a_revocation_are_accepted_also_in_the_same_millisecond() {
        let mut keys = keys();
        let before = keys.issue("alice", DAY, 0, 5_000).unwrap();
        let other = keys.issue("bob", DAY, 0, 5_000).unwrap();
        // The clock goes back.
        keys.revoke("alice", 4_000).unwrap();
        let after = keys.issue("alice", DAY, 0, 4_000).unwrap();
        assert_eq!(keys.check(&before, 4_000), Err(TokenRefusal::Revoked(5_000)));
        assert_eq!(keys.check(&other, 4_000), Ok(()));
        assert_eq!(keys.check(&after, 4_000), Ok(()));
    }

    #[test]
    fn earlier_keys_stay_while_their_tokens_live() {
        let mut keys = keys();
        let token = keys.issue("alice", 30 * DAY, 0, 5_000).unwrap();
        keys.rotate([2; KEY_LEN], false, 6_000).unwrap();
        assert_eq!(keys.last_id(), Some(2));
        assert_eq!(keys.check(&token, 7_000), Ok(()));
        keys.rotate([3; KEY_LEN], false, 5_001 + 30 * DAY).unwrap();
        assert_eq!(keys.check(&token, 7_000), Err(TokenRefusal::UnknownKey(1)));
        keys.rotate([4; KEY_LEN], true, 40 * DAY).unwrap();
        assert_eq!(keys.keys.keys().collect::<Vec<_>>(), [&4]);
    }

    #[test]
    fn a_life_counts_from_now_also_after_a_revocation_in_the_future() {
        let mut keys = keys();
        keys.revoke("alice", 30 * DAY).unwrap();
        let token = keys.issue("alice", DAY, 0, 1_000).unwrap();
        assert_eq!((token.issued_ms, token.expires_ms), (30 * DAY + 1, DAY + 1_000));
        assert!(keys.check(&token, 1_000).is_ok());
    }

    #[test]
    fn lives_and_names_have_limits() {
        let mut keys = keys();
        for life in [i64::MIN, -1, 0, LIFE_MS_MAX + 1, i64::MAX] {
            assert!(keys.issue("alice", life, 0, 1).is_err(), "{life}");
        }
        assert!(keys.issue("", 1, 0, 1).is_err());
        assert!(keys.revoke("a\nb", 1).is_err());
        assert!(keys.issue("alice", LIFE_MS_MAX, 0, 1).is_ok());
    }

    #[test]
    fn damaged_files_are_refused_without_showing_secrets() {
        let mut keys = keys();
        keys.issue("Alice Liddell", DAY, 0, 5_000).unwrap();
        keys.revoke("bob", 5_000).unwrap();
        let text = keys.to_text();
        assert_eq!(Keys::parse(&text).unwrap(), keys);
        let secret = to_base64(&[1; KEY_LEN]);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            for damaged in [String::from_utf8(bytes).unwrap(), text[..at].to_owned()] {
                let error = Keys::parse(&damaged).unwrap_err();
                assert!(!error.message().contains(&secret[..8]), "{error}");
            }
        }
        assert!(!format!("{keys:?}").contains("secret"));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Issue { user: usize, life: i64 },
        Revoke { user: usize },
        Rotate { end_tokens: bool },
        Pass { ms: i64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..3_usize, 1..40 * DAY).prop_map(|(user, life)| Step::Issue { user, life }),
            2 => (0..3_usize).prop_map(|user| Step::Revoke { user }),
            2 => (0..4_u8).prop_map(|draw| Step::Rotate { end_tokens: draw == 0 }),
            // The clock may go back a little.
            3 => (-2_000..20 * DAY).prop_map(|ms| Step::Pass { ms }),
        ];
        prop::collection::vec(step, 1..40)
    }

    proptest! {
        /// A token is accepted exactly while it lives, unless it was revoked or all tokens were
        /// ended after it was made; each step survives a write and a read of the file.
        #[test]
        fn tokens_are_accepted_until_they_end_or_are_revoked(steps in steps()) {
            let mut now = 1_000_000;
            let mut keys = keys();
            let mut tokens: Vec<(TokenIdentifier, bool)> = Vec::new();
            for step in steps {
                match step {
                    Step::Issue { user, life } => {
                        let name = ["alice", "bob", "eve"][user];
                        tokens.push((keys.issue(name, life, 0, now).unwrap(), true));
                    }
                    Step::Revoke { user } => {
                        let name = ["alice", "bob", "eve"][user];
                        keys.revoke(name, now).unwrap();
                        tokens.iter_mut().filter(|(token, _)| token.user == name)
                            .for_each(|(_, is_live)| *is_live = false);
                    }
                    Step::Rotate { end_tokens } => {
                        let secret = [keys.last_id().unwrap() as u8 + 1; KEY_LEN];
                        keys.rotate(secret, end_tokens, now).unwrap();
                        if end_tokens {
                            tokens.iter_mut().for_each(|(_, is_live)| *is_live = false);
                        }
                    }
                    Step::Pass { ms } => now += ms,
                }
                keys = Keys::parse(&keys.to_text()).unwrap();
                for (token, is_live) in &mut tokens {
                    // One that has ended stays ended for this test: its key may be gone.
                    *is_live &= token.expires_ms >= now;
                    prop_assert_eq!(keys.check(token, now).is_ok(), *is_live);
                }
            }
        }

        #[test]
        fn rubbish_never_panics(lines: Vec<String>) {
            let mut text = format!("{FIRST_LINE}\n{}\n", lines.join("\n"));
            text += &format!("{CHECKSUM}{:08x}\n", crc32c::crc32c(text.as_bytes()));
            let _ = Keys::parse(&text);
        }
    }
}
