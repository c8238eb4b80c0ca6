import { type RefObject, useEffect, useRef } from "react";

/** Returns a ref for a form. When `error` changes, the first invalid field of the form gets the focus. */
export function useFocusFirstError(error: object | null): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error === null) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  return form;
}
