import type { Probe } from "@platform/kit/outbound/probe";

/** The finding of one check of an installation. Its texts never contain the value of a secret. */
export interface Finding {
  /** The subject of the check, such as `database` or `mail`. */
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
  /** The remedy; absent when none is needed. */
  readonly remedy?: string;
  /** The settings that it is about. */
  readonly settings?: readonly string[];
  /**
   * Whether a server refuses to start with it. A service that merely does not answer is `failed` too,
   * but may answer soon.
   */
  readonly blocksStart?: boolean;
}

/** Returns the finding of a check that found nothing wrong. */
export const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail });

const problem =
  (status: "warning" | "failed") =>
  (check: string, detail: string, remedy: string, settings: readonly string[] = []): Finding => ({
    check,
    status,
    detail,
    remedy,
    settings,
  });

/** Returns a finding with which the installation works, but not as its operator may expect. */
export const warning = problem("warning");

/** Returns a finding that a server may outlast, or do without for a while. */
export const failed = problem("failed");

/** Returns the finding of a configuration that cannot work. */
export const misconfigured = (
  check: string,
  detail: string,
  remedy: string,
  settings: readonly string[],
): Finding => ({ ...failed(check, detail, remedy, settings), blocksStart: true });

const usualRemedies: Readonly<Record<Probe["outcome"], (names: string) => string>> = {
  accepted: () => "",
  credentials: (names) => `Set ${names} to credentials that the service accepts.`,
  address: (names) => `Correct ${names}.`,
  missing: (names) => `Correct ${names}.`,
  unreachable: (names) => `Correct ${names}, or wait until the service answers this machine.`,
};

/** Returns the finding for the answer of a service. */
export function findingOf(check: string, { outcome, detail, settings, remedy }: Probe): Finding {
  if (outcome === "accepted") return ok(check, detail);
  const create = outcome === "credentials" || outcome === "address" ? misconfigured : failed;
  return create(check, detail, remedy ?? usualRemedies[outcome](settings.join(", ")), settings);
}
