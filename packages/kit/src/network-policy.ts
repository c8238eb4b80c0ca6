/** Which hosts an agent may reach. packages/kit/src/outbound/network-policy.ts has the check of a host. */
import { z } from "zod";

const MAX_HOSTS = 100;
const MAX_HOST_CHARS = 253;

const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;
const IPV4 = /^\d+(?:\.\d+){3}$/;

/**
 * Returns the pattern with its host as URLs have it: in lower case, in Punycode, and an address in
 * its canonical form. Null for a text that is not a pattern.
 */
function canonicalPattern(text: string): string | null {
  const wildcard = text.startsWith("*.") ? "*." : "";
  const name = text.slice(wildcard.length);
  // URLs have more than a host in these characters.
  if (/[\s/\\?#@%*]/.test(name) || (name.includes(":") && !/^\[[^\]]*\]$/.test(name))) return null;
  const host = URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, "") ?? "";
  if (host.length > MAX_HOST_CHARS) return null;
  if (host.startsWith("[")) return wildcard ? null : host;
  return NAME.test(host) && !(wildcard && IPV4.test(host)) ? wildcard + host : null;
}

const hostPattern = z
  .string()
  .trim()
  .min(1)
  .max(MAX_HOST_CHARS + "*.".length)
  .overwrite((text) => canonicalPattern(text) ?? text)
  .refine((text) => canonicalPattern(text) !== null, {
    error:
      "network.hosts must have hosts such as example.com, or *.example.com for all hosts below it, without ports and paths",
  });

export const networkPolicy = z
  .strictObject({
    mode: z.enum(["open", "allowlist", "none"]),
    hosts: z
      .array(hostPattern)
      .max(MAX_HOSTS)
      .overwrite((hosts) => [...new Set(hosts)])
      .optional()
      .meta({
        description:
          "With `allowlist` the hosts, at every port: `example.com` is that host alone, `*.example.com` every host below it, and not itself. Absent with any other mode.",
      }),
  })
  .refine(({ mode, hosts }) => (mode === "allowlist") === (hosts !== undefined), {
    path: ["hosts"],
    error: "network.hosts must be given with the mode allowlist, and with no other",
  });

/** A policy, or the empty text that removes one. */
export const networkPolicyChange = z.union([networkPolicy, z.literal("")], {
  error: ({ errors }) => {
    const issue = errors?.[0]?.[0];
    if (!issue?.path.length) {
      return "network must have a mode (open, allowlist or none) and, with allowlist, hosts";
    }
    return issue.code === "custom" ? issue.message : `network.${issue.message}`;
  },
});

/** The policies that apply to a turn, all of which must allow a host. Open ones are left out. */
export const turnPolicies = z
  .array(
    z.object({
      /** Where the policy is set. `approvals` keeps commands from the web while requests must be approved. */
      of: z.enum(["account", "template", "chat", "approvals"]),
      mode: z.enum(["allowlist", "none"]),
      hosts: z.array(z.string()).optional(),
    }),
  )
  .readonly();
export type TurnPolicies = z.output<typeof turnPolicies>;
