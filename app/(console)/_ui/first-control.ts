const FIELDS = "input:not([type=hidden]), textarea, select, [role=combobox]";

/** Returns what has the focus in a dialog that opens: its first field, or else its primary action. */
export function firstControl(body: HTMLElement | null): HTMLElement | null {
  if (body === null) return null;
  const find = (selector: string) =>
    [...body.querySelectorAll<HTMLElement>(selector)].filter(
      (element) => !element.matches(":disabled, [tabindex='-1']") && element.checkVisibility(),
    );
  const [field] = find(FIELDS);
  const [control] = find("button, a[href], [tabindex]");
  return field ?? find("[data-dialog-actions] button").at(-1) ?? control ?? null;
}
