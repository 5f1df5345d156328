/** Hooks around every `tools/call` of an MCP session, whatever part of the program makes it: `hook-sdk/mcp`. */

import {isDeepStrictEqual} from "node:util";

import type {Transport, TransportSendOptions} from "@modelcontextprotocol/sdk/shared/transport.js";
import type {JSONRPCMessage, JSONRPCRequest, RequestId} from "@modelcontextprotocol/sdk/types.js";

import {textOf} from "../errors.js";
import {snapshot} from "../json.js";
import {isObject} from "../messages.js";
import type {Scope} from "../triggers/scope.js";
import {runTool} from "../triggers/tool.js";
import type {ToolResult} from "../triggers/tool.js";
import {HookRefusal, Run, textOfContent} from "./shared.js";
import type {IntegrationOptions} from "./shared.js";

export {HookRefusal};

/** The server of a session, as hooks see it. */
export interface McpOptions extends IntegrationOptions {
  server_name: string;
  server_uri?: string;
}

/** The code of JSON-RPC. */
const INVALID_REQUEST = -32600;

/** What the client is told that wants a tool's result as a task's. */
const NO_TASKS = "hooks would not see the result of a task: call the tool without one";

/**
 * A transport with hooks around the calls of tools: `await client.connect(hookTransport(hooks, transport, {server_name: "github"}))`.
 * A refused call is answered with the reason, as a tool's error; where hooks have had the agent stop, `_meta["hook/stopped"]` has it.
 * Tasks are refused with an error of the protocol's, also results of those that are there.
 */
export function hookTransport(scope: Scope, transport: Transport, options: McpOptions): Transport {
  return new HookTransport(Run.ofItsOwn(scope, options, "@modelcontextprotocol/sdk", [1]), transport, options);
}

type Response = JSONRPCMessage & {id: RequestId; result?: Record<string, unknown>; error?: {code: number; message: string; data?: unknown}};

class HookTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #run: Run;
  readonly #inner: Transport;
  readonly #server: {server_name: string; server_uri?: string};
  /** The client's calls that have no answer yet. */
  readonly #calls = new Map<RequestId, AbortController>();
  /** The requests to the server for them. */
  readonly #sent = new Map<RequestId, (response: Response) => void>();
  /** The client's requests for lists of tools, and the schemas of those. */
  readonly #lists = new Set<RequestId>();
  readonly #schemas = new Map<unknown, Record<string, unknown>>();
  #next = 1;

  constructor(run: Run, inner: Transport, {server_name, server_uri}: McpOptions) {
    this.#run = run;
    this.#inner = inner;
    this.#server = {server_name, ...(server_uri !== undefined && {server_uri})};
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => {
      this.#abortAll("the connection to the MCP server is closed");
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message, extra) => {
      const response = "id" in message && !("method" in message) ? this.#sent.get(message.id as RequestId) : undefined;
      if (response) return response(message as Response);
      if ("result" in message && this.#lists.delete(message.id)) this.#learn(message.result);
      this.onmessage?.(message, extra);
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ("method" in message && "id" in message && (message.method === "tasks/result" || (message.method === "tools/call" && message.params?.["task"] !== undefined))) {
      return this.onmessage?.({jsonrpc: "2.0", id: message.id, error: {code: INVALID_REQUEST, message: NO_TASKS}});
    }
    if ("method" in message && "id" in message && message.method === "tools/call") return void this.#call(message as JSONRPCRequest, options);
    if ("method" in message && message.method === "notifications/cancelled") {
      const call = this.#calls.get((message.params as {requestId: RequestId}).requestId);
      if (call) return call.abort(new Error("the client has cancelled the call"));
    }
    if ("method" in message && "id" in message && message.method === "tools/list") this.#lists.add(message.id);
    await this.#inner.send(message, options);
  }

  async close(): Promise<void> {
    this.#abortAll("the client is closed");
    await this.#inner.close();
  }

  #abortAll(why: string): void {
    for (const call of this.#calls.values()) call.abort(new Error(why));
  }

  /** Calls a tool with its hooks, and gives the client the answer. */
  async #call(request: JSONRPCRequest, options: TransportSendOptions | undefined): Promise<void> {
    const {id, params = {}} = request;
    const abort = new AbortController();
    this.#calls.set(id, abort);
    let last: Response | undefined;
    let message: object;
    try {
      const {name, arguments: given} = params as {name?: unknown; arguments?: Record<string, unknown>};
      const call = {tool_name: String(name), tool_input: given ?? {}, tool_call_id: String(id), mcp_context: this.#server};
      const outcome = await runTool(this.#run.scope, call, async (input, {signal}) => {
        last = undefined;
        this.#run.reportLost(call.tool_name, call.tool_input, input, this.#named(name, input));
        const {copy: response} = snapshot(await this.#ask({...request, params: {...params, arguments: input}}, options, signal));
        last = response;
        if (response.error) throw new Error(errorText(response.error));
        const {result = {}} = response;
        return {value: result, result: toToolResult(result)};
      }, {signal: abort.signal});
      if (outcome.outcome === "ran" && last && ("value" in outcome || "thrown" in outcome)) {
        this.#run.tell(outcome);
        const {id: _, ...answer} = last;
        message = answer;
      } else {
        const taken = this.#run.take(outcome);
        message = {result: toResult("result" in taken ? taken.result : toToolResult(taken.value), last?.result)};
      }
    } catch (error) {
      if (abort.signal.aborted) return void this.#calls.delete(id); // The client has given it up.
      const stopped = error instanceof HookRefusal && error.code === "stopped" && {_meta: {"hook/stopped": error.message}};
      message = {result: {...stopped, content: [{type: "text", text: textOf(error)}], isError: true}};
    }
    this.#calls.delete(id);
    this.onmessage?.({jsonrpc: "2.0", ...message, id} as JSONRPCMessage);
  }

  /** Keeps what a list of tools says. */
  #learn({tools}: Record<string, unknown>): void {
    if (!Array.isArray(tools)) return;
    for (const {name, inputSchema} of tools.filter(isObject)) if (isObject(inputSchema)) this.#schemas.set(name, inputSchema);
  }

  /** Returns the arguments that a tool's schema names, if it allows no others: servers drop those, and do not say so. */
  #named(tool: unknown, input: Record<string, unknown>): unknown {
    const {properties, additionalProperties = false, patternProperties} = this.#schemas.get(tool) ?? {};
    if (!isObject(properties) || additionalProperties !== false || patternProperties !== undefined) return undefined;
    return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(properties, name)));
  }

  /** Sends a request by an id of its own, since hooks may have it sent again. */
  async #ask(request: JSONRPCRequest, options: TransportSendOptions | undefined, signal: AbortSignal): Promise<Response> {
    const id = `hook-${this.#next++}`;
    let aborted = () => {};
    try {
      return await new Promise<Response>((resolve, reject) => {
        aborted = () => {
          const params = {requestId: id, reason: textOf(signal.reason)};
          this.#inner.send({jsonrpc: "2.0", method: "notifications/cancelled", params}).catch(() => {});
          reject(signal.reason);
        };
        signal.addEventListener("abort", aborted);
        if (signal.aborted) return aborted();
        this.#sent.set(id, resolve);
        this.#inner.send({...request, id}, options).catch(reject);
      });
    } finally {
      signal.removeEventListener("abort", aborted);
      this.#sent.delete(id);
    }
  }
}

function errorText({message, data}: {message: string; data?: unknown}): string {
  return data === undefined ? message : `${message} ${snapshot(data).text}`;
}

/** A tool's result, as hooks see it. */
function toToolResult({content, isError, ...metadata}: Record<string, unknown>): ToolResult {
  const llmContent = Array.isArray(content) ? content : [];
  return {
    llmContent,
    ...(isError === true && {error: textOfContent(llmContent)}),
    ...(Object.keys(metadata).length > 0 && {metadata}),
  };
}

/** The result that hooks left. What a server sends beside its content, which may repeat that, stays beside all of it, or if hooks have changed it. */
function toResult({llmContent, error, metadata}: ToolResult, original: Record<string, unknown> = {}): object {
  const content = (typeof llmContent === "string" ? [llmContent] : llmContent).map((part) => (
    isObject(part) && typeof part["type"] === "string" ? part : {type: "text", text: typeof part === "string" ? part : JSON.stringify(part)}
  ));
  const before = toToolResult(original);
  const {length} = before.llmContent;
  const isKept = (length > 0 && isDeepStrictEqual(content.slice(0, length), before.llmContent)) || !isDeepStrictEqual(metadata, before.metadata);
  return {...(isKept && metadata), content, isError: error !== undefined};
}
