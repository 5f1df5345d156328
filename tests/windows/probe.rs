//! A hook that does what its first argument says, on any system.

use std::error::Error;
use std::io::{BufRead, Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let action = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let first = rest.first().cloned().unwrap_or_default();
    match action.as_str() {
        // Denies, with what it was given as the reason.
        "args" | "-NoProfile" => deny(&json!(rest).to_string()),
        // The same for every agent.
        "refuse" => {
            say(&mut std::io::stderr(), &json!(rest).to_string())?;
            std::process::exit(2);
        }
        "deny" => deny(&first),
        "variable" => deny(&std::env::var(&first).unwrap_or_else(|_| "not set".to_owned())),
        "directory" => deny(&std::env::current_dir()?.to_string_lossy()),
        "input" => {
            let mut input = String::new();
            std::io::stdin().read_to_string(&mut input)?;
            let input: Value = serde_json::from_str(&input)?;
            deny(input.pointer(&first).unwrap_or(&Value::Null).to_string().trim_matches('"'))
        }
        "exit" => {
            say(&mut std::io::stderr(), "because of this")?;
            std::process::exit(first.parse()?);
        }
        "say" => say(&mut std::io::stdout(), &first),
        "sleep" => {
            std::thread::sleep(Duration::from_secs(first.parse()?));
            Ok(())
        }
        // Starts one that writes into a file again and again, then does what the rest says.
        "start" => {
            let mut child = Command::new(std::env::current_exe()?);
            child.args(["beat", &first]).stdin(Stdio::null()).stderr(Stdio::null());
            if rest.get(1).map(String::as_str) != Some("holding") {
                child.stdout(Stdio::null());
            }
            child.spawn()?;
            if rest.get(1).map(String::as_str) == Some("sleeping") {
                std::thread::sleep(Duration::from_secs(1000));
            }
            deny("started")
        }
        // Ends by itself, in case that nothing ends it.
        "beat" => {
            for _ in 0..600 {
                std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&first)?
                    .write_all(b".")?;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        }
        "worker" => worker(&first),
        other => Err(format!("a probe knows no {other:?}").into()),
    }
}

fn deny(reason: &str) -> Result<(), Box<dyn Error>> {
    say(&mut std::io::stdout(), &json!({"decision": "deny", "reason": reason}).to_string())
}

fn say(to: &mut dyn Write, text: &str) -> Result<(), Box<dyn Error>> {
    writeln!(to, "{text}")?;
    to.flush()?;
    Ok(())
}

/// Answers each call with the number of calls so far; at the second one it dies if it is told so.
fn worker(how: &str) -> Result<(), Box<dyn Error>> {
    let mut output = std::io::stdout();
    say(&mut output, r#"{"type": "hook-worker", "protocol": 1}"#)?;
    let mut calls = 0;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        match message["type"].as_str() {
            Some("hook-close") => break,
            Some("hook-call") => {
                calls += 1;
                if calls == 2 && how == "dying" {
                    std::process::exit(3);
                }
                let output_of = json!({"decision": "deny", "reason": format!("call {calls}")});
                let answer = json!({"type": "hook-answer", "callId": message["callId"], "output": output_of});
                say(&mut output, &answer.to_string())?;
            }
            _ => {}
        }
    }
    Ok(())
}
