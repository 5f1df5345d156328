//! The user interface for handlers. Without a user, see the results in docs/modules.md.

use std::any::Any;
use std::sync::Arc;

use super::host_client::HostClient;
use hook_json::{JsonObject, RawJson};

/// The user interface.
#[derive(Debug, Clone)]
pub struct HookUi(pub(super) HostClient);

/// The level of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Notice {
    /// Information.
    #[default]
    Info,
    /// A warning.
    Warning,
    /// An error.
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
        self.0.request_or(method, params, RawJson::null()).await.to_text()
    }

    async fn show(&self, method: &str, params: JsonObject) {
        self.0.request_or(method, params, RawJson::null()).await;
    }

    /// Asks the user to choose an option; `None` without a user, or if they cancel.
    pub async fn select(&self, title: &str, options: &[&str]) -> Option<String> {
        let mut params = params([("title", Some(title))]);
        let options: Vec<RawJson> =
            options.iter().map(|option| RawJson::from_text(option)).collect();
        params.insert("options", RawJson::from_items(&options));
        self.text("ui.select", params).await
    }

    /// Asks the user to confirm; `false` without a user.
    pub async fn confirm(&self, title: &str, message: &str) -> bool {
        let params = params([("title", Some(title)), ("message", Some(message))]);
        let answer = self.0.request_or("ui.confirm", params, RawJson::from_bool(false)).await;
        answer.to_bool() == Some(true)
    }

    /// Asks the user for a line of text; `None` without a user, or if they cancel.
    pub async fn input(&self, title: &str, placeholder: Option<&str>) -> Option<String> {
        self.text("ui.input", params([("title", Some(title)), ("placeholder", placeholder)])).await
    }

    /// Asks the user for a longer text; `None` without a user, or if they cancel.
    pub async fn editor(&self, title: &str, prefill: Option<&str>) -> Option<String> {
        self.text("ui.editor", params([("title", Some(title)), ("prefill", prefill)])).await
    }

    /// Shows a notification; does nothing without a user.
    pub async fn notify(&self, message: &str, notice: Notice) {
        let params = params([("message", Some(message)), ("type", Some(notice.as_str()))]);
        self.show("ui.notify", params).await;
    }

    /// Sets or removes the text of a key in the status line; does nothing without a user.
    pub async fn set_status(&self, key: &str, text: Option<&str>) {
        self.show("ui.setStatus", params([("key", Some(key)), ("text", text)])).await;
    }

    /// Sets the text of the prompt editor; does nothing without a user.
    pub async fn set_editor_text(&self, text: &str) {
        self.show("ui.setEditorText", params([("text", Some(text))])).await;
    }

    /// Returns the text of the prompt editor; empty without a user.
    pub async fn get_editor_text(&self) -> String {
        self.text("ui.getEditorText", JsonObject::new()).await.unwrap_or_default()
    }

    /// Returns the host's own component of this type, if it has one
    /// ([`HostServices::component`](crate::HostServices::component)).
    pub fn custom<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.host()?.component()?.downcast().ok()
    }

    /// Returns the default theme.
    pub fn theme(&self) -> Theme {
        Theme
    }
}

/// The default theme, which leaves text unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Theme;

impl Theme {
    /// Returns the theme's name.
    pub fn name(&self) -> &'static str {
        "default"
    }

    /// Returns text in a color.
    pub fn fg(&self, _color: &str, text: &str) -> String {
        text.to_owned()
    }

    /// Returns text on a background color.
    pub fn bg(&self, _color: &str, text: &str) -> String {
        text.to_owned()
    }

    /// Returns bold text.
    pub fn bold(&self, text: &str) -> String {
        text.to_owned()
    }
}
