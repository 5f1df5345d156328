#!/usr/bin/env node
// An agent of LangChain.

import {createInterface} from "node:readline/promises";

import {AIMessage, HumanMessage} from "@langchain/core/messages";
import {HookClient} from "hook-sdk";
import {hookMiddleware} from "hook-sdk/langchain";
import {FakeToolCallingModel, createAgent, tool} from "langchain";

import {PROMPT, TOOLS, nextStep} from "./script.mjs";

// The library's hello world: a model (here a scripted one) and tools.
class ScriptedModel extends FakeToolCallingModel {
  /** @override @param {import("@langchain/core/messages").BaseMessage[]} messages */
  async _generate(messages) {
    const step = nextStep(messages);
    const calls = "calls" in step ? step.calls.map(([name, args], index) => ({id: `call-${index}`, name, args})) : [];
    const message = new AIMessage({content: "text" in step ? step.text : "", tool_calls: calls});
    return {generations: [{text: message.text, message}]};
  }

  /** @override */
  bindTools() {
    return this;
  }
}
const tools = Object.entries(TOOLS).map(([name, run]) => tool(run, {name, description: name, schema: {type: "object", properties: {}}}));

// The hooks.
const terminal = createInterface({input: process.stdin, output: process.stdout});
const client = new HookClient({approve: async ({subject, reason}) => (await terminal.question(`${subject}: ${reason}? [y/N] `)) === "y"});
const agent = createAgent({model: new ScriptedModel({}), tools, middleware: [hookMiddleware(client)]});
const {messages} = await agent.invoke({messages: [new HumanMessage(PROMPT)]});
for (const message of messages) {
  if (message.getType() === "tool") console.log(`${message.name}: ${message.text}`);
  else if (message.getType() === "ai" && message.text !== "") console.log(message.text);
}
await client.close();
terminal.close();
