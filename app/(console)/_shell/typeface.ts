import localFont from "next/font/local";

/**
 * Geist, served by this server. The common Latin letters are preloaded, and the fallback has the same
 * metrics, so that no line moves; accented letters beyond Western Europe are loaded where a page has one.
 */
const latin = localFont({
  src: "../../../node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2",
  weight: "100 900",
  variable: "--font-geist",
});

const latinExtended = localFont({
  src: "../../../node_modules/@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2",
  weight: "100 900",
  variable: "--font-geist-extended",
  preload: false,
  adjustFontFallback: false,
  declarations: [
    {
      prop: "unicode-range",
      value:
        "U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+0304, U+0308, U+0329, U+1D00-1DBF, U+1E00-1E9F, U+1EF2-1EFF, U+2020, U+20A0-20AB, U+20AD-20C0, U+2113, U+2C60-2C7F, U+A720-A7FF",
    },
  ],
});

/** The class of `<html>` that declares both parts as CSS variables. */
export const typefaceClass = `${latin.variable} ${latinExtended.variable}`;
