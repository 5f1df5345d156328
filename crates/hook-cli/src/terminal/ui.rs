//! The host services for hooks with a user at the terminal.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::module::StatusLine;
use hook_json::{RawJson, opaque_debug};
use hook_run::{HostCall, HostCallError, HostServices};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::keyboard::Keyboard;
use super::question::{METHODS, Question, display_text, text};
use crate::output::Printer;

/// The host calls that tell the user something without a question.
const NOTIFICATIONS: [&str; 2] = ["ui.notify", "ui.setStatus"];

/// The user at the terminal. Only one question is open at a time.
pub(super) struct TerminalUi {
    terminal: Arc<Terminal>,
}

struct Terminal {
    /// Transient lines at the end of the screen; hidden while a question is open.
    lines: MultiProgress,
    shows_progress: bool,
    width: usize,
    /// Held while a question is open.
    prompt_lock: tokio::sync::Mutex<()>,
    status: Mutex<Status>,
}

#[derive(Default)]
struct Status {
    texts: StatusLine,
    line: Option<ProgressBar>,
}

impl TerminalUi {
    pub(super) fn new(printer: &Printer) -> Self {
        let shows_progress = printer.shows_progress();
        let terminal = Terminal {
            lines: printer.progress_lines(),
            shows_progress,
            width: printer.width(),
            prompt_lock: tokio::sync::Mutex::default(),
            status: Mutex::default(),
        };
        Self { terminal: Arc::new(terminal) }
    }
}

opaque_debug!(TerminalUi);

impl HostServices for TerminalUi {
    fn offers(&self, method: &str) -> bool {
        METHODS.contains(&method) || NOTIFICATIONS.contains(&method)
    }

    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        let terminal = Arc::clone(&self.terminal);
        async move {
            if let Some(question) = Question::read(&call.method, &call.params)? {
                return terminal.ask(&call.hook, &question).await.map_err(|error| {
                    HostCallError::failed(format!("the terminal cannot be asked: {error}"))
                });
            }
            match call.method.as_str() {
                "ui.notify" => terminal.notify(&call),
                "ui.setStatus" => terminal.set_status(&call)?,
                method => return Err(HostCallError::unsupported(method)),
            }
            Ok(RawJson::null())
        }
        .boxed()
    }
}

/// An open question on the terminal. Dropping it redraws the progress lines.
struct OpenPrompt<'t> {
    terminal: &'t Terminal,
    is_settled: bool,
}

impl Drop for OpenPrompt<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            // A closed terminal leaves no way to report this.
            let _ = writeln!(io::stderr(), "\n(the hook does not wait for the answer any more)");
        }
        self.terminal.draw_progress(true);
    }
}

impl Terminal {
    async fn ask(&self, hook: &str, question: &Question) -> io::Result<RawJson> {
        let _turn = self.prompt_lock.lock().await;
        self.draw_progress(false);
        let mut open_prompt = OpenPrompt { terminal: self, is_settled: false };
        let answer = self.prompt(hook, question).await;
        open_prompt.is_settled = true;
        answer
    }

    async fn prompt(&self, hook: &str, question: &Question) -> io::Result<RawJson> {
        let mut keyboard = Keyboard::take()?;
        let prompt = question.prompt(hook);
        loop {
            let mut stderr = io::stderr();
            stderr.write_all(prompt.as_bytes())?;
            stderr.flush()?;
            let Some(line) = keyboard.line().await? else {
                writeln!(stderr)?;
                return Ok(question.default_answer());
            };
            if let Some(answer) = question.answer(&line) {
                return Ok(answer);
            }
        }
    }

    fn draw_progress(&self, is_drawn: bool) {
        // A closed terminal is detected by the next write.
        let _ = self.lines.clear();
        self.lines.set_draw_target(match is_drawn && self.shows_progress {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        });
    }

    fn notify(&self, call: &HostCall) {
        let params = call.params.to_object().unwrap_or_default();
        let prefix = match text(&params, "type").as_str() {
            "warning" => "warning: ",
            "error" => "error: ",
            _ => "",
        };
        let notice = format!(
            "{prefix}{}: {}",
            display_text(&call.hook),
            display_text(&text(&params, "message"))
        );
        // A closed terminal leaves no way to report this.
        self.lines.suspend(|| drop(writeln!(io::stderr(), "{notice}")));
    }

    fn set_status(&self, call: &HostCall) -> Result<(), HostCallError> {
        let params = call.params.to_object().unwrap_or_default();
        let shown = params.get("text").and_then(RawJson::to_text);
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if !status.texts.set(&text(&params, "key"), shown.as_deref()) {
            return Err(HostCallError::failed("the status line has no room for another key"));
        }
        if status.texts.is_empty() {
            if let Some(line) = status.line.take() {
                line.finish_and_clear();
            }
            return Ok(());
        }
        let shown = status.texts.render(self.width.saturating_sub(1));
        let line = status.line.get_or_insert_with(|| self.lines.add(status_line()));
        line.set_message(shown);
        line.tick();
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let status = self.status.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = status.line.take() {
            line.finish_and_clear();
        }
    }
}

fn status_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}");
    ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
