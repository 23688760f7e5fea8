//! Users: by tokens, certificates and claims.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{ConnectionHead, Preamble, Service, decode_message};
use rowhouse_format::sasl::SaslAnswer;
use rowhouse_format::token::{Token, TokenIdentifier};
use rowhouse_model::META_ENCODED_NAME;
use rowhouse_server::{Options, UserFile};

use crate::support::{Client, TestServer, head, options, start_error};

const HOUR_MS: i64 = 3_600_000;

fn start(users: &str) -> TestServer {
    TestServer::start_with(|options| set_users(options, users))
}

fn set_users(options: &mut Options, users: &str) {
    options.users = users.parse().unwrap();
}

fn issue(server: &TestServer, user: &str, life_ms: i64) -> Token {
    UserFile::at(server.data()).issue(user, life_ms, "cluster").unwrap()
}

/// Calls a method of AuthenticationService on `hbase:meta`, as stock clients do.
fn authentication<M: prost::Message + Default>(
    client: &mut Client,
    method: &str,
) -> Result<M, Exception> {
    let request = proto::CoprocessorServiceRequest {
        region: RegionRef::encoded(META_ENCODED_NAME).to_proto(),
        call: proto::CoprocessorServiceCall {
            service_name: "AuthenticationService".into(),
            method_name: method.into(),
            ..Default::default()
        },
    };
    let answer: proto::CoprocessorServiceResponse = client.raw("ExecService", &request)?;
    Ok(decode_message(answer.value.value.unwrap()).unwrap())
}

/// Returns the user and the method by which the server knows the client.
fn who_am_i(client: &mut Client) -> Result<(String, String), Exception> {
    let answer: proto::WhoAmIResponse = authentication(client, "WhoAmI")?;
    Ok((answer.username.unwrap_or_default(), answer.auth_method.unwrap_or_default()))
}

fn user(name: &str, method: &str) -> Result<(String, String), Exception> {
    Ok((name.into(), method.into()))
}

/// Logs in, and returns who the client is.
fn login(server: &TestServer, token: &Token) -> Result<(String, String), Exception> {
    who_am_i(&mut Client::login(server.address(), token, Service::Client)?)
}

fn class(refused: &Exception) -> &str {
    refused.class.rsplit(['.', '$']).next().unwrap()
}

#[test]
fn users_are_claimed_by_default() {
    let server = TestServer::start();
    assert_eq!(who_am_i(&mut server.client()), user("test", "SIMPLE"));
    assert!(!server.data().join("users").exists());
}

#[test]
fn a_token_proves_its_user() {
    let server = start("token");
    let token = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &token) == user("alice", "TOKEN"));
    for service in [Service::ClientMeta, Service::Master] {
        assert!(Client::login(server.address(), &token, service).is_ok());
    }
    // The same claim is no contradiction, another one is.
    let claiming = |user: &str| {
        let head = ConnectionHead { user: Some(user.into()), ..head(Service::Client) };
        who_am_i(&mut Client::login_as(server.address(), &token, &head).unwrap())
    };
    assert_eq!(claiming("alice"), user("alice", "TOKEN"));
    let refused = claiming("root").unwrap_err();
    assert_eq!(class(&refused), "AccessDeniedException");
    assert!(refused.message.contains("doesn't match what the client claims to be"), "{refused:?}");
}

#[test]
fn clients_without_a_proof_are_refused_at_the_first_call() {
    let server = start("token");
    let mut client = server.client();
    let refused = who_am_i(&mut client).unwrap_err();
    assert_eq!(class(&refused), "AccessDeniedException");
    assert!(refused.do_not_retry);
    assert!(refused.message.starts_with("Authentication is required"), "{refused:?}");
    assert!(refused.message.contains("rowhouse user token NAME"), "{refused:?}");
    assert!(client.receive().is_none());
    // The cluster id, by which clients choose a token, is for all.
    let mut client = Client::silent(server.address());
    client.send_bytes(&Preamble::Registry.to_bytes());
    assert!(client.receive().unwrap().outcome.is_ok());
}

