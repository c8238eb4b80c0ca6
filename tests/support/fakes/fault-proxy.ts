/** A TCP proxy in front of a server, which cuts connections where a test wants them cut. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

interface Cut {
  readonly frames: number;
  readonly inside: boolean;
  readonly once?: boolean;
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

const FRAME = /id: \d+\ndata: [^\n]*\n\n/g;

export async function startFaultProxy(port: number) {
  let target = port;
  let isRefusing = false;
  let rule: Cut | null = null;
  let connections = 0;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    connections++;
    if (isRefusing) return void client.destroy();
    const upstream = connect(target, "127.0.0.1");
    const cut = rule;
    if (cut?.once) rule = null;
    let sent = "";
    const end = () => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
      sockets.delete(upstream);
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => {
      if (cut === null) return void client.write(bytes);
      // Decoded as latin1: offsets in the text equal offsets in the bytes.
      const before = sent.length;
      sent += bytes.toString("latin1");
      const frames = [...sent.matchAll(FRAME)];
      const last = frames[cut.frames - 1];
      const place = last ? last.index + last[0].length + (cut.inside ? 8 : 0) : Infinity;
      if (sent.length < place) client.write(bytes);
      else client.end(bytes.subarray(0, Math.max(0, place - before)), end);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Connections that were accepted so far. */
    get connections() {
      return connections;
    },
    /**
     * New connections, or only the next one, die when the server has sent so many of a stream's
     * frames on them: after the last whole frame, or inside the frame after it. Null: none does.
     */
    cutAfterFrames(cut: Cut | null) {
      rule = cut;
    },
    /** Ends every connection now. */
    cutAll,
    /** Ends new connections at once, until `open()`. */
    refuse() {
      isRefusing = true;
    },
    open() {
      isRefusing = false;
    },
    /** Sets the port that new connections lead to. */
    setTarget(next: number) {
      target = next;
    },
    async close() {
      const closed = once(server.close(), "close");
      cutAll();
      await closed;
    },
  };
}
