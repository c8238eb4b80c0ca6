import { createTwoFilesPatch } from "diff";

/** The time of a comparison grows with the product of a text's length and its changes. */
const MAX_EDITS = 2_000;

/** Returns the changes of a text as a unified diff; undefined if they are too many. */
export const unifiedDiff = (
  [nameBefore, nameAfter]: readonly [string, string],
  before: string,
  after: string,
): string | undefined =>
  createTwoFilesPatch(nameBefore, nameAfter, before, after, undefined, undefined, {
    maxEditLength: MAX_EDITS,
  });
