/**
 * The one check of hosts against network policies: for `fetch`, every sandbox, downloads and web search. It
 * uses Node alone, because the jailed shell of the local sandbox imports it, too.
 */
import type { TurnPolicies } from "../network-policy.ts";

const OWNERS = {
  account: "the account",
  template: "the agent template",
  chat: "this chat",
} as const;
const ASKED =
  "is out of reach for commands while a person must approve requests: use the tool fetch, which asks for it";

/** `example.com`, or `*.example.com` for every name below it. Also whether a pattern covers another one. */
export const matchesHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length
    : host === pattern;

/**
 * Returns why one of the policies does not allow the host, in a sentence that is safe to show; null if all
 * allow it.
 * @param hostname as a URL has it: URLs have one form for all notations of an address or a name
 */
export function hostRefusal(policies: TurnPolicies, hostname: string): string | null {
  const host = hostname.replace(/\.$/, "");
  const refusing = policies.find(({ hosts }) => !hosts?.some((one) => matchesHost(one, host)));
  return refusing ? refusal(`The host ${host}`, refusing) : null;
}

export const isHostAllowed = (policies: TurnPolicies, hostname: string): boolean =>
  hostRefusal(policies, hostname) === null;

/** Returns why the network cannot be used at all; null where some host is allowed. */
export function networkRefusal(policies: TurnPolicies, subject: string): string | null {
  const [first] = policies;
  if (!first || narrowHosts(first.hosts ?? [], policies).length > 0) return null;
  return refusal(subject, policies.find(({ mode }) => mode === "none") ?? first);
}

function refusal(subject: string, { of, mode }: TurnPolicies[number]): string {
  if (of === "approvals") return `${subject} ${ASKED}`;
  const [setting, remedy] =
    mode === "none"
      ? ["network.mode is none", "change it"]
      : ["network.hosts", "add the host there"];
  return `${subject} is not allowed by the network policy of ${OWNERS[of]} (${setting}). Ask the user to ${remedy}.`;
}

/** Returns the patterns for all hosts that match one of the given patterns and that the policies allow. */
export const narrowHosts = (patterns: readonly string[], policies: TurnPolicies): string[] =>
  policies.reduce<string[]>(
    (all, { hosts = [] }) => [
      // If one pattern covers the other, the narrower one; otherwise no host matches both.
      ...new Set(
        all.flatMap((one) =>
          hosts.flatMap((other) =>
            matchesHost(one, other) ? [other] : matchesHost(other, one) ? [one] : [],
          ),
        ),
      ),
    ],
    [...patterns],
  );
