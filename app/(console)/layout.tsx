import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { hasDeveloperSignIn } from "@/app/auth/developer/developer-sign-in.ts";
import { hasDeveloperMail } from "@/app/auth/developer/mail/developer-mail.ts";
import { hasAiModel } from "@/lib/agent/models/has-ai-model.ts";
import { mediaOrigin } from "@/lib/content/storage/media-origin.ts";
import { config } from "@/lib/platform/config.ts";
import { NewVersion } from "./_load/new-version.tsx";
import { FrameProvider } from "./_shell/frame.tsx";
import { Shell } from "./_shell/shell.tsx";
import { StyleNonce } from "./_shell/style-nonce.tsx";
import { parseTheme, THEME_COOKIE } from "./_shell/theme.ts";
import { typefaceClass } from "./_shell/typeface.ts";
import { Toaster } from "./_ui/toast.tsx";
import "./globals.css";

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
        <StyleNonce />
        <FrameProvider frame={frame}>
          <Shell>{children}</Shell>
        </FrameProvider>
        <NewVersion />
        <Toaster />
      </body>
    </html>
  );
}
