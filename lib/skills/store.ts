/**
 * Skills in the database (supabase/schemas/36_skills.sql). Every function takes the account; a skill that
 * it cannot use, and an organization that it does not belong to, answer exactly like missing ones.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { type LoadedSkill, SKILL_SOURCES, type SkillFile } from "@platform/skills/skill";
import type { SkillContent } from "@platform/skills/skill-content";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import {
  type Skill,
  type SkillOrigin,
  type SkillVersion,
  skill,
  skillVersion,
} from "./contract.ts";

const MAX_SKILLS = 200;

export interface SkillOwner {
  readonly accountId: string;
  readonly organizationId: string | undefined;
}

/** @param query of a request, which may name an organization */
export const ownerOf = (
  { accountId }: { readonly accountId: string },
  query: { readonly organization_id?: string | undefined },
): SkillOwner => ({ accountId, organizationId: query.organization_id });

export const skillNotFound = appError("not_found", "Skill not found");
const refusal = refusalOf({
  missing: skillNotFound,
  not_owner: appError("not_owner", "Only an owner of the organization can change its skills"),
  full: appError("quota_exceeded", "There are too many skills: delete one to make room"),
});

/** Files were validated before they were stored. */
const file = z.custom<SkillFile>((value) => typeof value === "object" && value !== null);
const storedSkill = rowOf(skill);
const found = z.object({ skill: storedSkill, files: z.array(file) });
export type StoredSkill = z.output<typeof found>;
const put = found.extend({ created: z.boolean() });
const done = z.object({ done: z.literal(true) }).transform(() => undefined);

const at = ({ accountId, organizationId }: SkillOwner) => ({
  accountId,
  organizationId: organizationId ?? null,
});

const known = z.object({ skills: z.array(storedSkill), disabled: z.array(z.string()) });

export const selectSkills = (
  db: Database,
  owner: SkillOwner,
): Promise<{ readonly skills: readonly Skill[]; readonly disabled: readonly string[] }> =>
  call(db, "list_skills", at(owner), known);

/** Errors: 404. @param version the current one when absent */
export const selectSkill = (
  db: Database,
  owner: SkillOwner,
  name: string,
  version?: number,
): Promise<StoredSkill | AppError> =>
  call(
    db,
    "get_skill",
    { ...at(owner), name, version: version ?? null },
    z.union([found, refusal]),
  );

/** Errors: 403 for members, or at the limit; 404 for the organization. */
export const putSkill = (
  db: Database,
  owner: SkillOwner,
  content: SkillContent,
  origin: SkillOrigin | null,
): Promise<z.output<typeof put> | AppError> =>
  call(
    db,
    "put_skill",
    {
      ...at(owner),
      name: content.name,
      description: content.description,
      files: content.files,
      bytes: content.bytes,
      sha256: content.sha256,
      origin,
      max: MAX_SKILLS,
    },
    z.union([put, refusal]),
  );

/** Errors: 403 for members, 404. */
export const removeSkill = (
  db: Database,
  owner: SkillOwner,
  name: string,
): Promise<AppError | undefined> =>
  call(db, "delete_skill", { ...at(owner), name }, z.union([done, refusal]));

/** Errors: 403 for members, 404. */
export const enableSkill = (
  db: Database,
  owner: SkillOwner,
  name: string,
  enabled: boolean,
  isBuiltIn: boolean,
): Promise<AppError | undefined> =>
  call(db, "enable_skill", { ...at(owner), name, enabled, isBuiltIn }, z.union([done, refusal]));

const storedVersions = z.object({ versions: z.array(rowOf(skillVersion)) });

/** Errors: 404. */
export const selectSkillVersions = (
  db: Database,
  owner: SkillOwner,
  name: string,
): Promise<{ readonly versions: readonly SkillVersion[] } | AppError> =>
  call(db, "list_skill_versions", { ...at(owner), name }, z.union([storedVersions, refusal]));

/** Errors: 403 for members, 404. */
export const restoreSkill = (
  db: Database,
  owner: SkillOwner,
  name: string,
  version: number,
): Promise<StoredSkill | AppError> =>
  call(db, "restore_skill", { ...at(owner), name, version }, z.union([put, refusal]));

const loaded = z.object({
  name: z.string(),
  source: z.enum(SKILL_SOURCES),
  version: z.number(),
  isForeign: z.boolean(),
  files: z.array(file),
});

/** Loads a stored skill for a turn and records it. Resolves to null for a name that it cannot use. */
export const loadStoredSkill = (
  db: Database,
  accountId: string,
  turnId: string,
  name: string,
): Promise<LoadedSkill | null> =>
  call(db, "load_skill", { accountId, turnId, name }, loaded.nullable());

/** Records that a turn has loaded a skill that is not stored. */
export async function recordTurnSkill(
  db: Database,
  accountId: string,
  turnId: string,
  value: Pick<LoadedSkill, "name" | "source"> & { readonly sha256?: string },
): Promise<void> {
  await call(db, "record_turn_skill", { accountId, turnId, skill: value });
}
