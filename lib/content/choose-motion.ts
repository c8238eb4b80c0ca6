import { createHash } from "node:crypto";
import type { ContentTemplate } from "./template.ts";

/** What a template says about a video; absent where it says nothing. */
export interface Motion {
  readonly movement?: string | undefined;
  readonly mood?: string | undefined;
}

/**
 * One movement and one mood of the template, by the request's effect id: a repeated request gets
 * the same, another one may get others.
 */
export function chooseMotion({ video }: ContentTemplate, effectId: string): Motion {
  const choose = (purpose: string, choices: readonly string[] = []) =>
    choices[seedOf(effectId, purpose) % choices.length];
  return { movement: choose("movement", video?.movements), mood: choose("mood", video?.moods) };
}

/** 0 to 2^31 - 1: the same for all attempts at a request, of its own for each purpose. */
export function seedOf(effectId: string, purpose: string): number {
  return createHash("sha256").update(`${purpose} ${effectId}`).digest().readUInt32BE() >>> 1;
}
