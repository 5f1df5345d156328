//! What translating a long conversation costs, there and back, beside the least that handing it
//! on costs anybody: writing it out as JSON twice.
//!
//! ```sh
//! cargo bench --package hook-translate --bench translate
//! ```

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod conversation;

use std::hint::black_box;
use std::time::{Duration, Instant};

use conversation::{Turn, turns};
use hook_json::{RawJson, RawObject};
use hook_translate::{Sdk, from_stable_request, to_stable_request};
use serde_json::{Value, json};

/// An SDK and how it writes a conversation.
type Writer = (Sdk, fn(&[Turn]) -> Value);

const SDKS: [Writer; 4] = [
    (Sdk::GenAi, conversation::genai),
    (Sdk::OpenAiChat, conversation::openai_chat),
    (Sdk::OpenAiResponses, conversation::openai_responses),
    (Sdk::Anthropic, conversation::anthropic),
];

fn object(value: &Value) -> RawObject {
    RawObject::try_from(RawJson::parse(value.to_string()).unwrap()).unwrap()
}

/// The answer of a hook that changed one message in the middle, or none.
fn answer(shown: &RawObject, edited: bool) -> RawObject {
    let mut shown: Value = serde_json::from_str(shown.as_str()).unwrap();
    let messages = shown["messages"].as_array_mut().unwrap();
    if edited {
        let middle = messages.len() / 2;
        messages[middle]["content"] = json!("****");
    }
    object(&json!({ "messages": messages }))
}

fn main() {
    let turns = turns();
    for (sdk, write) in SDKS {
        let request = write(&turns);
        let base = object(&request);
        let shown = to_stable_request(sdk, &base).unwrap().value;
        let measured = |name: &str, work: &mut dyn FnMut()| {
            let median = median(work);
            let rate = base.as_str().len() as f64 / median.as_secs_f64() / 1e6;
            println!("{:<17} {name:<22} {median:>10.1?} {rate:>7.0} MB/s", sdk.as_str());
        };
        measured("limit: serialize twice", &mut || {
            for _ in 0..2 {
                black_box(serde_json::to_string(black_box(&request)).unwrap());
            }
        });
        for (name, edited) in [("unchanged", false), ("one message edited", true)] {
            let answer = answer(&shown, edited);
            measured(name, &mut || {
                black_box(to_stable_request(sdk, black_box(&base)).unwrap());
                black_box(from_stable_request(sdk, black_box(&answer), Some(&base)).unwrap());
            });
        }
    }
}

/// The median of the times that some work takes, in four seconds.
fn median(work: &mut dyn FnMut()) -> Duration {
    let started = Instant::now();
    let mut times = Vec::new();
    while started.elapsed() < Duration::from_secs(4) {
        let begun = Instant::now();
        work();
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}
