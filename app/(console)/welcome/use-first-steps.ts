import { useEffect } from "react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { getFirstStepsContract } from "@/lib/accounts/contract.ts";
import { type Step, steps } from "./steps.ts";

type Body = z.output<(typeof getFirstStepsContract)["responses"][200]["schema"]>;

/**
 * Returns the steps that are done and the next one; undefined until the server has answered. In this tab
 * steps are done on other pages; what was done elsewhere shows when a person comes back to the window.
 */
export function useFirstSteps():
  | { readonly done: ReadonlySet<Step["name"]>; readonly next: Step | undefined }
  | undefined {
  const { data, reload } = useQuery<Body>("/api/accounts/me/first-steps");
  const state = data?.first_steps;
  const next = state && steps.find(({ name }) => !state[name]);
  const isComplete = state !== undefined && next === undefined;
  useEffect(() => {
    if (isComplete) return;
    window.addEventListener("focus", reload);
    return () => window.removeEventListener("focus", reload);
  }, [isComplete, reload]);
  if (state === undefined) return undefined;
  const done = steps.map(({ name }) => name).filter((name) => state[name]);
  return { done: new Set(done), next };
}
