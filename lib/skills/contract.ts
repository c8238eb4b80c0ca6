/** The endpoints of skills. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, queryVersion, uuid, versionNumber } from "@platform/endpoint/contract/fields";
import { skillName } from "@platform/endpoint/contract/run-options";
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, SKILL_SOURCES } from "@platform/skills/skill";
import { z } from "zod";

const shared = { tag: "Skills", family: "error", auth: "required" } as const;

const ofOwner = z.object({
  organization_id: uuid.optional().meta({
    description:
      "An organization of the caller, whose skills its members use and its owners change. Default: the caller's own",
  }),
});
const byName = z.object({ name: skillName.describe("The skill's `name`") });

const origin = z
  .object({
    url: z.string(),
    ref: z.string().nullable(),
    path: z.string().nullable(),
    commit: z.string().nullable().meta({
      description: "The commit that the files are of; null for an archive that names none",
    }),
  })
  .meta({ id: "SkillOrigin", description: "Where a skill was imported from" });
export type SkillOrigin = z.output<typeof origin>;

export const skill = z
  .object({
    name: z.string(),
    description: z.string(),
    source: z.enum(SKILL_SOURCES).exclude(["sandbox"]),
    organization_id: uuid.nullable().meta({ description: "The organization that has it, if any" }),
    version: z.int().positive().nullable().meta({
      description: "Counts from 1; null for a built-in skill, which has the service's version",
    }),
    enabled: z.boolean().meta({ description: "Whether agents of the caller can load it" }),
    sha256: z.string().nullable().meta({
      description: "Of all its paths and contents; null for a built-in skill",
    }),
    origin: origin.nullable().meta({ description: "Null for a skill that was not imported" }),
    updated_at: dateTime.nullable().meta({ description: "Null for a built-in skill" }),
  })
  .meta({ id: "Skill" });
export type Skill = z.output<typeof skill>;

const file = z
  .object({
    path: z.string(),
    size: z.int().meta({ description: "In bytes" }),
    text: z.string().nullable().meta({ description: "Null for a file that is not text" }),
  })
  .meta({ id: "SkillFile" });

const one = { skill: skill.extend({ files: z.array(file) }).meta({ id: "SkillWithFiles" }) };

export const listSkillsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/skills",
  runCredential: true,
  words: "skills",
  tool: true,
  summary: "List the skills that the caller's agents can load",
  description:
    "The caller's own skills, those of its organizations, and the built-in ones. Of skills with the same name, the first that is enabled is used. A skill with that name in a sandbox goes before them.",
  query: ofOwner,
  responses: successResponse("The skills by name", { skills: z.array(skill) }),
  errors: [],
});

export const getSkillContract = contract({
  ...shared,
  method: "GET",
  path: "/api/skills/{name}",
  runCredential: true,
  words: "skills",
  tool: true,
  summary: "Read a skill with its files",
  params: byName,
  query: ofOwner.extend({
    version: queryVersion(1, "Default: the current version"),
  }),
  responses: successResponse("The first skill of this name", one),
  errors: ["not_found"],
});

const files = z
  .record(z.string().min(1).max(255), z.string())
  .refine((given) => Object.keys(given).length <= MAX_SKILL_FILES, {
    error: `files must have at most ${MAX_SKILL_FILES} files`,
  });

export const putSkillContract = contract({
  ...shared,
  method: "PUT",
  path: "/api/skills/{name}",
  tool: true,
  summary: "Create a skill, or a new version of it",
  description:
    "The files of a skill in the [Agent Skills](https://agentskills.io) format: `SKILL.md`, whose `name` is the skill's, and further files, at most 100 with 1 MiB. The body is JSON, or the ZIP archive itself with the content type `application/zip`. Content that is the current version's creates no new one. Versions never change; the newest 100 are kept.",
  params: byName,
  query: ofOwner,
  bodyLimit: 4 * MAX_SKILL_BYTES,
  zipBody: true,
  body: z
    .object({
      files: files.optional().meta({ description: "Texts by path, such as `SKILL.md`" }),
      zip: z.base64().optional().meta({ description: "A ZIP archive in base64" }),
    })
    .refine((given) => (given.files === undefined) !== (given.zip === undefined), {
      error: "Exactly one of files or zip must be provided",
    }),
  responses: {
    200: { description: "The skill's current version", schema: success(one) },
    201: { description: "The new skill", schema: success(one) },
  },
  errors: ["not_found", "not_owner", "quota_exceeded"],
});

export const enableSkillContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/skills/{name}",
  summary: "Enable or disable a skill",
  description:
    "Applies to every skill of this name that the caller's agents could load. With `organization_id`, an owner does so for the organization's skill and all members.",
  params: byName,
  query: ofOwner,
  body: z.object({ enabled: z.boolean() }),
  responses: successResponse("It has been changed", {}),
  errors: ["not_found", "not_owner"],
});

export const deleteSkillContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/skills/{name}",
  summary: "Delete a skill with its versions",
  params: byName,
  query: ofOwner,
  responses: successResponse("The skill has been deleted", {}),
  errors: ["not_found", "not_owner"],
});

export const skillVersion = z
  .object({
    version: z.int().positive(),
    description: z.string(),
    sha256: z.string(),
    bytes: z.int(),
    origin: origin.nullable(),
    author_id: uuid.nullable().meta({
      description: "The account that wrote it; null if it was deleted",
    }),
    created_at: dateTime,
  })
  .meta({ id: "SkillVersion" });
export type SkillVersion = z.output<typeof skillVersion>;

export const listSkillVersionsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/skills/{name}/versions",
  runCredential: true,
  words: "skills",
  summary: "List the versions of a skill, newest first",
  params: byName,
  query: ofOwner,
  responses: successResponse("The versions", { versions: z.array(skillVersion) }),
  errors: ["not_found"],
});

export const restoreSkillContract = contract({
  ...shared,
  method: "POST",
  path: "/api/skills/{name}/restore",
  summary: "Make an earlier version of a skill the next version",
  params: byName,
  query: ofOwner,
  body: z.object({ version: versionNumber }),
  responses: successResponse("The skill's current version", one),
  errors: ["not_found", "not_owner"],
});

/** Git allows no `..` in a name, which could lead to another repository. */
const GIT_REF = /^[\w+@-]+(?:[./][\w+@-]+)*$/;

