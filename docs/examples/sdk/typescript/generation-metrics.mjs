#!/usr/bin/env node
// Sends the usage of each model call to a metrics service, without holding up the agent.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();
const URL = process.env.METRICS_URL ?? "https://metrics.example.com/log";

client.registerHook("GenerateEnd", {
  config: {async: true},
  handler: async (event) => {
    await fetch(URL, {
      method: "POST",
      body: JSON.stringify({session: event.sessionId, usage: event.response.usage}),
    });
    return {action: "continue"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
