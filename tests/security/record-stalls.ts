/**
 * Preloaded into a server by `NODE_OPTIONS`: reports to a test how long the server's event loop stood
 * still, over a socket that only this machine's user can reach. The product does not know about it.
 */
import { createServer } from "node:net";
import { join } from "node:path";
import { watchEventLoop } from "../support/harness/stall.ts";

const folder = process.env.STALL_FOLDER;
if (folder !== undefined) {
  const loop = watchEventLoop();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(String(loop.takeLongest()));
  });
  server.on("error", () => {});
  server.listen(join(folder, `${process.pid}.sock`)).unref();
}
