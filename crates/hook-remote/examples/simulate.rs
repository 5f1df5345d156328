//! How many engines a fleet needs: a simulation of agents that ask engines through a queue group.
//!
//! `cargo run --release -p hook-remote --example simulate [AGENTS] [SERVICE_MS] [PLACES] [PER_AGENT]`
//!
//! 10,000 agents by default, each of which makes a tool call every 10 seconds on average (`PER_AGENT` a
//! second), whose hooks take 15.14 milliseconds (`SERVICE_MS`) in one of 8 places (`PLACES`) that an engine has
//! for processes: P4 in docs/dev/performance.md. Requests come as they please (exponential times between them), and
//! hooks take longer or shorter (exponential, too). The broker gives each request to any engine, as a queue
//! group does; there it waits for a place. What is shown is how long it waits there, for so many engines.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process::ExitCode;

/// How many requests are looked at for each row, behind as many that only fill the queues.
const REQUESTS: usize = 200_000;

/// For what loads there is a row, about, in parts of what the engines can do.
const LOADS: [f64; 8] = [0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3];

/// More engines are no fleet that this could tell anything of.
const MAX_ENGINES: f64 = 100_000.0;

/// Numbers that look random, and are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1, and never either.
    fn part(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -self.part().ln() * mean
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }
}

/// What of a time is compared: its bits, which are in the order of the times.
fn key(seconds: f64) -> u64 {
    seconds.to_bits()
}

/// How long requests wait, sorted, in seconds.
fn waits(engines: usize, places: usize, service: f64, rate: f64) -> Vec<f64> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // When each place of each engine is free.
    let free = || (0..places).map(|_| Reverse(key(0.0))).collect::<BinaryHeap<_>>();
    let mut free: Vec<BinaryHeap<Reverse<u64>>> = (0..engines).map(|_| free()).collect();
    let (mut now, mut waits) = (0.0, Vec::with_capacity(REQUESTS));
    for request in 0..2 * REQUESTS {
        now += random.exponential(1.0 / rate);
        let engine = random.below(engines);
        let Some(places) = free.get_mut(engine) else { continue };
        let Reverse(at) = places.pop().unwrap_or(Reverse(0));
        let begins = f64::from_bits(at).max(now);
        places.push(Reverse(key(begins + random.exponential(service))));
        if request >= REQUESTS {
            waits.push(begins - now);
        }
    }
    waits.sort_by(f64::total_cmp);
    waits
}

fn quantile(sorted: &[f64], thousandth: usize) -> f64 {
    let index = (sorted.len() * thousandth / 1_000).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default() * 1_000.0
}

/// What is asked, in numbers; each has a default and a most.
struct Question {
    agents: f64,
    service: f64,
    places: f64,
    each: f64,
}

impl Question {
    fn read(arguments: &[String]) -> Result<Self, String> {
        if arguments.len() > 4 {
            return Err(format!("expected at most 4 numbers, found {}", arguments.len()));
        }
        let number = |index: usize, name: &str, default: f64, most: f64| {
            let Some(text) = arguments.get(index) else { return Ok(default) };
            match text.parse::<f64>() {
                Ok(number) if number > 0.0 && number <= most => Ok(number),
                _ => Err(format!(
                    "expected {name}, a number above 0 and up to {most}, found `{text}`"
                )),
            }
        };
        let places = number(2, "PLACES", 8.0, 1e4)?;
        if places.fract() != 0.0 {
            return Err(format!("expected PLACES, a whole number, found `{places}`"));
        }
        let question = Self {
            agents: number(0, "AGENTS", 10_000.0, 1e8)?,
            service: number(1, "SERVICE_MS", 15.14, 1e6)? / 1_000.0,
            places,
            each: number(3, "PER_AGENT", 0.1, 1e4)?,
        };
        match question.needs() <= MAX_ENGINES {
            true => Ok(question),
            false => Err(format!("they need more than {MAX_ENGINES} engines")),
        }
    }

    fn rate(&self) -> f64 {
        self.agents * self.each
    }

    /// How many requests one engine can serve in a second.
    fn capacity(&self) -> f64 {
        self.places / self.service
    }

    /// How many engines have nothing else to do.
    fn needs(&self) -> f64 {
        self.rate() / self.capacity()
    }

    fn answer(&self) {
        let (rate, capacity) = (self.rate(), self.capacity());
        println!(
            "{} agents make {rate:.0} requests a second; one engine can serve {capacity:.0}",
            self.agents
        );
        println!(
            "\n| engines | load | p50 ms | p99 ms | p99.9 ms |\n| --- | --- | --- | --- | --- |"
        );
        let mut engines: Vec<usize> =
            LOADS.iter().map(|load| (self.needs() / load).ceil().max(1.0) as usize).collect();
        // One more than is needed, so that one may fail.
        engines.extend(engines.first().map(|least| least + 1));
        engines.sort_unstable();
        engines.dedup();
        for engines in engines {
            let sorted = waits(engines, self.places as usize, self.service, rate);
            println!(
                "| {engines} | {:.2} | {:.1} | {:.1} | {:.1} |",
                self.needs() / engines as f64,
                quantile(&sorted, 500),
                quantile(&sorted, 990),
                quantile(&sorted, 999)
            );
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: simulate [AGENTS] [SERVICE_MS] [PLACES] [PER_AGENT]";
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{usage}");
        return ExitCode::SUCCESS;
    }
    match Question::read(&arguments) {
        Ok(question) => {
            question.answer();
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}\n{usage}");
            ExitCode::from(64)
        }
    }
}
