/** Records the examples of skills. */
import { z } from "zod";
import { type ArchiveServer, skillText, zipOf } from "../fixtures/skills.ts";
import type { Context } from "./example-recorder.ts";

/** @param archive that the server can import */
export async function recordSkills({ record }: Context, archive: ArchiveServer): Promise<void> {
  const params = { name: "press-list" };
  const files = (body: string) => ({ "SKILL.md": skillText("press-list", "", body) });
  await record("putSkill", { params, body: { files: files("Ask for the genre first.\n") } });
  const better = { files: files("Ask for the genre and the country first.\n") };
  await record("putSkill", { params, body: better });
  const listed = z.object({ status: z.string(), skills: z.array(z.unknown()) });
  await record(
    "listSkills",
    {},
    {
      shorten: (body) => {
        const { skills, ...rest } = listed.parse(body);
        const named = z.object({ name: z.enum(["press-list", "platform-api"]) });
        return { ...rest, skills: skills.filter((skill) => named.safeParse(skill).success) };
      },
    },
  );
  await record("getSkill", { params });
  await record("listSkillVersions", { params });
  await record("restoreSkill", { params, body: { version: 1 } });
  archive.body = zipOf({ "radio-list/SKILL.md": skillText("radio-list") });
  await record("importSkill", { body: { url: archive.url } });
  await record("enableSkill", { params, body: { enabled: false } });
  await record("deleteSkill", { params });
}
