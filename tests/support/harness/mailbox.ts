import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { registerCode } from "../secrets/register.ts";
import { setting } from "./stack.ts";

/** The raw mails that a server, by default the shared one, has written to this address, oldest first. */
export async function mailsTo(
  email: string,
  dataDir: string = setting("DATA_DIR"),
): Promise<string[]> {
  const folder = join(dataDir, "mailbox");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".eml")).sort();
  const mails = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return mails.filter((mail) => mail.includes(`\nTo: ${email}\r\n`));
}

/** The code of the newest mail to this address. */
export async function codeSentTo(email: string, dataDir?: string): Promise<string> {
  const code = /code is (\d{6})/.exec((await mailsTo(email, dataDir)).at(-1) ?? "")?.[1];
  if (code === undefined) throw new Error(`No code was mailed to ${email}`);
  registerCode(code, email);
  return code;
}

/** A code that is well-formed and not this one. */
export function wrongCode(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, "0");
}
