/** Folders that are pushed to a workspace and pulled from it. Nothing is deleted on either side. */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ApiError } from "../api-error.ts";
import { type Context, required, take, text } from "./command.ts";
import { isFolder, isHarmless, listFolder } from "./folder.ts";
import { UsageError } from "./usage-error.ts";

const CONCURRENCY = 4;
const CONTENT = "/api/workspace/files/content";

/** The outcome for a file; the last three leave it unchanged. */
type Outcome = "sent" | "fetched" | "unchanged" | "older" | "changed" | "unsafe";

const WARNINGS: Partial<Readonly<Record<Outcome, string>>> = {
  older: "is an earlier version of the workspace's file. --force sends it",
  changed: "has been changed here. --force overwrites it",
  unsafe: "has a path that is not safe here",
};

/** Sends the files of a folder that the workspace does not have. */
export async function push(context: Context): Promise<number> {
  const folder = required(context.args[1], "DIR");
  if (!(await isFolder(folder))) {
    throw new UsageError(`${folder} is not a folder. A file of a sandbox needs --session`);
  }
  const { client, options, signal } = context;
  const { prefix, workspace } = placeOf(context);
  const [stored, names] = await Promise.all([listFiles(context), listFolder(folder)]);
  return transferAll(context, names, async (name) => {
    // macOS decomposes names.
    const path = `${prefix}${name}`.normalize("NFC");
    const file = join(folder, name);
    const current = stored.get(path);
    if (current) {
      const hash = await hashOf(file);
      if (hash === current.sha256) return "unchanged";
      if (!options.force && (await hasVersion(context, path, hash))) return "older";
    }
    const expected = current ? { expected_version: current.version } : {};
    await take(
      client.api.PUT(CONTENT, {
        params: { query: { ...workspace, path, ...expected } },
        body: Readable.toWeb(createReadStream(file)) as never,
        bodySerializer: (content: unknown) => content as BodyInit,
        headers: { "content-type": "application/octet-stream" },
        // Required for a stream; the type of `RequestInit` does not have it yet.
        ...({ duplex: "half" } as object),
        signal,
      }),
    );
    return "sent";
  });
}

/** Writes the files of the workspace to a folder, except over files that have been changed there. */
export async function pull(context: Context): Promise<number> {
  const folder = required(context.args[1], "DIR");
  const { client, options, signal } = context;
  const { prefix, workspace } = placeOf(context);
  await mkdir(folder, { recursive: true });
  const stored = await listFiles(context);
  const names = [...stored.keys()].map((path) => path.slice(prefix.length));
  return transferAll(context, names, async (name) => {
    const path = `${prefix}${name}`;
    const { version, sha256 } = stored.get(path) ?? {};
    if (version === undefined || !(await isHarmless(folder, name))) return "unsafe";
    const file = join(folder, name);
    if (await lstat(file).catch(() => null)) {
      const hash = await hashOf(file);
      if (hash === sha256) return "unchanged";
      if (!options.force && !(await hasVersion(context, path, hash))) return "changed";
    }
    const params = { query: { ...workspace, path, version } };
    const body = await take(client.api.GET(CONTENT, { params, parseAs: "stream", signal }));
    await mkdir(dirname(file), { recursive: true });
    // The name appears with all of its content, or not at all.
    const part = join(dirname(file), `.${randomUUID()}.part`);
    try {
      const target = createWriteStream(part, { flags: "wx" });
      await pipeline(Readable.fromWeb(body as never), target, { signal });
      await rename(part, file);
    } finally {
      await rm(part, { force: true });
    }
    return "fetched";
  });
}

interface StoredFile {
  readonly path: string;
  readonly version: number;
  readonly sha256: string | null;
}

function placeOf({ options }: Context) {
  const artist = text(options.artist);
  const folder = text(options.prefix)?.replace(/^\/+|\/+$/g, "") ?? "";
  const prefix = folder === "" ? "" : `${folder}/`.normalize("NFC");
  return { prefix, workspace: artist === undefined ? {} : { artist_id: artist } };
}

async function listFiles(context: Context): Promise<Map<string, StoredFile>> {
  const { client, signal } = context;
  const { prefix, workspace } = placeOf(context);
  const found = new Map<string, StoredFile>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const more = cursor === undefined ? {} : { cursor };
    const query = { ...workspace, prefix, limit: 100, ...more };
    const page = await take(client.api.GET("/api/workspace/files", { params: { query }, signal }));
    for (const file of page.files) found.set(file.path, file);
    cursor = page.next_cursor;
  }
  return found;
}

/** Resolves to whether a version of a file has this content: then no one else has changed the content. */
async function hasVersion(context: Context, path: string, hash: string): Promise<boolean> {
  const { client, signal } = context;
  const query = { ...placeOf(context).workspace, path, limit: 100 };
  const listed = await take(
    client.api.GET("/api/workspace/versions", { params: { query }, signal }),
  );
  return listed.versions.some(({ sha256 }) => sha256 === hash);
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * Transfers files, a few at a time, and prints what became of them. A file that is refused does not keep the
 * others. Resolves to 1 if a file was left or refused.
 */
async function transferAll(
  { out, signal }: Context,
  names: readonly string[],
  transfer: (name: string) => Promise<Outcome>,
): Promise<number> {
  // A generator ends for all workers when one of them throws.
  const queue = (function* () {
    yield* names;
  })();
  const files: { path: string; outcome: Outcome | "refused" }[] = [];
  const work = async () => {
    for (const path of queue) {
      try {
        const outcome = await transfer(path);
        files.push({ path, outcome });
        const warning = WARNINGS[outcome];
        if (warning !== undefined) out.error(`${path} ${warning}.`);
        else if (outcome !== "unchanged") out.progress(`${outcome} ${path}`);
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiError) || error.status === 401) throw error;
        out.error(`${path}: ${error.message}`);
        files.push({ path, outcome: "refused" });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const done = ["sent", "fetched", "unchanged"];
  out.result({ files }, () =>
    done.flatMap((one) => {
      const count = files.filter(({ outcome }) => outcome === one).length;
      return count === 0 ? [] : [`${count} ${count === 1 ? "file" : "files"} ${one}`];
    }),
  );
  return files.every(({ outcome }) => done.includes(outcome)) ? 0 : 1;
}