#[test]
fn tokens_that_do_not_serve_are_refused_with_hbases_exceptions() {
    let server = start("token");
    let short = issue(&server, "alice", 1);
    let long = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &long).is_ok());
    let forged = Token { password: vec![1; 20].into(), ..long };
    assert_eq!(class(&login(&server, &forged).unwrap_err()), "SaslException");
    let expired = login(&server, &short).unwrap_err();
    assert_eq!(class(&expired), "InvalidToken");
    assert!(expired.message.starts_with("Token has expired"), "{expired:?}");
}

#[test]
fn a_revocation_ends_open_connections_and_refuses_new_ones() {
    let server = start("token");
    let token = issue(&server, "alice", HOUR_MS);
    let other = issue(&server, "bob", HOUR_MS);
    wait_for(|| login(&server, &other).is_ok());
    let mut alice = Client::login(server.address(), &token, Service::Client).unwrap();
    let mut bob = Client::login(server.address(), &other, Service::Client).unwrap();
    assert!(who_am_i(&mut alice).is_ok());
    let users = UserFile::at(server.data());
    users.revoke("alice").unwrap();
    assert!(alice.receive().is_none());
    let refused = login(&server, &token).unwrap_err();
    assert_eq!(class(&refused), "InvalidToken");
    assert!(refused.message.starts_with("Token was revoked"), "{refused:?}");
    assert_eq!(who_am_i(&mut bob), user("bob", "TOKEN"));
    let again = issue(&server, "alice", HOUR_MS);
    assert_eq!(login(&server, &again), user("alice", "TOKEN"));
    // A new key alone ends nothing.
    users.rotate_keys(false).unwrap();
    let newest = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &newest).is_ok());
    assert_eq!(who_am_i(&mut bob), user("bob", "TOKEN"));
    users.rotate_keys(true).unwrap();
    assert!(bob.receive().is_none());
}

#[test]
fn a_revocation_ends_a_client_that_always_sends() {
    let server = start("token");
    let token = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &token).is_ok());
    let mut client = Client::login(server.address(), &token, Service::ClientMeta).unwrap();
    let mut calls = bytes::BytesMut::new();
    for _ in 0..1_000 {
        client.write(&mut calls, &proto::GetClusterIdRequest {}, &[]);
    }
    let mut answers = client.socket();
    let reader = std::thread::spawn(move || {
        let mut taken = vec![0; 64 << 10];
        while answers.read(&mut taken).is_ok_and(|count| count > 0) {}
    });
    UserFile::at(server.data()).revoke("alice").unwrap();
    let ended = std::time::Instant::now() + Duration::from_secs(30);
    while client.try_send_bytes(&calls) {
        assert!(std::time::Instant::now() < ended, "the connection goes on");
    }
    reader.join().unwrap();
}

#[test]
fn a_revocation_ends_a_client_that_takes_no_answers() {
    let server = start("token");
    let token = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &token).is_ok());
    let mut client = Client::login(server.address(), &token, Service::ClientMeta).unwrap();
    let mut calls = bytes::BytesMut::new();
    for _ in 0..1_000 {
        client.write(&mut calls, &proto::GetClusterIdRequest {}, &[]);
    }
    let (sent, blocked) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        while client.try_send_bytes(&calls) {
            let _ = sent.send(());
        }
    });
    // Until the server waits for the client, and the client for the server.
    while blocked.recv_timeout(Duration::from_secs(1)).is_ok() {}
    assert!(!writer.is_finished());
    UserFile::at(server.data()).revoke("alice").unwrap();
    wait_for(|| writer.is_finished());
    writer.join().unwrap();
}

#[test]
fn servers_say_whether_users_are_checked() {
    let capability = |users: &str| {
        let server = start(users);
        let token = issue(&server, "alice", HOUR_MS);
        let connect = || match users {
            "token" => Client::login(server.address(), &token, Service::Master),
            _ => Ok(server.connect(Service::Master)),
        };
        wait_for(|| connect().is_ok());
        let answer = connect().unwrap().call(&proto::SecurityCapabilitiesRequest {}).unwrap();
        answer.capabilities
    };
    use proto::security_capabilities_response::Capability;
    assert_eq!(capability("claimed"), [Capability::SimpleAuthentication as i32]);
    assert_eq!(capability("token"), [Capability::SecureAuthentication as i32]);
}

