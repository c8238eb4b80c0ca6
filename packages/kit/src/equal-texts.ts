import { timingSafeEqual } from "node:crypto";

/** Returns whether two texts are equal, in a time that depends on their lengths alone. */
export function areEqualTexts(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
