import { resolve } from "node:path";
import { projectRoot } from "./project-root.ts";

/** Returns the folder with the data of the embedded parts. */
export const dataDirOf = (env: NodeJS.ProcessEnv): string =>
  resolve(projectRoot, env.DATA_DIR || ".data");
