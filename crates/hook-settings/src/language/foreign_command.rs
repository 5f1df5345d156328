//! The commands of foreign hooks.

use std::borrow::Cow;

use hook_json::{JsonObject, RawJson, RawObject};

/// The command of a foreign hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignCommand {
    /// A text for the agent's shell, or for another shell that the hook names.
    Shell {
        /// The text.
        text: String,
        /// The named shell.
        shell: Option<String>,
    },
    /// A program with arguments, run without a shell.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A server that receives the hook's input in a POST request (`http`).
    Http(ForeignRequest),
    /// A model's verdict (`prompt`).
    Prompt {
        /// The question; `$ARGUMENTS` stands for the hook's input.
        prompt: String,
        /// The model, if not the agent's default.
        model: Option<String>,
        /// `true` if the turn continues after a negative verdict.
        continues: bool,
    },
    /// The verdict of a model that has tools (`agent`).
    Agent {
        /// The question; `$ARGUMENTS` stands for the hook's input.
        prompt: String,
        /// The model, if not the agent's default.
        model: Option<String>,
    },
    /// No command: a registered hook that runs in another process and is called.
    Registered,
    /// A tool of an MCP server (`mcp_tool`).
    McpTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Its arguments; `${path}` in their texts stands for a part of the hook's input.
        input: RawObject,
    },
}

/// The request of a hook of type `http`, whose body is the hook's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRequest {
    /// The URL, as written.
    pub url: String,
    /// Additional headers, which may contain variables.
    pub headers: Vec<(String, String)>,
    /// The variables allowed in headers; others expand to nothing.
    pub variables: Vec<String>,
    /// The patterns of allowed URLs for the file's hooks, if restricted; `*` matches any text.
    pub allowed_urls: Option<Vec<String>>,
}

impl ForeignCommand {
    /// Returns the command's type, as in the `type` setting.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Shell { .. } | Self::Program { .. } => "command",
            Self::Http(_) => "http",
            Self::Prompt { .. } => "prompt",
            Self::Agent { .. } => "agent",
            Self::McpTool { .. } => "mcp_tool",
            Self::Registered => "registered",
        }
    }

    /// Returns `true` if it starts a local process, which may run files of the project.
    pub fn is_process(&self) -> bool {
        matches!(self, Self::Shell { .. } | Self::Program { .. })
    }

    /// Returns the host service that it needs, if hosts may lack it.
    pub fn service(&self) -> Option<&'static str> {
        match self {
            Self::Prompt { .. } | Self::Agent { .. } => Some("a model (`model.ask`)"),
            Self::McpTool { .. } => Some("an MCP client (`mcp.call`)"),
            Self::Shell { .. } | Self::Program { .. } | Self::Http(_) | Self::Registered => None,
        }
    }

    /// Returns a description for display, which a blocked model may see too.
    pub fn shown(&self) -> String {
        match self {
            Self::Shell { text, .. } => text.clone(),
            Self::Program { program, arguments } => {
                let parts = std::iter::once(program).chain(arguments);
                parts.map(|part| quoted(part)).collect::<Vec<_>>().join(" ")
            }
            Self::Http(request) => without_secrets(&request.url),
            Self::Registered => String::new(),
            Self::Prompt { prompt, .. } | Self::Agent { prompt, .. } => prompt.clone(),
            Self::McpTool { server, tool, input } if input.fields().is_empty() => {
                format!("{server} {tool}")
            }
            Self::McpTool { server, tool, input } => format!("{server} {tool} {}", input.as_str()),
        }
    }

    /// Returns everything that determines what runs, as one text: equal texts run the same, and any
    /// change changes the text.
    pub fn spec(&self) -> String {
        let mut spec = JsonObject::new();
        let mut put = |name: &str, value: RawJson| {
            spec.insert(name, value);
        };
        let text = |text: &str| RawJson::from_text(text);
        put("type", text(self.kind()));
        match self {
            Self::Shell { text: command, shell } => {
                put("command", text(command));
                if let Some(shell) = shell {
                    put("shell", text(shell));
                }
            }
            Self::Program { program, arguments } => {
                put("program", text(program));
                put("arguments", texts(arguments));
            }
            Self::Http(request) => {
                put("url", text(&request.url));
                let pairs = request.headers.iter();
                let pairs: Vec<_> =
                    pairs.map(|(name, value)| texts(&[name.clone(), value.clone()])).collect();
                put("headers", RawJson::from_items(&pairs));
                put("allowedEnvVars", texts(&request.variables));
                if let Some(allowed) = &request.allowed_urls {
                    put("allowedHttpHookUrls", texts(allowed));
                }
            }
            Self::Prompt { prompt, model, continues } => {
                put("prompt", text(prompt));
                if let Some(model) = model {
                    put("model", text(model));
                }
                put("continueOnBlock", RawJson::from_bool(*continues));
            }
            Self::Agent { prompt, model } => {
                put("prompt", text(prompt));
                if let Some(model) = model {
                    put("model", text(model));
                }
            }
            Self::McpTool { server, tool, input } => {
                put("server", text(server));
                put("tool", text(tool));
                put("input", input.as_raw().clone());
            }
            Self::Registered => {}
        }
        spec.to_raw().as_str().to_owned()
    }
}

