import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export type FakeSmtp = Awaited<ReturnType<typeof startFakeSmtp>>;

/** An SMTP status, none, or a success once the promise resolves. */
type SmtpAnswer = number | "nothing" | "nothing after accepting" | Promise<void>;

/** A mail server on loopback that insists on `user` and `secret-password`. */
export async function startFakeSmtp() {
  const mails: { from: string; to: string[]; raw: string }[] = [];
  const answers = new Map<string, SmtpAnswer>();
  const reply = (command: string, done: (error?: Error) => void): void => {
    const status = answers.get(command);
    if (typeof status === "string") return;
    if (typeof status === "object") void status.then(() => done());
    else if (status === undefined) done();
    else done(Object.assign(new Error("as the test wants"), { responseCode: status }));
  };
  const server = new SMTPServer({
    logger: false,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) =>
      username === "user" && password === "secret-password"
        ? done(null, { user: username })
        : done(new Error("wrong password")),
    onMailFrom: (_address, _session, done) => reply("MAIL FROM", done),
    onRcptTo: (_address, _session, done) => reply("RCPT TO", done),
    onData: async (stream, { envelope }, done) => {
      // A client may leave before the end.
      const raw = await text(stream).catch(() => null);
      if (raw === null) return;
      const from = envelope.mailFrom ? envelope.mailFrom.address : "";
      const accept = () =>
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
      if (answers.get("DATA") === "nothing after accepting") accept();
      reply("DATA", (error) => {
        if (!error) accept();
        done(error);
      });
    },
  });
  // A client that disconnects is not an error of the server.
  server.on("error", () => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    /** With user and password. */
    url: `smtp://user:secret-password@127.0.0.1:${port}`,
    mails,
    /** The responses to the next commands of this name; without one, they succeed. */
    answer: (command: "MAIL FROM" | "RCPT TO" | "DATA", status?: SmtpAnswer) =>
      status === undefined ? answers.delete(command) : answers.set(command, status),
    /** The mails to an address. */
    mailsTo: (address: string) => mails.filter(({ to }) => to.includes(address)),
    close: () => {
      for (const connection of server.connections) connection.close();
      server.close();
    },
  };
}
