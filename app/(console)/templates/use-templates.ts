import { useCallback, useEffect, useRef, useState } from "react";
import type { z } from "zod";
import type { listTemplatesContract, setFavoriteContract } from "@/lib/templates/contract.ts";
import type { Template } from "@/lib/templates/template.ts";
import { type ApiError, api } from "../_api/request.ts";

type TemplatePage = z.output<(typeof listTemplatesContract)["responses"][200]["schema"]>;
type OneTemplate = z.output<(typeof setFavoriteContract)["responses"][200]["schema"]>;

export interface Templates {
  /** The templates loaded so far, newest first; undefined until the first page is loaded. */
  readonly loaded: readonly Template[] | undefined;
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly error: ApiError | null;
  /** Loads the next page, or retries the page that failed. */
  readonly loadMore: () => void;
  /** Replaces a template, or adds a new one at the beginning. */
  readonly put: (template: Template) => void;
  readonly remove: (id: string) => void;
  /** Shows the change at once and reverts it if the API refuses it. Resolves to the error, if any. */
  readonly setFavourite: (template: Template, isFavourite: boolean) => Promise<ApiError | null>;
}

/** Loads the templates that the caller can see, page by page. */
export function useTemplates(): Templates {
  const [loaded, setLoaded] = useState<readonly Template[]>();
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);
  const controller = useRef<AbortController | null>(null);

  const load = useCallback(async (from: string | null) => {
    controller.current?.abort();
    controller.current = new AbortController();
    const { signal } = controller.current;
    setLoading(true);
    const query = from === null ? "" : `&cursor=${encodeURIComponent(from)}`;
    const result = await api<TemplatePage>(`/api/agents/templates?limit=48${query}`, { signal });
    if (signal.aborted) return;
    setLoading(false);
    setError(result.ok ? null : result.error);
    if (!result.ok) return;
    const { templates, next_cursor } = result.data;
    setCursor(next_cursor);
    setLoaded((old = []) => [
      ...old,
      // A template that was created meanwhile is already in the list.
      ...templates.filter(({ id }) => !old.some((one) => one.id === id)),
    ]);
  }, []);

  useEffect(() => {
    void load(null);
    return () => controller.current?.abort();
  }, [load]);

  const put = useCallback((template: Template) => {
    setLoaded((old = []) =>
      old.some(({ id }) => id === template.id)
        ? old.map((one) => (one.id === template.id ? template : one))
        : [template, ...old],
    );
  }, []);
  const remove = useCallback((id: string) => {
    setLoaded((old) => old?.filter((one) => one.id !== id));
  }, []);
  const setFavourite = useCallback(
    async (template: Template, isFavourite: boolean) => {
      const step = Number(isFavourite) - Number(template.is_favourite);
      put({
        ...template,
        is_favourite: isFavourite,
        favorites_count: Math.max(0, template.favorites_count + step),
      });
      const result = await api<OneTemplate>(`/api/agents/templates/${template.id}/favorite`, {
        method: "PUT",
        body: { is_favourite: isFavourite },
      });
      put(result.ok ? result.data.template : template);
      return result.ok ? null : result.error;
    },
    [put],
  );
  return {
    loaded,
    hasMore: cursor !== null,
    loading,
    error,
    loadMore: () => void load(cursor),
    put,
    remove,
    setFavourite,
  };
}
