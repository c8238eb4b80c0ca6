import { type RefObject, useEffect, useRef } from "react";

/** Takes whoever sent a form to the first field that is wrong: the ref is the form's. */
export function useFocusFault(fault: object | null): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (fault === null) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [fault]);
  return form;
}
