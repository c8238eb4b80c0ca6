/**
 * Sandboxes on Vercel: a session has one named, persistent machine. It is saved and stopped when it
 * is idle, and resumes with its files at the next call.
 */

import type { TurnPolicies } from "@platform/kit/network-policy";
import { narrowHosts } from "@platform/kit/outbound/network-policy";
import { accepted, describeFailure, describeStatus } from "@platform/kit/outbound/probe";
import { SANDBOX_MARK } from "../../outgoing-headers.ts";
import { SandboxError, type SandboxProvider } from "../../port.ts";
import type { NetworkRules } from "../network-rules.ts";
import { VercelSandbox } from "./machine.ts";
import { type NetworkPolicy, type NetworkPolicyRule, statusOf, vercelSdk } from "./sdk.ts";

/** A machine is saved and stopped after this long. */
const RUN_MS = 30 * 60 * 1000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Denied, even if a host name of the allowlist resolves to one of them. */
const PRIVATE_SUBNETS = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
];

/** The programs of Vercel's machines, whose images are Amazon Linux or Ubuntu. */
const PROGRAMS =
  "bash, grep, sed, awk, find, xargs, sort, date, node, npm, python3, git, curl, openssl, tar, gzip, unzip, base64, sha256sum";

const MAKE_FOLDER = { cmd: "mkdir", cwd: "/", detached: true } as const;

/** RE2: a segment `.` or `..` of a path, or a backslash, in plain text or percent-encoded. */
const DOT_SEGMENT = "(?i)(/|%2f)(\\.|%2e){1,2}(/|%2f|\\?|#|$)|\\\\|%5c";

/** Hosts of the rules are opened at any port. */
export interface VercelProviderOptions extends NetworkRules {
  /** Without credentials the SDK uses the deployment's own OIDC token. */
  readonly credentials?: {
    readonly token: string;
    readonly teamId: string;
    readonly projectId: string;
  };
  readonly fetch?: typeof globalThis.fetch;
}