#[test]
fn a_connection_ends_with_its_token() {
    let server = start("token");
    let long = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &long).is_ok());
    let token = issue(&server, "alice", 1_500);
    let mut client = Client::login(server.address(), &token, Service::Client).unwrap();
    assert!(who_am_i(&mut client).is_ok());
    assert!(client.receive().is_none());
}

#[test]
fn servers_without_tokens_have_clients_go_on_as_they_claim() {
    let server = start("claimed");
    for preamble in [Preamble::Digest, Preamble::Kerberos] {
        let mut client = Client::silent(server.address());
        client.send_bytes(&preamble.to_bytes());
        client.send_sasl(b"ticket");
        assert_eq!(client.receive_sasl(), Some(SaslAnswer::SwitchToSimple));
        let mut header = bytes::BytesMut::new();
        head(Service::Client).encode(&mut header);
        client.send_bytes(&header);
        assert_eq!(who_am_i(&mut client), user("test", "SIMPLE"));
    }
}

#[test]
fn kerberos_is_refused_with_the_remedy_where_users_are_checked() {
    let server = start("token");
    let mut client = Client::silent(server.address());
    client.send_bytes(&Preamble::Security.to_bytes());
    let refused = client.receive().unwrap().outcome.unwrap_err();
    assert_eq!(class(&refused), "SecurityNotEnabledException");
    client.send_bytes(&Preamble::Kerberos.to_bytes());
    let Some(SaslAnswer::Refused(refused)) = client.receive_sasl() else { panic!() };
    assert_eq!(class(&refused), "AccessDeniedException");
    assert!(refused.message.contains("rowhouse user token NAME"), "{refused:?}");
    assert!(client.receive_sasl().is_none());
}

#[test]
fn a_served_token_ends_with_the_token_that_it_was_made_by() {
    let server = start("token,claimed");
    let token = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &token).is_ok());
    let mut client = Client::login(server.address(), &token, Service::Client).unwrap();
    let served = |client: &mut Client| {
        let answer: proto::GetAuthenticationTokenResponse =
            authentication(client, "GetAuthenticationToken")?;
        let served = answer.token.unwrap();
        Ok::<_, Exception>(Token {
            identifier: served.identifier.unwrap(),
            password: served.password.unwrap(),
            ..token.clone()
        })
    };
    let child = served(&mut client).unwrap();
    assert_ne!(child.identifier, token.identifier);
    let identifier = |token: &Token| TokenIdentifier::parse(&token.identifier).unwrap();
    assert_eq!(identifier(&child).expires_ms, identifier(&token).expires_ms);
    assert_eq!(login(&server, &child), user("alice", "TOKEN"));
    // A claim is no proof.
    let refused = served(&mut server.client()).unwrap_err();
    assert_eq!(class(&refused), "AccessDeniedException");
    UserFile::at(server.data()).revoke("alice").unwrap();
    assert!(client.receive().is_none());
    assert_eq!(class(&login(&server, &child).unwrap_err()), "InvalidToken");
}

#[cfg(feature = "tls")]
mod certificates {
    use super::*;
    use crate::support::tls::{Files, TlsClient};

    /// Starts a server with TLS and an authority for clients.
    fn start(files: &Files, users: &str) -> TestServer {
        files.issue("alice", &[]);
        files.start(|options| {
            options.tls = Some(files.server(true));
            set_users(options, users);
        })
    }

    fn who_am_i(
        server: &TestServer,
        files: &Files,
        identity: Option<&str>,
    ) -> std::io::Result<Result<String, Exception>> {
        let mut client = TlsClient::opened(server.address(), files, identity, Service::Client);
        let request = proto::CoprocessorServiceRequest {
            region: RegionRef::encoded(META_ENCODED_NAME).to_proto(),
            call: proto::CoprocessorServiceCall {
                service_name: "AuthenticationService".into(),
                method_name: "WhoAmI".into(),
                ..Default::default()
            },
        };
        let answer = client.raw::<_, proto::CoprocessorServiceResponse>("ExecService", &request)?;
        Ok(answer.map(|answer| {
            let answer: proto::WhoAmIResponse =
                decode_message(answer.value.value.unwrap()).unwrap();
            format!("{} {}", answer.username.unwrap(), answer.auth_method.unwrap())
        }))
    }

