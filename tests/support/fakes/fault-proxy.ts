/** A TCP proxy in front of a server, that cuts connections where a test wants them cut. */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

interface Cut {
  readonly frames: number;
  readonly inside: boolean;
  readonly once?: boolean;
}

export interface FaultProxy {
  readonly url: string;
  /** Connections that were accepted so far. */
  readonly connections: number;
  /**
   * New connections, or only the next one, die when the server has sent so many of a stream's frames
   * on them: after the last whole frame, or inside the frame after it. Null: none does.
   */
  cutAfterFrames(cut: Cut | null): void;
  /** Ends every connection now. */
  cutAll(): void;
  /** New connections end at once, until `open()`. */
  refuse(): void;
  open(): void;
  /** Where new connections lead from now on. */
  setTarget(port: number): void;
  close(): Promise<void>;
}

const FRAME = /id: \d+\ndata: [^\n]*\n\n/g;

export async function startFaultProxy(port: number): Promise<FaultProxy> {
  let target = port;
  let isRefusing = false;
  let rule: Cut | null = null;
  let connections = 0;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    connections++;
    if (isRefusing) {
      client.destroy();
      return;
    }
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
      if (cut === null) {
        client.write(bytes);
        return;
      }
      // Bytes as characters, so that places in the text are places in the bytes.
      const before = sent.length;
      sent += bytes.toString("latin1");
      const frames = [...sent.matchAll(FRAME)];
      const last = frames[cut.frames - 1];
      const place = last ? last.index + last[0].length + (cut.inside ? 8 : 0) : Infinity;
      if (sent.length < place) client.write(bytes);
      else client.end(bytes.subarray(0, Math.max(0, place - before)), end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cutAfterFrames: (cut) => {
      rule = cut;
    },
    cutAll,
    refuse: () => {
      isRefusing = true;
    },
    open: () => {
      isRefusing = false;
    },
    setTarget: (next) => {
      target = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  };
}
