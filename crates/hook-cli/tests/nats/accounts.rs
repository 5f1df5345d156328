//! Users of brokers: docs/examples/fleet/fleet.conf with keys, and accounts whose users have credentials.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nkeys::KeyPair;
use serde_json::{Value, json};

/// The users of the documentation, in the order of their names there.
pub(crate) const USERS: [&str; 4] = ["engine", "agent1", "agent2", "operator"];

/// Puts what proves who one is into a file of mode 600.
fn keep(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Returns docs/examples/fleet/fleet.conf with keys, whose seeds are NAME.nk in the folder and whose public keys
/// are NAME.pub.
pub(crate) fn keyed(folder: &Path) -> String {
    let mut settings = include_str!("../../../../docs/examples/fleet/fleet.conf").to_owned();
    for name in USERS {
        let pair = KeyPair::new_user();
        keep(folder, &format!("{name}.nk"), &pair.seed().unwrap());
        fs::write(folder.join(format!("{name}.pub")), pair.public_key()).unwrap();
        settings = settings.replace(&format!("U{}", name.to_uppercase()), &pair.public_key());
    }
    settings
}

/// A broker of an operator: an engine and an agent have credentials, NAME.creds in that folder, in which stands
/// what they may do.
pub(crate) fn with_credentials(folder: &Path) -> String {
    let (operator, account) = (KeyPair::new_operator(), KeyPair::new_account());
    let of_operator =
        token(&operator, &operator, "operator", json!({"type": "operator", "version": 2}));
    let limits = json!({"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
        "wildcards": true, "conn": -1, "leaf": -1});
    let fields = json!({"type": "account", "version": 2, "limits": limits});
    let of_account = token(&operator, &account, "AGENTS", fields);
    for (name, publish, subscribe) in [
        (
            "engine",
            json!(["acme.hooks.reply.>", "acme.hooks.engines", "acme.hooks.events.>"]),
            json!([
                "acme.hooks.request.* engines",
                "acme.hooks.cancel",
                "acme.hooks.engines",
                "acme.hooks.reply.OWN.>",
                "$SRV.>"
            ]),
        ),
        (
            "agent1",
            json!(["acme.hooks.request.*", "acme.hooks.cancel"]),
            json!(["acme.hooks.reply.OWN.>"]),
        ),
    ] {
        let user = KeyPair::new_user();
        let fields = json!({"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
            "pub": {"allow": publish}, "sub": {"allow": subscribe}});
        let fields = fields.to_string().replace("OWN", &user.public_key());
        let claims = token(&account, &user, name, serde_json::from_str(&fields).unwrap());
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{claims}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            user.seed().unwrap()
        );
        keep(folder, &format!("{name}.creds"), &text);
    }
    format!(
        "operator: {of_operator}\nresolver: MEMORY\nresolver_preload: {{ {}: {of_account} }}\n",
        account.public_key()
    )
}

/// What the issuer says of the subject, signed.
fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, fields: Value) -> String {
    let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let claims = json!({"jti": subject.public_key(), "iat": 1_700_000_000, "name": name,
        "iss": issuer.public_key(), "sub": subject.public_key(), "nats": fields});
    let text = format!(
        "{}.{}",
        base64(head.to_string().as_bytes()),
        base64(claims.to_string().as_bytes())
    );
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", base64(&signature))
}

/// Base64 as it stands in URLs, with nothing behind it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * letter) & 63) as usize]));
        }
    }
    text
}
