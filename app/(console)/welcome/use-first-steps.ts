import type { z } from "zod";
import { usePoll } from "@/app/(console)/_hooks/use-poll.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { getFirstStepsContract } from "@/lib/accounts/contract.ts";
import { type Step, steps } from "./steps.ts";

type Body = z.output<(typeof getFirstStepsContract)["responses"][200]["schema"]>;

const POLL_INTERVAL_MS = 4_000;

/** Returns the steps that are done and the next one; undefined until the server has answered. */
export function useFirstSteps():
  | { readonly done: ReadonlySet<Step["name"]>; readonly next: Step | undefined }
  | undefined {
  const { data, loading, reload } = useQuery<Body>("/api/accounts/me/first-steps");
  const state = data?.first_steps;
  const next = state && steps.find(({ name }) => !state[name]);
  // A step may be done in another tab, or by a key in a terminal.
  usePoll(reload, !loading && next !== undefined, POLL_INTERVAL_MS);
  if (state === undefined) return undefined;
  const done = steps.map(({ name }) => name).filter((name) => state[name]);
  return { done: new Set(done), next };
}
