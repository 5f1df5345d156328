//! The trust store.

use std::fs;
use std::path::Path;

use hook_json::{JsonObject, RawJson};
use hook_settings::{HookEntry, parse};
use hook_settings::{HookSource, SettingsSource};
use hook_tests::Project;
use hook_trust::{Grant, TrustStoreError, fingerprint};
use hook_trust::{TrustPolicy, TrustStore};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::generate::{Bytes, Tree, altered, bytes, damaged};
use super::{VERY_DEEP, check, runtime};

const WORDS: &[&str] =
    &["version", "projects", "fingerprint", "event", "name", "command", "BeforeTool", "guard", "/"];

/// The fields of a store. Unknown ones may hold numbers and escapes that serde_json's own values
/// cannot.
fn contents(bytes: &[u8]) -> Option<JsonObject> {
    RawJson::parse(std::str::from_utf8(bytes).ok()?).ok()?.to_object().ok()
}

/// A project with one hook, and a place for a store.
struct Fixture {
    project: Project,
    store: TrustStore,
    entry: HookEntry,
}

impl Fixture {
    fn new() -> Self {
        let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
            {"type": "command", "name": "guard", "command": "exit 2"}]}]}}));
        let text = project.read("settings.json");
        let entry = parse(&text, HookSource::Project, None).hooks.remove(0);
        fs::create_dir(project.path().join("store")).unwrap();
        let store = TrustStore::new(project.path().join("store/trust.json"));
        Self { project, store, entry }
    }

    /// What the store holds once the hook is trusted.
    fn valid(&self) -> Vec<u8> {
        self.store.grant(&self.project.path(), std::slice::from_ref(&self.entry)).unwrap();
        fs::read(self.store.path()).unwrap()
    }

    fn fill(&self, bytes: &[u8]) {
        let folder = self.store.path().parent().unwrap();
        fs::remove_dir_all(folder).unwrap();
        fs::create_dir(folder).unwrap();
        fs::write(self.store.path(), bytes).unwrap();
    }

    /// What stands in files that were set aside.
    fn aside(&self) -> Vec<Vec<u8>> {
        let folder = fs::read_dir(self.store.path().parent().unwrap()).unwrap();
        let paths = folder.map(|entry| entry.unwrap().path());
        let aside = paths.filter(|path| path.to_string_lossy().contains("damaged"));
        aside.map(|path| fs::read(path).unwrap()).collect()
    }

    /// Whether the bytes say that the hook is trusted, by another reader than the engine's.
    fn is_granted_in(&self, bytes: &[u8]) -> bool {
        let grants = || -> Option<Vec<RawJson>> {
            let projects = contents(bytes)?.get("projects")?.to_object().ok()?;
            projects.get(self.project.path().to_string_lossy().as_ref())?.to_items()
        };
        let is_this = |grant: &RawJson| {
            let Ok(grant) = grant.to_object() else { return false };
            let is = |name, text: &str| {
                grant.get(name).and_then(RawJson::to_text).as_deref() == Some(text)
            };
            is("fingerprint", &fingerprint(&self.entry))
                && is("event", "BeforeTool")
                && is("name", "guard")
                && is("command", "exit 2")
        };
        grants().is_some_and(|grants| grants.iter().any(is_this))
    }

    /// Whether a later version of the engine says that it wrote the bytes, in a format of its own.
    fn is_newer(bytes: &[u8]) -> bool {
        let Some(contents) = contents(bytes) else { return false };
        let version = contents.get("version").and_then(RawJson::to_u64);
        // What says it twice is no store of any version.
        let said = String::from_utf8_lossy(bytes).matches("\"version\"").count();
        said == 1 && version.is_some_and(|version| (2..=u32::MAX.into()).contains(&version))
    }

    /// Whether the hook may run, as a hook system on the store says it.
    fn is_trusted(&self) -> bool {
        let source = SettingsSource::optional(HookSource::Project, self.project.settings());
        let policy = TrustPolicy::Store(self.store.clone());
        let system = hook_bus::HookSystem::builder(self.project.path()).settings(source);
        let system = system.trust(policy).build().unwrap();
        runtime().block_on(system.initialize()).unwrap();
        system.hooks().unwrap()[0].trusted
    }
}

fn any_store(valid: Vec<u8>) -> impl Strategy<Value = Bytes> {
    let mut contents: Value = serde_json::from_slice(&valid).unwrap();
    let own = Tree::from(&contents);
    contents["version"] = json!(2);
    let altered = altered(vec![own.clone(), own, Tree::from(&contents)], WORDS);
    prop_oneof![
        1 => bytes(WORDS),
        2 => altered.prop_map(|tree| Bytes(tree.to_string().into_bytes())),
        2 => damaged(vec![valid]),
    ]
}

