import { createHash } from "node:crypto";
import type { ContentTemplate } from "./template.ts";

/** The camera movement and the mood of a video; absent when the template has none. */
export interface Motion {
  readonly movement?: string | undefined;
  readonly mood?: string | undefined;
}

/**
 * Chooses a movement and a mood of the template by the effect id, the same for a repeated request.
 */
export function chooseMotion({ video }: ContentTemplate, effectId: string): Motion {
  const choose = (purpose: string, choices: readonly string[] = []) =>
    choices[seedOf(effectId, purpose) % choices.length];
  return { movement: choose("movement", video?.movements), mood: choose("mood", video?.moods) };
}

/**
 * Returns a seed from 0 to 2^31 - 1: the same for every attempt at a request, different for each
 * purpose.
 */
export function seedOf(effectId: string, purpose: string): number {
  return createHash("sha256").update(`${purpose} ${effectId}`).digest().readUInt32BE() >>> 1;
}
