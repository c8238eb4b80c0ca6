import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { posix, relative } from "node:path";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { runtimePath } from "@platform/kit/runtime-path";
import type { Artist } from "../artists/artist.ts";
import { findOrInsertArtist } from "../artists/store.ts";
import type { Parts } from "../parts.ts";
import { writeFile } from "./store-content.ts";

/** Nothing in the example exists, which its name and its documents say. */
const EXAMPLE = { name: "Marlow Example", label: "Example Records (invented)" };

/** Creates the example artist with the files of its workspace, or the missing ones. Errors: 403. */
export async function loadExample(
  app: Parts<"db" | "contentStorage">,
  accountId: string,
): Promise<Artist | AppError> {
  const artist = await findOrInsertArtist(app.db, accountId, EXAMPLE);
  if (isAppError(artist)) return artist;
  const folder = runtimePath(process.cwd(), "lib", "workspace", "example");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = runtimePath(entry.parentPath, entry.name);
    const path = posix.join(...relative(folder, file).split(/[\\/]/));
    const place = { accountId, artistId: artist.account_id };
    const change = { path, expected: 0, runId: null };
    const written = await writeFile(app, place, createReadStream(file), change);
    // The person has changed the file, or another request has written it.
    if (isAppError(written) && written.code !== "conflict") return written;
  }
  return artist;
}
