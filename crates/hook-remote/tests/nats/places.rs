//! Where a broker may be, and who may read what proves who one is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hook_remote::nats::{NatsBus, NatsEngine, NatsError, NatsOptions};

use crate::broker::Broker;
use crate::support::{Engine, Seen, call, guard};

fn refused(options: &NatsOptions) -> NatsError {
    NatsEngine::new(options).map(drop).unwrap_err()
}

#[test]
fn nothing_is_said_in_plain_text_to_another_machine() {
    for url in ["nats://192.0.2.7:4222", "broker.example", "nats://127.0.0.1,nats://broker.example"]
    {
        assert!(matches!(refused(&NatsOptions::new(url)), NatsError::Plaintext { .. }), "{url}");
        assert!(NatsEngine::new(&NatsOptions::new(url).insecure(true)).is_ok(), "{url}");
    }
    for url in ["tls://broker.example", "nats://127.0.0.1", "nats://[::1]:4222", "localhost"] {
        assert!(NatsEngine::new(&NatsOptions::new(url)).is_ok(), "{url}");
    }
    for url in ["", "ftp://127.0.0.1", "ws://127.0.0.1", "tls://user:word@broker.example", "tls://"]
    {
        let error = refused(&NatsOptions::new(url));
        assert!(matches!(error, NatsError::InvalidBroker { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("word@"), "{error}");
    }
    let options = NatsOptions::new("localhost");
    assert!(matches!(refused(&options.clone().subject("a.>")), NatsError::InvalidSubject { .. }));
    let group = NatsEngine::new(&options).unwrap().queue_group("a b").map(drop).unwrap_err();
    assert!(matches!(group, NatsError::InvalidQueueGroup { .. }));
}

#[test]
fn credentials_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.nk");
    let options = NatsOptions::new("localhost").credentials(&path);
    assert!(matches!(refused(&options), NatsError::Credentials { .. }));
    let seed = nkeys::KeyPair::new_user().seed().unwrap();
    fs::write(&path, &seed).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let error = refused(&options);
    assert!(matches!(error, NatsError::ReadableByOthers { mode: 0o640, .. }), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let engine = NatsEngine::new(&options).unwrap();
    assert!(!format!("{engine:?}").contains(&seed));
    for text in ["", "nonsense", &nkeys::KeyPair::new_account().seed().unwrap(), "SUAAA"] {
        fs::write(&path, text).unwrap();
        assert!(matches!(refused(&options), NatsError::InvalidCredentials { .. }), "{text}");
    }
    let options = NatsOptions::new("localhost").certificate_authority(folder.path().join("none"));
    assert!(matches!(refused(&options), NatsError::Authority { .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_with_a_certificate_is_asked_over_tls() {
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/certificate");
    let certificate = certificates.join("localhost.pem");
    let key = certificates.join("localhost.key.pem");
    let tls = format!("tls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n");
    let Some(broker) = Broker::start_with(&tls) else { return };
    let options = NatsOptions::new(format!("tls://localhost:{}", broker.port));
    let trusting = options.clone().certificate_authority(&certificate);
    let mut engine = Engine::begin(&trusting, vec![guard(&Seen::default())], |engine| engine);
    engine.hears("serving").await;
    let answer = NatsBus::with(trusting).unwrap().request(call("forbidden")).await;
    assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    // One whose certificate nobody vouches for may be another.
    let answer = NatsBus::with(options).unwrap().request(call("forbidden")).await;
    assert!(answer.error().unwrap().message.contains("refuses the connection"), "{answer:?}");
    engine.leave().await;
}

#[test]
fn what_is_said_of_an_address_has_no_password_in_it() {
    for url in [
        "nats://me:s3cret@127.0.0.1",
        "nats://me:s3,cret@127.0.0.1",
        "me:s3cret@host:port:x",
        "nats://s3cret@[::1",
        "tls://me:s3cret@one.example,tls://two.example",
        "https://me:s3cret@one.example",
    ] {
        let refused = NatsEngine::new(&NatsOptions::new(url)).unwrap_err().to_string();
        assert!(!refused.contains("s3") && !refused.contains("cret"), "{refused}");
        assert!(refused.contains("a name or a password"), "{refused}");
    }
}
