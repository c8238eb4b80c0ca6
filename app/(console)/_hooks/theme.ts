/** Light, dark, or as the system says. The server reads the cookie, so a page never changes colour while it loads. */
export type Theme = "system" | "light" | "dark";

export const THEME_COOKIE = "theme";
const YEAR = 31_536_000;

export function parseTheme(text: string | undefined): Theme {
  return text === "light" || text === "dark" ? text : "system";
}

/** Remembers the choice and shows it. */
export function chooseTheme(theme: Theme): void {
  const age = theme === "system" ? 0 : YEAR;
  // biome-ignore lint/suspicious/noDocumentCookie: the other way is missing in Firefox
  document.cookie = `${THEME_COOKIE}=${theme}; path=/; max-age=${age}; samesite=lax`;
  document.documentElement.classList.remove("light", "dark");
  if (theme !== "system") document.documentElement.classList.add(theme);
}

/** What is to be seen now, whoever decided it. */
export function shownTheme(): "light" | "dark" {
  const { classList } = document.documentElement;
  if (classList.contains("dark")) return "dark";
  return !classList.contains("light") && systemIsDark().matches ? "dark" : "light";
}

/** Calls back when that may have changed. @returns an end to it */
export function onThemeShown(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["class"] });
  const system = systemIsDark();
  system.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", listener);
  };
}

const systemIsDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");
