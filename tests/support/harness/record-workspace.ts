/** Records the examples of workspaces. */
import { fullMemory, proposalFor } from "../fixtures/memory.ts";
import { writeWorkspaceFile } from "../fixtures/workspace-files.ts";
import type { Context } from "./example-recorder.ts";

export async function recordWorkspace({ record, caller }: Context): Promise<void> {
  const path = "contracts/harbor.md";
  const text = "Velvet Harbor pays an advance of 20,000 EUR.\n";
  await record("writeWorkspaceFile", { query: { path }, body: "Draft\n" });
  await writeWorkspaceFile(caller, path, text);
  await record("listWorkspaceFiles", { query: { prefix: "contracts/", limit: "10" } });
  await record("readWorkspaceFile", { query: { path } });
  await record("searchWorkspace", { query: { q: "advance" } });
  await record("listWorkspaceVersions", { query: { path, limit: "10" } });
  await record("restoreWorkspaceFile", { body: { path, version: 1 } });
  await record("deleteWorkspaceFile", { query: { path } });

  const propose = async (memory: string) => {
    const { version } = await writeWorkspaceFile(caller, "MEMORY.md", memory);
    return (await proposalFor(caller, version)).id;
  };
  const rejected = await propose(fullMemory);
  const shorten = shortenTexts;
  await record("listMemoryProposals", { query: { limit: "10" } }, { shorten });
  await record("rejectMemoryProposal", { params: { id: rejected } }, { shorten });
  const accepted = await propose(`${fullMemory}- 2026-11-03: The tour starts in Oslo.\n`);
  await record("acceptMemoryProposal", { params: { id: accepted } }, { shorten });
}

/** Keeps the first lines of long texts. */
const shortenTexts = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (_, value: unknown) =>
    typeof value === "string" ? value.split("\n").slice(0, 6).join("\n") : value,
  );
