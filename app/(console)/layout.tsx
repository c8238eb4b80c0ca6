import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { hasDeveloperSignIn } from "@/app/auth/developer/developer-sign-in.ts";
import { hasDeveloperMail } from "@/app/auth/developer/mail/developer-mail.ts";
import { mediaOrigin } from "@/lib/content/storage/media-origin.ts";
import { hasAiModel } from "@/lib/models/has-ai-model.ts";
import { config } from "@/lib/platform/config.ts";
import { NewVersion } from "./_load/new-version.tsx";
import { FrameProvider } from "./_shell/frame.tsx";
import { Shell } from "./_shell/shell.tsx";
import { parseTheme, THEME_COOKIE } from "./_shell/theme.ts";
import { Toaster } from "./_ui/toast.tsx";
import "./globals.css";
import localFont from "next/font/local";

export const metadata: Metadata = {
  title: { default: "Agent Platform", template: "%s · Agent Platform" },
  description:
    "The AI agent for labels, managers and artists: release plans, royalty statements, pitches, tours.",
};

export const viewport: Viewport = { colorScheme: "light dark" };

/** Rendered for each request, because it depends on the nonce of the response and on two cookies. */
export default async function ConsoleLayout({ children }: { readonly children: ReactNode }) {
  const jar = await cookies();
  const theme = parseTheme(jar.get(THEME_COOKIE)?.value);
  const frame = {
    theme,
    wasSignedIn: jar.has("signed-in"),
    developerSignIn: hasDeveloperSignIn(),
    developerMail: hasDeveloperMail(),
    hasAiModel: hasAiModel(),
    hasMediaModel: config().FAL_KEY !== undefined,
    mediaOrigin: mediaOrigin(),
  };
  return (
    <html lang="en" className={theme === "system" ? typefaceClass : `${typefaceClass} ${theme}`}>
      <body>
        <FrameProvider frame={frame}>
          <Shell>{children}</Shell>
        </FrameProvider>
        <NewVersion />
        <Toaster />
      </body>
    </html>
  );
}

/**
 * Geist, served by this server. The common Latin letters are preloaded, and the fallback has the
 * same metrics, which prevents layout shifts. Accented letters beyond Western Europe are loaded
 * where a page has one.
 */
const latin = localFont({
  src: "../../node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2",
  weight: "100 900",
  variable: "--font-geist",
});

const latinExtended = localFont({
  src: "../../node_modules/@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2",
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
const typefaceClass = `${latin.variable} ${latinExtended.variable}`;
