import { createReadStream } from "node:fs";
import { mkdir, open, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type Entry, extract } from "tar-stream";
import {
  ArchiveDigest,
  type BackupHeader,
  CHECKSUM,
  checksumSchema,
  type EntryFacts,
  HEADER,
  headerSchema,
  mayBeLink,
  RESTORE_FILES,
} from "./archive-format.ts";

const MAX_DESCRIPTION_BYTES = 1024 * 1024;
const NOT_A_BACKUP = "it is not a backup that `npm run backup` has made";

/**
 * Unpacks a backup into an empty folder. Only files, folders and links below that folder are
 * created, and the links last: nothing is written through one.
 *
 * @param check is called with the header before anything is unpacked
 * @throws Error when the archive is damaged, incomplete or contains entries that no backup has; the
 * folder then has some of its files
 */
export async function readArchive(
  file: string,
  folder: string,
  check: (header: BackupHeader) => void,
  signal: AbortSignal,
): Promise<void> {
  const tar = extract();
  const read = pipeline(createReadStream(file), createGunzip(), tar, { signal });
  const unpacked = unpack(tar, folder, check);
  const [reading, unpacking] = await Promise.allSettled([read, unpacked]);
  signal.throwIfAborted();
  // Unless the unpacking has given up first, the stream knows better why it could not go on.
  if (reading.status === "rejected" && reading.reason.code !== "ERR_STREAM_PREMATURE_CLOSE") {
    throw reading.reason;
  }
  if (unpacking.status === "rejected") throw unpacking.reason;
}

async function unpack(
  tar: AsyncIterable<Entry>,
  folder: string,
  check: (header: BackupHeader) => void,
): Promise<void> {
  const digest = new ArchiveDigest();
  const links: Link[] = [];
  let place: "header" | "content" | "end" = "header";
  for await (const entry of tar) {
    const facts = factsOf(entry.header);
    if (place === "end") throw new Error("it goes on after its end");
    if (facts.name === CHECKSUM) {
      const expected = checksumSchema.parse(JSON.parse(await textOf(entry, facts)));
      const found = digest.end();
      if (found.entries !== expected.entries || found.sha256 !== expected.sha256) {
        throw new Error("its content does not match its checksum");
      }
      place = "end";
      continue;
    }
    digest.begin(facts);
    if (place === "header") {
      if (facts.name !== HEADER) throw new Error(NOT_A_BACKUP);
      const text = await textOf(entry, facts);
      digest.content(Buffer.from(text));
      check(headerSchema.parse(JSON.parse(text)));
      place = "content";
    } else if (facts.type === "symlink") {
      entry.resume();
      const target = entry.header.linkname ?? "";
      digest.content(Buffer.from(target));
      links.push({ path: join(folder, facts.name), target });
    } else await create(entry, facts, join(folder, facts.name), digest);
  }
  if (place !== "end") throw new Error("its end is missing");
  // With all folders above them first, so no link is above another.
  for (const { path } of links) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (const { path, target } of links) await symlink(target, path);
}

interface Link {
  readonly path: string;
  readonly target: string;
}

/** Refuses devices, links other than a sandbox's, and names that lead out of the folder. */
function factsOf(header: Entry["header"]): EntryFacts {
  const { type, mode = 0, size = 0, linkname } = header;
  const name = type === "directory" ? header.name.replace(/\/$/, "") : header.name;
  const isLink = type === "symlink" && mayBeLink(name);
  if (type !== "file" && type !== "directory" && !isLink) {
    throw new Error(`${NOT_A_BACKUP}: ${JSON.stringify(name)} is a ${type}`);
  }
  const segments = name.split("/");
  const isBelow = segments.every((one) => one !== "" && one !== "." && one !== "..");
  if (!isBelow || name.includes("\0") || RESTORE_FILES.includes(segments[0] ?? "")) {
    throw new Error(`${NOT_A_BACKUP}: it has an entry named ${JSON.stringify(name)}`);
  }
  const bytes = isLink ? Buffer.byteLength(linkname ?? "") : size;
  return { type, name, mode: mode & 0o777, size: bytes };
}

async function create(
  entry: Entry,
  { type, mode }: EntryFacts,
  path: string,
  digest: ArchiveDigest,
): Promise<void> {
  if (type === "directory") {
    entry.resume();
    await mkdir(path, { mode });
    return;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "wx", mode);
  try {
    for await (const chunk of entry) {
      digest.content(chunk);
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  const { mtime } = entry.header;
  if (mtime) await utimes(path, mtime, mtime);
}

async function textOf(entry: Entry, { size }: EntryFacts): Promise<string> {
  if (size > MAX_DESCRIPTION_BYTES) throw new Error(NOT_A_BACKUP);
  return (await buffer(entry)).toString();
}
