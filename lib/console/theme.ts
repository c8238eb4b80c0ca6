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
