import { useEffect, useRef, useState } from "react";
import { useSubmit } from "./use-submit.ts";

export type FormState<V extends object> = ReturnType<typeof useForm<V>>;

/**
 * The values of a form and their submission. When it is refused, its first invalid field gets the focus.
 * @param texts what each field shows if the API rejects it, since the API's messages are for developers
 */
export function useForm<V extends object>(
  initial: V,
  texts: Readonly<Record<string, string>> = {},
) {
  const [values, setValues] = useState(initial);
  const submit = useSubmit();
  const { error } = submit;
  const ref = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) ref.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const refused = error?.fields.map((path) => path.replace(/\.\d+$/, "")) ?? [];
  const set = (change: Partial<V>) => setValues((old) => ({ ...old, ...change }));
  return {
    ...submit,
    ...{ values, set, ref },
    field: <K extends keyof V & string>(name: K) => ({
      value: values[name],
      onChange: (value: V[K]) => setValues((old) => ({ ...old, [name]: value })),
      error: refused.includes(name) ? texts[name] : undefined,
    }),
    /** The error of the last attempt, unless it is about a field. */
    formError: refused.some((field) => field in texts) ? null : error,
  };
}

/** Returns the parsed value of a JSON field. Invalid JSON is returned as text, and the API rejects it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
