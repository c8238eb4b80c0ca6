/** The contract of every adapter of the mail port. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailboxMailer } from "../../../lib/mail/adapters/mailbox.ts";
import { createSmtpMailer } from "../../../lib/mail/adapters/smtp.ts";
import type { Mailer } from "../../../lib/mail/port.ts";
import { type FakeSmtp, startFakeSmtp } from "../../support/fakes/smtp.ts";

const from = "Agent Platform <platform@example.com>";
const deadline = 10_000;

let dir: string;
let smtp: FakeSmtp;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "mail-conformance-"));
  smtp = await startFakeSmtp();
});
afterAll(async () => {
  smtp.close();
  await rm(dir, { recursive: true, force: true });
});

interface Adapter {
  readonly mailer: () => Mailer;
  /** The raw mails that have arrived, oldest first. */
  readonly arrived: () => Promise<string[]>;
}

const adapters: Record<Mailer["name"], Adapter> = {
  smtp: {
    mailer: () => createSmtpMailer({ url: smtp.url, from, timeoutMs: deadline }),
    arrived: async () => smtp.mails.map(({ raw }) => raw),
  },
  mailbox: {
    mailer: () => createMailboxMailer({ folder: join(dir, "mailbox"), from }),
    arrived: async () => {
      const names = (await readdir(join(dir, "mailbox"))).sort();
      return Promise.all(names.map((name) => readFile(join(dir, "mailbox", name), "utf8")));
    },
  },
};

describe.each(Object.entries(adapters))("mail by %s", (name, { mailer, arrived }) => {
  const linesOf = async () => ((await arrived()).at(-1) ?? "").split("\r\n");

  it("arrives as it was written, line by line", async () => {
    const text = "first line\n.a line with a dot before it\n\nlast line\n";
    const mail = { to: "somebody@example.com", subject: "Hello", text };
    expect(mailer().name).toBe(name);
    expect(await mailer().send(mail)).toEqual({ kind: "sent" });
    const lines = await linesOf();
    expect(lines).toEqual(
      expect.arrayContaining([`From: ${from}`, "To: somebody@example.com", "Subject: Hello"]),
    );
    expect(lines.slice(lines.indexOf("") + 1).join("\n")).toContain(text.trimEnd());
  });

  it("cannot be given further headers by what it says", async () => {
    const subject = "Hello\r\nBcc: stranger@example.com";
    await mailer().send({ to: "somebody@example.com", subject, text: "hello" });
    expect((await linesOf()).filter((line) => line.startsWith("Bcc"))).toEqual([]);
  });

  it("keeps mails that are sent at once apart", async () => {
    const before = (await arrived()).length;
    const numbers = Array.from({ length: 10 }, (_, index) => `number-${index}-`);
    await Promise.all(
      numbers.map((text) => mailer().send({ to: "somebody@example.com", subject: "n", text })),
    );
    const mails = (await arrived()).slice(before);
    expect(mails).toHaveLength(10);
    for (const text of numbers) expect(mails.filter((mail) => mail.includes(text))).toHaveLength(1);
  });
});

const mail = { to: "somebody@example.com", subject: "Hello", text: "hello" };

describe("a mail server that fails", () => {
  const send = (url: string, limit = deadline) =>
    createSmtpMailer({ url, from, timeoutMs: limit }).send(mail);

  const faults = [
    ["RCPT TO", 550, "refused"],
    ["RCPT TO", 451, "unavailable"],
    ["MAIL FROM", 550, "unavailable"],
    ["DATA", 554, "unavailable"],
    ["DATA", 452, "unavailable"],
  ] as const;
  it.each(faults)("%s answered with %i is %s", async (command, status, kind) => {
    const failing = await startFakeSmtp();
    failing.answer(command, status);
    expect((await send(failing.url)).kind).toBe(kind);
    expect(failing.mails).toEqual([]);
    failing.close();
  });

  it("is a timeout when it stops answering in the middle", async () => {
    const silent = await startFakeSmtp();
    silent.answer("RCPT TO", "nothing");
    expect((await send(silent.url, 500)).kind).toBe("timeout");
    silent.close();
  });

  it("is a timeout when it never greets", async () => {
    const mute = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => mute.once("listening", resolve));
    const address = mute.address();
    const port = typeof address === "object" ? address?.port : 0;
    expect((await send(`smtp://127.0.0.1:${port}`, 500)).kind).toBe("timeout");
    mute.close();
  });

  it("is unavailable when it hangs up, or nobody listens", async () => {
    const rude = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => rude.once("listening", resolve));
    const address = rude.address();
    const url = `smtp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    expect((await send(url)).kind).toBe("unavailable");
    await new Promise((resolve) => rude.close(resolve));
    expect((await send(url)).kind).toBe("unavailable");
  });

  it("that knows another password is unavailable, and the cause does not tell ours", async () => {
    const outcome = await send(smtp.url.replace("secret-password", "other-password"));
    expect(outcome.kind).toBe("unavailable");
    expect(JSON.stringify(outcome)).not.toContain("other-password");
  });
});

describe("the mailbox folder", () => {
  it("and its files are for this user of the machine only", async () => {
    const folder = join(dir, "private");
    await createMailboxMailer({ folder, from }).send(mail);
    const [name = ""] = await readdir(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it("that cannot be written to is unavailable", async () => {
    await writeFile(join(dir, "a-file"), "");
    const outcome = await createMailboxMailer({ folder: join(dir, "a-file"), from }).send(mail);
    expect(outcome.kind).toBe("unavailable");
  });
});
