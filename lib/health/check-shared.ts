/** Checks the two things that all servers of a database must share: `API_KEY_SECRET`, and the `DATA_DIR` that has sandboxes or media. */
import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf } from "@platform/kit/outbound/probe";
import { runtimePath } from "@platform/kit/runtime-path";
import { z } from "zod";
import { fingerprintOf } from "../identity/keys/key-format.ts";
import type { Parts } from "../parts.ts";
import { acceptedSecrets, type Config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import { type Finding, misconfigured, ok, warning } from "./finding.ts";

const recorded = z.object({
  secret_fingerprint: z.string().nullish(),
  data_dir_id: z.string().nullish(),
});
/** The record that the servers of the database have made of themselves. */
export type Recorded = z.output<typeof recorded>;

type Storing = Parts<"db" | "sandboxes" | "mediaStorage">;

const idFile = ({ DATA_DIR }: Config): string =>
  join(runtimePath(resolve(DATA_DIR)), "data-dir-id");

/** Others reach the sandboxes and the media of Vercel and Supabase. */
const storesShared = ({ sandboxes, mediaStorage }: Storing): boolean =>
  sandboxes.folders !== undefined || mediaStorage.name === "disk";

/** Compares these settings with the record. In development, which records nothing, a difference is a warning. */
export async function checkShared(
  settings: Config,
  app: Storing,
  { secret_fingerprint: fingerprint, data_dir_id: dataDirId }: Recorded,
): Promise<Finding[]> {
  const differs = settings.NODE_ENV === "development" ? warning : misconfigured;
  const accepted = acceptedSecrets(settings).map(fingerprintOf);
  const isKnown = !fingerprint || accepted.includes(fingerprint);
  const shown = accepted[0]?.slice(0, 12);
  const ofSecret = isKnown
    ? ok("secret", `API_KEY_SECRET is that of the database's servers (fingerprint ${shown})`)
    : differs(
        "secret",
        "API_KEY_SECRET is not that of the database's servers: no key that they have made would work",
        "Set API_KEY_SECRET to theirs. Set API_KEY_SECRET_PREVIOUS to theirs if this one is to replace it. " +
          "docs/operations.md says what to do if theirs is lost.",
        ["API_KEY_SECRET", "API_KEY_SECRET_PREVIOUS"],
      );
  if (!storesShared(app)) return [ofSecret];
  const file = idFile(settings);
  const isSame = !dataDirId || (await readId(file)) === dataDirId;
  return [
    ofSecret,
    isSame
      ? ok("shared data", "DATA_DIR is that of the database's servers")
      : differs(
          "shared data",
          "another DATA_DIR has the sandboxes or media of the database's servers, which this server would not find",
          "Set DATA_DIR to the same folder, or use Vercel Sandbox and a Supabase project on each server. " +
            `If the other folder was moved here or is lost, write ${dataDirId} to ${file}.`,
          ["DATA_DIR"],
        ),
  ];
}

/**
 * Records the secret and the folder of this server where none are recorded, and the secret in place of the previous one.
 * Of servers that start at the same time with different ones, the first is recorded.
 */
export async function joinInstallation(settings: Config, app: Storing): Promise<Finding[]> {
  const dataDirId = storesShared(app) ? await keepId(idFile(settings)) : null;
  const fingerprints = acceptedSecrets(settings).map(fingerprintOf);
  const args = { fingerprints, dataDirId };
  return checkShared(settings, app, await call(app.db, "join_installation", args, recorded));
}

/** Resolves to null where there is none, or no folder that can be read: another check says so. */
const readId = async (file: string): Promise<string | null> =>
  (await readFile(file, "utf8").catch(() => "")).trim() || null;

/** Returns the id of the folder, which is created with its first server. */
async function keepId(file: string): Promise<string | null> {
  const known = await readId(file);
  if (known !== null) return known;
  const draft = `${file}.${randomUUID()}`;
  try {
    // Linked when it is complete: a full disk leaves no partial file.
    await writeFile(draft, `${randomUUID()}\n`, { mode: 0o600, flush: true });
    await link(draft, file).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return readId(file);
}
