/** Filters the loaded templates. */
import type { Template } from "@/lib/templates/template.ts";

export const TEMPLATE_FILTERS = ["all", "mine", "shared", "favourites", "public"] as const;
export type TemplateFilter = (typeof TEMPLATE_FILTERS)[number];

/** @param account the caller's account id; null while it is unknown */
export const isMine = (template: Template, account: string | null): boolean =>
  // The API shows only to the owner with whom a template is shared.
  template.creator.id === account || template.shared_emails.length > 0;

export function filterTemplates(
  templates: readonly Template[],
  by: { readonly filter: TemplateFilter; readonly text: string; readonly account: string | null },
): Template[] {
  const words = by.text.toLowerCase().split(/\s+/).filter(Boolean);
  return templates.filter((template) => {
    if (!passes(template, by.filter, by.account)) return false;
    const { title, description, prompt, tags, creator } = template;
    const text = [title, description, prompt, creator.name, ...tags].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function passes(template: Template, filter: TemplateFilter, account: string | null): boolean {
  switch (filter) {
    case "all":
      return true;
    case "mine":
      return isMine(template, account);
    case "shared":
      return template.is_private && !isMine(template, account);
    case "favourites":
      return template.is_favourite;
    case "public":
      return !template.is_private;
  }
}
