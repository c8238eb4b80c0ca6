/**
 * Program: one function of a Vercel build, started in the folder of its files. It calls the compiled
 * module as Vercel's launcher does, and sends the port to its parent.
 */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { redirectFetch } from "./redirect-fetch.ts";

type Handler = (request: unknown, response: unknown, context: object) => Promise<void>;

const [entry = "", redirects = "{}"] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));

redirectFetch(redirects);

require("next/setup-node-env");
const { handler }: { handler: Handler } = await require(join(process.cwd(), entry));
const server = createServer((request, response) => {
  const waitUntil = (work: Promise<unknown>) => void work.catch(() => {});
  const initURL = `https://${request.headers.host}${request.url}`;
  const requestMeta = { minimalMode: true, relativeProjectDir: ".", initURL };
  handler(request, response, { waitUntil, requestMeta }).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.once("disconnect", () => process.exit());
