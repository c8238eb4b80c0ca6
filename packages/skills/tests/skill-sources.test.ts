/** Where the archive of an import is, for the URLs that people copy from a Git host. */
import { appError } from "@platform/endpoint/contract/app-error";
import { expect, test } from "vitest";
import { fetchSkill, type SkillAddress } from "../src/fetch-skill.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

test.each<[SkillAddress, string]>([
  [{ url: "https://github.com/o/r" }, "https://codeload.github.com/o/r/zip/HEAD"],
  [{ url: "https://github.com/o/r.git", ref: "v1" }, "https://codeload.github.com/o/r/zip/v1"],
  [{ url: "https://github.com/o/r/tree/dev/skills/a" }, "https://codeload.github.com/o/r/zip/dev"],
  [
    { url: "https://github.com/o/r/tree/dev/skills/a", ref: COMMIT },
    `https://codeload.github.com/o/r/zip/${COMMIT}`,
  ],
  [
    { url: "https://github.com/o/r", ref: "feature/a" },
    "https://codeload.github.com/o/r/zip/feature/a",
  ],
  [{ url: "https://gitlab.com/g/s/r" }, "https://gitlab.com/g/s/r/-/archive/HEAD/skill.zip"],
  [
    { url: "https://gitlab.com/g/r/-/tree/main/a" },
    "https://gitlab.com/g/r/-/archive/main/skill.zip",
  ],
  [{ url: "https://example.com/a.zip" }, "https://example.com/a.zip"],
  [
    { url: "https://github.com/o/r/releases/download/v1/a.zip" },
    "https://github.com/o/r/releases/download/v1/a.zip",
  ],
])("%j", async (request, expected) => {
  const asked: string[] = [];
  const answer = await fetchSkill(request, false, async (url) => {
    asked.push(url.href);
    return appError("upstream_error", "It was asked for");
  });
  expect(asked).toEqual([expected]);
  expect(answer).toMatchObject({ message: "It was asked for" });
});

test.each([
  [{ url: "https://github.com/o/r/blob/main/SKILL.md" }, "url must be a repository"],
  [{ url: "https://example.com/a.zip", ref: "main" }, "ref is only for"],
])("%j is refused", async (request, message) => {
  const never = () => Promise.reject(new Error("Nothing is downloaded"));
  const answer = await fetchSkill(request, false, never);
  expect(answer).toMatchObject({ message: expect.stringContaining(message) });
});
