import { type RefObject, useEffect, useRef, useState } from "react";
import type { ApiError } from "../_api/request.ts";
import { type Submit, useSubmit } from "./use-submit.ts";

export interface Form<V> extends Submit {
  readonly values: V;
  readonly set: (change: Partial<V>) => void;
  readonly field: <K extends keyof V & string>(
    name: K,
  ) => {
    readonly value: V[K];
    readonly onChange: (value: V[K]) => void;
    readonly error: string | undefined;
  };
  /** The error of the last attempt, unless it is about a field. */
  readonly formError: ApiError | null;
  readonly ref: RefObject<HTMLFormElement | null>;
}

/**
 * The values of a form and their submission.
 * @param texts what is shown at a field that the API refuses; its own messages are for programs
 */
export function useForm<V extends object>(
  initial: V,
  texts: Readonly<Record<string, string>> = {},
): Form<V> {
  const [values, setValues] = useState(initial);
  const submit = useSubmit();
  const { error } = submit;
  const ref = useFocusFirstError(error);
  const refused = error?.fields.map((path) => path.replace(/\.\d+$/, "")) ?? [];
  const set = (change: Partial<V>) => setValues((old) => ({ ...old, ...change }));
  return {
    ...submit,
    ...{ values, set, ref },
    field: (name) => ({
      value: values[name],
      onChange: (value) => setValues((old) => ({ ...old, [name]: value })),
      error: refused.includes(name) ? texts[name] : undefined,
    }),
    formError: refused.some((field) => field in texts) ? null : error,
  };
}

/** Returns a ref for a form. When `error` changes, the first invalid field of the form gets the focus. */
export function useFocusFirstError(error: object | null): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error === null) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  return form;
}

/** Returns the value of a field with JSON. What is no JSON is left to the API to refuse. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
