/** Recorded requests as lines for a shell: the key's header is in `$K`. */

import type { Contract } from "../contract/contract.ts";
import type { RecordedExchange } from "./examples.ts";

type Request = RecordedExchange["request"];

/** `/api/keys/5b0e…/rotate?limit=1` */
export function addressOf({ path }: Contract, { params = {}, query = {} }: Request): string {
  const filled = path.replace(/\{(\w+)\}/g, (braces, name: string) =>
    params[name] === undefined ? braces : encodeURIComponent(params[name]),
  );
  const search = new URLSearchParams(query).toString();
  return filled + (search === "" ? "" : `?${search}`);
}

/** @param origin of the service, such as `https://api.example.com` */
export function curl(contract: Contract, request: Request, origin: string): string {
  const { headers = {}, body } = request;
  const isStream = Object.values(contract.responses).some(({ stream }) => stream);
  const isBytes = Object.values(contract.responses).some(({ bytes }) => bytes);
  const implied = body === undefined ? "GET" : "POST";
  return [
    "curl",
    ...(isStream ? ["-N"] : []),
    ...(isBytes && contract.auth === "none" ? ["-O"] : []),
    ...(contract.method === implied ? [] : [`-X ${contract.method}`]),
    quoted(`${origin}${addressOf(contract, request)}`),
    ...(contract.auth === "required" ? ['-H "$K"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [bodyOf(contract, body)]),
  ].join(" ");
}

const bodyOf = ({ byteBodyLimit }: Contract, body: unknown): string =>
  byteBodyLimit === undefined
    ? `-d ${quoted(JSON.stringify(body))}`
    : `--data-binary ${quoted(String(body))}`;

const quoted = (text: string): string =>
  /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
