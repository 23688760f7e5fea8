//! Authentication by a token: the bytes of a connection up to the connection header, the messages
//! of DIGEST-MD5, tokens, and a server's answers. Nothing depends on the pieces in which bytes
//! arrive.
//!
//! Input: the length of a piece, less one (1 byte), and the bytes.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use rowhouse_format::rpc::{Authentication, Preamble, SaslReply, ServerConnection, ServerEvent};
use rowhouse_format::sasl::{Challenge, DigestResponse, take_answer};
use rowhouse_format::token::{Token, TokenIdentifier};

fuzz_target!(|input: &[u8]| {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let pieces = usize::from(piece) + 1;
    assert_eq!(serve([bytes]), serve(bytes.chunks(pieces)));
    assert_eq!(answers([bytes]), answers(bytes.chunks(pieces)));
    if let Ok(challenge) = Challenge::parse(bytes) {
        assert!(challenge.realm.len() + challenge.nonce.len() <= bytes.len());
    }
    if let Ok(response) = DigestResponse::parse(bytes) {
        let _ = response.check("nonce");
        assert!(response.is_proof(b"password", &response.proof(b"password")));
    }
    if let Ok(identifier) = TokenIdentifier::parse(bytes) {
        assert_eq!(TokenIdentifier::parse(&identifier.to_bytes()).unwrap(), identifier);
    }
    if let Ok(tokens) = Token::from_file(bytes) {
        for token in &tokens {
            assert!(Token::from_text(&token.to_text()).unwrap() == *token);
        }
        assert!(Token::from_file(&Token::to_file(&tokens)).unwrap() == tokens);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Token::from_text(text);
    }
});

/// Returns the events of a connection that begins with a token, and what the server writes.
fn serve<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, BytesMut) {
    let authentication = Authentication { tokens: true, simple: false };
    let connection = ServerConnection::new("127.0.0.1:50000", "cluster");
    let mut connection = connection.with_authentication(authentication);
    let mut input = BytesMut::from(&Preamble::Digest.to_bytes()[..]);
    let mut output = BytesMut::new();
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Some(event) = connection.next(&mut input, &mut output) {
            if let ServerEvent::Sasl(message) = &event {
                let reply = match DigestResponse::parse(message) {
                    Ok(response) => SaslReply::Accepted(response.proof(b"password")),
                    Err(_) => SaslReply::Message(Challenge::new("nonce".into()).to_bytes()),
                };
                connection.reply_sasl(&reply, &mut output);
            }
            events.push(format!("{event:?}"));
        }
    }
    (events, output)
}

/// Returns what a client reads from a server.
fn answers<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut input = BytesMut::new();
    let mut answers = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            match take_answer(&mut input) {
                Ok(Some(answer)) => answers.push(format!("{answer:?}")),
                Ok(None) => break,
                Err(error) => {
                    answers.push(error.to_string());
                    return answers;
                }
            }
        }
    }
    answers
}
