/**
 * Preloaded into a server by `NODE_OPTIONS`: tells a test how long the server's event loop stood
 * still, over a socket that only this machine's user can reach. The product knows nothing of it.
 */
import { createServer } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";

const folder = process.env.STALL_FOLDER;
if (folder !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  histogram.enable();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(String(histogram.max / 1e6));
    histogram.reset();
  });
  server.on("error", () => {});
  server.listen(join(folder, `${process.pid}.sock`)).unref();
}
