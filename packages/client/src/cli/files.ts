import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileContent } from "../files.ts";
import { type Command, type Context, required, take } from "./command.ts";
import { columns } from "./output.ts";
import { UsageError } from "./usage-error.ts";
import { pull as pullFolder, push as pushFolder } from "./workspace.ts";

export const files: Command = {
  usage: [
    "files push [--artist ID] [--prefix PATH] [--force] DIR",
    "files pull [--artist ID] [--prefix PATH] [--force] DIR",
    "files list --session ID [PATH]",
    "files push --session ID FILE [PATH]",
    "files pull --session ID PATH [FILE]",
  ],
  about:
    "Files of the workspace of the account or an artist: push sends the files of a folder that differ, and pull writes files that differ into it. Neither deletes a file, and without --force neither replaces a newer file by an older one. With --session, files of its sandbox; FILE may be - for stdout.",
  options: {
    session: { type: "string" },
    artist: { type: "string" },
    prefix: { type: "string" },
    force: { type: "boolean" },
  },
  async run(context) {
    if (context.options.session === undefined) {
      if (context.args[0] === "push") return pushFolder(context);
      if (context.args[0] === "pull") return pullFolder(context);
    }
    const sessionId = required(context.options.session, "--session");
    const [action, from, to] = context.args;
    if (action === "list") return list(context, sessionId, from);
    if (action === "push") return push(context, sessionId, required(from, "FILE"), to);
    if (action === "pull") return pull(context, sessionId, required(from, "PATH"), to);
    throw new UsageError("files takes list, push or pull");
  },
};

async function list({ client, out, signal }: Context, sessionId: string, path?: string) {
  const query = { sessionId, ...(path === undefined ? {} : { path }) };
  const listed = await take(client.api.GET("/api/sandbox/files", { params: { query }, signal }));
  out.result(listed, ({ entries }) =>
    columns(
      entries.map(({ type, size, modifiedAt, name }) => [
        type === "directory" ? "" : String(size),
        modifiedAt,
        type === "directory" ? `${name}/` : name,
      ]),
    ),
  );
  return 0;
}

async function push(
  { client, out, signal }: Context,
  sessionId: string,
  file: string,
  to?: string,
) {
  const { size } = await stat(file);
  const path = to ?? basename(file);
  const content = Readable.toWeb(createReadStream(file)) as FileContent;
  out.progress(`${file}: ${size} bytes`);
  const written = await client.uploadFile({ sessionId, path, content, signal });
  out.result(written, ({ path: name }) => name);
  return 0;
}

async function pull(
  { client, out, signal }: Context,
  sessionId: string,
  path: string,
  to?: string,
) {
  const { body } = await client.downloadFile({ sessionId, path, signal });
  const file = to ?? basename(path);
  const target = file === "-" ? process.stdout : createWriteStream(file);
  const source = body ? Readable.fromWeb(body as never) : Readable.from([]);
  await pipeline(source, target, { end: file !== "-", signal });
  if (file !== "-") out.result({ path, file }, () => file);
  return 0;
}
