// Puts the service definitions of the repository beside the built code, for `transport: "grpc"`.

import {copyFileSync, mkdirSync} from "node:fs";

const from = new URL("../../../proto/", import.meta.url);
const to = new URL("../dist/proto/", import.meta.url);
mkdirSync(to, {recursive: true});
for (const file of ["hooks.proto", "hook_bus.proto"]) {
  copyFileSync(new URL(file, from), new URL(file, to));
}
