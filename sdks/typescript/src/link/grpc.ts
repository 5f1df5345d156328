/** A connection over gRPC: each message of ours is a call, or a message of the stream, of proto/*.proto. */

import {randomUUID} from "node:crypto";
import {readFileSync} from "node:fs";
import {isIP} from "node:net";
import {checkServerIdentity} from "node:tls";
import type {PeerCertificate as TlsCertificate} from "node:tls";
import {fileURLToPath} from "node:url";

import type {ChannelCredentials, ChannelOptions, VerifyOptions} from "@grpc/grpc-js";

import {HookConnectionError, HookError, textOf} from "../errors.js";
import {GrpcLink} from "./grpc-link.js";
import type {BusClient, HookClientStub} from "./grpc-messages.js";
import type {Connect} from "./link.js";

/** Where a gRPC server is. */
export interface GrpcOptions {
  /** `unix:PATH` or `HOST:PORT`, as `hook serve --grpc` was given it. */
  address?: string;
  /** The bearer token that a server on TCP wants, or the file that it wrote it to. */
  token?: string;
  tokenFile?: string;
  /** The certificates, in PEM, that the server's is checked by; with them the connection is encrypted. */
  rootCertificates?: string | Uint8Array;
}

/** Connects to a gRPC server. `@grpc/grpc-js` and `@grpc/proto-loader` are loaded at the first connection. */
export function overGrpc(options: GrpcOptions): Connect {
  const clientId = randomUUID();
  return async (listener, {clientToken, helloTimeoutMs, signal}) => {
    const {address} = options;
    if (!address) throw new HookError("no_address", 'with `transport: "grpc"`, `grpc.address` says where the server is');
    const {grpc, definition} = await loaded();
    const metadata = new grpc.Metadata();
    metadata.set("hook-client-id", clientId);
    const token = options.token ?? (options.tokenFile === undefined ? undefined : tokenIn(options.tokenFile));
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    const withToken = metadata.clone();
    if (clientToken !== undefined) withToken.set("hook-client-token", clientToken);
    const {rootCertificates} = options;
    const {verify, channel} = identity(address);
    const credentials = rootCertificates === undefined
      ? grpc.credentials.createInsecure()
      : grpc.credentials.createSsl(Buffer.from(rootCertificates), null, null, verify);
    const services = definition as unknown as Services;
    const hooks = new services.HookService(address, credentials, channel);
    const bus = new services.hook.v1.HookBus(address, credentials, channel);
    const link = new GrpcLink({hooks, bus, metadata, listener});
    return link.greeted(hooks.HookStream(withToken), helloTimeoutMs, signal);
  };
}

/** How a server's certificate is checked: one at an IP address by that, which is no name to be said to it (node warns then). */
function identity(address: string): {verify: VerifyOptions; channel: ChannelOptions} {
  const host = address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  if (isIP(host) === 0) return {verify: {}, channel: {}};
  return {
    verify: {checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate as TlsCertificate)},
    channel: {"grpc.ssl_target_name_override": "localhost"},
  };
}

interface Services {
  HookService: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => HookClientStub & {close(): void};
  hook: {v1: {HookBus: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => BusClient & {close(): void}}};
}

async function loaded(): Promise<{grpc: typeof import("@grpc/grpc-js"); definition: object}> {
  let grpc, loader;
  try {
    [grpc, loader] = await Promise.all([import("@grpc/grpc-js"), import("@grpc/proto-loader")]);
  } catch (error) {
    const how = "install @grpc/grpc-js and @grpc/proto-loader";
    throw new HookError("missing_dependency", `gRPC needs two packages (${how}): ${textOf(error)}`, {cause: error});
  }
  const files = ["hooks.proto", "hook_bus.proto"].map((name) => fileURLToPath(new URL(`../proto/${name}`, import.meta.url)));
  const packages = await loader.load(files, {keepCase: true, longs: Number, enums: String, defaults: false});
  return {grpc, definition: grpc.loadPackageDefinition(packages)};
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new HookConnectionError("no_server", `the server's token cannot be read: ${textOf(error)}`, {cause: error});
  }
}

