import type { FileParts } from "../running-turn/message-files.ts";
import { steeringChunks } from "../running-turn/read-chunks.ts";
import type { Decision, Step } from "../running-turn/step.ts";
import { steerTurn } from "./steer-turn.ts";

export async function steering(step: Step<FileParts>): Promise<Decision> {
  const { turn, call } = step.current;
  // A call that has started cannot be steered, and one that is repeated gets the same messages.
  if (call || step.isRestarted || !step.maySteer) return undefined;
  const { taken, untrusted } = await steerTurn(step.app, step.key, turn, step.index, step.stop);
  const steering = [...turn.steering, ...taken];
  step.change({ steering });
  step.addSources(untrusted);
  const ofStep = steering.filter((message) => message.step === step.index);
  for (const chunk of steeringChunks(ofStep, step.progress?.steering)) step.write(chunk);
  return undefined;
}
