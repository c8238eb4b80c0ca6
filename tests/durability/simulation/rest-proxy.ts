/** A proxy in front of the database's REST interface. */
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { Line } from "./faults.ts";
import type { FaultProxy } from "./postgres-proxy.ts";

export async function startRestProxy(restUrl: string, line: Line): Promise<FaultProxy> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const end = () => void incoming.socket.destroy();
    if (line.isPartitioned || !(await line.pass(`${method} ${url}`, "before"))) return end();
    const onward = httpRequest(restUrl, { method, path: url, headers });
    onward.on("error", end);
    onward.on("response", async (answer) => {
      if (!(await line.pass(`${method} ${url}`, "after"))) return end();
      answer.on("error", end);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const forget = line.onPartition(() => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        forget();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
