/**
 * Names of workflows and their steps that do not depend on a file's path. The Workflow SDK stores a name
 * with every run and step, and derives it from the path unless one is given here, so moving a file would
 * lose the turns in flight. A name given here is permanent: it never changes when its function is moved
 * or renamed, and is removed only when no stored run has it.
 *
 * This module runs in the SDK's workflow context, too, and therefore imports nothing.
 */

export const TURN_WORKFLOW = "workflow//./lib/turns/turn-workflow//turnWorkflow";

/** The token of the hook for which the run of a waiting turn waits. */
export const wakeToken = (turnId: string): string => `turn ${turnId}`;

type Step = (...args: never[]) => Promise<unknown>;
/** Resolves with whether the run has ended. */
type FirstStep = (input: never, runId: string) => Promise<boolean>;

/** Where the SDK finds workflows; it exists in the workflow context only. */
declare global {
  var __private_workflows: Map<string, Step> | undefined;
}

// The SDK's own registries, under the symbols by which its compiled code reaches them.
const USE_STEP = Symbol.for("WORKFLOW_USE_STEP");
const STEPS = Symbol.for("@workflow/core//registeredSteps");
const registeredSteps = (): Map<string, Step> => Reflect.get(globalThis, STEPS) ?? new Map();

/** Lets runs that were started under this name find the workflow. */
export function nameWorkflow(name: string, workflow: Step): void {
  globalThis.__private_workflows?.set(name, workflow);
}

/**
 * Registers a step under this name.
 * @returns the step as a workflow calls it by this name
 */
export function nameStep<S extends Step>(name: string, step: S): S {
  const proxyOf: unknown = Reflect.get(globalThis, USE_STEP);
  if (typeof proxyOf === "function") return proxyOf(name);
  Reflect.set(globalThis, STEPS, registeredSteps().set(name, step));
  return step;
}

const firstStepName = (workflow: string) => `first step of ${workflow}`;

/**
 * Registers work that the process that starts a run of the workflow does before it executes the
 * workflow, where the engine allows that (`Engine.executesOwnRuns`). It is not repeated after a
 * crash: the workflow then starts from the beginning, and must continue the work of the step.
 */
export function nameFirstStep(workflow: string, step: FirstStep): void {
  nameStep(firstStepName(workflow), step);
}

export const firstStepOf = (workflow: string) =>
  registeredSteps().get(firstStepName(workflow)) as
    | ((input: unknown, runId: string) => Promise<boolean>)
    | undefined;
