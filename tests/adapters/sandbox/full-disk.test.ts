import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { checkRoom } from "../../../lib/health/check-parts.ts";
import { QUOTA_REACHED } from "../../../packages/sandbox/src/adapters/local/disk-usage.ts";
import { errorCodeOf } from "../../../packages/sandbox/src/adapters/local/session-fs.ts";

test.each([
  [QUOTA_REACHED, "no_space"],
  ["ENOSPC: no space left on device, write", "disk_full"],
  ["ENOSPC: no space left on device, open '/home/agent/a'", "disk_full"],
  ["ENOENT: no such file or directory, open '/home/agent/a'", "not_found"],
])("%j is %s", (message, code) => {
  expect(errorCodeOf(message)).toBe(code);
});

test("a disk without room is not ready", async () => {
  await expect(checkRoom(tmpdir(), 1)).resolves.toBeUndefined();
  await expect(checkRoom(tmpdir(), Number.MAX_SAFE_INTEGER)).rejects.toThrow("is full");
});
