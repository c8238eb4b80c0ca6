import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import type { listTemplatesContract, setFavoriteContract } from "@/lib/templates/contract.ts";
import type { Template } from "@/lib/templates/template.ts";
import { type Answer, type ApiError, api } from "../_api/request.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { keyOf } from "../_hooks/use-query.ts";

const PATH = "/api/agents/templates?limit=48";

/** Reads the templates that the caller can see, newest first, page by page. */
export function useTemplates() {
  const pages = usePages<Template>(PATH, "templates");
  const client = useQueryClient();
  const change = (update: (templates: Template[], page: number) => Template[]) =>
    client.setQueryData<InfiniteData<Answer<typeof listTemplatesContract>>>(
      [...keyOf(PATH), "pages"],
      (old) =>
        old && {
          ...old,
          pages: old.pages.map((page, index) => ({
            ...page,
            templates: update(page.templates, index),
          })),
        },
    );
  /** Replaces a template, or adds a new one at the start. */
  const put = (template: Template) => {
    const isKnown = pages.items?.some(({ id }) => id === template.id);
    change((templates, page) =>
      !isKnown && page === 0
        ? [template, ...templates]
        : templates.map((one) => (one.id === template.id ? template : one)),
    );
  };
  /** Shows the change at once and reverts it if the API refuses it. Resolves to the error, if any. */
  const setFavourite = async (
    template: Template,
    isFavourite: boolean,
  ): Promise<ApiError | null> => {
    const step = Number(isFavourite) - Number(template.is_favourite);
    put({
      ...template,
      is_favourite: isFavourite,
      favorites_count: Math.max(0, template.favorites_count + step),
    });
    const result = await api<Answer<typeof setFavoriteContract>>(
      `/api/agents/templates/${template.id}/favorite`,
      {
        method: "PUT",
        body: { is_favourite: isFavourite },
      },
    );
    put(result.ok ? result.data.template : template);
    return result.ok ? null : result.error;
  };
  const remove = (id: string) => change((templates) => templates.filter((one) => one.id !== id));
  return { ...pages, put, remove, setFavourite };
}