export function createVercelProvider(options: VercelProviderOptions): SandboxProvider {
  const access = { ...options.credentials, fetch: withoutCommandRetries(options.fetch ?? fetch) };
  const get = async (name: string) => {
    const { Sandbox: Machine } = await vercelSdk();
    return Machine.get({ ...access, name, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  };

  /**
   * Connects, and gives the whole machine the policy of this turn: it outlives turns, and their background
   * processes with it. Without policies, that is needed only where an earlier turn had some.
   */
  const confine = async (name: string, policies: TurnPolicies) => {
    const machine = await get(name);
    const wanted = policyFor({ ...options, policies });
    if (policies.length > 0 || hostsOf(machine.networkPolicy) !== hostsOf(wanted)) {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      await machine.update({ networkPolicy: wanted }, { signal });
    }
    return machine;
  };

  return {
    name: "vercel",
    programs: PROGRAMS,
    async provision(sessionId) {
      const started = performance.now();
      const { Sandbox: Machine } = await vercelSdk();
      const machine = await Machine.getOrCreate({
        ...access,
        name: sessionId,
        persistent: true,
        resume: true,
        timeout: RUN_MS,
        snapshotExpiration: 0,
        keepLastSnapshots: { count: 1, expiration: 0 },
        networkPolicy: policyFor(options),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
        // If two calls are simultaneous, the second one finds the machine of the first.
        .catch(() => get(sessionId))
        .catch(unavailable);
      // An image need not have the folder that its commands start in.
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      await machine
        .runCommand({ ...MAKE_FOLDER, args: ["-p", "--", machine.cwd], signal })
        .then((command) => command.wait({ signal }))
        .catch(unavailable);
      return {
        provider: "vercel",
        name: machine.name,
        createdAt: machine.createdAt.toISOString(),
        expiresAt: null,
        readyMs: Math.round(performance.now() - started),
      };
    },
    open: ({ name }, _accountId, policies = []) =>
      new VercelSandbox(() => confine(name, policies).catch(unavailable)),
    // The machine's commands run in parallel, so a read never waits.
    openFiles: ({ name }) => new VercelSandbox(() => get(name).catch(unavailable)),
    async status({ name }) {
      const machine = await get(name).catch((error) =>
        isMissing(error) ? undefined : unavailable(error),
      );
      if (!machine) return "expired";
      // A machine that was saved and stopped answers the next call.
      return ["failed", "aborted"].includes(machine.status) ? "stopped" : "active";
    },
    async destroy({ name }) {
      try {
        const machine = await get(name);
        await machine.stop().catch(() => undefined);
        await machine.delete({ deleteOrphanSnapshots: true });
      } catch (error) {
        if (!isMissing(error)) unavailable(error);
      }
    },
    async check(deadline) {
      const { Sandbox: Machine } = await vercelSdk();
      try {
        await Machine.list({ ...access, limit: 1, signal: deadline });
        return [accepted(API, settings)];
      } catch (error) {
        const status = statusOf(error);
        if (status === undefined) return [describeFailure(API, error, settings)];
        return [describeStatus(API, status, settings)];
      }
    },
  };
}

const API = new URL("https://vercel.com");
/** A token that is right for another team is refused like a wrong one. */
const names = ["VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"];
const settings = { credentials: names, address: names };

/** Vercel sets the mark outside the machine, so nothing inside can omit it. */
function policyFor({ allowedHosts, serviceOrigin, policies = [] }: NetworkRules): NetworkPolicy {
  const allow: Record<string, NetworkPolicyRule[]> = {};
  const hosts = allowedHosts.map((host) => host.replace(/:\d+$/, ""));
  for (const host of narrowHosts(hosts, policies))
    allow[host] = [{ transform: [{ headers: mark }] }];
  // Last: the operator's allowlist must not open the rest of the service's own origin.
  if (serviceOrigin) allow[new URL(serviceOrigin).hostname] = ownApiOnly;
  const isOpen = Object.keys(allow).length > 0;
  return isOpen ? { allow, subnets: { deny: PRIVATE_SUBNETS } } : "deny-all";
}

/** Returns the hosts that a policy allows, in one order. */
function hostsOf(policy: NetworkPolicy | undefined): string | undefined {
  if (typeof policy !== "object") return policy;
  const { allow = {} } = policy;
  return (Array.isArray(allow) ? [...allow] : Object.keys(allow)).sort().join(" ");
}

const mark = { [SANDBOX_MARK]: "1" };

const refused = {
  statusCode: 403,
  contentType: "text/plain",
  body: "Only the API of this service can be reached\n",
};

/**
 * Opens only `/api/` of the service's own origin, and marks its requests. Rules apply in order: a
 * path that a server could resolve to one outside `/api/` is refused first.
 */
const ownApiOnly: NetworkPolicyRule[] = [
  { match: { path: { regex: DOT_SEGMENT } }, response: refused },
  {
    match: { path: { startsWith: "/api/" } },
    transform: [{ headers: { ...mark, forwarded: "for=_sandbox" } }],
  },
  { response: refused },
];

function isMissing(error: unknown): boolean {
  return [404, 410].includes(statusOf(error) ?? 0);
}

/** Omits the API's own message, which may name the account. */
function unavailable(error: unknown): never {
  const status = statusOf(error);
  const shown = status === undefined ? "" : ` (status ${status})`;
  throw new SandboxError("unavailable", `The sandbox service did not answer as expected${shown}`);
}

/**
 * Keeps the SDK from retrying the start of a command, which may have run although its response was
 * lost. The SDK stops retrying on an AbortError.
 */
function withoutCommandRetries(send: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const starts = init?.method === "POST" && /\/cmd(\?|$)/.test(String(input));
    if (!starts) return send(input, init);
    const lost = (why: string) =>
      new DOMException(`Command may have started: ${why}`, "AbortError");
    const response = await send(input, init).catch((error) => {
      throw lost(String(error));
    });
    if (response.status >= 500) throw lost(`status ${response.status}`);
    return response;
  };
}
