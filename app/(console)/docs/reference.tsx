"use client";
import { useEffect, useRef, useState } from "react";
import { accessToken, useSession } from "@/app/(console)/_session/auth.ts";
import { onThemeShown, shownTheme } from "@/app/(console)/_shell/theme.ts";
import { Button } from "../_ui/button.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { nameControls } from "./name-controls.ts";

interface ScalarReference {
  readonly updateConfiguration: (configuration: object) => void;
  readonly destroy: () => void;
}

declare global {
  interface Window {
    /** Set by the script of the reference. */
    Scalar?: {
      readonly createApiReference: (place: Element, configuration: object) => ScalarReference;
    };
  }
}

/**
 * The Scalar API reference, served from this origin without requests to any other. Its test requests
 * carry the access token of the signed-in user; an API key can be entered instead.
 */
export function Reference({ script }: { readonly script: string }) {
  const session = useSession();
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const settled = session.status !== "loading";
  const who = session.status === "signed-in" ? session.email : null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another user's token needs a new reference
  useEffect(() => {
    const element = place.current;
    if (!settled || element === null) return;
    let reference: ScalarReference | undefined;
    let isUnmounted = false;
    const start = async () => {
      const [scalar, token] = await Promise.all([loadScalar(script), accessToken()]);
      if (isUnmounted) return;
      const draw = () => configuration(token);
      reference = scalar.createApiReference(element, draw());
      setState("shown");
      const stopNaming = nameControls(document.body);
      const stopWatching = onThemeShown(() => reference?.updateConfiguration(draw()));
      return () => {
        stopNaming();
        stopWatching();
      };
    };
    const started = start().catch(() => {
      if (!isUnmounted) setState("failed");
      return undefined;
    });
    return () => {
      isUnmounted = true;
      void started.then((cleanUp) => cleanUp?.());
      reference?.destroy();
    };
  }, [script, settled, who]);

  return (
    <>
      {state === "loading" && (
        <div aria-busy="true" className="mx-auto max-w-3xl px-6 py-12">
          <p className="sr-only">Loading API reference…</p>
          <Skeleton className="h-8 w-64" />
          <Skeleton className="mt-4 h-5 w-full" />
          <Skeleton className="mt-2 h-5 w-2/3" />
          <Skeleton className="mt-8 h-64 w-full rounded-xl" />
        </div>
      )}
      {state === "failed" && (
        <div role="alert" className="mx-auto max-w-md px-6 py-24 text-center">
          <h1 className="text-xl font-semibold">The API reference could not be loaded</h1>
          <p className="mt-1 text-muted-foreground">
            Check your connection and try again. The OpenAPI document is at{" "}
            <a className="text-accent-text underline" href="/api/openapi.json">
              /api/openapi.json
            </a>
            .
          </p>
          <Button variant="outline" className="mt-5" onClick={() => location.reload()}>
            Retry
          </Button>
        </div>
      )}
      <div ref={place} />
    </>
  );
}

function loadScalar(source: string): Promise<NonNullable<Window["Scalar"]>> {
  return new Promise((resolve, reject) => {
    if (window.Scalar) return resolve(window.Scalar);
    const script = document.createElement("script");
    script.src = source;
    script.onload = () =>
      window.Scalar
        ? resolve(window.Scalar)
        : reject(new Error("The script did not define Scalar"));
    script.onerror = () => reject(new Error("The script could not be loaded"));
    document.head.append(script);
  });
}

function configuration(token: string | null): object {
  return {
    url: "/api/openapi.json",
    // The content security policy allows only the origin of the page.
    servers: [{ url: location.origin }],
    authentication: {
      preferredSecurityScheme: token === null ? "apiKey" : "bearer",
      ...(token === null ? {} : { securitySchemes: { bearer: { token } } }),
    },
    persistAuth: false,
    // The token expires after an hour, but the page may stay open for longer.
    onRequestBuilt: async ({ request }: { readonly request: Request }) => {
      if (token === null || request.headers.get("authorization") !== `Bearer ${token}`) return;
      const fresh = await accessToken();
      if (fresh !== null) request.headers.set("authorization", `Bearer ${fresh}`);
    },
    proxyUrl: "",
    telemetry: false,
    agent: { disabled: true, hideAddApi: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    hideDarkModeToggle: true,
    forceDarkModeState: shownTheme(),
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    customCss: styles,
  };
}

/**
 * Maps the console's colors and fonts to the variables of the reference. The selectors name `body`
 * because code blocks use the class `dark-mode` in both themes.
 */
const styles = `
:root {
  --scalar-font: var(--font-sans, ui-sans-serif, system-ui, sans-serif);
  --scalar-font-code: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --scalar-custom-header-height: 3.25rem;
}
body.light-mode, body.dark-mode {
  --scalar-background-1: var(--background);
  --scalar-background-2: var(--muted);
  --scalar-background-3: var(--hover);
  --scalar-background-accent: var(--accent-soft);
  --scalar-color-1: var(--foreground);
  --scalar-color-2: var(--muted-foreground);
  --scalar-color-3: var(--muted-foreground);
  --scalar-color-accent: var(--accent-text);
  --scalar-border-color: var(--border);
}
body.light-mode {
  --scalar-color-blue: #0062a3;
  --scalar-color-green: #0b6b35;
  --scalar-color-orange: #9a4600;
  --scalar-color-red: #b42318;
  --scalar-color-yellow: #7a5600;
  --scalar-color-purple: #5b34cc;
}
`;
