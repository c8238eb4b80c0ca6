/** Addresses in texts that strangers have chosen. */
import { visibleName } from "./visible-name.ts";

const LABEL = "[\\p{L}\\p{N}_-]+";
const DOMAIN = `(?:${LABEL}\\.)+(?:\\p{L}{2,}|xn--[a-z\\d-]+)(?![\\p{L}\\p{N}])|\\d{1,3}(?:\\.\\d{1,3}){3}`;
/** Text that reads as an address: its host, and the path behind it, which may also have dots. */
const ADDRESS = new RegExp(
  `(?:https?://(?:[^\\s/?#@]*@)?([^\\s/?#]+)|(?:[^\\s/?#@]+@)?(${DOMAIN})(?::\\d+)?)(?:[/?#]\\S*)?`,
  "giu",
);

/** Includes the dots of other scripts, which browsers treat as dots, too. */
const LINKED = new RegExp(DOMAIN.replaceAll("\\.", "[.。．｡]"), "giu");

/** A longer text may have any addresses: finding them takes the square of its length. */
const MAX_SEARCHED_CHARS = 2_000;

/**
 * Returns the host that a link leads to if its text is an address of another one, or of the same one in letters that
 * only look alike; else null.
 */
export function concealedHost(text: string, href: string): string | null {
  const url = URL.parse(href);
  if (url === null) return null;
  const real = url.protocol === "mailto:" ? (url.pathname.split("@").at(-1) ?? "") : url.host;
  const shown = text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Cc}\p{DI}]/gu, "")
    .replace(/[。｡]/g, ".");
  if (shown.length > MAX_SEARCHED_CHARS) return real;
  const hosts = [...shown.matchAll(ADDRESS)].map(([, host, domain]) => host ?? domain ?? "");
  const isNamed = hosts.every((host) => bareHost(host) === bareHost(real));
  // `https://bank.example@evil.example` has a user name where a person expects the host.
  return hosts.length === 0 || (isNamed && url.username === "") ? null : real;
}

const bareHost = (host: string): string =>
  host.toLowerCase().replace(/^www\.|[.:,;!)]*$|:\d+$/g, "");

/** Returns a name in which no program finds an address to link, and nothing is invisible: `evil[.]example`. */
export const withoutLinks = (name: string): string =>
  /^[^\s@]+@[^\s@]+$/.test(name)
    ? visibleName(name)
    : visibleName(name)
        .replace(LINKED, (domain) => domain.replace(/[.。．｡]/g, "[.]"))
        .replace(/:(?=\/\/)|(?<=\b(?:mailto|tel|sms)):/gi, "[:]");
