//! A client's authentication by a token. No I/O.

use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::SaslReply;
use rowhouse_format::sasl::{Challenge, DigestResponse};
use rowhouse_format::token::{TokenIdentifier, from_base64, to_base64};
use rowhouse_model::Error;

use super::keys::Keys;

/// An authentication that has begun. The nonce is used once: a connection authenticates once.
pub(crate) struct Login {
    nonce: String,
    is_challenged: bool,
}

/// The result of a client's message.
pub(crate) struct Step {
    pub(crate) reply: SaslReply,
    /// The token's content: verified once the reply is [`SaslReply::Accepted`], otherwise a claim.
    pub(crate) token: Option<TokenIdentifier>,
}

impl Step {
    fn refused(refusal: Exception, token: Option<TokenIdentifier>) -> Self {
        Self { reply: SaslReply::Refused(refusal), token }
    }
}

impl Login {
    /// Begins an authentication with random bytes that are used for nothing else.
    pub(crate) fn new(random: [u8; 32]) -> Self {
        Self { nonce: to_base64(&random), is_challenged: false }
    }

    /// Processes the client's next message.
    pub(crate) fn step(&mut self, message: &[u8], keys: &Keys, now_ms: i64) -> Step {
        if self.is_challenged {
            return respond(&self.nonce, message, keys, now_ms);
        }
        if !message.is_empty() {
            let refusal = Exception::sasl("DIGEST-MD5 must not have an initial response");
            return Step::refused(refusal, None);
        }
        self.is_challenged = true;
        let challenge = Challenge::new(self.nonce.clone()).to_bytes();
        Step { reply: SaslReply::Message(challenge), token: None }
    }
}

fn respond(nonce: &str, message: &[u8], keys: &Keys, now_ms: i64) -> Step {
    let malformed = |error: Error| Step::refused(Exception::sasl(error.message()), None);
    let response = match DigestResponse::parse(message) {
        Ok(response) => response,
        Err(error) => return malformed(error),
    };
    if let Err(error) = response.check(nonce) {
        return malformed(error);
    }
    let identifier = from_base64(response.username());
    let token = identifier.and_then(|bytes| Ok((TokenIdentifier::parse(&bytes)?, bytes)));
    let (token, identifier) = match token {
        Ok(token) => token,
        Err(error) => {
            let why = format!("Can't de-serialize tokenIdentifier: {}", error.message());
            return Step::refused(Exception::invalid_token(why), None);
        }
    };
    let checked = keys.check(&token, now_ms);
    let Some(password) = keys.password(&identifier, token.key_id) else {
        let refusal = checked.err().map_or_else(String::new, |refusal| refusal.to_string());
        return Step::refused(Exception::invalid_token(refusal), Some(token));
    };
    let password = to_base64(&password);
    // Whoever does not know the password learns nothing about the token.
    if !response.has_password(password.as_bytes()) {
        let why = "DIGEST-MD5: digest response format violation. Mismatched response.";
        return Step::refused(Exception::sasl(why), Some(token));
    }
    if let Err(refusal) = checked {
        return Step::refused(Exception::invalid_token(refusal.to_string()), Some(token));
    }
    let proof = response.proof(password.as_bytes());
    Step { reply: SaslReply::Accepted(proof), token: Some(token) }
}

#[cfg(test)]
mod tests {
    use rowhouse_format::token::{Token, password};

    use super::*;
    use crate::access::keys::KEY_LEN;

    const NOW: i64 = 1_000_000;

    /// Returns the reply to the response that a client with this token sends.
    fn reply(keys: &Keys, token: &Token, now: i64) -> Step {
        let mut login = Login::new([7; 32]);
        let SaslReply::Message(challenge) = login.step(b"", keys, now).reply else { panic!() };
        let challenge = Challenge::parse(&challenge).unwrap();
        let password = to_base64(&token.password);
        let response = DigestResponse::new(
            &challenge,
            to_base64(&token.identifier),
            password.as_bytes(),
            "c".into(),
        );
        let step = login.step(&response.to_bytes(), keys, now);
        if let SaslReply::Accepted(proof) = &step.reply {
            assert!(response.is_proof(password.as_bytes(), proof));
        }
        step
    }