    #[test]
    fn a_certificate_proves_the_user_that_it_names() {
        let files = Files::new();
        let server = start(&files, "certificate");
        let alice = who_am_i(&server, &files, Some("alice")).unwrap();
        assert_eq!(alice, Ok("alice CERTIFICATE".into()));
        assert!(who_am_i(&server, &files, None).is_err());
        // Plain connections over loopback are accepted and prove nobody.
        let refused = super::who_am_i(&mut server.client()).unwrap_err();
        assert_eq!(class(&refused), "AccessDeniedException");
        assert!(refused.message.contains("client certificate"), "{refused:?}");
    }

    #[test]
    fn either_a_certificate_or_a_token_is_a_proof() {
        let files = Files::new();
        let server = start(&files, "certificate,token");
        let alice = who_am_i(&server, &files, Some("alice")).unwrap();
        assert_eq!(alice, Ok("alice CERTIFICATE".into()));
        let refused = who_am_i(&server, &files, None).unwrap().unwrap_err();
        assert_eq!(class(&refused), "AccessDeniedException");
        let token = issue(&server, "bob", HOUR_MS);
        wait_for(|| login(&server, &token) == user("bob", "TOKEN"));
    }

    #[test]
    fn certificates_of_clients_do_not_count_unless_set() {
        let files = Files::new();
        let server = start(&files, "claimed");
        let alice = who_am_i(&server, &files, Some("alice")).unwrap();
        assert_eq!(alice, Ok("test SIMPLE".into()));
    }
}

#[test]
fn a_server_does_not_start_with_secrets_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = start("token").stop();
    let path = dir.path().join("users");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut options = options(dir.path());
    set_users(&mut options, "token");
    assert!(start_error(options).message().contains("chmod 600"));
}

#[test]
fn hostile_logins_do_not_hold_up_others() {
    let server = start("token");
    let token = issue(&server, "alice", HOUR_MS);
    wait_for(|| login(&server, &token).is_ok());
    let forged = Token { password: vec![1; 20].into(), ..token.clone() };
    let mut held = Vec::new();
    for number in 0..300 {
        let mut client = Client::silent(server.address());
        client.send_bytes(&Preamble::Digest.to_bytes());
        match number % 4 {
            // No message, and a message that announces more than comes.
            0 => {}
            1 => client.send_bytes(b"\0\0\xFF\xFF"),
            // Longer than any.
            2 => client.send_bytes(b"\x7F\xFF\xFF\xFF"),
            _ => client.send_sasl(b"rubbish"),
        }
        held.push(client);
    }
    assert!(login(&server, &forged).is_err());
    assert_eq!(login(&server, &token), user("alice", "TOKEN"));
    for (number, client) in held.iter_mut().enumerate() {
        match number % 4 {
            2 => assert!(client.receive_sasl().is_none()),
            3 => {
                let Some(SaslAnswer::Refused(refused)) = client.receive_sasl() else { panic!() };
                assert_eq!(class(&refused), "SaslException");
            }
            _ => {}
        }
    }
}

#[test]
fn a_refused_login_closes_the_connection() {
    let server = start("token");
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    std::io::Write::write_all(&mut socket, b"HBas\0\x52\0\0\0\x01x").unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert_eq!(answer[..4], [0, 0, 0, 1]);
}

/// Waits until the server has read the file of users again.
pub(crate) fn wait_for(is_done: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("not within a minute");
}

#[cfg(feature = "web")]
mod pages {
    use std::io::Write;

    use rowhouse_server::WebPort;

    use super::*;

    fn start(users: &str) -> TestServer {
        TestServer::start_with(|options| {
            options.web = WebPort::At("127.0.0.1:0".into());
            set_users(options, users);
        })
    }

    /// Returns the answer to a request with these header lines.
    fn request(server: &TestServer, line: &str, headers: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(server.web()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let length = body.len();
        let text = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\
             Content-Length: {length}\r\n\r\n{body}"
        );
        socket.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    fn status(answer: &str) -> &str {
        answer.split(' ').nth(1).unwrap()
    }

    fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
        let lines = answer.split("\r\n\r\n").next().unwrap().lines();
        lines.filter_map(|line| line.split_once(": ")).find(|(has, _)| *has == name).map(|it| it.1)
    }

