// The types of Mastra's configurations pass through `withHooks`: compiled by mastra.test.mjs, never run.

import {Agent} from "@mastra/core/agent";
import {HookClient} from "hook-sdk";
import {withHooks} from "hook-sdk/mastra";

const client = new HookClient();
const hooks = {beforeToolCall: ({toolName}: {toolName: string}) => console.log(toolName)};
export const plain = new Agent(withHooks(client, {id: "a", name: "a", instructions: "x", model: "openai/gpt-5-mini"}));
export const full = new Agent(withHooks(client, {id: "a", name: "a", instructions: "x", model: "openai/gpt-5-mini", inputProcessors: async () => [], hooks}));
// @ts-expect-error there is no such field
export const misspelt = new Agent(withHooks(client, {id: "a", name: "a", instructionz: "x", model: "openai/gpt-5-mini"}));
