import type { Probe } from "../../platform/outbound/probe.ts";

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

export const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail });

type Trouble = Pick<Finding, "detail" | "remedy" | "settings">;

export const warning = (check: string, trouble: Trouble): Finding => ({
  check,
  status: "warning",
  ...trouble,
});

/** Something that a server may outlast, or do without for a while. */
export const failed = (check: string, trouble: Trouble): Finding => ({
  check,
  status: "failed",
  ...trouble,
});

/** A configuration that cannot work. */
export const misconfigured = (check: string, trouble: Trouble): Finding => ({
  ...failed(check, trouble),
  blocksStart: true,
});

export function findingOf(check: string, probe: Probe): Finding {
  const { outcome, detail, settings } = probe;
  const names = settings.join(", ");
  const remedy = (usual: string) => probe.remedy ?? usual;
  switch (outcome) {
    case "accepted":
      return ok(check, detail);
    case "credentials":
      return misconfigured(check, {
        detail,
        remedy: remedy(`Set ${names} to credentials that the service accepts.`),
        settings,
      });
    case "address":
      return misconfigured(check, { detail, remedy: remedy(`Correct ${names}.`), settings });
    case "missing":
      return failed(check, { detail, remedy: remedy(`Correct ${names}.`), settings });
    case "unreachable":
      return failed(check, {
        detail,
        remedy: remedy(`Correct ${names}, or wait until the service answers this machine.`),
        settings,
      });
  }
}