    fn refusal(step: Step) -> (String, String) {
        let SaslReply::Refused(refusal) = step.reply else { panic!("{:?}", step.reply) };
        let class = refusal.class.rsplit(['.', '$']).next().unwrap().to_owned();
        (class, refusal.message)
    }

    fn issued() -> (Keys, Token) {
        let mut keys = Keys::new([1; KEY_LEN], NOW);
        let identifier = keys.issue("alice", 1_000, 0, NOW).unwrap();
        let token = keys.sign(&identifier, "cluster").unwrap();
        (keys, token)
    }

    #[test]
    fn a_token_is_accepted_and_names_the_user() {
        let (keys, token) = issued();
        let step = reply(&keys, &token, NOW);
        assert!(matches!(step.reply, SaslReply::Accepted(_)), "{:?}", step.reply);
        assert_eq!(step.token.unwrap().user, "alice");
    }

    #[test]
    fn wrong_tokens_are_refused_with_the_classes_of_hbase() {
        let (mut keys, token) = issued();
        let forged = Token { password: vec![0; 20].into(), ..token.clone() };
        assert_eq!(refusal(reply(&keys, &forged, NOW)).0, "SaslException");
        // A holder of a token cannot give it another user.
        let mut identifier = TokenIdentifier::parse(&token.identifier).unwrap();
        identifier.user = "root".into();
        let other = Token { identifier: identifier.to_bytes().into(), ..token.clone() };
        assert_eq!(refusal(reply(&keys, &other, NOW)).0, "SaslException");
        let rubbish = Token { identifier: "rubbish".into(), ..token.clone() };
        assert_eq!(refusal(reply(&keys, &rubbish, NOW)).0, "InvalidToken");
        let (class, message) = refusal(reply(&keys, &token, NOW + 1_001));
        assert_eq!(class, "InvalidToken");
        assert!(message.starts_with("Token has expired"), "{message}");
        keys.revoke("alice", NOW).unwrap();
        let (class, message) = refusal(reply(&keys, &token, NOW));
        assert_eq!(class, "InvalidToken");
        assert!(message.starts_with("Token was revoked"), "{message}");
        // Without the password neither is told.
        assert_eq!(refusal(reply(&keys, &forged, NOW)).0, "SaslException");
        keys.rotate([2; KEY_LEN], true, NOW).unwrap();
        let (class, message) = refusal(reply(&keys, &token, NOW));
        assert_eq!(class, "InvalidToken");
        assert!(message.starts_with("Unknown master key for token (id=1)"), "{message}");
    }

    #[test]
    fn responses_to_other_nonces_are_refused() {
        let (keys, token) = issued();
        let challenge = Challenge::new("another".into());
        let password = to_base64(&password(&token.identifier, &[1; KEY_LEN]));
        let user = to_base64(&token.identifier);
        let response = DigestResponse::new(&challenge, user, password.as_bytes(), "c".into());
        let mut login = Login::new([7; 32]);
        login.step(b"", &keys, NOW);
        let (class, message) = refusal(login.step(&response.to_bytes(), &keys, NOW));
        assert_eq!(class, "SaslException");
        assert!(message.contains("nonce"), "{message}");
    }

    #[test]
    fn rubbish_is_refused() {
        let (keys, _) = issued();
        assert_eq!(refusal(Login::new([7; 32]).step(b"x", &keys, NOW)).0, "SaslException");
        let mut login = Login::new([7; 32]);
        login.step(b"", &keys, NOW);
        assert_eq!(refusal(login.step(b"\xFF", &keys, NOW)).0, "SaslException");
    }
}
