//! Requests of `http` hooks, and the meaning of their server's replies.

use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer, ForeignCommand, ForeignHook, Place, Post};

use super::claude::object_on;
use super::kind::{HttpRules, Plain};
use super::table::{Agent, AgentEvent};

/// The names of this machine in URLs.
const HERE: [&str; 3] = ["localhost", "127.", "[::1]"];

/// Returns the URL and the headers of a hook's request.
///
/// # Errors
/// Returns an error if the hook's agent would not send it.
pub(super) fn post(agent: &Agent, hook: &ForeignHook, place: &Place<'_>) -> Result<Post, String> {
    let (ForeignCommand::Http(request), Some(rules)) = (&hook.command, &agent.http) else {
        return Err(format!("{} has no hooks of type `http`", agent.title));
    };
    let url = request.url.trim();
    if let Some(allowed) = &request.allowed_urls
        && !allowed.iter().any(|pattern| is_like(pattern, url))
    {
        return Err("`allowedHttpHookUrls` of its settings does not have its URL".to_owned());
    }
    let has_variables = !request.variables.is_empty();
    if let Some(reason) = refused(rules, &hook.event, url, has_variables, place) {
        return Err(reason);
    }
    let value_of = |name: &str| {
        let is_allowed = request.variables.iter().any(|known| known == name);
        let value = place.variable(name).filter(|_| is_allowed);
        value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let headers = request.headers.iter().map(|(name, value)| {
        // A line break in a value would start another header.
        let value = filled(value, &value_of).replace(['\r', '\n', '\0'], "");
        (name.clone(), value)
    });
    Ok(Post { url: url.to_owned(), headers: headers.collect() })
}

/// Returns the reason against sending to a URL, if any.
fn refused(
    rules: &HttpRules,
    event: &str,
    url: &str,
    has_variables: bool,
    place: &Place<'_>,
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
    let Plain::Here { variable, not_at } = rules.plain else { return None };
    if not_at.contains(&event) {
        return Some(format!("at {event} its URL must begin with `https://`"));
    }
    if has_variables {
        return Some("with `allowedEnvVars` its URL must begin with `https://`".to_owned());
    }
    let is_here = is_here(rest);
    let is_allowed = place.variable(variable).is_some_and(|value| value == "1");
    match (is_here, is_allowed) {
        (true, true) => None,
        (true, false) => {
            Some(format!("its URL must begin with `https://`, unless {variable} is 1"))
        }
        (false, _) => Some("its URL must begin with `https://`".to_owned()),
    }
}

/// Checks whether the rest of an `http://` URL names this machine, and not only begins like it.
fn is_here(rest: &str) -> bool {
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    // Only a port may follow the name.
    let end = host.find(']').map_or_else(|| host.find(':'), |end| Some(end + 1));
    let (host, port) = host.split_at(end.unwrap_or(host.len()));
    if !port.is_empty() && !port.starts_with(':') {
        return false;
    }
    match HERE.iter().find(|known| host.starts_with(**known)) {
        Some(&"127.") => host.parse::<std::net::Ipv4Addr>().is_ok_and(|it| it.is_loopback()),
        Some(known) => host == *known,
        None => false,
    }
}

/// Checks whether a text matches a pattern in which `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pattern.rsplit_once('*').map(|(_, last)| last) else {
        return rest.is_empty();
    };
    let between = pattern.matches('*').count() - 1;
    for part in parts.take(between) {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// Replaces `$NAME` and `${NAME}` by the variables' values; a `$` without a name stays.
fn filled(text: &str, value_of: &dyn Fn(&str) -> String) -> String {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_part);
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let plain = after.split_at(after.find(|it| !is_part(it)).unwrap_or(after.len()));
        let found = braced.filter(|(name, _)| is_name(name)).unwrap_or(plain);
        match found.0 {
            "" => {
                out.push('$');
                rest = after;
            }
            name => {
                out.push_str(&value_of(name));
                rest = found.1;
            }
        }
    }
    out + rest
}

/// Returns the answer in a server's reply. A successful reply counts as a command's output with
/// exit code 0, any other as a failed command.
pub(super) fn replied(
    agent: &Agent,
    event: &AgentEvent,
    reply: Result<&str, HookFailure>,
) -> ForeignAnswer {
    let says_nothing = |body: &str| {
        let rules = agent.http.as_ref();
        rules.is_some_and(|rules| rules.text_is_nothing_at.contains(&event.name))
            && object_on(body).is_none()
    };
    match reply {
        // It starts like an object but is none: truncated, or something else.
        Ok(body) if body.trim_start().starts_with('{') && object_on(body).is_none() => {
            let hint = "its home takes nothing of such an answer".to_owned();
            let why = InvalidAnswer::new("the answer is no JSON object".to_owned(), hint);
            let failure = Some(HookFailure::InvalidAnswer(why));
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
        Ok(body) => {
            let stdout = if says_nothing(body) { "" } else { body };
            (agent.answer)(event, &Ended { code: Some(0), stdout, stderr: "" })
        }
        // Agents take no answer from these.
        Err(failure @ (HookFailure::TimedOut { .. } | HookFailure::Cancelled)) => {
            ForeignAnswer { failure: Some(failure), ..ForeignAnswer::default() }
        }
        Err(failure) => {
            let stderr = failure.to_string();
            let answer =
                (agent.answer)(event, &Ended { code: Some(1), stdout: "", stderr: &stderr });
            ForeignAnswer { failure: Some(failure), ..answer }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{filled, is_here, is_like};

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
            assert_eq!(is_here(rest), expected, "{rest}");
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
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
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
            assert_eq!(filled(text, &value), expected, "{text}");
        }
    }
}
