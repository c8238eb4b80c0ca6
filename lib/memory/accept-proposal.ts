import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import { receiveFile, storeContent } from "../workspace/store-content.ts";
import type { MemoryProposal } from "./contract.ts";
import { findProposal, recordAcceptance, staleProposal } from "./store.ts";

/**
 * Makes the text of a proposal the newest version of `MEMORY.md`, once.
 * Errors: 403 in a full workspace, 404, 409 for a proposal that is stale or rejected.
 */
export async function acceptProposal(
  app: Parts<"db" | "contentStorage">,
  accountId: string,
  id: string,
): Promise<MemoryProposal | AppError> {
  const proposal = await findProposal(app.db, accountId, id);
  if (isAppError(proposal) || proposal.state === "accepted") return proposal;
  if (proposal.state === "stale") return staleProposal;
  const place = { accountId, artistId: proposal.artist_id };
  return receiveFile(contentOf(proposal), (file) =>
    storeContent(app, place, file, (contentId) =>
      recordAcceptance(app.db, accountId, id, contentId),
    ),
  );
}

async function* contentOf({ text }: MemoryProposal): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
