/** Takes the messages that steer the turn, and shows them before the step. */
import type { SteeringMessage } from "@platform/agent/conversation";
import type { UIMessageChunk } from "ai";
import type { FileParts } from "../running-turn/message-files.ts";
import type { Decision, Step } from "../running-turn/step.ts";
import { steerTurn } from "./steer-turn.ts";

export async function steering(step: Step<FileParts>): Promise<Decision> {
  const { turn, call } = step.current;
  // A call that has started cannot be steered, and one that is repeated gets the same messages.
  if (call || step.isRestarted || !step.maySteer) return undefined;
  const { taken, untrusted } = await steerTurn(step.app, step.key, turn, step.index, step.stop);
  const steering = [...turn.steering, ...taken];
  step.change({ steering });
  step.meet(untrusted);
  const ofStep = steering.filter((message) => message.step === step.index);
  for (const chunk of steeringChunks(ofStep, step.progress?.steering)) step.write(chunk);
  return undefined;
}

/** Returns the chunks of the messages that the stream does not show yet. */
export const steeringChunks = (
  steering: readonly SteeringMessage[],
  known: ReadonlySet<string> = new Set(),
): UIMessageChunk[] =>
  steering
    .filter(({ id }) => !known.has(id))
    .map(({ id, parts }) => ({ type: "steering-message", id, parts }));
