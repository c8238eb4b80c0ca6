import { localOrigin } from "@platform/kit/local-origin";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The origin at which this machine reaches the server. */
  readonly url: string;
}

/** Returns where the server listens, by `HOST` and `PORT`. */
export function listenAddress(env: NodeJS.ProcessEnv, defaultHost: string): ListenAddress {
  const host = env.HOST || defaultHost;
  const port = Number(env.PORT || 3000);
  const isLocal = ["127.0.0.1", "0.0.0.0", "::1", "::"].includes(host);
  return { host, port, url: isLocal ? `http://localhost:${port}` : localOrigin(host, port) };
}
