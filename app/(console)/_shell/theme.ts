/** The color theme. The server reads it from a cookie, so a page does not change its theme while it loads. */
export type Theme = "system" | "light" | "dark";

export const THEME_COOKIE = "theme";
const YEAR_SECONDS = 31_536_000;

export const parseTheme = (text: string | undefined): Theme =>
  text === "light" || text === "dark" ? text : "system";

export function chooseTheme(theme: Theme): void {
  const age = theme === "system" ? 0 : YEAR_SECONDS;
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox has no Cookie Store API
  document.cookie = `${THEME_COOKIE}=${theme}; path=/; max-age=${age}; samesite=lax`;
  document.documentElement.classList.remove("light", "dark");
  if (theme !== "system") document.documentElement.classList.add(theme);
}
