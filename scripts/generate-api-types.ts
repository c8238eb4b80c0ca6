/**
 * Program: writes the types of the API, as its OpenAPI document tells them, for the client of the
 * tests. They are not in the repository: what a client would generate cannot be out of date then.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { generateTypes } from "api-types-generator";
import { describeApi } from "../lib/openapi/document.ts";
import { operations } from "../lib/openapi/registry.ts";

const file = resolve(import.meta.dirname, "..", "tests", "generated", "api.ts");

const source = await generateTypes(describeApi(operations, {}, undefined));
if (!existsSync(file) || readFileSync(file, "utf8") !== source) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}
