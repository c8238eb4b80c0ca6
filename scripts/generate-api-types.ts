/**
 * Program: generates the types of the client and of the tests' client from the OpenAPI document. They are
 * not committed and cannot be out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { generateTypes } from "api-types-generator";
import { describeService } from "../lib/openapi/document.ts";

const source = await generateTypes(describeService({}));
for (const folder of ["tests/generated", "packages/client/src/generated"]) {
  const file = resolve(import.meta.dirname, "..", folder, "api.ts");
  if (existsSync(file) && readFileSync(file, "utf8") === source) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}