/// Quotes a word for a shell if necessary. Variables stay: the agent expands them.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,${}~".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))),
    }
}

/// Returns a URL without credentials and without its query and fragment.
fn without_secrets(url: &str) -> String {
    let path_at = url.find(['?', '#']).unwrap_or(url.len());
    let (base, query) = url.split_at(path_at);
    let rest = if query.starts_with('?') { "?…" } else { "" };
    let (scheme, server) = match base.split_once("://") {
        Some((scheme, server)) => (format!("{scheme}://"), server),
        None => (String::new(), base),
    };
    let (host, path) = server.split_at(server.find(['/', '\\']).unwrap_or(server.len()));
    match host.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}…@{host}{path}{rest}"),
        None => format!("{scheme}{host}{path}{rest}"),
    }
}

fn texts(all: &[String]) -> RawJson {
    let all: Vec<RawJson> = all.iter().map(|text| RawJson::from_text(text)).collect();
    RawJson::from_items(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("https://a.b/c/@d", "https://a.b/c/@d"),
            ("https://a.b/c?key=k#x", "https://a.b/c?…"),
            ("https://a.b#x", "https://a.b"),
            ("https://u:p@a.b:1/c", "https://…@a.b:1/c"),
            ("u:p@a.b", "…@a.b"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }

    #[test]
    fn every_part_of_what_is_run_is_in_its_terms() {
        let own = |text: &str| text.to_owned();
        let request = ForeignRequest {
            url: own("u"),
            headers: vec![(own("a"), own("b"))],
            variables: vec![own("V")],
            allowed_urls: None,
        };
        let http = |change: &dyn Fn(&mut ForeignRequest)| {
            let mut request = request.clone();
            change(&mut request);
            ForeignCommand::Http(request)
        };
        let prompt = |prompt: &str, model: Option<&str>, continues| ForeignCommand::Prompt {
            prompt: own(prompt),
            model: model.map(own),
            continues,
        };
        let agent = |prompt: &str, model: Option<&str>| ForeignCommand::Agent {
            prompt: own(prompt),
            model: model.map(own),
        };
        let tool = |server: &str, tool: &str, input: &str| ForeignCommand::McpTool {
            server: own(server),
            tool: own(tool),
            input: RawObject::parse(input).unwrap(),
        };
        let shell = |text: &str, shell: Option<&str>| ForeignCommand::Shell {
            text: own(text),
            shell: shell.map(own),
        };
        let program = |arguments: &[&str]| ForeignCommand::Program {
            program: own(arguments[0]),
            arguments: arguments[1..].iter().map(|it| own(it)).collect(),
        };
        let all = [
            http(&|_| {}),
            http(&|it| it.url = own("v")),
            http(&|it| it.headers = vec![(own("a"), own("c"))]),
            http(&|it| it.headers = vec![(own("a"), own("b")), (own("c"), own("d"))]),
            http(&|it| it.headers.clear()),
            http(&|it| it.variables.clear()),
            http(&|it| it.allowed_urls = Some(Vec::new())),
            http(&|it| it.allowed_urls = Some(vec![own("*")])),
            prompt("p", None, false),
            prompt("q", None, false),
            prompt("p", Some("m"), false),
            prompt("p", None, true),
            agent("p", None),
            agent("q", None),
            agent("p", Some("m")),
            tool("s", "t", "{}"),
            tool("s", "u", "{}"),
            tool("r", "t", "{}"),
            tool("s", "t", r#"{"a":1}"#),
            shell("a b", None),
            shell("a b", Some("bash")),
            shell("a c", None),
            program(&["a", "b"]),
            program(&["a b"]),
            program(&["a", "b", "c"]),
        ];
        let mut specs: Vec<String> = all.iter().map(ForeignCommand::spec).collect();
        assert_eq!(specs, all.iter().map(ForeignCommand::spec).collect::<Vec<_>>());
        specs.sort();
        specs.dedup();
        assert_eq!(specs.len(), all.len(), "{specs:#?}");
    }
}
