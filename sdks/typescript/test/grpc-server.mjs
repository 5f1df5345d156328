// A gRPC server for tests: the services of proto/, with what a test says behind them.

import {fileURLToPath} from "node:url";

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

import {Queue} from "./server.mjs";

const files = ["hooks.proto", "hook_bus.proto"].map((name) => fileURLToPath(new URL(`../dist/proto/${name}`, import.meta.url)));
const definition = grpc.loadPackageDefinition(loader.loadSync(files, {keepCase: true, longs: Number, enums: String, defaults: false}));

export class GrpcServer {
  /** What is called: `{method, request, metadata, cancelled}`. */
  called = new Queue();
  /** Streams of HookStream: `{metadata, said, stream}`. */
  streams = new Queue();
  follows = new Queue();
  hooks = new Map();
  /** Gives an error, or nothing, for a call. */
  refuses = () => undefined;
  answer = (request) => ({type: "hook-execution-response", correlationId: request.correlationId, success: true, processed: {decision: "ask"}});
  #server = new grpc.Server();
  #open = new Set();

  static async start(address = "127.0.0.1:0") {
    const server = new GrpcServer();
    server.#server.addService(definition.HookService.service, {
      RegisterHook: server.#unary("RegisterHook", (request) => {
        server.hooks.set(request.hook_id, request);
        return {hook_id: request.hook_id};
      }),
      UnregisterHook: server.#unary("UnregisterHook", ({hook_id}) => ({removed: server.hooks.delete(hook_id)})),
      ListHooks: server.#unary("ListHooks", () => ({hooks: [...server.hooks.values()].map((hook) => ({...hook, own: true}))})),
      HookStream: (stream) => {
        const refused = server.refuses("HookStream", {});
        if (refused) return stream.emit("error", {code: refused[0], details: refused[1]});
        const metadata = new grpc.Metadata();
        metadata.set("hook-client-token", "the-token");
        stream.sendMetadata(metadata);
        const said = new Queue();
        stream.on("data", (message) => said.push(message));
        stream.on("error", () => {});
        stream.on("end", () => stream.end());
        server.#open.add(stream);
        server.streams.push({metadata: stream.metadata.getMap(), said, stream});
      },
    });
    server.#server.addService(definition.hook.v1.HookBus.service, {
      Request: server.#unary("Request", async ({json}) => ({json: Buffer.from(JSON.stringify(await server.answer(JSON.parse(json))))})),
      Follow: (stream) => {
        stream.on("error", () => {});
        server.#open.add(stream);
        server.follows.push(stream);
      },
    });
    const port = await new Promise((resolve, reject) => {
      server.#server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port)));
    });
    server.address = `127.0.0.1:${port}`;
    return server;
  }

  #unary(method, answer) {
    return (call, reply) => {
      const cancelled = new Promise((resolve) => call.on("cancelled", resolve));
      this.called.push({method, request: call.request, metadata: call.metadata.getMap(), cancelled});
      const refused = this.refuses(method, call.request);
      if (refused) reply({code: refused[0], details: refused[1]});
      else Promise.resolve(answer(call.request)).then((answered) => reply(null, answered));
    };
  }

  close() {
    this.#server.forceShutdown();
  }
}
