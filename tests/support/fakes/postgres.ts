/** A server of PostgreSQL's protocol that refuses with one error: the connection, or each prepared statement. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface Refusal {
  readonly at: "connect" | "request";
  readonly severity: "ERROR" | "FATAL";
  readonly code: string;
  readonly message: string;
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const text = (...parts: string[]) => Buffer.from(parts.map((part) => `${part}\0`).join(""));
const READY = message("Z", Buffer.from("I"));
const AUTHENTICATED = message("R", Buffer.alloc(4));

const errorOf = ({ severity, code, message: words }: Refusal): Buffer => {
  const fields = text(`S${severity}`, `V${severity}`, `C${code}`, `M${words}`, "");
  return message("E", fields);
};

/** @returns its URL, the present refusal, and the statements that it was sent by themselves */
export async function startFakePostgres() {
  const state = { refusal: null as Refusal | null };
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    let hasStarted = false;
    const refuse = (refusal: Refusal) =>
      refusal.severity === "FATAL"
        ? socket.end(errorOf(refusal))
        : socket.write(Buffer.concat([errorOf(refusal), READY]));
    socket.on("data", (more: Buffer) => {
      bytes = Buffer.concat([bytes, more]);
      for (;;) {
        const at = hasStarted ? 1 : 0;
        if (bytes.length < at + 4 || bytes.length < at + bytes.readInt32BE(at)) return;
        const end = at + bytes.readInt32BE(at);
        const [type, body] = [String.fromCharCode(bytes[0] ?? 0), bytes.subarray(at + 4, end)];
        bytes = bytes.subarray(end);
        const { refusal } = state;
        if (!hasStarted) {
          hasStarted = true;
          if (refusal?.at === "connect") return void refuse({ ...refusal, severity: "FATAL" });
          socket.write(Buffer.concat([AUTHENTICATED, READY]));
        } else if (type === "Q") {
          statements.push(body.toString().replaceAll("\0", ""));
          socket.write(Buffer.concat([message("C", text("SET")), READY]));
        } else if (type === "S" && refusal) {
          refuse(refusal);
        }
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://user:password@127.0.0.1:${port}/postgres`,
    state,
    statements,
    async close() {
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
