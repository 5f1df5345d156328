// The guard of all agents here: it reads an event on standard input, and prints its answer.

import {text} from "node:stream/consumers";

const event = JSON.parse(await text(process.stdin));
const hidden = (said) => said.replace(/\d{4,}/g, (digits) => "*".repeat(digits.length));

function answer() {
  switch (event.hook_event_name) {
    case "BeforeTool":
      if (event.tool_name === "delete_file") return {decision: "block", reason: "files are not deleted here"};
      if (event.tool_name === "send_mail") return {decision: "ask", reason: `a mail to ${event.tool_input.to}`};
      return {hookSpecificOutput: {tool_input: {path: `drafts/${event.tool_input.path}`}}};
    case "AfterTool":
      return {hookSpecificOutput: {additionalContext: "Tell the user about each file."}};
    case "BeforeModel": {
      const messages = event.llm_request.messages.map((it) => ({...it, content: hidden(it.content)}));
      return {hookSpecificOutput: {llm_request: {messages}}};
    }
    case "AfterModel": {
      const candidates = event.llm_response.candidates.map(({content}) => ({content: {role: "model", parts: content.parts.map(hidden)}}));
      return {hookSpecificOutput: {llm_response: {candidates}}};
    }
    case "AfterAgent":
      return event.stop_hook_active ? {} : {decision: "block", reason: "Say which files there are now."};
  }
}

console.log(JSON.stringify(answer()));
