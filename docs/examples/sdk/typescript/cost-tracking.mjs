#!/usr/bin/env node
// Adds up tokens and costs, and warns above a threshold.

import {HookClient} from "hook-sdk";

const client = new HookClient();

/** @type {Record<string, number>} */
const DOLLARS_PER_MILLION = {large: 15.0, small: 0.5};
const THRESHOLD = 10.0;
const usage = {totalTokens: 0, totalCost: 0};

client.registerHook("AfterModel", async (event) => {
  const tokens = Number(event.usage?.total_tokens ?? 0);
  usage.totalTokens += tokens;
  usage.totalCost += (tokens / 1_000_000) * (DOLLARS_PER_MILLION[String(event.llm_request.model)] ?? 15.0);
  if (usage.totalCost > THRESHOLD) {
    console.warn(`Session cost exceeded $${THRESHOLD}: $${usage.totalCost.toFixed(2)} (${usage.totalTokens} tokens)`);
  }
});

await client.run(); // Until Ctrl-C or SIGTERM.