    #[test]
    fn pages_are_for_all_while_users_are_claimed() {
        let server = start("claimed");
        assert_eq!(status(&request(&server, "GET /tables", "", "")), "200");
    }

    #[test]
    fn pages_need_a_session_that_begins_with_a_token() {
        let server = start("token");
        for path in ["/", "/tables", "/metrics", "/jmx", "/solr/t/select", "/settings"] {
            let answer = request(&server, &format!("GET {path}"), "", "");
            assert_eq!(status(&answer), "401", "{path}");
            assert!(answer.contains("rowhouse user token NAME"), "{answer}");
        }
        for path in ["/health", "/login", "/style.css"] {
            assert_eq!(status(&request(&server, &format!("GET {path}"), "", "")), "200", "{path}");
        }
        let browser = request(&server, "GET /tables", "Accept: text/html\r\n", "");
        assert_eq!((status(&browser), header(&browser, "location")), ("303", Some("/login")));
        let token = issue(&server, "alice", HOUR_MS);
        wait_for(|| login(&server, &token).is_ok());
        let form = |token: &str| request(&server, "POST /login", "", &format!("token={token}"));
        assert_eq!(status(&form("rubbish")), "403");
        let forged = Token { password: vec![1; 20].into(), ..token.clone() };
        assert_eq!(status(&form(&forged.to_text())), "403");
        let entered = form(&token.to_text());
        assert_eq!(status(&entered), "303", "{entered}");
        let cookie = header(&entered, "set-cookie").unwrap();
        for part in ["Path=/", "HttpOnly", "SameSite=Strict"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(!cookie.contains("Secure"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap();
        let page =
            |cookie: &str| request(&server, "GET /tables", &format!("Cookie: {cookie}\r\n"), "");
        assert_eq!(status(&page(cookie)), "200");
        let (name, _) = cookie.split_once('=').unwrap();
        assert_eq!(status(&page(&format!("{name}=0"))), "401");
        let again = form(&token.to_text());
        let other = header(&again, "set-cookie").unwrap().split(';').next().unwrap();
        assert_eq!(status(&page(other)), "200");
        let left = request(&server, "POST /logout", &format!("Cookie: {other}\r\n"), "");
        assert_eq!((status(&left), header(&left, "location")), ("303", Some("/login")));
        assert_eq!((status(&page(other)), status(&page(cookie))), ("401", "200"));
        let long = format!("{}&more={}", token.to_text(), "a".repeat(16 << 10));
        assert_eq!(status(&form(&long)), "403");
        // A form of another page does not log in.
        let other = "Origin: https://evil.example\r\n";
        let body = format!("token={}", token.to_text());
        assert_eq!(status(&request(&server, "POST /login", other, &body)), "403");
        UserFile::at(server.data()).revoke("alice").unwrap();
        wait_for(|| status(&page(cookie)) == "401");
    }

    #[test]
    fn programs_send_a_token_with_each_request() {
        let server = start("token");
        let token = issue(&server, "prometheus", HOUR_MS);
        let with = |token: &Token| {
            // The value of HADOOP_TOKEN.
            let both = [token, &token.for_unknown_cluster()].map(Token::to_text).join(",");
            let headers = format!("Authorization: Bearer {both}\r\n");
            status(&request(&server, "GET /metrics", &headers, "")).to_owned()
        };
        wait_for(|| with(&token) == "200");
        let forged = Token { password: vec![1; 20].into(), ..token };
        assert_eq!(with(&forged), "401");
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_client_certificate_is_a_user_of_the_pages() {
        use crate::support::tls::Files;
        use crate::tls::fetch_with;

        let files = Files::new();
        files.issue("alice", &[]);
        let server = files.start(|options| {
            options.tls = Some(files.server(true));
            options.web = WebPort::At("127.0.0.1:0".into());
            set_users(options, "certificate,token");
        });
        let fetch = |path: &str, identity| fetch_with(server.web(), &files, path, identity);
        assert_eq!(status(&fetch("/tables", Some("alice"))), "200");
        assert_eq!(status(&fetch("/tables", None)), "401");
        assert_eq!(status(&fetch("/health", None)), "200");
    }
}
