/**
 * The result of the cheapest request to a service that needs the credentials. It is for the operator, and
 * nothing in it quotes the service, whose errors may repeat a credential.
 */
import { requestJson, type UpstreamAnswer, type UpstreamQuestion } from "./fetch-json.ts";

export interface Probe {
  /**
   * `credentials`: the service rejects them. `address`: the answer is not from the service, or does not
   * fit the settings. `missing`: it lacks something that the settings name, and does the rest.
   * `unreachable`: it does not answer or fails, perhaps only for now.
   */
  readonly outcome: "accepted" | "credentials" | "address" | "missing" | "unreachable";
  /** A clause whose subject is the service or its host. */
  readonly detail: string;
  /** The settings that the outcome depends on. */
  readonly settings: readonly string[];
  /** The remedy, where it is not a correction of the settings. */
  readonly remedy?: string;
}

/** The part of an adapter of an external service that checks an installation. */
export interface Checkable {
  /**
   * Makes the cheapest requests that need the service's settings. Never throws, and costs no money.
   * Absent if there is no service.
   */
  check?(deadline: AbortSignal): Promise<readonly Probe[]>;
}

/** The names of the settings with which an adapter reaches its service. */
export interface Access {
  readonly credentials: readonly string[];
  readonly address: readonly string[];
}

/** Sends the request once, and describes the answer. */
export async function probeJson(
  url: URL,
  question: UpstreamQuestion,
  access: Access,
): Promise<Probe> {
  return describeAnswer(url, await requestJson(url, question), access);
}

export function describeAnswer(url: URL, answer: UpstreamAnswer, access: Access): Probe {
  switch (answer.kind) {
    case "json":
      return accepted(url, access);
    case "refused":
      return describeStatus(url, answer.status, access);
    case "timeout":
      return unreachable(url, "did not answer in time", access);
    case "broken":
      // An HTML page, for example.
      if (answer.cause instanceof SyntaxError) return misplaced(url, "sent no JSON", access);
      return describeFailure(url, answer.cause, access);
  }
}

export function describeStatus(url: URL, status: number, access: Access): Probe {
  if (status === 401 || status === 403) {
    const detail = `${url.host} rejects the credentials (status ${status})`;
    return { outcome: "credentials", detail, ...namesOf(access) };
  }
  const isTemporary = status >= 500 || [402, 408, 425, 429].includes(status);
  const text = `answered with status ${status}`;
  return isTemporary ? unreachable(url, text, access) : misplaced(url, text, access);
}

/** The address may belong to another service or project, which does not know the credentials. */
function namesOf({ credentials, address }: Access): Pick<Probe, "settings" | "remedy"> {
  const settings = [...new Set([...credentials, ...address])];
  const elsewhere = address.filter((name) => !credentials.includes(name));
  const orCorrect = elsewhere.length > 0 ? `, or correct ${elsewhere.join(", ")}` : "";
  const remedy = `Set ${credentials.join(", ")} to credentials that the service accepts${orCorrect}.`;
  return { settings, remedy };
}

/** Describes an error of `fetch`, of a socket or of a driver by its code alone. */
export function describeFailure(url: URL, error: unknown, access: Access): Probe {
  const code = codeOf(error);
  return unreachable(url, code ? `did not answer (${code})` : "did not answer", access);
}

export const accepted = (url: URL, access: Access): Probe => ({
  outcome: "accepted",
  detail: `${url.host} accepts the credentials`,
  settings: [...access.credentials, ...access.address],
});

const misplaced = (url: URL, text: string, { address }: Access): Probe => ({
  outcome: "address",
  detail: `${url.host} ${text}, as the service would not`,
  settings: address,
});

const unreachable = (url: URL, text: string, access: Access): Probe => ({
  outcome: "unreachable",
  detail: `${url.host} ${text}`,
  // An address that cannot be a setting is the vendor's own.
  settings: access.address.length > 0 ? access.address : access.credentials,
});

const CODE = /^[A-Z0-9_]{1,60}$/;

/** Returns the code of an error or of its cause; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 3; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string" && CODE.test(at.code)) return at.code;
  }
  return undefined;
}
