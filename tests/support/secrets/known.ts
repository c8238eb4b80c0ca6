/**
 * The secrets that a test run has made or received, in all its processes, in one file that only the
 * tests see. None of them may be in the service's storage.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { KnownSecret } from "./trace-search.ts";
import { MIN_SECRET_LENGTH } from "./trace-search.ts";

const entrySchema = z.discriminatedUnion("is", [
  z.object({ is: z.literal("secret"), secret: z.string(), kind: z.string() }),
  /** Six digits: chance finds them, so they are looked for beside the address they were sent to. */
  z.object({ is: z.literal("code"), code: z.string(), email: z.string() }),
  /** A test has put it somewhere that lasts, in a form that no redaction knows. */
  z.object({ is: z.literal("disguised"), secret: z.string() }),
]);
type Entry = z.output<typeof entrySchema>;

export type KnownCode = Omit<Extract<Entry, { is: "code" }>, "is">;

const fileOf = (records: string): string => join(records, "secrets.jsonl");
const written = new Set<string>();

function write(records: string, entry: Entry): void {
  const line = `${JSON.stringify(entry)}\n`;
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(fileOf(records), line, { mode: 0o600 });
}

export function noteSecret(records: string, { secret, kind }: KnownSecret): void {
  if (secret.length >= MIN_SECRET_LENGTH) write(records, { is: "secret", secret, kind });
}

export const noteCode = (records: string, { code, email }: KnownCode): void =>
  write(records, { is: "code", code, email });

export const noteDisguised = (records: string, secret: string): void =>
  write(records, { is: "disguised", secret });

/** The settings by which the service authenticates others, or itself with others. */
const SECRET_SETTINGS = /(?<!PUBLISHABLE)_(KEY|SECRET|TOKEN)$/;

/** Notes the secrets in a server's settings, and the passwords in its addresses. */
export function noteSettings(records: string, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (SECRET_SETTINGS.test(name)) noteSecret(records, { secret: value, kind: name });
    if (!/_URL$/.test(name) || !URL.canParse(value)) continue;
    const secret = decodeURIComponent(new URL(value).password);
    noteSecret(records, { secret, kind: `password of ${name}` });
  }
}

export function readKnown(records: string): { secrets: KnownSecret[]; codes: KnownCode[] } {
  const file = fileOf(records);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  const entries = lines.map((line) => entrySchema.parse(JSON.parse(line)));
  const hidden = new Set(entries.map((one) => one.is === "disguised" && one.secret));
  const secrets = entries
    .filter((one) => one.is === "secret")
    .map((one) => ({ ...one, disguised: hidden.has(one.secret) }));
  return { secrets, codes: entries.filter((one) => one.is === "code") };
}
