//! Users of the REST interface.

use rowhouse_server::UserFile;

use super::{JSON, send, server_with};

/// Longer than any test.
const HOUR_MS: i64 = 3_600_000;

#[test]
fn a_token_proves_the_user_and_nothing_else_does() {
    let (server, rest) = server_with(|options| options.users = "token".parse().unwrap());
    let refused = send(rest, "GET", "/", &[JSON], b"");
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    assert!(refused.text().contains("rowhouse user token NAME"), "{refused:?}");
    let claimed = send(rest, "GET", "/?user.name=alice", &[JSON], b"");
    assert_eq!(claimed.status, 401);
    let wrong = send(rest, "GET", "/", &["Authorization: Bearer nonsense"], b"");
    assert_eq!(wrong.status, 401);
    let token = UserFile::at(server.data()).issue("alice", HOUR_MS, "cluster").unwrap();
    let token = format!("Authorization: Bearer {}", token.to_text());
    let accepted = || send(rest, "GET", "/", &[JSON, &token], b"").status;
    crate::users::wait_for(|| accepted() == 200);
    let other = send(rest, "GET", "/?user.name=eve", &[JSON, &token], b"");
    assert_eq!(other.status, 403, "{other:?}");
    let acting = send(rest, "GET", "/?doAs=eve", &[JSON, &token], b"");
    assert_eq!(acting.status, 403, "{acting:?}");
}
