/** Fetches a skill from the archive of a Git host, or from any ZIP archive. */
import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import { fetchPublic } from "@platform/kit/outbound/fetch-public";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import { readBytes } from "@platform/kit/outbound/vendor-fetch";
import { openArchive } from "./read-archive.ts";
import { checkSkill, isLitter, readEntries, type SkillContent } from "./skill-content.ts";

const MAX_ARCHIVE_BYTES = 30 * 1024 * 1024;
const DEADLINE_MS = 60_000;

export interface SkillAddress {
  /** The URL of a repository, of a folder in one, or of an archive. */
  readonly url: string;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
}

export interface FetchedSkill extends Pick<Source, "ref" | "path"> {
  readonly content: SkillContent;
  /** Null for an archive that names none. */
  readonly commit: string | null;
}

/** Downloads and checks a skill. Errors: 400, 502. @param allowLoopback whether the URL may lead to this machine */
export async function fetchSkill(
  address: SkillAddress,
  allowLoopback: boolean,
  fetchArchive = download,
): Promise<FetchedSkill | AppError> {
  const source = sourceOf(address);
  if (isAppError(source)) return source;
  const bytes = await fetchArchive(source.archive, allowLoopback);
  return isAppError(bytes) ? bytes : readSkill(bytes, source);
}

interface Source {
  readonly archive: URL;
  readonly ref: string | null;
  /** The folder of the skill in the archive; null for the only one. */
  readonly path: string | null;
}

/** Returns where the archive is. A Git host's has the commit in its comment, as `git archive` writes it. */
function sourceOf({ url: given, ref, path }: SkillAddress): Source | AppError {
  const url = new URL(given);
  const parts = url.pathname.split("/").filter(Boolean);
  const clean = (text: string | undefined) => text?.replace(/^\/+|\/+$/g, "") || null;
  const isGitHub = url.hostname === "github.com";
  const isHost = isGitHub || url.hostname === "gitlab.com";
  if (!isHost || parts.length < 2 || /\.zip$/.test(url.pathname)) {
    return ref === undefined
      ? { archive: url, ref: null, path: clean(path) }
      : invalidField("ref", "ref is only for repositories on GitHub and GitLab");
  }
  // The name of a project of GitLab may have many segments, and ends before a `-`.
  const dash = parts.indexOf("-");
  const end = isGitHub ? 2 : dash < 0 ? parts.length : dash;
  const [kind, tree, ...folders] = parts.slice(isGitHub ? end : end + 1);
  if (kind !== undefined && kind !== "tree") {
    return invalidField("url", "url must be a repository or a folder of one");
  }
  const project = parts
    .slice(0, end)
    .join("/")
    .replace(/\.git$/, "");
  const chosen = ref ?? tree ?? null;
  const archive = new URL(isGitHub ? "https://codeload.github.com" : "https://gitlab.com");
  archive.pathname = isGitHub
    ? `/${project}/zip/${chosen ?? "HEAD"}`
    : `/${project}/-/archive/${chosen ?? "HEAD"}/skill.zip`;
  return { archive, ref: chosen, path: clean(path ?? folders.join("/")) };
}

async function download(url: URL, allowLoopback: boolean): Promise<Buffer | AppError> {
  const fault = faultOfUrl(url, allowLoopback);
  if (fault !== null) return invalidField("url", `url ${fault}`);
  const failed = appError("upstream_error", `The archive could not be downloaded from ${url.host}`);
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const response = await fetchPublic(url, allowLoopback, signal);
    if (!response) return failed;
    const bytes = await readBytes(response.body, MAX_ARCHIVE_BYTES);
    return bytes ?? invalidField("url", "url has an archive of more than 30 MiB");
  } catch {
    return failed;
  }
}

async function readSkill(bytes: Buffer, { ref, path }: Source): Promise<FetchedSkill | AppError> {
  const archive = openArchive(bytes);
  if (typeof archive === "string") return invalidField("url", `url: the archive ${archive}`);
  const entries = archive.entries.filter(({ name }) => !name.endsWith("/") && !isLitter(name));
  const folders = entries
    .filter(({ name }) => name === "SKILL.md" || name.endsWith("/SKILL.md"))
    .map(({ name }) => name.slice(0, -"SKILL.md".length));
  // A Git host puts everything into one folder.
  const chosen =
    path === null
      ? folders
      : folders.filter((folder) => folder === `${path}/` || withoutFirst(folder) === `${path}/`);
  const [folder] = chosen;
  if (folder === undefined) {
    const field = path === null ? "url" : "path";
    return invalidField(field, `${field} has no SKILL.md`);
  }
  if (chosen.length > 1) {
    const some = chosen.slice(0, 20).map((name) => withoutFirst(name).slice(0, -1));
    return invalidField("path", `path must name one of the skills: ${some.join(", ")}`);
  }
  const inFolder = entries.filter(({ name }) => name.startsWith(folder));
  const files = await readEntries(archive, inFolder, folder, "url");
  if (isAppError(files)) return files;
  const content = checkSkill(files, "url");
  if (isAppError(content)) return content;
  const commit = /^[0-9a-f]{40}$/.exec(archive.comment)?.[0] ?? null;
  return { content, ref, path, commit };
}

const withoutFirst = (path: string): string => path.slice(path.indexOf("/") + 1);
