/** Writes mail as `.eml` files, which mail programs can open, to a folder of this machine. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { runtimePath } from "@platform/kit/runtime-path";
import { createTransport } from "nodemailer";
import { bufferOf } from "../attachment-buffer.ts";
import type { Mailer } from "../port.ts";

/** Names files by time, newest last: `2026-11-20T10-15-00.000Z-….eml`. */
export function createMailboxMailer(options: {
  readonly folder: string;
  readonly from: string;
}): Mailer {
  const { folder, from } = options;
  const transport = createTransport(
    { streamTransport: true, buffer: true, disableFileAccess: true, disableUrlAccess: true },
    { from },
  );
  return {
    name: "mailbox",
    async send({ attachments = [], ...mail }, { beforeContent } = {}) {
      const { message } = await transport.sendMail({
        ...mail,
        attachments: attachments.map(bufferOf),
      });
      const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID()}`;
      const draft = runtimePath(folder, `.${name}`);
      try {
        await beforeContent?.();
        // Sign-in codes are secret, so only this operating system user may read the files.
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(draft, message, { mode: 0o600 });
        await rename(draft, runtimePath(folder, `${name}.eml`));
        return { kind: "sent" };
      } catch (error) {
        const cause = String(error);
        return { kind: "unavailable", cause, mayHaveArrived: false, isPermanent: false };
      }
    },
  };
}
