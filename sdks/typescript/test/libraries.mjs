// Libraries that are too large to be installed for each run: HOOK_SDK_LIBRARIES names a folder where `.ci/sdk-libraries` has put them.

import {existsSync} from "node:fs";
import {register} from "node:module";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const FOLDER = process.env.HOOK_SDK_LIBRARIES;

/** The folder of a library; none where it is not installed, which is reported. */
export function folderOf(name) {
  const folder = FOLDER && join(FOLDER, "node_modules", name);
  if (folder && existsSync(folder)) return folder;
  console.error(`SKIPPED ${name}: HOOK_SDK_LIBRARIES does not name a folder where it is installed (.ci/sdk-libraries)`);
  return undefined;
}

/** Finds a library for every module of this process, also for those of the package. */
const LOADER = `let name, parentURL;
export const initialize = (given) => void ({name, parentURL} = given);
export const resolve = (specifier, context, next) => next(specifier, specifier.startsWith(name) ? {...context, parentURL} : context);`;

/** Gives a function that imports a module of a library; none where it is not installed, which is reported. */
export function library(name) {
  if (!folderOf(name)) return undefined;
  register(`data:text/javascript,${encodeURIComponent(LOADER)}`, {data: {name, parentURL: pathToFileURL(join(FOLDER, "index.js")).href}});
  return (module) => import(module);
}
