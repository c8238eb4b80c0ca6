/** Certificates of an own CA, and a PostgreSQL that presents them. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type postgres from "postgres";
import { expect, vi } from "vitest";
import { accountOfNewCluster } from "../../../scripts/embedded/run-postgres.ts";

const openssl = (folder: string, options: string) =>
  execFileSync("openssl", options.split(" "), { cwd: folder, stdio: "ignore" });

/** Creates `<name>.pem` and its key. */
export const createAuthority = (folder: string, name: string) =>
  openssl(
    folder,
    `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`,
  );

/**
 * Gives the PostgreSQL in `<folder>/postgres` a certificate of `own-ca` for these names.
 * @param names such as `DNS:localhost,IP:127.0.0.1`
 */
export async function presentCertificate(
  folder: string,
  admin: postgres.Sql,
  names: string,
): Promise<void> {
  openssl(
    folder,
    "req -newkey rsa:2048 -nodes -subj /CN=database -keyout server.key -out server.csr",
  );
  writeFileSync(join(folder, "names"), `subjectAltName=${names}`);
  openssl(
    folder,
    "x509 -req -days 2 -in server.csr -CA own-ca.pem -CAkey own-ca.key -CAcreateserial -extfile names -out server.pem",
  );
  const account = accountOfNewCluster();
  for (const name of ["server.pem", "server.key"]) {
    const file = join(folder, "postgres", name);
    writeFileSync(file, readFileSync(join(folder, name)));
    chmodSync(file, 0o600);
    if (account) chownSync(file, account.uid, account.gid);
  }
  const settings = { ssl_cert_file: "server.pem", ssl_key_file: "server.key", ssl: "on" };
  for (const [name, value] of Object.entries(settings)) {
    await admin.unsafe(`alter system set ${name} = '${value}'`);
  }
  await admin`select pg_reload_conf()`;
  const expected = readFileSync(join(folder, "server.pem"), "utf8");
  const presented = () => presentedBy(Number(admin.options.port[0]));
  await vi.waitFor(async () => expect(await presented()).toBe(expected), 30_000);
}

/** Returns the certificate of a PostgreSQL; empty while it has no TLS. */
async function presentedBy(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    // SSLRequest: https://www.postgresql.org/docs/17/protocol-message-formats.html
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    const [answer]: Buffer[] = await once(socket, "data");
    if (answer?.toString() !== "S") return "";
    const secured = connectTls({ socket, rejectUnauthorized: false });
    await once(secured, "secureConnect");
    return secured.getPeerX509Certificate()?.toString() ?? "";
  } finally {
    socket.destroy();
  }
}
