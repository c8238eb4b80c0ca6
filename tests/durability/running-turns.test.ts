import { afterEach, expect, test, vi } from "vitest";
import type { RunningTurn } from "../../lib/running-turn/step.ts";
import { RunningTurns } from "../../lib/turns/running-turns.ts";

// The store of running turns never looks inside a turn.
const turn = {} as RunningTurn;

afterEach(() => void vi.useRealTimers());

test("a turn that is continued is handed over once", () => {
  const turns = new RunningTurns();
  turns.keep("one", turn);
  expect(turns.take("one")).toBe(turn);
  expect(turns.take("one")).toBeUndefined();
});

test("turns that another process continues are dropped", () => {
  vi.useFakeTimers();
  const turns = new RunningTurns();
  for (let index = 0; index < 1_000; index++) turns.keep(`turn ${index}`, turn);
  expect(turns.size).toBe(1_000);
  vi.advanceTimersByTime(60_000);
  expect(turns.size).toBe(0);
  expect(turns.take("turn 1")).toBeUndefined();
});

test("a turn that was continued meanwhile gets its whole time again", () => {
  vi.useFakeTimers();
  const turns = new RunningTurns();
  turns.keep("one", turn);
  vi.advanceTimersByTime(59_000);
  turns.keep("one", turn);
  vi.advanceTimersByTime(59_000);
  expect(turns.take("one")).toBe(turn);
});
