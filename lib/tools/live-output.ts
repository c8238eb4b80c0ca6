/**
 * The output of a command while it runs: its newest part, as preliminary results of its call. The result replaces
 * them; neither the model nor the stored message gets them.
 */

import { storableTail } from "@platform/agent/tools/make-storable";
import type { CommandOptions } from "@platform/sandbox/port";
import type { JSONValue } from "ai";

const MIN_PAUSE_MS = 1_000;
/** The share of the time so far: longer commands are shown less often, at most 40 times in two minutes. */
const PAUSE_SHARE = 0.1;
/** The maximum of stdout and of stderr. */
const MAX_SHOWN_CHARS = 2_000;
/** More than is shown, because credentials are left out. */
const MAX_KEPT_CHARS = 6_000;

/** @param env of the command, whose credentials are not shown */
export function liveOutput(
  env: Readonly<Record<string, string>>,
  show: (output: JSONValue) => void,
): { readonly onOutput: NonNullable<CommandOptions["onOutput"]>; readonly end: () => void } {
  const started = performance.now();
  const kept = { stdout: "", stderr: "" };
  const isCut = { stdout: false, stderr: false };
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const tailOf = (stream: "stdout" | "stderr") =>
    storableTail(kept[stream], isCut[stream], env, MAX_SHOWN_CHARS);
  const showNow = () => {
    timer = undefined;
    show({ stdout: tailOf("stdout"), stderr: tailOf("stderr") });
  };
  return {
    onOutput(stream, text) {
      if (hasEnded) return;
      const all = kept[stream] + text;
      isCut[stream] ||= all.length > MAX_KEPT_CHARS;
      kept[stream] = all.slice(-MAX_KEPT_CHARS);
      const pause = Math.max(MIN_PAUSE_MS, (performance.now() - started) * PAUSE_SHARE);
      timer ??= setTimeout(showNow, pause);
    },
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}
