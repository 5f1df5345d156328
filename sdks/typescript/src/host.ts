/** What a client offers to the hooks of its own requests: questions to its user, tools to run. */

import {AsyncLocalStorage} from "node:async_hooks";

import {HookError, textOf} from "./errors.js";
import {prepare} from "./json.js";
import type {Prepared} from "./json.js";
import {isObject} from "./messages.js";
import type {IncomingMessage} from "./messages.js";

/**
 * One service. What it returns is the result, nothing is `null`; what it throws is an error to the hook, with
 * the code of a HookError, else `failed`.
 */
export type HostService = (params: Record<string, unknown>, asked: HostAsked) => unknown;

/** Who asks. */
export interface HostAsked {
  /** The request of this client that the hook was called for. */
  correlationId: string;
  /** The hook. */
  hookId: string;
}

/** Services by method, such as `ui.confirm`. */
export type HostServices = Record<string, HostService>;

/** The token by which the server knows that a request comes from inside of a hook. */
const runToken = new AsyncLocalStorage<string | undefined>();

/** That of the service in which this code runs; else that of the program, which may be a hook itself. */
export function currentRunToken(): string | undefined {
  return runToken.getStore() ?? (process.env["HOOK_RUN_TOKEN"] || undefined);
}

/** Answers a hook-host-call: exactly one message, which is always one that can be sent. */
export async function answerHostCall(services: HostServices, call: IncomingMessage): Promise<Prepared> {
  const {hostCallId, method, params} = call;
  const answer = (fields: object) => prepare({type: "hook-host-result", hostCallId, ...fields});
  const service = typeof method === "string" && Object.hasOwn(services, method) ? services[method] : undefined;
  if (!service) {
    return answer({error: {code: "unsupported", message: String(method).slice(0, 100)}});
  }
  try {
    const asked = {correlationId: String(call["correlationId"] ?? ""), hookId: String(call["hookId"] ?? "")};
    const token = typeof call["runToken"] === "string" ? call["runToken"] : undefined;
    const result = await runToken.run(token, async () => service(isObject(params) ? params : {}, asked));
    return answer({result: result ?? null});
  } catch (thrown) {
    const code = thrown instanceof HookError ? thrown.code : "failed";
    return answer({error: {code, message: textOf(thrown).slice(0, 16_384)}});
  }
}
