/**
 * Adds the accessible names and states that the reference's script omits: for copy buttons and for
 * comboboxes. Returns a function that stops watching for new ones.
 */
export function nameControls(root: HTMLElement): () => void {
  const name = () => {
    for (const button of root.querySelectorAll(".scalar-code-copy:not([aria-label])")) {
      button.setAttribute("aria-label", "Copy");
    }
    for (const field of root.querySelectorAll('[role="combobox"][contenteditable]')) {
      if (field.hasAttribute("aria-expanded")) continue;
      field.setAttribute("aria-expanded", "false");
      if (!field.hasAttribute("aria-label") && !field.hasAttribute("aria-labelledby")) {
        field.setAttribute("aria-label", field.getAttribute("data-placeholder") || "Value");
      }
    }
  };
  const observer = new MutationObserver(name);
  observer.observe(root, { childList: true, subtree: true });
  name();
  return () => observer.disconnect();
}
