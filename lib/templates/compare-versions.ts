import { isDeepStrictEqual } from "node:util";
import { unifiedDiff } from "@platform/kit/unified-diff";
import { type TemplateComparison, type TemplateVersion, templateOptions } from "./template.ts";

const FIELDS = [
  ...(["title", "description", "prompt", "tags"] as const),
  ...templateOptions.keyof().options,
];

/** Returns what changes from `base` to `version`. */
export function compareVersions(
  base: TemplateVersion,
  version: TemplateVersion,
): TemplateComparison {
  const changes = FIELDS.map((field) => ({
    field,
    before: base[field] ?? null,
    after: version[field] ?? null,
  })).filter(({ before, after }) => !isDeepStrictEqual(before, after));
  const names = [`version ${base.version}`, `version ${version.version}`] as const;
  const diff =
    base.prompt === version.prompt
      ? null
      : (unifiedDiff(names, base.prompt, version.prompt) ?? "The prompt is replaced.\n");
  return { version: base.version, changes, diff };
}
