//! How many engines a fleet needs: a simulation of agents that ask engines through a queue group.
//!
//! `cargo run --release -p hook-remote --example simulate [AGENTS] [SERVICE_MS] [PLACES] [PER_AGENT]`
//!
//! 10,000 agents by default, each of which makes a tool call every 10 seconds on average (`PER_AGENT` a
//! second), whose hooks take 4.5 milliseconds (`SERVICE_MS`) in one of 8 places (`PLACES`) that an engine has
//! for processes. Requests come as they please (exponential times between them), and hooks take longer or
//! shorter (exponential, too). The broker gives each request to any engine, as a queue group does; there it
//! waits for a place. What is shown is how long it waits there.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many requests are looked at for each row, behind as many that only fill the queues.
const REQUESTS: usize = 200_000;

/// The loads of the table, in parts of what the engines can do.
const LOADS: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

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

fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default() * 1_000.0
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: f64| match arguments.next().map(|text| text.parse::<f64>()) {
        Some(Ok(number)) if number > 0.0 && number < 1e9 => number,
        _ => default,
    };
    let (agents, service) = (number(10_000.0), number(4.5) / 1_000.0);
    let (places, each) = (number(8.0), number(0.1));
    let rate = agents * each;
    let capacity = places / service;
    println!(
        "{agents} agents make {rate:.0} requests a second; one engine can serve {capacity:.0}"
    );
    println!("\n| load | engines | p50 ms | p99 ms | p99.9 ms |\n| --- | --- | --- | --- | --- |");
    for load in LOADS {
        let (engines, places) =
            ((rate / capacity / load).ceil().max(1.0) as usize, places as usize);
        let real = load * capacity * engines as f64;
        let sorted = waits(engines, places, service, real);
        let index = (sorted.len() * 999 / 1_000).min(sorted.len() - 1);
        let most = sorted.get(index).copied().unwrap_or_default() * 1_000.0;
        println!(
            "| {load:.2} | {engines} | {:.1} | {:.1} | {most:.1} |",
            quantile(&sorted, 50),
            quantile(&sorted, 99)
        );
    }
}
