//! Requests of `http` hooks, and the meaning of their server's replies.

use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{
    ForeignAnswer, ForeignCommand, ForeignHook, LaunchContext, Post, ProcessOutput,
};

use super::claude::parse_object;
use super::kind::{HttpRules, UnencryptedRequests};
use super::table::{Agent, AgentEvent};

/// The names of this machine in URLs.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.", "[::1]"];

/// Returns the URL and the headers of a hook's request.
///
/// # Errors
/// Returns an error if the hook's agent would not send it.
pub(super) fn post(
    agent: &Agent,
    hook: &ForeignHook,
    context: &LaunchContext<'_>,
) -> Result<Post, String> {
    let (ForeignCommand::Http(request), Some(rules)) = (&hook.command, &agent.http) else {
        return Err(format!("{} has no hooks of type `http`", agent.title));
    };
    let url = request.url.trim();
    if let Some(allowed) = &request.allowed_urls
        && !allowed.iter().any(|pattern| matches_wildcard(pattern, url))
    {
        return Err("`allowedHttpHookUrls` of its settings does not have its URL".to_owned());
    }
    let has_variables = !request.variables.is_empty();
    if let Some(reason) = refusal_reason(rules, &hook.event, url, has_variables, context) {
        return Err(reason);
    }
    let variable_value = |name: &str| {
        let is_allowed = request.variables.iter().any(|variable| variable == name);
        let value = context.variable(name).filter(|_| is_allowed);
        value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let headers = request.headers.iter().map(|(name, value)| {
        // A line break in a value would start another header.
        let value = expand_variables(value, &variable_value).replace(['\r', '\n', '\0'], "");
        (name.clone(), value)
    });
    Ok(Post { url: url.to_owned(), headers: headers.collect() })
}

/// Returns the reason against sending to a URL, if any.
fn refusal_reason(
    rules: &HttpRules,
    event: &str,
    url: &str,
    has_variables: bool,
    context: &LaunchContext<'_>,
) -> Option<String> {
    let scheme = |scheme: &str| {
        let (start, rest) = url.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    if scheme("https://").is_some() {
        return None;
    }
    let Some(rest) = scheme("http://") else {
        return Some("its URL begins with neither `https://` nor `http://`".to_owned());
    };
    let UnencryptedRequests::LocalOnly { variable, except_events: not_at } = rules.unencrypted
    else {
        return None;
    };
    if not_at.contains(&event) {
        return Some(format!("at {event} its URL must begin with `https://`"));
    }
    if has_variables {
        return Some("with `allowedEnvVars` its URL must begin with `https://`".to_owned());
    }
    let is_local = is_local(rest);
    let is_allowed = context.variable(variable).is_some_and(|value| value == "1");
    match (is_local, is_allowed) {
        (true, true) => None,
        (true, false) => {
            Some(format!("its URL must begin with `https://`, unless {variable} is 1"))
        }
        (false, _) => Some("its URL must begin with `https://`".to_owned()),
    }
}

/// Checks whether the rest of an `http://` URL names this machine, and not only begins like it.
fn is_local(rest: &str) -> bool {
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    // Only a port may follow the name.
    let end = host.find(']').map_or_else(|| host.find(':'), |end| Some(end + 1));
    let (host, port) = host.split_at(end.unwrap_or(host.len()));
    if !port.is_empty() && !port.starts_with(':') {
        return false;
    }
    match LOCAL_HOSTS.iter().find(|known| host.starts_with(**known)) {
        Some(&"127.") => {
            host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        }
        Some(known) => host == *known,
        None => false,
    }
}

/// Checks whether a text matches a pattern in which `*` stands for any text.
fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pattern.rsplit_once('*').map(|(_, last)| last) else {
        return rest.is_empty();
    };
    let inner_count = pattern.matches('*').count() - 1;
    for part in parts.take(inner_count) {
        let Some(index) = rest.find(part) else { return false };
        rest = rest.get(index + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// Replaces `$NAME` and `${NAME}` by the variables' values; a `$` without a name stays.
fn expand_variables(text: &str, variable_value: &dyn Fn(&str) -> String) -> String {
    let is_name_character = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_name_character);
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let unbraced = after
            .split_at(after.find(|character| !is_name_character(character)).unwrap_or(after.len()));
        let name_and_rest = braced.filter(|(name, _)| is_name(name)).unwrap_or(unbraced);
        match name_and_rest.0 {
            "" => {
                out.push('$');
                rest = after;
            }
            name => {
                out.push_str(&variable_value(name));
                rest = name_and_rest.1;
            }
        }
    }
    out + rest
}

/// Returns the answer in a server's reply. A successful reply counts as a command's output with
/// exit code 0, any other as a failed command.
pub(super) fn read_reply(
    agent: &Agent,
    event: &AgentEvent,
    reply: Result<&str, HookFailure>,
) -> ForeignAnswer {
    let has_no_answer = |body: &str| {
        let rules = agent.http.as_ref();
        rules.is_some_and(|rules| rules.object_only_events.contains(&event.name))
            && parse_object(body).is_none()
    };
    match reply {
        // It starts like an object but is none: truncated, or something else.
        Ok(body) if body.trim_start().starts_with('{') && parse_object(body).is_none() => {
            let hint = "its home takes nothing of such an answer".to_owned();
            let error = InvalidAnswer::new("the answer is no JSON object".to_owned(), hint);
            let failure = Some(HookFailure::InvalidAnswer(error));
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
        Ok(body) => {
            let stdout = if has_no_answer(body) { "" } else { body };
            agent.read(event, &ProcessOutput { code: Some(0), stdout, stderr: "" })
        }
        // Agents take no answer from these.
        Err(failure @ (HookFailure::TimedOut { .. } | HookFailure::Cancelled)) => {
            ForeignAnswer { failure: Some(failure), ..ForeignAnswer::default() }
        }
        Err(failure) => {
            let stderr = failure.to_string();
            let answer =
                agent.read(event, &ProcessOutput { code: Some(1), stdout: "", stderr: &stderr });
            ForeignAnswer { failure: Some(failure), ..answer }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{expand_variables, is_local, matches_wildcard};

    #[test]
    fn only_this_machine_is_here() {
        for (rest, expected) in [
            ("localhost", true),
            ("LOCALHOST:80/x", true),
            ("127.0.0.1:8/", true),
            ("127.1.2.3", true),
            ("[::1]:8/x", true),
            ("127.0.0.1.example.com/", false),
            ("127.example.com/", false),
            ("localhost.example.com/", false),
            ("localhost@example.com/", false),
            ("example.com/localhost", false),
            ("example.com#@localhost", false),
            ("[::1].example.com", false),
            ("", false),
        ] {
            assert_eq!(is_local(rest), expected, "{rest}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("https://a.b/*", "https://a.b/c", true),
            ("https://a.b/*", "https://a.b.c/", false),
            ("https://a.b/c", "https://a.b/c", true),
            ("https://a.b/c", "https://a.b/cd", false),
            ("*", "x", true),
            ("*.b/*", "https://a.b/c", true),
            ("https://*.b/*/d", "https://a.b/c/d", true),
            ("https://*.b/*/d", "https://a.b/d", false),
            ("a*b", "ab", true),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches_wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn variables_are_replaced_and_nothing_else() {
        let value = |name: &str| format!("<{name}>");
        for (text, expected) in [
            ("Bearer $A_1 ${B}x", "Bearer <A_1> <B>x"),
            ("$", "$"),
            ("a$-b", "a$-b"),
            ("${A", "${A"),
            ("${}", "${}"),
            ("$$A", "$<A>"),
            ("${a b}", "${a b}"),
            ("ü$ü", "ü$ü"),
        ] {
            assert_eq!(expand_variables(text, &value), expected, "{text}");
        }
    }
}
