/** A fleet of engines behind a NATS broker: it is asked, and takes no handlers. */

import {readFileSync, statSync} from "node:fs";
import {isIP} from "node:net";
import {checkServerIdentity, rootCertificates} from "node:tls";
import type {ConnectionOptions} from "node:tls";

import type {TlsOptions} from "nats";

import {HookConnectionError, HookError, textOf} from "../errors.js";
import type {Connect} from "./link.js";
import type {BrokerServer} from "./nats-connection.js";
import {NatsLink} from "./nats-link.js";
import type {NatsParts} from "./nats-link.js";

/** How long a file of credentials may be. */
const MAX_CREDENTIALS = 64 * 1024;

/** Where a fleet is, and what it means that none of its engines answers. */
export interface NatsOptions {
  /** `tls://HOST:PORT`, or `nats://` on this machine; several with commas between. */
  url: string;
  /** Who one is there: a file of mode 600 with NATS credentials, or with the seed of an NKey. */
  credentials?: string;
  /** A file with certificates, in PEM, that are believed beside those that the system believes. */
  certificateAuthority?: string;
  /** What the fleet's subjects begin with; `hooks` without it. */
  subject?: string;
  /** What it means that no engine answered; `block` without it: an unreachable fleet never approves a request. */
  failBehavior?: "block" | "continue";
  /** How long a request may take that does not say it itself, in milliseconds; 60000 without it. */
  deadlineMs?: number;
  /** How long a request waits for a connection to the broker, in milliseconds; 5000 without it. */
  connectTimeoutMs?: number;
  /** The `settingsHash` of the engines that may answer; no other does. */
  expectSettings?: string;
  /** Talk in plain text to a broker that is not on this machine. For tests. */
  insecure?: boolean;
}

/**
 * Asks a fleet. The package `nats` is loaded at the first connection.
 *
 * @throws HookError `invalid_option`.
 */
export function overNats(options: NatsOptions | undefined): Connect {
  if (!options) throw new HookError("invalid_option", 'with `transport: "nats"`, `nats.url` says where the broker is');
  const servers = options.url.split(",").map((server) => checked(server.trim(), options.insecure === true));
  const {subject = "hooks", failBehavior = "block", deadlineMs = 60_000, connectTimeoutMs = 5_000, expectSettings} = options;
  if (!subject.split(".").every(isToken)) {
    throw new HookError("invalid_option", `\`nats.subject\` is words with dots between, not ${JSON.stringify(subject)}`);
  }
  if (failBehavior !== "block" && failBehavior !== "continue") {
    throw new HookError("invalid_option", '`nats.failBehavior` is "block" or "continue"');
  }
  if (expectSettings !== undefined && !/^[0-9a-f]{64}$/.test(expectSettings)) {
    throw new HookError("invalid_option", "`nats.expectSettings` is the 64 hexadecimal digits of a `settingsHash`");
  }
  return async (listener) => {
    let nats: typeof import("nats");
    try {
      nats = await import("nats");
    } catch (error) {
      throw new HookError("missing_dependency", `a fleet needs a package (install nats): ${textOf(error)}`, {cause: error});
    }
    const ca = authorities(options.certificateAuthority);
    const named = servers.map((url): BrokerServer => ({url, options: url.startsWith("tls://") ? {tls: trust(url, ca)} : {}}));
    const parts: NatsParts = {
      nats, servers: named, inbox: `${subject}.reply._`, url: servers.join(","), subject, failBehavior, deadlineMs,
      connectTimeoutMs, expectSettings, listener,
    };
    if (options.credentials !== undefined) {
      const text = secret(options.credentials);
      const seed = /^\s*(SU\w+)\s*$/m.exec(text)?.[1];
      if (seed === undefined) {
        throw new HookConnectionError("no_server", `${options.credentials} holds no credentials of a user`);
      }
      const bytes = new TextEncoder().encode(seed);
      // No client reads another's replies, where the broker is set up so.
      parts.inbox = `${subject}.reply.${nats.nkeys.fromSeed(bytes).getPublicKey()}`;
      const authenticator = text.includes("-----BEGIN NATS USER JWT-----")
        ? nats.credsAuthenticator(new TextEncoder().encode(text))
        : nats.nkeyAuthenticator(bytes);
      parts.servers = named.map((server) => ({...server, options: {...server.options, authenticator}}));
    }
    return new NatsLink(parts);
  };
}

/** Whether something can stand between two dots of a subject, and means nothing else. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text);
}

function checked(server: string, insecure: boolean): string {
  const text = server.includes("://") ? server : `nats://${server}`;
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Said below.
  }
  if (!url || (url.protocol !== "nats:" && url.protocol !== "tls:") || !url.hostname) {
    throw new HookError("invalid_option", "a broker is tls://HOST:PORT or nats://HOST:PORT");
  }
  if (url.username || url.password) {
    throw new HookError("invalid_option", "a broker's URL has no name or password; use `nats.credentials`");
  }
  if (url.protocol === "nats:" && !insecure && !isLoopback(url.hostname)) {
    const what = `what is said to ${text} can be read on the way`;
    throw new HookError("invalid_option", `${what}; name tls://, or, for a test, \`insecure: true\``);
  }
  return text;
}

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (isIP(address) === 4) return address.startsWith("127.");
  return address === "::1" || address === "localhost";
}

/** What a server's certificate is held to: the library would take one for `localhost` from any address. */
function trust(url: string, ca: string | undefined): TlsOptions {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const options: TlsOptions & Pick<ConnectionOptions, "checkServerIdentity"> = {
    ca, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  };
  return options;
}

/** Whose certificates are believed; nothing where that is as node has it. */
function authorities(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return [...rootCertificates, readFileSync(file, "utf8")].join("\n");
  } catch (error) {
    throw new HookConnectionError("no_server", `the certificates in ${file} cannot be used: ${textOf(error)}`, {cause: error});
  }
}

function secret(file: string): string {
  try {
    const {mode, size} = statSync(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) throw new Error(`others can read it; say \`chmod 600 ${file}\``);
    if (size > MAX_CREDENTIALS) throw new Error("it is too long");
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new HookConnectionError("no_server", `the credentials in ${file} cannot be used: ${textOf(error)}`, {cause: error});
  }
}
