/**
 * A proxy in front of PostgreSQL that parses message boundaries of its wire protocol, and knows
 * which statement a message executes (PostgreSQL documentation, "Message Formats").
 */
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import type { Line } from "./faults.ts";

export interface FaultProxy {
  readonly url: string;
  close(): Promise<void>;
}

interface Message {
  /** Empty for the first message of a client, which has no type. */
  readonly type: string;
  readonly bytes: Buffer;
}

export async function startPostgresProxy(databaseUrl: string, line: Line): Promise<FaultProxy> {
  const target = new URL(databaseUrl);
  // The messages of one statement are written one by one: each would wait for the other side's
  // acknowledgement of the one before it.
  const noDelay = true;
  const server = createServer({ noDelay }, (client) => {
    if (line.isPartitioned) return void client.destroy();
    relay(client, connect({ host: target.hostname, port: Number(target.port), noDelay }), line);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function relay(client: Socket, database: Socket, line: Line): void {
  const end = () => {
    client.destroy();
    database.destroy();
    forget();
  };
  const forget = line.onPartition(end);
  for (const socket of [client, database]) socket.on("error", end).on("close", end);

  /** The texts of prepared statements by their names. */
  const texts = new Map<string, string>();
  let executing: string | undefined;

  const toDatabase = async () => {
    for await (const message of messagesOf(client, true)) {
      const statement = statementOf(message, texts);
      if (statement !== undefined) {
        executing = statement;
        if (!(await line.pass(statement, "before"))) return end();
      }
      database.write(message.bytes);
    }
  };
  const toClient = async () => {
    let answer: Buffer[] = [];
    for await (const { type, bytes } of messagesOf(database, false)) {
      const isNotification = type === "A";
      if (isNotification && line.losesNotifications) continue;
      if (isNotification || executing === undefined) {
        client.write(bytes);
        continue;
      }
      answer.push(bytes);
      if (type !== READY_FOR_QUERY) continue;
      const statement = executing;
      executing = undefined;
      if (!(await line.pass(statement, "after"))) return end();
      client.write(Buffer.concat(answer));
      answer = [];
    }
  };
  // A socket that breaks ends its iteration with an error.
  toDatabase().then(end, end);
  toClient().then(end, end);
}

const READY_FOR_QUERY = "Z";

/** The statement that a message executes, if it does; remembers those it prepares. */
function statementOf({ type, bytes }: Message, texts: Map<string, string>): string | undefined {
  const fields = () => bytes.toString("utf8", 5).split("\0");
  if (type === "Q") return fields()[0];
  if (type === "P") {
    const [name = "", text = ""] = fields();
    texts.set(name, text);
  }
  return type === "B" ? (texts.get(fields()[1] ?? "") ?? "") : undefined;
}

async function* messagesOf(socket: Socket, hasStartup: boolean): AsyncGenerator<Message> {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = hasStartup ? 0 : 1;
  for await (const piece of socket) {
    rest = Buffer.concat([rest, piece as Buffer]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < length) break;
      yield {
        type: rest.toString("latin1", 0, typeBytes),
        bytes: rest.subarray(0, length),
      };
      rest = rest.subarray(length);
      typeBytes = 1;
    }
  }
}
