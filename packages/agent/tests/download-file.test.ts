import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { downloadFile, fileDownloader, refusalIn } from "../src/download-file.ts";

let requests = 0;
const server = createServer((_, response) => {
  requests++;
  response.end("secret");
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

test.each([
  "127.0.0.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "localhost",
  // A name like any other, that the resolver answers with an address of this machine.
  hostname(),
])("a file at %s is refused before anything is asked there", async (host) => {
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://${host}:${port}/photo.png`);
  await expect(downloadFile([{ url, isUrlSupportedByModel: false }])).rejects.toThrow();
  expect(requests).toBe(0);
});

test("a file at a host that a network policy does not allow is refused with the policy's reason", async () => {
  const download = fileDownloader(AbortSignal.timeout(10_000), [
    { of: "account", mode: "allowlist", hosts: ["files.test"] },
  ]);
  const error: unknown = await download(new URL("https://evil.example/photo.png")).catch(
    (reason: unknown) => reason,
  );
  expect(refusalIn(error)).toBe(
    "The host evil.example is not allowed by the network policy of the account (network.hosts). Ask the user to add the host there.",
  );
});
