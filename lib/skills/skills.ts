/** The use cases of stored and built-in skills. */

import { isAppError } from "@platform/endpoint/contract/app-error";
import { builtInFiles, builtInSkills } from "@platform/skills/built-in-skills";
import { listSkills as listUsable } from "@platform/skills/prompt-skills";
import { digestOf, type SkillFile, type SkillLibrary } from "@platform/skills/skill";
import { checkSkill, readUpload } from "@platform/skills/skill-content";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import type { Skill } from "./contract.ts";
import {
  enableSkill,
  loadStoredSkill,
  ownerOf,
  putSkill,
  recordTurnSkill,
  removeSkill,
  type SkillOwner,
  selectSkill,
  selectSkills,
  skillNotFound,
} from "./store.ts";

type Caller = Parameters<typeof ownerOf>[0];
type OwnerQuery = Parameters<typeof ownerOf>[1];

const isBuiltIn = (name: string): boolean => builtInSkills().some((known) => known.name === name);

/** Lists the skills of the owner, and the built-in ones unless the owner is an organization. */
export async function listSkills(db: Database, owner: SkillOwner): Promise<Skill[]> {
  const { skills, disabled } = await selectSkills(db, owner);
  if (owner.organizationId !== undefined) return [...skills];
  const builtIn = builtInSkills().map(({ name, description }) =>
    builtInSkill(name, description, !disabled.includes(name)),
  );
  return [...skills, ...builtIn].sort((one, other) => (one.name < other.name ? -1 : 1));
}

const builtInSkill = (name: string, description: string, enabled: boolean): Skill => ({
  name,
  description,
  source: "built-in",
  organization_id: null,
  version: null,
  enabled,
  sha256: null,
  origin: null,
  updated_at: null,
});

/** Returns a skill with its files. Errors: 404. */
export async function getSkill(
  app: Parts<"db" | "describeApi">,
  caller: Caller,
  name: string,
  query: OwnerQuery & { readonly version?: number | undefined },
) {
  const owner = ownerOf(caller, query);
  const { version } = query;
  const stored = await selectSkill(app.db, owner, name, version);
  if (!isAppError(stored)) return stored;
  const known = builtInSkills().find((candidate) => candidate.name === name);
  if (!known || owner.organizationId !== undefined || version !== undefined) return skillNotFound;
  const { disabled } = await selectSkills(app.db, owner);
  const files = await builtInFiles(name, app.describeApi);
  return {
    skill: builtInSkill(name, known.description, !disabled.includes(name)),
    files,
  };
}

/** Returns a skill as responses have it. */
export const present = ({ skill, files }: { skill: Skill; files: readonly SkillFile[] }) => ({
  ...skill,
  files: files.map(({ path, size, text }) => ({ path, size, text: text ?? null })),
});

export const presentFound = (found: Parameters<typeof present>[0]) =>
  ({ body: { status: "success", skill: present(found) } }) as const;

/** Returns a skill that was written, as responses have it. */
export function presentWritten(written: Parameters<typeof present>[0] & { created: boolean }) {
  const body = { status: "success", skill: present(written) } as const;
  return written.created ? ({ status: 201, body } as const) : { body };
}

/** Creates a skill or its next version. Errors: 400, 403, 404. */
export async function saveSkill(
  db: Database,
  caller: Caller,
  name: string,
  query: OwnerQuery,
  upload: Parameters<typeof readUpload>[0],
) {
  const files = await readUpload(upload);
  if (isAppError(files)) return files;
  const content = checkSkill(files, upload.files ? "files" : "zip", name);
  return isAppError(content) ? content : putSkill(db, ownerOf(caller, query), content, null);
}

/** Enables or disables a skill. Errors: 403, 404. */
export const changeSkill = (
  db: Database,
  caller: Caller,
  name: string,
  query: OwnerQuery,
  { enabled }: { readonly enabled: boolean },
) => enableSkill(db, ownerOf(caller, query), name, enabled, isBuiltIn(name));

/** Errors: 403, 404. */
export const deleteSkill = (db: Database, caller: Caller, name: string, query: OwnerQuery) =>
  removeSkill(db, ownerOf(caller, query), name);

/** Returns the skills that a turn can load. */
export function skillLibrary(
  { db, describeApi }: Parts<"db" | "describeApi">,
  accountId: string,
  turnId: string,
): SkillLibrary {
  const owner = { accountId, organizationId: undefined };
  return {
    list: async () => {
      const { skills, disabled } = await selectSkills(db, owner);
      const usable = skills.filter(({ enabled }) => enabled);
      // They come in the order in which they are used.
      const listed = usable.filter(
        ({ name }, place) => usable.findIndex((other) => other.name === name) === place,
      );
      return listUsable({ listed, disabled: [...disabled] });
    },
    load: async (name) => {
      const stored = await loadStoredSkill(db, accountId, turnId, name);
      if (stored || !isBuiltIn(name)) return stored;
      const { disabled } = await selectSkills(db, owner);
      if (disabled.includes(name)) return null;
      const files = await builtInFiles(name, describeApi);
      const skill = { name, source: "built-in" } as const;
      await recordTurnSkill(db, accountId, turnId, { ...skill, sha256: digestOf(files) });
      return { ...skill, version: null, isForeign: false, files };
    },
    recordFromSandbox: (name) =>
      recordTurnSkill(db, accountId, turnId, { name, source: "sandbox" }),
  };
}