export const importSkillContract = contract({
  ...shared,
  method: "POST",
  path: "/api/skills/import",
  summary: "Import a skill from a Git host or a ZIP archive",
  description:
    "Downloads the archive and stores the skill in its folder, pinned to the commit. A skill of this name that differs is not replaced: the answer has the `update` with the changes, and the same request with its `sha256` as `accept` applies exactly these.",
  body: z.object({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .meta({
        description:
          "A repository or a folder on GitHub or GitLab, such as `https://github.com/owner/name/tree/main/skills/name`, or a ZIP archive",
      }),
    ref: z
      .string()
      .max(200)
      .regex(GIT_REF, "ref must be the name of a branch, a tag or a commit")
      .optional()
      .meta({
        description: "A branch, a tag or a commit. Default: that of the URL, or the default branch",
      }),
    path: z.string().min(1).max(1_000).optional().meta({
      description:
        "The folder of the skill. Default: that of the URL, or the only one with a `SKILL.md`",
    }),
    organization_id: ofOwner.shape.organization_id,
    accept: z.string().length(64).optional().meta({
      description: "The `sha256` of the update to apply",
    }),
  }),
  responses: {
    200: {
      description: "The skill as it is, with the update that waits to be accepted, if any",
      schema: success({
        ...one,
        update: z
          .object({
            sha256: z.string(),
            origin,
            diff: z.string().meta({ description: "The changes as a unified diff" }),
          })
          .nullable()
          .meta({ description: "Null if the import is the current version" }),
      }),
    },
    201: { description: "The new skill", schema: success({ ...one, update: z.null() }) },
  },
  errors: ["not_found", "not_owner", "quota_exceeded", "upstream_error"],
});
export type ImportRequest = z.output<typeof importSkillContract.body>;

function success<S extends z.core.$ZodLooseShape>(fields: S) {
  return z.object({ status: z.literal("success"), ...fields });
}

export const apiTags = {
  Skills:
    "Instructions with scripts that agents load: of the account, of its organizations, and built in.",
};
