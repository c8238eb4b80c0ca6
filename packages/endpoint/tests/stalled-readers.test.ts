import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import { dropStalledReaders } from "../src/server-hooks.ts";

dropStalledReaders(50);

const server = createServer((request, response) => {
  response.on("close", () => server.emit("ended", request.url, response.writableFinished));
  if (request.url === "/slow") {
    server.once("continue", () => response.end("late"));
    // Longer than a reader may stall.
    response.once("timeout", () => server.emit("continue"));
  } else {
    response.write(Buffer.alloc(64 * 1024 * 1024));
  }
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());

test("a client that reads nothing is disconnected", async () => {
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  socket.write("GET /large HTTP/1.1\r\nhost: a\r\n\r\n");
  expect(await once(server, "ended")).toEqual(["/large", false]);
  socket.destroy();
});

test("a client that waits for an answer is not", async () => {
  const response = await fetch(`http://127.0.0.1:${port}/slow`);
  expect(await response.text()).toBe("late");
});
