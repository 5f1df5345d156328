#!/usr/bin/env node
// Registers a hook, lists all there are, and takes it back.

import {HookClient, HookRegistrationError} from "hook-sdk";

const client = new HookClient();
try {
  const hookId = client.registerHook("BeforeTool", () => {});
  await client.ready(hookId);
  for (const {hookId, eventName, own} of await client.listHooks()) {
    console.log(hookId, eventName, own ? "mine" : "another client's");
  }
  console.log("taken back:", await client.unregisterHook(hookId));
  console.log("still there:", (await client.listHooks()).filter(({own}) => own).length);
} catch (error) {
  if (!(error instanceof HookRegistrationError)) throw error;
  console.log(`refused: ${error.message}`);
} finally {
  await client.close();
}
