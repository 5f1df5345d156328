#!/usr/bin/env node
// Prints what happens to the hooks of a server: who decided what, and what was changed.

import {HookClient} from "hook-sdk";

const client = new HookClient();

client.setHookAuditLevel("verbose", ({kind, eventName, hook, reason, changes}) => {
  const said = [kind, eventName, hook, reason, changes && JSON.stringify(changes)];
  console.log(said.filter((text) => text !== undefined).join(" "));
});

await client.run(); // Until Ctrl-C or SIGTERM.