#[test]
fn whatever_is_in_the_store_nothing_is_lost_and_nothing_else_is_trusted() {
    let fixture = Fixture::new();
    let project = fixture.project.path();
    check(200, any_store(fixture.valid()), |bytes| {
        fixture.fill(&bytes.0);
        match fixture.store.grants(&project) {
            Ok(_) => prop_assert_eq!(fs::read(fixture.store.path()).unwrap(), bytes.0.clone()),
            Err(TrustStoreError::Damaged { aside, .. }) => {
                prop_assert!(!Fixture::is_newer(&bytes.0));
                prop_assert!(!aside.exists(), "reading writes nothing");
                prop_assert_eq!(fs::read(fixture.store.path()).unwrap(), bytes.0.clone());
            }
            Err(TrustStoreError::Newer { version, .. }) => {
                prop_assert!(version > 1);
                prop_assert_eq!(fs::read(fixture.store.path()).unwrap(), bytes.0.clone());
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
        fixture.fill(&bytes.0);
        if fixture.is_trusted() {
            prop_assert!(fixture.is_granted_in(&bytes.0));
        }
        Ok(())
    });
}

#[test]
fn what_later_versions_add_is_kept_and_what_is_no_text_damages_the_store() {
    let fixture = Fixture::new();
    let mut contents: Value = serde_json::from_slice(&fixture.valid()).unwrap();
    let project = fixture.project.path().to_string_lossy().into_owned();
    contents["later"] = json!({"a": [1, "b"]});
    contents["projects"][&project][0]["later"] = json!(1.5);
    contents["projects"][&project][0]["seen"]["later"] = json!("x");
    fixture.fill(contents.to_string().as_bytes());
    fixture.store.revoke(Path::new("/")).unwrap();
    let kept: Value = serde_json::from_slice(&fs::read(fixture.store.path()).unwrap()).unwrap();
    assert_eq!(kept, contents);
    assert!(fixture.is_trusted());
    // Half of a character, in a field that nobody knows.
    fixture.fill(contents.to_string().replace("1.5", r#""\ud800""#).as_bytes());
    let read = fixture.store.grants(&fixture.project.path());
    assert!(matches!(read, Err(TrustStoreError::Damaged { .. })), "{read:?}");
    assert!(!fixture.is_trusted());
}

#[test]
fn a_damaged_store_takes_new_decisions_and_a_later_version_s_is_left_alone() {
    let fixture = Fixture::new();
    let project = fixture.project.path();
    check(100, any_store(fixture.valid()), |bytes| {
        fixture.fill(&bytes.0);
        let before = fixture.store.grants(&project);
        fixture.fill(&bytes.0);
        let granted = fixture.store.grant(&project, std::slice::from_ref(&fixture.entry));
        match before {
            Err(TrustStoreError::Newer { .. }) => {
                let refused = matches!(granted, Err(TrustStoreError::Newer { .. }));
                prop_assert!(refused);
                prop_assert_eq!(fs::read(fixture.store.path()).unwrap(), bytes.0.clone());
                return Ok(());
            }
            Err(TrustStoreError::Damaged { .. }) => {
                prop_assert_eq!(fixture.aside(), [bytes.0.clone()]);
            }
            Err(error) => prop_assert!(false, "{error}"),
            Ok(earlier) => {
                let now = fixture.store.grants(&project).unwrap();
                let same =
                    |grant: &Grant| now.iter().any(|kept| kept.fingerprint == grant.fingerprint);
                prop_assert!(earlier.iter().all(same), "a decision was lost");
            }
        }
        granted.unwrap();
        prop_assert!(fixture.is_trusted());
        fixture.store.revoke(&project).unwrap();
        prop_assert!(!fixture.is_trusted());
        Ok(())
    });
}

#[test]
fn each_damaged_store_is_set_aside_beside_the_ones_before() {
    let fixture = Fixture::new();
    let valid = fixture.valid();
    let deep = "[".repeat(VERY_DEEP).into_bytes();
    // Cut off anywhere, as by a full disk, and nested deeper than anybody reads.
    let damaged: Vec<&[u8]> =
        (0..valid.len() - 2).step_by(17).map(|end| &valid[..end]).chain([&deep[..]]).collect();
    for (count, bytes) in damaged.iter().enumerate() {
        fs::write(fixture.store.path(), bytes).unwrap();
        let error = fixture.store.grants(Path::new("/")).unwrap_err();
        assert!(matches!(error, TrustStoreError::Damaged { .. }), "{error}");
        assert_eq!(fixture.aside().len(), count);
        fixture.store.revoke(Path::new("/")).unwrap();
        assert_eq!(fixture.aside().len(), count + 1);
    }
    let mut aside = fixture.aside();
    aside.sort();
    let mut expected: Vec<Vec<u8>> = damaged.iter().map(|bytes| bytes.to_vec()).collect();
    expected.sort();
    assert_eq!(aside, expected);
}
