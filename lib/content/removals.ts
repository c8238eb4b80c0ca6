/** Files and sandboxes that are to be removed, because their rows were deleted (supabase/schemas/00_base.sql). */
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";

type RemovalKind = "media" | "content" | "sandbox";

const removal = z.object({
  /** The account, the workspace or the session. */
  ownerId: z.string(),
  /** Of the file; empty for a sandbox. */
  name: z.string(),
  /** The state of a sandbox. */
  state: z.unknown(),
});
export type Removal = z.output<typeof removal>;

/** Returns due removals. @param ownerId returns this owner's removals that were not tried yet */
export const dueRemovals = (
  db: Database,
  kind: RemovalKind,
  batch: number,
  ownerId: string | null = null,
): Promise<Removal[]> => call(db, "due_removals", { kind, batch, ownerId }, z.array(removal));

/** Records that the storage or the provider has removed it. */
export async function endRemoval(
  db: Database,
  kind: RemovalKind,
  { ownerId, name }: Pick<Removal, "ownerId" | "name">,
): Promise<void> {
  await call(db, "end_removal", { kind, ownerId, name });
}
