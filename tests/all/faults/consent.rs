//! Consent: what a project's user agreed to runs, and nothing else.

use std::path::Path;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::settings::{HookEntry, load};
use hook_core::{HookSource, SettingsSource, TrustPolicy, TrustStore};
use hook_tests::{Project, fields};
use serde_json::{Value, json};

/// A project whose hooks have to be trusted, with a trust store beside it.
struct Consent {
    project: Project,
    store: TrustStore,
}

impl Consent {
    fn new(settings: &Value) -> Self {
        let project = Project::with_settings(settings);
        let store = TrustStore::new(project.home().join("trust.json"));
        Self { project, store }
    }

    fn source(&self) -> SettingsSource {
        SettingsSource::optional(HookSource::Project, self.project.settings())
    }

    fn entries(&self) -> Vec<HookEntry> {
        load(&self.source()).unwrap().hooks
    }

    fn trust(&self) {
        self.store.grant(&self.project.path(), &self.entries()).unwrap();
    }

    fn system(&self) -> HookSystem {
        let system = HookSystem::builder(self.project.path()).settings(self.source());
        system.trust(TrustPolicy::Store(self.store.clone())).build().unwrap()
    }

    /// Whether the hook may run, and whether it is said to have changed since it was trusted.
    async fn standing(&self) -> (bool, bool) {
        let system = self.system();
        system.initialize().await.unwrap();
        let hook = &system.hooks().unwrap()[0];
        (hook.trusted, hook.hook.changed_since_trusted())
    }

    async fn fire_in(&self, directory: &Path) -> HookExecutionResponse {
        let system = self.system();
        let input = json!({"prompt": "p", "cwd": directory});
        let request = HookExecutionRequest::new("BeforeAgent", fields(input));
        system.bus().request(request).await
    }

    async fn fire(&self) -> HookExecutionResponse {
        self.fire_in(&self.project.path()).await
    }
}

const TRUSTED: (bool, bool) = (true, false);
const CHANGED: (bool, bool) = (false, true);

/// Settings with one hook for `BeforeAgent`.
fn settings(hook: &Value) -> Value {
    let mut entry = json!({"type": "command", "name": "guard", "timeout": 60_000});
    for (name, value) in hook.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    json!({"hooks": {"BeforeAgent": [{"hooks": [entry]}]}})
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_38_whatever_weakens_a_trusted_hook_is_asked_about() {
    let base = json!({
        "hooksConfig": {"defaultTimeout": 5000, "maxConcurrent": 4,
            "environment": {"deny": ["A"], "allow": ["B"]}},
        "hooks": {"BeforeTool": [{"matcher": "shell", "hooks": [
            {"type": "command", "name": "guard", "command": "exit 2", "failBehavior": "block",
                "env": {"MODE": "strict"}}]}]}});
    let consent = Consent::new(&base);
    consent.trust();
    assert_eq!(consent.standing().await, TRUSTED);
    let weaker: &[(&str, Value)] = &[
        ("/hooks/BeforeTool/0/hooks/0/timeout", json!(1)),
        ("/hooks/BeforeTool/0/hooks/0/failBehavior", json!("continue")),
        ("/hooks/BeforeTool/0/hooks/0/env", json!({"MODE": "lax"})),
        ("/hooks/BeforeTool/0/hooks/0/command", json!("exit 0")),
        ("/hooks/BeforeTool/0/hooks/0/name", json!("other")),
        ("/hooks/BeforeTool/0/matcher", json!("nothing")),
        ("/hooks/BeforeTool/0/sequential", json!(true)),
        ("/hooksConfig/defaultTimeout", json!(1)),
        ("/hooksConfig/maxConcurrent", json!(1)),
        ("/hooksConfig/enabled", json!(false)),
        ("/hooksConfig/disabled", json!(["guard"])),
        ("/hooksConfig/environment/deny", json!(["A", "PATH"])),
        ("/hooksConfig/environment/allow", json!(["B", "BASH_ENV"])),
    ];
    for (place, value) in weaker {
        let mut changed = base.clone();
        let (object, key) = place.rsplit_once('/').unwrap();
        changed.pointer_mut(object).unwrap()[key] = value.clone();
        consent.project.write("settings.json", &changed.to_string());
        assert_eq!(consent.standing().await, CHANGED, "{place}");
        let review = consent.store.review(&consent.project.path(), &consent.entries()).unwrap();
        assert_eq!(review[0].changes().len(), 1, "{place}: {:?}", review[0].changes());
    }
    // What changes nothing for the hook asks nobody.
    let mut same = base.clone();
    same["hooksConfig"]["disabled"] = json!(["another"]);
    same["hooksConfig"]["failBehavior"] = json!("block");
    same["hooks"]["BeforeTool"][0]["hooks"][0]["description"] = json!("a guard");
    consent.project.write("settings.json", &same.to_string());
    assert_eq!(consent.standing().await, TRUSTED);
}

/// The fingerprint that the first version gave the hook below: a SHA-256 of event, matcher, name,
/// command and the number of variables, each behind its length.
const EARLIER: &str = "b5721ed87325b5a45b9c0462788b6805f11920bcfe1311b998f7a44dec173597";

/// A store as the first version wrote it.
fn earlier_store(consent: &Consent, fingerprint: &str) {
    let project = consent.project.path();
    let contents = json!({"version": 1, "projects": {project.to_str().unwrap(): [
        {"fingerprint": fingerprint, "event": "BeforeAgent", "name": "guard", "command": "exit 2",
            "seen": {"at": "2026-11-22T03:48:06Z"}}]}});
    std::fs::write(consent.store.path(), contents.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_38_a_hook_that_an_earlier_version_trusted_runs_on_and_is_asked_about() {
    let consent = Consent::new(&settings(&json!({"command": "exit 2", "failBehavior": "block"})));
    earlier_store(&consent, EARLIER);
    let response = consent.fire().await;
    assert!(response.processed.is_blocking_decision());
    let warnings = format!("{:?}", response.hooks[0].warnings);
    assert!(warnings.contains("trusted by an earlier version"), "{warnings}");
    let reviews = consent.store.review(&consent.project.path(), &consent.entries()).unwrap();
    let changes = format!("{:?}", reviews[0].changes());
    assert!(changes.contains("AlsoCovers") && changes.contains("failBehavior block"), "{changes}");

    // The decision made now takes its place: what it does not cover cannot be changed any more.
    consent.store.grant_reviewed(&consent.project.path(), &reviews).unwrap();
    assert!(consent.fire().await.hooks[0].warnings.is_empty());
    assert_eq!(consent.store.granted(&consent.project.path()).unwrap().len(), 1);
    let weaker = settings(&json!({"command": "exit 2", "failBehavior": "continue"}));
    consent.project.write("settings.json", &weaker.to_string());
    assert_eq!(consent.standing().await, CHANGED);
}
