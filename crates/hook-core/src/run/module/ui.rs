//! The user, as handlers know them; without one everything gives what the table of docs/modules.md says.

use std::any::Any;
use std::sync::Arc;

use super::asker::Asker;
use crate::json::{JsonObject, RawJson};

/// The user.
#[derive(Debug, Clone)]
pub struct HookUi(pub(super) Asker);

/// How urgent a notification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Notice {
    /// It is good to know.
    #[default]
    Info,
    /// It should be looked at.
    Warning,
    /// Something went wrong.
    Error,
}

impl Notice {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

fn params<const N: usize>(texts: [(&str, Option<&str>); N]) -> JsonObject {
    let mut params = JsonObject::new();
    for (name, text) in texts {
        if let Some(text) = text {
            params.insert(name, RawJson::from_text(text));
        }
    }
    params
}

impl HookUi {
    async fn text(&self, method: &str, params: JsonObject) -> Option<String> {
        self.0.ask_or(method, params, RawJson::null()).await.to_text()
    }

    async fn show(&self, method: &str, params: JsonObject) {
        self.0.ask_or(method, params, RawJson::null()).await;
    }

    /// Has the user choose one of these; `None` without a user, and where they do not.
    pub async fn select(&self, title: &str, options: &[&str]) -> Option<String> {
        let mut params = params([("title", Some(title))]);
        let options: Vec<RawJson> = options.iter().map(|it| RawJson::from_text(it)).collect();
        params.insert("options", RawJson::from_items(&options));
        self.text("ui.select", params).await
    }

    /// Whether the user says yes; `false` without a user.
    pub async fn confirm(&self, title: &str, message: &str) -> bool {
        let params = params([("title", Some(title)), ("message", Some(message))]);
        let said = self.0.ask_or("ui.confirm", params, RawJson::from_bool(false)).await;
        said.to_bool() == Some(true)
    }

    /// Has the user write a line; `None` without a user, and where they do not.
    pub async fn input(&self, title: &str, placeholder: Option<&str>) -> Option<String> {
        self.text("ui.input", params([("title", Some(title)), ("placeholder", placeholder)])).await
    }

    /// Has the user write a text; `None` without a user, and where they do not.
    pub async fn editor(&self, title: &str, prefill: Option<&str>) -> Option<String> {
        self.text("ui.editor", params([("title", Some(title)), ("prefill", prefill)])).await
    }

    /// Tells the user something; nothing without one.
    pub async fn notify(&self, message: &str, notice: Notice) {
        let params = params([("message", Some(message)), ("type", Some(notice.as_str()))]);
        self.show("ui.notify", params).await;
    }

    /// Shows a text in the status line under a key, or takes it out of there; nothing without a user.
    pub async fn set_status(&self, key: &str, text: Option<&str>) {
        self.show("ui.setStatus", params([("key", Some(key)), ("text", text)])).await;
    }

    /// Puts a text into the editor of prompts; nothing without a user.
    pub async fn set_editor_text(&self, text: &str) {
        self.show("ui.setEditorText", params([("text", Some(text))])).await;
    }

    /// What stands in the editor of prompts; nothing without a user.
    pub async fn get_editor_text(&self) -> String {
        self.text("ui.getEditorText", JsonObject::new()).await.unwrap_or_default()
    }

    /// The host's own component of that type, where it has one
    /// ([`HostServices::component`](crate::HostServices::component)).
    pub fn custom<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.host()?.component()?.downcast().ok()
    }

    /// How text is styled: not at all, by the default theme.
    pub fn theme(&self) -> Theme {
        Theme
    }
}

/// The default theme, which leaves text as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Theme;

impl Theme {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        "default"
    }

    /// Text in a color.
    pub fn fg(&self, _color: &str, text: &str) -> String {
        text.to_owned()
    }

    /// Text on a color.
    pub fn bg(&self, _color: &str, text: &str) -> String {
        text.to_owned()
    }

    /// Bold text.
    pub fn bold(&self, text: &str) -> String {
        text.to_owned()
    }
}
