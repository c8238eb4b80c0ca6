/** Imports a skill from the archive of a Git host, or from any ZIP archive. */

import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { unifiedDiffOfFiles } from "@platform/kit/unified-diff";
import { cutOutput } from "@platform/sandbox/cut-output";
import { fetchSkill } from "@platform/skills/fetch-skill";
import { allowsLoopback } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import type { ImportRequest, SkillOrigin } from "./contract.ts";
import { putSkill, type SkillOwner, type StoredSkill, selectSkill } from "./store.ts";

const MAX_DIFF_CHARS = 100_000;

export interface Import extends StoredSkill {
  readonly created: boolean;
  /** The changes that an `accept` applies; null for none. */
  readonly update: { sha256: string; origin: SkillOrigin; diff: string } | null;
}

/**
 * Creates the skill, or its next version if `accept` is the digest of the import. Otherwise describes the
 * changes. Errors: 400, 403, 404, 502.
 */
export async function importSkill(
  db: Database,
  owner: SkillOwner,
  request: ImportRequest,
): Promise<Import | AppError> {
  const fetched = await fetchSkill(request, allowsLoopback("skills"));
  if (isAppError(fetched)) return fetched;
  const { content, ...place } = fetched;
  const origin = { url: request.url, ...place };
  const current = await selectSkill(db, owner, content.name);
  const isOwn =
    !isAppError(current) && current.skill.organization_id === (owner.organizationId ?? null);
  if (isOwn && current.skill.sha256 === content.sha256) {
    return { ...current, created: false, update: null };
  }
  if (isOwn && request.accept !== content.sha256) {
    const diff = cutOutput(unifiedDiffOfFiles(current.files, content.files), MAX_DIFF_CHARS);
    const update = { sha256: content.sha256, origin, diff };
    return { ...current, created: false, update };
  }
  const saved = await putSkill(db, owner, content, origin);
  return isAppError(saved) ? saved : { ...saved, update: null };
}
