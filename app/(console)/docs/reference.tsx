"use client";
import { useEffect, useRef, useState } from "react";
import { onThemeShown, shownTheme } from "@/app/(console)/_hooks/theme.ts";
import { accessToken, useSession } from "@/app/(console)/_session/auth.ts";
import { Button } from "../_ui/button.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { nameControls } from "./name-controls.ts";

interface Shown {
  readonly updateConfiguration: (configuration: object) => void;
  readonly destroy: () => void;
}

declare global {
  interface Window {
    /** What the reference's script leaves behind. */
    Scalar?: { readonly createApiReference: (place: Element, configuration: object) => Shown };
  }
}

/**
 * Scalar's reference, from this origin and asking no other. Requests that are tried carry the bearer
 * of who is signed in; the field takes an API key instead.
 */
export function Reference({ script }: { readonly script: string }) {
  const session = useSession();
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const settled = session.status !== "loading";
  const who = session.status === "signed-in" ? session.email : null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: someone else's bearer means another reference
  useEffect(() => {
    const element = place.current;
    if (!settled || element === null) return;
    let shown: Shown | undefined;
    let over = false;
    const start = async () => {
      const [scalar, token] = await Promise.all([loadScalar(script), accessToken()]);
      if (over) return;
      const draw = () => configuration(token);
      shown = scalar.createApiReference(element, draw());
      setState("shown");
      const stopNaming = nameControls(document.body);
      const stopWatching = onThemeShown(() => shown?.updateConfiguration(draw()));
      return () => {
        stopNaming();
        stopWatching();
      };
    };
    const started = start().catch(() => {
      if (!over) setState("failed");
      return undefined;
    });
    return () => {
      over = true;
      void started.then((forget) => forget?.());
      shown?.destroy();
    };
  }, [script, settled, who]);

  return (
    <>
      {state === "loading" && (
        <div aria-busy="true" className="mx-auto max-w-3xl px-6 py-12">
          <p className="sr-only">Loading the reference</p>
          <Skeleton className="h-8 w-64" />
          <Skeleton className="mt-4 h-5 w-full" />
          <Skeleton className="mt-2 h-5 w-2/3" />
          <Skeleton className="mt-8 h-64 w-full rounded-xl" />
        </div>
      )}
      {state === "failed" && (
        <div role="alert" className="mx-auto max-w-md px-6 py-24 text-center">
          <h1 className="text-xl font-semibold">The reference could not be loaded</h1>
          <p className="mt-1 text-muted-foreground">
            Check your connection. The description itself is at{" "}
            <a className="text-accent-text underline" href="/api/openapi.json">
              /api/openapi.json
            </a>
            .
          </p>
          <Button variant="outline" className="mt-5" onClick={() => location.reload()}>
            Try again
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
    script.onload = () => (window.Scalar ? resolve(window.Scalar) : reject(new Error("no Scalar")));
    script.onerror = () => reject(new Error("not loaded"));
    document.head.append(script);
  });
}

function configuration(token: string | null): object {
  return {
    url: "/api/openapi.json",
    // The page's own origin, under whatever name it was reached: the policy allows no other.
    servers: [{ url: location.origin }],
    authentication: {
      preferredSecurityScheme: token === null ? "apiKey" : "bearer",
      ...(token === null ? {} : { securitySchemes: { bearer: { token } } }),
    },
    persistAuth: false,
    // The bearer that was filled in is over in an hour; the page may stay open for a day.
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
 * The console's colours and type in the reference's own variables. Of the body only: its code is dark
 * in both colours, by a class of the same name.
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
