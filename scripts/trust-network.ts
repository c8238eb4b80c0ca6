import { readFileSync } from "node:fs";
import { setGlobalProxyFromEnv } from "node:http";
import { resolve } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const PROXIES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];
/** The REST part and the server itself are reached without a proxy. */
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/**
 * Makes `NODE_EXTRA_CA_CERTS` and the proxies of the environment effective in this process, which may have read them
 * from a file, and in the processes that it starts.
 * @throws Error when the file of certificates cannot be read, of which Node only warns
 */
export function trustNetwork(env: NodeJS.ProcessEnv = process.env): void {
  if (env.NODE_EXTRA_CA_CERTS) {
    const file = resolve(env.NODE_EXTRA_CA_CERTS);
    env.NODE_EXTRA_CA_CERTS = file;
    try {
      const certificates = readFileSync(file, "utf8");
      if (getCACertificates("extra").length === 0) {
        setDefaultCACertificates([...getCACertificates("default"), certificates]);
      }
    } catch (error) {
      throw new Error(`NODE_EXTRA_CA_CERTS cannot be used: ${Object(error).message}`);
    }
  }
  if (!PROXIES.some((name) => env[name])) return;
  const given = env.no_proxy ?? env.NO_PROXY ?? "";
  const direct = [
    ...given.split(",").filter(Boolean),
    ...LOOPBACK,
    ...(env.HOST ? [env.HOST] : []),
  ];
  env.NO_PROXY = [...new Set(direct)].join(",");
  env.no_proxy = env.NO_PROXY;
  // Processes that it starts.
  env.NODE_USE_ENV_PROXY = "1";
  setGlobalProxyFromEnv({ ...env });
}
