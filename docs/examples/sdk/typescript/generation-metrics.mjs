#!/usr/bin/env node
// Sends the usage of each model call to a metrics service, without holding up the agent.

import {HookClient} from "hook-sdk";

const client = new HookClient();
const URL = process.env.METRICS_URL ?? "https://metrics.example.com/log";

client.registerHook("AfterModel", {
  config: {async: true},
  handler: async (event) => {
    await fetch(URL, {
      method: "POST",
      body: JSON.stringify({session: event.session_id, usage: event.usage}),
    });
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
