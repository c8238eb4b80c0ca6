"use client";
import type { MemoryProposal } from "@/lib/workspace/memory-contract.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { DiffView } from "../_ui/diff-view.tsx";
import { ErrorNote } from "../_ui/states.tsx";
import { apiPath } from "./addresses.ts";

interface MemoryProposalsProps {
  readonly artist: string;
  readonly onAccepted: () => void;
}

/** The shorter texts that are proposed for a memory that is nearly full. */
export function MemoryProposals({ artist, onAccepted }: MemoryProposalsProps) {
  const list = usePages<MemoryProposal>(apiPath("memory/proposals", artist), "proposals");
  const { send, busy, error } = useSubmit();
  const decide = async (id: string, decision: "accept" | "reject") => {
    await send(`/api/workspace/memory/proposals/${id}/${decision}`);
    await list.refresh();
    onAccepted();
  };
  const open = list.items?.filter(({ state }) => state === "proposed") ?? [];
  return open.map(({ id, diff }) => (
    <Card key={id} className="mb-4 flex flex-col gap-3">
      <h2 className="font-semibold">The memory is nearly full: a shorter text is proposed</h2>
      <DiffView diff={diff} />
      <ErrorNote>{error?.message ?? null}</ErrorNote>
      <div className="flex gap-2">
        <Button busy={busy} onClick={() => void decide(id, "accept")}>
          Accept
        </Button>
        <Button variant="outline" busy={busy} onClick={() => void decide(id, "reject")}>
          Dismiss
        </Button>
      </div>
    </Card>
  ));
}
