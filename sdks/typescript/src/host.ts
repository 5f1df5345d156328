/** What a client offers to the hooks of its own requests: questions to its user, tools to run. */

import {HookError, textOf} from "./errors.js";
import {prepare} from "./json.js";
import type {Prepared} from "./json.js";
import {isObject} from "./messages.js";
import type {IncomingMessage} from "./messages.js";

/**
 * One service. What it returns is the result, nothing is `null`; what it throws is an error to the hook, with
 * the code of a HookError, else `failed`.
 */
export type HostService = (params: Record<string, unknown>, asked: {correlationId: string}) => unknown;

/** Services by method, such as `ui.confirm`. */
export type HostServices = Record<string, HostService>;

/** Answers a hook-host-call: exactly one message, which is always one that can be sent. */
export async function answerHostCall(services: HostServices, call: IncomingMessage): Promise<Prepared> {
  const {hostCallId, correlationId, method, params} = call;
  const answer = (fields: object) => prepare({type: "hook-host-result", hostCallId, ...fields});
  const service = typeof method === "string" && Object.hasOwn(services, method) ? services[method] : undefined;
  if (!service) {
    return answer({error: {code: "unsupported", message: `this host has no ${String(method).slice(0, 100)}`}});
  }
  try {
    const result = await service(isObject(params) ? params : {}, {correlationId: String(correlationId ?? "")});
    return answer({result: result ?? null});
  } catch (thrown) {
    const code = thrown instanceof HookError ? thrown.code : "failed";
    return answer({error: {code, message: textOf(thrown).slice(0, 16_384)}});
  }
}
